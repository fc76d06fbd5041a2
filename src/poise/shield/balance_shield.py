"""`BalanceShield`: a standing or walking robot that follows the wishes of others as far as its balance allows."""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pinocchio

from poise import constraints, tasks
from poise.arrays import Array, Mask
from poise.behaviors import Stand, TickClock, Walk, WalkSettings, arm_collision_constraints, limb_joints
from poise.errors import PoiseError
from poise.geometry import so3
from poise.hierarchy import ComposedBehavior, Hierarchy, Level
from poise.parameters import check_parameters, gain_parameter
from poise.plans import STYLES
from poise.robots import GRAVITY, Hand, Robot, State, check_robot, leg_length, limbs
from poise.shield.limited_motion import LimitedAngles, LimitedPose, shorten
from poise.shield.wishes import HandFrame, HandWish, Wish
from poise.state import Snapshot

#: What the robot does without wishes.
MODES = ("stand", "walk")
Mode = Literal["stand", "walk"]
#: Names of the added levels, the most important first.
LIMITS, UPRIGHT, HANDS, GAZE, JOINTS = "arm limits", "upright", "wished hands", "wished gaze", "wished joints"
#: Flexion of the knees in mid-stance (rad), and deviation of the height of the center of mass that is not corrected (of
#: its height). Raised hands stretch the legs within that deviation. A straight leg cannot lift the body in the next
#: step, and by priority the arms would be thrown up instead.
WALK_FLEXION, HEIGHT_TOLERANCE = 0.5, 0.005
#: Leg length (m) for which the walking speeds of `ShieldSettings` hold; speeds grow with its square root.
REFERENCE_LEG = 0.8
#: Walking speed, relative to the largest one, below which the robot stands.
STANDING_SPEED = 0.03
#: Margin (rad, m) that wishes keep from the ends of the joint ranges: `JointRange` brakes before them.
RANGE_MARGIN = 0.02
#: Share of the length of an arm within which hands are wished: a stretched arm is singular.
REACH_SHARE = 0.97
#: Number of random postures from which the length of an arm is measured.
REACH_POSTURES = 300
#: Distance (rad) and speed (rad/s) at which a released joint counts as returned.
RETURNED = (2e-3, 1e-2)
#: Largest number of wishes that wait for the next tick; more of them replace the oldest.
INBOX = 32


@dataclass(frozen=True)
class ShieldSettings:
    """Limits of what wishes may do, the same for all robots; the limits of the joints hold besides.

    The speeds are those of a person who works without haste. An arm that follows them can be stopped within a few
    centimeters, so that its momentum costs the balance little before the balance level stops it.
    """

    joint_speed: float = gain_parameter(4.0, "largest speed of wished joints", "rad/s")
    joint_acceleration: float = gain_parameter(25.0, "largest acceleration of wished joints", "rad/s²")
    hand_speed: float = gain_parameter(1.2, "largest speed of wished hands", "m/s")
    hand_acceleration: float = gain_parameter(6.0, "largest acceleration of wished hands", "m/s²")
    turning_speed: float = gain_parameter(4.0, "largest angular velocity of wished hands", "rad/s")
    turning_acceleration: float = gain_parameter(25.0, "largest angular acceleration of wished hands", "rad/s²")
    gaze_speed: float = gain_parameter(1.5, "largest speed of the gaze", "rad/s")
    release_speed: float = gain_parameter(1.0, "speed of the return of released joints", "rad/s")
    forward_speed: float = gain_parameter(0.45, "largest walking speed forward and back, for a leg of 0.8 m", "m/s")
    sideways_speed: float = gain_parameter(0.15, "largest walking speed sideways, for a leg of 0.8 m", "m/s")
    lean: float = gain_parameter(0.2, "largest deviation of trunk and pelvis from upright, about each axis", "rad")
    spin: float = gain_parameter(0.03, "largest angular momentum, about each axis", "m h sqrt(g h)")
    turning_rate: float = gain_parameter(0.6, "largest turning rate of the walk", "rad/s")
    gain: float = gain_parameter(15.0, "gain with which wishes are followed")
    silence: float = gain_parameter(0.2, "time after which a wish that is not repeated expires", "s")

    def __post_init__(self) -> None:
        check_parameters(self, "shield")


class WishedJoints:
    """Wishes of the joints of arms and head, their targets, and the task that follows them.

    Attributes:
        names, indices, velocity_indices: of the joints, and their indices in q and v.
        wished: last wished angles (rad), as given.
        goal: the same inside the joint ranges, or the rest posture.
        until: times until which the wishes hold (s).
        following: joints that follow a wish; `returning`: those that go back to the rest posture.
        near: distance from its target at which the target waits for a joint that does not follow (rad).
    """

    def __init__(self, robot: Robot, rest: Array, settings: ShieldSettings) -> None:
        chosen = set(limb_joints(robot, "arm", "head"))
        joints = self.joints = [joint for joint in robot.joints if joint.name in chosen]
        self.names = tuple(joint.name for joint in joints)
        self.place = {name: i for i, name in enumerate(self.names)}
        self.indices, self.velocity_indices = ([getattr(joint, k) for joint in joints] for k in ("q", "v"))
        limited = [joint.v - 6 for joint in joints]
        limits, count = robot.limits, len(joints)
        self.lower, self.upper = limits.lower[limited] + RANGE_MARGIN, limits.upper[limited] - RANGE_MARGIN
        self.rest = np.clip(rest[self.indices], self.lower, self.upper)
        self.wished, self.goal = self.rest.copy(), self.rest.copy()
        self.until = np.full(count, -math.inf)
        self.following, self.returning = np.zeros(count, dtype=bool), np.zeros(count, dtype=bool)
        speed = np.minimum(settings.joint_speed, 0.9 * limits.velocity[limited])
        self.acceleration = np.minimum(settings.joint_acceleration, limits.acceleration[limited])
        self._release_speed = np.minimum(settings.release_speed, speed)
        self.motion = LimitedAngles(count, speed, self.acceleration)
        self._returning_motion = LimitedAngles(count, self._release_speed, self.acceleration)
        # With its gain g, the task asks for an acceleration g² times the distance to its target.
        self.near = self.acceleration / settings.gain**2
        self._target, self._weight = tasks.FeedForwardTarget(self.rest), tasks.TunableWeight(np.zeros(count))
        self.task = tasks.Posture(
            self._target, joints, weight=self._weight, dynamics=tasks.Decay(settings.gain), name="joints"
        )

    def set_wish(self, angles: dict[int, float], until: float) -> None:
        for i, angle in angles.items():
            self.wished[i], self.until[i] = angle, until

    def advance(self, snapshot: Snapshot, period: float, driven_by_hand: Mask) -> None:
        """Move the targets for one period (s); joints of an arm whose hand follows a wish need none of their own."""
        time, motion = snapshot.time, self.motion
        q, v = snapshot.q[self.indices], snapshot.v[self.velocity_indices]
        wanted = self.until >= time
        started = wanted & ~self.following & ~self.returning
        freed = self.following & ~wanted
        if started.any():
            motion.restart(started, q, v)
        if freed.any():
            self.returning |= freed
        self.returning &= ~(wanted | driven_by_hand)
        self.following = wanted
        self.goal = np.where(wanted, np.clip(self.wished, self.lower, self.upper), self.rest)
        active = self.following | self.returning
        if active.any():
            motion.hold_near(q, v, self.near)
            slow = self._returning_motion
            slow.value, slow.rate = motion.value.copy(), motion.rate.copy()
            motion.advance(self.goal, period)
            if self.returning.any():
                slow.advance(self.goal, period)
                for name in ("value", "rate", "acceleration"):
                    setattr(motion, name, np.where(self.returning, getattr(slow, name), getattr(motion, name)))
            done = (np.abs(q - self.rest) < RETURNED[0]) & (np.abs(v) < RETURNED[1])
            self.returning &= ~done
        self._target.set(motion.value, motion.rate, motion.acceleration)
        self._weight.value[:] = active

    def release(self, which: Mask, snapshot: Snapshot) -> None:
        """Let joints return to the rest posture from where they are."""
        which = which & ~self.following
        if which.any():
            self.motion.restart(which, snapshot.q[self.indices], snapshot.v[self.velocity_indices])
            self.returning |= which


class WishedHand:
    """Wishes of one hand, its limited target, and the tasks that follow it in the world and relative to the chest.

    Attributes:
        wish: the last wish; `until`: time until which it holds (s).
        active: whether the hand follows it.
        goal: position that it moves to, in the frame of the wish (m, 3).
        beyond_reach: distance by which the wish is farther away than the arm reaches (m).
        near: distances (m, rad) at which the target waits for a hand that does not follow.
    """

    def __init__(self, robot: Robot, hand: Hand, stance: State, settings: ShieldSettings) -> None:
        self.hand, self._settings = hand, settings
        self._trunk, self._base = robot.chest or robot.frame("root_joint"), robot.frame("root_joint")
        self.wish, self.until, self.active = HandWish(stance.pose(hand).translation), -math.inf, False
        self.goal, self.beyond_reach = self.wish.position, 0.0
        arm = next((limb for limb in limbs(robot) if limb.name == f"{hand.side} arm"), None)
        self.joints: tuple[str, ...] = () if arm is None else arm.joints
        shoulder = robot.frame(self.joints[0]) if self.joints else self._trunk
        self._shoulder = stance.pose(self._base).actInv(stance.pose(shoulder)).translation
        self.reach = REACH_SHARE * _longest_distance(robot, shoulder.index, hand.index)
        speed, acceleration = (
            (settings.hand_speed, settings.turning_speed),
            (settings.hand_acceleration, settings.turning_acceleration),
        )
        self.motion = LimitedPose(speed, acceleration)
        self.near = (acceleration[0] / settings.gain**2, acceleration[1] / settings.gain**2)
        self._targets = {frame: tasks.FeedForwardTarget(stance.pose(hand)) for frame in ("world", "body")}
        self._weights = {frame: tasks.TunableWeight(np.zeros(6)) for frame in ("world", "body")}
        follow = tasks.Decay(settings.gain)
        self.tasks: dict[str, tasks.MotionTask] = {
            "world": tasks.Pose(
                hand,
                self._targets["world"],
                weight=self._weights["world"],
                dynamics=follow,
                name=f"{hand.side} hand",
            ),
            "body": tasks.RelativePose(
                hand,
                self._trunk,
                self._targets["body"],
                weight=self._weights["body"],
                dynamics=follow,
                name=f"{hand.side} hand in the body",
            ),
        }

    def set_wish(self, wish: HandWish, until: float) -> None:
        if wish.frame != self.wish.frame:
            self.active = False  # the target starts again, in the other frame
        self.wish, self.until = wish, until

    def advance(self, snapshot: Snapshot, period: float) -> bool:
        """Move the target for one period (s); return whether the hand was released in this one."""
        was_active, self.active = self.active, self.until >= snapshot.time
        frame, rotation = self.wish.frame, self.wish.rotation
        for name, weight in self._weights.items():
            weight.value[:3] = float(self.active and name == frame)
            weight.value[3:] = float(self.active and name == frame and rotation is not None)
        if not self.active:
            return was_active
        pose, twist = self.measure(snapshot)
        if not was_active:
            self.motion.restart(pose, twist)
        self.goal = self._reachable(snapshot)
        if rotation is None:  # it is not controlled: the target goes along
            self.motion.pose.rotation = pose.rotation
            self.motion.twist[3:] = 0.0
        self.motion.hold_near(pose, twist, self.near)
        self.motion.advance(self.goal, rotation, period)
        self._targets[frame].set(self.motion.pose, self.motion.twist, self.motion.twist_rate)
        return False

    def measure_pose(self, snapshot: Snapshot, frame: HandFrame) -> pinocchio.SE3:
        """Return the pose of the hand in the world or in the body."""
        pose = snapshot.pose(self.hand)
        return pose if frame == "world" else snapshot.pose(self._trunk).actInv(pose)

    def measure(self, snapshot: Snapshot) -> tuple[pinocchio.SE3, Array]:
        """Return pose and twist of the hand in the frame of the wish."""
        pose, twist = snapshot.pose(self.hand), snapshot.velocity(self.hand)
        if self.wish.frame == "world":
            return pose, twist
        trunk, carried = snapshot.pose(self._trunk), snapshot.velocity(self._trunk)
        relative = trunk.rotation.T @ (
            twist[:3] - carried[:3] - np.cross(carried[3:], pose.translation - trunk.translation)
        )
        return trunk.actInv(pose), np.concatenate([relative, trunk.rotation.T @ (twist[3:] - carried[3:])])

    def _reachable(self, snapshot: Snapshot) -> Array:
        """Return the wished position, or the nearest one that the arm of an upright robot reaches."""
        base, trunk = snapshot.pose(self._base), snapshot.pose(self._trunk)
        shoulder = base.translation + so3.yaw_matrix(_yaw(base.rotation)) @ self._shoulder
        position = self.wish.position if self.wish.frame == "world" else trunk.act(self.wish.position)
        offset = position - shoulder
        self.beyond_reach = max(math.sqrt(offset @ offset) - self.reach, 0.0)
        if self.beyond_reach == 0.0:
            return self.wish.position
        near = shoulder + shorten(offset, self.reach)
        return near if self.wish.frame == "world" else np.asarray(trunk.actInv(near))


class BalanceShield(ComposedBehavior):
    """Stands or walks, and follows wishes below its balance; give it to a `TorqueController`.

    Directly below the level that keeps the robot from falling stand the limits of the arms, bounds of the attitude of
    the trunk and of the angular momentum, and three levels of wishes: for hands, gaze and joints. By strict priority no
    wish can cost the balance. Their targets start where the robot is and move with limited speed and acceleration. A
    wish that is not repeated within `silence` expires: the joints of its arm return to the rest posture, the gaze and
    the walk end.

    Args:
        robot: robot with two feet for mode "walk".
        mode: "stand", or "walk": it stands, and walks while a velocity is wished.
        settings: see `ShieldSettings`.
        start: initial state, at rest; None: the standing stance.

    Attributes:
        joints, hands: wishes of joints, and of hands by side.
        gaze, velocity: wished point (m) and velocity; None: no such wish.
        granted_velocity: velocity of the walk within its limits.

    >>> shield = BalanceShield(robot, "walk")
    >>> controller = poise.TorqueController(shield)
    >>> shield.wish(Wish(velocity=np.array([0.3, 0.0, 0.0])))  # at least every 0.2 s
    """

    def __init__(
        self, robot: Robot, mode: Mode = "stand", settings: ShieldSettings | None = None, start: State | None = None
    ) -> None:
        if mode not in MODES:
            raise PoiseError(f"mode is {mode!r}; expected one of {', '.join(MODES)}")
        self.robot, self.mode = check_robot(robot, type(self).__name__), mode
        self.settings = settings or ShieldSettings()
        self.walk = _walk(robot, start) if mode == "walk" else None
        super().__init__(Stand(robot, start=start) if self.walk is None else self.walk)
        stance = self.base.start
        assert stance is not None
        self.joints = WishedJoints(robot, stance.q, self.settings)
        self.hands: dict[str, WishedHand] = {
            hand.side: WishedHand(robot, hand, stance, self.settings) for hand in robot.hands
        }
        self.gaze: Array | None = None
        self.velocity: Array | None = None
        self.granted_velocity = np.zeros(3)
        self._gaze_until = self._velocity_until = -math.inf
        self._gaze_target, self._gaze_weight = tasks.LiveTarget(np.zeros(3)), tasks.TunableWeight(0.0)
        scale = math.sqrt(leg_length(robot) / REFERENCE_LEG) if robot.feet else 1.0
        settings = self.settings
        self.largest_velocity = np.array(
            [scale * settings.forward_speed, scale * settings.sideways_speed, settings.turning_rate]
        )
        self._clock = TickClock(0.002)
        self._inbox: deque[Wish] = deque(maxlen=INBOX)
        self._in_arm = {
            side: np.array([name in hand.joints for name in self.joints.names], dtype=bool)
            for side, hand in self.hands.items()
        }
        arms = set(self.joints.names)
        self._body_limits = (constraints.JointRange(robot, [each for each in robot.joints if each.name not in arms]),)
        self.add_levels(self._levels())

    @property
    def seconds(self) -> float:  # type: ignore[override]
        """Infinite: it ends when its loop does."""
        return math.inf

    @property
    def can_gaze(self) -> bool:
        """Whether the robot has a frame that looks."""
        return self.robot.head is not None

    # -- wishes ----------------------------------------------------------------------------------------------------

    def parse(self, message: dict[str, object]) -> Wish:
        """Return the wishes of a message; raise `WishError` of one line, see `Wish.parse`."""
        return Wish.parse(message, self.joints.names, tuple(self.hands))

    def wish(self, wish: Wish) -> None:
        """Take wishes, which hold until the next one of the same part, at most for `silence`; from any thread."""
        self._inbox.append(wish)

    def _take(self, wish: Wish, until: float) -> None:
        self.joints.set_wish({self.joints.place[name]: angle for name, angle in wish.joints.items()}, until)
        for side, hand in wish.hands.items():
            self.hands[side].set_wish(hand, until)
        if wish.gaze is not None and self.can_gaze:
            self.gaze, self._gaze_until = wish.gaze, until
        if wish.velocity is not None:
            self.velocity, self._velocity_until = wish.velocity, until

    # -- at every tick ---------------------------------------------------------------------------------------------

    def __call__(self, snapshot: Snapshot) -> Hierarchy:
        if self._clock.tick(snapshot.time):
            self._advance(snapshot)
        return super().__call__(snapshot)

    def _advance(self, snapshot: Snapshot) -> None:
        time, period = snapshot.time, self._clock.period
        while self._inbox:
            self._take(self._inbox.popleft(), time + self.settings.silence)
        if self.walk is not None:
            self._steer(self.walk, time)
        by_hand = np.zeros(len(self.joints.names), dtype=bool)
        for side, hand in self.hands.items():
            if hand.advance(snapshot, period):
                self.joints.release(self._in_arm[side], snapshot)
            if hand.active:
                by_hand |= self._in_arm[side]
        self.joints.advance(snapshot, period, by_hand)
        if self._gaze_until < time:
            self.gaze = None
        elif self.gaze is not None:
            self._gaze_target.set(self.gaze)
        self._gaze_weight.set(float(self.gaze is not None))

    def _steer(self, walk: Walk, time: float) -> None:
        """Walk with the wished velocity, inside its limits; stop without one."""
        if self._velocity_until < time:
            self.velocity = None
        wished = np.zeros(3) if self.velocity is None else self.velocity
        share = float(np.linalg.norm(wished / self.largest_velocity))
        granted = wished / max(share, 1.0) if share > STANDING_SPEED else np.zeros(3)
        if np.array_equal(granted, self.granted_velocity):
            return
        walks, walked = bool(granted.any()), bool(self.granted_velocity.any())
        self.granted_velocity = granted
        if walks:
            walk.speed = tuple(granted.tolist())
            if not walked:
                walk.go()
        else:
            walk.stop()

    # -- parts of the hierarchy ------------------------------------------------------------------------------------

    def _levels(self) -> list[Level]:
        """Return limits, bounds and wishes, the most important first."""
        levels = [Level(LIMITS, self._arm_limits()), Level(UPRIGHT, self._upright())]
        if self.hands:
            hands = [task for hand in self.hands.values() for task in hand.tasks.values()]
            levels.append(Level(HANDS, hands))
        if self.robot.head is not None:
            look = tasks.Decay(4.0, speed=self.settings.gaze_speed, acceleration=8.0 * self.settings.gaze_speed)
            gaze = tasks.Gaze(self.robot.head, self._gaze_target, weight=self._gaze_weight, dynamics=look, name="gaze")
            levels.append(Level(GAZE, gaze, damping=0.1))
        return [*levels, Level(JOINTS, self.joints.task)]

    def _upright(self) -> list[tasks.Task]:
        """Return bounds of the attitude of trunk and pelvis and of the angular momentum.

        The momentum of arms that a wish accelerates goes into the trunk, and what the trunk cannot take, into the feet.
        Without the bounds the trunk would be thrown about until the legs can no longer reach their footholds.
        """
        robot, settings, walk = self.robot, self.settings, self.walk
        stance = robot.stance("standing")
        trunk, base = robot.chest or robot.frame("root_joint"), robot.frame("root_joint")
        attitudes = {trunk: walk.task_set.chest if walk else stance.pose(trunk)}
        if trunk.joint != base.joint:
            attitudes[base] = walk.task_set.pelvis if walk else stance.pose(base)
        bounded = tasks.Decay(8.0)
        height = float(stance.center_of_mass[2]) - min(stance.pose(part).translation[2] for part in stance.contacts)
        largest = settings.spin * robot.mass * height * math.sqrt(GRAVITY * height)
        return [
            *(
                tasks.Orientation(
                    frame, target, tolerance=settings.lean, dynamics=bounded, name=f"attitude of {frame.name}"
                )
                for frame, target in attitudes.items()
            ),
            tasks.AngularMomentum(
                tolerance=largest, weight=(robot.mass * height) ** -2, dynamics=bounded, name="momentum of the arms"
            ),
        ]

    def _arm_limits(self) -> list[tasks.Task]:
        """Return the limits of arms and head: range, speed, acceleration, and distances between the bodies."""
        robot, joints = self.robot, self.joints.joints
        kinds = (constraints.JointRange, constraints.JointSpeed, constraints.JointAcceleration)
        return [*(kind(robot, joints) for kind in kinds), *arm_collision_constraints(robot)]

    def _always(self, base: Hierarchy) -> tuple[tasks.Task, ...]:
        """Return the ranges of legs and trunk; those of the arms are a level below the balance.

        A wrist that cannot hold its load leaves its range whatever is done. Above the balance, its limit would have the
        whole body accelerate to relieve it.
        """
        return self._body_limits


def _walk(robot: Robot, start: State | None) -> Walk:
    """Return a walk whose legs have room for wishes."""
    style = STYLES["neutral"].replace(knee_flexion=WALK_FLEXION)
    return Walk(robot, style, steps=0, settings=WalkSettings(com_height_tolerance=HEIGHT_TOLERANCE), start=start)


def _yaw(rotation: Array) -> float:
    return math.atan2(rotation[1, 0], rotation[0, 0])


def _longest_distance(robot: Robot, frame: int, other: int) -> float:
    """Return the longest distance of two frames in random postures (m); always the same ones."""
    model, data, random = robot.model, robot.model.createData(), np.random.default_rng(0)
    q, indices = np.array(robot.rest), [joint.q for joint in robot.joints]
    longest = 0.0
    for _ in range(REACH_POSTURES):
        q[indices] = random.uniform(robot.limits.lower, robot.limits.upper)
        pinocchio.framesForwardKinematics(model, data, q)
        distance = data.oMf[frame].translation - data.oMf[other].translation
        longest = max(longest, float(np.linalg.norm(distance)))
    return longest
