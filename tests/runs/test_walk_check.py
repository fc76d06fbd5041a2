"""Check of a walk by a short simulation, compared with the pendulum and with the worker process."""

from __future__ import annotations

import itertools
import math
import pickle
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from poise import runs
from poise.errors import UsageError
from poise.plans import PARAMETERS, SINUSOID_PARAMETERS, STYLES, FeasibilityCheck
from poise.runs import walk_check
from poise.runs.walk_motion import style_warnings
from robot_states import not_none
from waiting import wait_until

pytestmark = pytest.mark.needs_models

NEUTRAL = runs.Walk(robot="g1", steps=4)
#: Stairs of knee height, which the pendulum model ignores.
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
    assert runs.first_check(HIGH_STAIRS) == check, "the simulated result takes precedence once it is known"


def test_a_slow_machine_gives_the_same_result(monkeypatch: pytest.MonkeyPatch) -> None:
    robot = NEUTRAL.load()
    known = walk_check.simulate_walk(NEUTRAL, robot)
    calls = itertools.count()
    for clock in ("process_time", "perf_counter", "monotonic"):
        monkeypatch.setattr(time, clock, lambda: 10.0 * next(calls))
    assert walk_check.simulate_walk(NEUTRAL, robot) == known
    assert "4 simulated steps" in known.reason


def test_a_walk_that_ends_before_its_first_step_is_checked_by_the_pendulum() -> None:
    check = runs.check_walk(replace(NEUTRAL, seconds=0.1))
    assert check.feasible
    assert not check.simulated


def test_a_repeated_check_is_read_from_memory_and_from_disk(monkeypatch: pytest.MonkeyPatch) -> None:
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
def test_the_cache_key_contains_everything_that_changes_the_walk(other: dict[str, Any]) -> None:
    assert walk_check._question(runs.Walk(**{"robot": "g1", "steps": 4, **other})) != walk_check._question(NEUTRAL)


def test_a_worker_gives_the_same_result_while_the_program_continues() -> None:
    checker = runs.WalkChecker(runs.check_walk)
    checker.request(NEUTRAL)
    assert checker.answer() is None, "it does not wait"
    assert checker.answer(timeout=120.0) == runs.check_walk(NEUTRAL)
    process = checker._process
    checker.close()
    assert process is not None
    assert process.poll() is not None


@pytest.fixture
def checker() -> Iterator[runs.WalkChecker[FeasibilityCheck]]:
    checker = runs.WalkChecker(runs.check_walk)
    yield checker
    checker.close()


def kill_worker(checker: runs.WalkChecker[FeasibilityCheck]) -> None:
    """Kill the worker process and wait for its end."""
    process = not_none(checker._process)
    process.kill()
    process.wait()


def test_a_worker_that_dies_during_a_check_is_replaced_at_the_next_request(
    checker: runs.WalkChecker[FeasibilityCheck],
) -> None:
    assert checker.request(HIGH_STAIRS)
    first = not_none(checker._process)
    kill_worker(checker)
    wait_until(lambda: checker._process is None, "the death is noticed")
    assert checker.answer(timeout=math.inf) is None, "nobody is left to wait for"
    assert checker.request(NEUTRAL)
    assert not_none(checker._process).pid != first.pid
    assert wait_until(checker.answer, "the answer of the second worker") == runs.check_walk(NEUTRAL)


def test_a_worker_that_dies_between_two_checks_is_replaced_without_a_lost_request(
    checker: runs.WalkChecker[FeasibilityCheck],
) -> None:
    checker.request(NEUTRAL)
    known = wait_until(checker.answer, "the first answer")
    kill_worker(checker)
    assert checker.request(NEUTRAL)
    assert checker.answer() == known, "what is known needs no worker"
    other = replace(NEUTRAL, steps=3)
    assert checker.request(other)
    assert wait_until(checker.answer, "the answer of the second worker") == runs.check_walk(other)


def test_a_worker_that_keeps_dying_is_started_three_times_in_half_a_minute(
    checker: runs.WalkChecker[FeasibilityCheck], monkeypatch: pytest.MonkeyPatch
) -> None:
    clock, pids = [1000.0], set()
    monkeypatch.setattr(walk_check.time, "monotonic", lambda: clock[0])
    for _ in range(3):
        assert checker.request(NEUTRAL)
        pids.add(not_none(checker._process).pid)
        kill_worker(checker)
        clock[0] += 9.0
    assert len(pids) == 3
    assert not checker.request(NEUTRAL)
    assert checker._process is None
    clock[0] += 4.0  # 31 s after the first start
    assert checker.request(NEUTRAL)
    assert not_none(checker._process).poll() is None


def test_a_walk_and_its_result_can_be_sent_to_a_worker() -> None:
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
