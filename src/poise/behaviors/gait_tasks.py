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
from poise.plans import GaitPhase
from poise.robots import GRAVITY, Foot, Robot, Side, State, limbs
from poise.state import Contact

#: Bodies keep this far apart (m), capsules that they are; the nearest so many pairs within this reach (m) are watched.
LEAST_BODY_DISTANCE, WATCHED_PAIRS, INFLUENCE_DISTANCE = 0.005, 16, 0.06
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
    height_target: Any,
    feedback: tasks.TaskDynamics,
    axes: str = "xyz",
    names: tuple[str, str, str] = ("center of mass", "height of the center of mass", "angular momentum"),
) -> list[tasks.Task]:
    """Centre of mass and angular momentum, in one level: neither buys itself free at the cost of the other.

    A moment m h on the body and an acceleration of 1 m/s² of its centre take the same force at the ground; that is
    how they are weighed.

    Args:
        height: h of the centre of mass above the ground (m).
        settings: gains.
        center, height_target: targets of the centre of mass over the ground and upwards (m).
        feedback: how the error of `center` vanishes.
        axes: about which the body is not to spin.
        names: of the three tasks.
    """
    lever = robot.mass * height
    largest = settings.spin * lever * math.sqrt(GRAVITY * height)
    damped = tasks.Decay(settings.spin_rate)
    return [
        tasks.CenterOfMass(center, axes="xy", dynamics=feedback, name=names[0]),
        tasks.CenterOfMass(height_target, axes="z", dynamics=tasks.Decay(settings.height), name=names[1]),
        tasks.AngularMomentum(axes=axes, tolerance=largest, weight=lever**-2, dynamics=damped, name=names[2]),
    ]


class GaitTasks:
    """What walks and guided motions have in common: feet that stand or move, and a divergent component that is led.

    Args:
        robot: with two feet.
        start: standing.
        settings: gains.

    Attributes:
        center: what the centre of mass should do; `height_target` its height.
        stance_poses: where a standing foot landed.
        height: of the centre of mass above the ground, at the start (m).
    """

    def __init__(self, robot: Robot, start: State, settings: GaitSettings) -> None:
        self.robot = robot
        self._gains = settings
        self.center, self.com_height = (
            tasks.FeedForwardTarget(np.zeros(3)),
            tasks.FeedForwardTarget(np.array(start.center_of_mass)),
        )
        self.stance_poses = {foot.side: tasks.FeedForwardTarget(start.pose(foot)) for foot in robot.feet}
        self.height = float(start.center_of_mass[2] - min(start.pose(foot).translation[2] for foot in robot.feet))
        self._contacts = {foot.side: Contact(foot, friction=settings.friction) for foot in robot.feet}

    def balance(self) -> list[tasks.Task]:
        """The balance level: the plan says what the divergent component does, feedback included."""
        names = ("divergent component", "height", "spin")
        return balance_tasks(
            self.robot, self.height, self._gains, self.center, self.com_height, tasks.FeedForward(), "xy", names
        )

    def stance_contacts(self, *swinging: Side) -> list[constraints.RigidContact]:
        """The contacts of the feet that do not swing."""
        return [
            constraints.RigidContact(contact, at=self.stance_poses[side], damping=self._gains.stopping)
            for side, contact in self._contacts.items()
            if side not in swinging
        ]

    def by_swing_foot(self, hierarchy: Callable[..., Hierarchy]) -> dict[str, Hierarchy]:
        """One hierarchy for each foot that may swing, and one for "both" on the ground."""
        return {"both": hierarchy(), **{side: hierarchy(side) for side in self._contacts}}


def limb_joints(robot: Robot, *limb_words: str) -> list[str]:
    """Names of the joints of limbs whose name has one of the words: "arm", "head", "leg", "trunk"."""
    return [name for limb in limbs(robot) for name in limb.joints if any(word in limb.name for word in limb_words)]


def arm_collision_constraints(robot: Robot) -> list[tasks.Task]:
    """Arms do not pass through the body, as far as its shapes are known; feet are kept apart by the plan."""
    names = set(limb_joints(robot, "arm"))
    arms = [joint for joint in robot.joints if joint.name in names]
    try:
        return [
            constraints.SelfCollision(
                robot, LEAST_BODY_DISTANCE, rows=WATCHED_PAIRS, influence=INFLUENCE_DISTANCE, joints=arms
            )
        ]
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
LEVEL_GROUND = np.eye(3)


def sole_pose(foot: Foot, place: Point, yaw: float, tilt: Array = LEVEL_GROUND) -> pinocchio.SE3:
    """world_from_foot with the middle of the sole at a place (m), turned by a yaw (rad) on ground of this tilt."""
    R = tilt @ so3.yaw_matrix(yaw)
    return pinocchio.SE3(R, np.asarray(place) - R @ foot.sole.center)


def sole_motion(
    foot: Foot,
    place: tuple[Point, Point, Point],
    yaw: tuple[float, float, float],
    tilt: Array = LEVEL_GROUND,
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


# -- Terrain estimation from contacts, and the error of the weight ---------------------------------------------------


#: How much of the slope under one foot is believed: uneven ground tilts feet either way, a slope the same way.
SLOPE_GAIN = 0.07
#: What is felt less than this (rise per metre) is unevenness: boxes of 2 cm under a foot come to that, on average.
LEAST_SLOPE = 0.04
#: Rate at which another height, of the ground or of the walk, is taken over, critically damped, 1/s: a stair of 5 cm
#: takes a quarter of gravity.
HEIGHT_RATE = 7.0
#: How fast a wrong weight is learnt, 1/s³, and how wrong it may be, m/s²: in half a second, up to a third of gravity.
WEIGHT_GAIN, LARGEST_WEIGHT_ERROR = 300.0, 3.0


class TerrainEstimator:
    """The ground under a walk.

    Attributes:
        center_height: height at which the centre of mass is carried (m).
        weight_error: acceleration (m/s²) that a body heavier than believed lacks.
    """

    def __init__(self, start: State) -> None:
        feet = start.robot.feet
        self._slope = sum((slope_of_normal(start.pose(foot).rotation[:, 2]) for foot in feet), 0j) / len(feet)
        self.center_height = float(start.center_of_mass[2])
        self.weight_error = self._rate = 0.0

    @property
    def slope(self) -> complex:
        """How far the ground rises per metre along x and along y, as x + i y."""
        return self._slope if abs(self._slope) > LEAST_SLOPE else 0j

    @property
    def tilt(self) -> Array:
        """From level to the ground."""
        return rotation_of_slope(self.slope)

    def add_contact(self, normal: Array) -> None:
        """A sole stood with this normal."""
        self._slope += SLOPE_GAIN * (slope_of_normal(normal) - self._slope)

    def update_center_height(
        self, phase: GaitPhase, height: float, actual: float, period: float
    ) -> tuple[float, float, float]:
        """Height of the centre of mass (m), its rate and acceleration, on the way to be so high above the ground.

        Args:
            height: above the ground (m).
            actual: where the centre of mass is (m).
        """
        # The lower of both feet is the one whose leg might become too short.
        floor = min(phase.support.z, phase.goal.z if phase.kind == "single" else phase.other_foot.z)
        acceleration = HEIGHT_RATE * (HEIGHT_RATE * (floor + height - self.center_height) - 2.0 * self._rate)
        self._rate += period * acceleration
        self.center_height += period * self._rate
        # Who is lighter or heavier than believed would hover or sink: what is missing is learnt.
        weight_error = self.weight_error + WEIGHT_GAIN * (self.center_height - actual) * period
        self.weight_error = min(max(weight_error, -LARGEST_WEIGHT_ERROR), LARGEST_WEIGHT_ERROR)
        return self.center_height, self._rate, acceleration + self.weight_error


def slope_of_normal(normal: Array) -> complex:
    """How far ground with this normal rises per metre along x and along y, as x + i y."""
    return -complex(normal[0], normal[1]) / max(float(normal[2]), 0.7)


def rotation_of_slope(slope: complex) -> Array:
    """The rotation from level ground to ground of this slope."""
    up = np.array([-slope.real, -slope.imag, 1.0])
    turn = pinocchio.Quaternion.FromTwoVectors(np.array([0.0, 0.0, 1.0]), up / np.linalg.norm(up))
    return np.asarray(turn.toRotationMatrix())
