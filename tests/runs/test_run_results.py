"""Results of a run: the recording and its evaluation."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from poise import Recording, load_recording, runs
from poise.analysis import largest_trunk_tilt, zmp_margin
from poise.errors import UsageError
from poise.files import json_ready
from robot_states import installed_robot

pytestmark = pytest.mark.needs_models

KEYS = [
    "behavior",
    "robot",
    "mode",
    "plant",
    "seconds",
    "fell",
    "reason",
    "steps",
    "distance_m",
    "heading_rad",
    "worst_tilt_deg",
    "zmp_margin_m",
    "reach_errors_m",
    "control_ms",
    "overruns",
    "realtime_factor",
    "fallbacks",
    "nonfinite_commands",
    "levels",
    "limits",
    "quality",
    "warnings",
]
REACH_KEYS = ["targets", "targets_reason"]


@cache
def full_reach() -> tuple[Recording, runs.Result]:
    return runs.Reach(profile="minimum-jerk").run()


@cache
def hurried_reach() -> tuple[Recording, runs.Result]:
    return runs.Reach(settings={"phase_duration": 0.2}).run()


def test_a_result_has_the_keys_of_the_contract() -> None:
    _, result = full_reach()
    assert list(result) == KEYS + REACH_KEYS
    assert list(result["control_ms"]) == ["median", "p99", "max"]
    assert all(list(level) == ["rms", "max", "unit"] for level in result["levels"].values())


def test_a_result_can_be_written_as_strict_json() -> None:
    for _, result in (full_reach(), hurried_reach()):
        assert json.loads(json.dumps(result, allow_nan=False)) == result


def test_a_reach_that_succeeds_has_no_reason() -> None:
    _, result = full_reach()
    assert result["reason"] is None
    assert result["fell"] is False
    assert len(result["reach_errors_m"]) == 3
    assert max(result["reach_errors_m"]) < 0.005


def test_a_reach_that_ends_too_early_names_the_missed_target() -> None:
    _, result = hurried_reach()
    assert result["seconds"] == pytest.approx(1.0)
    assert "target 1 missed by" in result["reason"]
    assert max(result["reach_errors_m"]) > 0.005


def test_only_targets_with_a_completed_phase_are_evaluated() -> None:
    _, result = runs.Reach(seconds=5.1).run()
    assert len(result["reach_errors_m"]) == 1
    assert result["seconds"] == pytest.approx(5.1)


def test_a_reach_names_its_targets_and_says_why_they_are_not_those_of_the_paper() -> None:
    short = {"g1": ("floor", "floor"), "romeo": ("middle", "middle (floor needs ")}
    for robot, (targets, text) in short.items():
        recording, result = runs.Reach(robot=robot, seconds=0.005).run()
        figures = dict(runs.summarize_run(result).figures)
        assert result["targets"] == recording.provenance["targets"] == targets
        assert result["targets_reason"] == recording.provenance["targets_reason"]
        assert (result["targets_reason"] is None) == (targets == "floor")
        assert figures["targets"].startswith(text)
        assert figures["reach errors"].startswith("none")
    chosen = runs.Reach(robot="romeo", seconds=0.005, targets="near").run().result
    assert (chosen["targets"], chosen["targets_reason"]) == ("near", None)


def test_a_run_of_a_single_step_is_a_run() -> None:
    recording, result = runs.Reach(seconds=0.005).run()
    assert recording.samples == 1
    assert result["seconds"] == 0.005
    assert result["reach_errors_m"] == []
    assert result["zmp_margin_m"] is None


@pytest.mark.parametrize("time", [1.0, 1000.0])
def test_a_run_does_not_withstand_a_push_after_its_end(tmp_path: Path, time: float) -> None:
    with pytest.raises(UsageError, match="never acts: the motion ends at 1 s; give an earlier TIME"):
        runs.Stand(robot="g1", seconds=1.0, push=f"900,0,0,0.1@{time:g}").run(tmp_path / "stand.poise")  # type: ignore[call-arg]
    assert not list(tmp_path.iterdir())


def test_a_run_writes_its_file_and_its_circumstances(tmp_path: Path) -> None:
    path = tmp_path / "reach.poise"
    request = runs.Reach(seconds=0.5, seed=7, settings={"gain": 3.0})
    times: list[float] = []
    recording, _ = request.run(path, times.append)
    loaded = load_recording(path)
    np.testing.assert_array_equal(loaded["q"], recording["q"])
    facts = loaded.provenance
    assert (facts["behavior"], facts["profile"], facts["seed"], facts["settings"]) == (
        "reach",
        "exponential",
        7,
        {"gain": 3.0},
    )
    np.testing.assert_allclose(times, recording.time)


def test_two_runs_with_the_same_parameters_are_the_same_motion() -> None:
    one, other = (runs.Reach(seconds=0.5).run()[0] for _ in range(2))
    np.testing.assert_array_equal(one["q"], other["q"])


def test_the_zmp_of_a_robot_at_rest_is_below_its_center_of_mass() -> None:
    recording, _ = runs.Reach(settings={"speed_share": 1e-9}, seconds=0.1).run()
    robot = installed_robot("g1")
    sole = robot.foot("right").sole
    half = min(sole.x_max - sole.x_min, sole.y_max - sole.y_min) / 2
    assert zmp_margin(recording, robot) == pytest.approx(half, abs=1e-4)  # in the middle of the sole


def test_a_slow_reach_keeps_its_zmp_inside_the_sole() -> None:
    # Constraints that become active change velocities of a kinematic motion at once: none here.
    unconstrained = {"min_body_distance": 0.0, "holding_share": 0.0}
    _, result = runs.Reach(
        robot="talos", profile="minimum-jerk", settings={"phase_duration": 4.0, **unconstrained}
    ).run()
    assert result["zmp_margin_m"] > 0.0


def test_the_tilt_of_a_robot_that_stands_is_zero() -> None:
    robot = installed_robot("g1")
    assert largest_trunk_tilt([robot.stance("standing")], robot) == pytest.approx(0.0, abs=1e-6)


def test_numbers_that_json_does_not_support_become_none() -> None:
    assert json_ready({"a": [1.0, float("nan")], "b": {"c": float("-inf")}, "d": "inf", "e": 3}) == {
        "a": [1.0, None],
        "b": {"c": None},
        "d": "inf",
        "e": 3,
    }
