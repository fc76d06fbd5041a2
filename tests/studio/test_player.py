"""Playback of a walk and its reproduction: positions of both bodies and of the markers over time."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import poise
from poise import tasks
from poise.recording import Recorder, load_recording
from poise.robots import State
from poise.studio import player
from poise.studio.fit_data import FitRequest, GaitResult
from poise.studio.fit_worker import fit_and_reproduce
from poise.studio.player import WHOLE_TRIAL, GaitPlayer, RecordingPlayer
from poise.studio.scene_runner import SceneRunner
from poise.studio.scenes import find_scene
from poise.studio.telemetry import Telemetry
from poise.viewer.view_frame import ViewFrame
from poise.viewer.viewer import Viewer
from robot_states import installed_robot, not_none


@pytest.fixture(scope="module")
def result() -> GaitResult:
    return fit_and_reproduce(FitRequest(), lambda words, share: None)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Any:
    class Clock:
        now = 100.0

    monkeypatch.setattr(player.time, "monotonic", lambda: Clock.now)
    return Clock


def test_both_bodies_have_the_poses_of_fit_and_reproduction(result: GaitResult) -> None:
    values: dict[str, Any] = {"variant": "paper", "ghost_offset": 0.7, "show_markers": True}
    play = GaitPlayer(result, lambda: values)
    assert result.cycle is not None
    begin, end = result.cycle.initial_contact, result.cycle.end
    assert play.duration == pytest.approx(end - begin)
    play.seek(0.5)
    view_frame = play.view_frame()
    k = int(np.argmin(np.abs(result.time - begin - 0.5)))
    assert view_frame.poses["robot"][1, :3] == pytest.approx(result.q[k, :3])
    assert view_frame.markers is not None
    assert np.array_equal(view_frame.markers["known"], result.markers[k])
    heel = play.robot.frame("left_heel")
    placed = State(play.robot, result.q[k]).pose(heel).translation
    other = result.reproductions["paper"]
    n = int(np.argmin(np.abs(other.time - begin - 0.5)))
    ghost = State(play.robot, other.q[n]).pose(heel).translation
    assert ghost[:2] == pytest.approx(placed[:2], abs=0.02), "without an offset its feet are those of the person"
    left = np.array([-result.heading[1], result.heading[0], 0.0])
    assert view_frame.poses["ghost"][1, :3] == pytest.approx(other.q[n, :3] + 0.7 * left)
    values["variant"], values["show_markers"] = "two phases", False
    assert play.view_frame().poses["ghost"][1, :3] != pytest.approx(view_frame.poses["ghost"][1, :3])
    assert play.view_frame().markers is None


def test_markers_are_on_the_body(result: GaitResult) -> None:
    from poise.viewer.view_frame import joint_poses

    robot = GaitPlayer(result, dict).robot
    for k in range(0, len(result.time), 50):
        joints = joint_poses(State(robot, result.q[k]))[1:, :3]
        far = np.linalg.norm(result.markers[k][:, None] - joints[None], axis=2).min(axis=1)
        assert far.max() < 0.3, "each is within a limb's length of some joint"


def test_a_cycle_is_played_over_and_over_and_the_whole_trial_has_no_ghost_beyond_it(
    result: GaitResult, clock: Any
) -> None:
    values: dict[str, Any] = {}
    play = GaitPlayer(result, lambda: values)
    play.time_scale = 0.5
    clock.now += 2.5 * play.duration
    assert play.page_data()["cycle_share"] == pytest.approx(0.25, abs=1e-3)
    assert play.page_data()["playing"]
    values["play_range"] = WHOLE_TRIAL
    assert play.duration == pytest.approx(result.time[-1])
    play.seek(0.0)
    assert set(play.view_frame().poses) == {"robot"}
    assert play.page_data()["cycle_share"] is None
    assert result.cycle is not None
    play.seek(result.cycle.initial_contact + 0.1)
    assert set(play.view_frame().poses) == {"robot", "ghost"}


def test_the_camera_shows_every_walking_direction_from_the_same_side(result: GaitResult, clock: Any) -> None:
    """A quarter turn of the walk turns the view as well, and the ghost is still to the left."""
    turned = dataclasses.replace(result, heading=np.array([0.0, 1.0, 0.0]))
    straight = dataclasses.replace(result, heading=np.array([1.0, 0.0, 0.0]))
    (x, y, z), (a, b, c) = GaitPlayer(straight, dict).camera_direction, GaitPlayer(turned, dict).camera_direction
    assert (a, b, c) == pytest.approx((-y, x, z))
    play = GaitPlayer(turned, lambda: {"ghost_offset": 1.0})
    other = next(iter(result.reproductions.values()))
    assert play.view_frame().poses["ghost"][1, :3] == pytest.approx(other.q[0, :3] + [-1.0, 0.0, 0.0])


@pytest.mark.parametrize("nonsense", [None, "x", float("nan"), [], -1e9])
def test_invalid_control_values_are_ignored(result: GaitResult, nonsense: object) -> None:
    names = ("variant", "play_range", "ghost_offset", "show_markers")
    play = GaitPlayer(result, lambda: dict.fromkeys(names, nonsense))
    assert np.isfinite(play.view_frame().poses["ghost"]).all()
    assert play.page_data()["status_lines"]


def test_a_single_frame_can_be_shown(result: GaitResult) -> None:
    one = dataclasses.replace(result, time=result.time[:1], q=result.q[:1], cycle=None, curves=None, reproductions={})
    play = GaitPlayer(one, dict)
    assert play.duration == 0.0
    assert set(play.view_frame().poses) == {"robot"}
    assert play.page_data()["replay"]["time"] == 0.0


def test_the_view_draws_visible_markers_and_hides_absent_figures() -> None:
    robot = installed_robot("human")
    viewer = Viewer()
    try:
        viewer.set_figures({"robot": (robot, None), "ghost": (robot, (0.2, 0.4, 0.9, 0.3))})
        state = robot.stance("standing")
        markers = np.array([[0.1, 0.2, 0.3], [np.nan] * 3, [0.4, 0.5, 0.6]])
        viewer.show(ViewFrame.from_state(state, markers={"known": markers, "unknown": np.zeros((0, 3))}))
        balls = not_none(viewer._marker_spheres)._balls["known"]
        assert [ball.visible for ball in balls] == [True, False, True]
        assert [balls[0].position, balls[2].position] == pytest.approx(markers[[0, 2]])
        assert viewer._figures["robot"]._root.visible
        assert not viewer._figures["ghost"]._root.visible
        viewer.show(ViewFrame.from_state(state, markers={"known": markers[2:]}))
        assert [ball.visible for ball in balls] == [True, False, False]
        viewer.show(ViewFrame.from_state(state, markers={"known": markers[1:2]}))
        assert not any(ball.visible for ball in balls)
        viewer.show(ViewFrame.from_state(state))
        assert not any(ball.visible for ball in balls)
    finally:
        viewer.close()


def test_a_replay_shows_the_fallback_of_its_sample() -> None:
    robot = installed_robot("mighty")
    start = robot.stance("standing")
    controller = poise.KinematicController(poise.Hierarchy(levels=[poise.Level("posture", [tasks.Posture(start)])]))
    step = next(iter(poise.steps(controller, poise.IdealPlant(start), 0.1)))
    assert step.command.fallback == ""
    command = controller.step(None)  # no state was measured: a hold
    assert command.fallback
    recorder = Recorder(robot)
    recorder(step)
    recorder(dataclasses.replace(step, state=start.replace(time=0.005), command=command))
    play = RecordingPlayer("walk.poise", recorder.finish(), robot)
    play.play(False)
    play.seek(0.0)
    assert play.page_data()["fallback"] == ""
    play.seek(0.005)
    assert play.page_data()["fallback"] == command.fallback


@pytest.mark.needs_models
def test_a_replay_shows_the_live_values(tmp_path: Path, clock: Any) -> None:
    """Forces, torques, plots and hierarchy of the replayed sample."""
    runner = SceneRunner(find_scene("walk")(installed_robot("g1")))
    runner.scene.set_control("walking", True)
    telemetry = Telemetry(runner.scene.robot)
    runner.start_recording(tmp_path / "walk.poise")
    live = {}
    for k in range(301):
        runner.step()
        if k % 100 == 0:
            live[k * runner.period] = telemetry.page_data(runner, "left leg"), telemetry.view_frame(runner)
    runner.stop_recording()
    play = RecordingPlayer(
        "walk.poise", load_recording(tmp_path / "walk.poise"), runner.scene.robot, lambda: "left leg"
    )
    assert play.limbs == tuple(telemetry.limbs)
    play.play(False)
    for moment, (numbers, view_frame) in live.items():
        play.seek(moment)
        replayed, view = play.page_data(), play.view_frame()
        for name in ("time", "phase", "fallback"):
            assert replayed[name] == numbers[name]
        levels = {level["name"]: level for level in replayed["levels"]}
        with_rows = [level for level in numbers["levels"] if level["tasks"] or level["name"] in levels]
        assert {level["name"]: level["saturated"] for level in with_rows} == {
            name: level["saturated"] for name, level in levels.items()
        }
        for level in with_rows:
            errors = {task["name"]: task["error"] for task in level["tasks"]}
            shown = {task["name"]: task["error"] for task in levels[level["name"]]["tasks"]}
            assert shown.keys() <= errors.keys(), level["name"]
            assert {name: error for name, error in errors.items() if error} == {
                name: error for name, error in shown.items() if error
            }
        for name in ("center_of_mass", "capture_point", "center_of_pressure"):
            assert replayed["plots"][name] == pytest.approx(numbers["plots"][name], abs=2e-4)
        for name in ("forces", "torques"):
            assert replayed["plots"][name] == pytest.approx(numbers["plots"][name], abs=0.06)
        assert view.forces == pytest.approx(view_frame.forces, abs=1e-6)


@pytest.mark.needs_models
def test_a_replay_on_servos_shows_soles_and_torques_as_the_page_did_live(tmp_path: Path) -> None:
    """HOAP-3, pushed: what is under its soles and what its servos do changes from moment to moment."""
    runner = SceneRunner(find_scene("stand")(installed_robot("hoap3")))
    telemetry, file = Telemetry(runner.scene.robot), tmp_path / "stand.poise"
    runner.start_recording(file)
    live = {}
    runner.scene.set_control("push.direction", 90.0)
    for k in range(301):
        if k == 100:
            runner.scene.set_control("push", None)
        runner.step()
        if k % 50 == 0:
            live[k * runner.period] = telemetry.page_data(runner, "left leg"), telemetry.view_frame(runner)
    runner.stop_recording()
    play = RecordingPlayer("stand.poise", load_recording(file), runner.scene.robot, lambda: "left leg")
    play.play(False)
    shown = []
    for moment, (numbers, view_frame) in live.items():
        play.seek(moment)
        plots, view = play.page_data()["plots"], play.view_frame()
        assert plots["torques"] == pytest.approx(numbers["plots"]["torques"])
        assert max(map(abs, plots["torques"].values())) > 0.01
        for name in ("force", "x", "y"):
            assert plots["sole_pressure"][name] == pytest.approx(numbers["plots"]["sole_pressure"][name], abs=1e-4)
        assert plots["sole_pressure"]["half_size"] == numbers["plots"]["sole_pressure"]["half_size"]
        now, then = not_none(view.sole_pressure), not_none(view_frame.sole_pressure)
        assert now.load_shares == pytest.approx(then.load_shares, abs=1e-6)
        # The view draws the soles at the true pose, the replay at the measured one.
        assert now.zmps - now.centers == pytest.approx(then.zmps - then.centers, abs=1e-4)
        shown.append(plots["sole_pressure"]["force"]["left"])
    assert np.ptp(shown) > 1.0, "else any moment would do"


@pytest.mark.needs_models
def test_a_replay_tells_of_a_fall_from_its_moment_on(tmp_path: Path) -> None:
    runner = SceneRunner(find_scene("stand")(installed_robot("hoap3")))
    file = tmp_path / "fall.poise"
    runner.scene.set_control("push.force", 1e3)
    runner.scene.set_control("push.duration", 0.5)
    runner.start_recording(file)
    runner.scene.set_control("push", None)
    while not runner.fall_reason:
        runner.step()
        assert runner.time < 5.0, "it does not fall"
    fallen_at = runner.steps["robot"].state.time
    for _ in range(100):
        runner.step()
    runner.stop_recording()
    recording = load_recording(file)
    play = RecordingPlayer("fall.poise", recording, runner.scene.robot)
    play.play(False)
    begin = float(recording.time[0])
    for moment, reason in ((0.0, ""), (fallen_at - begin - 0.01, ""), (fallen_at - begin, runner.fall_reason)):
        play.seek(moment)
        assert play.page_data()["fall_reason"] == reason
    play.seek(play.duration)
    assert play.page_data()["fall_reason"] == runner.fall_reason != ""


def test_a_replay_plays_at_once_and_again_and_stops_at_its_end_without_a_loop(clock: Any) -> None:
    robot = installed_robot("mighty")
    start = robot.stance("standing")
    controller = poise.KinematicController(poise.Hierarchy(levels=[poise.Level("posture", [tasks.Posture(start)])]))
    recording = poise.record(controller, poise.IdealPlant(start), 1.0)
    play = RecordingPlayer("posture.poise", recording, robot)
    clock.now += 0.25
    assert play.page_data()["replay"]["time"] == pytest.approx(0.25)
    play.time_scale = 2.0
    clock.now += 0.5 * recording.duration
    assert play.page_data()["replay"]["time"] == pytest.approx(0.25)
    play.loop = False
    clock.now += 60.0
    assert play.page_data()["replay"]["time"] == pytest.approx(recording.duration)
    assert not play.page_data()["playing"]
    play.play(True)
    assert play.page_data()["replay"]["time"] == 0.0
    assert play.page_data()["explanation"] == ["optimal", "nothing gives way"]
    assert play.page_data()["plots"]["forces"] == {}, "none were recorded"
