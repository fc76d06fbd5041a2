"""What a robot stands on: flat ground, a slope, stairs, or uneven ground.

>>> terrain("slope:5"), terrain("stairs:0.1,0.3,4")
(Slope(degrees=5.0), Stairs(rise=0.1, run=0.3, count=4))
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import product
from typing import Protocol

import numpy as np
import pinocchio
from numpy.typing import NDArray

from poise.errors import UsageError
from poise.plants.errors import PlantError, number, positive
from poise.plants.things import Box

Array = NDArray[np.float64]

#: The first step of stairs rises this far ahead of the origin (m): beyond the toes of every library robot, and near.
AHEAD = 0.4
#: Width of stairs, and length of the landing after them (m).
WIDTH, LANDING = 4.0, 4.0
#: Edge of the boxes of uneven ground (m): longer than a foot, so that one sole meets one or two of them, not ten.
TILE = 0.3
#: Uneven ground has so many boxes behind the origin and to each side, and so many ahead of it: 2.1 m, and 8.1 m for a
#: walk of 20 steps.
ASIDE, FORWARD = 7, 27


class Ground(Protocol):
    """Something to stand on; at the origin it has height zero."""

    @property
    def plane(self) -> pinocchio.SE3:
        """world_from_plane: an endless plane, z its normal."""

    def boxes(self, seed: int, level: Array) -> list[Box]:
        """Boxes on the plane, for a plant of this seed; no random one rises inside the rectangle `level`.

        It holds the soles of the start: lowest x and y, highest x and y (2 x 2, m).
        """

    def elevation(self, x: float, y: float) -> float:
        """Of the ground at a place (m), roughly where it is uneven: good enough to tell whether a robot has fallen."""


@dataclass(frozen=True)
class Flat:
    """A floor at z = 0."""

    @property
    def plane(self) -> pinocchio.SE3:
        return pinocchio.SE3.Identity()

    def boxes(self, seed: int, level: Array) -> list[Box]:
        return []

    def elevation(self, x: float, y: float) -> float:
        return 0.0


@dataclass(frozen=True)
class Slope:
    """A plane through the origin that rises ahead of the robot, along x, by an angle; it falls for a negative one.

    Args:
        degrees: between -45 and 45; no sole grips on more.
    """

    degrees: float

    def __post_init__(self) -> None:
        number(self.degrees, "Slope.degrees", low=-45.0, high=45.0)

    @property
    def plane(self) -> pinocchio.SE3:
        turn = pinocchio.rpy.rpyToMatrix(0.0, -math.radians(self.degrees), 0.0)
        return pinocchio.SE3(turn, np.zeros(3))

    def boxes(self, seed: int, level: Array) -> list[Box]:
        return []

    def elevation(self, x: float, y: float) -> float:
        return x * math.tan(math.radians(self.degrees))


@dataclass(frozen=True)
class Stairs:
    """Steps ahead of the robot, the first 0.4 m from the origin, and a landing after the last.

    Args:
        rise: of one step (m); negative ones lead down.
        run: depth of one step (m).
        count: of steps.
    """

    rise: float
    run: float
    count: int

    def __post_init__(self) -> None:
        number(self.rise, "Stairs.rise", low=-0.5, high=0.5, unit="m")
        positive(self.run, "Stairs.run", "m")
        if not isinstance(self.count, int) or isinstance(self.count, bool) or not 1 <= self.count <= 200:
            raise PlantError(f"Stairs.count is {self.count!r}; expected a whole number from 1 to 200", "count")

    @property
    def plane(self) -> pinocchio.SE3:
        """The lowest level."""
        return pinocchio.SE3(np.eye(3), np.array([0.0, 0.0, min(self.count * self.rise, 0.0)]))

    def boxes(self, seed: int, level: Array) -> list[Box]:
        bottom = float(self.plane.translation[2])
        begins = [AHEAD + i * self.run for i in range(self.count)]
        spans = [(-LANDING, AHEAD), *((x, x + self.run) for x in begins[:-1]), (begins[-1], begins[-1] + LANDING)]
        found = []
        for i, (begin, end) in enumerate(spans):
            top = i * self.rise
            if top > bottom:
                size = (end - begin, WIDTH, top - bottom)
                found.append(Box(((begin + end) / 2, 0.0, (top + bottom) / 2), size))
        return found

    def elevation(self, x: float, y: float) -> float:
        return self.rise * min(max(math.floor((x - AHEAD) / self.run) + 1, 0), self.count)


@dataclass(frozen=True)
class Rough:
    """Boxes of 30 cm with random heights; level under the feet of the start.

    Args:
        height: of the highest box (m); each is between zero and this, equally likely.
        seed: of the heights; None: that of the plant.
    """

    height: float
    seed: int | None = None

    def __post_init__(self) -> None:
        number(self.height, "Rough.height", low=0.0, high=0.5, unit="m")

    @property
    def plane(self) -> pinocchio.SE3:
        return pinocchio.SE3.Identity()

    def boxes(self, seed: int, level: Array) -> list[Box]:
        random = np.random.default_rng(seed if self.seed is None else self.seed)
        found = []
        for i, j in product(range(-ASIDE, FORWARD), range(-ASIDE, ASIDE)):
            x, y, top = (i + 0.5) * TILE, (j + 0.5) * TILE, random.uniform(0.0, self.height)
            apart = max(level[0, 0] - x, x - level[1, 0], level[0, 1] - y, y - level[1, 1]) >= TILE / 2
            if apart and top > 0.0:
                found.append(Box((x, y, top / 2), (TILE, TILE, top)))
        return found

    def elevation(self, x: float, y: float) -> float:
        return 0.0


def terrain(text: str) -> Ground:
    """The ground that the command line names: flat, slope:DEG, rough:METRES or stairs:RISE,RUN,COUNT."""
    name, _, words = text.partition(":")
    try:
        numbers = [float(word) for word in words.split(",")] if words else []
        match name, numbers:
            case "flat", []:
                return Flat()
            case "slope", [degrees]:
                return Slope(degrees)
            case "rough", [height]:
                return Rough(height)
            case "stairs", [rise, run, count] if count.is_integer():
                return Stairs(rise, run, int(count))
    except PlantError as error:
        raise UsageError(f"terrain '{text}': {error}") from None
    except ValueError:
        pass
    raise UsageError(f"'{text}' is no terrain; expected flat, slope:DEG, rough:METRES or stairs:RISE,RUN,COUNT")
