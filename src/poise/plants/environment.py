"""Environment of a simulated robot: terrain, and fixed objects such as walls and tables.

>>> parse_terrain("slope:5"), parse_terrain("stairs:0.1,0.3,4")
(Slope(degrees=5.0), Stairs(rise=0.1, run=0.3, count=4))

Objects do not move. The position of a box is that of its center; the position of a plate, wall or table is that of the
center of its contact face.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from itertools import product
from typing import Any, Protocol, runtime_checkable

import numpy as np
import pinocchio
from numpy.typing import ArrayLike

from poise.arrays import Array
from poise.errors import UsageError
from poise.parsing import format_value
from poise.plants.plant_errors import PlantError, require_number, require_positive, require_vector
from poise.robots import Foot, Frame, State

#: Radius of a hand's contact ball (m), about that of a fingertip, so that the frame is close to the contact point.
BALL_RADIUS = 0.01
#: Tolerance for horizontal and vertical normals (rad): rounding of angles given in degrees with four digits.
ANGLE_TOLERANCE = 1e-4


#: Default coefficient of friction: rubber soles on a dry floor.
FLOOR_FRICTION = 0.8


@dataclass(frozen=True, eq=False)
class SolidBox:
    """A solid box.

    Args:
        position: of its center in the world (m, 3).
        size: lengths of its edges (m, 3).
        rotation: world_from_box, 3 x 3.
        friction: coefficient; None: that of the ground.
    """

    position: ArrayLike
    size: ArrayLike
    rotation: Any = field(default_factory=lambda: np.eye(3))
    friction: float | None = None

    def __post_init__(self) -> None:
        class_name = type(self).__name__
        require_vector(self.position, 3, f"{class_name}.position", "m")
        if not (require_vector(self.size, 3, f"{class_name}.size", "m") > 0.0).all():
            raise PlantError(
                f"{class_name}.size is {format_value(self.size)}; expected 3 positive lengths in m", "size"
            )
        rotation = require_vector(np.ravel(self.rotation), 9, f"{class_name}.rotation").reshape(3, 3)
        if np.abs(rotation @ rotation.T - np.eye(3)).max() > 1e-6 or np.linalg.det(rotation) < 0.0:
            raise PlantError(
                f"{class_name}.rotation is not a rotation; expected an orthonormal 3 x 3 matrix", class_name
            )
        if self.friction is not None:
            require_number(self.friction, f"{class_name}.friction", low=0.0)

    @property
    def box(self) -> SolidBox:
        """The box itself."""
        return self


@dataclass(frozen=True, eq=False)
class Plate:
    """A flat plate, given by its contact face.

    Args:
        position: of the center of this face in the world (m, 3).
        normal: outward normal of the face (3, any length).
        size: lengths of its edges (m, 2), the horizontal edge first.
        friction: coefficient; None: that of the ground.
        thickness: thickness behind the face (m).

    >>> plate = Plate(position=(0, 0.1, 0), normal=(0, -0.5, 0.866), size=(0.3, 0.2))
    """

    position: ArrayLike
    normal: ArrayLike
    size: ArrayLike = (0.3, 0.3)
    friction: float | None = None
    thickness: float = 0.05

    def __post_init__(self) -> None:
        class_name = type(self).__name__
        require_vector(self.position, 3, f"{class_name}.position", "m")
        if float(np.linalg.norm(require_vector(self.normal, 3, f"{class_name}.normal"))) < 1e-9:
            raise PlantError(
                f"{class_name}.normal is {format_value(self.normal)}; expected a direction, not zero", "normal"
            )
        if not (require_vector(self.size, 2, f"{class_name}.size", "m") > 0.0).all():
            raise PlantError(
                f"{class_name}.size is {format_value(self.size)}; expected 2 positive lengths in m", "size"
            )
        if self.friction is not None:
            require_number(self.friction, f"{class_name}.friction", low=0.0)
        require_positive(self.thickness, f"{class_name}.thickness", "m")

    @classmethod
    def at_frame(cls, state: State, part: Frame, normal: ArrayLike | None = None, **settings: Any) -> Plate:
        """Return the plate that a part just touches in a state.

        Args:
            state: state of the robot.
            part: a foot, for a plate under its sole; or a hand or any other frame, which touches with a ball.
            normal: outward normal of the plate; required unless the part is a foot.
            settings: size, friction, thickness.

        >>> plate = Plate.at_frame(start, robot.hand("left"), normal=(-1, 0, 0))
        """
        pose = state.pose(part)
        if isinstance(part, Foot) and normal is None:
            return cls(pose.act(part.sole.center), pose.rotation[:, 2].copy(), **settings)
        if normal is None:
            raise PlantError(
                f"Plate.at_frame({part.name}) has no normal; give its outward normal, e.g. (-1, 0, 0)", "normal"
            )
        n = require_vector(normal, 3, "normal")
        return cls(pose.translation - BALL_RADIUS * n / np.linalg.norm(n), n, **settings)

    @property
    def box(self) -> SolidBox:
        """The plate as a box: z along the normal, x horizontal."""
        n = np.asarray(self.normal, dtype=np.float64)
        z = n / np.linalg.norm(n)
        horizontal = np.cross([0.0, 0.0, 1.0], z)
        length = np.linalg.norm(horizontal)
        x = horizontal / length if length > ANGLE_TOLERANCE else np.array([1.0, 0.0, 0.0])
        x = x - (x @ z) * z
        x /= np.linalg.norm(x)
        rotation = np.column_stack([x, np.cross(z, x), z])
        middle = np.asarray(self.position) - 0.5 * self.thickness * z
        return SolidBox(middle, (*np.asarray(self.size), self.thickness), rotation, self.friction)


class Wall(Plate):
    """A vertical plate: `normal` is horizontal.

    >>> wall = Wall(position=(0.5, 0, 1), normal=(-1, 0, 0), size=(1, 2))
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        n = np.asarray(self.normal, dtype=np.float64)
        if abs(n[2]) > ANGLE_TOLERANCE * np.linalg.norm(n):
            raise PlantError(
                f"Wall.normal is {format_value(self.normal)}; expected a horizontal normal, or use Plate", "normal"
            )


@dataclass(frozen=True, eq=False)
class Table(Plate):
    """A horizontal plate that faces up: `position` is the center of its top.

    >>> table = Table(position=(0.5, 0, 0.8), size=(1.0, 0.6))
    """

    normal: ArrayLike = (0.0, 0.0, 1.0)

    def __post_init__(self) -> None:
        super().__post_init__()
        n = np.asarray(self.normal, dtype=np.float64)
        if n[2] < (1.0 - ANGLE_TOLERANCE) * np.linalg.norm(n):
            raise PlantError(f"Table.normal is {format_value(self.normal)}; expected (0, 0, 1), or use Plate", "normal")


#: Fixed objects of an environment.
EnvironmentObject = SolidBox | Plate


def box_pose(box: SolidBox) -> pinocchio.SE3:
    """Return world_from_box."""
    return pinocchio.SE3(np.asarray(box.rotation, dtype=np.float64), np.asarray(box.position, dtype=np.float64))


# -- Terrain ---------------------------------------------------------------------------------------------------------


#: Distance from the origin to the first step of stairs (m): just beyond the toes of every library robot.
STAIRS_DISTANCE = 0.4
#: Width of stairs, and length of the landing after them (m).
STAIRS_WIDTH, LANDING_LENGTH = 4.0, 4.0
#: Edge of the boxes of uneven ground (m): longer than a foot, so that a sole touches one or two of them, not ten.
TILE_SIZE = 0.3
#: Number of boxes of uneven ground behind the origin and to each side (2.1 m), and in front of it (8.1 m, for a walk of
#: 20 steps).
TILES_ASIDE, TILES_AHEAD = 7, 27


@runtime_checkable
class Terrain(Protocol):
    """Ground of a simulation: an infinite plane with boxes; its height at the origin is zero."""

    @property
    def plane(self) -> pinocchio.SE3:
        """world_from_plane: an infinite plane with normal z."""

    def boxes(self, seed: int, flat_region: Array) -> list[SolidBox]:
        """Return the boxes on the plane for the seed of a plant; random boxes are left out in `flat_region`.

        `flat_region` is the rectangle around the soles of the start: lowest x and y, highest x and y (2 x 2, m).
        """

    def elevation(self, x: float, y: float) -> float:
        """Return the height of the ground at a point (m); approximate on uneven ground, for the detection of falls."""


@dataclass(frozen=True)
class FlatTerrain:
    """A floor at z = 0."""

    @property
    def plane(self) -> pinocchio.SE3:
        return pinocchio.SE3.Identity()

    def boxes(self, seed: int, flat_region: Array) -> list[SolidBox]:
        return []

    def elevation(self, x: float, y: float) -> float:
        return 0.0


@dataclass(frozen=True)
class Slope:
    """An inclined plane through the origin that rises along x, or falls for a negative angle.

    Args:
        degrees: inclination, from -45 to 45 degrees; soles slip on steeper slopes.
    """

    degrees: float

    def __post_init__(self) -> None:
        require_number(self.degrees, "Slope.degrees", low=-45.0, high=45.0)

    @property
    def plane(self) -> pinocchio.SE3:
        rotation = pinocchio.rpy.rpyToMatrix(0.0, -math.radians(self.degrees), 0.0)
        return pinocchio.SE3(rotation, np.zeros(3))

    def boxes(self, seed: int, flat_region: Array) -> list[SolidBox]:
        return []

    def elevation(self, x: float, y: float) -> float:
        return x * math.tan(math.radians(self.degrees))


@dataclass(frozen=True)
class Stairs:
    """Stairs in front of the robot along x, the first step 0.4 m from the origin, and a landing after the last step.

    Args:
        rise: height of one step (m); negative for stairs that lead down.
        run: depth of one step (m).
        count: number of steps.
    """

    rise: float
    run: float
    count: int

    def __post_init__(self) -> None:
        require_number(self.rise, "Stairs.rise", low=-0.5, high=0.5, unit="m")
        require_positive(self.run, "Stairs.run", "m")
        if not isinstance(self.count, int) or isinstance(self.count, bool) or not 1 <= self.count <= 200:
            raise PlantError(f"Stairs.count is {self.count!r}; expected a whole number from 1 to 200", "count")

    @property
    def plane(self) -> pinocchio.SE3:
        """The plane of the lowest level."""
        return pinocchio.SE3(np.eye(3), np.array([0.0, 0.0, min(self.count * self.rise, 0.0)]))

    def boxes(self, seed: int, flat_region: Array) -> list[SolidBox]:
        bottom = float(self.plane.translation[2])
        begins = [STAIRS_DISTANCE + i * self.run for i in range(self.count)]
        spans = [
            (-LANDING_LENGTH, STAIRS_DISTANCE),
            *((x, x + self.run) for x in begins[:-1]),
            (begins[-1], begins[-1] + LANDING_LENGTH),
        ]
        boxes = []
        for i, (begin, end) in enumerate(spans):
            top = i * self.rise
            if top > bottom:
                size = (end - begin, STAIRS_WIDTH, top - bottom)
                boxes.append(SolidBox(((begin + end) / 2, 0.0, (top + bottom) / 2), size))
        return boxes

    def elevation(self, x: float, y: float) -> float:
        return self.rise * min(max(math.floor((x - STAIRS_DISTANCE) / self.run) + 1, 0), self.count)


@dataclass(frozen=True)
class RoughTerrain:
    """Uneven ground: boxes of 30 cm with random heights; flat under the feet of the start.

    Args:
        height: largest height of a box (m); heights are uniformly distributed between zero and this value.
        seed: seed of the heights; None: that of the plant.
    """

    height: float
    seed: int | None = None

    def __post_init__(self) -> None:
        require_number(self.height, "RoughTerrain.height", low=0.0, high=0.5, unit="m")

    @property
    def plane(self) -> pinocchio.SE3:
        return pinocchio.SE3.Identity()

    def boxes(self, seed: int, flat_region: Array) -> list[SolidBox]:
        random = np.random.default_rng(seed if self.seed is None else self.seed)
        boxes = []
        for i, j in product(range(-TILES_ASIDE, TILES_AHEAD), range(-TILES_ASIDE, TILES_ASIDE)):
            x, y, top = (i + 0.5) * TILE_SIZE, (j + 0.5) * TILE_SIZE, random.uniform(0.0, self.height)
            outside = (
                max(flat_region[0, 0] - x, x - flat_region[1, 0], flat_region[0, 1] - y, y - flat_region[1, 1])
                >= TILE_SIZE / 2
            )
            if outside and top > 0.0:
                boxes.append(SolidBox((x, y, top / 2), (TILE_SIZE, TILE_SIZE, top)))
        return boxes

    def elevation(self, x: float, y: float) -> float:
        return 0.0


def parse_terrain(text: str) -> Terrain:
    """Parse a terrain of the command line: flat, slope:DEG, rough:METERS or stairs:RISE,RUN,COUNT."""
    name, _, arguments = text.partition(":")
    try:
        numbers = [float(word) for word in arguments.split(",")] if arguments else []
        match name, numbers:
            case "flat", []:
                return FlatTerrain()
            case "slope", [degrees]:
                return Slope(degrees)
            case "rough", [height]:
                return RoughTerrain(height)
            case "stairs", [rise, run, count] if count.is_integer():
                return Stairs(rise, run, int(count))
    except PlantError as error:
        raise UsageError(f"terrain '{text}': {error}") from None
    except ValueError:
        pass
    raise UsageError(f"'{text}' is not a terrain; expected flat, slope:DEG, rough:METERS or stairs:RISE,RUN,COUNT")
