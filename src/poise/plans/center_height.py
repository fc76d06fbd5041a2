"""Height of the center of mass (CoM) over nearly straight legs, and its oscillation in each step.

A leg whose knee is flexed by κ reaches from hip to ankle over ``l cos(κ / 2)``, with l the straight leg (equal thigh
and shank). With the ankle at height a, and x ahead of the hip, the hip is at ``a + sqrt(l² cos²(κ / 2) - x²)``: highest
when the body passes over the stance foot, lowest when the other foot lands. The CoM follows both heights of the hip, on
a sinusoid with the period of a step.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from poise.plans.footsteps import LEAST_REPLAN_TIME, CurvePoint, GaitPhase, quintic_point
from poise.robots import GRAVITY

if TYPE_CHECKING:
    from poise.plans.gait_parameters import BodyDimensions, StepTiming

#: Flexion of the knee (rad) of the leg that lands and of the leg that leaves the ground, if the stance knee is
#: straighter: the first has a reserve in length, the second has begun to swing.
LANDING_FLEXION, LEAVING_FLEXION = 0.25, 0.5
#: Additional flexion of the leg that leaves the ground from a flat foot (rad).
FLAT_FLEXION = 0.15
#: Largest vertical acceleration of the oscillation, as a fraction of gravity: faster steps oscillate less.
LARGEST_BOUNCE = 0.15
#: Smallest height of the hips as a fraction of the reach of a leg.
LOWEST_HIP = 0.7
#: Seconds in which the oscillation begins and ends.
BOUNCE_TRANSITION = 0.3


def hip_height_over(body: BodyDimensions, ahead: float, flexion: float, rise: float = 0.0) -> float:
    """Return the height of the hips (m) for an ankle `ahead` of the hip (m), with a flexion of the knee (rad).

    Args:
        rise: height of the ankle above its height on a flat foot (m).
    """
    reach = (body.leg_length - body.ankle_height) * math.cos(0.5 * flexion)
    return body.ankle_height + rise + math.sqrt(max(reach**2 - ahead**2, (LOWEST_HIP * reach) ** 2))


def walking_heights(
    body: BodyDimensions,
    flexion: float,
    forward: float,
    lateral: float,
    step_seconds: float,
    double_share: float,
    front_rise: float,
    rear_rise: float,
    share: float,
) -> tuple[float, float]:
    """Return the mean height of the hips in a walk and the amplitude of its oscillation (m).

    Args:
        body: dimensions of the robot.
        flexion: flexion of the knee in mid-stance (rad).
        forward, lateral: distances of the feet at landing (m).
        step_seconds: duration of a step (s).
        double_share: fraction of it in double support.
        front_rise: height of the ankle of a foot that lands on its heel, above that of a flat foot (m).
        rear_rise: rise of the ankle of the rear foot until it leaves the ground (m).
        share: share of a full roll of the feet. Without it, the height is constant and the leg that leaves more bent.
    """
    offset = body.hip_offset - body.ankle_offset  # of hip from ankle while the CoM is over the middle of the sole
    # The CoM is midway between the feet in the middle of double support.
    near, far = (0.5 * (1.0 + sign * double_share) * abs(forward) for sign in (-1.0, 1.0))
    landing, leaving = max(flexion, LANDING_FLEXION), max(flexion, LEAVING_FLEXION + (1.0 - share) * FLAT_FLEXION)
    offset = offset if forward >= 0.0 else -offset
    low = min(
        hip_height_over(body, math.hypot(ahead, 0.5 * lateral), bent, height)
        for ahead, bent, height in (
            (far - offset, landing, front_rise),
            (near + offset, landing, 0.0),
            (far + offset, leaving, rear_rise),
        )
    )
    high = max(hip_height_over(body, offset, flexion), low)
    amplitude = min(0.5 * (high - low), LARGEST_BOUNCE * GRAVITY * (step_seconds / math.tau) ** 2)
    return low + share * amplitude, share * amplitude


@dataclass(frozen=True)
class HeightOscillation:
    """Current point of the oscillation of the CoM about its mean height, replanned at every tick like a swing.

    Attributes:
        point: displacement (m), its rate and acceleration.
    """

    point: CurvePoint = (0j, 0j, 0j)

    def advance(
        self, phase: GaitPhase, elapsed: float, amplitude: float, timing: StepTiming, period: float
    ) -> HeightOscillation:
        """Return the oscillation one period later.

        It is highest in the middle of single support and lowest in the middle of double support.

        Args:
            phase: current gait phase.
            elapsed: seconds since its begin.
            amplitude: amplitude (m).
            timing: durations of a step (s).
            period: sampling period (s).
        """
        before = elapsed < 0.5 * phase.seconds
        remaining, height = BOUNCE_TRANSITION, 0.0
        if phase.kind == "single":
            height = amplitude if before else -amplitude
            remaining = (
                0.5 * phase.seconds - elapsed if before else phase.seconds - elapsed + 0.5 * timing.double_support
            )
        elif phase.kind == "double":
            height = -amplitude if before else amplitude
            remaining = (
                0.5 * phase.seconds - elapsed if before else phase.seconds - elapsed + 0.5 * timing.single_support
            )
        if remaining < LEAST_REPLAN_TIME:  # over the top, with the present acceleration
            value, rate, bend = self.point
            return HeightOscillation((value + period * (rate + 0.5 * period * bend), rate + period * bend, bend))
        bend = -height * (math.tau / timing.step) ** 2
        return HeightOscillation(quintic_point(self.point, (height, 0.0, bend), remaining, period))
