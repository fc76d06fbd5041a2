"""Solver, and its answer, Solution: x, what it costs every level, and why."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from poise.arrays import Array
from poise.interface import Interface
from poise.solvers.program import Program

Sides = NDArray[np.int8]

#: Values of `Solution.active`.
LOWER, INSIDE, UPPER, EQUALITY = -1, 0, 1, 2


class Solver(Interface):
    """Base of all solvers of a `Program`; only `solve` is required."""

    @abstractmethod
    def solve(self, program: Program) -> Solution:
        """The solution of a program, always finite. Never raises."""

    def reset(self) -> None:
        """Discard the warm start."""


@dataclass(eq=False)  # not frozen: that would triple the cost of making one, a tenth of a small solve
class Solution:
    """Answer to a Program; always finite. Treat it as a value: nothing in it changes after the solve.

    Attributes:
        program: the question.
        x: the unknowns.
        status: ``"optimal"``; ``"budget"`` or ``"iterations"`` when time or patience ran out (x then keeps the
            levels solved so far); ``"relaxed"`` when a solver had to soften what it holds hard.
        sides: one per stacked row: LOWER, UPPER (held at or beyond that bound), EQUALITY or INSIDE.
        iterations: active-set iterations.
        milliseconds: time spent in the solver.
        solver: which one answered.
        counters: what it did (factorizations, updates, ...).
        first_damped_level: the first level with singularity damping (see `Program`), or -1.
    """

    program: Program
    x: Array
    status: str
    sides: Sides
    iterations: int
    milliseconds: float
    solver: str = ""
    counters: Mapping[str, int] = field(default_factory=dict)
    first_damped_level: int = -1

    @cached_property
    def slack(self) -> list[Array]:
        """Per level: ``A x`` minus its projection on ``[lower, upper]``, in the unit of the rows."""
        return self.program.split(self.program.slack(self.x))

    @cached_property
    def active(self) -> list[Sides]:
        """Per level and row: LOWER, UPPER, EQUALITY or INSIDE."""
        return [self.sides[self.program.slice(k)] for k in range(len(self.program))]

    def shift_to_center(self, program: Program) -> Solution:
        """The solution of a program from that of the same program about its center (`Program.relative_to_center`)."""
        return replace(self, program=program, x=self.x + program.center)

    def explain(self) -> str:
        """Which rows are violated or saturated, by how much, and what stands in the way."""
        from poise.solvers.optimality import explain

        return explain(self)

    def __repr__(self) -> str:
        worst = [float(np.abs(s).max(initial=0.0)) for s in self.slack]
        slack = ", ".join(f"{w:.2g}" for w in worst)
        return f"Solution({self.status} by {self.solver or 'unknown'}, worst slack by level [{slack}])"
