"""Points: places on the links of a body, where they are in the world, and how that changes with its configuration."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pinocchio
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]


class Points:
    """Places fixed to joints of a model, all evaluated at once.

    With the Jacobian of a joint in world coordinates, ``(J_l, J_a)``, a point p of it moves with ``J_l + J_a x p``.

    Args:
        model: a pinocchio model; its joint placements may change between calls.
        joints: number of the joint that carries each point, m.
        places: of the points in the frames of their joints (m x 3, m).
    """

    def __init__(self, model: pinocchio.Model, joints: Sequence[int], places: ArrayLike) -> None:
        self.model, self.data = model, model.createData()
        self.joints = np.array(joints, dtype=np.int64)
        self.places = np.array(places, dtype=np.float64).reshape(-1, 3)
        self._used, self._which = np.unique(self.joints, return_inverse=True)
        self._carried = np.zeros((len(self.joints), model.nv))
        for row, joint in enumerate(self.joints):
            for above in model.supports[int(joint)]:
                if above > 0:
                    at = model.idx_vs[above]
                    self._carried[row, at : at + model.nvs[above]] = 1.0

    @classmethod
    def on(cls, model: pinocchio.Model, links: Sequence[str], places: ArrayLike) -> Points:
        """Places in the frames of links, which are those of the joints that move them."""
        return cls(model, [model.frames[model.getFrameId(link)].parentJoint for link in links], places)

    def world(self, q: Array) -> Array:
        """Positions in the world (m x 3, m)."""
        pinocchio.forwardKinematics(self.model, self.data, q)
        return self._placed()

    def moving(self, q: Array) -> tuple[Array, Array]:
        """Positions (m x 3) and their Jacobians (m x 3 x nv)."""
        J = pinocchio.computeJointJacobians(self.model, self.data, q)
        p = self._placed()
        out = np.empty((len(p), 3, self.model.nv))
        x, y, z = (p[:, k, None] for k in range(3))
        out[:, 0] = J[0] + J[4] * z - J[5] * y
        out[:, 1] = J[1] + J[5] * x - J[3] * z
        out[:, 2] = J[2] + J[3] * y - J[4] * x
        out *= self._carried[:, None, :]
        return p, out

    def rotations(self) -> Array:
        """Rotation of each point's joint at the last configuration (m x 3 x 3)."""
        return np.array([self.data.oMi[int(j)].rotation for j in self._used])[self._which]

    def _placed(self) -> Array:
        poses = [self.data.oMi[int(joint)] for joint in self._used]
        rotation = np.array([pose.rotation for pose in poses])[self._which]
        origin = np.array([pose.translation for pose in poses])[self._which]
        return np.asarray(np.einsum("mij,mj->mi", rotation, self.places) + origin)
