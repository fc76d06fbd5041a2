"""Behavior `ZmpBalance`: follows a reference trajectory on position servos, with ZMP regulation ([Galdeano2014]).

The zero moment point (ZMP) under each foot is measured by force cells.
"""

from __future__ import annotations

import cmath
import math
from collections.abc import Mapping

import numpy as np
import pinocchio

from poise import constraints, tasks
from poise.arrays import Array
from poise.behaviors.gait_tasks import TickClock
from poise.behaviors.sensor_faults import SensorFaultDetector
from poise.behaviors.servo_stabilizer import planar_pose
from poise.behaviors.zmp_regulation import (
    AngularMomentumRecovery,
    FootRollTrim,
    ServoDeflection,
    SoleLoad,
    ZmpBalanceSettings,
    ZmpRegulator,
    sole_load,
    zmp_error,
)
from poise.errors import PoiseError
from poise.geometry import so3
from poise.hierarchy import Behavior, Hierarchy, Level
from poise.parameters import current_settings
from poise.plans import (
    BodyDimensions,
    Footstep,
    FootstepPlan,
    ReferenceTrajectory,
    Speed,
    StandReference,
    Style,
    WalkingPattern,
    gait_of_style,
)
from poise.robots import Robot, State, check_robot
from poise.state import SensorReadings, Snapshot

#: Damping of the angular momentum task, which limits the joint speeds (rad/s per kg m²/s).
MOMENTUM_DAMPING = 0.05
#: Gain of the posture to which the joints return after a recovery by angular momentum (1/s).
RETURN_GAIN = 3.0


class ZmpBalanceTasks:
    """Hierarchy of `ZmpBalance`, which is the same for single and double support.

    Levels: relative feet pose (equations 1 to 6); center of mass (CoM) in the frame of the reference foot, with the
    correction of the ZMP regulation (7 to 13); the hands, if the robot carries something; comfort of the joints (14 and
    15). All tasks are relative to the reference foot, so that the pose of the base does not matter.

    Joint ranges and speeds have the highest priority. A closed-form solver (`NullSpace`, equations 16 to 20) ignores
    them, which is the reason for the comfort task.

    Args:
        robot: robot with two feet.
        start: initial state.
        settings: rates of the tasks.
        carries: whether the hands have a task.

    Attributes:
        feet, center: targets: pose reference_from_other of the frames of the feet; CoM in the reference frame.
        grasp: target pose of the left hand in the reference frame, if the hands have a task.
        momentum_recovery: law of the angular momentum, if the settings enable it; the reference foot is then fixed in
            the world, because the motion of the base contributes to the angular momentum.
        reference_foot, other_foot: left and right foot.
        hierarchy, equalities: hierarchy with joint limits, and with equalities only for closed-form solvers.
    """

    def __init__(self, robot: Robot, start: State, settings: ZmpBalanceSettings, carries: bool) -> None:
        self.reference_foot, self.other_foot = robot.foot("left"), robot.foot("right")
        a = start.pose(self.reference_foot)
        self.feet = tasks.FeedForwardTarget(a.actInv(start.pose(self.other_foot)))
        self.center = tasks.FeedForwardTarget(a.actInv(start.center_of_mass))
        rate = tasks.Decay
        levels = [
            Level("feet", [
                tasks.RelativePose(
                    self.other_foot, reference_frame=self.reference_foot, target=self.feet,
                    dynamics=rate(settings.feet_gain),
                    name="relative feet pose",
                ),
            ]),
            Level("balance", [
                tasks.CenterOfMass(self.center, frame=self.reference_foot, dynamics=rate(settings.com_gain)),
            ]),
        ]  # fmt: skip
        self.grasp: tasks.FeedForwardTarget | None = None
        if carries:
            levels.append(Level("hands", self._hands(robot, start, settings)))
        self.momentum_recovery = (
            AngularMomentumRecovery(start, self.reference_foot, settings.momentum_recovery_gain)
            if settings.momentum_recovery_gain
            else None
        )
        comfort: list[tasks.Task] = [
            tasks.JointComfort(robot, settings.comfort_gain)
            if settings.comfort_posture == "middle"
            else tasks.Posture(start, dynamics=rate(settings.comfort_gain), name="joint comfort")
        ]
        recovery = self.momentum_recovery
        if recovery is not None:
            levels[0] = Level("feet", [*levels[0].tasks, tasks.HoldPose(self.reference_foot, at=start)])
            comfort.append(
                tasks.Posture(
                    recovery.posture, weight=recovery.posture_weight, dynamics=rate(RETURN_GAIN), name="return posture"
                )
            )

        def with_comfort(tolerance: float | None) -> list[Level]:
            turning = [] if recovery is None else [_momentum_level(recovery, tolerance)]
            return [*levels, *turning, Level("joint comfort", comfort)]

        self.hierarchy = Hierarchy(
            always=[constraints.JointRange(robot), constraints.JointSpeed(robot)],
            levels=with_comfort(None if recovery is None else recovery.tolerance),
        )
        #: Hierarchy for closed-form solvers: equalities only.
        self.equalities = Hierarchy(always=[], levels=with_comfort(None))

    def _hands(self, robot: Robot, start: State, settings: ZmpBalanceSettings) -> list[tasks.Task]:
        """Return the tasks of the hands: the left one moves with the CoM, the right one is fixed relative to it."""
        left, right, rate = robot.hand("left"), robot.hand("right"), tasks.Decay(settings.hand_gain)
        pose = start.pose(self.reference_foot).actInv(start.pose(left))
        self.grasp = tasks.FeedForwardTarget(pose)
        held = start.pose(left).actInv(start.pose(right))
        return [
            tasks.RelativePose(
                left, reference_frame=self.reference_foot, target=self.grasp, dynamics=rate, name="left hand"
            ),
            tasks.RelativePose(right, reference_frame=left, target=held, dynamics=rate, name="grasp"),
        ]


def _momentum_level(recovery: AngularMomentumRecovery, tolerance: float | None) -> Level:
    turning = tasks.AngularMomentum(recovery.momentum, axes="xy", tolerance=tolerance, name="angular momentum")
    return Level("angular momentum", [turning], damping=MOMENTUM_DAMPING)


# -- Balance with ZMP regulation -------------------------------------------------------------------------------------


#: Update period of the servo deflection (s): in that time a step shifts a hundredth of the weight.
DEFLECTION_PERIOD = 0.005


class ZmpBalance(Behavior):
    """Tracking of a reference trajectory of CoM and feet, with the ZMP regulated under each foot ([Galdeano2014]).

    For `poise.PositionController`, which at every tick first calls `observe` with the sensor readings, and then asks
    for the hierarchy, which is always the same. Standing, squatting and walking differ only in their trajectory.

    Args:
        robot: robot with two feet.
        trajectory: reference trajectory relative to the middle of the left sole; None: standing.
        settings: gains; None: those of the data file of the robot.
        start: initial state, at rest on both feet; None: the standing stance.
        carries: whether the hands hold something: they then have a task above the comfort level.
        closed_form: whether to omit joint limits, for closed-form solvers.

    Attributes:
        sole_loads: last measured load of each sole, by side.
        regulator, foot_roll_trim, servo_deflection, fault_detector: parts of the regulation, see their classes.
        regulating: whether to regulate the ZMP; may change at any time, and fades in and out.
        offset: angles added to the joint commands (rad), see `ServoDeflection`; None before the first tick.

    >>> body = ZmpBalance(robot)
    >>> controller = poise.PositionController(body, period=0.001)
    >>> servos = PositionServos(stiffness_scale=body.settings.stiffness)
    >>> poise.record(controller, poise.MujocoPlant(body.start, actuators=servos), seconds=5.0)
    """

    #: There is only one hierarchy: no blending.
    ramp = 0.0
    essential_level = "balance"

    def __init__(
        self,
        robot: Robot,
        trajectory: ReferenceTrajectory | None = None,
        settings: ZmpBalanceSettings | None = None,
        start: State | None = None,
        carries: bool = False,
        closed_form: bool = False,
    ) -> None:
        if len(check_robot(robot, type(self).__name__).feet) != 2:
            raise PoiseError(f"{robot.name} has {len(robot.feet)} feet; ZMP balance needs two")
        if carries and len(robot.hands) != 2:
            raise PoiseError(f"{robot.name} has {len(robot.hands)} hands; carrying needs two")
        self.robot, self.settings = robot, settings or regulation_settings(robot)
        self.start: State = robot.stance("standing") if start is None else start
        self.task_set = ZmpBalanceTasks(robot, self.start, self.settings, carries)
        self.hierarchy: Hierarchy = self.task_set.equalities if closed_form else self.task_set.hierarchy
        self.hierarchies = (self.hierarchy,)
        self.trajectory: ReferenceTrajectory = (
            StandReference(*standing_reference(self.start)) if trajectory is None else trajectory
        )
        sole = self.task_set.reference_foot.sole
        self.regulator = ZmpRegulator(self.settings, sole.half_size[0])
        self.foot_roll_trim = FootRollTrim(robot, self.settings)
        self.fault_detector = SensorFaultDetector(robot, self.settings.stiffness)
        self.sole_loads: Mapping[str, SoleLoad] = {foot.side: SoleLoad(0.0, 0j) for foot in robot.feet}
        self._sole_centers = self.task_set.reference_foot.sole.center, self.task_set.other_foot.sole.center
        self._soles_off_frames = any(
            middle.any() for middle in self._sole_centers
        )  # whether the frames of the feet differ from the middles of the soles
        self._grasp = None
        if self.task_set.grasp is not None:
            pose = self.task_set.grasp.value
            self._grasp = pose.rotation, pose.translation - self.task_set.center.value
        self._begin = self.start.time
        self.regulating = bool(self.settings.zmp_regulation)
        self.offset: Array | None = None
        self._deflection_time = -math.inf
        self._clock = TickClock(0.001)
        self._sample = self.trajectory.sample(0.0)
        at_first = Snapshot(robot).at(self.start)
        self.servo_deflection = ServoDeflection(robot, at_first, self.settings.stiffness, self._sample.load_share)

    @property
    def seconds(self) -> float:  # type: ignore[override]  # that of the trajectory
        """Duration of the trajectory (s)."""
        return self.trajectory.seconds

    @property
    def fallback(self) -> str:  # type: ignore[override]  # current faults
        """Reason why the regulation is off, as text; empty if there is no fault."""
        faults = self.fault_detector.faults
        return f"no ZMP regulation: {'; '.join(faults)}" if faults else ""

    # -- at every tick ---------------------------------------------------------------------------------------------

    def observe(self, real: Snapshot, reference: Snapshot, readings: SensorReadings | None) -> None:
        """Update regulation and fault detection from the readings of force cells and joints."""
        self._clock.tick(real.time)
        period = self._clock.period
        if self.offset is None or real.time - self._deflection_time >= DEFLECTION_PERIOD - 1e-9:
            self.offset = self.servo_deflection.angles(reference, self._sample.load_share)
            self._deflection_time = real.time
        if readings is None:
            return
        joint_errors = reference.q[7:] + self.offset - readings.positions
        cell_forces = self.fault_detector.update(
            readings.cells, joint_errors, self._sample.load_share, period, self.regulating
        )
        left, right = (sole_load(foot, forces) for foot, forces in zip(self.robot.feet, cell_forces, strict=True))
        self.sole_loads = {"left": left, "right": right}
        right_in_left = SoleLoad(right.force, right.zmp * _heading(self._sample.other_sole))
        error = zmp_error(left, right_in_left)
        self.regulator.step(error, period, self.fault_detector.trust)
        self.foot_roll_trim.step(left, right, period, self.fault_detector.trust)
        self._step_momentum_recovery(real, reference, period)

    def _step_momentum_recovery(self, real: Snapshot, reference: Snapshot, period: float) -> None:
        """Update the recovery with the capture point of the real robot, in the axes of the reference sole."""
        recovery = self.task_set.momentum_recovery
        if recovery is None:
            return
        left, right = self.task_set.reference_foot, self.task_set.other_foot
        ground = planar_pose(real.pose(left), left)
        other = ground.actInv(real.pose(right).act(right.sole.center))
        share = self._sample.load_share
        capture_point = recovery.capture_point(
            ground.actInv(np.array(real.center_of_mass)),
            ground.rotation.T @ real.center_of_mass_velocity,
            (1.0 - share) * other,
        )
        x, y = min(share, 1.0 - share) * np.abs(other[:2])
        recovery.step(capture_point, complex(x, y), reference.q[7:], period, self.fault_detector.trust)

    def __call__(self, snapshot: Snapshot) -> Hierarchy:
        self._sample = sample = self.trajectory.sample(snapshot.time - self._begin)
        task_set, shift = self.task_set, self.regulator.shift
        reference_center, other_center = self._sole_centers
        center, place, rate = sample.center, sample.other_sole, sample.other_sole_rate
        if self.foot_roll_trim.roll:  # each sole rolls by half of it: relative to the reference sole, the ground tilts
            T = pinocchio.exp3(np.array([0.5 * self.foot_roll_trim.roll, 0.0, 0.0]))
            center, place = T @ center, pinocchio.SE3(T @ place.rotation @ T, T @ place.translation)
        task_set.center.set(center + reference_center + (shift.real, shift.imag, 0.0), sample.center_rate)
        if self._soles_off_frames:
            lever = place.rotation @ other_center  # from the frame of the other foot to the middle of its sole
            place = pinocchio.SE3(place.rotation, reference_center + place.translation - lever)
            rate = rate - np.concatenate([np.cross(rate[3:], lever), np.zeros(3)])
        task_set.feet.set(place, rate)
        if task_set.grasp is not None and self._grasp is not None:
            R, away = self._grasp
            rates = np.concatenate([sample.center_rate, np.zeros(3)])
            task_set.grasp.set(pinocchio.SE3(R, sample.center + reference_center + away), rates)
        return self.hierarchy


def _heading(pose: pinocchio.SE3) -> complex:
    """Return the horizontal direction of the x axis of a pose, as a unit complex number."""
    return cmath.exp(1j * so3.yaw_of(pose.rotation))


def regulation_settings(robot: Robot, **overrides: float | str) -> ZmpBalanceSettings:
    """Return the settings in the data file of a robot, with some replaced."""
    try:
        return ZmpBalanceSettings(**{**current_settings(ZmpBalanceSettings, robot.servos.zmp_balance), **overrides})  # type: ignore[arg-type]
    except TypeError as error:
        known = ", ".join(ZmpBalanceSettings.__dataclass_fields__)
        raise PoiseError(
            f"{robot.name}: unknown setting in [servos.zmp_balance] or the arguments: {error}; expected {known}"
        ) from None


def standing_reference(start: State) -> tuple[Array, pinocchio.SE3]:
    """Return the CoM target (m, 3) and the pose of the right sole for a state on both feet.

    Both are relative to the middle of the left sole; the CoM target is above the midpoint between the soles.
    """
    robot = start.robot
    left, right = robot.foot("left"), robot.foot("right")
    a, b = start.pose(left), start.pose(right)
    a = pinocchio.SE3(a.rotation, a.act(left.sole.center))
    other = a.actInv(pinocchio.SE3(b.rotation, b.act(right.sole.center)))
    height = float(a.actInv(start.center_of_mass)[2])
    return np.append(0.5 * other.translation[:2], height), other


# -- Walking pattern -------------------------------------------------------------------------------------------------


def walking_pattern(start: State, style: Style, steps: float, speed: Speed | None = None) -> WalkingPattern:
    """Return the walking pattern of a number of steps in a style, from a standing state.

    The feet keep the distance of standing, because servos sag when a load is far from its foot.

    >>> ZmpBalance(robot, walking_pattern(robot.stance("standing_reference"), STYLES["neutral"], steps=20))
    """
    body = BodyDimensions.of(start).with_standing_width()
    left, right = (Footstep.of(start, start.robot.foot(side), 0.0) for side in ("left", "right"))
    return WalkingPattern(FootstepPlan(gait_of_style(style, body, speed), steps), left, right, body.com_height)
