"""Solver programs as runs of a campaign: each is proven, and the judge sees a wrong answer."""

from dataclasses import replace
from pathlib import Path

import pytest

from poise.campaign.kinds.programs import GENERATORS, SolverPrograms
from poise.errors import UsageError
from poise.solvers import Lexicographic, Program, Solution

KIND = SolverPrograms()


def perform(generator: str, seed: int, solver: str = "strict"):
    return KIND.perform(KIND.read({"generator": generator, "solver": solver}, Path()), seed)


@pytest.mark.parametrize("generator", GENERATORS)
def test_programs_are_solved_and_proven(generator: str) -> None:
    failed = {seed: why for seed in range(14) if (why := perform(generator, seed).reason)}
    assert failed == {}


@pytest.mark.parametrize("seed", [24, 75])
def test_limits_that_stop_a_joint_contradict_no_other(seed: int) -> None:
    assert perform("id", seed).reason == ""


@pytest.mark.parametrize("generator", GENERATORS)
def test_a_program_gives_the_same_row_each_time(generator: str) -> None:
    rows = [dict(perform(generator, 3).values) for _ in range(2)]
    assert rows[0] == rows[1]


def test_a_wrong_answer_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    solve = Lexicographic.solve

    def wrong(self: Lexicographic, program: Program) -> Solution:
        answer = solve(self, program)
        return replace(answer, x=answer.x + 0.1)

    monkeypatch.setattr(Lexicographic, "solve", wrong)
    assert "the cold answer is not optimal: residual" in perform("random", 1).reason


def test_an_answer_that_is_not_finite_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    solve = Lexicographic.solve

    def wrong(self: Lexicographic, program: Program) -> Solution:
        answer = solve(self, program)
        return replace(answer, x=answer.x * float("nan"))

    monkeypatch.setattr(Lexicographic, "solve", wrong)
    assert "the cold answer is not finite" in perform("random", 1).reason


@pytest.mark.parametrize("given", [{"generator": "odd"}, {"solver": "odd"}, {"x": 1}])
def test_a_generator_or_solver_that_is_not_there_is_refused(given: dict[str, object]) -> None:
    with pytest.raises(UsageError, match="there"):
        KIND.read(given, Path())  # type: ignore[arg-type]
