"""Stack: its programs equal those built from Rows, and it can be rewritten at every tick."""

import numpy as np
import pytest

from poise.campaign.kinds.solver_programs import random_program
from poise.solvers import BlockShape, Cascade, Lexicographic, NullSpace, Program, Stack, Weighted

SHAPE: list[tuple[str, list[BlockShape]]] = [
    ("limits", [BlockShape("hip", "rad/s", ("low", "high"))]),
    ("nothing", []),
    ("reach", [BlockShape("hand", "m/s", ("x", "y")), BlockShape("gaze", "rad/s", ("up",))]),
]


def random_stack(variables: int = 4, seed: int = 0) -> Stack:
    random = np.random.default_rng(seed)
    stack = Stack(SHAPE, variables)
    stack.A[:] = random.normal(size=stack.A.shape)
    stack.lower[:] = random.normal(size=len(stack.lower))
    stack.upper[:] = stack.lower + random.choice([0.0, 1.0], len(stack.lower))
    stack.weight[:] = random.uniform(0.5, 2.0, len(stack.lower))
    return stack


def stack_of_program(program: Program) -> Stack:
    """The same program as a stack."""
    shape = [
        (name, [BlockShape(rows.name, rows.unit, tuple(map(str, range(len(rows))))) for rows in group])
        for name, group in zip(program.names, program.levels, strict=True)
    ]
    stack = Stack(shape, program.variables)
    for block, rows in zip(stack.blocks, (rows for group in program.levels for rows in group), strict=True):
        block.A[:], block.lower[:], block.upper[:], block.weight[:] = rows.A, rows.lower, rows.upper, rows.weight
    return stack


def test_blocks_are_views_of_the_stack_in_the_order_of_the_levels() -> None:
    stack = Stack(SHAPE, variables=4)
    assert stack.level_begin == [0, 2, 2, 5]
    assert [(b.level, b.name, b.rows.start, b.rows.stop) for b in stack.blocks] == [
        (0, "hip", 0, 2),
        (2, "hand", 2, 4),
        (2, "gaze", 4, 5),
    ]
    for i, block in enumerate(stack.blocks):
        for array in (block.A, block.lower, block.upper, block.weight):
            array[:] = i
    expected = np.array([0, 0, 1, 1, 2.0])
    assert np.array_equal(stack.A, np.tile(expected[:, None], 4))
    for column in (stack.lower, stack.upper, stack.weight):
        assert np.array_equal(column, expected)


def test_weights_are_one_until_they_are_written() -> None:
    assert np.array_equal(Stack(SHAPE, variables=2).weight, np.ones(5))


def test_a_program_of_a_stack_reads_like_one_made_of_rows() -> None:
    stack = random_stack()
    program = stack.program()
    assert isinstance(program, Program)
    assert (len(program), program.rows, program.variables) == (3, 5, 4)
    assert program.names == ("limits", "nothing", "reach")
    assert program.level_begin == [0, 2, 2, 5]
    assert [[rows.name for rows in group] for group in program.levels] == [["hip"], [], ["hand", "gaze"]]
    hand = program.levels[2][0]
    assert (hand.unit, hand.labels, hand.label(1)) == ("m/s", ("x", "y"), "hand[y]")
    for name in ("A", "lower", "upper", "weight"):
        assert np.array_equal(getattr(program, name), getattr(stack, name)), name
        assert np.array_equal(getattr(hand, name), getattr(stack, name)[2:4]), name
    assert program.block(4) == (2, program.levels[2][1], 0)


def test_a_program_keeps_its_numbers_when_the_stack_is_written_again() -> None:
    stack = random_stack()
    program = stack.program()
    A, lower, rows = program.A.copy(), program.lower.copy(), program.levels[0][0]
    stack.A[:], stack.lower[:], stack.upper[:], stack.weight[:] = 7.0, 7.0, 8.0, 9.0
    stack.damping[:] = 0.3
    assert np.array_equal(program.A, A)
    assert np.array_equal(program.lower, lower)
    assert np.array_equal(rows.A, A[:2])
    assert not np.any(program.damping)
    assert np.array_equal(stack.program().A, np.full((5, 4), 7.0))
    assert np.array_equal(stack.program().damping, [0.3, 0.3, 0.3])


@pytest.mark.parametrize("solver", [Lexicographic, Cascade, Weighted, NullSpace])
@pytest.mark.parametrize("seed", range(6))
def test_a_solver_gives_the_same_solution_for_a_stack_and_for_rows(solver: type, seed: int) -> None:
    program = random_program(seed, levels=(2, 5), variables=(4, 12))
    expected, found = solver().solve(program), solver().solve(stack_of_program(program).program())
    assert found.status == expected.status
    assert np.array_equal(found.x, expected.x)
    assert np.array_equal(found.sides, expected.sides)
    assert [s.tolist() for s in found.slack] == [s.tolist() for s in expected.slack]


@pytest.mark.parametrize("solver", [Lexicographic, Cascade, Weighted, NullSpace])
@pytest.mark.parametrize("seed", range(6))
def test_rows_that_are_single_unknowns_need_no_lines_and_change_no_answer(solver: type, seed: int) -> None:
    random = np.random.default_rng(seed)
    picked, words = random.permutation(6), tuple(map(str, range(6)))
    last = [int(i) for i in random.permutation(6)[:3]]
    plain, compact = (
        Stack(
            [
                ("bounds", [BlockShape("joint", "rad/s", words, picked.tolist() if short else None)]),
                SHAPE[2],
                ("posture", [BlockShape("posture", "rad", words[:3], last if short else None)]),
            ],
            variables=6,
        )
        for short in (False, True)
    )
    assert (plain.A.shape, compact.A.shape) == ((12, 6), (3, 6))
    plain.A[np.arange(6), picked] = 1.0
    plain.A[np.arange(9, 12), last] = 1.0
    warm_solvers = [solver(), solver()]
    for _ in range(5):
        A, b, c = random.normal(size=(3, 6)), 3.0 * random.normal(size=3), random.normal(size=3)
        answers = []
        for stack, own in zip((plain, compact), warm_solvers, strict=True):
            stack.lower[:6], stack.upper[:6] = -1.0, 1.0
            (stack.A[6:9] if stack is plain else stack.A)[:] = A
            stack.lower[6:9] = stack.upper[6:9] = b
            stack.lower[9:] = stack.upper[9:] = c
            program = stack.program()
            answers.append(own.solve(program))
            assert program.slack(answers[-1].x) == pytest.approx(plain.program().slack(answers[-1].x))
        assert np.array_equal(answers[0].program.A, answers[1].program.A)
        assert answers[0].x == pytest.approx(answers[1].x, abs=1e-9)
        assert np.array_equal(answers[0].sides, answers[1].sides)


def test_notes_go_with_the_program_and_change_no_answer() -> None:
    plain, noted = Stack(SHAPE, variables=4), Stack(SHAPE, variables=4, extra_columns=2)
    for stack in (plain, noted):
        stack.A[:] = np.random.default_rng(1).normal(size=stack.A.shape)
        stack.lower[:] = stack.upper[:] = np.arange(5.0)
    noted.extra_columns[:] = np.arange(10.0).reshape(2, 5)
    program = noted.program()
    noted.extra_columns[:] = 0.0
    assert np.array_equal(program.extra_columns, np.arange(10.0).reshape(2, 5))
    assert np.array_equal(Lexicographic().solve(program).x, Lexicographic().solve(plain.program()).x)


def test_a_warm_solver_gives_the_solutions_of_a_new_one_for_a_sequence_of_stacks() -> None:
    stack, warm = random_stack(variables=6, seed=3), Lexicographic()
    random = np.random.default_rng(4)
    for _ in range(30):
        stack.A[:] += 0.05 * random.normal(size=stack.A.shape)
        shift = 0.3 * random.normal(size=len(stack.lower))
        stack.lower[:] += shift
        stack.upper[:] += shift
        program = stack.program()
        assert warm.solve(program).x == pytest.approx(Lexicographic().solve(program).x, abs=1e-9)


def test_explanations_name_the_rows_of_a_stack() -> None:
    hip, hand = BlockShape("hip", "rad/s", ("bend",)), BlockShape("hand", "m/s", ("x",))
    stack = Stack([("limits", [hip]), ("reach", [hand])], variables=1)
    stack.A[:] = 1.0
    stack.lower[:], stack.upper[:] = (-1.0, 5.0), (1.0, 5.0)
    text = Lexicographic().solve(stack.program()).explain()
    assert "hip" in text
    assert "hand" in text
    assert "4 m/s" in text


def test_a_stack_may_have_no_rows() -> None:
    program = Stack([("always", []), ("reach", [])], variables=3).program()
    assert (program.rows, len(program), program.A.shape) == (0, 2, (0, 3))
    assert np.array_equal(Lexicographic().solve(program).x, np.zeros(3))
