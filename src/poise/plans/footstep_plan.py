"""Footstep plan, and reference laws that command the center of mass (CoM) over its footsteps.

`FootstepPlan` gives the next footsteps and the reference of the divergent component of motion (DCM) ``ξ = c + ċ / ω``
(see `poise.plans.gait_parameters`). `DcmReference` and `SinusoidReference` turn the plan and the measured state into a
commanded zero moment point (ZMP). Points of the ground plane are complex numbers x + i y in the world frame (m).
"""

from __future__ import annotations

import cmath
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from poise.geometry import minimum_jerk
from poise.plans.footsteps import Footstep, GaitPhase, quintic_point
from poise.plans.gait_parameters import GaitParameters, dcm_in_double_support, steady_dcm_offset
from poise.robots import side_sign

#: Seconds in which the weight comes to rest between the feet after the last step.
STOPPING_TIME = 0.3
#: Number of previewed steps, after which the walk is assumed to repeat for ever. Each step reduces the error of this
#: assumption by e^{-ωT}, to about a fifth.
PREVIEW_STEPS = 2


@dataclass(frozen=True)
class FootstepPlan:
    """Footsteps of a walk with constant gait parameters.

    Args:
        gait: gait parameters of every step from now on.
        steps: number of steps from the start of the walk, the last of which brings the feet side by side; infinite: the
            walk does not end.
        ground: function that places a footstep on known ground, e.g. on the next stair; None: the ground continues at
            the height of the other foot, with `slope`.
        slope: rise of the ground per meter along x and along y, as x + i y.
    """

    gait: GaitParameters
    steps: float
    ground: Callable[[Footstep], Footstep] | None = None
    slope: complex = 0.0

    def footstep(self, support: Footstep, number: int) -> Footstep:
        """Return footstep `number` of the walk (from 1), given the support foot; from the last step on, beside it."""
        step_geometry = self.gait.step_geometry
        step = step_geometry.footstep_beside(support) if number >= self.steps else step_geometry.next_footstep(support)
        return self.on_ground(support, step)

    def on_ground(self, support: Footstep, step: Footstep) -> Footstep:
        """Return `step` with its height (and on stairs its place) on the ground, given the support foot."""
        if self.ground is not None:
            return self.ground(step)
        rise = ((step.place - support.place) * self.slope.conjugate()).real
        return step.with_place(step.place, support.z + rise)

    def dcm_at_end(self, support: Footstep, goal: Footstep, number: int, ahead: int = PREVIEW_STEPS) -> complex:
        """Return the reference ξ (m) at the end of the single support on `support`, when step `number` lands.

        Args:
            support: support foot.
            goal: footstep of the swing foot.
            number: number of this step in the walk.
            ahead: number of steps to preview; beyond them the walk is assumed to repeat every two steps.
        """
        timing, omega, roll = self.gait.timing, self.gait.omega, self.gait.roll
        if number >= self.steps:  # last step: come to rest midway between the feet
            middle = 0.5 * (support.place + goal.place)
            return dcm_in_double_support(roll.points(support)[1], middle, middle, STOPPING_TIME, STOPPING_TIME, omega)[
                0
            ]
        after = self.footstep(goal, number + 1)
        if ahead > 0:
            end = self.dcm_at_end(goal, after, number + 1, ahead - 1)
        else:
            following = self.footstep(after, number + 2)
            strides = after.place - goal.place, following.place - after.place
            rolls = [roll.offsets(foot) for foot in (goal, after, following)]
            turn = 2.0 * self.gait.step_geometry.turn
            end = goal.place + steady_dcm_offset(*strides, timing, omega, turn, rolls)
        first, last = roll.points(goal)
        begin = dcm_in_double_support(first, last, end, timing.single_support, timing.single_support, omega)[0]
        return dcm_in_double_support(
            roll.points(support)[1], first, begin, timing.double_support, timing.double_support, omega
        )[0]

    def dcm_at_begin(self, support: Footstep, number: int) -> complex:
        """Return the reference ξ (m) at the start of the single support on `support`, which step `number` ends."""
        end = self.dcm_at_end(support, self.footstep(support, number), number)
        single = self.gait.timing.single_support
        return dcm_in_double_support(*self.gait.roll.points(support), end, single, single, self.gait.omega)[0]

    def dcm_reference(self, phase: GaitPhase, elapsed: float) -> tuple[complex, complex]:
        """Return reference ξ and ZMP z (m), `elapsed` seconds after the start of a phase."""
        omega, remaining, support = self.gait.omega, max(phase.seconds - elapsed, 0.0), phase.support
        roll = self.gait.roll
        if phase.kind == "single":
            end = self.dcm_at_end(support, phase.goal, phase.steps + 1)
            return dcm_in_double_support(*roll.points(support), end, remaining, phase.seconds, omega)
        if phase.kind == "double":
            end = self.dcm_at_begin(support, phase.steps + 1)
            last, first = roll.points(phase.other_foot)[1], roll.points(support)[0]
            return dcm_in_double_support(last, first, end, remaining, phase.seconds, omega)
        middle = phase.middle
        if phase.kind == "starting":
            # A quintic from rest to ξ at the start of the first step; its ZMP stays between the two feet.
            end = self.dcm_at_begin(support, phase.steps + 1)
            end_rate = omega * (end - roll.points(support)[0])
            xi, rate, _ = quintic_point(
                (middle, 0j, 0j), (end, end_rate, omega * end_rate), phase.seconds, min(elapsed, phase.seconds)
            )
            return xi, xi - rate / omega
        if phase.kind == "stopping":
            last = roll.points(phase.other_foot)[1]
            return dcm_in_double_support(last, middle, middle, remaining, phase.seconds, omega)
        return middle, middle


def capture_feet(phase: GaitPhase, xi: complex) -> tuple[Footstep, Footstep]:
    """Return (support foot, stepping foot) for a capture step: the foot further from ξ steps."""
    feet = phase.support, phase.other_foot
    near_foot = min(feet, key=lambda foot: abs(foot.place - xi))
    return near_foot, feet[1] if near_foot is feet[0] else feet[0]


# -- Reference laws of the center of mass ----------------------------------------------------------------------------


class CenterState(NamedTuple):
    """Horizontal position (m) and velocity (m/s) of the CoM, as x + i y."""

    place: complex
    velocity: complex


class CenterCommand(NamedTuple):
    """Command of a reference law.

    Attributes:
        zmp: commanded ZMP z (m); the acceleration of the CoM c is then ω² (c - z).
        dcm: reference of the DCM ξ (m); from a `SinusoidReference`, which has none, the target of the CoM.
    """

    zmp: complex
    dcm: complex


class CenterReference(Protocol):
    """Law that commands the CoM from plan, phase, time (s) and CoM state; it keeps no state between calls."""

    def command(self, plan: FootstepPlan, phase: GaitPhase, time: float, state: CenterState) -> CenterCommand: ...


@dataclass(frozen=True)
class DcmReference:
    """Feedback on the DCM ξ of the plan, which takes the next footsteps into account.

    ``z = z_ref + (1 + k/ω) (ξ - ξ_ref)``, so that the error of ξ decays as e^{-kt}.

    Args:
        feedback: gain k, 1/s. Walks succeed with 1 to 15; with 4, ZMP and ankle torques are smooth.
    """

    feedback: float = 4.0

    def command(self, plan: FootstepPlan, phase: GaitPhase, time: float, state: CenterState) -> CenterCommand:
        omega = plan.gait.omega
        xi, z = plan.dcm_reference(phase, phase.elapsed(time))
        dcm_error = state.place + state.velocity / omega - xi
        return CenterCommand(z + (1.0 + self.feedback / omega) * dcm_error, xi)


@dataclass(frozen=True)
class SinusoidReference:
    """Sinusoidal CoM reference of [Dalibard2012] section III.C, without preview of footsteps.

    Forward, the CoM is servoed to the middle of the feet, also while one of them swings; sideways it follows a sinusoid
    with the period of two steps. Both use eq. (8), ``c̈* = -λ_p (c - c*) - λ_D ċ`` with ``λ_D = 2 sqrt(λ_p)``.

    Args:
        amplitude: amplitude of the sway (m).
        phase: delay of the largest sway after the middle of a single support, as a phase of the cycle of two steps
            (rad).
        gain: λ_p, 1/s². The CoM lags behind the target by 2 / sqrt(λ_p) seconds, 0.2 s with 100/s².
    """

    amplitude: float
    phase: float = 0.0
    gain: float = 100.0

    def command(self, plan: FootstepPlan, phase: GaitPhase, time: float, state: CenterState) -> CenterCommand:
        place = self.center_target(plan, phase, time)
        acceleration = -self.gain * (state.place - place) - 2.0 * math.sqrt(self.gain) * state.velocity
        return CenterCommand(state.place - acceleration / plan.gait.omega**2, place)

    def center_target(self, plan: FootstepPlan, phase: GaitPhase, time: float) -> complex:
        """Return c* (m): the middle of the feet plus the sway towards the support foot."""
        timing, elapsed = plan.gait.timing, phase.elapsed(time)
        share, _, _ = minimum_jerk(elapsed / phase.seconds)
        swing_share = share if phase.kind == "single" else 0.0
        support, last, goal = phase.support, phase.other_foot, phase.goal
        middle = 0.5 * (support.place + last.place + (goal.place - last.place) * swing_share)
        yaw = 0.5 * (support.yaw + last.yaw + (goal.yaw - last.yaw) * swing_share)
        # Seconds since the step began with its double support. It stays at the end of the double support while starting
        # and standing, and at its start while stopping.
        step_time = {
            "single": timing.double_support + timing.single_support * elapsed / phase.seconds,
            "double": elapsed,
            "stopping": 0.0,
        }
        after = step_time.get(phase.kind, timing.double_support) - timing.double_support - 0.5 * timing.single_support
        amplitude_share = {"starting": share, "stopping": 1.0 - share, "standing": 0.0}.get(phase.kind, 1.0)
        sway = self.amplitude * amplitude_share * math.cos(math.pi * after / timing.step - self.phase)
        return middle + 1j * side_sign(support.side) * sway * cmath.exp(1j * yaw)

    @staticmethod
    def balanced_amplitude(plan: FootstepPlan) -> float:
        """Return the amplitude (m) with which the ZMP of a pendulum reaches the middle of each foot.

        For ``c = A sin Ωt`` the ZMP is ``z = (1 + Ω²/ω²) c``: quicker steps need less sway.
        """
        gait = plan.gait
        return 0.5 * gait.step_geometry.width / (1.0 + (math.pi / (gait.timing.step * gait.omega)) ** 2)

    def lead_compensation(self, plan: FootstepPlan) -> tuple[float, float]:
        """Return the amplitude (m) and phase (rad) to command for an actual sway of `amplitude` and `phase`.

        By eq. (8) the CoM follows ``c* e^{iΩt}`` as ``c* / (1 + iΩ / sqrt(λ_p))²``: with a smaller amplitude and a lag,
        which this compensates.
        """
        frequency_ratio = math.pi / (plan.gait.timing.step * math.sqrt(self.gain))  # Ω / sqrt(λ_p)
        return self.amplitude * (1.0 + frequency_ratio**2), self.phase - 2.0 * math.atan(frequency_ratio)
