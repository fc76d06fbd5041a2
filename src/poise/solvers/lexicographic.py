"""Compiled solvers with strict priorities.

`Lexicographic` handles equalities and inequalities; `NullSpace` is the closed form for equalities.
"""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from poise.errors import SolverError
from poise.solvers.cascade import Cascade
from poise.solvers.program import Program, check_damping, level_damping
from poise.solvers.solution import Solution, Solver
from poise.solvers.unit_rows import UnitRows

try:
    from poise.solvers import _kernel  # type: ignore[attr-defined]
except ImportError:  # built without a compiler
    _kernel = None


class Lexicographic(Solver):
    """Strict lexicographic least squares by a compiled hierarchical dual active-set method.

    The solver keeps its memory and the active set of its last solution: solving a sequence of similar programs
    with one solver is fast and gives the same solutions as solving each with a new one. Use one solver per thread;
    different solvers run in parallel, since the GIL is released.

    Args:
        budget: seconds of processor time after which it stops and returns, with status ``"budget"``, the best point
            found that keeps the levels already solved; the next solve continues with its active set. None: no limit.
        damping: added cost ``damping^2 |x|^2`` of a level, scalar for all or one per level, which keeps x short
            near singularities. Zero: exact.
        warm_start: start from the active set of the previous solution.
        required_levels: number of first levels that are solved even if that takes longer than the budget; controllers
            set at least 1, for physics or the limits.

    >>> Lexicographic().solve(Program([Rows.bounds([0, 0], [1, 1]), Rows([[1, 1]], 3, 3)])).x
    array([1., 1.])
    """

    def __init__(
        self,
        budget: float | None = None,
        damping: float | Sequence[float] = 0.0,
        warm_start: bool = True,
        required_levels: int = 0,
    ) -> None:
        if budget is not None and not (isinstance(budget, (int, float)) and budget >= 0.0):
            raise SolverError(f"budget is {budget!r}; expected seconds, zero or more, or None for no limit")
        self.budget = budget
        self._seconds = math.inf if budget is None else float(budget)
        self.required_levels = required_levels
        self.damping = check_damping(damping)
        self.warm_start = warm_start
        self.reset()
        if self._kernel is None:
            warnings.warn(
                "the compiled kernel is not built; Lexicographic falls back to the slower Cascade. "
                "Install a C++17 compiler and reinstall poise.",
                RuntimeWarning,
                stacklevel=2,
            )

    def reset(self) -> None:
        """Discard the active set of the last solution."""
        self._kernel = None if _kernel is None else _kernel.Kernel()
        self._structure: object = None

    def solve(self, program: Program) -> Solution:
        """Return the lexicographic optimum of the program; never raises on a valid Program."""
        kernel = self._kernel
        if kernel is None:
            return Cascade(damping=self.damping).solve(program)
        start = time.perf_counter()
        structure = program.structure
        if structure is not self._structure:
            if self._structure != structure:
                level_begin, variables, columns = structure
                kernel.layout(level_begin, variables, level_damping(self.damping, len(program)), columns)
            self._structure = structure
        x, sides = np.empty(program.variables), np.empty(program.level_begin[-1], np.int8)
        counts = kernel.solve(program.memory, self._seconds, self.required_levels, self.warm_start, x, sides)
        milliseconds = 1e3 * (time.perf_counter() - start)
        status = _kernel.statuses[counts[0]]
        return Solution(
            program, x, status, sides, counts[1], milliseconds, "lexicographic", KernelCounters(counts), counts[-1]
        )


class KernelCounters(Mapping[str, int]):
    """Counters of the kernel by name, as a mapping that looks up names only when they are read."""

    __slots__ = ("_values",)

    def __init__(self, values: tuple[int, ...]) -> None:
        self._values = values

    def __getitem__(self, name: str) -> int:
        if name not in _kernel.counters:
            raise KeyError(name)
        place: int = _kernel.counters.index(name)
        return self._values[1 + place]

    def __iter__(self) -> Iterator[str]:
        return iter(_kernel.counters)

    def __len__(self) -> int:
        return len(_kernel.counters)

    def __repr__(self) -> str:
        return repr(dict(self))


# -- NullSpace: strict priorities among equalities, in closed form ---------------------------------------------------


#: Singular values of unit rows below this are set to zero: inverting them would give solutions of size 1e9, and the
#: closed form has no other remedy.
RANK_TOLERANCE = 1e-9

#: Statuses in the order of the codes that the kernel returns.
STATUSES = ("optimal", "relaxed", "iterations")


class NullSpace(Solver):
    """Recursive null-space projection of Siciliano and Slotine (1991), for programs of equalities.

    With A_k x = b_k the rows of level k, each multiplied by the square root of its weight, N_k the projector on the
    null space of levels 0 to k (N_{-1} = I, x_{-1} = 0) and ``+`` the damped pseudo-inverse::

        x_k = x_{k-1} + (A_k N_{k-1})^+ (b_k - A_k x_{k-1})
        N_k = N_{k-1} - (A_k N_{k-1})^+ (A_k N_{k-1})        (always without damping)

    Each x_k is the shortest least-squares solution of level k that does not change the levels above ([Saab2012] section
    2.1).

    **Inequalities are ignored**: the solution then has status ``"relaxed"`` and its slack shows by how much they are
    violated. `accepts` tells beforehand whether a program has none. If numbers overflow, x is that of the levels
    solved so far, with status ``"iterations"``.

    Compiled. The solver keeps its memory, but no state: earlier programs do not affect a solution. Use one solver per
    thread; the GIL is released.

    Args:
        damping: scalar, or one per level: singular values s are inverted as ``s / (s^2 + damping^2)``.

    >>> NullSpace().solve(Program([Rows([[1, 0]], 1, 1), Rows([[1, 1]], 3, 3)])).x
    array([1., 2.])
    """

    def __init__(self, damping: float | Sequence[float] = 0.0) -> None:
        self.damping = check_damping(damping)
        if _kernel is None:
            raise SolverError(
                "the compiled kernel is not built, and NullSpace needs it; "
                "install a C++17 compiler and reinstall poise, or use Cascade()"
            )
        self._kernel = _kernel.NullSpace(RANK_TOLERANCE)
        self._structure: object = None

    @staticmethod
    def accepts(program: Program) -> bool:
        """Return whether every relevant row (nonzero, weight not zero, some bound finite) is an equality."""
        rows = UnitRows.from_program(program)
        return bool((rows.equality | ~rows.relevant).all())

    def solve(self, program: Program) -> Solution:
        """Return the closed-form solution of the equalities; never raises on a valid Program."""
        start = time.perf_counter()
        structure = program.structure
        if structure is not self._structure:
            if self._structure != structure:
                level_begin, variables, columns = structure
                self._kernel.layout(level_begin, variables, level_damping(self.damping, len(program)), columns)
            self._structure = structure
        x, sides = np.empty(program.variables), np.empty(program.level_begin[-1], np.int8)
        status, solved, factorizations = self._kernel.solve(program.memory, x, sides)
        milliseconds = 1e3 * (time.perf_counter() - start)
        counters = {"factorizations": factorizations}
        return Solution(program, x, STATUSES[status], sides, solved, milliseconds, "null space", counters)
