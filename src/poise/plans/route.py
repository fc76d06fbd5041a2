"""Route: the footsteps to come, and where the divergent component of motion must be for them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from poise.plans.divergent import before_double, before_single, steady_offset
from poise.plans.footsteps import Footstep
from poise.plans.pace import Pace
from poise.plans.phases import Phase
from poise.plans.swing import toward

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
