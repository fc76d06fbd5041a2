"""What walking and navigating share: contacts, balance, feet and the estimated ground."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np
import pinocchio

from poise import constraints, tasks
from poise.arrays import Array
from poise.errors import RobotError, TaskError
from poise.geometry import so3
from poise.hierarchy import Hierarchy
from poise.plans import Phase
from poise.robots import GRAVITY, Foot, Robot, Side, State, limbs
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


# -- Feet and the ground ---------------------------------------------------------------------------------------------


#: x, y and z.
Point = Sequence[float] | Array
LEVEL = np.eye(3)


def sole_pose(foot: Foot, place: Point, yaw: float, tilt: Array = LEVEL) -> pinocchio.SE3:
    """world_from_foot with the middle of the sole at a place (m), turned by a yaw (rad) on ground of this tilt."""
    R = tilt @ so3.yaw_matrix(yaw)
    return pinocchio.SE3(R, np.asarray(place) - R @ foot.sole.center)


def sole_motion(
    foot: Foot,
    place: tuple[Point, Point, Point],
    yaw: tuple[float, float, float],
    tilt: Array = LEVEL,
) -> tuple[pinocchio.SE3, tuple[float, ...], tuple[float, ...]]:
    """Pose, twist and its rate of the foot's frame, in world axes, linear parts first.

    The frame is off the middle by r, which turns with ψ: ``ṙ = ψ̇ ẑ x r`` and ``r̈ = ψ̈ ẑ x r - ψ̇² r`` (as on level
    ground; on a slope the difference is of second order in its tilt).

    Args:
        place: of the middle of the sole, its rate and acceleration.
        yaw: ψ, ψ̇ and ψ̈ (rad, rad/s, rad/s²).
    """
    pose = sole_pose(foot, place[0], yaw[0], tilt)
    x, y = (pose.translation - np.asarray(place[0]))[:2].tolist()
    v, a, (_, turning, faster) = place[1], place[2], yaw
    twist = (v[0] - turning * y, v[1] + turning * x, v[2], 0.0, 0.0, turning)
    rate = (a[0] - faster * y - turning**2 * x, a[1] + faster * x - turning**2 * y, a[2], 0.0, 0.0, faster)
    return pose, twist, rate


# -- Footing: what a walk feels of the ground, and of its own weight -------------------------------------------------


#: How much of the slope under one foot is believed: uneven ground tilts feet either way, a slope the same way.
FEELING = 0.07
#: What is felt less than this (rise per metre) is unevenness: boxes of 2 cm under a foot come to that, on average.
EVEN = 0.04
#: Rate at which another height, of the ground or of the walk, is taken over, critically damped, 1/s: a stair of 5 cm
#: takes a quarter of gravity.
LEVELLING = 7.0
#: How fast a wrong weight is learnt, 1/s³, and how wrong it may be, m/s²: in half a second, up to a third of gravity.
WEIGHING, HEAVIEST = 300.0, 3.0


class Footing:
    """The ground under a walk.

    Attributes:
        level: height at which the centre of mass is carried (m).
        heavier: acceleration (m/s²) that a body heavier than believed lacks.
    """

    def __init__(self, start: State) -> None:
        feet = start.robot.feet
        self._felt = sum((sloped(start.pose(foot).rotation[:, 2]) for foot in feet), 0j) / len(feet)
        self.level = float(start.center_of_mass[2])
        self.heavier = self._rate = 0.0

    @property
    def slope(self) -> complex:
        """How far the ground rises per metre along x and along y, as x + i y."""
        return self._felt if abs(self._felt) > EVEN else 0j

    @property
    def tilt(self) -> Array:
        """From level to the ground."""
        return tilted(self.slope)

    def stood(self, normal: Array) -> None:
        """A sole stood with this normal."""
        self._felt += FEELING * (sloped(normal) - self._felt)

    def carry(self, phase: Phase, height: float, actual: float, period: float) -> tuple[float, float, float]:
        """Height of the centre of mass (m), its rate and acceleration, on the way to be so high above the ground.

        Args:
            height: above the ground (m).
            actual: where the centre of mass is (m).
        """
        # The lower of both feet is the one whose leg might become too short.
        floor = min(phase.support.z, phase.goal.z if phase.kind == "single" else phase.last.z)
        acceleration = LEVELLING * (LEVELLING * (floor + height - self.level) - 2.0 * self._rate)
        self._rate += period * acceleration
        self.level += period * self._rate
        # Who is lighter or heavier than believed would hover or sink: what is missing is learnt.
        heavier = self.heavier + WEIGHING * (self.level - actual) * period
        self.heavier = min(max(heavier, -HEAVIEST), HEAVIEST)
        return self.level, self._rate, acceleration + self.heavier


def sloped(normal: Array) -> complex:
    """How far ground with this normal rises per metre along x and along y, as x + i y."""
    return -complex(normal[0], normal[1]) / max(float(normal[2]), 0.7)


def tilted(slope: complex) -> Array:
    """The rotation from level ground to ground of this slope."""
    up = np.array([-slope.real, -slope.imag, 1.0])
    turn = pinocchio.Quaternion.FromTwoVectors(np.array([0.0, 0.0, 1.0]), up / np.linalg.norm(up))
    return np.asarray(turn.toRotationMatrix())
