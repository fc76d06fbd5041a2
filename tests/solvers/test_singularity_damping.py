"""Singularity damping: only levels that are nearly singular are damped, and continuously."""

import numpy as np
import pytest

from poise.errors import RowsError
from poise.solvers import Lexicographic, Program, Rows


def stretched_arm_program(angle: float, singularity_damping: float) -> Program:
    """Two nearly parallel rows with different targets."""
    A = np.array([[1.0, 0.0, 0.2], [np.cos(angle), np.sin(angle), 0.2]])
    return Program([Rows(A, [0.0, 1.0], [0.0, 1.0])], singularity_damping=[singularity_damping])


def test_a_level_away_from_singularities_is_solved_exactly() -> None:
    program = stretched_arm_program(0.5, 0.1)
    exact = Lexicographic().solve(Program(program.levels))
    first_damped_level = Lexicographic().solve(program)
    assert first_damped_level.x == pytest.approx(exact.x, abs=1e-12)
    assert first_damped_level.slack[0] == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("angle", [1e-1, 1e-2, 1e-4, 1e-6, 0.0])
def test_near_a_singularity_the_answer_stays_short(angle: float) -> None:
    first_damped_level = Lexicographic().solve(stretched_arm_program(angle, 0.3))
    # Bound of damped least squares: |b| / (2 damping), with damping up to the singularity damping.
    assert np.linalg.norm(first_damped_level.x) <= 1.0 / 0.3
    if angle > 0.0:
        assert np.linalg.norm(Lexicographic().solve(stretched_arm_program(angle, 0.0)).x) > 0.9 / angle


def test_the_explanation_marks_the_damped_level_and_no_other() -> None:
    lines = Lexicographic().solve(stretched_arm_program(1e-3, 0.3)).explain().splitlines()
    assert lines[1].startswith("level 0 (2 rows): 2 violated")
    assert lines[1].endswith("; damped near a singularity")
    conflict = Program([Rows([[1.0]], 0.0, 0.0), Rows([[1.0]], 1.0, 1.0)], singularity_damping=[0.0, 0.0])
    assert "damped" not in Lexicographic().solve(conflict).explain()


def test_it_sets_in_continuously() -> None:
    angles = np.linspace(0.6, 0.0, 1201)
    answers = np.array([Lexicographic().solve(stretched_arm_program(angle, 0.3)).x for angle in angles])
    jumps = np.abs(np.diff(answers, axis=0)).max(axis=1)
    assert jumps.max() < 0.06  # over a step of 0.0005 rad; it would be thousands without


def test_damping_of_lower_levels_does_not_degrade_higher_ones() -> None:
    above = Rows([[0.0, 1.0, 1.0]], 0.4, 0.4)
    below = Rows([[0.0, 1.0, 1.0001]], 5.0, 5.0)
    solution = Lexicographic().solve(Program([above, below], singularity_damping=[0.0, 0.5]))
    assert solution.slack[0] == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("seed", range(20))
def test_bounds_in_the_way_count_whatever_was_held_before(seed: int) -> None:
    """Random bounds, a task that only large motion against them would meet, and a posture, after other programs."""
    rng = np.random.default_rng(seed)
    limits = Rows.bounds(-rng.uniform(0.1, 1.0, 8), rng.uniform(0.1, 1.0, 8))
    task, posture = rng.standard_normal((3, 8)), rng.standard_normal(8)

    def program(size: float) -> Program:
        goal = size * np.array([1.0, -2.0, 0.5])
        levels = [limits, Rows(task, goal, goal), Rows(np.eye(8), posture, posture)]
        return Program(levels, singularity_damping=[0.0, 0.8, 0.0])

    damped = []
    for size in (0.1, 0.5, 1.0, 2.0, 4.0):
        cold = Lexicographic().solve(program(size))
        damped.append(cold.first_damped_level)
        for before in (0.1, 0.9, -1.0, 3.0):
            solver = Lexicographic()
            solver.solve(program(before))
            warm = solver.solve(program(size))
            assert warm.first_damped_level == cold.first_damped_level
            assert warm.x == pytest.approx(cold.x, abs=1e-8)
    assert damped[0] == -1
    assert seed != 0 or 1 in damped, "bounds are in the way of the larger goals"


@pytest.mark.parametrize("singularity_damping", [[0.1, 0.2], [-0.1], [np.nan]])
def test_an_invalid_singularity_damping_is_refused(singularity_damping: list[float]) -> None:
    with pytest.raises(RowsError, match="singularity_damping"):
        Program([Rows([[1.0]], 0.0, 0.0)], singularity_damping=singularity_damping)
