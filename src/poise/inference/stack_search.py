"""Search for the smallest stack of tasks that predicts the velocities of a motion within its noise."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from poise.inference.candidates import Candidate, PostureCandidate, candidates
from poise.inference.motion_samples import MotionSamples
from poise.inference.stack_model import RELATIVE_ACCURACY, FittedTask, Projection, fit_task

#: Cost of one parameter of a stack, in units of the squared residual: twice the logarithm of a hundred samples.
PARAMETER_COST = 9.0
#: Residual of a level, in standard deviations of the noise, up to which it counts as obeyed.
OBEYED = 4.0
#: Cost of a squared velocity that a stack gets wrong beyond the noise, relative to one that it leaves open: levels are
#: added from the top, and a level that is nearly obeyed by chance would take the place of the true one.
WRONG_COST = 20.0
#: Stacks that the search keeps at each length.
BEAM = 3
#: Most levels of a stack.
MAX_LEVELS = 12


@dataclass(frozen=True, eq=False)
class StackFit:
    """A stack with its cost.

    Attributes:
        tasks: the most important first.
        residual: squared residual of the velocities, in units of the noise, summed over independent samples.
        cost: what the stack leaves open and gets wrong, and its parameters; see `StackSearch.cost`.
    """

    tasks: tuple[FittedTask, ...]
    residual: float
    cost: float

    @property
    def names(self) -> list[str]:
        return [task.candidate.name for task in self.tasks]


class StackSearch:
    """Search of stacks for the samples of one segment.

    Args:
        samples: the motion.
        library: candidate tasks; None: those of `candidates`.
    """

    def __init__(self, samples: MotionSamples, library: Sequence[Candidate] | None = None) -> None:
        self.samples = samples
        self.library = list(candidates(samples) if library is None else library)
        # One number for all coordinates: in this metric the velocities of the levels are orthogonal to what is free
        # below them, so that a level that is obeyed never increases the residual.
        speed = float(np.sqrt(np.mean(samples.v**2)))
        noise = float(np.sqrt(np.mean(samples.velocity_noise**2)))
        self.scale = 1.0 / max(float(np.hypot(noise, RELATIVE_ACCURACY * speed)), 1e-6)
        self.top = Projection.of(samples)

    # -- cost ------------------------------------------------------------------------------------------------------

    def residual(self, below: Projection) -> float:
        """Return the squared velocities that the levels above a projection do not explain, in units of the noise."""
        return float(((below.v - self.samples.v) ** 2).sum() + below.unexplained) * self.scale**2

    def cost(self, below: Projection, tasks: Sequence[FittedTask]) -> float:
        """Return the cost of a stack: what it leaves open, what it gets wrong, and its parameters."""
        samples = self.samples
        taken = samples.v - np.einsum("tij,tj->ti", below.N, samples.v)
        wrong = float(((below.v - taken) ** 2).sum()) * self.scale**2
        noise = samples.v.size - float(np.einsum("tii->", below.N))
        return self.residual(below) + (WRONG_COST - 1.0) * max(0.0, wrong - noise) + self.parameter_cost(tasks)

    def parameter_cost(self, tasks: Iterable[FittedTask]) -> float:
        cost = 0.0
        for task in tasks:
            count = task.candidate.parameters + (0 if task.held else 1)
            cost += PARAMETER_COST * (1.0 + count + task.candidate.prior)
        return cost

    def fit(self, order: Sequence[Candidate]) -> StackFit | None:
        """Fit gains and targets of candidates in this order; None if one does not fit or a posture is not the last."""
        if any(isinstance(candidate, PostureCandidate) for candidate in order[:-1]):
            return None
        projection, tasks = self.top, []
        for candidate in order:
            task = fit_task(self.samples, candidate, projection)
            if task is None or (task.misfit > OBEYED and candidate not in self.contacts):
                return None
            tasks.append(task)
            projection = projection.below(self.samples, task)
        return StackFit(tuple(tasks), self.residual(projection), self.cost(projection, tasks))

    def order_shows(self, stack: StackFit, place: int) -> bool:
        """Return whether exchanging a level with the next one makes the stack explain the motion worse."""
        order = [task.candidate for task in stack.tasks]
        order[place], order[place + 1] = order[place + 1], order[place]
        other = self.fit(order)
        return other is None or other.cost > stack.cost + max(2.0 * PARAMETER_COST, 0.02 * stack.residual)

    # -- search ----------------------------------------------------------------------------------------------------

    def run(self) -> StackFit:
        """Return the stack of least cost that a beam search finds.

        Each step adds one level to the best stacks so far; then levels are removed, exchanged and reordered as long as
        the cost falls.
        """
        self.contacts = self._held_contacts()
        first = self.fit(self.contacts)
        assert first is not None
        beam, best, stacks = [first], first, [first]
        for _ in range(MAX_LEVELS):
            longer: dict[frozenset[str], StackFit] = {}
            for stack in beam:
                for fit in self._additions(stack):
                    key = frozenset(fit.names)
                    if key not in longer or fit.cost < longer[key].cost:
                        longer[key] = fit
            beam = sorted(longer.values(), key=lambda fit: fit.cost)[:BEAM]
            if not beam or beam[0].cost > best.cost:
                break
            best = beam[0]
            stacks += beam
        closed = [self._with_posture(stack) for stack in sorted(stacks, key=lambda fit: fit.cost)[: 2 * BEAM]]
        return self._improve(min(closed, key=lambda fit: fit.cost))

    def _with_posture(self, stack: StackFit) -> StackFit:
        """Return the stack with a posture below it, if that lowers the cost."""
        order = [task.candidate for task in stack.tasks]
        fits = [self.fit([*order, each]) for each in self.library if isinstance(each, PostureCandidate)]
        return min([stack, *filter(None, fits)], key=lambda fit: fit.cost)

    def _held_contacts(self) -> list[Candidate]:
        """Return position and orientation of the feet that do not move."""
        feet = {foot.name for foot in self.samples.robot.feet}
        order = []
        for candidate in self.library:
            if candidate.part in feet and candidate.settings.get("axes", "xyz") == "xyz":
                task = fit_task(self.samples, candidate, self.top)
                if task is not None and task.held:
                    order.append(candidate)
        return order

    def _additions(self, stack: StackFit) -> list[StackFit]:
        """Return the stack with one more level at the bottom: the best few, and those that are obeyed best."""
        projection = self.top
        for task in stack.tasks:
            projection = projection.below(self.samples, task)
        options: list[tuple[StackFit, float]] = []
        for candidate in self.library:
            if candidate in [task.candidate for task in stack.tasks] or isinstance(candidate, PostureCandidate):
                continue
            level = fit_task(self.samples, candidate, projection)
            if level is None or level.misfit > OBEYED:
                continue
            tasks = (*stack.tasks, level)
            below = projection.below(self.samples, level)
            fit = StackFit(tasks, self.residual(below), self.cost(below, tasks))
            if fit.cost < stack.cost:
                options.append((fit, level.misfit))
        cheapest = sorted(options, key=lambda option: option[0].cost)[:BEAM]
        obeyed = sorted(options, key=lambda option: option[1])[:BEAM]
        return [fit for fit, _ in {id(option[0]): option for option in (*cheapest, *obeyed)}.values()]

    def _improve(self, best: StackFit) -> StackFit:
        """Return the stack after removals and exchanges of neighbors, as long as the cost falls."""
        improved = True
        while improved:
            improved = False
            order = [task.candidate for task in best.tasks]
            fixed = len(self.contacts)
            places = range(fixed, len(order))
            trials = [order[:i] + order[i + 1 :] for i in places]
            trials += [[*order[:i], order[i + 1], order[i], *order[i + 2 :]] for i in places[:-1]]
            others = [candidate for candidate in self.library if candidate not in order]
            trials += [[*order[:i], other, *order[i + 1 :]] for i in places for other in others]
            for trial in trials:
                fit = self.fit(trial)
                if fit is not None and fit.cost < best.cost - 1e-6 * abs(best.cost):
                    best, improved = fit, True
                    break
        return best
