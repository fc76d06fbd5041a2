"""Random programs of every kind that a solver must take as ordinary input."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from poise.solvers.program import Program
from poise.solvers.rows import Rows

Array = NDArray[np.float64]

MATRICES = ("plain", "scaled", "deficient", "singular", "duplicated", "dependent", "sparse", "unit")


def _matrix(rng: np.random.Generator, kind: str, m: int, n: int, above: Array) -> Array:
    """m rows, plain or rank deficient, near singular, duplicated or made of rows above."""
    A = rng.standard_normal((m, n))
    if kind == "deficient" and m > 1:
        rank = int(rng.integers(1, m))
        A = rng.standard_normal((m, rank)) @ rng.standard_normal((rank, n))
    elif kind == "singular" and m > 1:
        U, _, V = np.linalg.svd(A, full_matrices=False)
        A = U @ np.diag(np.geomspace(1.0, 10.0 ** -rng.uniform(2, 10), min(m, n))) @ V
    elif kind == "duplicated" and m > 1:
        A[m // 2 :] = A[: m - m // 2] * rng.choice([-1.0, 1.0])
    elif kind == "dependent" and len(above):
        A = rng.standard_normal((m, len(above))) @ above / np.sqrt(len(above))
    elif kind == "sparse":
        A *= rng.random((m, n)) < 0.3
    elif kind == "unit":
        A = np.eye(n)[rng.integers(0, n, m)]
    return A


def random_program(seed: int, levels: tuple[int, int] = (2, 7), variables: tuple[int, int] = (5, 60)) -> Program:
    """A program of mixed equalities, inequalities and bounds; the seed decides everything."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(variables[0], variables[1] + 1))
    depth = int(rng.integers(levels[0], levels[1] + 1))
    stack: list[Rows | list[Rows]] = []
    above = np.zeros((0, n))
    feasible = rng.standard_normal(n)
    if rng.random() < 0.4:
        width = rng.uniform(0.05, 2.0, n)
        bounds = Rows.bounds(-width, width, name="bounds")
        stack.append(bounds)
    while len(stack) < depth:
        if rng.random() < 0.03:
            stack.append([])
            continue
        m = int(rng.integers(1, max(2, min(n + 5, int(2 + 1.5 * n / depth) + 2))))
        kind_of_matrix = str(rng.choice(MATRICES))
        A = _matrix(rng, kind_of_matrix, m, n, above)
        center = A @ feasible if rng.random() < 0.5 else 2.0 * rng.standard_normal(m)
        lower, upper = center.copy(), center.copy()
        kind = rng.choice(["equality", "upper", "interval", "mixed"])
        if kind != "equality":
            loose = rng.random(m) < (0.5 if kind == "mixed" else 1.1)
            if kind == "upper":
                lower[loose] = -np.inf
                upper[loose] += rng.uniform(-0.5, 0.5, loose.sum())
            else:
                lower[loose] -= rng.uniform(0.0, 1.0, loose.sum())
                upper[loose] += rng.uniform(0.0, 1.0, loose.sum())
        if kind_of_matrix == "scaled" or (kind_of_matrix != "singular" and rng.random() < 0.3):
            scale = 10.0 ** rng.uniform(-3, 3, m)
            A, lower, upper = A * scale[:, None], lower * scale, upper * scale
        weight = rng.uniform(0.1, 10.0, m) if rng.random() < 0.3 else 1.0
        rows = Rows(A, lower, upper, weight, name=f"rows {len(stack)}")
        stack.append(rows)
        above = np.vstack([above, rows.A / np.maximum(np.linalg.norm(rows.A, axis=1, keepdims=True), 1e-12)])
    return Program(stack, variables=n)


SMALL_KINDS = ["plain", "integers", "duplicated", "scaled", "rank one", "weighted", "touching"]


def small_program(kind: str, seed: int) -> Program:
    """Up to 6 variables, 3 levels and 8 inequalities; one sided, two sided and equality rows mixed."""
    rng = np.random.default_rng([SMALL_KINDS.index(kind), seed])
    n, left = int(rng.integers(1, 7)), 8
    levels: list[Rows | list[Rows]] = []
    for _ in range(int(rng.integers(1, 4))):
        m = int(rng.integers(0, 5))
        A = rng.standard_normal((m, n))
        if kind == "integers":
            A = np.round(A)
        elif kind == "duplicated" and m > 1:
            A[-1] = A[0] * rng.choice([-2.0, 1.0, 0.5])
        elif kind == "scaled":
            A *= 10.0 ** rng.uniform(-3, 3, (m, 1))
        elif kind == "rank one":
            A = rng.standard_normal((m, 1)) @ rng.standard_normal((1, n))
        size = np.linalg.norm(A, axis=1)
        lower = np.zeros(m) if kind == "touching" else rng.standard_normal(m) * size
        upper = lower.copy()
        for i in range(m):
            side = int(rng.integers(0, 4)) if left else 0
            left -= side > 0
            if side == 1:
                lower[i] = -np.inf
            elif side == 2:
                upper[i] = rng.choice([np.inf, 1e20])
            elif side == 3:
                upper[i] += size[i] * rng.uniform(0.01, 1.0) + 1e-3
        weight = rng.choice([0.0, 0.1, 1.0, 10.0], m) if kind == "weighted" else np.ones(m)
        levels.append(Rows(A, lower, upper, weight) if m else [])
    return Program(levels, variables=n)
