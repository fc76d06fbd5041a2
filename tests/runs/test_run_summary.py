"""Summary of a run: the verdict first, then the figures of its motion."""

from __future__ import annotations

from typing import Any

import pytest

from poise.runs import summarize_run

COMMON: dict[str, Any] = {
    "behavior": "stand",
    "robot": "nao",
    "mode": "torque",
    "plant": "mujoco",
    "seconds": 2.0,
    "fell": False,
    "reason": None,
    "steps": 0,
    "distance_m": 0.002,
    "heading_rad": 0.0,
    "worst_tilt_deg": 1.0,
    "zmp_margin_m": 0.05,
    "reach_errors_m": None,
    "control_ms": {"median": 0.25, "p99": 1.0, "max": 2.0},
    "overruns": {"ticks": 0, "steps": 1000, "period_ms": 2.0, "worst_ms": None, "worst_time_s": None},
    "realtime_factor": 3.0,
    "fallbacks": {},
    "nonfinite_commands": 0,
    "levels": {},
    "limits": {},
    "quality": {},
    "warnings": [],
}


def figures(**changes: Any) -> dict[str, str]:
    return dict(summarize_run({**COMMON, **changes}).figures)


def test_the_verdict_comes_with_its_reason_and_the_motion_with_its_circumstances() -> None:
    summary = summarize_run(COMMON)
    assert (summary.succeeded, summary.verdict) == (True, "succeeded")
    assert summary.motion == "stand on nao, torque control in MuJoCo, 2.00 s"
    fallen = summarize_run({**COMMON, "fell": True, "reason": "fell at 1.20 s: torso"})
    assert (fallen.succeeded, fallen.verdict) == (False, "failed: fell at 1.20 s: torso")
    missed = summarize_run({**COMMON, "reason": "target 1 missed by 20.0 mm"})
    assert not missed.succeeded


def test_a_stand_has_no_figures_of_walks_or_reaches() -> None:
    assert list(figures()) == ["displacement of the base", "smallest ZMP margin", "computing time per control step"]


def test_a_negative_margin_is_described_as_outside() -> None:
    assert figures()["smallest ZMP margin"] == "50 mm"
    assert figures(zmp_margin_m=-0.14)["smallest ZMP margin"] == "-140 mm, outside the support polygon"
    assert figures(zmp_margin_m=-1e-5)["smallest ZMP margin"] == "0 mm"
    kinematic = figures(zmp_margin_m=-0.14, mode="kinematic")["smallest ZMP margin"]
    assert kinematic == "-140 mm, outside the support polygon, as kinematic control knows no forces"


def test_a_walk_without_a_whole_stride_has_no_speed() -> None:
    walk = {"style": "sad", "speed": None, "commanded_speed": [0.1, 0.0, -0.001], "dcm_error_m": 0.01, "slip_m": 0.002}
    found = figures(steps=2, walk=walk)
    name = "speed forward, to the left, turning"
    assert found[name] == "unknown without a whole stride (commanded 0.10 m/s, 0.00 m/s, 0.00 rad/s)"
    assert found["steps"] == "2, 0.00 m"
    assert figures(steps=9, walk={**walk, "speed": [0.12, -0.02, 0.3]})[name].startswith("0.12 m/s, -0.02 m/s, 0.30")


def test_motors_at_their_limit_are_listed_by_time_and_only_the_first_of_them() -> None:
    limits = {f"joint{k}": {"seconds": 0.1 * k, "limit_Nm": 2.5} for k in range(1, 6)}
    text = figures(limits=limits)["motors at their torque limit"]
    assert text == "joint5 0.50 s (2.5 N m), joint4 0.40 s (2.5 N m), joint3 0.30 s (2.5 N m) and 2 more"
    brief = {"knee": {"seconds": 0.004, "limit_Nm": 60.0}}
    assert figures(limits=brief)["motors at their torque limit"] == "knee 4 ms (60 N m)"


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"fallbacks": {"hold": 3}}, "the controller used fallbacks: hold (3) control steps"),
        ({"nonfinite_commands": 2}, "2 commands were not finite"),
        ({"warnings": ["a foot slips by 20 mm (at most 10)"]}, "a foot slips by 20 mm (at most 10)"),
    ],
)
def test_conspicuous_results_are_warnings(changes: dict[str, Any], sentence: str) -> None:
    assert summarize_run(COMMON).warnings == ()
    assert sentence in summarize_run({**COMMON, **changes}).warnings
