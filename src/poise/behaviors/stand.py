"""Stand and Squat: an upright body over contacts that stay, and the dimensions of a standing body."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from poise import constraints, tasks
from poise.arrays import Array
from poise.behaviors.gait_tasks import balance_tasks
from poise.behaviors.settings_check import check_settings
from poise.errors import PoiseError
from poise.hierarchy import Hierarchy, Level
from poise.robots import Robot, State, leg_length
from poise.state import Contact, Snapshot
from poise.tasks import Oscillation

#: Weights of the levels contact, balance, trunk and posture for a weighted solver. With a tenth of the first two Romeo,
#: whose ankles make it lean, trades 4 cm of its centre of mass in a squat for an upright trunk.
WEIGHTS = (1000.0, 500.0, 1.0, 0.02)


@dataclass(frozen=True)
class UprightSettings:
    """Gains of an upright body, the same on all robots.

    Args:
        balance: rate of the centre of mass, 1/s. With critical damping it answers like the feedback of the divergent
            component of motion with gain 4/s: fast enough for the ankles, slow enough not to shake.
        height: rate of its height, 1/s; stiffer, so that a body that is heavier than believed does not sink far.
        spin: angular momentum that is left alone, as a share of m h sqrt(g h), with m the mass and h the height of its
            centre. A walking human stays within 0.05 of m h v.
        spin_rate: how fast more than that is damped, 1/s.
        trunk: rate of the trunk's orientation, 1/s.
        posture: rate of the posture, 1/s.
        friction: μ that contacts are trusted with.
    """

    balance: float = 4.0
    height: float = 9.0
    spin: float = 0.02
    spin_rate: float = 8.0
    trunk: float = 6.0
    posture: float = 4.0
    friction: float = 0.7

    def __post_init__(self) -> None:
        check_settings(self)


def upright(
    start: State, center_of_mass: Any, settings: UprightSettings, contacts: Sequence[Contact] | None = None
) -> Hierarchy:
    """Contacts stay; the centre of mass follows a target and the body does not spin; the trunk stays upright; posture.

    Args:
        start: at rest; its posture is kept. The trunk is upright as in the standing stance.
        center_of_mass: a point or a `Target` (m).
        contacts: what it stands on; None: those of the start.
    """
    robot = start.robot
    if contacts is None:
        contacts = [Contact(part, friction=settings.friction) for part in start.contacts]
    trunk, stance = robot.chest or robot.frame("root_joint"), robot.stance("standing")
    return Hierarchy(
        always=[constraints.JointRange(robot)],
        levels=[
            Level("contact", [constraints.RigidContact(contact, at=start) for contact in contacts]),
            Level("balance", balance(start, center_of_mass, settings)),
            Level("trunk", [tasks.Orientation(trunk, stance.pose(trunk), reference=tasks.Decay(settings.trunk))]),
            Level("posture", [tasks.Posture(start, reference=tasks.Decay(settings.posture))]),
        ],
    )


def balance(start: State, center_of_mass: Any, settings: UprightSettings) -> list[tasks.Task]:
    """Centre of mass and angular momentum over the contacts of a start, see `balance_tasks`."""
    feedback = tasks.Decay(settings.balance)
    return balance_tasks(start.robot, _height(start), settings, center_of_mass, center_of_mass, feedback)


def _height(start: State) -> float:
    """Of the centre of mass above the ground (m)."""
    ground = min(start.pose(part).translation[2] for part in start.contacts) if start.contacts else 0.0
    return float(max(start.center_of_mass[2] - ground, 0.1 * start.robot.height))


# -- Stand and Squat: on both feet, come what may --------------------------------------------------------------------


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
