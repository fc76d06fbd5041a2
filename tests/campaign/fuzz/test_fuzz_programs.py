"""Solver programs as runs of a campaign: each solution is verified, and wrong ones are detected."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from poise.campaign.kinds.solver_programs import GENERATORS, SolverPrograms
from poise.errors import UsageError
from poise.solvers import Cascade, Lexicographic, Program, Solution

KIND = SolverPrograms()


def run_seed(generator: str, seed: int, solver: str = "strict") -> Any:
    return KIND.run(KIND.check_parameters({"generator": generator, "solver": solver}, Path()), seed)


@pytest.mark.parametrize("generator", GENERATORS)
def test_programs_are_solved_and_proven(generator: str) -> None:
    failed = {seed: why for seed in range(14) if (why := run_seed(generator, seed).reason)}
    assert failed == {}


@pytest.mark.parametrize("seed", [24, 75])
def test_limits_that_stop_a_joint_contradict_no_other(seed: int) -> None:
    assert run_seed("id", seed).reason == ""


@pytest.mark.parametrize("generator", GENERATORS)
def test_a_program_gives_the_same_row_each_time(generator: str) -> None:
    rows = [dict(run_seed(generator, 3).values) for _ in range(2)]
    assert rows[0] == rows[1]


def test_a_wrong_solution_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    solve = Lexicographic.solve

    def wrong(self: Lexicographic, program: Program) -> Solution:
        answer = solve(self, program)
        return replace(answer, x=answer.x + 0.1)

    monkeypatch.setattr(Lexicographic, "solve", wrong)
    assert "the cold solution is not optimal: residual" in run_seed("random", 1).reason


def test_a_reference_that_differs_and_is_not_proven_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    solve = Cascade.solve
    monkeypatch.setattr(
        Cascade, "solve", lambda self, program: replace((found := solve(self, program)), x=found.x + 0.1)
    )
    seed = next(seed for seed in range(20) if run_seed("small", seed).values["reference_gap"] is not None)
    assert "from that of the reference" in run_seed("small", seed).reason


@pytest.mark.parametrize("seed", [1560, 1734, 2277])
def test_two_different_verified_solutions_are_reported_as_ambiguous(seed: int) -> None:
    """Rows of one level with weights that differ by twelve orders of magnitude: rounding decides which are violated."""
    outcome = run_seed("random", seed)
    assert outcome.reason == ""
    assert outcome.values["worst_residual"] < 1e-12
    if outcome.values["reference_gap"] > 1e-6:  # depends on rounding: other machines may find one solution
        assert outcome.values["ambiguous"]


def test_an_answer_that_is_not_finite_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    solve = Lexicographic.solve

    def wrong(self: Lexicographic, program: Program) -> Solution:
        answer = solve(self, program)
        return replace(answer, x=answer.x * float("nan"))

    monkeypatch.setattr(Lexicographic, "solve", wrong)
    assert "the cold solution is not finite" in run_seed("random", 1).reason


@pytest.mark.parametrize("parameters", [{"generator": "odd"}, {"solver": "odd"}, {"x": 1}])
def test_an_unknown_generator_or_solver_is_refused(parameters: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match="there"):
        KIND.check_parameters(parameters, Path())
