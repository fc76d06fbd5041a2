"""The weighted quadratic program of a Program: what solvers without strict priorities are asked."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from poise.solvers import UNBOUNDED, Array, Program

#: Ratio of the highest to the lowest weight of a level. With more, quadratic programming becomes unreliable.
SPREAD = 1e2
#: Cost of |x|^2 relative to the lowest weight: makes the Hessian positive definite, too little to be seen in a task.
REGULARIZATION = 1e-6


def level_weights(levels: int) -> Array:
    """Weights of the levels 1, 2, ..., falling by equal factors from SPREAD to 1."""
    return np.geomspace(SPREAD, 1.0, max(levels - 1, 0)) if levels > 2 else np.ones(max(levels - 1, 0))


@dataclass(frozen=True)
class QuadraticProgram:
    """One weighted cost, with level 0 as constraints.

    ::

        minimise    x'Hx/2 + f'x + sum_{i soft} weight_i s_i^2 / 2
        subject to  lower_i <= a_i x       <= upper_i   for the rows of level 0
                    lower_i <= a_i x - s_i <= upper_i   for the soft rows

    Equalities of the levels from 1 on make H and f; inequalities of these levels are the soft rows.

    Attributes:
        H, f: the cost of the equalities.
        A, lower, upper: constraints, those of level 0 first, with infinite bounds where there are none.
        equality: which constraints are equalities (of level 0; soft rows never are).
        soft: which constraints are soft.
        weight: of the soft ones; zero for the others.
    """

    H: Array
    f: Array
    A: Array
    lower: Array
    upper: Array
    equality: NDArray[np.bool_]
    soft: NDArray[np.bool_]
    weight: Array

    @classmethod
    def of(cls, program: Program) -> QuadraticProgram:
        """The weighted quadratic program with the weights of `level_weights`."""
        n = program.variables
        level = np.repeat(np.arange(len(program)), np.diff(program.level_begin))
        weight = np.append(0.0, level_weights(len(program)))[level] * program.weight
        bounded = (program.lower > -UNBOUNDED) | (program.upper < UNBOUNDED)
        equality = program.lower == program.upper
        fitted = (level > 0) & equality
        pull = np.sqrt(weight[fitted])
        J, b = pull[:, None] * program.A[fitted], pull * program.lower[fitted]
        kept = bounded & ~fitted
        return cls(
            H=np.ascontiguousarray(J.T @ J + REGULARIZATION * np.eye(n)),
            f=-J.T @ b,
            A=np.ascontiguousarray(program.A[kept]),
            lower=np.where(program.lower > -UNBOUNDED, program.lower, -np.inf)[kept],
            upper=np.where(program.upper < UNBOUNDED, program.upper, np.inf)[kept],
            equality=equality[kept],
            soft=level[kept] > 0,
            weight=weight[kept],
        )

    def with_slack(self) -> QuadraticProgram:
        """The same problem for solvers that know only hard constraints: each soft row gets a variable s_i."""
        n, soft = len(self.f), np.flatnonzero(self.soft)
        H = np.zeros((n + len(soft), n + len(soft)))
        H[:n, :n] = self.H
        H[n:, n:] = np.diag(self.weight[soft])
        A = np.hstack([self.A, np.zeros((len(self.A), len(soft)))])
        A[soft, n + np.arange(len(soft))] = -1.0
        none = np.zeros(len(self.A))
        f = np.append(self.f, np.zeros(len(soft)))
        return QuadraticProgram(H, f, A, self.lower, self.upper, self.equality, none.astype(bool), none)


def simple_bounds(A: Array, candidates: NDArray[np.bool_]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Rows with a single entry, at most one for each variable, and the columns of these entries."""
    single = np.flatnonzero(candidates & (np.count_nonzero(A, axis=1) == 1))
    column, first = np.unique(np.argmax(A[single] != 0.0, axis=1), return_index=True)
    return single[first], column
