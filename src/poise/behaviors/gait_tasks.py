"""Tasks that standing, walking and guided motions share: balance, contacts, bodies apart; and a clock of ticks."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from poise import constraints, tasks
from poise.errors import RobotError, TaskError
from poise.hierarchy import Hierarchy
from poise.robots import GRAVITY, Robot, Side, State, limbs
from poise.state import Contact

#: Bodies keep this far apart (m), capsules that they are; the nearest so many pairs within this reach (m) are watched.
APART, NEAREST, NEAR = 0.005, 16, 0.06
#: Shortest and longest period that a behavior believes in (s): between them lie all controllers.
SHORTEST_PERIOD, LONGEST_PERIOD = 1e-4, 0.02


class BalanceSettings(Protocol):
    """Gains of a balance level: see `UprightSettings`."""

    @property
    def height(self) -> float: ...
    @property
    def spin(self) -> float: ...
    @property
    def spin_rate(self) -> float: ...


class GaitSettings(BalanceSettings, Protocol):
    """Gains of a motion on feet that come and go: see `WalkSettings`."""

    @property
    def friction(self) -> float: ...
    @property
    def stopping(self) -> float: ...


def balance_tasks(
    robot: Robot,
    height: float,
    settings: BalanceSettings,
    center: Any,
    rise: Any,
    feedback: tasks.Reference,
    axes: str = "xyz",
    names: tuple[str, str, str] = ("center of mass", "height of the center of mass", "angular momentum"),
) -> list[tasks.Task]:
    """Centre of mass and angular momentum, in one level: neither buys itself free at the cost of the other.

    A moment m h on the body and an acceleration of 1 m/s² of its centre take the same force at the ground; that is
    how they are weighed.

    Args:
        height: h of the centre of mass above the ground (m).
        settings: gains.
        center, rise: targets of the centre of mass over the ground and upwards (m).
        feedback: how the error of `center` vanishes.
        axes: about which the body is not to spin.
        names: of the three tasks.
    """
    lever = robot.mass * height
    most = settings.spin * lever * math.sqrt(GRAVITY * height)
    damped = tasks.Decay(settings.spin_rate)
    return [
        tasks.CenterOfMass(center, axes="xy", reference=feedback, name=names[0]),
        tasks.CenterOfMass(rise, axes="z", reference=tasks.Decay(settings.height), name=names[1]),
        tasks.AngularMomentum(axes=axes, within=most, weight=lever**-2, reference=damped, name=names[2]),
    ]


class GaitTasks:
    """What walks and guided motions have in common: feet that stand or move, and a divergent component that is led.

    Args:
        robot: with two feet.
        start: standing.
        settings: gains.

    Attributes:
        center: what the centre of mass should do; `rise` its height.
        places: where a standing foot landed.
        height: of the centre of mass above the ground, at the start (m).
    """

    def __init__(self, robot: Robot, start: State, settings: GaitSettings) -> None:
        self.robot = robot
        self._gains = settings
        self.center, self.rise = tasks.Led(np.zeros(3)), tasks.Led(np.array(start.center_of_mass))
        self.places = {foot.side: tasks.Led(start.pose(foot)) for foot in robot.feet}
        self.height = float(start.center_of_mass[2] - min(start.pose(foot).translation[2] for foot in robot.feet))
        self._contacts = {foot.side: Contact(foot, friction=settings.friction) for foot in robot.feet}

    def balance(self) -> list[tasks.Task]:
        """The balance level: the plan says what the divergent component does, feedback included."""
        names = ("divergent component", "height", "spin")
        return balance_tasks(self.robot, self.height, self._gains, self.center, self.rise, tasks.Given(), "xy", names)

    def standing(self, *swinging: Side) -> list[constraints.RigidContact]:
        """The contacts of the feet that do not swing."""
        return [
            constraints.RigidContact(contact, at=self.places[side], damping=self._gains.stopping)
            for side, contact in self._contacts.items()
            if side not in swinging
        ]

    def by_swing_foot(self, hierarchy: Callable[..., Hierarchy]) -> dict[str, Hierarchy]:
        """One hierarchy for each foot that may swing, and one for "both" on the ground."""
        return {"both": hierarchy(), **{side: hierarchy(side) for side in self._contacts}}


def joints_of(robot: Robot, *words: str) -> list[str]:
    """Names of the joints of limbs whose name has one of the words: "arm", "head", "leg", "trunk"."""
    return [name for limb in limbs(robot) for name in limb.joints if any(word in limb.name for word in words)]


def apart(robot: Robot) -> list[tasks.Task]:
    """Arms do not pass through the body, as far as its shapes are known; feet are kept apart by the plan."""
    names = set(joints_of(robot, "arm"))
    arms = [joint for joint in robot.joints if joint.name in names]
    try:
        return [constraints.SelfCollision(robot, APART, rows=NEAREST, influence=NEAR, joints=arms)]
    except (RobotError, TaskError):
        return []


class TickClock:
    """Time from one control tick to the next, for behaviors that integrate something.

    Args:
        period: that is believed in until two ticks were seen (s).

    Attributes:
        time: of the last tick (s); minus infinity before the first.
        period: from the tick before to the last one (s).
    """

    def __init__(self, period: float) -> None:
        self.time, self.period = -math.inf, period

    def tick(self, time: float) -> bool:
        """Whether time has gone on since the last tick; a behavior that is asked twice for a time advances once."""
        if not time > self.time:
            return False
        if math.isfinite(self.time):
            self.period = min(max(time - self.time, SHORTEST_PERIOD), LONGEST_PERIOD)
        self.time = time
        return True
