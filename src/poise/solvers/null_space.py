"""NullSpace: strict priorities among equalities, in closed form."""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np

from poise.solvers.program import Program
from poise.solvers.rows import Array
from poise.solvers.settings import checked_damping, program_damping
from poise.solvers.solution import Solution
from poise.solvers.unit_rows import UnitRows, sides_at

#: Singular values of unit rows below this are taken as zero: the closed form has no other remedy against the
#: motions of size 1e9 that inverting them would ask for.
RANK = 1e-9


class NullSpace:
    """The recursive closed form of Siciliano and Slotine (1991), for programs made of equalities.

    With A_k x = b_k the rows of level k, each multiplied by the square root of its weight, N_k the projector on the
    null space of levels 0 to k (N_{-1} = I, x_{-1} = 0) and ``+`` the damped pseudo-inverse::

        x_k = x_{k-1} + (A_k N_{k-1})^+ (b_k - A_k x_{k-1})
        N_k = N_{k-1} - (A_k N_{k-1})^+ (A_k N_{k-1})        (always without damping)

    Each x_k is the shortest least-squares solution of level k that changes nothing above ([Saab2012] section 2.1).

    **Inequalities are ignored**: the answer then has status ``"relaxed"`` and its slack tells by how much they are
    violated. `accepts` says beforehand whether a program has none.

    Args:
        damping: scalar, or one per level: singular values s are inverted as ``s / (s^2 + damping^2)``.

    >>> NullSpace().solve(Program([Rows([[1, 0]], 1, 1), Rows([[1, 1]], 3, 3)])).x
    array([1., 2.])
    """

    def __init__(self, damping: float | Sequence[float] = 0.0) -> None:
        self.damping = checked_damping(damping)

    @staticmethod
    def accepts(program: Program) -> bool:
        """Whether every row that matters (weight not zero, some bound finite) is an equality."""
        rows = UnitRows.of(program)
        return bool((rows.equality | ~rows.counts).all())

    def solve(self, program: Program) -> Solution:
        """The closed-form solution of the equalities; never raises on a valid Program."""
        if program.center.any():
            return self.solve(program.about_center()).of(program)
        start = time.perf_counter()
        rows = UnitRows.of(program)
        status = "optimal" if (rows.equality | ~rows.counts).all() else "relaxed"
        x = np.zeros(program.variables)
        Z = np.eye(program.variables)  # N = Z Z.T
        solved = 0
        with np.errstate(all="ignore"):
            for k, damping in enumerate(program_damping(self.damping, program)):
                own = np.arange(program.rows)[program.slice(k)]
                own = own[rows.equality[own]]
                if not len(own) or not Z.shape[1]:
                    continue
                step, Z_next = _level(rows.A[own], rows.lower[own] - rows.A[own] @ x, rows.pull[own], damping, Z)
                if not np.isfinite(step).all():
                    status = "iterations"
                    break
                x, Z, solved = x + step, Z_next, solved + 1
            sides = sides_at(program, x, rows)
        return Solution(
            program=program,
            x=x,
            status=status,
            sides=sides,
            iterations=solved,
            milliseconds=1e3 * (time.perf_counter() - start),
            solver="null space",
            counters={"factorizations": 2 * solved},
        )


def _level(A: Array, error: Array, pull: Array, damping: float, Z: Array) -> tuple[Array, Array]:
    """``(A N)^+ error`` and the basis of the next null space.

    The rank is decided on unit rows A, so that neither scale nor weight of a row changes it; the step is then the
    solution of a problem of full rank, in which row i counts pull_i times.
    """
    try:
        _, size, V = np.linalg.svd(A @ Z)
        rank = int(np.count_nonzero(size > RANK))
        row_space, null_space = V[:rank].T, V[rank:].T
        U, s, W = np.linalg.svd(pull[:, None] * (A @ Z @ row_space), full_matrices=False)
        y = W.T @ (s / (s**2 + damping**2) * (U.T @ (pull * error)))
    except np.linalg.LinAlgError:  # an SVD that does not converge
        return np.full(Z.shape[0], np.nan), Z
    return Z @ (row_space @ y), Z @ null_space
