"""The center of a program: the point towards which x is pulled in directions that no row determines."""

import numpy as np
import pytest

from poise.errors import RowsError
from poise.solvers import BlockShape, Cascade, Lexicographic, NullSpace, Program, Rows, Stack, Weighted, certificate


def random_program(seed: int, center: bool = True) -> Program:
    random = np.random.default_rng(seed)
    n = int(random.integers(4, 12))
    rows, targets = random.normal(size=(2, n)), random.normal(size=2)
    levels = [
        Rows.bounds(np.full(n, -1.0), np.full(n, 1.0)),
        Rows(rows, targets, targets),
        Rows(random.normal(size=(2, n)), -0.2, 0.3),
    ]
    return Program(levels, center=0.5 * random.normal(size=n) if center else None)


@pytest.mark.parametrize("seed", range(40))
def test_the_remaining_freedom_minimises_the_distance_to_the_center(seed: int) -> None:
    program = random_program(seed)
    ours, reference = Lexicographic().solve(program), Cascade().solve(program)
    assert ours.x == pytest.approx(reference.x, abs=1e-8)
    assert certificate(program, ours).residual < 1e-8
    for mine, other in zip(ours.slack, reference.slack, strict=True):
        assert mine == pytest.approx(other, abs=1e-8)
    plain = Lexicographic().solve(Program(program.levels))
    assert program.costs(ours.x) == pytest.approx(program.costs(plain.x), abs=1e-12)
    distance = np.linalg.norm(ours.x - program.center)
    assert distance <= np.linalg.norm(plain.x - program.center) + 1e-9


def test_without_rows_the_answer_is_the_center() -> None:
    program = Program([], variables=3, center=[1.0, -2.0, 3.0])
    for solver in (Lexicographic(), Cascade(), NullSpace(), Weighted()):
        assert solver.solve(program).x == pytest.approx([1.0, -2.0, 3.0])


def test_damping_pulls_towards_the_center() -> None:
    row = Rows([[1.0, 0.0]], 1.0, 1.0)
    near = Lexicographic().solve(Program([row], damping=[10.0], center=[0.4, 7.0])).x
    assert near == pytest.approx([0.4 + 0.6 / 101.0, 7.0])


def test_a_stack_has_one_too() -> None:
    stack = Stack([("posture", [BlockShape("one", "rad", ("a",), (1,))])], variables=3)
    stack.center[:] = [0.1, 0.2, 0.3]
    stack.lower[:] = stack.upper[:] = 5.0
    assert Lexicographic().solve(stack.program()).x == pytest.approx([0.1, 5.0, 0.3])


@pytest.mark.parametrize("center", [[1.0], [np.nan, 0.0], np.zeros((2, 2))])
def test_an_invalid_center_is_refused(center: object) -> None:
    with pytest.raises(RowsError, match="center"):
        Program([Rows([[1.0, 0.0]], 0.0, 0.0)], center=center)  # type: ignore[arg-type]
