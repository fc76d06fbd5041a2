"""Behavior `Navigate`: an operator guides one point of the robot, motion segment by motion segment."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable
from dataclasses import replace
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
import pinocchio

from poise.arrays import Array
from poise.behaviors.gait_tasks import TickClock, sole_pose
from poise.behaviors.navigate_tasks import NavigateSettings, NavigateTasks
from poise.behaviors.servo_stabilizer import Observation, ServoStabilizer, observe_body
from poise.devices import Device
from poise.errors import PoiseError
from poise.geometry import polygon, so3
from poise.hierarchy import Behavior, Hierarchy
from poise.plans import (
    Footstep,
    Goal,
    HandPoint,
    InitialState,
    LegReach,
    MotionSegment,
    NavigationPoints,
    OperatorCommand,
    Planner,
    PointRates,
    SegmentPhase,
    SegmentSample,
    SegmentSettings,
    SupportRegion,
    ThreeMassModel,
    Workspace,
    capture_segment,
    guided_goal,
    standing_points,
)
from poise.robots import Robot, Side, State, check_robot, other_side
from poise.state import SensorReadings, Snapshot

#: Tracking errors beyond which a segment starts from the measured pose: of a hand, as a fraction of the arm reach; of
#: trunk or hand rotation (rad). Smaller errors are the normal lag of the tasks.
LARGEST_HAND_ERROR, LARGEST_ROTATION_ERROR = 0.08, 0.1
#: Largest distance of the center of mass from the last goal, as a fraction of its height, at which a robot without a
#: command returns to that goal: 1 cm for a height of 1 m, several times the error of servos that carry the weight.
LARGEST_REST_ERROR = 0.01


def reached_points(
    points: NavigationPoints, snapshot: Snapshot, task_set: NavigateTasks, arm: float
) -> tuple[NavigationPoints, tuple[str, ...]]:
    """Return the reference points, with measured poses for hands or trunk that are far from them, and notes on these.

    Args:
        points: reference points.
        snapshot: measured state.
        task_set: tasks of the robot, with its standing and home rotations.
        arm: largest distance of a hand from its shoulder (m).
    """
    notes = []
    R = snapshot.pose(task_set.trunk_frame).rotation @ task_set.standing_trunk.T
    attitude, reference_center = points.attitude, so3.log(R @ points.trunk.T)
    if np.linalg.norm(reference_center) > LARGEST_ROTATION_ERROR:
        roll, pitch, yaw = pinocchio.rpy.matrixToRpy(R)
        yaw = points.attitude[2] + so3.wrap_angle(yaw - points.attitude[2])
        attitude = np.array([roll, pitch, yaw])
        notes.append(f"trunk: {np.degrees(np.linalg.norm(reference_center)):.0f} degrees from its reference")
    hands, into = {}, np.asarray(pinocchio.rpy.rpyToMatrix(*attitude)).T
    for hand in snapshot.robot.hands:
        planned, place = points.hands[hand.side], points.hand_position(hand.side)
        pose = snapshot.pose(hand)
        turn = so3.log(R.T @ pose.rotation @ task_set.home_rotations[hand.side].T)
        away = float(np.linalg.norm(pose.translation - place))
        if away > LARGEST_HAND_ERROR * arm:
            place = pose.translation
            notes.append(f"{hand.side} hand: {100 * away:.0f} cm from its reference")
        position = into @ (place - points.center)
        if (
            hand.side not in task_set.hand_rotations
            or np.linalg.norm(so3.log(so3.exp(turn) @ so3.exp(planned.attitude).T)) <= LARGEST_ROTATION_ERROR
        ):
            turn = planned.attitude
        hands[hand.side] = HandPoint(position, turn)
    return points.replace(attitude=attitude, hands=MappingProxyType(hands)), tuple(notes)


def held_points(points: NavigationPoints, goal: Goal) -> NavigationPoints:
    """Return the points with the center of mass where a goal that was reached has it, relative to the stance feet.

    A robot at rest would drift if every segment ended where the one before it happened to end: servos and soles give
    way a little. The points stay the same if a foot was lifted or landed since, or if the center of mass is farther
    than `LARGEST_REST_ERROR` from the goal: the robot was pushed.
    """
    if goal.points.lifted != points.lifted:
        return points
    before, now = (_stance_frame(each) for each in (goal.points, points))
    place = now[0] + (complex(*goal.points.center[:2]) - before[0]) * now[1] / before[1]
    if abs(place - complex(*points.center[:2])) > LARGEST_REST_ERROR * abs(goal.points.center[2] - before[2]):
        return points
    return points.replace(center=np.array([place.real, place.imag, points.center[2]]))


def _stance_frame(points: NavigationPoints) -> tuple[complex, complex, float]:
    """Return place, heading (a unit number) and height of the middle of the stance feet (m)."""
    feet = points.stance_feet
    heading = sum(foot.heading for foot in feet)
    height = sum(foot.z for foot in feet) / len(feet)
    return sum(foot.place for foot in feet) / len(feet), heading / abs(heading), height


# -- Navigate --------------------------------------------------------------------------------------------------------


#: Margin of the commanded zero moment point (ZMP) inside the soles, as a fraction of their half width: the effective
#: contact area is smaller than the sole.
ZMP_MARGIN = 0.05
#: Shortest time after which a segment may be replaced, in time constants 1 / ω: the last replacement must take effect.
SHORTEST_REPLAN_TIME = 0.2
#: Number of segments in the history: half an hour of them.
HISTORY_LENGTH = 4000


class SegmentStart(NamedTuple):
    """Start of a segment: time (s), operator command, and planned segment."""

    time: float
    command: OperatorCommand
    segment: MotionSegment


class Navigate(Behavior):
    """Navigation of a robot by one guided point at a time ([Sugihara2008]); the other points follow.

    A hierarchy as a function of the state, for a controller; `poise.runs.Navigate` is the complete run.

    At the end of each motion segment the behavior reads the device once and plans the next segment from the current
    state of the robot. For every input, each segment is feasible and can be followed by another; see
    `poise.plans.segment`.

    Args:
        robot: robot with two feet.
        device: input device, read at the start of each segment.
        settings: see `NavigateSettings`.
        start: initial state, standing at rest on both feet; None: the standing stance of the robot.
        ground: places a footstep on known ground, e.g. onto stairs; None: flat ground at the height of the stance foot.
        discard: discard a command beyond a boundary, as the paper does, instead of projecting it onto the boundary.

    Attributes:
        segment: current segment.
        segment_begin: time of its start (s).
        outcomes: number of started segments by outcome.
        history: last started segments, `HISTORY_LENGTH` at most.
        command: last command of the device.

    >>> navigate = Navigate(robot, RandomDevice(seed=1))
    >>> poise.record(poise.TorqueController(navigate), poise.MujocoPlant(navigate.start), seconds=60.0)
    """

    #: The plan is smooth and determines the contacts: the controller neither blends hierarchies nor drops contacts.
    ramp, lost_after = 0.0, math.inf
    essential_level = "swing"

    def __init__(
        self,
        robot: Robot,
        device: Device,
        settings: NavigateSettings | None = None,
        start: State | None = None,
        ground: Callable[[Footstep], Footstep] | None = None,
        discard: bool = False,
    ) -> None:
        if len(check_robot(robot, type(self).__name__).feet) != 2:
            raise PoiseError(f"{robot.name} has {len(robot.feet)} feet; navigation needs two")
        self.robot, self.device, self.ground, self.discard = robot, Device.adapt(device), ground, discard
        self.settings = settings = settings or NavigateSettings()
        self.start: State = robot.stance("standing") if start is None else start
        self.legs = LegReach.of(robot)
        self.workspace = Workspace.of(robot, self.legs)
        self.body = ThreeMassModel.of(robot)
        segment_settings = SegmentSettings(settings.duration, settings.max_duration, settings.duration_increment)
        self.planner = Planner(self.body, segment_settings, self.legs)
        self.task_set = NavigateTasks(
            robot, self.start, settings, self.workspace.arm_reach, self.workspace.hand_attitude > 0.0
        )
        self.weights, self.hierarchies = self.task_set.weights, tuple(self.task_set.hierarchies.values())
        self.command = OperatorCommand()
        self.outcomes = {"commanded": 0, "recentered": 0, "stopped": 0, "capture step": 0}
        self.history: deque[SegmentStart] = deque(maxlen=HISTORY_LENGTH)
        self.segment: MotionSegment | None = None
        self.segment_begin = self.start.time
        self.dcm_error, self.zmp_excess = 0j, 0.0
        self._phase: SegmentPhase | None = None
        self._support: Array = np.zeros((0, 2))
        self._clock = TickClock(0.005)
        self._stabilizer = ServoStabilizer(settings.stabilizer, self.body.sole_half[0])
        self._observation: Observation | None = None

    @property
    def seconds(self) -> float:  # type: ignore[override]  # that of the device
        """Duration of the input of the device (s), or 30 s if it has none."""
        return float(self.device.seconds or 30.0)

    def phase(self, time: float = 0.0) -> SegmentPhase:
        """Return the current phase."""
        return self._phase or SegmentPhase(0.0, 0.0)

    # -- at every tick ---------------------------------------------------------------------------------------------

    def __call__(self, snapshot: Snapshot) -> Hierarchy:
        if self._clock.tick(snapshot.time):
            self._advance(snapshot)
        swing = self.phase().swing
        return self.task_set.hierarchies["both" if swing is None else swing]

    def _advance(self, snapshot: Snapshot) -> None:
        segment, elapsed = self.segment, snapshot.time - self.segment_begin
        if segment is None or elapsed >= segment.seconds - 1e-6:
            segment, elapsed = self._plan_next(snapshot), 0.0
        elif self._must_replan(elapsed):
            initial = self._initial_state(snapshot)
            replacement = capture_segment(initial, self.planner, self.workspace, self.legs, self.ground)
            segment, elapsed = self._start_segment(replacement, snapshot.time), 0.0
        sample = segment.sample(elapsed)
        if sample.phase is not self._phase:
            self._enter_phase(sample.phase, sample)
        self._follow(snapshot, sample)

    def _follow(self, snapshot: Snapshot, sample: SegmentSample) -> None:
        """Set the targets of the tasks from the segment, with feedback of the error of the DCM."""
        task_set, omega, settings = self.task_set, self.body.omega, self.settings
        p, v, a = sample.center
        c, observation = snapshot.center_of_mass, self._observation
        center, speed = (
            (c, snapshot.center_of_mass_velocity) if observation is None else (observation.center, observation.velocity)
        )
        xi = complex(center[0] + speed[0] / omega, center[1] + speed[1] / omega)
        self.dcm_error = xi - complex(p[0] + v[0] / omega, p[1] + v[1] / omega)
        u = complex(p[0] - a[0] / omega**2, p[1] - a[1] / omega**2)
        gain = settings.dcm_gain if observation is None else settings.stabilizer.servo_dcm_gain
        command = u + (1.0 + gain / omega) * self.dcm_error
        z = polygon.project(self._support, (command.real, command.imag))
        self.zmp_excess = abs(command - complex(*z))
        rate = v + settings.com_gain * (p - c)
        offset, moving = np.zeros(3), np.zeros(3)  # of the whole body, by the stabilizer
        if observation is not None:
            self._stabilize(observation, sample, complex(*z))
            shift, shift_rate = self._stabilizer.shift, self._stabilizer.rate
            offset[:2], moving[:2] = (shift.real, shift.imag), (shift_rate.real, shift_rate.imag)
            rate += settings.com_gain * offset + moving
        pull = (omega**2 * (c[0] - z[0]), omega**2 * (c[1] - z[1]), 0.0)
        task_set.center.set(c - (self.dcm_error.real, self.dcm_error.imag, 0.0), rate, pull)
        task_set.com_height.set(p, v, a)
        task_set.follow(sample, offset, moving)

    # -- position servos -------------------------------------------------------------------------------------------

    def observe(self, real: Snapshot, reference: Snapshot, readings: SensorReadings | None) -> pinocchio.SE3 | None:
        """Observe the real robot while servos follow a reference state, see `PositionController`.

        Returns:
            At the end of a segment, the transform that moves the reference to the measured stance; otherwise None.
        """
        stance = self.robot.foot(self._stance())
        self._observation = observation = observe_body(real, reference, stance, readings, self.task_set.trunk_frame)
        segment = self.segment
        if segment is not None and real.time - self.segment_begin < segment.seconds - 1e-6:
            return None
        correction = observation.shift.inverse()
        turn = complex(correction.rotation[0, 0], correction.rotation[1, 0])
        self._stabilizer.shift *= turn
        self._observation = replace(
            observation, center=correction.act(observation.center), velocity=correction.rotation @ observation.velocity
        )
        zmp = observation.zmp
        if zmp is not None:
            x, y, _ = correction.act(np.array([zmp.real, zmp.imag, 0.0]))
            self._observation = replace(self._observation, zmp=complex(x, y))
        return correction

    def _stance(self) -> Side:
        """Return the side of the foot that is on the ground for the whole segment."""
        segment = self.segment
        moving = None if segment is None else segment.goal.step or segment.initial.points.lifted
        return "left" if moving is None else other_side(moving)

    def _stabilize(self, observation: Observation, sample: SegmentSample, target: complex) -> None:
        self._stabilizer.step(observation.zmp, target, self._clock.period)
        turn = self._stabilizer.sole_rotation(observation.tilt, self._clock.period)
        for foot in self.robot.feet:
            if foot.side != sample.phase.swing:
                x = sample.feet[foot.side][0]
                self.task_set.set_stance(foot.side, sole_pose(foot, x[:3], float(x[3]), turn))

    def _enter_phase(self, phase: SegmentPhase, sample: SegmentSample) -> None:
        """Set the stance feet and the support polygon of a new phase."""
        self._phase = phase
        feet = []
        for foot in self.robot.feet:
            if foot.side != phase.swing:
                x = sample.feet[foot.side][0]
                feet.append(Footstep(foot.side, float(x[0]), float(x[1]), float(x[3]), float(x[2])))
                self.task_set.set_stance(foot.side, sole_pose(foot, x[:3], float(x[3])))
        self._support = SupportRegion(feet, self.body.sole_half, ZMP_MARGIN * self.body.sole_half[1]).polygon

    # -- segments --------------------------------------------------------------------------------------------------

    def _plan_next(self, snapshot: Snapshot) -> MotionSegment:
        """Read the device and plan the next segment from the current state."""
        initial = self._initial_state(snapshot)
        points, hand_notes = reached_points(initial.points, snapshot, self.task_set, self.workspace.arm_reach)
        initial = replace(initial, points=points)
        self.device.observe(initial.points)
        self.command = self.device.read(snapshot.time)
        if self.command.is_zero and self.segment is not None:
            points = held_points(points, self.segment.goal)
        goal = guided_goal(points, self.command, self.workspace, self.legs, self.ground, self.discard)
        goal = replace(goal, notes=(*hand_notes, *goal.notes))
        return self._start_segment(self.planner.plan(initial, goal), snapshot.time)

    def _must_replan(self, elapsed: float) -> bool:
        """Return whether the ZMP that would correct ξ is so far outside the soles that the segment must be replaced."""
        segment = self.segment
        assert segment is not None
        step = segment.swing_phase if segment.outcome == "capture step" else None  # a capture step must land first
        first = SHORTEST_REPLAN_TIME / self.body.omega if step is None else step.end
        return self.zmp_excess > self.settings.replan_distance * self.body.sole_half[1] and elapsed > first

    def _start_segment(self, segment: MotionSegment, time: float) -> MotionSegment:
        self.segment, self.segment_begin, self.zmp_excess = segment, time, 0.0
        self.history.append(SegmentStart(time, self.command, segment))
        self.outcomes[segment.outcome] += 1
        return segment

    def _initial_state(self, snapshot: Snapshot) -> InitialState:
        """Return the current state: measured feet and horizontal CoM, reference values of height, hands and trunk."""
        c, v = snapshot.center_of_mass, snapshot.center_of_mass_velocity
        if self._observation is not None:  # keep the offset of the reference as a shift, so that the command is smooth
            reference_center, (c, v) = c, (self._observation.center, self._observation.velocity)
            self._stabilizer.shift = complex(reference_center[0] - c[0], reference_center[1] - c[1])
        if self.segment is None:
            previous = InitialState.at_rest(standing_points(self.robot))
        else:
            previous = self.segment.state_at(snapshot.time - self.segment_begin)
        points = previous.points
        feet = {foot.side: Footstep.of(snapshot, foot, points.feet[foot.side].yaw) for foot in self.robot.feet}
        center = np.array([c[0], c[1], points.center[2]])
        if self.segment is None:  # soles sink into the ground a little
            center[2] += sum(feet[side].z - points.feet[side].z for side in feet) / len(feet)
        rates = PointRates(
            np.array([v[0], v[1], previous.rates.center[2]]),
            previous.rates.attitude,
            previous.rates.feet,
            previous.rates.hands,
        )
        return InitialState(points.replace(center=center, feet=feet), rates, previous.repellent)
