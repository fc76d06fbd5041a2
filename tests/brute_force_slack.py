"""Brute-force reference: optimal slack of a small program by trying every active set.

At the shortest optimal point of a level, every inequality is either away from its bounds or at or beyond one of
them. Given that pattern, the point is the shortest solution of an equality-constrained least-squares problem. So the
list of these solutions over all patterns contains an optimum: the one of least true cost among those that keep the
earlier levels. The search shares no code with the solvers, only the definition of a Program.
"""

from __future__ import annotations

import itertools

import numpy as np

from poise.arrays import Array
from poise.solvers import Program

ZERO = 1e-9


def exhaustive_slack(program: Program) -> list[Array]:
    """Return the optimal slack of every level; practical for at most 6 variables and 8 inequality rows."""
    n = program.variables
    norm = np.linalg.norm(program.A, axis=1)
    counts = (norm > 0.0) & (program.weight > 0.0)
    scale = np.where(counts, norm, 1.0)
    A, lower, upper = program.A / scale[:, None], program.lower / scale, program.upper / scale
    lower, upper = np.where(program.lower <= -1e20, -np.inf, lower), np.where(program.upper >= 1e20, np.inf, upper)
    root_weight = np.sqrt(program.weight) * scale
    fixed, value = np.zeros((0, n)), np.zeros(0)
    inactive = np.zeros(0, dtype=int)
    best = np.zeros(n)
    for k in range(len(program)):
        level_rows = np.arange(program.rows)[program.slice(k)]
        level_rows = level_rows[counts[level_rows]]
        if not len(level_rows):
            continue
        equal = level_rows[lower[level_rows] == upper[level_rows]]
        soft = level_rows[lower[level_rows] != upper[level_rows]]
        best = _best_point(
            (A, lower, upper, root_weight),
            fixed,
            value,
            inactive,
            equal,
            soft,
            np.array(_patterns(lower, upper, [*inactive, *soft])),
        )
        slack = A[level_rows] @ best - np.clip(A[level_rows] @ best, lower[level_rows], upper[level_rows])
        keep = level_rows[(lower[level_rows] == upper[level_rows]) | (np.abs(slack) > ZERO)]
        fixed, value = np.vstack([fixed, A[keep]]), np.append(value, A[keep] @ best)
        inactive = np.append(inactive, np.setdiff1d(level_rows, keep))
    return program.split(program.slack(best))


def _patterns(lower: Array, upper: Array, rows: list[int]) -> list[tuple[int, ...]]:
    choices = [[0] + [-1] * bool(lower[i] > -np.inf) + [1] * bool(upper[i] < np.inf) for i in rows]
    return list(itertools.product(*choices))


def _best_point(
    rows: tuple[Array, Array, Array, Array],
    fixed: Array,
    value: Array,
    inactive: Array,
    equal: Array,
    soft: Array,
    patterns: Array,
) -> Array:
    A, lower, upper, root_weight = rows
    count, n = len(patterns), A.shape[1]
    patterns = patterns.reshape(count, len(inactive) + len(soft))
    at_inactive, at_soft = patterns[:, : len(inactive)], patterns[:, len(inactive) :]

    def bound(side: Array, which: Array) -> Array:
        return np.where(side < 0, lower[which], np.where(side > 0, upper[which], 0.0))

    # Constraints G x = h and cost rows B x = c, with zero lines for rows that are away from their bounds.
    G = np.concatenate(
        [np.broadcast_to(fixed, (count, *fixed.shape)), (at_inactive != 0)[:, :, None] * A[inactive]], axis=1
    )
    h = np.concatenate([np.broadcast_to(value, (count, len(value))), bound(at_inactive, inactive)], axis=1)
    cost = np.concatenate([equal, soft])
    weight = np.concatenate([np.ones((count, len(equal))), at_soft != 0], axis=1) * root_weight[cost]
    B = weight[:, :, None] * A[cost]
    c = weight * np.concatenate([np.broadcast_to(lower[equal], (count, len(equal))), bound(at_soft, soft)], axis=1)
    G_inverse = _inverse(G)
    x = np.einsum("pij,pj->pi", G_inverse, h)
    consistent = (np.abs(np.einsum("pij,pj->pi", G, x) - h) < ZERO).all(axis=1)
    free = B @ (np.eye(n) - G_inverse @ G)
    x = x + np.einsum("pij,pj->pi", _inverse(free, root_weight[cost].max()), c - np.einsum("pij,pj->pi", B, x))
    inside = ((x @ A[inactive].T > lower[inactive] - ZERO) & (x @ A[inactive].T < upper[inactive] + ZERO)).all(axis=1)
    reached = x @ A[cost].T
    true_cost = ((root_weight[cost] * (reached - np.clip(reached, lower[cost], upper[cost]))) ** 2).sum(axis=1)
    true_cost[~(consistent & inside)] = np.inf
    return x[np.argmin(true_cost)]


def _inverse(stack: Array, size: float = 1.0) -> Array:
    """Return pseudo-inverses; singular values below 1e-11 of the size of the rows count as zero."""
    if stack.shape[1] == 0:
        return np.zeros((stack.shape[0], stack.shape[2], 0))
    U, s, V = np.linalg.svd(stack, full_matrices=False)
    inverse = np.where(s > 1e-11 * size, 1.0 / np.maximum(s, 1e-300), 0.0)
    return np.einsum("pki,pk,pjk->pij", V, inverse, U)
