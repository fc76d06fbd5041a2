"""Recovery from a push: when a walk recovers, and what changes in its steps and in the height of its center of mass."""

from __future__ import annotations

import math
from dataclasses import replace

from poise.plans import LARGEST_EXTENSION, BodyDimensions, FootstepPlan, GaitParameters, GaitPhase, StanceSoles
from poise.robots import GRAVITY, side_sign

#: Distance of the commanded zero moment point (ZMP) from the soles at which a recovery begins, in leg lengths.
BEGIN_EXCESS = 0.1
#: Such a distance that counts as calm, in leg lengths, and its duration (s) after which a recovery ends. All durations
#: here refer to a leg of 0.8 m.
CALM_EXCESS, CALM_TIME = 0.02, 0.15
#: Lateral distance of the feet, relative to that of standing, from which soles may have to tip at the end of the range
#: of the ankles: then the recovery goes on.
WIDE_STANCE = 2.0
#: Planned and longest double support (s): the weight passes to the next foot at once, unless both feet hold it better.
DOUBLE_SUPPORT, LONGEST_DOUBLE_SUPPORT = 0.03, 0.4
#: Time by which a foot lands later than planned (s), and depth below the ground to which it moves, in leg lengths: it
#: lags behind its trajectory.
LANDING_DELAY, LANDING_DEPTH = 0.025, 0.03
#: Largest drop of the center of mass, in leg lengths; and its largest acceleration downwards and upwards, as fractions
#: of gravity.
LARGEST_DROP, LARGEST_SINKING, LARGEST_BRAKING = 0.3, 0.6, 0.5
#: Rate of the critically damped return to the height of the walk, 1/s, and the drop that remains at its end (m).
RISE_RATE, LEAST_DROP = 6.0, 1e-4
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

    @property
    def load(self) -> float:
        """Vertical force on the feet relative to the weight."""
        return 1.0 - self.acceleration / GRAVITY

    def required(self, height: float, *leg_spans: float) -> float:
        """Return the drop (m) from a height of the center of mass (m) for horizontal spans from hip to foot (m)."""
        body = self.body
        reach = LARGEST_EXTENSION * body.leg_length
        hip = math.sqrt(max(reach**2 - max(leg_spans) ** 2, 0.0))
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


class Recovery:
    """State of a recovery from a push.

    It begins when the commanded ZMP is far outside of the soles, or with a capture step, and ends when it has been
    inside for a while. Meanwhile steps are wide, low and quick.

    Args:
        body: dimensions of the robot.

    Attributes:
        active: whether the robot recovers.
        drop: drop of the center of mass.
    """

    def __init__(self, body: BodyDimensions) -> None:
        self.body = body
        self.active = False
        self.drop = HeightDrop(body)
        self._time_scale = math.sqrt(body.leg_length / 0.8)
        self._calm_since = -math.inf

    def begin(self, time: float) -> None:
        """Begin a recovery at a time (s), or continue it."""
        self.active, self._calm_since = True, time

    def update(self, phase: GaitPhase, time: float, excess: float) -> None:
        """Begin or end a recovery.

        Args:
            phase: current phase.
            time: current time (s).
            excess: distance of the commanded ZMP from the soles (m).
        """
        excess /= self.body.leg_length
        if excess > BEGIN_EXCESS:
            self.begin(time)
        if not self.active:
            return
        apart = (phase.other_foot.place - phase.support.place) * phase.support.heading.conjugate()
        wide = phase.kind != "single" and abs(apart.imag) > WIDE_STANCE * self.body.stance_width
        if excess > CALM_EXCESS or wide or phase.kind == "double":
            self._calm_since = time
        elif time - self._calm_since > CALM_TIME * self._time_scale:
            self.active = False

    # -- steps -----------------------------------------------------------------------------------------------------

    def gait(self, gait: GaitParameters) -> GaitParameters:
        """Return the gait parameters: in a recovery, with a short double support."""
        if not self.active:
            return gait
        double = min(DOUBLE_SUPPORT * self._time_scale, gait.timing.double_support)
        return replace(gait, timing=replace(gait.timing, double_support=double))

    @property
    def landing_delay(self) -> float:
        """Time by which the swing foot lands later than planned (s)."""
        return LANDING_DELAY * self._time_scale if self.active else 0.0

    @property
    def landing_depth(self) -> float:
        """Depth below the ground to which the swing foot moves (m)."""
        return LANDING_DEPTH * self.body.leg_length if self.active else 0.0

    def stays_on_both_feet(
        self, plan: FootstepPlan, phase: GaitPhase, time: float, xi: complex, margin: float, feedback: float
    ) -> bool:
        """Return whether ξ is between the feet, but too far from the next support foot to stand on it alone.

        Args:
            plan: footstep plan.
            phase: current double support.
            time: current time (s).
            xi: measured divergent component of motion (DCM) ξ (m).
            margin: its distance from the edge of the support region (m).
            feedback: gain k of the DCM feedback, 1/s.
        """
        if not self.active or phase.elapsed(time) > LONGEST_DOUBLE_SUPPORT * self._time_scale or margin <= 0.0:
            return False
        wanted = plan.dcm_at_begin(phase.support, phase.steps + 1)
        error = (xi - wanted) * (1.0 + feedback / plan.gait.omega)
        z = phase.support.place + error
        outside = abs(z - StanceSoles(self.body, replace(phase, kind="single")).project(z))
        toward_other = (error * (phase.other_foot.place - phase.support.place).conjugate()).real > 0.0
        return toward_other and outside > CALM_EXCESS * self.body.leg_length

    # -- height ----------------------------------------------------------------------------------------------------

    def update_drop(
        self,
        phase: GaitPhase,
        time: float,
        height: float,
        center: tuple[complex, complex],
        zmp: complex,
        omega: float,
        period: float,
    ) -> None:
        """Advance the drop of the center of mass by a period.

        Args:
            phase: current phase.
            time: current time (s).
            height: height of the center of mass above the ground without the drop (m).
            center: its horizontal position (m) and velocity (m/s).
            zmp: commanded ZMP (m).
            omega: ω (1/s).
            period: sampling period (s).
        """
        if not (self.active or self.drop.value > LEAST_DROP):
            return
        if not self.active:
            self.drop.advance(0.0, math.inf, period)
            return
        swinging = phase.kind == "single"
        remaining = max(phase.seconds - phase.elapsed(time), 0.0) if swinging else 0.0
        goal = self.drop.required(height, *leg_spans(self.body, phase, *center, zmp, omega, remaining))
        self.drop.advance(goal, remaining if swinging else math.inf, period)


def leg_spans(
    body: BodyDimensions, phase: GaitPhase, center: complex, velocity: complex, zmp: complex, omega: float, after: float
) -> tuple[float, float]:
    """Return the horizontal distances from the hips to the feet (m) of a pendulum after some time (s)."""
    c = zmp + (center - zmp) * math.cosh(omega * after) + velocity / omega * math.sinh(omega * after)
    landing = phase.goal if phase.kind == "single" else phase.other_foot
    spans = [
        abs(foot.place - c - 0.5j * side_sign(foot.side) * body.stance_width * foot.heading)
        for foot in (phase.support, landing)
    ]
    return spans[0], spans[1]
