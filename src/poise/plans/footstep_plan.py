"""Footstep plan: the footsteps to come, and the reference of the centre of mass that leads over them."""

from __future__ import annotations

import cmath
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from poise.geometry import minimum_jerk
from poise.plans.footsteps import Footstep, Phase, toward
from poise.plans.gait_parameters import Pace, before_double, before_single, steady_offset
from poise.robots import side_sign

#: So long the weight takes to come to rest between the feet after the last step, s.
STOP = 0.3
#: How many steps are looked ahead before the walk is taken to go on for ever: of an error e^{-ωT} is left by each, a
#: fifth.
AHEAD = 2


@dataclass(frozen=True)
class Route:
    """What is to be walked.

    Args:
        pace: of every step from now on.
        steps: after how many steps in all the feet come side by side; infinite: never.
        ground: puts a footstep on ground that is known, e.g. on the next stair; None: as under the other foot.
        slope: how far unknown ground rises per metre along x and along y, as x + i y.
    """

    pace: Pace
    steps: float
    ground: Callable[[Footstep], Footstep] | None = None
    slope: complex = 0.0

    def footstep(self, support: Footstep, number: int) -> Footstep:
        """The footstep of that number, while `support` stands; beyond the last one side by side."""
        gait = self.pace.gait
        step = gait.beside(support) if number >= self.steps else gait.after(support)
        return self.settled(support, step)

    def settled(self, support: Footstep, step: Footstep) -> Footstep:
        """The same footstep on the ground."""
        if self.ground is not None:
            return self.ground(step)
        rise = ((step.place - support.place) * self.slope.conjugate()).real
        return step.moved(step.place, support.z + rise)

    def end(self, support: Footstep, goal: Footstep, number: int, ahead: int = AHEAD) -> complex:
        """Where ξ is to be at the end of the single support on `support`, before the step of that number lands."""
        timing, omega = self.pace.timing, self.pace.omega
        if number >= self.steps:  # the last step: to rest in the middle
            middle = 0.5 * (support.place + goal.place)
            return before_double(support.place, middle, middle, STOP, STOP, omega)[0]
        after = self.footstep(goal, number + 1)
        if ahead > 0:
            end = self.end(goal, after, number + 1, ahead - 1)
        else:
            later = self.footstep(after, number + 2)
            strides = after.place - goal.place, later.place - after.place
            end = goal.place + steady_offset(*strides, timing, omega, 2.0 * self.pace.gait.turn)
        begin = before_single(goal.place, end, timing.single, omega)
        return before_double(support.place, goal.place, begin, timing.double, timing.double, omega)[0]

    def begin(self, support: Footstep, number: int) -> complex:
        """Where ξ is to be at the begin of the single support on `support`."""
        goal = self.footstep(support, number)
        return before_single(support.place, self.end(support, goal, number), self.pace.timing.single, self.pace.omega)

    def reference(self, phase: Phase, elapsed: float) -> tuple[complex, complex]:
        """ξ and z of the plan, so many seconds into a phase."""
        omega, left, support = self.pace.omega, max(phase.seconds - elapsed, 0.0), phase.support
        if phase.kind == "single":
            end = self.end(support, phase.goal, phase.steps + 1)
            return before_single(support.place, end, left, omega), support.place
        if phase.kind == "double":
            end = self.begin(support, phase.steps + 1)
            return before_double(phase.last.place, support.place, end, left, phase.seconds, omega)
        middle = phase.middle
        if phase.kind == "starting":
            # From rest to where the first step takes ξ over; the ground that this needs is under both feet.
            end = self.begin(support, phase.steps + 1)
            away = omega * (end - support.place)
            xi, rate, _ = toward(
                (middle, 0j, 0j), (end, away, omega * away), phase.seconds, min(elapsed, phase.seconds)
            )
            return xi, xi - rate / omega
        if phase.kind == "stopping":
            return before_double(phase.last.place, middle, middle, left, phase.seconds, omega)
        return middle, middle


def swinging(phase: Phase, xi: complex) -> tuple[Footstep, Footstep]:
    """Which foot stays and which one steps to catch a body whose ξ leaves both: the one that is further steps."""
    feet = phase.support, phase.last
    near = min(feet, key=lambda foot: abs(foot.place - xi))
    return near, feet[1] if near is feet[0] else feet[0]


# -- How the centre of mass is led while walking ---------------------------------------------------------------------


class Motion(NamedTuple):
    """Of the centre of mass over the ground: place (m) and velocity (m/s), as x + i y."""

    place: complex
    velocity: complex


class Wish(NamedTuple):
    """What the centre of mass should do.

    Attributes:
        pressure: where the ground should push (m); the acceleration is ω² (c - z).
        xi: where ξ should be (m).
    """

    pressure: complex
    xi: complex


class Reference(Protocol):
    """From where a walk is to what its centre of mass should do; asking twice gives the same answer."""

    def wish(self, route: Route, phase: Phase, time: float, now: Motion) -> Wish: ...


@dataclass(frozen=True)
class Divergent:
    """Follows the divergent component of motion ξ of the plan, which looks at the footsteps to come.

    ``z = z_ref + (1 + k/ω) (ξ - ξ_ref)``, so that the error of ξ decays as e^{-kt}.

    Args:
        feedback: k, 1/s. From 1 to 15 all walk; 4 is calm, and fast enough for the ankles.
    """

    feedback: float = 4.0

    def wish(self, route: Route, phase: Phase, time: float, now: Motion) -> Wish:
        omega = route.pace.omega
        xi, z = route.reference(phase, phase.elapsed(time))
        off = now.place + now.velocity / omega - xi
        return Wish(z + (1.0 + self.feedback / omega) * off, xi)


@dataclass(frozen=True)
class Sinusoid:
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

    def wish(self, route: Route, phase: Phase, time: float, now: Motion) -> Wish:
        place = self.place(route, phase, time)
        pull = -self.gain * (now.place - place) - 2.0 * math.sqrt(self.gain) * now.velocity
        return Wish(now.place - pull / route.pace.omega**2, place)

    def place(self, route: Route, phase: Phase, time: float) -> complex:
        """c*: the middle of the feet, and the sway to the side of the foot that bears (m)."""
        timing, elapsed = route.pace.timing, phase.elapsed(time)
        share, _, _ = minimum_jerk(elapsed / phase.seconds)
        gone = share if phase.kind == "single" else 0.0
        support, last, goal = phase.support, phase.last, phase.goal
        middle = 0.5 * (support.place + last.place + (goal.place - last.place) * gone)
        yaw = 0.5 * (support.yaw + last.yaw + (goal.yaw - last.yaw) * gone)
        # Seconds since the step began with its double support; a walk starts at the end of that and stops at its begin.
        into = {"single": timing.double + timing.single * elapsed / phase.seconds, "double": elapsed, "stopping": 0.0}
        after = into.get(phase.kind, timing.double) - timing.double - 0.5 * timing.single
        grown = {"starting": share, "stopping": 1.0 - share, "standing": 0.0}.get(phase.kind, 1.0)
        sway = self.amplitude * grown * math.cos(math.pi * after / timing.whole - self.phase)
        return middle + 1j * side_sign(support.side) * sway * cmath.exp(1j * yaw)

    @staticmethod
    def balanced(route: Route) -> float:
        """The amplitude (m) for which the pressure of a pendulum reaches the middle of each foot.

        Of ``c = A sin Ωt`` it is at ``z = (1 + Ω²/ω²) c``: the quicker the steps, the less sway they take.
        """
        pace = route.pace
        return 0.5 * pace.gait.width / (1.0 + (math.pi / (pace.timing.whole * pace.omega)) ** 2)

    def leading(self, route: Route) -> tuple[float, float]:
        """Amplitude (m) and phase (rad) with which the body really sways by `amplitude`, `phase` later than asked.

        By eq. (8) it follows ``c* e^{iΩt}`` as ``c* / (1 + iΩ / sqrt(λ_p))²``: smaller, and late.
        """
        turn = math.pi / (route.pace.timing.whole * math.sqrt(self.gain))
        return self.amplitude * (1.0 + turn**2), self.phase - 2.0 * math.atan(turn)
