"""Reference trajectories of centre of mass and feet over time: standing, squatting, and a walk planned in advance."""

from __future__ import annotations

import bisect
import math
from typing import NamedTuple, Protocol

import numpy as np
import pinocchio

from poise.arrays import Array
from poise.errors import PoiseError
from poise.geometry import minimum_jerk, so3
from poise.plans.footstep_plan import STOPPING_TIME, FootstepPlan
from poise.plans.footsteps import Footstep, GaitPhase
from poise.robots import SIDES, Side

ZERO_TWIST = np.zeros(6)


class TrajectorySample(NamedTuple):
    """What is wanted at one time, all seen from the middle of the reference sole, in its axes.

    Attributes:
        center, center_rate: of the centre of mass (m, m/s, 3).
        other_sole, other_sole_rate: reference_from_other, the other sole (its middle), and its rate: velocity (m/s) as
            seen from the reference sole, angular velocity relative to it (rad/s).
        load_share: of the weight that the reference sole bears, if all goes as planned.
    """

    center: Array
    center_rate: Array
    other_sole: pinocchio.SE3
    other_sole_rate: Array
    load_share: float = 0.5


class ReferenceTrajectory(Protocol):
    """Something with references over time; asking twice gives the same answer."""

    @property
    def seconds(self) -> float: ...

    def sample(self, time: float) -> TrajectorySample: ...


class StandReference:
    """Nothing moves: the first scenario of [Galdeano2014].

    Args:
        center: of mass, as seen from the reference sole (m).
        other_sole: reference_from_other.
        seconds: how long.
    """

    def __init__(self, center: Array, other_sole: pinocchio.SE3, seconds: float = 5.0) -> None:
        self.seconds = seconds
        self._sample = TrajectorySample(np.array(center), ZERO_TWIST[:3], other_sole, ZERO_TWIST)

    def sample(self, time: float) -> TrajectorySample:
        return self._sample


class SquatReference:
    """The centre of mass goes down and up like a cosine, in so many cycles: the second scenario.

    Args:
        center, other_sole: as of `StandReference`, at the top.
        depth: how far down (m).
        frequency: 1/s.
        cycles: how many, after `begin` seconds.
    """

    def __init__(
        self,
        center: Array,
        other_sole: pinocchio.SE3,
        depth: float,
        frequency: float,
        cycles: float,
        begin: float = 0.0,
    ) -> None:
        for name, value in (("depth", depth), ("frequency", frequency), ("cycles", cycles)):
            if not (isinstance(value, (int, float)) and 0.0 < value < math.inf):
                raise PoiseError(f"a squat's {name} is {value!r}; expected a positive number")
        self._top, self._other = np.array(center), other_sole
        self.depth, self.frequency, self.cycles, self.begin = depth, frequency, cycles, begin
        self.seconds = begin + cycles / frequency

    def sample(self, time: float) -> TrajectorySample:
        cycles_done = self.frequency * (time - self.begin)
        if not 0.0 < cycles_done < self.cycles:
            return TrajectorySample(self._top, ZERO_TWIST[:3], self._other, ZERO_TWIST)
        angle, rate = math.tau * cycles_done, math.tau * self.frequency
        down = np.array([0.0, 0.0, -0.5 * self.depth])
        return TrajectorySample(
            self._top + (1.0 - math.cos(angle)) * down, rate * math.sin(angle) * down, self._other, ZERO_TWIST
        )


#: k (1/s): a change of a squat is applied to 95 % within a second.
SQUAT_RATE = 5.0
#: A squat that ends is over below this depth (m): less than what anybody sees.
STANDING_DEPTH = 1e-4


class SquatOscillator:
    """Height of a squatting centre of mass below where it stands, a cosine whose depth and frequency may change::

        h = -d (1 - cos φ) / 2        d̈ = k² (d* - d) - 2 k ḋ        φ̈ = k (ω* - φ̇)

    with d* the wanted depth and ω* the wanted frequency. Both come so smoothly that ḣ never jumps: servos could not
    follow that.

    Attributes:
        height, rate, acceleration: h (m) and its derivatives, now.

    >>> oscillator = SquatOscillator()
    >>> oscillator.advance(0.001, depth=0.05, frequency=0.5)
    """

    def __init__(self) -> None:
        self.rest()

    def rest(self) -> None:
        """Stand, at once."""
        self._depth = self._depth_rate = self._phase = self._phase_rate = 0.0
        self.height = self.rate = self.acceleration = 0.0

    def advance(self, period: float, depth: float, frequency: float) -> None:
        """Advance by one period (s) towards a depth (m; zero: stand) and a frequency (1/s)."""
        target_rate = math.tau * frequency
        if depth == 0.0 and self._depth < STANDING_DEPTH:
            return self.rest()
        if self._depth == 0.0:
            self._phase_rate = target_rate
        d2 = SQUAT_RATE**2 * (depth - self._depth) - 2.0 * SQUAT_RATE * self._depth_rate
        p2 = SQUAT_RATE * (target_rate - self._phase_rate)
        self._depth_rate += period * d2
        self._depth += period * self._depth_rate
        self._phase_rate += period * p2
        self._phase = (self._phase + period * self._phase_rate) % math.tau
        d, d1, p1, c, s = self._depth, self._depth_rate, self._phase_rate, math.cos(self._phase), math.sin(self._phase)
        self.height = -0.5 * d * (1.0 - c)
        self.rate = -0.5 * (d1 * (1.0 - c) + d * p1 * s)
        self.acceleration = -0.5 * (d2 * (1.0 - c) + 2.0 * d1 * p1 * s + d * (p2 * s + p1**2 * c))


class LiveSquatReference:
    """A squat whose depth and frequency change while it moves, for a body on position servos.

    Args:
        center: of mass, as seen from the reference sole, when it stands (m, 3).
        other_sole: reference_from_other.
        oscillator: see there.

    >>> LiveSquatReference(*standing(start), oscillator).sample(0.0).center_rate
    """

    seconds = math.inf

    def __init__(self, center: Array, other_sole: pinocchio.SE3, oscillator: SquatOscillator) -> None:
        self._top, self._other, self._oscillator = np.array(center), other_sole, oscillator

    def sample(self, time: float) -> TrajectorySample:
        """The reference now; `SquatOscillator.advance` moves it on."""
        up = np.array([0.0, 0.0, 1.0])
        return TrajectorySample(
            self._top + self._oscillator.height * up, self._oscillator.rate * up, self._other, ZERO_TWIST
        )


def minimum_jerk_step(elapsed: float, seconds: float) -> tuple[float, float]:
    """From 0 to 1 with minimum jerk, and its rate (1/s)."""
    s, rate, _ = minimum_jerk(min(max(elapsed / seconds, 0.0), 1.0))
    return float(s), float(rate) / seconds


# -- Walking pattern -------------------------------------------------------------------------------------------------


#: Seconds between two samples of the centre of mass: its ω is below 10/s, and a straight line between them is off by
#: less than a micrometre.
SAMPLE_PERIOD = 0.001
#: So long the walker stands afterwards (s).
SECONDS_AFTER = 1.5
#: Feet whose heights differ by less (m) stand on level ground.
LEVEL_TOLERANCE = 1e-3
#: In this share of a swing the foot goes ahead; it is lifted before and set down after it.
ADVANCE_INTERVAL = (0.05, 0.95)


class WalkingPattern:
    """Walks a `FootstepPlan` by the clock: feet on quintics, the centre of mass on the divergent component of the plan.

    What of it is standing, a step or a double support is nobody's business but the plan's: whoever follows it sees two
    curves without a gap.

    Args:
        plan: what is walked.
        left, right: where the feet stand at first.
        height: of the centre of mass at first (m); it passes to that of the pace while the walk starts.
        reference: the foot from which all is seen.
        wait: seconds before it starts.
        start: seconds in which the weight first passes to one foot.
    """

    def __init__(
        self,
        plan: FootstepPlan,
        left: Footstep,
        right: Footstep,
        height: float,
        reference: Side = "left",
        wait: float = 0.5,
        start: float = 0.8,
    ) -> None:
        if not math.isfinite(plan.steps):
            raise PoiseError("a pattern is of so many steps; give a route that ends")
        if plan.slope or plan.ground is not None or abs(left.z - right.z) > LEVEL_TOLERANCE:
            raise PoiseError("a pattern walks on level ground; give a route without slope or stairs")
        self.footstep_plan, self.reference, self.other = plan, reference, SIDES[1 - SIDES.index(reference)]
        self._heights = height, plan.gait.com_height
        self._wait, self._start = wait, start
        self.phases = self._plan_phases(left, right, wait, start)
        self._begins = [phase.begin for phase in self.phases]
        self.seconds = self.phases[-1].begin + SECONDS_AFTER
        self._center, self._rate, self._zmp = self._integrate_center()

    def _plan_phases(self, left: Footstep, right: Footstep, wait: float, start: float) -> list[GaitPhase]:
        """All phases, by the clock."""
        plan, timing = self.footstep_plan, self.footstep_plan.gait.timing
        phase = GaitPhase("standing", 0.0, wait, right, left, right)
        phases = [phase]
        if plan.steps < 1:
            return phases
        support_foot, swing_foot = phase.first_support_feet(
            (0.0, plan.gait.step_geometry.sideways, plan.gait.step_geometry.turn)
        )
        phase = phase.starting_phase(wait, start, support_foot, swing_foot)
        phases.append(phase)
        while phase.steps < plan.steps:
            goal = plan.footstep(phase.support, phase.steps + 1)
            phase = phase.single_support_phase(phase.begin + phase.seconds, timing.single_support, goal)
            phases.append(phase)
            last = phase.steps + 1 >= plan.steps
            end = phase.begin + phase.seconds
            phase = phase.touchdown_phase(
                end, STOPPING_TIME if last else timing.double_support, goal, "stopping" if last else "double"
            )
            phases.append(phase)
        phases.append(phase.standing_phase(phase.begin + phase.seconds))
        return phases

    def _integrate_center(self) -> tuple[Array, Array, Array]:
        """Centre of mass over the ground (x + i y), its velocity, and the pressure, on the grid: ``ċ = ω (ξ - c)``."""
        omega, count = self.footstep_plan.gait.omega, int(self.seconds / SAMPLE_PERIOD) + 2
        xi, z = np.array([self.footstep_plan.dcm_reference(*self._phase_at(SAMPLE_PERIOD * i)) for i in range(count)]).T
        center = np.empty(count, dtype=complex)
        center[0] = xi[0]
        decay = math.exp(-omega * SAMPLE_PERIOD)
        for i in range(1, count):
            center[i] = decay * center[i - 1] + (1.0 - decay) * 0.5 * (xi[i] + xi[i - 1])
        return center, omega * (xi - center), z

    def phase(self, time: float) -> GaitPhase:
        """What the plan does at a time."""
        return self.phases[max(bisect.bisect_right(self._begins, time + 1e-9) - 1, 0)]

    def _phase_at(self, time: float) -> tuple[GaitPhase, float]:
        phase = self.phase(time)
        return phase, time - phase.begin

    # -- what is wanted --------------------------------------------------------------------------------------------

    def sample(self, time: float) -> TrajectorySample:
        place, velocity = self.center(time)
        feet = {side: self.foot(side, time) for side in SIDES}
        (p, yaw), (v, turning) = feet[self.reference]
        (q, other_yaw), (w, other_turning) = feet[self.other]
        R = so3.yaw_matrix(-yaw)  # reference_from_world

        def in_reference_sole(x: Array, rate: Array) -> tuple[Array, Array]:
            offset = x - p
            swept_velocity = np.array([-turning * offset[1], turning * offset[0], 0.0])
            return R @ offset, R @ (rate - v - swept_velocity)

        center, center_rate = in_reference_sole(place, velocity)
        foot, foot_rate = in_reference_sole(q, w)
        spin = [0.0, 0.0, other_turning - turning]
        rates = np.concatenate([foot_rate, spin])
        return TrajectorySample(
            center, center_rate, pinocchio.SE3(so3.yaw_matrix(other_yaw - yaw), foot), rates, self._load_share(time)
        )

    def _load_share(self, time: float) -> float:
        """Of the weight on the reference foot: how near the pressure is to it."""
        phase = self.phase(time)
        on_reference = phase.support.side == self.reference
        if phase.kind == "single":
            return 1.0 if on_reference else 0.0
        reference_foot, other_sole = (
            (phase.support, phase.other_foot) if on_reference else (phase.other_foot, phase.support)
        )
        way = other_sole.place - reference_foot.place
        distance_share = ((self._zmp[self._index(time)[0]] - reference_foot.place) * way.conjugate()).real / abs(
            way
        ) ** 2
        return 1.0 - min(max(distance_share, 0.0), 1.0)

    def _index(self, time: float) -> tuple[int, float]:
        """Which sample of the grid comes before a time, and how far it is to the next, from 0 to 1."""
        at = min(max(time / SAMPLE_PERIOD, 0.0), len(self._center) - 1.001)
        return int(at), at - int(at)

    def center(self, time: float) -> tuple[Array, Array]:
        """Centre of mass in the world and its velocity (m, m/s, 3)."""
        i, share = self._index(time)
        c = (1.0 - share) * self._center[i] + share * self._center[i + 1]
        v = (1.0 - share) * self._rate[i] + share * self._rate[i + 1]
        low, high = self._heights
        height_share, height_rate = minimum_jerk_step(time - self._wait, self._start)
        z = self.phases[0].support.z + low + height_share * (high - low)
        return np.array([c.real, c.imag, z]), np.array([v.real, v.imag, height_rate * (high - low)])

    def foot(self, side: Side, time: float) -> tuple[tuple[Array, float], tuple[Array, float]]:
        """Middle of a sole in the world (m) and its yaw (rad), and the rates of both."""
        phase, elapsed = self._phase_at(time)
        if phase.kind != "single" or side == phase.support.side:
            foot = phase.support if side == phase.support.side else phase.other_foot
            return (np.array([foot.x, foot.y, foot.z]), foot.yaw), (np.zeros(3), 0.0)
        begin, goal, seconds = phase.other_foot, phase.goal, phase.seconds
        early, late = (share * seconds for share in ADVANCE_INTERVAL)
        s, rate = minimum_jerk_step(elapsed - early, late - early)
        u = min(max(elapsed / seconds, 0.0), 1.0)
        # 64 u³ (1 - u)³ is 1 in the middle, and begins and ends without speed and without jerk in the knee.
        lift, lifting = 64.0 * (u * (1.0 - u)) ** 3, 192.0 * (u * (1.0 - u)) ** 2 * (1.0 - 2.0 * u) / seconds
        high = self.footstep_plan.gait.step_height
        way = np.array([goal.x - begin.x, goal.y - begin.y, goal.z - begin.z])
        turn = goal.yaw - begin.yaw
        place = np.array([begin.x, begin.y, begin.z]) + s * way + np.array([0.0, 0.0, lift * high])
        return (place, begin.yaw + s * turn), (rate * way + np.array([0.0, 0.0, lifting * high]), rate * turn)
