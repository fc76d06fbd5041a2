"""Recovery from a push: when a walk recovers, and how far the center of mass has to sink for long steps."""

from __future__ import annotations

import math

from poise.plans import LARGEST_EXTENSION, BodyDimensions, GaitPhase
from poise.robots import GRAVITY, side_sign

#: Largest drop of the center of mass, in leg lengths; and its largest downward and upward acceleration, as fractions of
#: gravity.
LARGEST_DROP, LARGEST_SINKING, LARGEST_BRAKING = 0.3, 0.6, 0.5
#: Rate of the critically damped return to the height of the walk, 1/s.
RISE_RATE = 6.0
#: Shortest time in which a drop is planned (s).
SHORTEST_TIME = 0.04


class HeightDrop:
    """Drop of the center of mass below its height in a walk, so that the legs reach the footsteps.

    Attributes:
        value, rate, acceleration: drop (m), its rate and acceleration, positive downwards.
    """

    def __init__(self, body: BodyDimensions) -> None:
        self.body = body
        self.value = self.rate = self.acceleration = 0.0

    def required(self, height: float, *leg_spans: float) -> float:
        """Return the drop (m) from a height of the center of mass (m) for horizontal spans from hip to foot (m)."""
        body = self.body
        longest = max(leg_spans)
        reach = LARGEST_EXTENSION * body.leg_length
        hip = math.sqrt(max(reach**2 - longest**2, 0.0))
        drop = height - (hip + body.com_height - body.hip_height)
        return min(max(drop, 0.0), LARGEST_DROP * body.leg_length)

    def advance(self, goal: float, remaining: float, period: float) -> None:
        """Advance by a period (s) towards a drop (m) that is needed in a time (s); infinite: without haste."""
        if math.isinf(remaining):
            self.acceleration = RISE_RATE * (RISE_RATE * (goal - self.value) - 2.0 * self.rate)
        else:
            T = max(remaining, SHORTEST_TIME)
            self.acceleration = 2.0 * (goal - self.value - self.rate * T) / T**2
        low, high = -LARGEST_BRAKING * GRAVITY, LARGEST_SINKING * GRAVITY
        self.acceleration = min(max(self.acceleration, low), high)
        self.rate += period * self.acceleration
        self.value += period * self.rate


def leg_spans(
    body: BodyDimensions, phase: GaitPhase, center: complex, velocity: complex, zmp: complex, omega: float, T: float
) -> tuple[float, float]:
    """Return the horizontal distances from the hips to the feet (m) at touchdown, in a time T (s), of a pendulum."""
    c = zmp + (center - zmp) * math.cosh(omega * T) + velocity / omega * math.sinh(omega * T)
    landing = phase.goal if phase.kind == "single" else phase.other_foot
    spans = [
        abs(foot.place - c - 0.5j * side_sign(foot.side) * body.stance_width * foot.heading)
        for foot in (phase.support, landing)
    ]
    return spans[0], spans[1]
