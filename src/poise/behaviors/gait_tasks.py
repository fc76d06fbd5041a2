"""Shared parts of walking and navigating: balance tasks, contacts, motion of feet, and terrain estimation."""

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
from poise.state import Contact, LoadedPatch

#: Smallest distance between bodies (m), approximated as capsules; number of nearest pairs that are constrained; and
#: distance (m) within which pairs are considered.
LEAST_BODY_DISTANCE, WATCHED_PAIRS, INFLUENCE_DISTANCE = 0.005, 16, 0.06
#: Limits of the sampling period that a behavior accepts (s): all controllers are between them.
SHORTEST_PERIOD, LONGEST_PERIOD = 1e-4, 0.02


class BalanceSettings(Protocol):
    """Gains of a balance level, see `UprightSettings`."""

    @property
    def com_height_gain(self) -> float: ...
    @property
    def angular_momentum_tolerance(self) -> float: ...
    @property
    def angular_momentum_gain(self) -> float: ...


class GaitSettings(BalanceSettings, Protocol):
    """Gains of a motion with changing foot contacts, see `WalkSettings`."""

    @property
    def friction(self) -> float: ...
    @property
    def stance_damping(self) -> float: ...


def balance_tasks(
    robot: Robot,
    height: float,
    settings: BalanceSettings,
    center: Any,
    height_target: Any,
    feedback: tasks.TaskDynamics,
    axes: str = "xyz",
    name: str = "center of mass",
    height_tolerance: float = 0.0,
) -> list[tasks.Task]:
    """Return tasks for the center of mass (CoM) and the angular momentum, for one level: neither has priority.

    The weights make a moment m h on the body equivalent to an acceleration of 1 m/s² of the CoM, since both need the
    same force at the ground.

    Args:
        robot: robot, whose mass scales the angular momentum.
        height: height h of the CoM above the ground (m).
        settings: gains.
        center, height_target: targets of the CoM, horizontal and vertical (m).
        feedback: task dynamics of `center`.
        axes: axes of the angular momentum that is damped.
        name: name of the task of the horizontal position.
        height_tolerance: deviation of the height that is not corrected (m).
    """
    lever = robot.mass * height
    largest = settings.angular_momentum_tolerance * lever * math.sqrt(GRAVITY * height)
    damped = tasks.Decay(settings.angular_momentum_gain)
    return [
        tasks.CenterOfMass(center, axes="xy", dynamics=feedback, name=name),
        tasks.CenterOfMass(
            height_target,
            axes="z",
            tolerance=height_tolerance or None,
            dynamics=tasks.Decay(settings.com_height_gain),
            name="height of the center of mass",
        ),
        tasks.AngularMomentum(axes=axes, tolerance=largest, weight=lever**-2, dynamics=damped, name="angular momentum"),
    ]


class GaitTasks:
    """Tasks that walks and guided motions share: stance contacts, and balance by DCM feedback.

    Args:
        robot: robot with two feet.
        start: initial state, standing.
        settings: gains.

    Attributes:
        center, com_height: targets of the CoM, horizontal and vertical (m).
        stance_poses: targets of the stance feet by side: the poses in which they landed.
        height: initial height of the CoM above the ground (m).
        patches: parts of the soles that bear force, by side.
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
        self.patches = {foot.side: LoadedPatch() for foot in robot.feet}
        self._contacts = {
            foot.side: Contact(foot, friction=settings.friction, patch=self.patches[foot.side]) for foot in robot.feet
        }

    def balance(self, height_tolerance: float = 0.0) -> list[tasks.Task]:
        """Return the tasks of the balance level; the plan gives the CoM acceleration, including feedback of the DCM.

        Args:
            height_tolerance: deviation of the height of the CoM that is not corrected (m).
        """
        return balance_tasks(
            self.robot,
            self.height,
            self._gains,
            self.center,
            self.com_height,
            tasks.FeedForward(),
            "xy",
            "dcm",
            height_tolerance,
        )

    def stance_contacts(self, *swinging: Side, rotation_axes: str = "xyz") -> list[constraints.RigidContact]:
        """Return the contacts of the feet that do not swing.

        Args:
            swinging: sides of the swing feet.
            rotation_axes: axes about which the feet do not rotate.
        """
        return [
            constraints.RigidContact(
                contact,
                at=self.stance_poses[side],
                damping=self._gains.stance_damping,
                rotation_axes=rotation_axes,
            )
            for side, contact in self._contacts.items()
            if side not in swinging
        ]

    def by_swing_foot(self, hierarchy: Callable[..., Hierarchy]) -> dict[str, Hierarchy]:
        """Return one hierarchy per swing foot, by side, and one for "both" feet on the ground."""
        return {"both": hierarchy(), **{side: hierarchy(side) for side in self._contacts}}


def limb_joints(robot: Robot, *limb_words: str) -> list[str]:
    """Return the names of the joints of all limbs whose name contains a given word: "arm", "head", "leg", "trunk"."""
    return [name for limb in limbs(robot) for name in limb.joints if any(word in limb.name for word in limb_words)]


def arm_collision_constraints(robot: Robot) -> list[tasks.Task]:
    """Return collision constraints of the arms, empty if the robot has no shapes; the plan keeps the feet apart."""
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
    """Measurement of the sampling period, for behaviors that integrate over time.

    Args:
        period: period assumed before the second tick (s).

    Attributes:
        time: time of the last tick (s); minus infinity before the first.
        period: time between the last two ticks (s).
    """

    def __init__(self, period: float) -> None:
        self.time, self.period = -math.inf, period

    def tick(self, time: float) -> bool:
        """Return whether time has advanced since the last tick, so that two calls at one time advance only once."""
        if not time > self.time:
            return False
        if math.isfinite(self.time):
            self.period = min(max(time - self.time, SHORTEST_PERIOD), LONGEST_PERIOD)
        self.time = time
        return True


# -- Feet and the ground ---------------------------------------------------------------------------------------------


#: Coordinates x, y and z (m).
Point = Sequence[float] | Array
LEVEL_GROUND = np.eye(3)


def sole_pose(foot: Foot, place: Point, yaw: float, tilt: Array = LEVEL_GROUND) -> pinocchio.SE3:
    """Return world_from_foot for a place of the middle of the sole (m), a yaw (rad), and the rotation of the ground."""
    R = tilt @ so3.yaw_matrix(yaw)
    return pinocchio.SE3(R, np.asarray(place) - R @ foot.sole.center)


def sole_motion(
    foot: Foot,
    place: tuple[Point, Point, Point],
    yaw: tuple[float, float, float],
    tilt: Array = LEVEL_GROUND,
    pitch: tuple[float, float, float] = (0.0, 0.0, 0.0),
) -> tuple[pinocchio.SE3, Any, Any]:
    """Return pose, twist and rate of the twist of the frame of a foot, in world axes, linear parts first.

    The frame is offset from the middle of the sole by r, which rotates with ψ and φ: ``ω = ψ̇ ẑ + φ̇ ŷ``, ``ṙ = ω x r``
    and ``r̈ = ω̇ x r + ω x (ω x r)`` (as on level ground; on a slope the difference is of second order in its tilt).

    Args:
        foot: foot with its frame and sole.
        place: position of the middle of the sole, its rate and acceleration (m, m/s, m/s²).
        yaw: ψ, ψ̇ and ψ̈ (rad, rad/s, rad/s²).
        tilt: rotation from level ground to the ground.
        pitch: φ, φ̇ and φ̈ (rad, rad/s, rad/s²), positive with the heel up.
    """
    if any(pitch):
        return _pitched_sole_motion(foot, place, yaw, tilt, pitch)
    pose = sole_pose(foot, place[0], yaw[0], tilt)
    x, y = (pose.translation - np.asarray(place[0]))[:2].tolist()
    v, a, (_, turning, faster) = place[1], place[2], yaw
    twist = (v[0] - turning * y, v[1] + turning * x, v[2], 0.0, 0.0, turning)
    rate = (a[0] - faster * y - turning**2 * x, a[1] + faster * x - turning**2 * y, a[2], 0.0, 0.0, faster)
    return pose, twist, rate


def _pitched_sole_motion(
    foot: Foot,
    place: tuple[Point, Point, Point],
    yaw: tuple[float, float, float],
    tilt: Array,
    pitch: tuple[float, float, float],
) -> tuple[pinocchio.SE3, Array, Array]:
    flat = tilt @ so3.yaw_matrix(yaw[0])
    axis = flat[:, 1]
    R = flat @ pinocchio.rpy.rpyToMatrix(0.0, pitch[0], 0.0)
    up = np.array([0.0, 0.0, 1.0])
    w = yaw[1] * up + pitch[1] * axis
    alpha = yaw[2] * up + pitch[2] * axis + yaw[1] * pitch[1] * np.cross(up, axis)
    r = -R @ foot.sole.center
    turned = np.cross(w, r)
    twist = np.concatenate([np.asarray(place[1]) + turned, w])
    rate = np.concatenate([np.asarray(place[2]) + np.cross(alpha, r) + np.cross(w, turned), alpha])
    return pinocchio.SE3(R, np.asarray(place[0]) + r), twist, rate


# -- Terrain estimation from contacts, and weight error --------------------------------------------------------------


#: Filter gain of the slope per contact: uneven ground tilts feet in all directions, a slope always in the same one.
SLOPE_GAIN = 0.07
#: Estimated slope (rise per meter) below which the ground is treated as level: boxes of 2 cm under the feet average to
#: that.
LEAST_SLOPE = 0.04
#: Rate of the critically damped transition to a new height of the ground or of the walk, 1/s: a stair of 5 cm needs a
#: quarter of gravity.
HEIGHT_RATE = 7.0
#: Integral gain of the weight error, 1/s³, and its limit, m/s²: it settles in half a second, up to a third of gravity.
WEIGHT_GAIN, LARGEST_WEIGHT_ERROR = 300.0, 3.0


class TerrainEstimator:
    """Estimator of the slope and height of the ground during a walk, and of the weight error of the robot.

    Args:
        start: initial state, standing.
        height_tolerance: deviation of the height of the CoM from which no weight error is concluded (m).

    Attributes:
        center_height: reference height of the CoM in the world (m).
        weight_error: additional vertical acceleration (m/s²) that compensates an error of the modeled weight.
    """

    def __init__(self, start: State, height_tolerance: float = 0.0) -> None:
        feet = start.robot.feet
        self._height_tolerance = height_tolerance
        self._slope = sum((slope_of_normal(start.pose(foot).rotation[:, 2]) for foot in feet), 0j) / len(feet)
        self.center_height = float(start.center_of_mass[2])
        self.weight_error = self._rate = 0.0

    @property
    def slope(self) -> complex:
        """Rise of the ground per meter along x and along y, as x + i y."""
        return self._slope if abs(self._slope) > LEAST_SLOPE else 0j

    @property
    def tilt(self) -> Array:
        """Rotation from level ground to the ground."""
        return rotation_of_slope(self.slope)

    def add_contact(self, normal: Array) -> None:
        """Update the slope with the normal of a sole in stance."""
        self._slope += SLOPE_GAIN * (slope_of_normal(normal) - self._slope)

    def update_center_height(
        self, phase: GaitPhase, height: float, actual: float, period: float
    ) -> tuple[float, float, float]:
        """Advance by one period and return the reference height of the CoM (m), its rate and acceleration.

        Args:
            phase: current gait phase.
            height: target height of the CoM above the ground (m).
            actual: measured height of the CoM in the world (m).
            period: sampling period (s).
        """
        # Use the lower foot, because its leg might become too short.
        floor = min(phase.support.z, phase.goal.z if phase.kind == "single" else phase.other_foot.z)
        acceleration = HEIGHT_RATE * (HEIGHT_RATE * (floor + height - self.center_height) - 2.0 * self._rate)
        self._rate += period * acceleration
        self.center_height += period * self._rate
        # Integral action: a robot lighter or heavier than its model would otherwise rise or sink.
        error = self.center_height - actual
        error -= min(max(error, -self._height_tolerance), self._height_tolerance)
        weight_error = self.weight_error + WEIGHT_GAIN * error * period
        self.weight_error = min(max(weight_error, -LARGEST_WEIGHT_ERROR), LARGEST_WEIGHT_ERROR)
        return self.center_height, self._rate, acceleration + self.weight_error


def slope_of_normal(normal: Array) -> complex:
    """Return the rise per meter along x and along y, as x + i y, of ground with this normal."""
    return -complex(normal[0], normal[1]) / max(float(normal[2]), 0.7)


def rotation_of_slope(slope: complex) -> Array:
    """Return the rotation from level ground to ground of this slope."""
    up = np.array([-slope.real, -slope.imag, 1.0])
    turn = pinocchio.Quaternion.FromTwoVectors(np.array([0.0, 0.0, 1.0]), up / np.linalg.norm(up))
    return np.asarray(turn.toRotationMatrix())
