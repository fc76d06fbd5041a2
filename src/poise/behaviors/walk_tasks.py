"""Task hierarchies of a walk in order of priority, their gains, and transitions of style and speed."""

from __future__ import annotations

import math
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

import numpy as np
import pinocchio

from poise import constraints, tasks
from poise.arrays import Array
from poise.behaviors.gait_tasks import GaitTasks, arm_collision_constraints, limb_joints, sole_motion
from poise.behaviors.recovery_tasks import RecoveryTasks
from poise.constraints import JointRange
from poise.errors import PoiseError, UsageError, near_misses
from poise.geometry import so3
from poise.hierarchy import Hierarchy, Level, solve_pose
from poise.parameters import FormerNames, check_parameters, gain_parameter, parameter
from poise.plans import STYLES, BodyDimensions, FootRoll, GaitParameters, Speed, Style, SwingTrajectory, gait_of_style
from poise.robots import GRAVITY, Hand, Limb, Robot, Side, State, leg_length, limbs, side_sign


@dataclass(frozen=True)
class WalkSettings(FormerNames):
    """Gains of a walk, the same for all robots and styles.

    Without an `angular_momentum_tolerance`, a weak robot lets its trunk fall for the sake of its center of mass. With
    twice or half of `stance_damping`, a robot whose foot lands on an edge is shaken by it.
    """

    dcm_gain: float = gain_parameter(4.0, "k of the DCM: its error decays as exp(-k t)", zero=True)
    weight_shift_time: float = gain_parameter(0.8, "time in which the weight shifts before the first step", "s")
    standing_time: float = gain_parameter(0.4, "time of standing before a walk begins", "s", zero=True)
    swing_gain: float = gain_parameter(20.0, "gain of the swing foot")
    trunk_gain: float = gain_parameter(8.0, "gain of the orientation of the trunk")
    posture_gain: float = gain_parameter(6.0, "gain of the posture")
    com_height_gain: float = gain_parameter(9.0, "gain of the height of the center of mass")
    com_height_tolerance: float = gain_parameter(
        0.02, "deviation of the height of the center of mass that is not corrected", "of its height", zero=True
    )
    chest_damping: float = gain_parameter(
        0.3, "damping of the chest task, which limits the motion of other limbs", "", zero=True
    )
    angular_momentum_tolerance: float = gain_parameter(
        0.05, "tolerated angular momentum about the horizontal axes", "m h sqrt(g h)"
    )
    angular_momentum_gain: float = gain_parameter(8.0, "damping rate of angular momentum beyond that")
    friction: float = gain_parameter(0.7, "assumed friction coefficient of contacts", "")
    stance_damping: float = gain_parameter(20.0, "damping rate of a rocking stance foot")
    style_transition_time: float = gain_parameter(0.3, "time in which a change of style is applied", "s")
    com_reference: Literal["dcm", "sinusoid"] = parameter(
        "dcm",
        "reference of the center of mass: the planned DCM, or the sinusoid of [Dalibard2012]",
        choices=("dcm", "sinusoid"),
    )
    touchdown: Literal["time", "force"] = parameter(
        "time", "end of a swing: at its planned time, or on contact force", choices=("time", "force")
    )
    adapt_steps: bool = parameter(True, "whether footsteps are adapted to disturbances")

    former_names = MappingProxyType(
        {
            "feedback": "dcm_gain",
            "start": "weight_shift_time",
            "wait": "standing_time",
            "swing": "swing_gain",
            "trunk": "trunk_gain",
            "posture": "posture_gain",
            "height": "com_height_gain",
            "calm": "chest_damping",
            "spin": "angular_momentum_tolerance",
            "spin_rate": "angular_momentum_gain",
            "stopping": "stance_damping",
            "change": "style_transition_time",
            "center": "com_reference",
            "contact": "touchdown",
            "adapt": "adapt_steps",
        }
    )
    former_values = MappingProxyType({"com_reference": MappingProxyType({"divergent": "dcm"})})

    def __post_init__(self) -> None:
        check_parameters(self, "walk")


# -- Rest posture of a style -----------------------------------------------------------------------------------------


def rest_posture(robot: Robot, style: Style) -> Array:
    """Return the joint angles of the rest posture of a style (rad); head pitch has no effect without a neck."""
    stance = robot.stance("standing")
    free_joints = set(limb_joints(robot, "arm", "head"))
    q = stance.q
    if style.arm_lift or style.arm_spread or style.head_pitch:
        q = _solve_rest_pose(robot, stance, style, free_joints).q
    angles = np.array([q[joint.q] for joint in robot.joints])
    names = [joint.name for joint in robot.joints]
    for name, angle in style.rest_posture.items():
        if name not in names:
            continue  # a joint of another robot
        angles[names.index(name)] = angle
    return np.clip(angles, robot.limits.lower, robot.limits.upper)


def check_rest_joints(robot: Robot, style: Style) -> None:
    """Raise a UsageError if a style has rest angles, but for none of the joints of the robot."""
    names = [joint.name for joint in robot.joints]
    if style.rest_posture and not set(names) & set(style.rest_posture):
        joint_names = ", ".join(style.rest_posture)
        similar = next((near for name in style.rest_posture if (near := near_misses(name, names))), ())
        hint = f"; did you mean {similar[0]!r}?" if similar else ""
        raise UsageError(
            f"style '{style.name}': rest_posture names {joint_names}, none of which {robot.name} has{hint}"
        )


def _solve_rest_pose(robot: Robot, stance: State, style: Style, free_joints: set[str]) -> State:
    held_joints = [joint for joint in robot.joints if joint.name not in free_joints]
    style_tasks: list[tasks.Task] = [
        tasks.Position(hand, _raised_hand(stance, hand, arm, style), name=f"{hand.side} hand")
        for hand in robot.hands
        for arm in limbs(robot)
        if arm.name == f"{hand.side} arm"
    ]
    head = robot.head
    if head is not None:
        axis = stance.pose(head).rotation @ np.array(head.axis)
        down = pinocchio.rpy.rpyToMatrix(0.0, style.head_pitch, 0.0) @ axis
        style_tasks.append(tasks.Direction(head, head.axis, down, name="gaze"))
    base = robot.frame("root_joint")
    hierarchy = Hierarchy(
        always=[JointRange(robot)],
        levels=[
            Level("body", [tasks.HoldPose(base, at=stance), tasks.Posture(stance, joints=held_joints)]),
            Level("style", style_tasks, damping=0.05),
            Level("posture", [tasks.Posture(stance)]),
        ],
    )
    return solve_pose(hierarchy, stance, iterations=100).state


def _raised_hand(stance: State, hand: Hand, arm: Limb, style: Style) -> Array:
    """Return the position of a hand (m, 3) whose arm is rotated forward and outward about the shoulder."""
    shoulder = stance.pose(stance.robot.frame(arm.joints[0])).translation
    outward = side_sign(hand.side)
    turn = pinocchio.rpy.rpyToMatrix(outward * style.arm_spread, 0.0, 0.0) @ pinocchio.rpy.rpyToMatrix(
        0.0, -style.arm_lift, 0.0
    )
    # Slightly nearer to the shoulder, so that no arm must be fully extended.
    return np.asarray(shoulder + 0.97 * turn @ (stance.pose(hand).translation - shoulder))


# -- Hierarchies -----------------------------------------------------------------------------------------------------


#: Weights of the levels contact, balance, swing, chest, style and posture for a weighted solver: those of the paper.
#: The user chooses the weights within a style, which count like that of the rest posture; the last level only damps
#: joints that no other task moves.
WEIGHTS = (100.0, 10.0, 10.0, 1.0, 0.1, 1e-4)
#: Whether the tasks of each level are angular only.
ANGULAR = (False, False, False, True, True, True)
#: Weight of the yaw of the chest relative to its roll and pitch: only the friction under one sole and the weakest motor
#: of the leg resist the yaw moment of a swing leg.
HEADING_WEIGHT = 0.3
#: Deviation of the chest (rad) below which it has no priority over arms and head: with less tolerance they would swing.
CHEST_TOLERANCE = 0.03
PELVIS_TOLERANCE, PELVIS_WEIGHT = 0.03, 3.0
#: Weight of the head posture relative to the attitude of the chest: motion of the head moves the chest only a little.
HEAD_WEIGHT = 0.3
#: Radius of gyration that converts angular momentum to an angular acceleration (rad/s²), as a fraction of the height of
#: the center of mass: that of a trunk about the vertical.
GYRATION_RADIUS = 0.15
#: Weight of the angular momentum about the horizontal axes relative to the vertical one, which arm swing compensates.
HORIZONTAL_MOMENTUM_WEIGHT = 0.05
#: Arm swing grows with speed in every style. With the Froude number Fr = v² / (g l) of the walk, the weight of the
#: angular momentum grows by the first number times Fr, and that of the arm posture is divided by 1 + the second times
#: Fr.
MOMENTUM_BY_FROUDE, POSTURE_BY_FROUDE = 10.0, 40.0
#: Rate of the critically damped filter through which the arms follow the legs, 1/s.
ARM_RATE = 25.0
#: Largest distance of the feet to which the arms swing, in leg lengths, with its lead.
LARGEST_LEAD = 1.5
#: Length of the edge on which a foot rolls, as a fraction of half its length.
EDGE_LENGTH = 0.04
#: Angular acceleration (rad/s²) that the torque limit of a joint counts as, for the weight of torques.
TORQUE_SCALE = 10.0


class WalkTasks(GaitTasks):
    """Hierarchies of a walk: in double support, and in single support with either swing foot.

    Attributes:
        hierarchies: hierarchies by the side of the swing foot, or "both".
        chest, pelvis: targets of their rotations.
        feet: targets of the poses of swing feet, by side.
        tilt: rotation from level ground to the estimated ground.
        rest: rest angles of the light joints (arms and head), of the heavy ones, and of the head.
        weights: weights of the levels for a weighted solver. Angular levels are scaled with the squared height of the
            center of mass: otherwise a small robot would give up its balance for the sake of its posture.
    """

    def __init__(self, robot: Robot, start: State, settings: WalkSettings) -> None:
        super().__init__(robot, start, settings)
        self.settings = settings
        trunk, base = robot.chest or robot.frame("root_joint"), robot.frame("root_joint")
        stance = robot.stance("standing")
        self._upright, self._level = stance.pose(trunk).rotation, stance.pose(base).rotation
        self.chest, self.pelvis = tasks.FeedForwardTarget(self._upright), tasks.FeedForwardTarget(self._level)
        self.feet = {foot.side: tasks.FeedForwardTarget(start.pose(foot)) for foot in robot.feet}
        self.tilt = np.eye(3)
        self.weights = tuple(
            weight * self.height**2 if angular else weight for weight, angular in zip(WEIGHTS, ANGULAR, strict=True)
        )
        self._inertia = robot.mass * (GYRATION_RADIUS * self.height) ** 2
        names = set(limb_joints(robot, "arm", "head"))
        self._light = [joint for joint in robot.joints if joint.name in names]
        self._heavy = [joint for joint in robot.joints if joint.name not in names]
        arms = set(limb_joints(robot, "arm"))
        self._arms = np.array([joint.name in arms for joint in self._light], dtype=bool)
        self._limits = np.array([robot.limits.torque[joint.v - 6] for joint in self._light])
        self._head = [joint for joint in self._light if joint.name not in arms]
        parts = {"light": self._light, "heavy": self._heavy, "head": self._head}
        self.rest = {
            part: tasks.LiveTarget([stance.q[joint.q] for joint in group]) for part, group in parts.items() if group
        }
        at = {joint: i for i, joint in enumerate(robot.joints)}
        self._places = {part: [at[joint] for joint in parts[part]] for part in self.rest}
        self.momentum_weight = tasks.TunableWeight(np.zeros(3))
        self.torque_weight, self.posture_weight = (
            tasks.TunableWeight(np.zeros(len(self._light))),
            tasks.TunableWeight(np.ones(len(self._light))),
        )
        self._rigid = trunk.joint == base.joint
        self._leg_length = leg_length(robot)
        self._light_rest = np.array(self.rest["light"].value) if self._light else np.zeros(0)
        self._swing_direction = self._swing_directions(stance)
        self._feet_apart = 0.0, 0.0  # filtered distance of the feet (m) and its rate
        walking = self._hierarchies()
        self.recovery = RecoveryTasks(self, walking, settings)
        self.hierarchies = {**walking, **{f"recover {name}": each for name, each in self.recovery.hierarchies.items()}}

    # -- targets ---------------------------------------------------------------------------------------------------

    def apply_style(self, style: Style, rest: Array, froude: float) -> None:
        """Set weights and rest posture (rad) of a style, at a Froude number."""
        axes = np.array([HORIZONTAL_MOMENTUM_WEIGHT, HORIZONTAL_MOMENTUM_WEIGHT, 1.0])
        self.momentum_weight.set(
            (style.angular_momentum_weight + MOMENTUM_BY_FROUDE * froude) * self._inertia**-2 * axes
        )
        chosen = {"arms": self._arms, "head": ~self._arms}.get(
            style.torque_joints, np.ones(len(self._arms), dtype=bool)
        )
        self.torque_weight.set(style.torque_weight * chosen * (TORQUE_SCALE / self._limits) ** 2)
        self.posture_weight.set(
            np.where(self._arms, style.arm_posture_weight / (1.0 + POSTURE_BY_FROUDE * froude), 1.0)
        )
        for part, places in self._places.items():
            self.rest[part].set(rest[places])
        if self._light:
            self._light_rest = np.array(self.rest["light"].value)

    def swing_arms(self, feet: float, swing: float, period: float) -> None:
        """Swing the rest posture of the arms against the legs, smoothly where the feet start and stop.

        Args:
            feet: distance of the left foot ahead of the right one (m).
            swing: `Style.arm_swing`.
            period: sampling period (s).
        """
        if not self._light:
            return
        apart, rate = self._feet_apart
        acceleration = ARM_RATE * (ARM_RATE * (feet - apart) - 2.0 * rate)
        self._feet_apart = apart + period * rate, rate + period * acceleration
        # The target of a posture has no rate: the lead takes its place. An acceleration would jump where a foot lands.
        gain = self.settings.posture_gain
        lead = apart + 2.0 * rate / gain
        angle = 0.5 * swing * min(max(lead / self._leg_length, -LARGEST_LEAD), LARGEST_LEAD)
        self.rest["light"].set(self._light_rest - angle * self._swing_direction)

    def _swing_directions(self, stance: State) -> Array:
        """Return +-1 for the joint of each arm that moves the hand forward most, + for the left arm; else zero."""
        robot, direction = self.robot, np.zeros(len(self._light))
        data = robot.model.createData()
        pinocchio.computeJointJacobians(robot.model, data, stance.q)
        for hand in robot.hands:
            J = pinocchio.getJointJacobian(robot.model, data, hand.joint, pinocchio.LOCAL_WORLD_ALIGNED)
            arm = stance.pose(hand).translation - data.oMi[hand.joint].translation
            forward = J[0] + (arm[2] * J[4] - arm[1] * J[5])
            lengths = [
                abs(float(forward[joint.v])) * moves for joint, moves in zip(self._light, self._arms, strict=True)
            ]
            best = int(np.argmax(lengths)) if lengths else -1
            if best >= 0 and lengths[best] > 0.0:
                direction[best] = side_sign(hand.side) * math.copysign(1.0, float(forward[self._light[best].v]))
        return direction

    def set_heading(self, yaw: float, style: Style) -> None:
        """Set the targets of chest and pelvis for a heading (rad), with the chest attitude of the style."""
        heading = so3.yaw_matrix(yaw)
        lean = pinocchio.rpy.rpyToMatrix(style.chest_roll, style.chest_pitch, style.chest_yaw)
        self.chest.set(heading @ lean @ self._upright)
        self.pelvis.set(heading @ self._level)

    def follow_swing(self, side: Side, swing: SwingTrajectory) -> None:
        """Set the target of a swing foot: the middle of its sole on the trajectory, the sole parallel to the ground."""
        foot = self.robot.foot(side)
        place, rate, faster = ((p.real, p.imag, z.real) for p, z in zip(swing.plane, swing.sole_height, strict=True))
        yaw, turning, turning_faster = (part.real for part in swing.yaw)
        pitch, pitching, pitching_faster = (part.real for part in swing.pitch)
        motion = sole_motion(
            foot,
            (place, rate, faster),
            (yaw, turning, turning_faster),
            self.tilt,
            (pitch, pitching, pitching_faster),
        )
        self.feet[side].set(*motion)
        self.recovery.follow(side, motion)

    def roll_foot(self, side: Side, roll: FootRoll, measured: pinocchio.SE3) -> None:
        """Let a stance foot roll about an edge of its sole, which then bears the force of the foot."""
        pose, twist, rate = roll.motion(self.robot.foot(side), np.zeros(3), measured.rotation)
        self.stance_poses[side].set(pose, twist, rate)
        if roll.edge > 0.0:
            self.patches[side].set(begin=1.0 - EDGE_LENGTH)
        else:
            self.patches[side].set(end=EDGE_LENGTH - 1.0)

    def stand_flat(self, side: Side, pose: pinocchio.SE3) -> None:
        """Let the whole sole of a foot bear force, at a pose (world_from_foot)."""
        self.stance_poses[side].set(pose)
        self.patches[side].set()

    # -- tasks -----------------------------------------------------------------------------------------------------

    def _hierarchies(self) -> dict[str, Hierarchy]:
        robot, settings = self.robot, self.settings
        balance, damped = (
            self.balance(settings.com_height_tolerance * self.height),
            tasks.Decay(settings.angular_momentum_gain),
        )
        trunk, base = robot.chest or robot.frame("root_joint"), robot.frame("root_joint")
        upright = tasks.Decay(settings.trunk_gain)
        axis_weights = (1.0, 1.0, HEADING_WEIGHT)
        chest: list[tasks.Task] = [
            tasks.Orientation(
                trunk, self.chest, tolerance=CHEST_TOLERANCE, weight=axis_weights, dynamics=upright, name="chest"
            )
        ]
        relaxed = tasks.Decay(settings.posture_gain)
        if self._head:
            chest.append(
                tasks.Posture(self.rest["head"], self._head, weight=HEAD_WEIGHT, dynamics=upright, name="head")
            )
        style: list[tasks.Task] = [
            tasks.Orientation(trunk, self.chest, weight=axis_weights, dynamics=upright, name="chest orientation"),
            tasks.AngularMomentum(weight=self.momentum_weight, dynamics=damped),
            tasks.Posture(self.rest["heavy"], joints=self._heavy, weight=0.1, dynamics=relaxed, name="legs and trunk"),
        ]
        if self._light:
            style += [
                tasks.JointTorque(self._light, weight=self.torque_weight, name="joint torque"),
                tasks.Posture(
                    self.rest["light"], self._light, weight=self.posture_weight, dynamics=relaxed, name="arms, head"
                ),
            ]
        if not self._rigid:
            chest.append(
                tasks.Orientation(
                    base, self.pelvis, tolerance=PELVIS_TOLERANCE, weight=PELVIS_WEIGHT, dynamics=upright, name="pelvis"
                )
            )
            style.append(tasks.Orientation(base, self.pelvis, dynamics=upright, name="pelvis orientation"))
        posture = [tasks.LeastVelocity()]
        always: list[tasks.Task] = [constraints.JointRange(robot), *arm_collision_constraints(robot)]

        def hierarchy(*swinging: Side) -> Hierarchy:
            swing = [
                tasks.Pose(
                    robot.foot(side), self.feet[side], dynamics=tasks.Decay(settings.swing_gain), name="swing foot"
                )
                for side in swinging
            ]
            levels = [
                Level("contact", self.stance_contacts(*swinging)),
                Level("balance", balance),
                Level("swing", swing),
                Level("chest", chest, damping=settings.chest_damping),
                Level("style", style),
                Level("posture", posture),
            ]
            return Hierarchy(always=always, levels=levels)

        return self.by_swing_foot(hierarchy)


# -- Style transition ------------------------------------------------------------------------------------------------


#: Difference of speeds (m/s, rad/s) below which a transition is complete.
SAME_SPEED = 1e-3


class StyleTransition:
    """Smooth transition of the style and speed of a walk to the requested ones.

    Args:
        robot, body: robot and its dimensions.
        task_set: tasks to which the style is applied.
        style, speed: initial style and speed; None: the speed of the style.
        transition_time: duration of a transition (s).

    Attributes:
        target_style: requested style.
        style: current style, in a transition between the previous and the requested one.
        speed: requested speed; None: that of the style.
        gait: current gait parameters.
    """

    def __init__(
        self,
        robot: Robot,
        body: BodyDimensions,
        task_set: WalkTasks,
        style: Style | str,
        speed: Speed | None,
        transition_time: float,
    ) -> None:
        self._robot, self._body, self._task_set, self._transition_time = robot, body, task_set, transition_time
        self.style = self.target_style = self._previous_style = self._check_style(style)
        self.speed = self._current_speed = check_speed(speed)
        self._share = 1.0
        self._rest = self._rest_from = self._rest_to = rest_posture(robot, self.style)
        self.gait: GaitParameters = gait_of_style(self.style, body, self.speed)
        self._apply_style()

    def set_style(self, style: Style | str) -> None:
        """Start the transition to another style."""
        self._previous_style, self.target_style, self._share = self.style, self._check_style(style), 0.0
        self._rest_from, self._rest_to = self._rest, rest_posture(self._robot, self.target_style)

    def set_speed(self, speed: Speed | None) -> None:
        """Start the transition to another speed; None: that of the style."""
        self.speed = check_speed(speed)

    @property
    def requested_speed(self) -> Speed:
        """Requested speed, or that of the style if none is given (m/s, m/s, rad/s)."""
        return self.speed or gait_speed(self.gait)

    @property
    def target_gait(self) -> GaitParameters:
        """Gait parameters of the requested style and speed."""
        return gait_of_style(self.target_style, self._body, self.speed)

    def advance(self, period: float) -> None:
        """Advance the transition by one period (s)."""
        if self._share >= 1.0 and self._current_speed == self.speed:
            return
        self._share = min(self._share + period / self._transition_time, 1.0)
        self.style = self._previous_style.blend(self.target_style, self._share)
        self._rest = (1.0 - self._share) * self._rest_from + self._share * self._rest_to
        self._current_speed = self._next_speed(period)
        self.gait = gait_of_style(self.style, self._body, self._current_speed)
        self._apply_style()

    def _next_speed(self, period: float) -> Speed | None:
        """Return the speed of this tick, in transition to the requested one or to that of the style."""
        if self._current_speed is None and self.speed is None:
            return None
        now = np.array(self._current_speed or gait_speed(self.gait))
        rest = np.array(self.speed or gait_speed(gait_of_style(self.style, self._body))) - now
        if np.abs(rest).max() < SAME_SPEED:
            return self.speed
        vx, vy, wz = now + min(period / self._transition_time, 1.0) * rest
        return float(vx), float(vy), float(wz)

    def _apply_style(self) -> None:
        forward, sideways, _ = gait_speed(self.gait)
        froude = (forward**2 + sideways**2) / (GRAVITY * self._body.leg_length)
        self._task_set.apply_style(self.style, self._rest, froude)

    def _check_style(self, style: Style | str) -> Style:
        if isinstance(style, str):
            if style not in STYLES:
                raise PoiseError(f"there is no style '{style}'; expected one of {', '.join(STYLES)}, or a Style")
            style = STYLES[style]
        check_rest_joints(self._robot, style)
        return style


def gait_speed(gait: GaitParameters) -> Speed:
    """Return the walking speed of gait parameters (m/s, m/s, rad/s)."""
    step_geometry, seconds = gait.step_geometry, gait.timing.step
    return step_geometry.forward / seconds, step_geometry.sideways / seconds, step_geometry.turn / seconds


def check_speed(speed: Speed | None) -> Speed | None:
    """Return the speed as floats; raise a PoiseError if it is not three finite numbers."""
    if speed is None:
        return None
    try:
        vx, vy, wz = (float(part) for part in speed)
    except (TypeError, ValueError):
        vx = vy = wz = math.nan
    if not (math.isfinite(vx) and math.isfinite(vy) and math.isfinite(wz)):
        raise PoiseError(f"walk: speed is {speed!r}; expected three finite numbers: m/s, m/s, rad/s")
    return vx, vy, wz
