"""Motion segment: the motion of all navigation points from a beginning to a goal, its phases and its timing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import Literal

import numpy as np

from poise.arrays import Array
from poise.plans.footsteps import Footstep
from poise.plans.guidance.navigation_points import Goal, HandPoint, NavigationPoints
from poise.plans.segment.center_path import CenterPath, RelaxationWeights
from poise.plans.segment.limb_curves import CurveSample, QuinticCurve, SwingCurve, pose_vector
from poise.robots import Side, other_side

Outcome = Literal["commanded", "kept", "held", "caught"]


@dataclass(frozen=True, eq=False)
class PointRates:
    """How fast the navigation points move where a segment begins; between segments all but the centre rest.

    Args:
        center: of the centre of mass (m/s, 3).
        attitude: of roll, pitch and yaw (rad/s, 3).
        feet: by side, of x, y, z and yaw (4); a foot that is not named rests.
        hands: by side, of position and attitude (6); likewise.
    """

    center: Array
    attitude: Array = field(default_factory=lambda: np.zeros(3))
    feet: Mapping[Side, Array] = field(default_factory=dict)
    hands: Mapping[Side, Array] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class InitialState:
    """The state that a segment starts from; nothing else of the past matters.

    Args:
        points: the navigation points.
        rates: of them.
        repellent: u where the last segment ended (m, 3).
    """

    points: NavigationPoints
    rates: PointRates
    repellent: Array

    @classmethod
    def at_rest(cls, points: NavigationPoints) -> InitialState:
        """Standing still."""
        return cls(points, PointRates(np.zeros(3)), points.center)


@dataclass(frozen=True)
class SegmentPhase:
    """A part of a segment.

    Args:
        begin, end: in seconds of the segment.
        swing: the foot in the air; None on both feet.
    """

    begin: float
    end: float
    swing: Side | None = None

    @property
    def name(self) -> str:
        """For recordings."""
        return "double support" if self.swing is None else f"{other_side(self.swing)} support"


@dataclass(frozen=True, eq=False)
class SegmentSample:
    """Where everything is to be at one time.

    Attributes:
        center: of mass (m, 3), with rate and acceleration, as are all others.
        attitude: roll, pitch, yaw of the trunk (rad, 3).
        feet: by side, x, y, z and yaw of the sole (4).
        hands: by side, position and attitude in the body frame (6).
        phase: that it is in.
    """

    center: CurveSample
    attitude: CurveSample
    feet: Mapping[Side, CurveSample]
    hands: Mapping[Side, CurveSample]
    phase: SegmentPhase


@dataclass(frozen=True, eq=False)
class MotionSegment:
    """A motion that was found to be possible.

    Attributes:
        initial, goal: what it joins.
        outcome: ``"commanded"``; ``"kept"``, where the feet stay and the body goes back over their middle;
            ``"held"``, where it comes to rest at once; or ``"caught"``, a quick step after a push.
        center: how the centre of mass moves.
        phases: in order of time.
        corrections: how often its duration was prolonged.
        margin: how far inside the (shrunken) support the zero moment point stays at worst (m); negative: it does not.
        extension_margin, flexion_margin: how far the legs are from being stretched and folded, at worst (m).
        notes: what was not done as commanded, in words.
        curve: of stepping feet.
    """

    initial: InitialState
    goal: Goal
    outcome: Outcome
    center: CenterPath
    phases: tuple[SegmentPhase, ...]
    corrections: int
    margin: float
    extension_margin: float
    flexion_margin: float
    notes: tuple[str, ...] = ()
    curve: str = "quintic"

    @property
    def seconds(self) -> float:
        """Its duration T."""
        return self.phases[-1].end

    @property
    def swing_phase(self) -> SegmentPhase | None:
        """The phase in which a foot is in the air."""
        return next((phase for phase in self.phases if phase.swing is not None), None)

    @cached_property
    def swing_curve(self) -> SwingCurve | None:
        """How the foot that moves goes."""
        side, phase = self.goal.step, self.swing_phase
        if side is None or phase is None:
            return None
        return swing_curve(self.initial, self.goal, phase, self.curve)

    @cached_property
    def attitude(self) -> QuinticCurve:
        """How the trunk turns."""
        initial = self.initial
        return QuinticCurve(
            initial.points.attitude, initial.rates.attitude, self.goal.points.attitude, 0.0, self.seconds
        )

    @cached_property
    def hands(self) -> Mapping[Side, QuinticCurve]:
        """How the hands go, seen from the body."""
        initial, found = self.initial, {}
        for side, hand in initial.points.hands.items():
            goal = self.goal.points.hands[side]
            rate = initial.rates.hands.get(side, np.zeros(6))
            ends = [np.concatenate([point.position, point.attitude]) for point in (hand, goal)]
            found[side] = QuinticCurve(ends[0], rate, ends[1], 0.0, self.seconds)
        return MappingProxyType(found)

    def phase_at(self, time: float) -> SegmentPhase:
        """The phase at a time of the segment (s)."""
        return next((phase for phase in self.phases if time < phase.end), self.phases[-1])

    def sample(self, time: float) -> SegmentSample:
        """Where everything is to be; beyond its end, as at its end."""
        swing_course, step = self.swing_curve, self.goal.step
        feet: dict[Side, CurveSample] = {}
        for side, foot in self.initial.points.feet.items():
            if swing_course is not None and side == step:
                feet[side] = swing_course.at(time)
            else:
                feet[side] = pose_vector(foot), np.zeros(4), np.zeros(4)
        hands = {side: swing_course.at(time) for side, swing_course in self.hands.items()}
        return SegmentSample(self.center.at(time), self.attitude.at(time), feet, hands, self.phase_at(time))

    def state_at(self, time: float) -> InitialState:
        """The beginning of a segment that replaces this one from a time on (s)."""
        now = self.sample(time)
        points = self.initial.points
        lifted, last = now.phase.swing, points.last_moved
        if time >= self.seconds - 1e-9:
            lifted, last = self.goal.points.lifted, self.goal.points.last_moved
        feet = {
            side: Footstep(side, float(x[0]), float(x[1]), float(x[3]), float(x[2]))
            for side, (x, _, _) in now.feet.items()
        }
        hands = {side: HandPoint(x[:3], x[3:]) for side, (x, _, _) in now.hands.items()}
        p, v, a = now.center
        end_points = NavigationPoints(p, now.attitude[0], MappingProxyType(feet), MappingProxyType(hands), lifted, last)
        rates = PointRates(
            v,
            now.attitude[1],
            {side: rate for side, (_, rate, _) in now.feet.items()},
            {side: rate for side, (_, rate, _) in now.hands.items()},
        )
        return InitialState(end_points, rates, p - a / self.center.omega**2)

    @property
    def final_state(self) -> InitialState:
        """The beginning of the next one."""
        return self.state_at(self.seconds)


def swing_curve(initial: InitialState, goal: Goal, phase: SegmentPhase, curve: str) -> SwingCurve:
    """How the foot that steps goes from its place to its goal while it is in the air."""
    side = goal.step
    assert side is not None
    start, end = initial.points.feet[side], goal.points.feet[side]
    rate = initial.rates.feet.get(side, np.zeros(4))
    seconds = phase.end - phase.begin
    return SwingCurve(pose_vector(start), rate, pose_vector(end), goal.lift, phase.begin, seconds, curve, goal.bulge)


# -- How segments are planned ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class SegmentSettings:
    """How segments are planned.

    Args:
        duration: T₀ (s); zero: 3 / ω.
        longest: T_max (s).
        increment: ΔT (s).
        phases: shares of a step on two feet, on one, and on two again.
        lift_share: share of two feet where a foot is lifted to stay in the air; landing is the reverse.
        compensate: whether u makes up for swinging legs.
        curve: of stepping feet, ``"quintic"`` or ``"cycloid"``.
        relaxation: of what is relaxed.
    """

    duration: float = 0.0
    longest: float = 3.0
    increment: float = 0.1
    phases: tuple[float, float, float] = (0.24, 0.55, 0.21)
    lift_share: float = 0.4
    compensate: bool = True
    curve: str = "quintic"
    relaxation: RelaxationWeights = field(default_factory=RelaxationWeights)


# -- How the duration of a segment is divided ------------------------------------------------------------------------


PhaseShares = tuple[tuple[float, ...], tuple[bool, ...]]


def phase_shares(initial: InitialState, goal: Goal, settings: SegmentSettings) -> PhaseShares:
    """Shares of a duration, and which of them are on one foot."""
    lifted, end = initial.points.lifted, goal.points.lifted
    if goal.step is None or (lifted is not None and end is not None):
        return (1.0,), (lifted is not None,)
    if lifted is not None:
        return (1.0 - settings.lift_share, settings.lift_share), (True, False)
    if end is not None:
        return (settings.lift_share, 1.0 - settings.lift_share), (False, True)
    return settings.phases, (False, True, False)


def phase_durations(initial: InitialState, goal: Goal, T: float, settings: SegmentSettings) -> PhaseShares:
    """The same in seconds of a duration T."""
    parts, single = phase_shares(initial, goal, settings)
    return tuple(round(part * T, 9) for part in parts), single


def segment_phases(initial: InitialState, goal: Goal, T: float, settings: SegmentSettings) -> tuple[SegmentPhase, ...]:
    """The phases of a segment of duration T."""
    seconds, single = phase_durations(initial, goal, T, settings)
    swing = goal.step if goal.step is not None else initial.points.lifted
    found, time = [], 0.0
    for length, on_one_foot in zip(seconds, single, strict=True):
        found.append(SegmentPhase(time, time + length, swing if on_one_foot else None))
        time += length
    return tuple(found)


def stance_feet_by_phase(
    initial: InitialState, goal: Goal, segment_phases: tuple[SegmentPhase, ...]
) -> list[tuple[Footstep, ...]]:
    """The feet on the ground in each phase: before a swing as they stand, after it as they will."""
    found: list[tuple[Footstep, ...]] = []
    landed = False
    for phase in segment_phases:
        if phase.swing is not None:
            found.append((initial.points.feet[other_side(phase.swing)],))
            landed = True
        else:
            found.append(goal.points.stance_feet if landed else initial.points.stance_feet)
    return found


def ground_height(initial: InitialState, goal: Goal) -> float:
    """The height at which zero moment points are meant: that of the foot that stands throughout (m)."""
    return initial.points.stance_feet[0].z if goal.step is None else initial.points.feet[other_side(goal.step)].z
