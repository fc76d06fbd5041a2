"""One level at a time: least squares under bounds, by a primal active set."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from poise.solvers.rows import Array
from poise.solvers.unit_rows import RANK


@dataclass(frozen=True)
class Bounds:
    """Unit rows ``lower <= A x <= upper``."""

    A: Array
    lower: Array
    upper: Array

    def __add__(self, more: Bounds) -> Bounds:
        return Bounds(np.vstack([self.A, more.A]), np.append(self.lower, more.lower), np.append(self.upper, more.upper))


@dataclass(frozen=True)
class Level:
    """The rows of one level that count, with pull and damping relative to the strongest pull."""

    rows: Bounds
    equality: NDArray[np.bool_]
    pull: Array
    damping: np.float64


@dataclass(frozen=True)
class Settled:
    """What the levels solved so far leave.

    Attributes:
        free: orthonormal basis of the directions that change no fixed value.
        inside: rows that stay inside their bounds.
    """

    free: Array
    inside: Bounds

    def joined(self, level: Level, x: Array, tolerance: float) -> Settled:
        """With one more level, for which x is optimal."""
        A, lower, upper, free = level.rows.A, level.rows.lower, level.rows.upper, self.free
        value = A @ x
        violation = np.abs(value - np.clip(value, lower, upper))
        fixed = level.equality | (violation > tolerance + _rounding(x))
        if fixed.any():
            _, size, V = scipy.linalg.svd(A[fixed] @ free, lapack_driver="gesvd")
            free = free @ V[np.count_nonzero(size > RANK) :].T
        widened = np.minimum(lower, value), np.maximum(upper, value)  # by no more than rounding
        return Settled(free, self.inside + Bounds(A[~fixed], widened[0][~fixed], widened[1][~fixed]))


class Search:
    """Primal active set for one level.

    The rows are those to stay inside, then the level's own. A row is *on* at its lower (-1) or upper (+1) bound, or off
    (0). Rows to stay inside that are on are held at their bound. For own rows that are on, the distance to the bound is
    in the cost, whichever the side. Given what is on, the problem is a least-squares fit in the directions N along
    the held rows. x moves towards the fit until a row that is off meets its bound and is turned on. At the fit, a
    row whose multiplier has the wrong sign is turned off; when there is none, x is optimal.

    The cost never grows and falls with every step of non-zero length. While it does not fall, the smallest index is
    chosen, which rules out cycles in exact arithmetic, and a row turned off three times in vain stays on: the sign of
    its multiplier is rounding.
    """

    def __init__(self, level: Level, settled: Settled, tolerance: float) -> None:
        self.rows, self.free = settled.inside + level.rows, settled.free
        self.damping, self.tolerance = level.damping, tolerance
        first = len(settled.inside.A)
        self.pull = np.append(np.zeros(first), level.pull)
        self.equality = np.append(np.zeros(first, dtype=bool), level.equality)
        self.own = np.arange(len(self.pull)) >= first
        self.on = np.zeros(len(self.pull), dtype=int)
        self.held: list[int] = []  # rows to stay inside that are on; each blocked the others, so they are independent
        self.stuck = False
        self.in_vain = np.zeros(len(self.pull), dtype=int)  # times a row was turned off since the cost last fell
        self.limit = 100 + 20 * len(self.pull)  # every row may come and go ten times

    def run(self, x: Array) -> tuple[Array, int, str]:
        """The optimum of the level from a point inside: x, iterations, status."""
        value = self.rows.A @ x
        self.on = np.where(value < self.rows.lower, -1, np.where(value > self.rows.upper, 1, 0)) * self.own
        self.on[self.equality] = 1
        least = np.inf
        for iteration in range(1, self.limit + 1):
            N, Q, R = self.tangent()
            p = self.step(x, N)
            length, blocker, side = self.first_blocker(x, p)
            x = x + length * p
            cost, rounding = self.cost(x)
            self.stuck = not cost < least - rounding
            if not self.stuck:
                least, self.in_vain[:] = cost, 0
            if blocker >= 0:
                self.on[blocker] = side
                self.held += [] if self.own[blocker] else [blocker]
                continue
            wrong = self.wrong_sign(x, Q, R)
            if wrong < 0:
                return x, iteration, "optimal"
            self.on[wrong] = 0
            self.in_vain[wrong] += 1
            self.held = [row for row in self.held if row != wrong]
        return x, self.limit, "iterations"

    def distance(self, x: Array) -> Array:
        """Signed distance of the own rows that are on from their bound; zero for all others."""
        bound = np.where(self.on < 0, self.rows.lower, self.rows.upper)
        return np.where(self.own & (self.on != 0), self.rows.A @ x - bound, 0.0)

    def cost(self, x: Array) -> tuple[float, float]:
        """The cost of the rows that are on, and the rounding error in it."""
        r, error = np.abs(self.distance(x)), _rounding(x)
        cost = ((self.pull * r) ** 2).sum() + self.damping**2 * (x @ x)
        return float(cost), float((self.pull**2 * error * (r + error)).sum() + 1e-14 * cost)

    def tangent(self) -> tuple[Array, Array, Array]:
        """Basis N of the directions along the held rows, and the factors of these: ``(A_held free).T = Q R``."""
        h = len(self.held)
        if not h:
            return self.free, np.zeros((self.free.shape[1], 0)), np.zeros((0, 0))
        Q, R = scipy.linalg.qr((self.rows.A[self.held] @ self.free).T)
        return self.free @ Q[:, h:], Q[:, :h], R[:h]

    def step(self, x: Array, N: Array) -> Array:
        """The shortest p = N y to the fit."""
        fitted = self.own & (self.on != 0)
        M, pull = self.rows.A[fitted] @ N, self.pull[fitted]
        target = -pull * self.distance(x)[fitted]
        if self.damping > 0.0:
            eye = self.damping * np.eye(N.shape[1])
            return N @ _least_squares(np.vstack([pull[:, None] * M, eye]), np.append(target, -eye @ (N.T @ x)))
        if M.size == 0:
            return np.zeros(len(x))
        _, size, V = scipy.linalg.svd(M, full_matrices=False, lapack_driver="gesvd")
        V = V[size > RANK].T  # the rank is that of the unit rows, whatever their pull
        return N @ (V @ _least_squares(pull[:, None] * (M @ V), target))

    def first_blocker(self, x: Array, p: Array) -> tuple[float, int, int]:
        """The fraction of p that is possible, the row that ends it (-1 for none) and its side."""
        speed, value, norm = self.rows.A @ p, self.rows.A @ x, float(np.linalg.norm(p))
        pace = np.abs(speed)
        room = np.where(speed > 0.0, self.rows.upper - value, value - self.rows.lower)
        # A pace of the size of rounding does not block, unless the step is so long that it matters.
        beyond = (pace > 1e-13 * norm) & (pace - room > _rounding(x + p))
        blocks = (self.on == 0) & np.isfinite(room) & ((pace > RANK * norm) | beyond)
        fraction = np.where(blocks, np.maximum(room, 0.0) / pace, np.inf)
        length = fraction.min(initial=np.inf)
        if not length < 1.0:
            return 1.0, -1, 0
        ties = np.flatnonzero(fraction <= length + 1e-14)
        row = int(ties[0] if self.stuck else ties[np.argmax(pace[ties])])
        return float(length), row, 1 if speed[row] > 0.0 else -1

    def wrong_sign(self, x: Array, Q: Array, R: Array) -> int:
        """The row that is on and whose multiplier has the most wrong sign, -1 for none.

        The multiplier of an own row is ``pull^2`` times its distance; those of the held rows cancel the gradient.
        """
        r, rounding = self.distance(x), _rounding(x)
        multiplier = self.pull**2 * r
        gradient = self.free.T @ (self.rows.A.T @ multiplier + self.damping**2 * x)
        size = np.abs(multiplier).max(initial=0.0) + self.damping**2 * np.abs(x).max(initial=0.0)
        if self.held:
            multiplier[self.held] = -scipy.linalg.solve_triangular(R, Q.T @ gradient)
        wrong = -self.on * multiplier
        visible = np.where(self.own, -self.on * r > rounding, wrong > rounding) & (wrong > self.tolerance * size)
        rows = np.flatnonzero(visible & ~self.equality & (self.in_vain < 3))
        if not len(rows):
            return -1
        return int(rows[0] if self.stuck else rows[np.argmax(wrong[rows])])


def _rounding(x: Array) -> float:
    """The error to expect in the value of a unit row at x."""
    return 1e-14 * (1.0 + float(np.abs(x).max(initial=0.0)))


def _least_squares(M: Array, b: Array) -> Array:
    """The y that minimises ``|M y - b|`` for M of full column rank.

    Householder reflections with column pivoting on rows sorted by size: exact row by row even when the rows differ in
    scale by many orders of magnitude, where an SVD is exact only relative to the largest row.
    """
    if M.shape[1] == 0:
        return np.zeros(0)
    order = np.argsort(-np.abs(M).max(axis=1), kind="stable")
    Q, R, columns = scipy.linalg.qr(M[order], mode="economic", pivoting=True)
    y = np.empty(M.shape[1])
    y[columns] = scipy.linalg.solve_triangular(R, Q.T @ b[order])
    return y
