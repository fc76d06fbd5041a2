"""Motion segment: motion of all navigation points from an initial state to a goal, with its phases and timing."""

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

Outcome = Literal["commanded", "recentered", "stopped", "capture step"]


@dataclass(frozen=True, eq=False)
class PointRates:
    """Rates of the navigation points at the start of a segment.

    Between segments all points but the center of mass are at rest.

    Args:
        center: velocity of the center of mass (CoM) (m/s, 3).
        attitude: rates of roll, pitch and yaw (rad/s, 3).
        feet: by side, rates of x, y, z and yaw (4); missing feet are at rest.
        hands: by side, rates of position and attitude (6); missing hands are at rest.
    """

    center: Array
    attitude: Array = field(default_factory=lambda: np.zeros(3))
    feet: Mapping[Side, Array] = field(default_factory=dict)
    hands: Mapping[Side, Array] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class InitialState:
    """Initial state of a segment, which contains all that the planner needs of the past.

    Args:
        points: navigation points.
        rates: their rates.
        repellent: repellent point u at the end of the last segment (m, 3).
    """

    points: NavigationPoints
    rates: PointRates
    repellent: Array

    @classmethod
    def at_rest(cls, points: NavigationPoints) -> InitialState:
        """Return the state at rest."""
        return cls(points, PointRates(np.zeros(3)), points.center)


@dataclass(frozen=True)
class SegmentPhase:
    """Phase of a segment.

    Args:
        begin, end: times since the start of the segment (s).
        swing: side of the foot in the air; None in double support.
    """

    begin: float
    end: float
    swing: Side | None = None

    @property
    def name(self) -> str:
        """Name of the phase in recordings."""
        return "double support" if self.swing is None else f"{other_side(self.swing)} support"


@dataclass(frozen=True, eq=False)
class SegmentSample:
    """Reference of all navigation points at one time, each with rate and acceleration.

    Attributes:
        center: CoM (m, 3).
        attitude: roll, pitch, yaw of the trunk (rad, 3).
        feet: by side, x, y, z and yaw of the sole (4).
        hands: by side, position and attitude in the body frame (6).
        phase: current phase.
    """

    center: CurveSample
    attitude: CurveSample
    feet: Mapping[Side, CurveSample]
    hands: Mapping[Side, CurveSample]
    phase: SegmentPhase


@dataclass(frozen=True, eq=False)
class MotionSegment:
    """Planned motion of all navigation points, with its margins.

    Attributes:
        initial, goal: initial state and goal.
        outcome: ``"commanded"``; ``"recentered"``: the feet stay and the body returns over their middle; ``"stopped"``:
            the body comes to rest at once; ``"capture step"``: a step that restores balance after a push.
        center: path of the CoM.
        phases: phases in order of time.
        corrections: number of extensions of its duration.
        margin: smallest distance of the zero moment point inside the support region, which is reduced by the margin of
            the soles (m); negative outside, see `SegmentMargins.zmp`.
        extension_margin, flexion_margin: smallest margins of the legs to full extension and to full flexion (m).
        notes: deviations from the command, one sentence each.
        curve: curve of stepping feet, ``"quintic"`` or ``"cycloid"``.
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
        """Duration T (s)."""
        return self.phases[-1].end

    @property
    def swing_phase(self) -> SegmentPhase | None:
        """The phase in which a foot is in the air."""
        return next((phase for phase in self.phases if phase.swing is not None), None)

    @cached_property
    def swing_curve(self) -> SwingCurve | None:
        """Curve of the foot that moves, if any."""
        side, phase = self.goal.step, self.swing_phase
        if side is None or phase is None:
            return None
        return swing_curve(self.initial, self.goal, phase, self.curve)

    @cached_property
    def attitude(self) -> QuinticCurve:
        """Curve of the trunk attitude (rad)."""
        initial = self.initial
        return QuinticCurve(
            initial.points.attitude, initial.rates.attitude, self.goal.points.attitude, 0.0, self.seconds
        )

    @cached_property
    def hands(self) -> Mapping[Side, QuinticCurve]:
        """Curves of the hands by side, in the body frame."""
        initial, curves = self.initial, {}
        for side, hand in initial.points.hands.items():
            goal = self.goal.points.hands[side]
            rate = initial.rates.hands.get(side, np.zeros(6))
            ends = [np.concatenate([point.position, point.attitude]) for point in (hand, goal)]
            curves[side] = QuinticCurve(ends[0], rate, ends[1], 0.0, self.seconds)
        return MappingProxyType(curves)

    def phase_at(self, time: float) -> SegmentPhase:
        """Return the phase at a time since the start of the segment (s)."""
        return next((phase for phase in self.phases if time < phase.end), self.phases[-1])

    def sample(self, time: float) -> SegmentSample:
        """Return the reference at a time since the start (s); after the end, that at the end."""
        swing, step = self.swing_curve, self.goal.step
        feet: dict[Side, CurveSample] = {}
        for side, foot in self.initial.points.feet.items():
            if swing is not None and side == step:
                feet[side] = swing.at(time)
            else:
                feet[side] = pose_vector(foot), np.zeros(4), np.zeros(4)
        hands = {side: curve.at(time) for side, curve in self.hands.items()}
        return SegmentSample(self.center.at(time), self.attitude.at(time), feet, hands, self.phase_at(time))

    def state_at(self, time: float) -> InitialState:
        """Return the state at a time (s), as the initial state of a segment that replaces this one from then on."""
        sample = self.sample(time)
        points = self.initial.points
        lifted, last = sample.phase.swing, points.last_moved
        if time >= self.seconds - 1e-9:
            lifted, last = self.goal.points.lifted, self.goal.points.last_moved
        feet = {
            side: Footstep(side, float(x[0]), float(x[1]), float(x[3]), float(x[2]))
            for side, (x, _, _) in sample.feet.items()
        }
        hands = {side: HandPoint(x[:3], x[3:]) for side, (x, _, _) in sample.hands.items()}
        p, v, a = sample.center
        attitude, attitude_rate, _ = sample.attitude
        new_points = NavigationPoints(p, attitude, MappingProxyType(feet), MappingProxyType(hands), lifted, last)
        rates = PointRates(
            v,
            attitude_rate,
            {side: rate for side, (_, rate, _) in sample.feet.items()},
            {side: rate for side, (_, rate, _) in sample.hands.items()},
        )
        return InitialState(new_points, rates, p - a / self.center.omega**2)

    @property
    def final_state(self) -> InitialState:
        """Initial state of the next segment."""
        return self.state_at(self.seconds)


def swing_curve(initial: InitialState, goal: Goal, phase: SegmentPhase, curve: str) -> SwingCurve:
    """Return the curve of the stepping foot from its current state to its goal in its swing phase."""
    side = goal.step
    assert side is not None
    start, end = initial.points.feet[side], goal.points.feet[side]
    rate = initial.rates.feet.get(side, np.zeros(4))
    seconds = phase.end - phase.begin
    return SwingCurve(pose_vector(start), rate, pose_vector(end), goal.lift, phase.begin, seconds, curve, goal.bulge)


# -- Settings --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class SegmentSettings:
    """Settings of the planner.

    Args:
        duration: default duration T₀ (s); zero: 3 / ω.
        longest: longest duration T_max (s).
        increment: extension ΔT of the duration per attempt (s).
        phases: fractions of a step in double support, in single support, and in double support again.
        lift_share: fraction of a segment in double support if it ends with a foot in the air (double support first), or
            if a lifted foot lands (double support last).
        compensate: whether the reference of u compensates the inertia of swing legs.
        curve: curve of stepping feet, ``"quintic"`` or ``"cycloid"``.
        relaxation: weights of the relaxed conditions.
    """

    duration: float = 0.0
    longest: float = 3.0
    increment: float = 0.1
    phases: tuple[float, float, float] = (0.24, 0.55, 0.21)
    lift_share: float = 0.4
    compensate: bool = True
    curve: str = "quintic"
    relaxation: RelaxationWeights = field(default_factory=RelaxationWeights)


# -- Division of a segment into phases -------------------------------------------------------------------------------


PhaseShares = tuple[tuple[float, ...], tuple[bool, ...]]


def phase_shares(initial: InitialState, goal: Goal, settings: SegmentSettings) -> PhaseShares:
    """Return the phases of a segment as fractions of its duration, and which of them are single supports."""
    lifted, end = initial.points.lifted, goal.points.lifted
    if goal.step is None or (lifted is not None and end is not None):
        return (1.0,), (lifted is not None,)
    if lifted is not None:
        return (1.0 - settings.lift_share, settings.lift_share), (True, False)
    if end is not None:
        return (settings.lift_share, 1.0 - settings.lift_share), (False, True)
    return settings.phases, (False, True, False)


def phase_durations(initial: InitialState, goal: Goal, T: float, settings: SegmentSettings) -> PhaseShares:
    """Return the durations of the phases (s) for a total duration T, and which of them are single supports."""
    parts, single = phase_shares(initial, goal, settings)
    return tuple(round(part * T, 9) for part in parts), single


def segment_phases(initial: InitialState, goal: Goal, T: float, settings: SegmentSettings) -> tuple[SegmentPhase, ...]:
    """Return the phases of a segment of duration T (s)."""
    seconds, single = phase_durations(initial, goal, T, settings)
    swing = goal.step if goal.step is not None else initial.points.lifted
    phases, time = [], 0.0
    for length, on_one_foot in zip(seconds, single, strict=True):
        phases.append(SegmentPhase(time, time + length, swing if on_one_foot else None))
        time += length
    return tuple(phases)


def stance_feet_by_phase(
    initial: InitialState, goal: Goal, phases: tuple[SegmentPhase, ...]
) -> list[tuple[Footstep, ...]]:
    """Return the feet on the ground in each phase: initial ones before a swing, those of the goal after it."""
    feet: list[tuple[Footstep, ...]] = []
    after_swing = False
    for phase in phases:
        if phase.swing is not None:
            feet.append((initial.points.feet[other_side(phase.swing)],))
            after_swing = True
        else:
            feet.append(goal.points.stance_feet if after_swing else initial.points.stance_feet)
    return feet


def ground_height(initial: InitialState, goal: Goal) -> float:
    """Return the height of the plane of the zero moment point (m): that of the foot that stays on the ground."""
    return initial.points.stance_feet[0].z if goal.step is None else initial.points.feet[other_side(goal.step)].z
