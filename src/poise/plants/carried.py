"""Carried: an object in both hands."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pinocchio
from numpy.typing import ArrayLike, NDArray

from poise.plants.errors import PlantError, positive, vector
from poise.robots import Robot, State
from poise.tasks.axes import shown

Array = NDArray[np.float64]

#: Hands that are nearer than this (m) hold nothing between them: a palm's thickness.
NEAREST = 0.02


@dataclass(frozen=True, eq=False)
class Carried:
    """A box that a robot holds with both hands, and its controller does not know of.

    Its middle is midway between the hands of the start, y from the right hand to the left one and z as near to upward
    as that leaves. Both hands hold it where they are then: the points do not part, and the hands turn on it only
    against a soft grip. So its weight is borne by both arms, and hands that move apart pull on each other.

    Args:
        mass: kg.
        size: lengths of its edges (m, 3), ahead, across and up; None: across from hand to hand, half of that otherwise.

    >>> plant = poise.MujocoPlant(robot.stance("carrying"), carried=Carried.share(robot, 0.10))
    """

    mass: float
    size: ArrayLike | None = None

    def __post_init__(self) -> None:
        positive(self.mass, "Carried.mass", "kg")
        if self.size is not None and not (vector(self.size, 3, "Carried.size", "m") > 0.0).all():
            raise PlantError(f"Carried.size is {shown(self.size)}; expected 3 positive lengths in m", "size")

    @classmethod
    def share(cls, robot: Robot, share: float, size: ArrayLike | None = None) -> Carried:
        """One that weighs this share of a robot's mass: 0.10 is ten percent."""
        return cls(positive(share, "Carried.share") * robot.mass, size)

    def check(self, robot: Robot) -> None:
        """Makes sure that a robot has two hands, or raises one line."""
        robot.hand("left"), robot.hand("right")

    def held(self, start: State) -> tuple[pinocchio.SE3, Array]:
        """world_from_box in a start, and the lengths of its edges (m, 3)."""
        left, right = (start.pose(start.robot.hand(side)).translation for side in ("left", "right"))
        across = left - right
        apart = float(np.linalg.norm(across))
        if apart < NEAREST:
            message = (
                f"the hands are {100 * apart:.1f} cm apart; expected {100 * NEAREST:g} or more to hold a box between"
            )
            raise PlantError(f"{message}; start from robot.stance('carrying')", "carried")
        y = across / apart
        ahead = np.cross(y, [0.0, 0.0, 1.0])
        if np.linalg.norm(ahead) < 0.1:  # one hand is above the other: there is no "ahead" but the world's
            ahead = np.array([1.0, 0.0, 0.0]) - y[0] * y
        x = ahead / np.linalg.norm(ahead)
        size = np.array([0.5, 1.0, 0.5]) * apart if self.size is None else np.array(self.size, dtype=np.float64)
        return pinocchio.SE3(np.column_stack([x, y, np.cross(x, y)]), 0.5 * (left + right)), size
