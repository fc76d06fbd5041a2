"""Levels of single unknowns with equal weights, a special case of the kernel, against the reference."""

import numpy as np
import pytest

from poise.solvers import Cascade, Lexicographic, Program, Rows, certificate


def posture_program(seed: int) -> Program:
    """Limits, some rows, and a posture of all but a few unknowns: the shape of most whole-body programs."""
    random = np.random.default_rng(seed)
    n = int(random.integers(10, 30))
    others = int(random.integers(0, 8))
    chosen = np.sort(random.permutation(n)[: n - others])
    held = random.normal(size=(int(random.integers(1, max(2, n // 2))), n))
    limit = random.uniform(0.3, 3.0)
    posture = random.normal(size=len(chosen))
    sign = random.choice([-1.0, 1.0], size=len(chosen)) * random.uniform(0.5, 2.0)
    targets = random.normal(size=len(held))
    return Program(
        [
            Rows.bounds(np.full(n, -limit), np.full(n, limit), name="limits"),
            Rows(held, targets, targets, name="tasks"),
            Rows(sign[0] * np.eye(n)[chosen], sign[0] * posture, sign[0] * posture, name="posture"),
            Rows(random.normal(size=(3, n)), -0.1, 0.1, name="what is left"),
        ]
    )


@pytest.mark.parametrize("seed", range(120))
def test_it_gives_the_answer_of_the_reference(seed: int) -> None:
    program = posture_program(seed)
    ours, reference = Lexicographic().solve(program), Cascade().solve(program)
    assert ours.status == "optimal"
    assert certificate(program, ours.x).residual < 1e-8
    assert ours.x == pytest.approx(reference.x, abs=1e-7)


@pytest.mark.parametrize("seed", range(20))
def test_it_survives_unknowns_that_nothing_but_the_least_norm_decides(seed: int) -> None:
    """Without rows above it, the unknowns outside the posture are free: the small matrix of the fit is singular."""
    random = np.random.default_rng(seed)
    chosen = np.sort(random.permutation(12)[:8])
    posture = random.normal(size=8)
    program = Program([Rows(np.eye(12)[chosen], posture, posture)])
    expected = np.zeros(12)
    expected[chosen] = posture
    assert Lexicographic().solve(program).x == pytest.approx(expected, abs=1e-12)
