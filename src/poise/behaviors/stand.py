"""Stand and Squat: on both feet, come what may."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from poise.behaviors.settings import check_settings
from poise.behaviors.upright import WEIGHTS, UprightSettings, leg_length, upright
from poise.errors import PoiseError
from poise.hierarchy import Hierarchy
from poise.robots import Robot, State
from poise.state import Contact, Snapshot
from poise.tasks import Oscillation

Array = NDArray[np.float64]


class Stand:
    """Stands, with the centre of mass above the middle of the feet, and recovers from pushes without a step.

    Args:
        robot: with feet.
        settings: see `UprightSettings`.
        start: a state at rest with contacts; None: the robot's standing stance.
        contacts: what it stands on; None: the `contacts` of the start, on level ground.

    >>> stand = Stand(robot)
    >>> plant = poise.MujocoPlant(stand.start, pushes=[Push((100, 0, 0), duration=0.1, time=1.0)])
    >>> recording = poise.record(poise.TorqueController(stand), plant, stand.seconds)
    """

    seconds = 5.0
    weights = WEIGHTS

    def __init__(
        self,
        robot: Robot,
        settings: UprightSettings | None = None,
        start: State | None = None,
        contacts: tuple[Contact, ...] | None = None,
    ) -> None:
        self.robot, self.settings = robot, settings or UprightSettings()
        self.start = robot.stance("standing") if start is None else start
        if not (self.start.contacts or contacts):
            raise PoiseError(f"{robot.name} stands on nothing; give it feet, or a start with contacts")
        self.hierarchy: Hierarchy = upright(self.start, self._center_of_mass(), self.settings, contacts)

    def __call__(self, snapshot: Snapshot) -> Hierarchy:
        return self.hierarchy

    def center_of_mass(self, time: float) -> Array:
        """Where the centre of mass should be at a time (m)."""
        return above_support(self.start)

    def _center_of_mass(self) -> Any:
        """The same as a target."""
        return above_support(self.start)


@dataclass(frozen=True)
class SquatSettings(UprightSettings):
    """As `UprightSettings`, and how deep and how fast.

    Args:
        depth: of the centre of mass, as a share of the leg's length.
        frequency: 1/s.
        cycles: how many.
    """

    depth: float = 0.15
    frequency: float = 0.5
    cycles: float = 10.0

    def __post_init__(self) -> None:
        check_settings(self)


class Squat(Stand):
    """Bends and stretches the knees: the centre of mass goes down and up, like a cosine, the soles stay flat.

    >>> squat = Squat(robot, SquatSettings(depth=0.1))
    >>> poise.record(poise.TorqueController(squat), poise.MujocoPlant(squat.start), squat.seconds)
    """

    def __init__(self, robot: Robot, settings: SquatSettings | None = None, start: State | None = None) -> None:
        numbers = settings or SquatSettings()
        self._start = robot.stance("standing") if start is None else start
        self.depth = numbers.depth * leg_length(robot)
        high = above_support(self._start)
        low = high - np.array([0.0, 0.0, self.depth])
        self.path = Oscillation(high, low, numbers.frequency, numbers.cycles)
        super().__init__(robot, numbers, self._start)
        self.seconds = numbers.cycles / numbers.frequency

    def center_of_mass(self, time: float) -> Array:
        return self.path.sample(time)[0]

    def _center_of_mass(self) -> Any:
        return self.path


def above_support(start: State) -> Array:
    """Above the middle of the support, as high as the centre of mass is at the start (m)."""
    return np.append(start.support_center, start.center_of_mass[2])
