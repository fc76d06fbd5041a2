"""Things that stand around a robot: boxes, and plates, walls and tables to touch.

They do not move. A box is placed by its middle; a plate, a wall or a table by the middle of the face that is touched.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pinocchio
from numpy.typing import ArrayLike, NDArray

from poise.plants.errors import PlantError, number, positive, vector
from poise.robots import Foot, Frame, State
from poise.tasks.axes import shown

Array = NDArray[np.float64]

#: Radius of the ball with which a hand touches (m), about a fingertip: its frame is then all but the point of contact.
BALL = 0.01
#: A normal is horizontal or vertical to this (rad): rounding of angles that were given in degrees with four digits.
STRAIGHT = 1e-4


@dataclass(frozen=True, eq=False)
class Box:
    """A solid box.

    Args:
        position: of its middle in the world (m, 3).
        size: lengths of its edges (m, 3).
        rotation: world_from_box, 3 x 3.
        friction: coefficient; None: that of the ground.
    """

    position: ArrayLike
    size: ArrayLike
    rotation: Any = field(default_factory=lambda: np.eye(3))
    friction: float | None = None

    def __post_init__(self) -> None:
        what = type(self).__name__
        vector(self.position, 3, f"{what}.position", "m")
        if not (vector(self.size, 3, f"{what}.size", "m") > 0.0).all():
            raise PlantError(f"{what}.size is {shown(self.size)}; expected 3 positive lengths in m", "size")
        turn = vector(np.ravel(self.rotation), 9, f"{what}.rotation").reshape(3, 3)
        if np.abs(turn @ turn.T - np.eye(3)).max() > 1e-6 or np.linalg.det(turn) < 0.0:
            raise PlantError(f"{what}.rotation is no rotation; expected a 3 x 3 matrix, columns of unit length", what)
        if self.friction is not None:
            number(self.friction, f"{what}.friction", low=0.0)

    @property
    def box(self) -> Box:
        """Itself, as a box."""
        return self


@dataclass(frozen=True, eq=False)
class Plate:
    """A flat plate, known by the face that is touched.

    Args:
        position: of the middle of this face in the world (m, 3).
        normal: the way it faces, out of the plate (3, any length).
        size: the two lengths of its edges, the first the more horizontal one (m, 2).
        friction: coefficient; None: that of the ground.
        thickness: behind the face (m).

    >>> plate = Plate(position=(0, 0.1, 0), normal=(0, -0.5, 0.866), size=(0.3, 0.2))
    """

    position: ArrayLike
    normal: ArrayLike
    size: ArrayLike = (0.3, 0.3)
    friction: float | None = None
    thickness: float = 0.05

    def __post_init__(self) -> None:
        what = type(self).__name__
        vector(self.position, 3, f"{what}.position", "m")
        if float(np.linalg.norm(vector(self.normal, 3, f"{what}.normal"))) < 1e-9:
            raise PlantError(f"{what}.normal is {shown(self.normal)}; expected a direction, not zero", "normal")
        if not (vector(self.size, 2, f"{what}.size", "m") > 0.0).all():
            raise PlantError(f"{what}.size is {shown(self.size)}; expected 2 positive lengths in m", "size")
        if self.friction is not None:
            number(self.friction, f"{what}.friction", low=0.0)
        positive(self.thickness, f"{what}.thickness", "m")

    @classmethod
    def touching(cls, state: State, part: Frame, normal: ArrayLike | None = None, **settings: Any) -> Plate:
        """The plate that a part just touches in a state.

        Args:
            state: where the robot is.
            part: a foot, then the plate lies under its sole; or a hand or any frame, which touches with a ball.
            normal: the way the plate faces; needed unless the part is a foot.
            settings: size, friction, thickness.

        >>> plate = Plate.touching(start, robot.hand("left"), normal=(-1, 0, 0))
        """
        pose = state.pose(part)
        if isinstance(part, Foot) and normal is None:
            return cls(pose.act(part.sole.center), pose.rotation[:, 2].copy(), **settings)
        if normal is None:
            raise PlantError(
                f"Plate.touching({part.name}) has no normal; give the way it faces, e.g. (-1, 0, 0)", "normal"
            )
        n = vector(normal, 3, "normal")
        return cls(pose.translation - BALL * n / np.linalg.norm(n), n, **settings)

    @property
    def box(self) -> Box:
        """The same as a box: z along the normal, x horizontal."""
        n = np.asarray(self.normal, dtype=np.float64)
        z = n / np.linalg.norm(n)
        level = np.cross([0.0, 0.0, 1.0], z)
        x = level / np.linalg.norm(level) if np.linalg.norm(level) > STRAIGHT else np.array([1.0, 0.0, 0.0])
        x = x - (x @ z) * z
        x /= np.linalg.norm(x)
        rotation = np.column_stack([x, np.cross(z, x), z])
        middle = np.asarray(self.position) - 0.5 * self.thickness * z
        return Box(middle, (*np.asarray(self.size), self.thickness), rotation, self.friction)


class Wall(Plate):
    """A plate that faces sideways: `normal` is horizontal.

    >>> wall = Wall(position=(0.5, 0, 1), normal=(-1, 0, 0), size=(1, 2))
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        n = np.asarray(self.normal, dtype=np.float64)
        if abs(n[2]) > STRAIGHT * np.linalg.norm(n):
            raise PlantError(f"Wall.normal is {shown(self.normal)}; expected a horizontal one, or use Plate", "normal")


@dataclass(frozen=True, eq=False)
class Table(Plate):
    """A plate that faces up: `position` is the middle of its top.

    >>> table = Table(position=(0.5, 0, 0.8), size=(1.0, 0.6))
    """

    normal: ArrayLike = (0.0, 0.0, 1.0)

    def __post_init__(self) -> None:
        super().__post_init__()
        n = np.asarray(self.normal, dtype=np.float64)
        if n[2] < (1.0 - STRAIGHT) * np.linalg.norm(n):
            raise PlantError(f"Table.normal is {shown(self.normal)}; expected (0, 0, 1), or use Plate", "normal")


#: Anything of these may stand in the world.
Thing = Box | Plate


def pose_of(box: Box) -> pinocchio.SE3:
    """world_from_box."""
    return pinocchio.SE3(np.asarray(box.rotation, dtype=np.float64), np.asarray(box.position, dtype=np.float64))
