"""The simulation of the studio: pacing, dead-man switch, scenes, recording, and crashes of its process."""

from __future__ import annotations

import inspect
import os
import signal
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio
import pytest

import poise
from poise.studio import scene_runner
from poise.studio.scene_base import PushControls
from poise.studio.scene_runner import SceneRunner
from poise.studio.scenes import all_scenes, find_scene
from poise.studio.simulation_process import SimulationClient, SimulationStart
from poise.studio.telemetry import Telemetry, solver_explanation
from robot_states import installed_robot, not_none
from waiting import wait_until

pytestmark = pytest.mark.needs_models


class Clock:
    """A clock that is advanced by the test."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, module: Any) -> None:
        self.now = 100.0
        monkeypatch.setattr(module.time, "monotonic", lambda: self.now)


# -- pacing ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("time_scale", [1.0, 0.25])
def test_simulated_time_runs_beside_the_clock(monkeypatch: pytest.MonkeyPatch, time_scale: float) -> None:
    clock = Clock(monkeypatch, scene_runner)
    pacer = scene_runner.RealTimePacer(0.002)
    pacer.time_scale = time_scale
    count = 0
    for _ in range(1000):
        clock.now += 0.0071
        count += pacer.periods_due()
    assert count * 0.002 == pytest.approx(time_scale * 1000 * 0.0071, abs=0.003)
    assert pacer.real_time_factor == pytest.approx(time_scale, rel=0.1)


def test_simulated_time_beyond_the_maximum_lag_is_skipped(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock(monkeypatch, scene_runner)
    pacer = scene_runner.RealTimePacer(0.002)
    clock.now += 5.0
    assert pacer.periods_due() == round(scene_runner.MAX_LAG / 0.002)
    pacer.pause()
    assert pacer.periods_due() == 0


# -- dead-man switch ---------------------------------------------------------------------------------------------------


def test_a_stick_is_centred_after_its_timeout(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock(monkeypatch, scene_runner)
    stick = scene_runner.DeadManSwitch()
    stick.set_stick([1.0, 0.0, -0.5])
    clock.now += 0.4
    assert stick.stick == (1.0, 0.0, -0.5)
    clock.now += 0.2
    assert stick.stick == scene_runner.CENTERED
    assert stick.timed_out
    stick.set_stick([0.5, 0.0, 0.0])
    assert stick.stick == (0.5, 0.0, 0.0)
    assert not stick.timed_out


@pytest.mark.parametrize("value", [None, [1.0], [1.0, float("nan"), 0.0], "ahead", [9.0, "a", 0.0]])
def test_an_invalid_stick_is_centred(value: object) -> None:
    stick = scene_runner.DeadManSwitch()
    stick.set_stick(value)
    assert stick.stick == scene_runner.CENTERED


def test_a_stick_has_an_end() -> None:
    stick = scene_runner.DeadManSwitch()
    stick.set_stick([7.0, -7.0, 0.0])
    assert stick.stick == (1.0, -1.0, 0.0)


# -- every scene on every robot ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("robot", ["g1", "talos", "romeo", "icub", "nao"])
@pytest.mark.parametrize("name", [each.name for each in all_scenes()])
def test_a_scene_runs_and_has_telemetry(name: str, robot: str) -> None:
    runner = SceneRunner(find_scene(name)(installed_robot(robot)))
    for _ in range(40):
        runner.step()
    assert not runner.fall_reason
    assert not list(runner.events)
    telemetry = Telemetry(runner.scene.robot)
    numbers, view_frame = telemetry.page_data(runner, "left leg"), telemetry.view_frame(runner)
    assert numbers["time"] == pytest.approx(39 * runner.period)
    assert len(numbers["plots"]["support"]) >= 3
    assert any(numbers["plots"]["torques"].values()), "standing needs leg torques"
    table = {level["name"]: level for level in numbers["levels"]}
    assert {"contact", "balance"} <= table.keys() or {"feet", "balance"} <= table.keys()
    assert all(task["error"] >= 0.0 for level in table.values() for task in level["tasks"])
    for controlled, poses in view_frame.poses.items():
        plant, foot = runner.controlled_plants[controlled].plant, runner.scene.robot.feet[0]
        state = plant.truth() if hasattr(plant, "truth") else plant.state()  # the true state, not the measured one
        x, y, z, *turn = poses[foot.joint]
        joint = pinocchio.SE3(pinocchio.Quaternion(*turn).matrix(), np.array([x, y, z]))
        placed = joint * runner.scene.robot.model.frames[foot.index].placement
        assert np.allclose(placed.homogeneous, state.pose(foot).homogeneous, atol=1e-6)
    assert np.isfinite(view_frame.forces).all()
    limits, lines = solver_explanation(runner.steps["robot"])
    assert "optimal" in lines[0]
    assert all(isinstance(line, str) for line in limits)
    assert isinstance(runner.scene.status_lines(), list)


@pytest.mark.parametrize("name", [each.name for each in all_scenes()])
def test_every_control_has_a_name_a_label_and_a_value_in_the_scene(name: str) -> None:
    runner = SceneRunner(find_scene(name)(installed_robot("g1")))
    controls = [control.as_json() for control in runner.scene.controls()]
    assert len({control["name"] for control in controls}) == len(controls)
    values = runner.scene.values()
    for control in controls:
        assert control["label"]
        if control["kind"] == "slider":
            assert control["low"] <= control["value"] <= control["high"]
        if "value" in control:
            assert values[control["name"]] == control["value"]


@pytest.mark.parametrize("nonsense", [None, "x", float("nan"), [], {}, -1e9, True])
@pytest.mark.parametrize("name", [each.name for each in all_scenes()])
def test_invalid_control_values_do_not_stop_a_scene(name: str, nonsense: object) -> None:
    runner = SceneRunner(find_scene(name)(installed_robot("g1")))
    for control in runner.scene.controls():
        if control.kind not in ("upload", "save"):
            try:
                runner.scene.set_control(control.name, nonsense)
            except poise.PoiseError:
                continue
    if runner.scene.needs_reset:
        runner.reset()
    for _ in range(5):
        runner.step()
    assert not runner.fall_reason


# -- walking by stick --------------------------------------------------------------------------------------------------


def test_a_stick_walks_the_robot_and_it_stops_after_the_timeout(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock(monkeypatch, scene_runner)
    runner = SceneRunner(find_scene("walk")(installed_robot("g1")))
    walk = runner.scene.walk  # type: ignore[attr-defined]
    for i in range(1500):
        if i % 100 == 0:
            runner.deadman.set_stick([1.0, 0.0, 0.0])
        clock.now += runner.period
        runner.step()
    far = runner.primary.plant.state().q[0]
    assert far > 0.3
    assert walk.phase().steps >= 3
    clock.now += 1.0
    for _ in range(1500):
        runner.step()
    assert runner.deadman.timed_out
    assert walk.phase().kind == "standing"
    assert not runner.fall_reason


def test_a_robot_without_a_page_comes_to_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock(monkeypatch, scene_runner)
    runner = SceneRunner(find_scene("walk")(installed_robot("g1")))
    runner.scene.set_control("walking", True)
    for _ in range(900):
        runner.step()
    assert runner.scene.walk.phase().kind != "standing"  # type: ignore[attr-defined]
    clock.now += scene_runner.PAGE_TIMEOUT + 0.1
    for _ in range(1500):
        runner.step()
    assert runner.scene.walk.phase().kind == "standing"  # type: ignore[attr-defined]
    assert runner.scene.values()["walking"] is False


def test_proud_leans_back_while_it_walks() -> None:
    runner = SceneRunner(find_scene("walk")(installed_robot("g1")))
    runner.scene.set_control("walking", True)
    runner.scene.set_control("preset", "proud")
    robot = installed_robot("g1")
    for _ in range(2000):
        runner.step()
        runner.deadman.keep_alive()
    R = (
        runner.primary.plant.state().pose(not_none(robot.chest)).rotation
        @ robot.stance("standing").pose(not_none(robot.chest)).rotation.T
    )
    assert np.degrees(np.arctan2(R[0, 2], R[2, 2])) < -7.0


def test_a_dragged_hand_is_reached_in_physics_and_in_kinematics() -> None:
    runner = SceneRunner(find_scene("reach")(installed_robot("g1")))
    x, y, z = runner.scene.drag_handles()["right hand"]
    runner.scene.move_handle("right hand", (x + 0.1, y - 0.05, z + 0.2))
    for _ in range(1500):
        runner.step()
    for controlled in runner.controlled_plants.values():
        hand = controlled.plant.state().pose(installed_robot("g1").hand("right")).translation
        assert hand == pytest.approx((x + 0.1, y - 0.05, z + 0.2), abs=2e-3)


def test_the_order_of_tasks_decides_which_task_yields() -> None:
    """Both hands are pulled apart further than arms are long: the task of higher priority is met."""
    missed = {}
    for first in ("left hand", "right hand"):
        runner = SceneRunner(find_scene("reach")(installed_robot("g1")))
        runner.scene.set_control("display", "kinematic")
        runner.reset()
        order = runner.scene.values()["task_order"]
        order.sort(key=lambda item: (item["name"] != "balance", item["name"] != first))
        runner.scene.set_control("task_order", order)
        places = runner.scene.drag_handles()
        for name, side in (("left hand", 1.0), ("right hand", -1.0)):
            x, y, z = places[name]
            runner.scene.move_handle(name, (x, y + 0.5 * side, z + 0.3))
        for _ in range(2000):
            runner.step()
        state, places = runner.primary.plant.state(), runner.scene.drag_handles()
        missed[first] = {
            side: np.linalg.norm(state.pose(installed_robot("g1").hand(side)).translation - places[f"{side} hand"])
            for side in ("left", "right")
        }
    assert missed["left hand"]["left"] < missed["left hand"]["right"] - 0.01
    assert missed["right hand"]["right"] < missed["right hand"]["left"] - 0.01


def test_a_push_pushes() -> None:
    runner = SceneRunner(find_scene("stand")(installed_robot("g1")))
    runner.scene.set_control("push.force", 80.0)
    runner.scene.set_control("push.direction", 90.0)
    assert "80 N" in runner.scene.set_control("push", None)
    before = runner.primary.plant.state().center_of_mass[1]
    for _ in range(120):
        runner.step()
    assert runner.primary.plant.state().center_of_mass[1] > before + 0.01


def test_a_handle_that_is_drawn_away_pulls_like_a_rubber_band() -> None:
    moved = {}
    for far in (0.0, 0.1, 0.2):
        runner = SceneRunner(find_scene("stand")(installed_robot("g1")))
        for _ in range(50):  # a tenth of a second, held
            x, y, z = PushControls(installed_robot("g1")).drag_handles(runner.primary.plant)["push"]  # type: ignore[arg-type]
            runner.scene.move_handle("push", (x, y + far, z))
            runner.step()
        for _ in range(50):
            runner.step()
        moved[far] = runner.primary.plant.state().center_of_mass[1]
        assert not runner.fall_reason
    assert moved[0.0] == pytest.approx(0.0, abs=1e-3)
    assert moved[0.2] > 1.5 * moved[0.1] > 0.005


# -- recording ---------------------------------------------------------------------------------------------------------


def test_a_recording_of_the_scene_can_be_loaded(tmp_path: Path) -> None:
    runner = SceneRunner(find_scene("stand")(installed_robot("g1")))
    runner.start_recording(tmp_path / "a.poise")
    for _ in range(100):
        runner.step()
    assert runner.recording_status["active"]
    assert runner.recording_status["seconds"] == pytest.approx(0.2)
    assert runner.stop_recording() == "a.poise"
    recording = poise.load_recording(tmp_path / "a.poise")
    assert recording.samples == 100
    assert recording.provenance["scene"] == "stand"
    assert runner.stop_recording() == ""


# -- the process -------------------------------------------------------------------------------------------------------


class Listener:
    """Receives the messages of a simulation."""

    def __init__(self) -> None:
        self.messages: list[tuple[Any, ...]] = []
        self.client = SimulationClient(lambda *message: self.messages.append(message))

    def wait(self, good: Any) -> tuple[Any, ...]:
        """The first message that satisfies a condition, past or future."""
        return wait_until(
            lambda: next((message for message in list(self.messages) if good(message)), None), inspect.getsource(good)
        )


def test_a_simulation_runs_in_its_process_and_its_crash_is_reported(tmp_path: Path) -> None:
    listener = Listener()
    listener.client.start(SimulationStart("stand", "g1", {"depth": 0.2}))
    try:
        ready = listener.wait(lambda message: message[0] == "ready")
        assert {control["name"]: control for control in ready[1]["controls"]}["depth"]["value"] == 0.2
        listener.client.send("record", str(tmp_path / "died.poise"))
        listener.wait(lambda message: message[0] == "frame" and message[1]["recording"]["seconds"] > 0.6)
        number = listener.client.pid
        assert number is not None
        os.kill(number, signal.SIGKILL)
        assert listener.wait(lambda message: message[0] == "exited")[1] == -signal.SIGKILL
        assert poise.load_recording(tmp_path / "died.poise", partial=True).samples > 100
    finally:
        listener.client.stop()


def test_frames_are_sent_only_on_request() -> None:
    """A slow receiver gets the latest frame only, not a queue of old ones."""
    from multiprocessing import Pipe
    from threading import Thread

    from poise.studio.simulation_process import SimulationLoop

    ours, theirs = Pipe()
    simulation = SimulationLoop(theirs, SimulationStart("stand", "g1", {}))
    assert ours.recv()[0] == "ready"

    def play() -> None:
        with pytest.raises(EOFError):
            simulation.run()

    player = Thread(target=play)
    player.start()

    def ticked() -> float:
        return simulation._runner.time

    wait_until(lambda: ticked() > 0.2, progress=ticked)
    assert not ours.poll()
    ours.send(("request_frame", None))
    first = ours.recv()
    assert first[0] == "frame"
    wait_until(lambda: ticked() > first[1]["time"] + 0.2, progress=ticked)
    assert not ours.poll()
    ours.send(("request_frame", None))
    second = ours.recv()
    assert second[1]["number"] == first[1]["number"] + 1
    assert second[1]["time"] > first[1]["time"] + 0.1
    ours.send(("stop", None))
    player.join()


@pytest.mark.parametrize(
    ("scene", "robot", "seconds"),
    [
        ("walk", "g1", 1.2),
        ("reach", "g1", 3.0),
        ("navigate", "g1", 3.0),
        ("navigate", "talos", 3.0),
        ("navigate", "nao", 12.0),  # on servos, what creeps is seen later
        ("navigate", "hoap3", 12.0),
    ],
)
def test_at_rest_all_rows_are_met_and_the_table_agrees(scene: str, robot: str, seconds: float) -> None:
    runner = SceneRunner(find_scene(scene)(installed_robot(robot)))
    for _ in range(round(seconds / runner.period)):
        runner.step()
    _, lines = solver_explanation(runner.steps["robot"])
    assert lines[1] == "nothing gives way"
    assert "violated:" not in lines
    levels = Telemetry(runner.scene.robot).page_data(runner, "left leg")["levels"]
    assert {level["name"]: level["slack"] for level in levels if level["slack"] > 0.0} == {}
