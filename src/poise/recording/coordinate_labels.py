"""Labels, units and ranges of the coordinates of a robot."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from poise.robots import Robot

_POSITION = ("base_x", "base_y", "base_z", "base_qx", "base_qy", "base_qz", "base_qw")
_VELOCITY = ("base_vx", "base_vy", "base_vz", "base_wx", "base_wy", "base_wz")


@dataclass(frozen=True, eq=False)
class Body:
    """Labels and units of q, v, accelerations and torques, the range of each joint, and the weight (N).

    A free-flying base comes first: its position (m) and quaternion in q, its linear and angular velocity in v.
    """

    q_labels: tuple[str, ...]
    q_units: tuple[str, ...]
    v_labels: tuple[str, ...]
    sliding: tuple[bool, ...]
    joints: tuple[str, ...]
    joint_q: NDArray[np.intp]
    lower: NDArray[np.float64]
    upper: NDArray[np.float64]
    weight: float

    @classmethod
    def of(cls, robot: Robot) -> Body:
        joints = robot.joints
        names = tuple(joint.name for joint in joints)
        kinds = [robot.model.joints[joint.index].shortname() for joint in joints]
        sliding = tuple(kind.startswith("JointModelP") for kind in kinds)  # PX, PY, PZ, PrismaticUnaligned
        units = tuple("m" if slides else "rad" for slides in sliding)
        places = [joint.v - 6 for joint in joints]
        return cls(
            q_labels=(*_POSITION, *names),
            q_units=("m", "m", "m", "", "", "", "", *units),
            v_labels=(*_VELOCITY, *names),
            sliding=sliding,
            joints=names,
            joint_q=np.array([joint.q for joint in joints], dtype=np.intp),
            lower=robot.limits.lower[places],
            upper=robot.limits.upper[places],
            weight=robot.weight,
        )

    @property
    def joint_units(self) -> tuple[str, ...]:
        return self.q_units[7:]

    def rates(self, per: str) -> tuple[str, ...]:
        """Units of v (``per`` = "/s") or of accelerations ("/s^2")."""
        return tuple(unit + per for unit in (*["m"] * 3, *["rad"] * 3, *self.joint_units))

    def efforts(self, size: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Labels and units of torques: of all of v, or of the actuated joints alone."""
        units = ("N", "N", "N", "N m", "N m", "N m", *("N" if slides else "N m" for slides in self.sliding))
        return self.v_labels[len(units) - size :], units[len(units) - size :]
