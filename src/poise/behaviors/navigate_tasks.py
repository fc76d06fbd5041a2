"""Task hierarchies of a guided motion, in order of priority from contacts to posture, and their gains."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

import numpy as np
import pinocchio

from poise import constraints, tasks
from poise.arrays import Array
from poise.behaviors.gait_tasks import GaitTasks, arm_collision_constraints, limb_joints, sole_motion
from poise.behaviors.servo_stabilizer import ServoStabilizerSettings
from poise.hierarchy import Hierarchy, Level
from poise.parameters import FormerNames, check_parameters, gain_parameter
from poise.plans import SegmentSample
from poise.robots import Robot, Side, State


@dataclass(frozen=True)
class NavigateSettings(FormerNames):
    """Gains of a guided motion, the same for all robots, and those of the stabilizer for position servos."""

    duration: float = gain_parameter(0.0, "T₀ of a segment; zero: 3 / ω, which is 0.5 s on mighty", "s", zero=True)
    max_duration: float = gain_parameter(3.0, "T_max of the correction of durations", "s")
    duration_increment: float = gain_parameter(0.1, "ΔT of the correction of durations", "s")
    dcm_gain: float = gain_parameter(4.0, "k of the DCM: its error decays as exp(-k t)", zero=True)
    com_gain: float = gain_parameter(20.0, "rate at which the center of mass follows its plan in kinematics")
    swing_gain: float = gain_parameter(20.0, "gain of the swing foot")
    trunk_gain: float = gain_parameter(10.0, "gain of the orientation of the trunk")
    hand_gain: float = gain_parameter(8.0, "gain of the hands")
    posture_gain: float = gain_parameter(5.0, "gain of the posture")
    com_height_gain: float = gain_parameter(9.0, "gain of the height of the center of mass")
    angular_momentum_tolerance: float = gain_parameter(
        0.03, "tolerated angular momentum about the horizontal axes", "m h sqrt(g h)"
    )
    angular_momentum_gain: float = gain_parameter(8.0, "damping rate of angular momentum beyond that")
    friction: float = gain_parameter(0.7, "assumed friction coefficient of contacts", "")
    stance_damping: float = gain_parameter(20.0, "damping rate of a rocking stance foot")
    task_damping: float = gain_parameter(
        0.05, "damping of hand and trunk tasks, which limits the motion of other limbs", "", zero=True
    )
    replan_distance: float = gain_parameter(
        2.0, "a segment is replaced when the ZMP that would bring the DCM back is this far outside", "half sole widths"
    )
    stabilizer: ServoStabilizerSettings = field(default_factory=ServoStabilizerSettings)

    former_names = MappingProxyType(
        {
            "longest": "max_duration",
            "increment": "duration_increment",
            "feedback": "dcm_gain",
            "track": "com_gain",
            "swing": "swing_gain",
            "trunk": "trunk_gain",
            "hands": "hand_gain",
            "posture": "posture_gain",
            "height": "com_height_gain",
            "spin": "angular_momentum_tolerance",
            "spin_rate": "angular_momentum_gain",
            "stopping": "stance_damping",
            "calm": "task_damping",
            "astray": "replan_distance",
        }
    )

    def __post_init__(self) -> None:
        check_parameters(self, "navigate")


# -- Hierarchies -----------------------------------------------------------------------------------------------------


#: Weights of the levels for a weighted solver.
WEIGHTS = (100.0, 10.0, 10.0, 1.0, 1.0, 1.0, 1.0, 1e-2)
#: Largest deviation of chest and pelvis from their attitude for the sake of the hands (rad): a trunk that leans further
#: falls, whatever the center of mass does.
LARGEST_LEAN = 0.05
#: Weight of the pelvis relative to the chest: the waist may turn a little.
PELVIS_WEIGHT = 0.3
#: Weight of the rotation of a hand relative to its position: a rotation error of 1 rad counts as this many meters.
HAND_ROTATION_WEIGHT = 0.05
#: Weight of the arm posture relative to the hand positions, in squared arm lengths: without it, an arm ends up twisted
#: at its joint limits and does not return home.
ARM_POSTURE_WEIGHT = 0.03


class NavigateTasks(GaitTasks):
    """Hierarchies of a guided motion: with both feet on the ground, and with either foot in the air.

    Attributes:
        hierarchies: hierarchies by the side of the foot in the air, or "both".
        feet, soles: targets of position and rotation of feet in the air, by side.
        hands, hand_rotations: targets of position and rotation of the hands, by side.
        trunk, pelvis: targets of the rotation of trunk and pelvis.
        home_rotations: rotations of the hands at home, in trunk axes.
        standing_trunk: rotation world_from_trunk when standing.
    """

    def __init__(
        self, robot: Robot, start: State, settings: NavigateSettings, arm: float, guides_hand_rotation: bool
    ) -> None:
        super().__init__(robot, start, settings)
        self.settings, self.arm = settings, arm
        part = robot.chest or robot.frame("root_joint")
        stance = robot.stance("standing")
        self.standing_trunk = np.array(stance.pose(part).rotation)
        self.trunk_frame = part
        base = robot.frame("root_joint")
        self.standing_pelvis, self._rigid = np.array(stance.pose(base).rotation), part.joint == base.joint
        self.trunk = tasks.FeedForwardTarget(np.array(start.pose(part).rotation))
        self.pelvis = tasks.FeedForwardTarget(np.array(start.pose(base).rotation))
        self.feet = {foot.side: tasks.FeedForwardTarget(np.array(start.pose(foot).translation)) for foot in robot.feet}
        self.soles = {foot.side: tasks.FeedForwardTarget(np.array(start.pose(foot).rotation)) for foot in robot.feet}
        self.hands = {
            hand.side: tasks.FeedForwardTarget(np.array(start.pose(hand).translation)) for hand in robot.hands
        }
        self.hand_rotations = {
            hand.side: tasks.FeedForwardTarget(np.array(start.pose(hand).rotation))
            for hand in robot.hands
            if guides_hand_rotation
        }
        self.home_rotations = {hand.side: np.array(stance.pose(hand).rotation) for hand in robot.hands}
        self.weights = WEIGHTS
        self.hierarchies = self._hierarchies()

    # -- targets ---------------------------------------------------------------------------------------------------

    def follow(self, sample: SegmentSample, offset: Array | float = 0.0, offset_rate: Array | float = 0.0) -> None:
        """Set the targets of hands, trunk and feet from a sample of a segment.

        Args:
            sample: the sample.
            offset, offset_rate: offset of the center of mass from its plan (m) and its rate (m/s). The hands have the
                same, because they are guided relative to the center of mass.
        """
        p, v, a = sample.center
        p, v = p + offset, v + offset_rate
        angles, rates, acceleration_rpy = sample.attitude
        R = np.asarray(pinocchio.rpy.rpyToMatrix(*angles))
        angular_velocity, angular_acceleration = _angular_motion(angles, rates, acceleration_rpy)
        self.trunk.set(R @ self.standing_trunk, angular_velocity, angular_acceleration)
        self.pelvis.set(R @ self.standing_pelvis, angular_velocity, angular_acceleration)
        # Positions rotate with the trunk: ṙ = [ω] r, r̈ = ([ω]² + [ω̇]) r, plus 2 [ω] ṙ for motion relative to it.
        turn = pinocchio.skew(angular_velocity)
        rotation_acceleration = turn @ turn + pinocchio.skew(angular_acceleration)
        for side, (x, rate, acceleration) in sample.hands.items():
            r, moving = R @ x[:3], R @ rate[:3]
            self.hands[side].set(
                p + r,
                v + moving + turn @ r,
                a + R @ acceleration[:3] + 2.0 * (turn @ moving) + rotation_acceleration @ r,
            )
            if side in self.hand_rotations:
                self.hand_rotations[side].set(
                    R @ pinocchio.exp3(x[3:]) @ self.home_rotations[side],
                    angular_velocity + R @ rate[3:],
                    angular_acceleration,
                )
        for side, (x, rate, acceleration) in sample.feet.items():
            places, yaws = zip(*((part[:3], float(part[3])) for part in (x, rate, acceleration)), strict=True)
            pose, twist, growing = sole_motion(self.robot.foot(side), places, yaws)
            self.feet[side].set(pose.translation, twist[:3], growing[:3])
            self.soles[side].set(pose.rotation, twist[3:], growing[3:])

    def set_stance(self, side: Side, pose: pinocchio.SE3) -> None:
        """Set the pose of a stance foot."""
        self.stance_poses[side].set(pose)

    # -- tasks -----------------------------------------------------------------------------------------------------

    def _hierarchies(self) -> Mapping[str, Hierarchy]:
        robot, settings, stance = self.robot, self.settings, self.robot.stance("standing")
        balance = self.balance()
        hands: list[tasks.Task] = []
        for hand in robot.hands:
            reach = tasks.Decay(settings.hand_gain)
            hands.append(tasks.Position(hand, self.hands[hand.side], dynamics=reach, name=f"{hand.side} hand"))
            if hand.side in self.hand_rotations:
                rotation, name = self.hand_rotations[hand.side], f"{hand.side} hand orientation"
                hands.append(
                    tasks.Orientation(hand, rotation, weight=HAND_ROTATION_WEIGHT**2, dynamics=reach, name=name)
                )
        # With the head: it would be the counterweight by which small errors of arms and hands vanish.
        named = set(limb_joints(robot, "arm", "head")) if hands else set()
        arms = [joint for joint in robot.joints if joint.name in named]
        if arms:
            homing = tasks.Decay(settings.posture_gain)
            weight = ARM_POSTURE_WEIGHT * self.arm**2
            hands.append(tasks.Posture(stance, arms, weight=weight, dynamics=homing, name="arms"))
        turn = tasks.Decay(settings.trunk_gain)
        parts = [(self.trunk_frame, self.trunk, "trunk", 1.0)]
        if not self._rigid:
            parts.append((robot.frame("root_joint"), self.pelvis, "pelvis", PELVIS_WEIGHT))
        upright = [
            tasks.Orientation(part, target, tolerance=LARGEST_LEAN, dynamics=turn, name=f"upright {name}")
            for part, target, name, _ in parts
        ]
        attitude = [
            tasks.Orientation(part, target, weight=weight, dynamics=turn, name=name)
            for part, target, name, weight in parts
        ]
        posture: list[tasks.Task] = [
            tasks.Posture(stance, dynamics=tasks.Decay(settings.posture_gain)),
        ]
        always: list[tasks.Task] = [
            constraints.JointRange(robot),
            constraints.JointSpeed(robot),
            *arm_collision_constraints(robot),
        ]

        def hierarchy(*lifted: Side) -> Hierarchy:
            dynamics = tasks.Decay(settings.swing_gain)
            swing = [
                tasks.Position(robot.foot(side), self.feet[side], dynamics=dynamics, name="swing foot")
                for side in lifted
            ]
            # The rotation of the sole has a lower priority: behind the body the ankle is at its limit, and a trunk that
            # leans for the sake of a sole in the air would swing the arms.
            level = [
                tasks.Orientation(robot.foot(side), self.soles[side], dynamics=dynamics, name="swing foot orientation")
                for side in lifted
            ]
            levels = [
                Level("contact", self.stance_contacts(*lifted)),
                Level("balance", balance),
                Level("swing", swing),
                Level("upright", upright, damping=settings.task_damping),
                Level("sole", level, damping=settings.task_damping),
                Level("hands", hands, damping=settings.task_damping),
                Level("trunk", attitude, damping=settings.task_damping),
                Level("posture", posture),
            ]
            return Hierarchy(always=always, levels=levels)

        return self.by_swing_foot(hierarchy)


def _angular_motion(angles: Array, rates: Array, acceleration_rpy: Array) -> tuple[Array, Array]:
    """Return angular velocity and acceleration in world axes from roll, pitch, yaw and their derivatives."""
    if not rates.any() and not acceleration_rpy.any():
        return np.zeros(3), np.zeros(3)
    frame = pinocchio.ReferenceFrame.WORLD
    E = pinocchio.rpy.computeRpyJacobian(angles, frame)
    dE = pinocchio.rpy.computeRpyJacobianTimeDerivative(angles, rates, frame)
    return E @ rates, E @ acceleration_rpy + dE @ rates
