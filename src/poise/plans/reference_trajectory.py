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
from poise.plans.footstep_plan import STOP, Route
from poise.plans.footsteps import Footstep, Phase
from poise.robots import SIDES, Side

STILL = np.zeros(6)


class Wanted(NamedTuple):
    """What is wanted at one time, all seen from the middle of the reference sole, in its axes.

    Attributes:
        center, center_rate: of the centre of mass (m, m/s, 3).
        other, other_rate: reference_from_other, the other sole (its middle), and its rate: velocity (m/s) as seen from
            the reference sole, angular velocity relative to it (rad/s).
        share: of the weight that the reference sole bears, if all goes as planned.
    """

    center: Array
    center_rate: Array
    other: pinocchio.SE3
    other_rate: Array
    share: float = 0.5


class Course(Protocol):
    """Something with references over time; asking twice gives the same answer."""

    @property
    def seconds(self) -> float: ...

    def sample(self, time: float) -> Wanted: ...


class Standing:
    """Nothing moves: the first scenario of [Galdeano2014].

    Args:
        center: of mass, as seen from the reference sole (m).
        other: reference_from_other.
        seconds: how long.
    """

    def __init__(self, center: Array, other: pinocchio.SE3, seconds: float = 5.0) -> None:
        self.seconds = seconds
        self._wanted = Wanted(np.array(center), STILL[:3], other, STILL)

    def sample(self, time: float) -> Wanted:
        return self._wanted


class Squatting:
    """The centre of mass goes down and up like a cosine, in so many cycles: the second scenario.

    Args:
        center, other: as of `Standing`, at the top.
        depth: how far down (m).
        frequency: 1/s.
        cycles: how many, after `begin` seconds.
    """

    def __init__(
        self, center: Array, other: pinocchio.SE3, depth: float, frequency: float, cycles: float, begin: float = 0.0
    ) -> None:
        for name, value in (("depth", depth), ("frequency", frequency), ("cycles", cycles)):
            if not (isinstance(value, (int, float)) and 0.0 < value < math.inf):
                raise PoiseError(f"a squat's {name} is {value!r}; expected a positive number")
        self._top, self._other = np.array(center), other
        self.depth, self.frequency, self.cycles, self.begin = depth, frequency, cycles, begin
        self.seconds = begin + cycles / frequency

    def sample(self, time: float) -> Wanted:
        turns = self.frequency * (time - self.begin)
        if not 0.0 < turns < self.cycles:
            return Wanted(self._top, STILL[:3], self._other, STILL)
        angle, rate = math.tau * turns, math.tau * self.frequency
        down = np.array([0.0, 0.0, -0.5 * self.depth])
        return Wanted(self._top + (1.0 - math.cos(angle)) * down, rate * math.sin(angle) * down, self._other, STILL)


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

    >>> squats = SquatOscillator()
    >>> squats.advance(0.001, depth=0.05, frequency=0.5)
    """

    def __init__(self) -> None:
        self.rest()

    def rest(self) -> None:
        """Stand, at once."""
        self._deep = self._deepening = self._phase = self._turning = 0.0
        self.height = self.rate = self.acceleration = 0.0

    def advance(self, period: float, depth: float, frequency: float) -> None:
        """Advance by one period (s) towards a depth (m; zero: stand) and a frequency (1/s)."""
        wanted = math.tau * frequency
        if depth == 0.0 and self._deep < STANDING_DEPTH:
            return self.rest()
        if self._deep == 0.0:
            self._turning = wanted
        d2 = SQUAT_RATE**2 * (depth - self._deep) - 2.0 * SQUAT_RATE * self._deepening
        p2 = SQUAT_RATE * (wanted - self._turning)
        self._deepening += period * d2
        self._deep += period * self._deepening
        self._turning += period * p2
        self._phase = (self._phase + period * self._turning) % math.tau
        d, d1, p1, c, s = self._deep, self._deepening, self._turning, math.cos(self._phase), math.sin(self._phase)
        self.height = -0.5 * d * (1.0 - c)
        self.rate = -0.5 * (d1 * (1.0 - c) + d * p1 * s)
        self.acceleration = -0.5 * (d2 * (1.0 - c) + 2.0 * d1 * p1 * s + d * (p2 * s + p1**2 * c))


class LiveSquatting:
    """A squat whose depth and frequency change while it moves, for a body on position servos.

    Args:
        center: of mass, as seen from the reference sole, when it stands (m, 3).
        other: reference_from_other.
        squats: see there.

    >>> LiveSquatting(*standing(start), squats).sample(0.0).center_rate
    """

    seconds = math.inf

    def __init__(self, center: Array, other: pinocchio.SE3, squats: SquatOscillator) -> None:
        self._top, self._other, self._squats = np.array(center), other, squats

    def sample(self, time: float) -> Wanted:
        """The reference now; `SquatOscillator.advance` moves it on."""
        up = np.array([0.0, 0.0, 1.0])
        return Wanted(self._top + self._squats.height * up, self._squats.rate * up, self._other, STILL)


def eased(elapsed: float, seconds: float) -> tuple[float, float]:
    """From 0 to 1 with minimum jerk, and its rate (1/s)."""
    s, rate, _ = minimum_jerk(min(max(elapsed / seconds, 0.0), 1.0))
    return float(s), float(rate) / seconds


# -- Pattern ---------------------------------------------------------------------------------------------------------


#: Seconds between two samples of the centre of mass: its ω is below 10/s, and a straight line between them is off by
#: less than a micrometre.
GRID = 0.001
#: So long the walker stands afterwards (s).
AFTER = 1.5
#: Feet whose heights differ by less (m) stand on level ground.
LEVEL = 1e-3
#: In this share of a swing the foot goes ahead; it is lifted before and set down after it.
AHEAD = (0.05, 0.95)


class Pattern:
    """Walks a `Route` by the clock: feet on quintics, the centre of mass on the divergent component of the plan.

    What of it is standing, a step or a double support is nobody's business but the plan's: whoever follows it sees two
    curves without a gap.

    Args:
        route: what is walked.
        left, right: where the feet stand at first.
        height: of the centre of mass at first (m); it passes to that of the pace while the walk starts.
        reference: the foot from which all is seen.
        wait: seconds before it starts.
        start: seconds in which the weight first passes to one foot.
    """

    def __init__(
        self,
        route: Route,
        left: Footstep,
        right: Footstep,
        height: float,
        reference: Side = "left",
        wait: float = 0.5,
        start: float = 0.8,
    ) -> None:
        if not math.isfinite(route.steps):
            raise PoiseError("a pattern is of so many steps; give a route that ends")
        if route.slope or route.ground is not None or abs(left.z - right.z) > LEVEL:
            raise PoiseError("a pattern walks on level ground; give a route without slope or stairs")
        self.route, self.reference, self.other = route, reference, SIDES[1 - SIDES.index(reference)]
        self._tall = height, route.pace.height
        self._wait, self._start = wait, start
        self.phases = self._planned(left, right, wait, start)
        self._begins = [phase.begin for phase in self.phases]
        self.seconds = self.phases[-1].begin + AFTER
        self._center, self._rate, self._pressure = self._integrated()

    def _planned(self, left: Footstep, right: Footstep, wait: float, start: float) -> list[Phase]:
        """All phases, by the clock."""
        route, timing = self.route, self.route.pace.timing
        phase = Phase("standing", 0.0, wait, right, left, right)
        phases = [phase]
        if route.steps < 1:
            return phases
        stays, goes = phase.first_support((0.0, route.pace.gait.sideways, route.pace.gait.turn))
        phase = phase.starting(wait, start, stays, goes)
        phases.append(phase)
        while phase.steps < route.steps:
            goal = route.footstep(phase.support, phase.steps + 1)
            phase = phase.single(phase.begin + phase.seconds, timing.single, goal)
            phases.append(phase)
            last = phase.steps + 1 >= route.steps
            end = phase.begin + phase.seconds
            phase = phase.landed(end, STOP if last else timing.double, goal, "stopping" if last else "double")
            phases.append(phase)
        phases.append(phase.rest(phase.begin + phase.seconds))
        return phases

    def _integrated(self) -> tuple[Array, Array, Array]:
        """Centre of mass over the ground (x + i y), its velocity, and the pressure, on the grid: ``ċ = ω (ξ - c)``."""
        omega, count = self.route.pace.omega, int(self.seconds / GRID) + 2
        xi, z = np.array([self.route.reference(*self._at(GRID * i)) for i in range(count)]).T
        center = np.empty(count, dtype=complex)
        center[0] = xi[0]
        keep = math.exp(-omega * GRID)
        for i in range(1, count):
            center[i] = keep * center[i - 1] + (1.0 - keep) * 0.5 * (xi[i] + xi[i - 1])
        return center, omega * (xi - center), z

    def phase(self, time: float) -> Phase:
        """What the plan does at a time."""
        return self.phases[max(bisect.bisect_right(self._begins, time + 1e-9) - 1, 0)]

    def _at(self, time: float) -> tuple[Phase, float]:
        phase = self.phase(time)
        return phase, time - phase.begin

    # -- what is wanted --------------------------------------------------------------------------------------------

    def sample(self, time: float) -> Wanted:
        place, velocity = self.center(time)
        feet = {side: self.foot(side, time) for side in SIDES}
        (p, yaw), (v, turning) = feet[self.reference]
        (q, other_yaw), (w, other_turning) = feet[self.other]
        R = so3.yaw_matrix(-yaw)  # reference_from_world

        def seen(x: Array, rate: Array) -> tuple[Array, Array]:
            away = x - p
            swept = np.array([-turning * away[1], turning * away[0], 0.0])
            return R @ away, R @ (rate - v - swept)

        center, center_rate = seen(place, velocity)
        foot, foot_rate = seen(q, w)
        spin = [0.0, 0.0, other_turning - turning]
        rates = np.concatenate([foot_rate, spin])
        return Wanted(
            center, center_rate, pinocchio.SE3(so3.yaw_matrix(other_yaw - yaw), foot), rates, self._share(time)
        )

    def _share(self, time: float) -> float:
        """Of the weight on the reference foot: how near the pressure is to it."""
        phase = self.phase(time)
        stands = phase.support.side == self.reference
        if phase.kind == "single":
            return 1.0 if stands else 0.0
        mine, other = (phase.support, phase.last) if stands else (phase.last, phase.support)
        way = other.place - mine.place
        gone = ((self._pressure[self._index(time)[0]] - mine.place) * way.conjugate()).real / abs(way) ** 2
        return 1.0 - min(max(gone, 0.0), 1.0)

    def _index(self, time: float) -> tuple[int, float]:
        """Which sample of the grid comes before a time, and how far it is to the next, from 0 to 1."""
        at = min(max(time / GRID, 0.0), len(self._center) - 1.001)
        return int(at), at - int(at)

    def center(self, time: float) -> tuple[Array, Array]:
        """Centre of mass in the world and its velocity (m, m/s, 3)."""
        i, share = self._index(time)
        c = (1.0 - share) * self._center[i] + share * self._center[i + 1]
        v = (1.0 - share) * self._rate[i] + share * self._rate[i + 1]
        low, high = self._tall
        grown, growing = eased(time - self._wait, self._start)
        z = self.phases[0].support.z + low + grown * (high - low)
        return np.array([c.real, c.imag, z]), np.array([v.real, v.imag, growing * (high - low)])

    def foot(self, side: Side, time: float) -> tuple[tuple[Array, float], tuple[Array, float]]:
        """Middle of a sole in the world (m) and its yaw (rad), and the rates of both."""
        phase, elapsed = self._at(time)
        if phase.kind != "single" or side == phase.support.side:
            foot = phase.support if side == phase.support.side else phase.last
            return (np.array([foot.x, foot.y, foot.z]), foot.yaw), (np.zeros(3), 0.0)
        begin, goal, seconds = phase.last, phase.goal, phase.seconds
        early, late = (share * seconds for share in AHEAD)
        s, rate = eased(elapsed - early, late - early)
        u = min(max(elapsed / seconds, 0.0), 1.0)
        # 64 u³ (1 - u)³ is 1 in the middle, and begins and ends without speed and without jerk in the knee.
        lift, lifting = 64.0 * (u * (1.0 - u)) ** 3, 192.0 * (u * (1.0 - u)) ** 2 * (1.0 - 2.0 * u) / seconds
        high = self.route.pace.lift
        way = np.array([goal.x - begin.x, goal.y - begin.y, goal.z - begin.z])
        turn = goal.yaw - begin.yaw
        place = np.array([begin.x, begin.y, begin.z]) + s * way + np.array([0.0, 0.0, lift * high])
        return (place, begin.yaw + s * turn), (rate * way + np.array([0.0, 0.0, lifting * high]), rate * turn)
