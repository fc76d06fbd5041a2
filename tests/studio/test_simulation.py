"""The simulation of the studio: pacing, the dead-man, the stage and its tape, the process and what it survives."""

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
from poise.studio import scene_runner as deadman
from poise.studio import scene_runner as pacing
from poise.studio.scene_base import Pushes
from poise.studio.scene_runner import Stage
from poise.studio.scenes import scene, scenes
from poise.studio.simulation_process import Begin, Link
from poise.studio.telemetry import Sketch, explained
from robot_states import not_none, robot_of
from waiting import until

pytestmark = pytest.mark.needs_models


class Clock:
    """A clock that goes when it is told to."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, module: Any) -> None:
        self.now = 100.0
        monkeypatch.setattr(module.time, "monotonic", lambda: self.now)


# -- pacing ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("pace", [1.0, 0.25])
def test_simulated_time_runs_beside_the_clock(monkeypatch: pytest.MonkeyPatch, pace: float) -> None:
    clock = Clock(monkeypatch, pacing)
    pacer = pacing.Pacer(0.002)
    pacer.pace = pace
    count = 0
    for _ in range(1000):
        clock.now += 0.0071
        count += pacer.due()
    assert count * 0.002 == pytest.approx(pace * 1000 * 0.0071, abs=0.003)
    assert pacer.factor == pytest.approx(pace, rel=0.1)


def test_what_is_too_late_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock(monkeypatch, pacing)
    pacer = pacing.Pacer(0.002)
    clock.now += 5.0
    assert pacer.due() == round(pacing.PATIENCE / 0.002)
    pacer.rest()
    assert pacer.due() == 0


# -- dead-man ----------------------------------------------------------------------------------------------------------


def test_a_stick_counts_as_long_as_somebody_holds_it(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock(monkeypatch, deadman)
    stick = deadman.DeadMan()
    stick.hold([1.0, 0.0, -0.5])
    clock.now += 0.4
    assert stick.held == (1.0, 0.0, -0.5)
    clock.now += 0.2
    assert stick.held == deadman.STILL
    assert stick.stopped
    stick.hold([0.5, 0.0, 0.0])
    assert stick.held == (0.5, 0.0, 0.0)
    assert not stick.stopped


@pytest.mark.parametrize("value", [None, [1.0], [1.0, float("nan"), 0.0], "ahead", [9.0, "a", 0.0]])
def test_nonsense_is_a_stick_that_is_let_go(value: object) -> None:
    stick = deadman.DeadMan()
    stick.hold(value)
    assert stick.held == deadman.STILL


def test_a_stick_has_an_end() -> None:
    stick = deadman.DeadMan()
    stick.hold([7.0, -7.0, 0.0])
    assert stick.held == (1.0, -1.0, 0.0)


# -- every scene on every robot ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("robot", ["g1", "talos", "romeo", "icub", "nao"])
@pytest.mark.parametrize("name", [each.name for each in scenes()])
def test_a_scene_plays_and_can_be_told_of(name: str, robot: str) -> None:
    stage = Stage(scene(name)(robot_of(robot)))
    for _ in range(40):
        stage.tick()
    assert not stage.fell
    assert not list(stage.events)
    sketch = Sketch(stage.scene.robot)
    numbers, scenery = sketch.numbers(stage, "left leg"), sketch.scenery(stage)
    assert numbers["time"] == pytest.approx(39 * stage.period)
    assert len(numbers["plots"]["support"]) >= 3
    assert any(numbers["plots"]["torques"].values()), "who stands strains his legs"
    table = {level["name"]: level for level in numbers["levels"]}
    assert {"contact", "balance"} <= table.keys() or {"feet", "center"} <= table.keys()
    assert all(task["error"] >= 0.0 for level in table.values() for task in level["tasks"])
    for act, poses in scenery.poses.items():
        plant, foot = stage.acts[act].plant, stage.scene.robot.feet[0]
        state = plant.truth() if hasattr(plant, "truth") else plant.state()  # as it is, not as it is sensed
        x, y, z, *turn = poses[foot.joint]
        joint = pinocchio.SE3(pinocchio.Quaternion(*turn).matrix(), np.array([x, y, z]))
        placed = joint * stage.scene.robot.model.frames[foot.index].placement
        assert np.allclose(placed.homogeneous, state.pose(foot).homogeneous, atol=1e-6)
    assert np.isfinite(scenery.forces).all()
    limits, lines = explained(stage.steps["robot"])
    assert "optimal" in lines[0]
    assert all(isinstance(line, str) for line in limits)
    assert isinstance(stage.scene.words(), list)


@pytest.mark.parametrize("name", [each.name for each in scenes()])
def test_every_control_has_a_name_a_label_and_a_value_that_is_told_again(name: str) -> None:
    stage = Stage(scene(name)(robot_of("g1")))
    controls = [control.as_json() for control in stage.scene.controls()]
    assert len({control["name"] for control in controls}) == len(controls)
    values = stage.scene.values()
    for control in controls:
        assert control["label"]
        if control["kind"] == "slider":
            assert control["low"] <= control["value"] <= control["high"]
        if "value" in control:
            assert values[control["name"]] == control["value"]


@pytest.mark.parametrize("nonsense", [None, "x", float("nan"), [], {}, -1e9, True])
@pytest.mark.parametrize("name", [each.name for each in scenes()])
def test_nonsense_from_a_page_does_no_harm(name: str, nonsense: object) -> None:
    stage = Stage(scene(name)(robot_of("g1")))
    for control in stage.scene.controls():
        if control.kind not in ("upload", "save"):
            try:
                stage.scene.do(control.name, nonsense)
            except poise.PoiseError:
                continue
    if stage.scene.stale:
        stage.reset()
    for _ in range(5):
        stage.tick()
    assert not stage.fell


# -- walking by stick --------------------------------------------------------------------------------------------------


def test_a_stick_walks_the_robot_and_silence_stops_it(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock(monkeypatch, deadman)
    stage = Stage(scene("walk")(robot_of("g1")))
    walk = stage.scene.walk  # type: ignore[attr-defined]
    for i in range(1500):
        if i % 100 == 0:
            stage.deadman.hold([1.0, 0.0, 0.0])
        clock.now += stage.period
        stage.tick()
    far = stage.main.plant.state().q[0]
    assert far > 0.3
    assert walk.phase().steps >= 3
    clock.now += 1.0
    for _ in range(1500):
        stage.tick()
    assert stage.deadman.stopped
    assert walk.phase().kind == "standing"
    assert not stage.fell


def test_a_robot_that_nobody_watches_comes_to_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock(monkeypatch, deadman)
    stage = Stage(scene("walk")(robot_of("g1")))
    stage.scene.do("walking", True)
    for _ in range(900):
        stage.tick()
    assert stage.scene.walk.phase().kind != "standing"  # type: ignore[attr-defined]
    clock.now += deadman.ABSENCE + 0.1
    for _ in range(1500):
        stage.tick()
    assert stage.scene.walk.phase().kind == "standing"  # type: ignore[attr-defined]
    assert stage.scene.values()["walking"] is False


def test_proud_leans_back_while_it_walks() -> None:
    stage = Stage(scene("walk")(robot_of("g1")))
    stage.scene.do("walking", True)
    stage.scene.do("preset", "proud")
    robot = robot_of("g1")
    for _ in range(2000):
        stage.tick()
        stage.deadman.hear()
    R = (
        stage.main.plant.state().pose(not_none(robot.chest)).rotation
        @ robot.stance("standing").pose(not_none(robot.chest)).rotation.T
    )
    assert np.degrees(np.arctan2(R[0, 2], R[2, 2])) < -7.0


def test_a_dragged_hand_is_reached_in_physics_and_in_kinematics() -> None:
    stage = Stage(scene("reach")(robot_of("g1")))
    x, y, z = stage.scene.gizmos()["right hand"]
    stage.scene.drag("right hand", (x + 0.1, y - 0.05, z + 0.2))
    for _ in range(1500):
        stage.tick()
    for act in stage.acts.values():
        hand = act.plant.state().pose(robot_of("g1").hand("right")).translation
        assert hand == pytest.approx((x + 0.1, y - 0.05, z + 0.2), abs=2e-3)


def test_the_order_of_tasks_decides_who_gives_way() -> None:
    """Both hands are pulled apart further than arms are long: the one that stands higher in the order is served."""
    missed = {}
    for first in ("left hand", "right hand"):
        stage = Stage(scene("reach")(robot_of("g1")))
        stage.scene.do("shown", "kinematic")
        stage.reset()
        order = stage.scene.values()["order"]
        order.sort(key=lambda item: (item["name"] != "balance", item["name"] != first))
        stage.scene.do("order", order)
        places = stage.scene.gizmos()
        for name, side in (("left hand", 1.0), ("right hand", -1.0)):
            x, y, z = places[name]
            stage.scene.drag(name, (x, y + 0.5 * side, z + 0.3))
        for _ in range(2000):
            stage.tick()
        state, places = stage.main.plant.state(), stage.scene.gizmos()
        missed[first] = {
            side: np.linalg.norm(state.pose(robot_of("g1").hand(side)).translation - places[f"{side} hand"])
            for side in ("left", "right")
        }
    assert missed["left hand"]["left"] < missed["left hand"]["right"] - 0.01
    assert missed["right hand"]["right"] < missed["right hand"]["left"] - 0.01


def test_a_push_pushes() -> None:
    stage = Stage(scene("stand")(robot_of("g1")))
    stage.scene.do("push.size", 80.0)
    stage.scene.do("push.direction", 90.0)
    assert "80 N" in stage.scene.do("push", None)
    before = stage.main.plant.state().center_of_mass[1]
    for _ in range(120):
        stage.tick()
    assert stage.main.plant.state().center_of_mass[1] > before + 0.01


def test_a_handle_that_is_drawn_away_pulls_like_a_rubber_band() -> None:
    moved = {}
    for far in (0.0, 0.1, 0.2):
        stage = Stage(scene("stand")(robot_of("g1")))
        for _ in range(50):  # a tenth of a second, held
            x, y, z = Pushes(robot_of("g1")).gizmos(stage.main.plant)["push"]  # type: ignore[arg-type]
            stage.scene.drag("push", (x, y + far, z))
            stage.tick()
        for _ in range(50):
            stage.tick()
        moved[far] = stage.main.plant.state().center_of_mass[1]
        assert not stage.fell
    assert moved[0.0] == pytest.approx(0.0, abs=1e-3)
    assert moved[0.2] > 1.5 * moved[0.1] > 0.005


# -- the tape ----------------------------------------------------------------------------------------------------------


def test_what_is_recorded_can_be_loaded(tmp_path: Path) -> None:
    stage = Stage(scene("stand")(robot_of("g1")))
    stage.record(tmp_path / "a.poise")
    for _ in range(100):
        stage.tick()
    assert stage.recorded["on"]
    assert stage.recorded["seconds"] == pytest.approx(0.2)
    assert stage.cut() == "a.poise"
    recording = poise.load_recording(tmp_path / "a.poise")
    assert len(recording) == 100
    assert recording.provenance["scene"] == "stand"
    assert stage.cut() == ""


# -- the process -------------------------------------------------------------------------------------------------------


class Listener:
    """Hears what a simulation says."""

    def __init__(self) -> None:
        self.told: list[tuple[Any, ...]] = []
        self.link = Link(lambda *what: self.told.append(what))

    def wait(self, good: Any) -> tuple[Any, ...]:
        """The first thing that is so, from now on or before."""
        return until(lambda: next((what for what in list(self.told) if good(what)), None), inspect.getsource(good))


def test_a_simulation_runs_beside_us_and_its_death_is_heard(tmp_path: Path) -> None:
    listener = Listener()
    listener.link.start(Begin("stand", "g1", {"depth": 0.2}))
    try:
        ready = listener.wait(lambda what: what[0] == "ready")
        assert {control["name"]: control for control in ready[1]["controls"]}["depth"]["value"] == 0.2
        listener.link.send("record", str(tmp_path / "died.poise"))
        listener.wait(lambda what: what[0] == "picture" and what[1]["recording"]["seconds"] > 0.6)
        number = listener.link.number
        assert number is not None
        os.kill(number, signal.SIGKILL)
        assert listener.wait(lambda what: what[0] == "gone")[1] == -signal.SIGKILL
        assert len(poise.load_recording(tmp_path / "died.poise", partial=True)) > 100
    finally:
        listener.link.stop()


def test_pictures_are_sent_only_when_they_are_asked_for() -> None:
    """The latest wins: whoever is slow finds one picture on the wire, not a queue of old ones."""
    from multiprocessing import Pipe
    from threading import Thread

    from poise.studio.simulation_process import Simulation

    ours, theirs = Pipe()
    simulation = Simulation(theirs, Begin("stand", "g1", {}))
    assert ours.recv()[0] == "ready"

    def play() -> None:
        with pytest.raises(EOFError):
            simulation.run()

    player = Thread(target=play)
    player.start()

    def ticked() -> float:
        return simulation._stage.now

    until(lambda: ticked() > 0.2, progress=ticked)
    assert not ours.poll()
    ours.send(("next", None))
    first = ours.recv()
    assert first[0] == "picture"
    until(lambda: ticked() > first[1]["time"] + 0.2, progress=ticked)
    assert not ours.poll()
    ours.send(("next", None))
    second = ours.recv()
    assert second[1]["number"] == first[1]["number"] + 1
    assert second[1]["time"] > first[1]["time"] + 0.1
    ours.send(("end", None))
    player.join()
