"""daqp in two roles: one weighted quadratic program, and its own hierarchical mode."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.solvers.contenders import REFERENCE, QuadraticProgram, SolverAnswer, import_package, simple_bounds
from poise.arrays import Array
from poise.solvers import UNBOUNDED, Program

_EQUALITY, _SOFT, _INFINITY = 5, 8, 1e30  # constraint types and infinity of daqp


@dataclass(frozen=True)
class _DaqpProblem:
    """Bounds on x first (if there are any), then rows; `rho` are the reciprocal weights of soft rows."""

    H: Array
    f: Array
    A: Array
    upper: Array
    lower: Array
    sense: NDArray[np.intc]
    rho: Array
    break_points: NDArray[np.intc]

    @cached_property
    def shape(self) -> tuple[object, ...]:
        """Properties that must be equal for a workspace to be reused."""
        return self.H.shape, self.A.shape, self.sense.tobytes(), self.break_points.tobytes()

    @cached_property
    def rows(self) -> tuple[Array | None, ...]:
        """A, upper and lower for the update of daqp; None instead of an empty array, of which daqp reads an entry."""
        return tuple(part if part.size else None for part in (self.A, self.upper, self.lower))

    def precompute(self) -> _DaqpProblem:
        """Compute `shape` and `rows` before the timed call, and return this problem."""
        _ = self.shape, self.rows
        return self


class _DaqpModel:
    """A daqp Model that is reused while the shape of its problems stays the same."""

    def __init__(self) -> None:
        self._daqp = import_package("daqp")
        self.reset()

    def reset(self) -> None:
        self._model: Any = None
        self._shape: tuple[object, ...] = ()

    def read(self, outcome: Any) -> SolverAnswer:
        x, _, flag, _ = outcome
        ok = flag in (1, 2)  # optimal, or optimal with soft rows violated
        if not ok:
            self.reset()
        return SolverAnswer(np.array(x), ok)


class DaqpWeighted(_DaqpModel):
    """daqp on the weighted quadratic program, with a Model that is set up once and then updated and warm started.

    Level 0 is hard, and its rows with a single entry are simple bounds; inequalities of lower levels are soft
    constraints of daqp. A new set-up at each step takes 1.2 to 1.4 times as long.
    """

    name, strict = REFERENCE, False

    def prepare(self, program: Program) -> _DaqpProblem:
        qp = QuadraticProgram.of(program)
        sense = np.where(qp.soft, _SOFT, np.where(qp.equality, _EQUALITY, 0))
        with np.errstate(divide="ignore"):
            rho = np.where(qp.soft, 1.0 / qp.weight, 0.0)
        box, general = _split_bounds(qp.A, ~qp.soft)
        return _daqp_problem(qp, sense, rho, box, general, np.zeros(0, dtype=np.intc))

    def solve(self, prepared: _DaqpProblem) -> Any:
        model = self._model
        if model is not None and prepared.shape == self._shape:
            model.update(prepared.H, prepared.f, *prepared.rows)
        else:
            model = self._model = self._daqp.Model()
            self._shape = prepared.shape
            model.settings = {"eps_prox": 0.0}  # the Hessian is positive definite
            model.setup(prepared.H, prepared.f, prepared.A, prepared.upper, prepared.lower, prepared.sense)
            model.soft_weights(rho_l=prepared.rho, rho_u=prepared.rho)
        return model.solve()


class DaqpHierarchical(_DaqpModel):
    """daqp's hierarchical mode: the same levels through `break_points`, with the least-norm cost below them.

    Its regularization `rho_soft` stays at the default of 1e-6. With 1e-8 it agrees with the strict optimum on most of
    the recorded kinematic steps, but fails on most of the dynamic ones. Exit flag 3 hides levels that failed and counts
    as a failure.
    """

    name, strict = "daqp hierarchical", True

    def prepare(self, program: Program) -> _DaqpProblem:
        n, m = program.variables, program.rows
        first = np.arange(m) < program.level_begin[1]
        equality = program.lower == program.upper
        none = np.zeros(m)
        # An identity, because without a Hessian daqp returns memory that it never wrote.
        qp = QuadraticProgram(
            np.eye(n), np.zeros(n), program.A, program.lower, program.upper, equality, none.astype(bool), none
        )
        box, general = _split_bounds(program.A, first)
        begin = n if len(box[0]) else 0
        ends = [begin + int(np.sum(general < end)) for end in program.level_begin[1:]]
        return _daqp_problem(qp, np.where(equality, _EQUALITY, 0), none, box, general, np.array(ends, dtype=np.intc))

    def solve(self, prepared: _DaqpProblem) -> Any:
        model = self._model
        if model is not None and prepared.shape == self._shape:
            model.update(None, None, *prepared.rows, None, prepared.break_points)
        else:
            model = self._model = self._daqp.Model()
            self._shape = prepared.shape
            model.settings = {"eps_prox": 0.0}
            model.setup(
                prepared.H,
                prepared.f,
                prepared.A,
                prepared.upper,
                prepared.lower,
                prepared.sense,
                prepared.break_points,
            )
        return model.solve()


def _split_bounds(
    A: Array, hard: NDArray[np.bool_]
) -> tuple[tuple[NDArray[np.intp], NDArray[np.intp]], NDArray[np.intp]]:
    """Return the rows that are simple bounds, with their columns, and the other rows."""
    box = simple_bounds(A, hard)
    return box, np.setdiff1d(np.arange(len(A)), box[0])


def _daqp_problem(
    qp: QuadraticProgram,
    sense: NDArray[np.int_],
    rho: Array,
    box: tuple[NDArray[np.intp], NDArray[np.intp]],
    general: NDArray[np.intp],
    break_points: NDArray[np.intc],
) -> _DaqpProblem:
    (bound, column), n = box, len(qp.f)
    begin = n if len(bound) else 0
    scale = qp.A[bound, column]
    ends = np.sort(np.stack([qp.lower[bound] / scale, qp.upper[bound] / scale]), axis=0)  # a negative entry swaps them
    lower, upper = (
        np.append(np.full(begin, -np.inf), qp.lower[general]),
        np.append(np.full(begin, np.inf), qp.upper[general]),
    )
    lower[column], upper[column] = ends
    kinds = np.append(np.zeros(begin, dtype=int), sense[general])
    kinds[column] = sense[bound]
    return _DaqpProblem(
        H=qp.H,
        f=qp.f,
        A=np.ascontiguousarray(qp.A[general]),
        upper=np.where(upper < UNBOUNDED, upper, _INFINITY),
        lower=np.where(lower > -UNBOUNDED, lower, -_INFINITY),
        sense=kinds.astype(np.intc),
        rho=np.append(np.zeros(begin), rho[general]),
        break_points=break_points,
    ).precompute()
