"""Navigation runs: recording, result and exit status."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import threading
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import poise
from command_line import error_line
from poise import Recording, cli, runs
from poise.behaviors import NavigateSettings
from poise.control import KinematicController, PositionController, TorqueController
from poise.errors import UsageError
from poise.parameters import settings_from
from poise.plants import IdealPlant, MujocoPlant, PlantServer, PositionServos
from robot_states import installed_robot
from waiting import enable_ctrl_c, wait_for_exit, wait_until

SCRIPT = [
    {"time": 0.0, "mode": "trunk", "input": [1, 0, 0, 0, 0, 0]},
    {"time": 1.0, "mode": "left hand", "input": [0.5, 0, 1, 0, 0, 0]},
    {"time": 2.5, "mode": "left hand", "input": [0, 0, 0, 0, 0, 0]},
]


@pytest.fixture(scope="module")
def script(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("scripts") / "script.json"
    path.write_text(json.dumps(SCRIPT))
    return str(path)


@cache
def run_navigate(**parameters: Any) -> tuple[Recording, runs.Result]:
    return runs.Navigate(**{"robot": "mighty", **parameters}).run()


# -- robots, controllers and plants ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("robot", "parameters", "mode", "plant"),
    [
        ("mighty", {}, "position", "mujoco"),
        ("nao", {}, "position", "mujoco"),
        ("g1", {}, "torque", "mujoco"),
        ("talos", {}, "torque", "mujoco"),
        ("mighty", {"mode": "torque"}, "torque", "mujoco"),
        ("mighty", {"mode": "kinematic"}, "kinematic", "ideal"),
        ("g1", {"plant": "ideal"}, "torque", "ideal"),
    ],
)
def test_robots_with_servos_are_run_on_them(robot: str, parameters: dict[str, str], mode: str, plant: str) -> None:
    motion = runs.Navigate(robot=robot, **parameters)  # type: ignore[arg-type]
    assert (motion.mode, motion.plant) == (mode, plant)


def test_other_behaviors_run_on_mighty_as_on_any_robot() -> None:
    assert runs.Stand(robot="mighty").mode == "torque"


@pytest.mark.parametrize(
    ("mode", "controller", "plant"),
    [
        ("kinematic", KinematicController, IdealPlant),
        ("torque", TorqueController, MujocoPlant),
        ("position", PositionController, MujocoPlant),
    ],
)
def test_each_mode_has_its_controller_and_its_plant(mode: str, controller: type, plant: type) -> None:
    setup = runs.Navigate(robot="mighty", mode=mode).build()
    assert (type(setup.controller), type(setup.plant)) == (controller, plant)


def test_a_plant_in_position_mode_has_servos() -> None:
    start = installed_robot("mighty").stance("standing")
    ours, theirs = runs.Navigate(robot="mighty").build().plant, MujocoPlant(start, actuators=PositionServos())
    assert (ours.model.actuator_gainprm == theirs.model.actuator_gainprm).all()  # type: ignore[attr-defined]


# -- results -----------------------------------------------------------------------------------------------------------


def test_the_result_counts_segments_outcomes_and_modes() -> None:
    recording, result = run_navigate(seconds=4.0, seed=3)
    assert (result["behavior"], result["fell"], result["reason"]) == ("navigate", False, None)
    facts = result["navigate"]
    assert facts["segments"] == sum(facts["outcomes"].values()) == sum(facts["modes"].values())
    assert facts["segments"] == len(recording.provenance["segments"])
    assert facts["planned_margin_m"] >= 0.0
    assert 0.5 <= facts["longest_segment_s"] <= 3.0
    assert result["steps"] >= 0
    assert result["nonfinite_commands"] == 0
    assert json.loads(json.dumps(result, allow_nan=False)) == result


def test_guided_points_move_within_one_segment_of_a_command() -> None:
    response = run_navigate(seconds=4.0, seed=3)[1]["navigate"]["response_s"]
    assert response["commands"] >= 3
    assert response["within_one_segment"] == 1.0
    assert response["max"] < run_navigate(seconds=4.0, seed=3)[1]["navigate"]["longest_segment_s"]


def test_the_same_seed_gives_the_same_motion_and_another_one_another() -> None:
    once, again = (runs.Navigate(robot="mighty", seconds=0.6, seed=5).run()[0] for _ in range(2))
    other, _ = runs.Navigate(robot="mighty", seconds=0.6, seed=6).run()
    assert (once["q"] == again["q"]).all()
    assert not np.allclose(once["q"], other["q"])


def test_a_script_guides_the_trunk_ahead_and_then_the_hand_up(script: str) -> None:
    recording, result = run_navigate(script=script, seconds=3.0)
    assert result["reason"] is None
    assert result["steps"] >= 1
    assert result["distance_m"] > 0.04
    modes = [each["mode"] for each in recording.provenance["segments"]]
    assert list(dict.fromkeys(modes)) == ["trunk", "left hand"]
    assert recording.provenance["operator"] == script
    robot = installed_robot("mighty")
    ends = [recording.state(i, robot).pose(robot.hand("left")).translation[2] for i in (0, recording.samples - 1)]
    assert ends[1] > ends[0] + 0.01


def test_a_script_is_followed_to_its_end(script: str) -> None:
    assert runs.Navigate(robot="mighty", script=script).usual_seconds == 2.5


def test_a_kinematic_run_has_no_zmp_margin(script: str) -> None:
    _, result = run_navigate(script=script, mode="kinematic", seconds=2.0)
    assert (result["zmp_margin_m"], result["limits"], result["reason"]) == (None, None, None)


def test_segments_in_the_recording_join() -> None:
    """Each segment begins at the planned end of the last one, apart from tracking errors."""
    found = run_navigate(seconds=2.0, mode="kinematic", seed=1)[0].provenance["segments"]
    assert len(found) >= 3
    for before, after in pairwise(found):
        assert after["time"] == pytest.approx(before["time"] + before["duration"], abs=0.006)
        for point, displacement in before["planned_paths"].items():
            if point not in ("time", "zmp"):
                assert np.linalg.norm(np.subtract(displacement[-1], after["planned_paths"][point][0])) < 5e-3


def test_zero_moment_points_are_planned_within_the_soles() -> None:
    from poise.geometry import polygon
    from poise.plans import ThreeMassModel

    half = ThreeMassModel.of(installed_robot("mighty")).sole_half
    segments = run_navigate(seconds=4.0, seed=3)[0].provenance["segments"]
    standing = [each for each in segments if each["swing_foot"] is None and each["foot_in_air"] is None]
    assert standing
    for each in standing:
        feet = [each["planned_paths"][f"{side} foot"][0] for side in ("left", "right")]
        corners = [(x + a * half[0], y + b * half[1]) for x, y, _ in feet for a in (-1, 1) for b in (-1, 1)]
        around = polygon.convex_hull(corners)
        # Feet are turned a little, which the corners here are not.
        assert all(
            np.linalg.norm(np.subtract(polygon.project(around, z), z)) < 0.01 for z in each["planned_paths"]["zmp"]
        )


def test_a_fall_is_reported_with_time_and_reason(script: str) -> None:
    _, result = run_navigate(script=script, seconds=3.0, push=("0,60,0,0.3@0.5",))
    assert result["fell"]
    assert re.match(r"fell at [0-2]\.\d+ s", result["reason"])


def test_a_fall_ends_the_command_with_1(script: str, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["run", "navigate", "--robot", "mighty", "--script", script, "--push", "0,60,0,0.3@0.5", "--seconds", "3"]
    assert cli.main(words) == 1
    assert "failed: " in capsys.readouterr().out


def test_the_summary_counts_segments_and_steps(script: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["run", "navigate", "--robot", "mighty", "--script", script, "--seconds", "1"]) == 0
    out = capsys.readouterr().out
    assert re.search(r"segments +[1-9]\d* \(\d+ commanded\)", out)
    assert re.search(r"guided points move +\d\.\d\d s after the start of a segment", out)


# -- errors ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "evidence"),
    [
        ("nonsense", "is not JSON"),
        ("[]", "at least one entry"),
        ('[{"time": 0, "mode": "trunk", "input": [1, 0]}]', "expected 6 numbers"),
        ('[{"time": 0, "mode": "tail", "input": [1, 0, 0, 0, 0, 0]}]', "no guiding mode 'tail'"),
        ('[{"time": 1, "mode": "trunk", "input": [1, 0, 0, 0, 0, NaN]}]', "expected 6 numbers"),
    ],
)
def test_a_bad_script_is_refused_in_one_line(
    text: str, evidence: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "bad.json"
    path.write_text(text)
    message = error_line(capsys, "run", "navigate", "--robot", "mighty", "--script", path)
    assert evidence in message
    assert "bad.json" in message


@pytest.mark.parametrize(
    ("words", "evidence"),
    [
        (["run", "walk", "--scenario"], "--scenario is an option of 'poise run navigate'"),
        (["run", "walk", "--random"], "--random is an option of 'poise run navigate'"),
        (["run", "stand", "--remote", "tcp://127.0.0.1:5560"], "--remote is an option of 'poise run navigate'"),
        (["run", "navigate", "--random", "--scenario"], "--random and --scenario both guide the robot"),
        (["run", "navigate", "--script", "no/such/file.json"], "cannot be read"),
        (["run", "navigate", "--set", "admitance=4"], "did you mean 'admittance'?"),
        (["run", "navigate", "--set", "stabilizer=4"], "no setting 'stabilizer'"),
        (["run", "navigate", "--set", "duration=-1"], "duration is -1"),
        (["run", "navigate", "--terrain", "slope:5"], "flat ground and stairs"),
        (["run", "navigate", "--scenario", "--terrain", "stairs:0.1,0.3,4"], "has its own ground"),
        (["run", "navigate", "--scenario", "--remote", "tcp://127.0.0.1:5560"], "world of a remote plant"),
        (["run", "navigate", "--remote", "tcp://127.0.0.1:5560", "--mode", "kinematic"], "not ideal"),
        (["run", "navigate", "--remote", "nowhere"], "nowhere"),
        (["run", "navigate", "--robot", "nao", "--scenario"], "cannot step from tread to tread"),
    ],
)
def test_incompatible_options_are_refused_in_one_line(
    words: list[str], evidence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    robot = [] if "--robot" in words else ["--robot", "mighty"]
    assert evidence in error_line(capsys, *words, *robot)


def test_gains_of_the_stabilizer_are_settings_like_all_others() -> None:
    numbers = settings_from(NavigateSettings, {"swing_gain": 15.0, "admittance": 4.0})
    assert (numbers.swing_gain, numbers.stabilizer.admittance) == (15.0, 4.0)
    assert numbers.stabilizer.servo_dcm_gain == NavigateSettings().stabilizer.servo_dcm_gain
    with pytest.raises(UsageError, match="did you mean 'shift_decay'"):
        settings_from(NavigateSettings, {"shift_decai": 1.0})


# -- another process, and Ctrl-C ---------------------------------------------------------------------------------------


def test_a_remote_plant_is_guided_as_one_that_is_here(script: str) -> None:
    """In lock-step, to the last bit."""
    here, _ = run_navigate(script=script, seconds=1.0)
    start = installed_robot("mighty").stance("standing")
    with PlantServer(MujocoPlant(start, actuators=PositionServos()), "tcp://127.0.0.1:0") as server:
        served = threading.Thread(target=server.serve)
        served.start()
        try:
            there, result = runs.Navigate(robot="mighty", script=script, seconds=1.0, remote=server.address).run()
        finally:
            server.stop()
            served.join()
    assert result["reason"] is None
    assert (there["q"] == here["q"]).all()


@pytest.mark.skipif(sys.platform == "win32", reason="Ctrl-C cannot be sent to one process there")
def test_ctrl_c_preserves_the_recording_with_its_segments(tmp_path: Path) -> None:
    path = tmp_path / "guided.poise"
    command = [sys.executable, "-m", "poise", "run", "navigate", "--robot", "mighty", "--seconds", "900"]
    process = subprocess.Popen([*command, "--out", str(path)], stderr=subprocess.PIPE, preexec_fn=enable_ctrl_c)
    try:

        def file_size() -> float:
            return path.stat().st_size if path.exists() else 0

        wait_until(
            lambda: file_size() > 1_000_000 or process.poll() is not None, "1_000_000 bytes of a recording", file_size
        )
        assert process.poll() is None, process.communicate()
        process.send_signal(signal.SIGINT)
        wait_for_exit(process)
    finally:
        process.kill()
    assert process.returncode == 130
    facts = poise.load_recording(path).provenance
    assert facts["outcome"] == "interrupted"
    assert len(facts["segments"]) >= 1
