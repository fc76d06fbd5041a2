"""Base class of solvers, and their result: x, the slack of every level, the active set and an explanation.

`negligible` is the slack of each unit that counts as rounding.
"""

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
        """Return the solution of a program, always finite. Never raises."""

    def reset(self) -> None:
        """Discard the warm start."""


@dataclass(eq=False)  # not frozen: that would triple the cost of construction, a tenth of a small solve
class Solution:
    """Solution of a Program; always finite. Treat it as immutable: it does not change after the solve.

    Attributes:
        program: the program that was solved.
        x: the unknowns.
        status: ``"optimal"``; ``"budget"`` or ``"iterations"`` if the limit of time or iterations was reached (x then
            keeps the levels solved so far); ``"relaxed"`` if the solver could not enforce rows that it treats as hard.
        sides: one per stacked row: LOWER, UPPER (held at or beyond that bound), EQUALITY or INSIDE.
        iterations: number of active-set iterations.
        milliseconds: time spent in the solver.
        solver: name of the solver.
        counters: numbers of operations (factorizations, updates, ...).
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
        """Convert the solution of ``program.relative_to_center()`` to that of the program."""
        return replace(self, program=program, x=self.x + program.center)

    def explain(self) -> str:
        """Return a text that lists violated and saturated rows, by how much, and which rows are in the way."""
        from poise.solvers.optimality import explain

        return explain(self)

    def __repr__(self) -> str:
        worst = [float(np.abs(s).max(initial=0.0)) for s in self.slack]
        slack = ", ".join(f"{w:.2g}" for w in worst)
        return f"Solution({self.status} by {self.solver or 'unknown'}, worst slack by level [{slack}])"


# -- Thresholds of violations -----------------------------------------------------------------------------------------


#: Largest negligible amount of each unit: what no user could see or measure on a robot. Rates and accelerations are
#: those that a task with a gain of 10 1/s asks for to remove a negligible error. An encoder of 12 bits has steps of
#: 0.09 degrees; soles that sink into the ground by a tenth of a millimetre turn the joints of a leg by half of that.
NEGLIGIBLE = {
    "m": 1e-4,  # a tenth of a millimetre
    "rad": 1e-3,  # 0.06 degrees: a tenth of a millimetre at a lever of 10 cm
    "m/s": 1e-3,
    "rad/s": 1e-2,
    "m/s²": 1e-2,
    "rad/s²": 0.1,
    "m²/s²": 1e-2,  # moment per mass, in the equation of motion
    "N/kg": 1e-2,
    "N": 0.1,  # the weight of ten grams
    "N m": 0.01,
    "kg m/s": 0.01,
    "kg m/s²": 0.1,  # a force
    "kg m²/s": 1e-3,
    "kg m²/s²": 0.01,  # a moment
}


def negligible(unit: str, default: float = 0.0) -> float:
    """Return the largest violation or error in a unit that is negligible, see `NEGLIGIBLE`.

    Args:
        unit: unit of rows; several units are separated by commas, and the smallest threshold is returned.
        default: result for a unit without a threshold, and for numbers without a unit.

    >>> negligible("m, rad/s²")
    0.0001
    """
    return min((NEGLIGIBLE.get(part.strip().replace("^2", "²"), default) for part in unit.split(",")), default=default)
