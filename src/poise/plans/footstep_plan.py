"""Footstep plan: the footsteps to come, and the reference of the centre of mass that leads over them."""

from __future__ import annotations

import cmath
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from poise.geometry import minimum_jerk
from poise.plans.footsteps import Footstep, GaitPhase, quintic_point
from poise.plans.gait_parameters import GaitParameters, dcm_in_double_support, dcm_in_single_support, steady_dcm_offset
from poise.robots import side_sign

#: So long the weight takes to come to rest between the feet after the last step, s.
STOPPING_TIME = 0.3
#: How many steps are looked ahead before the walk is taken to go on for ever: of an error e^{-ωT} is left by each, a
#: fifth.
PREVIEW_STEPS = 2


@dataclass(frozen=True)
class FootstepPlan:
    """What is to be walked.

    Args:
        gait: of every step from now on.
        steps: after how many steps in all the feet come side by side; infinite: never.
        ground: puts a footstep on ground that is known, e.g. on the next stair; None: as under the other foot.
        slope: how far unknown ground rises per metre along x and along y, as x + i y.
    """

    gait: GaitParameters
    steps: float
    ground: Callable[[Footstep], Footstep] | None = None
    slope: complex = 0.0

    def footstep(self, support: Footstep, number: int) -> Footstep:
        """The footstep of that number, while `support` stands; beyond the last one side by side."""
        step_geometry = self.gait.step_geometry
        step = step_geometry.footstep_beside(support) if number >= self.steps else step_geometry.next_footstep(support)
        return self.on_ground(support, step)

    def on_ground(self, support: Footstep, step: Footstep) -> Footstep:
        """The same footstep on the ground."""
        if self.ground is not None:
            return self.ground(step)
        rise = ((step.place - support.place) * self.slope.conjugate()).real
        return step.with_place(step.place, support.z + rise)

    def dcm_at_end(self, support: Footstep, goal: Footstep, number: int, ahead: int = PREVIEW_STEPS) -> complex:
        """Where ξ is to be at the end of the single support on `support`, before the step of that number lands."""
        timing, omega = self.gait.timing, self.gait.omega
        if number >= self.steps:  # the last step: to rest in the middle
            middle = 0.5 * (support.place + goal.place)
            return dcm_in_double_support(support.place, middle, middle, STOPPING_TIME, STOPPING_TIME, omega)[0]
        after = self.footstep(goal, number + 1)
        if ahead > 0:
            end = self.dcm_at_end(goal, after, number + 1, ahead - 1)
        else:
            later = self.footstep(after, number + 2)
            strides = after.place - goal.place, later.place - after.place
            end = goal.place + steady_dcm_offset(*strides, timing, omega, 2.0 * self.gait.step_geometry.turn)
        begin = dcm_in_single_support(goal.place, end, timing.single_support, omega)
        return dcm_in_double_support(
            support.place, goal.place, begin, timing.double_support, timing.double_support, omega
        )[0]

    def dcm_at_begin(self, support: Footstep, number: int) -> complex:
        """Where ξ is to be at the begin of the single support on `support`."""
        goal = self.footstep(support, number)
        return dcm_in_single_support(
            support.place, self.dcm_at_end(support, goal, number), self.gait.timing.single_support, self.gait.omega
        )

    def dcm_reference(self, phase: GaitPhase, elapsed: float) -> tuple[complex, complex]:
        """ξ and z of the plan, so many seconds into a phase."""
        omega, left, support = self.gait.omega, max(phase.seconds - elapsed, 0.0), phase.support
        if phase.kind == "single":
            end = self.dcm_at_end(support, phase.goal, phase.steps + 1)
            return dcm_in_single_support(support.place, end, left, omega), support.place
        if phase.kind == "double":
            end = self.dcm_at_begin(support, phase.steps + 1)
            return dcm_in_double_support(phase.other_foot.place, support.place, end, left, phase.seconds, omega)
        middle = phase.middle
        if phase.kind == "starting":
            # From rest to where the first step takes ξ over; the ground that this needs is under both feet.
            end = self.dcm_at_begin(support, phase.steps + 1)
            away = omega * (end - support.place)
            xi, rate, _ = quintic_point(
                (middle, 0j, 0j), (end, away, omega * away), phase.seconds, min(elapsed, phase.seconds)
            )
            return xi, xi - rate / omega
        if phase.kind == "stopping":
            return dcm_in_double_support(phase.other_foot.place, middle, middle, left, phase.seconds, omega)
        return middle, middle


def capture_feet(phase: GaitPhase, xi: complex) -> tuple[Footstep, Footstep]:
    """Which foot stays and which one steps to catch a body whose ξ leaves both: the one that is further steps."""
    feet = phase.support, phase.other_foot
    near_foot = min(feet, key=lambda foot: abs(foot.place - xi))
    return near_foot, feet[1] if near_foot is feet[0] else feet[0]


# -- How the centre of mass is led while walking ---------------------------------------------------------------------


class CenterState(NamedTuple):
    """Of the centre of mass over the ground: place (m) and velocity (m/s), as x + i y."""

    place: complex
    velocity: complex


class CenterCommand(NamedTuple):
    """What the centre of mass should do.

    Attributes:
        zmp: where the ground should push (m); the acceleration is ω² (c - z).
        dcm: where ξ should be (m).
    """

    zmp: complex
    dcm: complex


class CenterReference(Protocol):
    """From where a walk is to what its centre of mass should do; asking twice gives the same answer."""

    def command(self, plan: FootstepPlan, phase: GaitPhase, time: float, state: CenterState) -> CenterCommand: ...


@dataclass(frozen=True)
class DcmReference:
    """Follows the divergent component of motion ξ of the plan, which looks at the footsteps to come.

    ``z = z_ref + (1 + k/ω) (ξ - ξ_ref)``, so that the error of ξ decays as e^{-kt}.

    Args:
        feedback: k, 1/s. From 1 to 15 all walk; 4 is calm, and fast enough for the ankles.
    """

    feedback: float = 4.0

    def command(self, plan: FootstepPlan, phase: GaitPhase, time: float, state: CenterState) -> CenterCommand:
        omega = plan.gait.omega
        xi, z = plan.dcm_reference(phase, phase.elapsed(time))
        off = state.place + state.velocity / omega - xi
        return CenterCommand(z + (1.0 + self.feedback / omega) * off, xi)


@dataclass(frozen=True)
class SinusoidReference:
    """The reference of [Dalibard2012] section III.C, which knows nothing of footsteps to come.

    Along the way the centre of mass is servoed to the middle of the feet, also while one of them swings; across it
    follows a sine whose period is that of two steps, both by eq. (8), ``c̈* = -λ_p (c - c*) - λ_D ċ`` with
    ``λ_D = 2 sqrt(λ_p)``.

    Args:
        amplitude: of the sway (m).
        phase: when it is greatest, after the middle of a single support (rad of the cycle of two steps).
        gain: λ_p, 1/s². The lag behind a walk is 2 / sqrt(λ_p) seconds: 0.2 s.
    """

    amplitude: float
    phase: float = 0.0
    gain: float = 100.0

    def command(self, plan: FootstepPlan, phase: GaitPhase, time: float, state: CenterState) -> CenterCommand:
        place = self.center_target(plan, phase, time)
        pull = -self.gain * (state.place - place) - 2.0 * math.sqrt(self.gain) * state.velocity
        return CenterCommand(state.place - pull / plan.gait.omega**2, place)

    def center_target(self, plan: FootstepPlan, phase: GaitPhase, time: float) -> complex:
        """c*: the middle of the feet, and the sway to the side of the foot that bears (m)."""
        timing, elapsed = plan.gait.timing, phase.elapsed(time)
        share, _, _ = minimum_jerk(elapsed / phase.seconds)
        swing_share = share if phase.kind == "single" else 0.0
        support, last, goal = phase.support, phase.other_foot, phase.goal
        middle = 0.5 * (support.place + last.place + (goal.place - last.place) * swing_share)
        yaw = 0.5 * (support.yaw + last.yaw + (goal.yaw - last.yaw) * swing_share)
        # Seconds since the step began with its double support; a walk starts at the end of that and stops at its begin.
        into = {
            "single": timing.double_support + timing.single_support * elapsed / phase.seconds,
            "double": elapsed,
            "stopping": 0.0,
        }
        after = into.get(phase.kind, timing.double_support) - timing.double_support - 0.5 * timing.single_support
        amplitude_share = {"starting": share, "stopping": 1.0 - share, "standing": 0.0}.get(phase.kind, 1.0)
        sway = self.amplitude * amplitude_share * math.cos(math.pi * after / timing.step - self.phase)
        return middle + 1j * side_sign(support.side) * sway * cmath.exp(1j * yaw)

    @staticmethod
    def balanced_amplitude(plan: FootstepPlan) -> float:
        """The amplitude (m) for which the pressure of a pendulum reaches the middle of each foot.

        Of ``c = A sin Ωt`` it is at ``z = (1 + Ω²/ω²) c``: the quicker the steps, the less sway they take.
        """
        gait = plan.gait
        return 0.5 * gait.step_geometry.width / (1.0 + (math.pi / (gait.timing.step * gait.omega)) ** 2)

    def lead_compensation(self, plan: FootstepPlan) -> tuple[float, float]:
        """Amplitude (m) and phase (rad) with which the body really sways by `amplitude`, `phase` later than asked.

        By eq. (8) it follows ``c* e^{iΩt}`` as ``c* / (1 + iΩ / sqrt(λ_p))²``: smaller, and late.
        """
        turn = math.pi / (plan.gait.timing.step * math.sqrt(self.gain))
        return self.amplitude * (1.0 + turn**2), self.phase - 2.0 * math.atan(turn)
