"""Behaviors `Stand`, `Squat` and `LiveSquat`: an upright body on fixed contacts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np

from poise import constraints, tasks
from poise.arrays import Array
from poise.behaviors.gait_tasks import balance_tasks
from poise.errors import PoiseError
from poise.hierarchy import Behavior, Hierarchy, Level
from poise.parameters import FormerNames, check_parameters, gain_parameter, parameter
from poise.plans import SquatOscillator
from poise.robots import Robot, State, check_robot, leg_length
from poise.state import Contact, Snapshot
from poise.tasks import FeedForwardTarget, SinusoidTarget

#: Weights of the levels contact, balance, trunk and posture for a weighted solver. With a tenth of the first two,
#: Romeo, whose ankles make it lean, has an error of 4 cm of its center of mass in a squat to keep the trunk upright.
WEIGHTS = (1000.0, 500.0, 1.0, 0.02)


@dataclass(frozen=True)
class UprightSettings(FormerNames):
    """Gains of an upright body, the same for all robots.

    With critical damping the center of mass (CoM) responds like feedback of the DCM with a gain of 4/s: fast enough for
    the ankles, slow enough not to oscillate. The height is stiffer, so that a robot that is heavier than its model does
    not sink far. The angular momentum of a walking human stays within 0.05 m h v.
    """

    com_gain: float = gain_parameter(4.0, "gain of the center of mass")
    com_height_gain: float = gain_parameter(9.0, "gain of the height of the center of mass")
    angular_momentum_tolerance: float = gain_parameter(0.02, "tolerated angular momentum", "m h sqrt(g h)")
    angular_momentum_gain: float = gain_parameter(8.0, "damping rate of angular momentum beyond that")
    trunk_gain: float = gain_parameter(6.0, "gain of the orientation of the trunk")
    posture_gain: float = gain_parameter(4.0, "gain of the posture")
    friction: float = gain_parameter(0.7, "assumed friction coefficient of contacts", "")

    former_names = MappingProxyType(
        {
            "balance": "com_gain",
            "height": "com_height_gain",
            "spin": "angular_momentum_tolerance",
            "spin_rate": "angular_momentum_gain",
            "trunk": "trunk_gain",
            "posture": "posture_gain",
        }
    )

    def __post_init__(self) -> None:
        check_parameters(self, "upright")


def upright_hierarchy(
    start: State, center_of_mass: Any, settings: UprightSettings, contacts: Sequence[Contact] | None = None
) -> Hierarchy:
    """Return a hierarchy with the levels contact, balance (CoM and angular momentum), upright trunk, and posture.

    Args:
        start: state at rest, whose posture is kept. The trunk is upright as in the standing stance.
        center_of_mass: target of the CoM, a point or a `Target` (m).
        settings: gains.
        contacts: fixed contacts; None: those of the start.
    """
    robot = start.robot
    if contacts is None:
        contacts = [Contact(part, friction=settings.friction) for part in start.contacts]
    trunk, stance = robot.chest or robot.frame("root_joint"), robot.stance("standing")
    return Hierarchy(
        always=[constraints.JointRange(robot)],
        levels=[
            Level("contact", [constraints.RigidContact(contact, at=start) for contact in contacts]),
            Level("balance", upright_balance(start, center_of_mass, settings)),
            Level("trunk", [tasks.Orientation(trunk, stance.pose(trunk), dynamics=tasks.Decay(settings.trunk_gain))]),
            Level("posture", [tasks.Posture(start, dynamics=tasks.Decay(settings.posture_gain))]),
        ],
    )


def upright_balance(start: State, center_of_mass: Any, settings: UprightSettings) -> list[tasks.Task]:
    """Return the tasks of CoM and angular momentum over the contacts of a start, see `balance_tasks`."""
    feedback = tasks.Decay(settings.com_gain)
    return balance_tasks(start.robot, _com_height(start), settings, center_of_mass, center_of_mass, feedback)


def _com_height(start: State) -> float:
    """Return the height of the CoM above the ground (m), at least a tenth of the height of the robot."""
    ground = min(start.pose(part).translation[2] for part in start.contacts) if start.contacts else 0.0
    return float(max(start.center_of_mass[2] - ground, 0.1 * start.robot.height))


# -- Stand and Squat -------------------------------------------------------------------------------------------------


class Stand(Behavior):
    """Standing with the CoM above the middle of the feet, and recovery from pushes without a step.

    A hierarchy as a function of the state, for a controller; `poise.runs.Stand` is the complete run.

    Args:
        robot: robot with feet.
        settings: see `UprightSettings`.
        start: state at rest with contacts; None: the standing stance of the robot.
        contacts: fixed contacts; None: the `contacts` of the start, on level ground.

    >>> stand = Stand(robot)
    >>> plant = poise.MujocoPlant(stand.start, pushes=[Push((100, 0, 0), duration=0.1, time=1.0)])
    >>> recording = poise.record(poise.TorqueController(stand), plant, stand.seconds)
    """

    seconds = 5.0
    weights = WEIGHTS
    essential_level = "balance"

    def __init__(
        self,
        robot: Robot,
        settings: UprightSettings | None = None,
        start: State | None = None,
        contacts: tuple[Contact, ...] | None = None,
    ) -> None:
        self.robot, self.settings = check_robot(robot, type(self).__name__), settings or UprightSettings()
        self.start: State = robot.stance("standing") if start is None else start
        if not (self.start.contacts or contacts):
            raise PoiseError(f"{robot.name} has no contacts to stand on; give it feet, or a start with contacts")
        self.hierarchy: Hierarchy = upright_hierarchy(self.start, self._center_of_mass(), self.settings, contacts)
        self.hierarchies = (self.hierarchy,)

    def __call__(self, snapshot: Snapshot) -> Hierarchy:
        return self.hierarchy

    def center_of_mass(self, time: float) -> Array:
        """Return the target of the CoM at a time (m, 3)."""
        return center_above_support(self.start)

    def _center_of_mass(self) -> Any:
        """Return the target of the CoM for the tasks."""
        return center_above_support(self.start)


@dataclass(frozen=True)
class SquatSettings(UprightSettings):
    """Settings of `Squat`: those of `UprightSettings`, and depth, frequency and number of squats."""

    depth: float = parameter(
        0.15,
        "vertical travel of the center of mass",
        unit="leg lengths",
        low=0.0,
        above=0.0,
        below=1.0,  # there the hips would be at the height of the ankles
        typical_range=(0.0, 0.3),
    )
    frequency: float = gain_parameter(0.5, "squats per second", typical_range=(0.1, 1.0))
    cycles: float = gain_parameter(10.0, "number of squats", "")

    def __post_init__(self) -> None:
        check_parameters(self, "squat")


class Squat(Stand):
    """Squats with flat soles: the CoM moves down and up as a cosine.

    A hierarchy as a function of the state, for a controller; `poise.runs.Squat` is the complete run.

    >>> squat = Squat(robot, SquatSettings(depth=0.1))
    >>> poise.record(poise.TorqueController(squat), poise.MujocoPlant(squat.start), squat.seconds)
    """

    def __init__(self, robot: Robot, settings: SquatSettings | None = None, start: State | None = None) -> None:
        check_robot(robot, type(self).__name__)
        settings = settings or SquatSettings()
        self._start = robot.stance("standing") if start is None else start
        self.depth = settings.depth * leg_length(robot)
        highest = center_above_support(self._start)
        lowest = highest - np.array([0.0, 0.0, self.depth])
        self.path = SinusoidTarget(highest, lowest, settings.frequency, settings.cycles)
        super().__init__(robot, settings, self._start)
        self.seconds = settings.cycles / settings.frequency

    def center_of_mass(self, time: float) -> Array:
        return self.path.sample(time)[0]

    def _center_of_mass(self) -> Any:
        return self.path


class LiveSquat(Stand):
    """Squats whose depth and frequency may change during the motion; with depth zero the robot stands.

    Args:
        robot, settings, start: as in `Stand`.
        oscillator: oscillator of the CoM height, which may be shared with other references.

    >>> squat = LiveSquat(robot)
    >>> squat.advance(0.002, depth=0.08, frequency=0.5)  # once per period
    """

    def __init__(
        self,
        robot: Robot,
        settings: UprightSettings | None = None,
        start: State | None = None,
        oscillator: SquatOscillator | None = None,
    ) -> None:
        check_robot(robot, type(self).__name__)
        self.oscillator = oscillator or SquatOscillator()
        self._high = center_above_support(robot.stance("standing") if start is None else start)
        self._target = FeedForwardTarget(self._high)
        super().__init__(robot, settings, start)

    def advance(self, period: float, depth: float, frequency: float) -> None:
        """Advance by one period (s) towards a depth (m) and a frequency (1/s)."""
        self.oscillator.advance(period, depth, frequency)
        up, oscillator = np.array([0.0, 0.0, 1.0]), self.oscillator
        self._target.set(self._high + oscillator.height * up, oscillator.rate * up, oscillator.acceleration * up)

    def center_of_mass(self, time: float) -> Array:
        return self._high + np.array([0.0, 0.0, self.oscillator.height])

    def _center_of_mass(self) -> Any:
        return self._target


def center_above_support(start: State) -> Array:
    """Return the point above the middle of the support region at the initial height of the CoM (m, 3)."""
    return np.append(start.support_center, start.center_of_mass[2])
