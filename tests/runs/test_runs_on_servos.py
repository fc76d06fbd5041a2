"""Stand, squat and walk on position servos, as the command line runs them ([Galdeano2014])."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from poise import runs
from poise.cli import main
from poise.errors import UsageError
from poise.recording import load_recording
from poise.robots import has_position_servos
from poise.runs import recorded_zmp_error, recovery_time, servo_balance


def test_a_pushed_robot_stands_and_its_zmp_comes_back() -> None:
    request = runs.Stand(robot="hoap3", mode="position", seconds=4.5, push=["0,15,0,0.1@3"])  # type: ignore[call-arg]
    recording, result = request.run()
    assert not result["fell"]
    assert result["reason"] is None
    assert result["nonfinite_commands"] == 0
    regulation = result["regulation"]
    assert regulation["zmp_regulated"]
    assert regulation["recovery_time_s"] < 1.0
    assert regulation["sensor_faults"] == []
    assert recording.provenance["regulation"]["stiffness"] == regulation["stiffness"] < 1.0
    assert recording.period == pytest.approx(0.001)


def test_squats_are_periodic_and_the_zmp_stays_near_the_middle() -> None:
    request = runs.Squat(robot="hoap3", mode="position", settings={"depth": 0.2, "cycles": 2.0, "frequency": 1.0})
    recording, result = request.run()
    regulation = result["regulation"]
    assert not result["fell"]
    assert len(regulation["cycle_rms_rad"]) == 1
    assert regulation["cycle_rms_rad"][0] < 0.02
    sole = runs.library_robot("hoap3").feet[0].sole
    assert regulation["zmp_max_m"] < 0.3 * sole.x_max
    low, high = np.ptp(recording["center_of_mass"][4000:, 2]), 0.2 * 0.26
    assert low == pytest.approx(high, rel=0.2)


@pytest.mark.parametrize("cycles", [2.0, pytest.param(10.0, marks=pytest.mark.slow)])
def test_a_squat_with_the_zmp_at_the_edge_has_not_succeeded(cycles: float) -> None:
    """Half of the leg is too deep for HOAP-3: its heels lift. After ten squats they repeat, but still at the edge."""
    _, result = runs.Squat(robot="hoap3", mode="position", settings={"depth": 0.5, "cycles": cycles}).run()
    assert not result["fell"]
    assert result["zmp_margin_m"] < 0.0
    assert "(ZMP) is at an edge of the soles" in result["reason"] if cycles == 10.0 else "squats" in result["reason"]


@pytest.mark.parametrize("robot", ["hoap3", pytest.param("nao", marks=pytest.mark.slow)])
def test_an_ordinary_squat_succeeds_and_its_arms_are_not_mentioned(robot: str) -> None:
    """The arms drift to the comfort posture by 46 to 76 degrees, which is no effect of a push."""
    _, result = runs.Squat(robot=robot, mode="position", settings={"cycles": 3.0}).run()
    assert result["reason"] is None
    assert result["quality"]["edge_time"] == 0.0
    assert result["quality"]["arm_deviation_deg"] is None


@pytest.mark.parametrize(
    ("differences", "repeats"),
    [
        ([0.012, 0.009, 0.006, 0.004], True),
        ([0.004, 0.006, 0.009, 0.012], False),
        ([0.001, 0.002, 0.003], True),
        ([0.03, 0.025, 0.022], False),
        ([0.015], True),
        ([0.025], False),
        ([], True),
    ],
)
def test_squats_repeat_if_their_differences_are_small_and_do_not_grow(differences: list[float], repeats: bool) -> None:
    assert (servo_balance._cycle_reasons(differences) == []) is repeats


def test_closed_form_and_strict_solver_give_the_same_squat_away_from_limits() -> None:
    numbers = {"depth": 0.15, "cycles": 0.5, "frequency": 1.0, "zmp_regulation": 0.0, "momentum_recovery_gain": 0.0}
    ends = [
        runs.Squat(robot="hoap3", mode="position", solver=solver, settings=numbers, noise=0.0).run()[0]["q"]  # type: ignore[call-arg]
        for solver in ("strict", "null-space")
    ]
    assert np.abs(ends[0] - ends[1]).max() < 1e-6


def test_a_box_is_carried_in_both_hands() -> None:
    recording, result = runs.Stand(robot="hoap3", mode="position", carried_mass=10.0, seconds=2.5).run()  # type: ignore[call-arg]
    assert not result["fell"]
    weight = recording["measured/cells/left_sole"].sum(axis=1) + recording["measured/cells/right_sole"].sum(axis=1)
    assert weight[-500:].mean() == pytest.approx(1.1 * 9.81 * runs.library_robot("hoap3").mass, rel=0.02)
    hands = "hands"
    assert hands in result["levels"]
    assert result["levels"][hands]["max"] < 0.02


def test_a_box_carried_in_torque_mode_adds_its_weight_to_the_ground_force() -> None:
    recording, result = runs.Stand(robot="nao", mode="torque", carried_mass=10.0, seconds=1.5).run()  # type: ignore[call-arg]
    assert (result["fell"], result["reason"]) == (False, None)
    robot = runs.library_robot("nao")
    force = np.sum([recording[f"measured/force/{foot.name}/fz"] for foot in robot.feet], axis=0)
    assert force[-100:].mean() == pytest.approx(1.1 * 9.81 * robot.mass, rel=0.005)
    heights = [[recording.state(i).pose(hand).translation[2] for hand in robot.hands] for i in (0, -1)]
    assert np.ptp(heights, axis=0) == pytest.approx([0.0, 0.0], abs=0.06)  # they sink by 10 cm with the usual gain


def test_a_walk_with_a_box_holds_its_arms_as_in_the_stance_that_carries() -> None:
    robot = runs.library_robot("nao")
    walk = runs.Walk(robot="nao", mode="torque", carried_mass=10.0, steps=2)  # type: ignore[call-arg]
    style, stance = walk.build().behavior.style, robot.stance("carrying")
    for name in ("LShoulderPitch", "RElbowRoll"):
        assert style.rest_posture[name] == stance.q[robot.joint(name).q]
    assert walk.resolved_settings().posture_gain < 20.0, "the weight of an announced box is fed forward"
    unknown = {"robot": "nao", "mode": "torque", "carried_mass": 10.0, "carried_knowledge": "unknown"}
    gains = [
        runs.Walk(**unknown, settings=settings).resolved_settings().posture_gain  # type: ignore[arg-type]
        for settings in ({}, {"posture_gain": 5.0})
    ]
    assert gains == [20.0, 5.0]


@pytest.mark.parametrize(
    ("motion", "robot", "message"),
    [("reach", "nao", "'reach' does not carry a box"), ("stand", "mighty", "has no stance 'carrying' for a box")],
)
def test_a_box_that_cannot_be_carried_is_refused_in_one_line(motion: str, robot: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        runs.MOTIONS[motion](robot=robot, mode="torque", plant="mujoco", carried_mass=10.0).build()  # type: ignore[call-arg]


def test_a_faulty_cell_is_named_and_the_robot_does_not_fall() -> None:
    _, result = runs.Stand(robot="hoap3", mode="position", faults=["cell:left:2:nan@1"], seconds=2.0).run()  # type: ignore[call-arg]
    assert not result["fell"]
    assert result["regulation"]["sensor_faults"] == [
        "the back right force cell of the left sole gives invalid readings"
    ]
    assert any("no ZMP regulation" in name for name in result["fallbacks"])


@pytest.mark.parametrize(
    ("motion", "parameters", "message"),
    [
        ("stand", {"solver": "weighted"}, "does not run with --solver weighted"),
        ("stand", {"mode": "torque", "solver": "null-space"}, "does not run with --solver null-space"),
        ("walk", {"style": "proud"}, "leave --style out"),
        ("walk", {"terrain": "slope:5"}, "leave --terrain out"),
    ],
)
def test_motions_that_servos_do_not_support_are_refused_in_one_line(
    motion: str, parameters: dict[str, Any], message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        runs.MOTIONS[motion](**{"robot": "hoap3", "mode": "position", **parameters})


@pytest.mark.parametrize(
    "words",
    [
        ["--set", "propotional=0.1"],
        ["--set", "comfort_posture=bed"],
        ["--set", "stiffness=0"],
        ["--fault", "cell:left:9:dead@1"],
        ["--fault", "weak:left_kne:0.3@1"],
        ["--carried-mass", "lots"],
    ],
)
def test_bad_arguments_are_refused_in_one_line_with_status_two(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert _status(["run", "stand", "--robot", "hoap3", "--mode", "position", "--seconds", "0.01", *words]) == 2
    lines = capsys.readouterr().err.strip().splitlines()
    assert lines
    assert "Traceback" not in "\n".join(lines)


@pytest.mark.parametrize(
    "words", [["--push", "-5,0,0,0.1@0.1"], ["--push=-5,0,0,0.1@0.1"], ["--push", "-.5,-3,0,0.1@0"]]
)
def test_a_push_may_begin_with_a_minus(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert (
        _status(["run", "stand", "--robot", "hoap3", "--mode", "position", "--seconds", "0.3", "--json", *words]) == 0
    )
    assert json.loads(capsys.readouterr().out)["fell"] is False


def test_the_command_line_prints_and_records_a_walk_on_servos(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "walk.poise"
    words = ["run", "walk", "--robot", "hoap3", "--mode", "position", "--steps", "2", "--json", "--out", str(file)]
    assert _status(words) == 0
    result = json.loads(capsys.readouterr().out)
    assert result["mode"] == "position"
    assert result["steps"] == 2
    assert not result["fell"]
    assert result["distance_m"] > 0.02
    recording = load_recording(file)
    assert recording.provenance["mode"] == "position"
    assert "measured/cells/left_sole" in recording


def test_the_recovery_time_lasts_until_the_error_stays_inside_the_tolerance() -> None:
    time = np.arange(0.0, 3.0, 0.01)
    error = np.where((time > 1.2) & (time < 1.7), 0.02, 0.001)
    assert recovery_time(time, error, 1.0) == pytest.approx(0.7, abs=0.011)
    assert recovery_time(time, np.full(len(time), 0.001), 1.0) == 0.0
    assert recovery_time(time, np.full(len(time), 0.02), 1.0) is None


def test_robots_that_take_angles_are_known_without_loading_them() -> None:
    assert [name for name in ("g1", "hoap3", "mighty", "nao", "talos", "nobody") if has_position_servos(name)] == [
        "hoap3",
        "mighty",
        "nao",
    ]


def test_the_error_of_a_recording_is_zero_where_nothing_presses() -> None:
    recording, _ = runs.Stand(robot="hoap3", mode="position", seconds=0.3).run()
    assert np.abs(recorded_zmp_error(recording, runs.library_robot("hoap3"))[:3]).max() < 2e-3


def _status(words: list[str]) -> int:
    try:
        return int(main(words) or 0)
    except SystemExit as end:
        return int(end.code or 0)
