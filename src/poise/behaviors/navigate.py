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
from poise.behaviors.navigate_tasks import Levels, NavigateSettings
from poise.behaviors.servo_stabilizer import Seen, Stabilizer, seen
from poise.devices import Device
from poise.errors import PoiseError
from poise.geometry import polygon, so3
from poise.hierarchy import Behavior, Hierarchy
from poise.plans import (
    Beginning,
    Body,
    Footstep,
    HandPoint,
    Legs,
    Planner,
    Points,
    Rates,
    Sample,
    Segment,
    SegmentPhase,
    SegmentSettings,
    Stick,
    Support,
    Workspace,
    caught,
    guided,
    standing,
)
from poise.robots import Robot, Side, State, other_side
from poise.state import Sensed, Snapshot

#: A hand is short of its goal beyond this share of the longest reach, a trunk or a grip beyond this angle (rad): less
#: is what tasks lag behind, and is left to them.
SHORT, TURNED = 0.08, 0.1


def reached(points: Points, snapshot: Snapshot, levels: Levels, arm: float) -> tuple[Points, tuple[str, ...]]:
    """The points as they were led, but where hands or trunk are far from that, as they are; and that in words.

    Args:
        points: as they were led.
        snapshot: as they are.
        levels: of the robot's hierarchy, which know how it stands.
        arm: largest distance of a hand from its shoulder (m).
    """
    notes = []
    R = snapshot.pose(levels.part).rotation @ levels.upright.T
    attitude, off = points.attitude, so3.log(R @ points.trunk.T)
    if np.linalg.norm(off) > TURNED:
        roll, pitch, yaw = pinocchio.rpy.matrixToRpy(R)
        yaw = points.attitude[2] + so3.wrap_angle(yaw - points.attitude[2])
        attitude = np.array([roll, pitch, yaw])
        notes.append(f"trunk: {np.degrees(np.linalg.norm(off)):.0f} degrees from where it was led")
    hands, into = {}, np.asarray(pinocchio.rpy.rpyToMatrix(*attitude)).T
    for hand in snapshot.robot.hands:
        led, place = points.hands[hand.side], points.hand(hand.side)
        pose = snapshot.pose(hand)
        turn = so3.log(R.T @ pose.rotation @ levels.homes[hand.side].T)
        away = float(np.linalg.norm(pose.translation - place))
        if away > SHORT * arm:
            place = pose.translation
            notes.append(f"{hand.side} hand: {100 * away:.0f} cm from where it was led")
        position = into @ (place - points.center)
        if hand.side not in levels.grips or np.linalg.norm(so3.log(so3.exp(turn) @ so3.exp(led.attitude).T)) <= TURNED:
            turn = led.attitude
        hands[hand.side] = HandPoint(position, turn)
    return points.replace(attitude=attitude, hands=MappingProxyType(hands)), tuple(notes)


# -- Navigate: a robot guided by one point, segment by segment -------------------------------------------------------


#: The pressure is kept this far inside the soles, as a share of their half width: a sole is smaller than it looks.
INSIDE = 0.05
#: A segment is replaced this long after it began at the earliest, in time constants: what was just replaced must act.
AGAIN = 0.2
#: So many segments are remembered: half an hour of them.
HISTORY = 4000


class Done(NamedTuple):
    """A segment that was begun: when (s), what the device said, and what became of it."""

    time: float
    stick: Stick
    segment: Segment


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
        segment: that is being done; `begun`: since when (s).
        outcomes: how many segments of each kind were begun.
        history: the last of them, `HISTORY` at most.
        stick: what the device said last.

    >>> navigate = Navigate(robot, RandomStick(seed=1))
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
        self.robot, self.device, self.ground, self.discard = robot, Device.of(device), ground, discard
        self.settings = numbers = settings or NavigateSettings()
        self.start: State = robot.stance("standing") if start is None else start
        self.legs = Legs.of(robot)
        self.workspace = Workspace.of(robot, self.legs)
        self.body = Body.of(robot)
        plan = SegmentSettings(numbers.duration, numbers.longest, numbers.increment)
        self.planner = Planner(self.body, plan, self.legs)
        self.levels = Levels(robot, self.start, numbers, self.workspace.arm, self.workspace.hand_attitude > 0.0)
        self.weights, self.hierarchies = self.levels.weights, tuple(self.levels.hierarchies.values())
        self.stick = Stick()
        self.outcomes = {"commanded": 0, "kept": 0, "held": 0, "caught": 0}
        self.history: deque[Done] = deque(maxlen=HISTORY)
        self.segment: Segment | None = None
        self.begun = self.start.time
        self.error, self.lacking = 0j, 0.0
        self._phase: SegmentPhase | None = None
        self._support: Array = np.zeros((0, 2))
        self._clock = TickClock(0.005)
        self._stabilizer = Stabilizer(numbers.stabilizer, self.body.half[0])
        self._seen: Seen | None = None

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
        return self.levels.hierarchies["both" if swing is None else swing]

    def _advance(self, snapshot: Snapshot) -> None:
        segment, elapsed = self.segment, snapshot.time - self.begun
        if segment is None or elapsed >= segment.seconds - 1e-6:
            segment, elapsed = self._next(snapshot), 0.0
        elif self._astray(elapsed):
            begin = self._beginning(snapshot)
            replacement = caught(begin, self.planner, self.workspace, self.legs, self.ground)
            segment, elapsed = self._begin(replacement, snapshot.time), 0.0
        sample = segment.sample(elapsed)
        if sample.phase is not self._phase:
            self._enter(sample.phase, sample)
        self._lead(snapshot, sample)

    def _lead(self, snapshot: Snapshot, sample: Sample) -> None:
        """The tasks follow the segment; what the body lacks of it is fed back."""
        levels, omega, numbers = self.levels, self.body.omega, self.settings
        p, v, a = sample.center
        c, there = snapshot.center_of_mass, self._seen
        real, speed = (c, snapshot.center_of_mass_velocity) if there is None else (there.center, there.velocity)
        xi = complex(real[0] + speed[0] / omega, real[1] + speed[1] / omega)
        self.error = xi - complex(p[0] + v[0] / omega, p[1] + v[1] / omega)
        u = complex(p[0] - a[0] / omega**2, p[1] - a[1] / omega**2)
        gain = numbers.feedback if there is None else numbers.stabilizer.divergence
        wish = u + (1.0 + gain / omega) * self.error
        z = polygon.project(self._support, (wish.real, wish.imag))
        self.lacking = abs(wish - complex(*z))
        rate = v + numbers.track * (p - c)
        if there is not None:
            self._stabilize(there, sample, complex(*z))
            shift, moving = self._stabilizer.shift, self._stabilizer.rate
            rate[:2] += numbers.track * np.array([shift.real, shift.imag]) + (moving.real, moving.imag)
        pull = (omega**2 * (c[0] - z[0]), omega**2 * (c[1] - z[1]), 0.0)
        levels.center.lead(c - (self.error.real, self.error.imag, 0.0), rate, pull)
        levels.rise.lead(p, v, a)
        levels.lead(sample)

    # -- what servos do --------------------------------------------------------------------------------------------

    def observe(self, real: Snapshot, reference: Snapshot, sensed: Sensed | None) -> pinocchio.SE3 | None:
        """Looks at the real body while servos follow a reference one, see `PositionController`.

        When a segment is over, the reference is moved to where the robot really stands.
        """
        stance = self.robot.foot(self._stance())
        self._seen = there = seen(real, reference, stance, sensed, self.levels.part)
        segment = self.segment
        if segment is not None and real.time - self.begun < segment.seconds - 1e-6:
            return None
        back = there.shift.inverse()
        turn = complex(back.rotation[0, 0], back.rotation[1, 0])
        self._stabilizer.shift *= turn
        self._seen = replace(there, center=back.act(there.center), velocity=back.rotation @ there.velocity)
        felt = there.pressure
        if felt is not None:
            x, y, _ = back.act(np.array([felt.real, felt.imag, 0.0]))
            self._seen = replace(self._seen, pressure=complex(x, y))
        return back

    def _stance(self) -> Side:
        """The foot that stands for the whole segment."""
        segment = self.segment
        moving = None if segment is None else segment.goal.step or segment.beginning.points.lifted
        return "left" if moving is None else other_side(moving)

    def _stabilize(self, there: Seen, sample: Sample, wanted: complex) -> None:
        self._stabilizer.step(there.pressure, wanted, self._clock.period)
        turn = self._stabilizer.soles(there.tilt, self._clock.period)
        for foot in self.robot.feet:
            if foot.side != sample.phase.swing:
                x = sample.feet[foot.side][0]
                self.levels.stand(foot.side, sole_pose(foot, x[:3], float(x[3]), turn))

    def _enter(self, phase: SegmentPhase, sample: Sample) -> None:
        """Another phase: other feet stand."""
        self._phase = phase
        feet = []
        for foot in self.robot.feet:
            if foot.side != phase.swing:
                x = sample.feet[foot.side][0]
                feet.append(Footstep(foot.side, float(x[0]), float(x[1]), float(x[3]), float(x[2])))
                self.levels.stand(foot.side, sole_pose(foot, x[:3], float(x[3])))
        self._support = Support(feet, self.body.half, INSIDE * self.body.half[1]).polygon

    # -- segments --------------------------------------------------------------------------------------------------

    def _next(self, snapshot: Snapshot) -> Segment:
        """Reads the device and plans the next segment from where the robot is."""
        begin = self._beginning(snapshot)
        points, short = reached(begin.points, snapshot, self.levels, self.workspace.arm)
        begin = replace(begin, points=points)
        self.device.see(begin.points)
        self.stick = self.device.read(snapshot.time)
        goal = guided(begin.points, self.stick, self.workspace, self.legs, self.ground, self.discard)
        goal = replace(goal, notes=(*short, *goal.notes))
        return self._begin(self.planner.plan(begin, goal), snapshot.time)

    def _astray(self, elapsed: float) -> bool:
        """Whether physics contradicts the segment: to bring ξ back the ground had to push far outside of the soles."""
        segment = self.segment
        assert segment is not None
        step = segment.stepping if segment.outcome == "caught" else None  # which must land before all else
        first = AGAIN / self.body.omega if step is None else step.end
        return self.lacking > self.settings.astray * self.body.half[1] and elapsed > first

    def _begin(self, segment: Segment, time: float) -> Segment:
        self.segment, self.begun, self.lacking = segment, time, 0.0
        self.history.append(Done(time, self.stick, segment))
        self.outcomes[segment.outcome] += 1
        return segment

    def _beginning(self, snapshot: Snapshot) -> Beginning:
        """Where the robot is: its feet and its centre of mass as measured, hands and trunk as they were led."""
        c, v = snapshot.center_of_mass, snapshot.center_of_mass_velocity
        if self._seen is not None:  # what the reference is off by stays a shift of it: the command does not jump
            off, (c, v) = c, (self._seen.center, self._seen.velocity)
            self._stabilizer.shift = complex(off[0] - c[0], off[1] - c[1])
        if self.segment is None:
            last = Beginning.at_rest(standing(self.robot))
        else:
            last = self.segment.at(snapshot.time - self.begun)
        points = last.points
        feet = {foot.side: Footstep.of(snapshot, foot, points.feet[foot.side].yaw) for foot in self.robot.feet}
        center = np.array([c[0], c[1], points.center[2]])
        rates = Rates(
            np.array([v[0], v[1], last.rates.center[2]]), last.rates.attitude, last.rates.feet, last.rates.hands
        )
        return Beginning(points.replace(center=center, feet=feet), rates, last.repellent)
