"""Reference trajectories of the center of mass (CoM) and the feet: standing, squatting, and a walk planned in advance.

A `ReferenceTrajectory` returns a `TrajectorySample` for a time. Positions are relative to the sole of one foot, the
reference sole, so that a robot without a measured position in the world can follow them.
"""

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
    """Reference at one time, relative to the middle of the reference sole and in its axes.

    Attributes:
        center, center_rate: position and velocity of the CoM (m, m/s, 3).
        other_sole, other_sole_rate: pose reference_from_other of the middle of the other sole, and its rate: velocity
            (m/s) as seen from the reference sole, angular velocity relative to it (rad/s).
        load_share: planned fraction of the weight on the reference sole.
    """

    center: Array
    center_rate: Array
    other_sole: pinocchio.SE3
    other_sole_rate: Array
    load_share: float = 0.5


class ReferenceTrajectory(Protocol):
    """Reference as a function of time (s), with a duration `seconds`."""

    @property
    def seconds(self) -> float: ...

    def sample(self, time: float) -> TrajectorySample: ...


class StandReference:
    """Constant reference of a standing robot: the first scenario of [Galdeano2014].

    Args:
        center: CoM in the frame of the reference sole (m, 3).
        other_sole: pose reference_from_other of the other sole.
        seconds: duration (s).
    """

    def __init__(self, center: Array, other_sole: pinocchio.SE3, seconds: float = 5.0) -> None:
        self.seconds = seconds
        self._sample = TrajectorySample(np.array(center), ZERO_TWIST[:3], other_sole, ZERO_TWIST)

    def sample(self, time: float) -> TrajectorySample:
        return self._sample


class SquatReference:
    """Squats with a cosine height of the CoM: the second scenario of [Galdeano2014].

    Args:
        center, other_sole: as in `StandReference`, at the top of the squat.
        depth: vertical travel of the CoM (m).
        frequency: cycles per second (1/s).
        cycles: number of cycles.
        begin: seconds before the first cycle.

    Raises:
        PoiseError: if depth, frequency or cycles is not a positive number.
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


#: Rate k (1/s) at which depth and frequency of a squat change: 95 % of a change is applied within a second.
SQUAT_RATE = 5.0
#: Depth (m) below which an ending squat counts as standing: too small to be seen.
STANDING_DEPTH = 1e-4


class SquatOscillator:
    """Height of the CoM in a squat relative to standing, a cosine whose depth and frequency may change::

        h = -d (1 - cos φ) / 2        d̈ = k² (d* - d) - 2 k ḋ        φ̈ = k (ω* - φ̇)

    with d* the commanded depth and ω* the commanded angular frequency. Both change smoothly, so that ḣ is continuous:
    servos cannot follow a jump.

    Attributes:
        height, rate, acceleration: current h (m) and its derivatives (m/s, m/s²).

    >>> oscillator = SquatOscillator()
    >>> oscillator.advance(0.001, depth=0.05, frequency=0.5)
    """

    def __init__(self) -> None:
        self.rest()

    def rest(self) -> None:
        """Reset to standing, without a transition."""
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
    """Reference of a squat whose depth and frequency change while it runs, for a robot with position servos.

    Args:
        center: CoM of the standing robot in the frame of the reference sole (m, 3).
        other_sole: pose reference_from_other of the other sole.
        oscillator: height of the squat; the caller advances it.

    >>> LiveSquatReference(*standing(start), oscillator).sample(0.0).center_rate
    """

    seconds = math.inf

    def __init__(self, center: Array, other_sole: pinocchio.SE3, oscillator: SquatOscillator) -> None:
        self._top, self._other, self._oscillator = np.array(center), other_sole, oscillator

    def sample(self, time: float) -> TrajectorySample:
        """Return the current reference, whatever the time; `SquatOscillator.advance` moves it on."""
        up = np.array([0.0, 0.0, 1.0])
        return TrajectorySample(
            self._top + self._oscillator.height * up, self._oscillator.rate * up, self._other, ZERO_TWIST
        )


def minimum_jerk_step(elapsed: float, seconds: float) -> tuple[float, float]:
    """Return value and rate (1/s) of a minimum-jerk curve from 0 to 1 in `seconds`, `elapsed` s after its start."""
    s, rate, _ = minimum_jerk(min(max(elapsed / seconds, 0.0), 1.0))
    return float(s), float(rate) / seconds


# -- Walking pattern -------------------------------------------------------------------------------------------------


#: Seconds between two samples of the CoM. Its ω is below 10/s, so that linear interpolation is exact to less than a
#: micrometer.
SAMPLE_PERIOD = 0.001
#: Seconds of standing after the last step.
SECONDS_AFTER = 1.5
#: Largest height difference of the feet (m) that counts as level ground.
LEVEL_TOLERANCE = 1e-3
#: Interval of a swing, as fractions of it, in which the foot moves horizontally; before and after it only moves
#: vertically.
ADVANCE_INTERVAL = (0.05, 0.95)


class WalkingPattern:
    """Walking pattern computed in advance from a `FootstepPlan`, with phases at fixed times.

    The feet move on quintics, and the CoM follows the divergent component of motion (DCM) of the plan. Both are
    continuous over standing, single and double support, so that a follower need not know the phases.

    Args:
        plan: footstep plan on level ground with a finite number of steps.
        left, right: initial footsteps.
        height: initial height of the CoM above the ground (m); it changes to that of the gait while the walk starts.
        reference: side of the reference sole.
        wait: seconds of standing before the walk starts.
        start: seconds in which the weight shifts to the first support foot, after `wait`.

    Raises:
        PoiseError: if the plan has no end, or the ground is not level.
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
            raise PoiseError("a walking pattern needs a finite number of steps; the footstep plan has no end")
        if plan.slope or plan.ground is not None or abs(left.z - right.z) > LEVEL_TOLERANCE:
            raise PoiseError("a walking pattern needs level ground; give a footstep plan without slope or stairs")
        self.footstep_plan, self.reference, self.other = plan, reference, SIDES[1 - SIDES.index(reference)]
        self._heights = height, plan.gait.com_height
        self._wait, self._start = wait, start
        self.phases = self._plan_phases(left, right, wait, start)
        self._begins = [phase.begin for phase in self.phases]
        self.seconds = self.phases[-1].begin + SECONDS_AFTER
        self._center, self._rate, self._zmp = self._integrate_center()

    def _plan_phases(self, left: Footstep, right: Footstep, wait: float, start: float) -> list[GaitPhase]:
        """Return all phases with their times."""
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
        """Integrate ``ċ = ω (ξ - c)``; return the CoM (x + i y), its velocity and the zero moment point per sample."""
        omega, count = self.footstep_plan.gait.omega, int(self.seconds / SAMPLE_PERIOD) + 2
        xi, z = np.array([self.footstep_plan.dcm_reference(*self._phase_at(SAMPLE_PERIOD * i)) for i in range(count)]).T
        center = np.empty(count, dtype=complex)
        center[0] = xi[0]
        decay = math.exp(-omega * SAMPLE_PERIOD)
        for i in range(1, count):
            center[i] = decay * center[i - 1] + (1.0 - decay) * 0.5 * (xi[i] + xi[i - 1])
        return center, omega * (xi - center), z

    def phase(self, time: float) -> GaitPhase:
        """Return the phase at a time (s)."""
        return self.phases[max(bisect.bisect_right(self._begins, time + 1e-9) - 1, 0)]

    def _phase_at(self, time: float) -> tuple[GaitPhase, float]:
        phase = self.phase(time)
        return phase, time - phase.begin

    # -- reference -------------------------------------------------------------------------------------------------

    def sample(self, time: float) -> TrajectorySample:
        place, velocity = self.center(time)
        feet = {side: self.foot(side, time) for side in SIDES}
        (p, yaw), (v, yaw_rate) = feet[self.reference]
        (q, other_yaw), (w, other_yaw_rate) = feet[self.other]
        R = so3.yaw_matrix(-yaw)  # reference_from_world

        def in_reference_sole(x: Array, rate: Array) -> tuple[Array, Array]:
            offset = x - p
            rotation_velocity = np.array([-yaw_rate * offset[1], yaw_rate * offset[0], 0.0])
            return R @ offset, R @ (rate - v - rotation_velocity)

        center, center_rate = in_reference_sole(place, velocity)
        foot, foot_rate = in_reference_sole(q, w)
        rates = np.concatenate([foot_rate, [0.0, 0.0, other_yaw_rate - yaw_rate]])
        return TrajectorySample(
            center, center_rate, pinocchio.SE3(so3.yaw_matrix(other_yaw - yaw), foot), rates, self._load_share(time)
        )

    def _load_share(self, time: float) -> float:
        """Return the fraction of the weight on the reference foot, from the place of the ZMP between the feet."""
        phase = self.phase(time)
        on_reference = phase.support.side == self.reference
        if phase.kind == "single":
            return 1.0 if on_reference else 0.0
        reference_foot, other_sole = (
            (phase.support, phase.other_foot) if on_reference else (phase.other_foot, phase.support)
        )
        between = other_sole.place - reference_foot.place
        zmp = self._zmp[self._index(time)[0]] - reference_foot.place
        distance_share = (zmp * between.conjugate()).real / abs(between) ** 2
        return 1.0 - min(max(distance_share, 0.0), 1.0)

    def _index(self, time: float) -> tuple[int, float]:
        """Return the index of the sample before a time, and the fraction of the way to the next, from 0 to 1."""
        index = min(max(time / SAMPLE_PERIOD, 0.0), len(self._center) - 1.001)
        return int(index), index - int(index)

    def center(self, time: float) -> tuple[Array, Array]:
        """Return position and velocity of the CoM in the world (m, m/s, 3)."""
        i, share = self._index(time)
        c = (1.0 - share) * self._center[i] + share * self._center[i + 1]
        v = (1.0 - share) * self._rate[i] + share * self._rate[i + 1]
        low, high = self._heights
        height_share, height_rate = minimum_jerk_step(time - self._wait, self._start)
        z = self.phases[0].support.z + low + height_share * (high - low)
        return np.array([c.real, c.imag, z]), np.array([v.real, v.imag, height_rate * (high - low)])

    def foot(self, side: Side, time: float) -> tuple[tuple[Array, float], tuple[Array, float]]:
        """Return the middle of a sole in the world (m) and its yaw (rad), and the rates of both (m/s, rad/s)."""
        phase, elapsed = self._phase_at(time)
        if phase.kind != "single" or side == phase.support.side:
            foot = phase.support if side == phase.support.side else phase.other_foot
            return (np.array([foot.x, foot.y, foot.z]), foot.yaw), (np.zeros(3), 0.0)
        begin, goal, seconds = phase.other_foot, phase.goal, phase.seconds
        early, late = (share * seconds for share in ADVANCE_INTERVAL)
        s, rate = minimum_jerk_step(elapsed - early, late - early)
        u = min(max(elapsed / seconds, 0.0), 1.0)
        # 64 u³ (1 - u)³ is 1 in the middle, with zero speed and acceleration at both ends: no jerk in the knee.
        lift, lift_rate = 64.0 * (u * (1.0 - u)) ** 3, 192.0 * (u * (1.0 - u)) ** 2 * (1.0 - 2.0 * u) / seconds
        up = np.array([0.0, 0.0, self.footstep_plan.gait.step_height])
        displacement, turn = goal.position - begin.position, goal.yaw - begin.yaw
        position = begin.position + s * displacement + lift * up
        return (position, begin.yaw + s * turn), (rate * displacement + lift_rate * up, rate * turn)
