"""Navigate: a robot guided by one point, motion segment by motion segment."""

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
from poise.robots import Robot, Side, State, other_side
from poise.state import SensorReadings, Snapshot

#: A hand is short of its goal beyond this share of the longest reach, a trunk or a grip beyond this angle (rad): less
#: is what tasks lag behind, and is left to them.
LARGEST_HAND_ERROR, LARGEST_ROTATION_ERROR = 0.08, 0.1


def reached_points(
    points: NavigationPoints, snapshot: Snapshot, task_set: NavigateTasks, arm: float
) -> tuple[NavigationPoints, tuple[str, ...]]:
    """The points as they were led, but where hands or trunk are far from that, as they are; and that in words.

    Args:
        points: as they were led.
        snapshot: as they are.
        task_set: of the robot's hierarchy, which know how it stands.
        arm: largest distance of a hand from its shoulder (m).
    """
    notes = []
    R = snapshot.pose(task_set.trunk_frame).rotation @ task_set.standing_trunk.T
    attitude, reference_center = points.attitude, so3.log(R @ points.trunk.T)
    if np.linalg.norm(reference_center) > LARGEST_ROTATION_ERROR:
        roll, pitch, yaw = pinocchio.rpy.matrixToRpy(R)
        yaw = points.attitude[2] + so3.wrap_angle(yaw - points.attitude[2])
        attitude = np.array([roll, pitch, yaw])
        notes.append(f"trunk: {np.degrees(np.linalg.norm(reference_center)):.0f} degrees from where it was led")
    hands, into = {}, np.asarray(pinocchio.rpy.rpyToMatrix(*attitude)).T
    for hand in snapshot.robot.hands:
        led, place = points.hands[hand.side], points.hand_position(hand.side)
        pose = snapshot.pose(hand)
        turn = so3.log(R.T @ pose.rotation @ task_set.home_rotations[hand.side].T)
        away = float(np.linalg.norm(pose.translation - place))
        if away > LARGEST_HAND_ERROR * arm:
            place = pose.translation
            notes.append(f"{hand.side} hand: {100 * away:.0f} cm from where it was led")
        position = into @ (place - points.center)
        if (
            hand.side not in task_set.hand_rotations
            or np.linalg.norm(so3.log(so3.exp(turn) @ so3.exp(led.attitude).T)) <= LARGEST_ROTATION_ERROR
        ):
            turn = led.attitude
        hands[hand.side] = HandPoint(position, turn)
    return points.replace(attitude=attitude, hands=MappingProxyType(hands)), tuple(notes)


# -- Navigate: a robot guided by one point, segment by segment -------------------------------------------------------


#: The pressure is kept this far inside the soles, as a share of their half width: a sole is smaller than it looks.
ZMP_MARGIN = 0.05
#: A segment is replaced this long after it began at the earliest, in time constants: what was just replaced must act.
SHORTEST_REPLAN_TIME = 0.2
#: So many segments are remembered: half an hour of them.
HISTORY_LENGTH = 4000


class SegmentStart(NamedTuple):
    """A segment that was begun: when (s), what the device said, and what became of it."""

    time: float
    command: OperatorCommand
    segment: MotionSegment


class Navigate(Behavior):
    """Guides a robot by one point at a time ([Sugihara2008]): the device says where to, the other points follow.

    At the end of each motion segment the device is read once, and the next segment is planned from where the robot then
    is. Whatever the device says, each segment can be done and can be followed by another; see `poise.plans.segment`.

    Args:
        robot: with two feet.
        device: read at the begin of each segment.
        settings: see `NavigateSettings`.
        start: standing at rest on both feet; None: the robot's standing stance.
        ground: puts a footstep on ground that is known, e.g. onto stairs; None: the ground goes on as it is.
        discard: the paper's rule, by which a command beyond a boundary is discarded; else it is projected onto it.

    Attributes:
        segment: that is being done; `segment_begin`: since when (s).
        outcomes: how many segments of each kind were begun.
        history: the last of them, `HISTORY_LENGTH` at most.
        command: what the device said last.

    >>> navigate = Navigate(robot, RandomDevice(seed=1))
    >>> poise.record(poise.TorqueController(navigate), poise.MujocoPlant(navigate.start), seconds=60.0)
    """

    #: Its plan is smooth and its contacts come and go as planned: the controller neither blends nor doubts.
    ramp, lost_after = 0.0, math.inf

    def __init__(
        self,
        robot: Robot,
        device: Device,
        settings: NavigateSettings | None = None,
        start: State | None = None,
        ground: Callable[[Footstep], Footstep] | None = None,
        discard: bool = False,
    ) -> None:
        if len(robot.feet) != 2:
            raise PoiseError(f"{robot.name} has {len(robot.feet)} feet; to be guided takes two")
        self.robot, self.device, self.ground, self.discard = robot, Device.adapt(device), ground, discard
        self.settings = settings = settings or NavigateSettings()
        self.start: State = robot.stance("standing") if start is None else start
        self.legs = LegReach.of(robot)
        self.workspace = Workspace.of(robot, self.legs)
        self.body = ThreeMassModel.of(robot)
        segment_settings = SegmentSettings(settings.duration, settings.longest, settings.increment)
        self.planner = Planner(self.body, segment_settings, self.legs)
        self.task_set = NavigateTasks(
            robot, self.start, settings, self.workspace.arm_reach, self.workspace.hand_attitude > 0.0
        )
        self.weights, self.hierarchies = self.task_set.weights, tuple(self.task_set.hierarchies.values())
        self.command = OperatorCommand()
        self.outcomes = {"commanded": 0, "kept": 0, "held": 0, "caught": 0}
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
    def seconds(self) -> float:  # type: ignore[override]  # the device knows
        """As long as the device has something to say, or half a minute."""
        return float(self.device.seconds or 30.0)

    def phase(self, time: float = 0.0) -> SegmentPhase:
        """The phase it is in."""
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
        """The tasks follow the segment; what the body lacks of it is fed back."""
        task_set, omega, settings = self.task_set, self.body.omega, self.settings
        p, v, a = sample.center
        c, observation = snapshot.center_of_mass, self._observation
        center, speed = (
            (c, snapshot.center_of_mass_velocity) if observation is None else (observation.center, observation.velocity)
        )
        xi = complex(center[0] + speed[0] / omega, center[1] + speed[1] / omega)
        self.dcm_error = xi - complex(p[0] + v[0] / omega, p[1] + v[1] / omega)
        u = complex(p[0] - a[0] / omega**2, p[1] - a[1] / omega**2)
        gain = settings.feedback if observation is None else settings.stabilizer.divergence
        command = u + (1.0 + gain / omega) * self.dcm_error
        z = polygon.project(self._support, (command.real, command.imag))
        self.zmp_excess = abs(command - complex(*z))
        rate = v + settings.track * (p - c)
        if observation is not None:
            self._stabilize(observation, sample, complex(*z))
            shift, moving = self._stabilizer.shift, self._stabilizer.rate
            rate[:2] += settings.track * np.array([shift.real, shift.imag]) + (moving.real, moving.imag)
        pull = (omega**2 * (c[0] - z[0]), omega**2 * (c[1] - z[1]), 0.0)
        task_set.center.set(c - (self.dcm_error.real, self.dcm_error.imag, 0.0), rate, pull)
        task_set.com_height.set(p, v, a)
        task_set.follow(sample)

    # -- what servos do --------------------------------------------------------------------------------------------

    def observe(self, real: Snapshot, reference: Snapshot, readings: SensorReadings | None) -> pinocchio.SE3 | None:
        """Looks at the real body while servos follow a reference one, see `PositionController`.

        When a segment is over, the reference is moved to where the robot really stands.
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
        """The foot that stands for the whole segment."""
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
        """Another phase: other feet stand."""
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
        """Reads the device and plans the next segment from where the robot is."""
        initial = self._initial_state(snapshot)
        points, hand_notes = reached_points(initial.points, snapshot, self.task_set, self.workspace.arm_reach)
        initial = replace(initial, points=points)
        self.device.observe(initial.points)
        self.command = self.device.read(snapshot.time)
        goal = guided_goal(initial.points, self.command, self.workspace, self.legs, self.ground, self.discard)
        goal = replace(goal, notes=(*hand_notes, *goal.notes))
        return self._start_segment(self.planner.plan(initial, goal), snapshot.time)

    def _must_replan(self, elapsed: float) -> bool:
        """Whether physics contradicts the segment: to bring ξ back the ground had to push far outside of the soles."""
        segment = self.segment
        assert segment is not None
        step = segment.swing_phase if segment.outcome == "caught" else None  # which must land before all else
        first = SHORTEST_REPLAN_TIME / self.body.omega if step is None else step.end
        return self.zmp_excess > self.settings.astray * self.body.sole_half[1] and elapsed > first

    def _start_segment(self, segment: MotionSegment, time: float) -> MotionSegment:
        self.segment, self.segment_begin, self.zmp_excess = segment, time, 0.0
        self.history.append(SegmentStart(time, self.command, segment))
        self.outcomes[segment.outcome] += 1
        return segment

    def _initial_state(self, snapshot: Snapshot) -> InitialState:
        """Where the robot is: its feet and its centre of mass as measured, hands and trunk as they were led."""
        c, v = snapshot.center_of_mass, snapshot.center_of_mass_velocity
        if self._observation is not None:  # what the reference is off by stays a shift of it: the command does not jump
            reference_center, (c, v) = c, (self._observation.center, self._observation.velocity)
            self._stabilizer.shift = complex(reference_center[0] - c[0], reference_center[1] - c[1])
        if self.segment is None:
            previous = InitialState.at_rest(standing_points(self.robot))
        else:
            previous = self.segment.state_at(snapshot.time - self.segment_begin)
        points = previous.points
        feet = {foot.side: Footstep.of(snapshot, foot, points.feet[foot.side].yaw) for foot in self.robot.feet}
        center = np.array([c[0], c[1], points.center[2]])
        rates = PointRates(
            np.array([v[0], v[1], previous.rates.center[2]]),
            previous.rates.attitude,
            previous.rates.feet,
            previous.rates.hands,
        )
        return InitialState(points.replace(center=center, feet=feet), rates, previous.repellent)
