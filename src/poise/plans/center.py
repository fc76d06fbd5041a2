"""How the centre of mass is led while walking: by the divergent component of motion, or by the paper's sinusoid."""

from __future__ import annotations

import cmath
import math
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from poise.geometry.curves import minimum_jerk
from poise.plans.phases import Phase
from poise.plans.route import Route


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
        return middle + (1j if support.side == "left" else -1j) * sway * cmath.exp(1j * yaw)

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
