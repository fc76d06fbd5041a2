"""The check of a walk by a short simulation, against what the pendulum says and against the worker process."""

from __future__ import annotations

import itertools
import pickle
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from poise import runs
from poise.errors import UsageError
from poise.plans import PARAMETERS, SINUSOID_PARAMETERS, STYLES, FeasibilityCheck
from poise.runs import walk_check
from poise.runs.walk_motion import style_warnings

pytestmark = pytest.mark.needs_models

NEUTRAL = runs.Walk(robot="g1", steps=4)
#: Stairs of a knee's height, which no pendulum knows of.
HIGH_STAIRS = runs.Walk(robot="g1", speed=(0.3, 0.0, 0.0), terrain="stairs:0.3,0.3,3")  # type: ignore[call-arg]


def test_a_walk_that_walks_passes() -> None:
    check = runs.check_walk(NEUTRAL)
    assert check.feasible
    assert check.simulated
    assert "walks" in check.reason


def test_stairs_that_are_too_high_fail_although_the_pendulum_passes_them(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("POISE_CACHE", str(tmp_path))
    walk_check._answers.clear()
    first = runs.first_check(HIGH_STAIRS)
    assert first.feasible
    assert not first.simulated
    check = runs.check_walk(HIGH_STAIRS)
    assert not check.feasible
    assert "falls" in check.reason or "about to fall" in check.reason
    assert runs.first_check(HIGH_STAIRS) == check, "once it is known, the simulated answer comes first"


def test_a_slow_machine_gives_the_same_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    robot = NEUTRAL.load()
    known = walk_check.simulate_walk(NEUTRAL, robot)
    calls = itertools.count()
    for clock in ("process_time", "perf_counter", "monotonic"):
        monkeypatch.setattr(time, clock, lambda: 10.0 * next(calls))
    assert walk_check.simulate_walk(NEUTRAL, robot) == known
    assert "4 simulated steps" in known.reason


def test_a_walk_that_ends_before_its_first_step_is_answered_by_the_pendulum() -> None:
    check = runs.check_walk(replace(NEUTRAL, seconds=0.1))
    assert check.feasible
    assert not check.simulated


def test_the_same_question_is_answered_from_memory_and_from_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    known = runs.check_walk(NEUTRAL)

    def refuse(*_: Any) -> FeasibilityCheck:
        raise AssertionError("simulated again")

    monkeypatch.setattr(walk_check, "simulate_walk", refuse)
    assert runs.check_walk(NEUTRAL) == known
    monkeypatch.setattr(walk_check, "_answers", type(walk_check._answers)())
    assert runs.check_walk(runs.Walk(robot="g1", steps=4, style=STYLES["neutral"].replace(name="other"))) == known


@pytest.mark.parametrize(
    "other",
    [
        {"robot": "talos"},
        {"style": "proud"},
        {"speed": (0.2, 0.0, 0.0)},
        {"terrain": "stairs:0.05,0.3,3"},
        {"settings": {"dcm_gain": 5.0}},
        {"settings": {"style.chest_pitch": 0.1}},
    ],
    ids=str,
)
def test_all_that_changes_the_walk_is_part_of_the_question(other: dict[str, Any]) -> None:
    assert walk_check._question(runs.Walk(**{"robot": "g1", "steps": 4, **other})) != walk_check._question(NEUTRAL)


def test_a_worker_gives_the_same_answer_while_the_program_goes_on() -> None:
    checker = runs.WalkChecker(runs.check_walk)
    checker.request(NEUTRAL)
    assert checker.answer() is None, "it does not wait"
    assert checker.answer(timeout=120.0) == runs.check_walk(NEUTRAL)
    process = checker._process
    checker.close()
    assert process is not None
    assert process.poll() is not None


def test_a_walk_and_its_answer_can_be_sent_to_a_worker() -> None:
    assert pickle.loads(pickle.dumps(HIGH_STAIRS)) == HIGH_STAIRS


def test_a_walk_on_servos_is_refused_in_one_line() -> None:
    with pytest.raises(UsageError, match="position servos cannot be checked by simulation"):
        runs.check_walk(runs.Walk(robot="nao", mode="position"))


@pytest.mark.parametrize("name", ["sway", "sway_phase"])
def test_a_sway_is_refused_where_it_has_no_effect(name: str) -> None:
    with pytest.raises(UsageError, match=rf"style\.{name} has no effect with the default reference"):
        runs.Walk(robot="nao", settings={f"style.{name}": 0.1})
    runs.Walk(robot="nao", settings={f"style.{name}": 0.1, "com_reference": "sinusoid"})


def test_a_style_with_a_sway_that_has_no_effect_is_reported() -> None:
    walk = runs.Walk(robot="nao", style=STYLES["neutral"].replace(sway=0.1))
    robot = walk.load()
    (line,) = style_warnings(walk.behavior(robot, robot.stance("standing")))
    assert line == "the style sets sway, without effect: give --set com_reference=sinusoid"


@pytest.mark.slow
@pytest.mark.parametrize("end", ["low", "high"])
@pytest.mark.parametrize("name", [name for name in PARAMETERS if name not in SINUSOID_PARAMETERS])
def test_a_neutral_walk_with_one_parameter_at_an_end_of_its_range_walks_somewhere(name: str, end: str) -> None:
    style = STYLES["neutral"].replace(**{name: getattr(PARAMETERS[name], end)})
    walks = (runs.Walk(robot=robot, mode="torque", style=style, steps=12) for robot in ("talos", "g1", "nao"))
    assert any(runs.check_walk(walk).feasible for walk in walks)


@pytest.mark.parametrize("robot", ["g1", "talos", "nao"])
@pytest.mark.parametrize("end", ["low", "high"])
def test_the_widest_steps_to_the_side_walk_on_three_robots(robot: str, end: str) -> None:
    style = STYLES["neutral"].replace(lateral_step=getattr(PARAMETERS["lateral_step"], end))
    assert runs.check_walk(runs.Walk(robot=robot, mode="torque", style=style, steps=12)).feasible
