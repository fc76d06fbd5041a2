"""Step adaptation: place and time of the next footstep after a disturbance (after Khadiv et al. 2016).

`StepAdapter.adapt` moves the next footstep of a phase, and its touchdown time, such that the divergent component of
motion (DCM) ξ ends at its planned offset from the new footstep. Points are complex numbers x + i y (m).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from poise.arrays import Array
from poise.plans.footstep_plan import FootstepPlan
from poise.plans.footsteps import GaitPhase, SwingTrajectory
from poise.plans.gait_parameters import BodyDimensions, dcm_in_double_support
from poise.plans.support_region import StanceSoles
from poise.robots import side_sign

#: Peaks of the acceleration (per d / T²) and speed (per d / T) of a swing over a distance d in a time T, for a quintic.
PEAK_ACCELERATION, PEAK_SPEED = 5.77, 1.875
#: Share of the acceleration of a hip that a swing may need: the rest is for tracking and for the other joints.
SWING_SHARE = 0.8
#: Share of the way v T that a foot with the speed v goes while it comes to rest in a time T.
STOPPING_SHARE = 0.45


#: One complex number per time.
ComplexArray = NDArray[np.complex128]


@dataclass(frozen=True)
class SwingReach:
    """Where a swing foot can land: in a rectangle that grows with the time that is left.

    Points are relative to the support foot and in its axes, as x + i y (m).

    Args:
        place, velocity: position (m) and velocity (m/s) of the foot.
        acceleration: largest acceleration ahead + i sideways (m/s²).
        speed: largest speed (m/s).
    """

    place: complex
    velocity: complex
    acceleration: complex
    speed: float

    @classmethod
    def of(cls, body: BodyDimensions, place: complex, velocity: complex = 0j) -> SwingReach:
        """Return the reach of a foot of a robot."""
        return cls(place, velocity, SWING_SHARE * complex(*body.swing_acceleration), body.swing_speed)

    def rectangle(self, seconds: Array) -> tuple[ComplexArray, ComplexArray]:
        """Return the middle and the half size, as complex numbers, of the reachable rectangle for each time (s)."""
        middle: ComplexArray = self.place + STOPPING_SHARE * self.velocity * seconds.astype(np.complex128)
        furthest = self.speed * seconds / PEAK_SPEED
        square = seconds**2 / PEAK_ACCELERATION
        x, y = (np.minimum(limit * square, furthest) for limit in (self.acceleration.real, self.acceleration.imag))
        return middle, x + 1j * y


@dataclass(frozen=True)
class StepLimits:
    """Limits of a step.

    Args:
        forward: largest distance ahead of and behind the support foot (m).
        narrowest, widest: lateral distance between the middles of the feet (m).
        soonest, latest: time from now until touchdown (s).
        reach: where the swing foot can land in that time; None: anywhere.
    """

    forward: float
    narrowest: float
    widest: float
    soonest: float
    latest: float
    reach: SwingReach | None = None

    def nearest(self, steps: ComplexArray, seconds: Array, outward: float) -> tuple[Array, Array]:
        """Return x and y of the allowed steps nearest to the given ones (m), one per time until touchdown (s)."""
        x, y = steps.real, steps.imag
        if self.reach is not None:
            middle, half = self.reach.rectangle(seconds)
            x = np.minimum(np.maximum(x, middle.real - half.real), middle.real + half.real)
            y = np.minimum(np.maximum(y, middle.imag - half.imag), middle.imag + half.imag)
        x = np.minimum(np.maximum(x, -self.forward), self.forward)
        return x, np.minimum(np.maximum(outward * y, self.narrowest), self.widest) * outward


#: Weights of the change of the step position (1/m²), of the change of e^{ωT} (touchdown time), and of the error of the
#: final DCM offset (1/m²).
PLACE_WEIGHT, TIME_WEIGHT, END_WEIGHT = 1.0, 0.02, 1000.0
#: Number of touchdown times that are tried.
TIME_SAMPLES = 33


def adapt_step(
    xi: complex,
    zmp: complex,
    nominal_step: complex,
    offset: complex,
    remaining: float,
    omega: float,
    limits: StepLimits,
    outward: float,
) -> tuple[complex, float]:
    """Return place (m) and time to touchdown (s) of the next step, near the planned ones, that keep ξ bounded.

    All points are relative to the support foot and in its axes, as x + i y. After the remaining time T, ξ is at
    ``z + (ξ - z) e^{ωT}``, which must equal ``u + b``, with u the step and b the offset of ξ from it::

        minimize  PLACE_WEIGHT |u - u*|² + TIME_WEIGHT (e^{ωT} - e^{ωT*})² + END_WEIGHT |b - b*|²

    within the limits, over `TIME_SAMPLES` values of T.

    Args:
        xi, zmp: ξ and the zero moment point (ZMP) z, which is assumed constant (m).
        nominal_step, offset: planned u* and b* (m).
        remaining: planned T* (s).
        omega: ω (1/s).
        limits: limits of place and time.
        outward: +1 if the left foot steps, -1 if the right foot does.
    """
    place, seconds, _ = _best_step(xi, zmp, nominal_step, offset, remaining, omega, limits, outward)
    return place, seconds


def _best_step(
    xi: complex,
    zmp: complex,
    nominal_step: complex,
    offset: complex,
    remaining: float,
    omega: float,
    limits: StepLimits,
    outward: float,
) -> tuple[complex, float, float]:
    """Return place (m) and time (s) of `adapt_step`, and the distance by which ξ misses its offset from it (m)."""
    soonest, latest = min(limits.soonest, remaining + 1.0), max(limits.latest, limits.soonest)
    times = np.linspace(soonest, latest, TIME_SAMPLES)
    growth = np.exp(omega * times)
    dcm_at_touchdown = zmp + growth * (xi - zmp)  # one per time
    best = (PLACE_WEIGHT * nominal_step + END_WEIGHT * (dcm_at_touchdown - offset)) / (PLACE_WEIGHT + END_WEIGHT)
    x, y = limits.nearest(best, times, outward)
    exact_step = dcm_at_touchdown - offset
    cost = PLACE_WEIGHT * ((x - nominal_step.real) ** 2 + (y - nominal_step.imag) ** 2) + END_WEIGHT * (
        (exact_step.real - x) ** 2 + (exact_step.imag - y) ** 2
    )
    cost += TIME_WEIGHT * (growth - math.exp(omega * remaining)) ** 2
    i = int(cost.argmin())
    place = complex(x[i], y[i])
    return place, float(times[i]), abs(complex(exact_step[i]) - place)


# -- Adaptation in one phase -----------------------------------------------------------------------------------------


#: Range of the ZMP that the ankle uses before a step is moved, as a fraction of half the sole: a step changes only for
#: disturbances beyond it.
ANKLE_SHARE = 0.6
#: Limits of steps as fractions of the leg length: distance ahead, and width beyond that of standing.
LONGEST_STEP, WIDEST_STEP = 0.65, 0.7
#: Shortest duration of a swing (s, for a leg of 0.8 m), and largest delay of a touchdown (s).
SHORTEST_SWING, LONGEST_DELAY = 0.2, 0.15
#: Longest single support of a capture step, s for a leg of 0.8 m.
CAPTURE_TIME = 0.25
#: Seconds before touchdown in which the goal is no longer moved, and time constant (s) with which it moves before that.
FREEZE_TIME, SMOOTHING_TIME = 0.05, 0.02
#: Difference of the distances (m) by which the DCM misses the capture steps of two feet that counts as none, in leg
#: lengths: then the foot farther from ξ steps, which bears less weight.
SAME_MISS = 0.02


def capture_phase(
    plan: FootstepPlan, body: BodyDimensions, phase: GaitPhase, time: float, xi: complex, adapt: bool = True
) -> GaitPhase:
    """Return the single support of a capture step: the foot swings whose step catches ξ best.

    Args:
        plan: footstep plan, which ends with this step.
        body: dimensions of the robot.
        phase: current phase, with both feet on the ground.
        time: current time (s).
        xi: measured ξ in the world (m).
        adapt: whether the step may differ from the planned one; if not, the foot farther from ξ steps.
    """
    candidates = []
    far_first = sorted((phase.support, phase.other_foot), key=lambda foot: -abs(foot.place - xi))
    for swing, support in (far_first, far_first[::-1]):
        planned = plan.footstep(support, phase.steps + 1)
        single = replace(phase, support=support, other_foot=swing).single_support_phase(
            time, CAPTURE_TIME * math.sqrt(body.leg_length / 0.8), planned
        )
        if not adapt:
            return single
        place, seconds, miss = StepAdapter(body, single, 0.0).capture(plan, single, xi)
        goal = plan.on_ground(support, planned.with_place(place))
        candidates.append((miss, replace(single, goal=goal, seconds=seconds)))
    (far_miss, far_phase), (near_miss, near_phase) = candidates
    return far_phase if far_miss <= near_miss + SAME_MISS * body.leg_length else near_phase


class StepAdapter:
    """Step adaptation for one phase.

    Args:
        body: dimensions of the robot.
        phase: current phase, whose feet on the ground do not move.
        feedback: gain k of the DCM feedback, 1/s.
    """

    def __init__(self, body: BodyDimensions, phase: GaitPhase, feedback: float) -> None:
        self.body, self.feedback = body, feedback
        self.soles = StanceSoles(body, phase)
        self.half = 0.5 * complex(*body.sole_size)
        self.limits = StepLimits(
            LONGEST_STEP * body.leg_length,
            max(body.least_step_width, 0.6 * body.stance_width),
            WIDEST_STEP * body.leg_length + body.stance_width,
            0.0,
            0.0,
        )
        self.time_scale = np.sqrt(body.leg_length / 0.8)

    def capture(self, plan: FootstepPlan, phase: GaitPhase, xi: complex) -> tuple[complex, float, float]:
        """Return place in the world (m) and duration (s) of a capture step, and by how much ξ misses it (m).

        The ankle holds the ZMP at the point of the sole that slows ξ down most.
        """
        support, planned, number = phase.support, phase.goal, phase.steps + 1
        axes = support.heading
        relative_dcm = (xi - support.place) * axes.conjugate()
        ankle = ANKLE_SHARE * self.half
        zmp = complex(
            min(max(relative_dcm.real, -ankle.real), ankle.real), min(max(relative_dcm.imag, -ankle.imag), ankle.imag)
        )
        step = (planned.place - support.place) * axes.conjugate()
        offset = (plan.dcm_at_end(support, planned, number) - planned.place) * axes.conjugate()
        soonest = SHORTEST_SWING * self.time_scale
        reach = SwingReach.of(self.body, (phase.other_foot.place - support.place) * axes.conjugate())
        limits = replace(self.limits, soonest=soonest, latest=max(phase.seconds, soonest), reach=reach)
        outward = side_sign(planned.side)
        place, seconds, miss = _best_step(
            relative_dcm, zmp, step, offset, phase.seconds, plan.gait.omega, limits, outward
        )
        return support.place + place * axes, seconds, miss

    def adapt(
        self,
        plan: FootstepPlan,
        phase: GaitPhase,
        time: float,
        xi: complex,
        period: float,
        swing: SwingTrajectory | None = None,
        delay: float = 0.0,
    ) -> GaitPhase:
        """Return the phase with an adapted next footstep and duration.

        Args:
            plan: footstep plan.
            phase: current single support.
            time: current time (s).
            xi: measured ξ in the world (m).
            period: sampling period (s).
            swing: trajectory of the swing foot; None: it can reach every place in time.
            delay: time by which the foot lands later than planned (s).
        """
        elapsed = phase.elapsed(time)
        remaining = phase.seconds - elapsed
        if remaining < FREEZE_TIME or elapsed < 2.0 * period:
            return phase
        support, gait, number = phase.support, plan.gait, phase.steps + 1
        axes = support.heading
        planned = plan.footstep(support, number)
        end = plan.dcm_at_end(support, planned, number)
        planned_dcm = dcm_in_double_support(*gait.roll.points(support), end, remaining, phase.seconds, gait.omega)[0]
        # The constant ZMP that leads from the planned ξ to its end in the same time as the one that rolls.
        growth = math.exp(gait.omega * remaining)
        mean_zmp = ((planned_dcm * growth - end) / (growth - 1.0) - support.place) * axes.conjugate()
        zmp_offset = (xi - planned_dcm) * axes.conjugate() * (1.0 + self.feedback / gait.omega)
        ankle = ANKLE_SHARE * self.half
        zmp = mean_zmp + complex(
            min(max(zmp_offset.real, -ankle.real), ankle.real), min(max(zmp_offset.imag, -ankle.imag), ankle.imag)
        )
        step = (planned.place - support.place) * axes.conjugate()
        offset = (end - planned.place) * axes.conjugate()
        nominal = max(gait.timing.single_support - elapsed, 0.02)
        soonest = max(FREEZE_TIME, SHORTEST_SWING * self.time_scale - elapsed)
        reach = None
        if swing is not None:
            (place, velocity, _) = swing.plane
            reach = SwingReach.of(self.body, (place - support.place) * axes.conjugate(), velocity * axes.conjugate())
        limits = replace(self.limits, soonest=soonest, latest=max(nominal + LONGEST_DELAY, 0.1), reach=reach)
        outward = side_sign(planned.side)
        relative_dcm = zmp + ((xi - support.place) * axes.conjugate() - zmp) * math.exp(gait.omega * delay)
        place, seconds = adapt_step(relative_dcm, zmp, step, offset, nominal, gait.omega, limits, outward)
        share = min(period / SMOOTHING_TIME, 1.0)
        new_place = phase.goal.place + share * (support.place + place * axes - phase.goal.place)
        goal = plan.on_ground(support, planned.with_place(new_place))
        return replace(phase, goal=goal, seconds=phase.seconds + share * (elapsed + seconds - phase.seconds))
