"""Forces of the world on the parts of a robot, from the contacts of MuJoCo.

At a contact MuJoCo has a force f in axes (normal, two tangents) of the contact, at a point p. In world axes it is
``F = Cᵀ f`` on the second of the two surfaces and -F on the first. A part feels the sum of F and, about its point o
(the middle of a sole, the origin of any other part), of ``(p - o) x F``.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import mujoco
import numpy as np
from numpy.typing import NDArray

from poise.plants.errors import PlantError
from poise.robots import Foot, Frame, Robot

Array = NDArray[np.float64]
Indices = NDArray[np.int64]

_NEXT, _AFTER = np.array([1, 2, 0]), np.array([2, 0, 1])


class Feelers:
    """Which surfaces of a model feel for which part: four for a sole, one for any other part, in the order of parts.

    Args:
        robot: whose parts they are.
        model: of MuJoCo.
        parts: what can touch.
    """

    def __init__(self, robot: Robot, model: mujoco.MjModel, parts: Sequence[Frame]) -> None:
        self.sites = np.array([model.site(part.name).id for part in parts], dtype=np.int64)
        counts = [4 if isinstance(part, Foot) else 1 for part in parts]
        size = sum(counts)
        #: Number of the part of each feeler, and one more for what is none.
        self.parts: Indices = np.repeat(np.arange(len(parts) + 1), [*counts, 1])
        corners = np.flatnonzero(np.repeat([isinstance(part, Foot) for part in parts], counts))
        #: Sums over feelers: to parts, and to the corners of soles.
        self.to_parts: Array = (self.parts == np.arange(len(parts))[:, None]).astype(np.float64)
        self.to_corners: Array = (np.arange(size + 1) == corners[:, None]).astype(np.float64)
        #: Number of the feeler of each geom; the last for a geom that is none.
        self.of_geom: Indices = np.full(model.ngeom, size)
        self.is_world: NDArray[np.bool_] = model.geom_bodyid == 0
        begins = np.cumsum([0, *counts])
        for part, begin in zip(parts, begins, strict=False):
            body = model.body(robot.model.names[part.joint]).id
            if not isinstance(part, Foot):  # capsules around a hand feel for it
                self.of_geom[model.geom_bodyid == body] = begin
        for part, begin, count in zip(parts, begins, counts, strict=False):
            for i in range(count):
                self.of_geom[model.geom(f"{part.name} {i}").id] = begin + i


class Touch:
    """What the parts of a robot feel after one step, worked out as far as it is asked for.

    Attributes:
        points: of the parts (k, 3), in the world.
        rotations: world_from_part of each (k, 3, 3).
    """

    def __init__(self, feelers: Feelers, data: mujoco.MjData) -> None:
        self._feelers = feelers
        self.points: Array = data.site_xpos.take(feelers.sites, axis=0)
        self.rotations: Array = data.site_xmat.take(feelers.sites, axis=0).reshape(-1, 3, 3)
        contact, count = data.contact, data.ncon
        first, second = contact.geom[:, 0], contact.geom[:, 1]
        a, b = feelers.of_geom.take(first), feelers.of_geom.take(second)
        apart = feelers.is_world.take(first) != feelers.is_world.take(second)
        self._feeler: Indices = np.minimum(a, b)
        self._sign: Array = np.sign(a - b) * apart  # on the second surface, on the first, or on none of ours
        # Every contact here has three rows, and those of contacts come last; none if the engine ran out of memory.
        begin = data.nefc - 3 * count
        self._force: Array = data.efc_force[begin:].reshape(count, 3).copy() if begin >= 0 else np.zeros((count, 3))
        self._frames: Array = contact.frame.copy()
        self._places: Array = contact.pos.copy()

    @property
    def pressures(self) -> Array:
        """Per part the sum of the normal forces on it (N)."""
        return self._feelers.to_parts.take(self._feeler, axis=1) @ (np.abs(self._sign) * self._force[:, 0])

    @cached_property
    def wrenches(self) -> Array:
        """Per part its force and the moment about its point, in world axes (k, 6)."""
        F = self._forces
        arm = self._places - self.points.take(self._feelers.parts.take(self._feeler), axis=0, mode="clip")
        moment = arm[:, _NEXT] * F[:, _AFTER] - arm[:, _AFTER] * F[:, _NEXT]
        return self._feelers.to_parts.take(self._feeler, axis=1) @ np.concatenate([F, moment], axis=1)

    @cached_property
    def cells(self) -> Array:
        """Per corner of all soles in turn the force along the sole's normal (N)."""
        normals = self.rotations[:, :, 2].take(self._feelers.parts.take(self._feeler), axis=0, mode="clip")
        return self._feelers.to_corners.take(self._feeler, axis=1) @ np.einsum("ni,ni->n", self._forces, normals)

    @cached_property
    def _forces(self) -> Array:
        """On our surfaces, in world axes (n, 3)."""
        turned: Array = (self._force[:, None, :] @ self._frames.reshape(-1, 3, 3))[:, 0]
        return self._sign[:, None] * turned


def check_rows(model: mujoco.MjModel) -> None:
    """Makes sure that every contact of a model has three rows: a normal and two tangents, without pyramids."""
    touching = (model.geom_contype | model.geom_conaffinity) != 0
    if model.opt.cone != mujoco.mjtCone.mjCONE_ELLIPTIC or (model.geom_condim[touching] != 3).any():
        raise PlantError("the contacts of this model are not of three rows; give every geom condim 3", "condim")
