"""A walk and its reproduction on the stage: where both bodies and the markers are at which time."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

import poise
from poise import tasks
from poise.recording import Recorder
from poise.robots import State
from poise.studio import player as clockwork
from poise.studio.fit_data import Exhibit, Order
from poise.studio.fit_worker import made
from poise.studio.player import WHOLE, GaitPlayback, Playback
from poise.studio.scenery import Scenery
from poise.studio.viewer import Viewer
from robot_states import not_none, robot_of


@pytest.fixture(scope="module")
def exhibit() -> Exhibit:
    return made(Order(), lambda words, share: None)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Any:
    class Clock:
        now = 100.0

    monkeypatch.setattr(clockwork.time, "monotonic", lambda: Clock.now)
    return Clock


def test_both_bodies_are_where_fit_and_reproduction_have_them(exhibit: Exhibit) -> None:
    values: dict[str, Any] = {"variant": "paper", "apart": 0.7, "markers": True}
    play = GaitPlayback(exhibit, lambda: values)
    assert exhibit.cycle is not None
    begin, end = exhibit.cycle.initial_contact, exhibit.cycle.end
    assert play.duration == pytest.approx(end - begin)
    play.seek(0.5)
    scenery = play.scenery()
    k = int(np.argmin(np.abs(exhibit.time - begin - 0.5)))
    assert scenery.poses["robot"][1, :3] == pytest.approx(exhibit.q[k, :3])
    assert scenery.markers is not None
    assert np.array_equal(scenery.markers["known"], exhibit.markers[k])
    heel = play.robot.frame("left_heel")
    placed = State(play.robot, exhibit.q[k]).pose(heel).translation
    other = exhibit.reproduced["paper"]
    n = int(np.argmin(np.abs(other.time - begin - 0.5)))
    ghost = State(play.robot, other.q[n]).pose(heel).translation
    assert ghost[:2] == pytest.approx(placed[:2], abs=0.02), "in its own place it treads where the person trod"
    left = np.array([-exhibit.heading[1], exhibit.heading[0], 0.0])
    assert scenery.poses["ghost"][1, :3] == pytest.approx(other.q[n, :3] + 0.7 * left)
    values["variant"], values["markers"] = "two phases", False
    assert play.scenery().poses["ghost"][1, :3] != pytest.approx(scenery.poses["ghost"][1, :3])
    assert play.scenery().markers is None


def test_markers_are_on_the_body(exhibit: Exhibit) -> None:
    from poise.studio.scenery import link_poses

    robot = GaitPlayback(exhibit, dict).robot
    for k in range(0, len(exhibit.time), 50):
        joints = link_poses(State(robot, exhibit.q[k]))[1:, :3]
        far = np.linalg.norm(exhibit.markers[k][:, None] - joints[None], axis=2).min(axis=1)
        assert far.max() < 0.3, "each is within a limb's length of some joint"


def test_a_cycle_is_played_over_and_over_and_the_whole_trial_has_no_ghost_beyond_it(
    exhibit: Exhibit, clock: Any
) -> None:
    values: dict[str, Any] = {}
    play = GaitPlayback(exhibit, lambda: values)
    play.pace = 0.5
    clock.now += 2.5 * play.duration
    assert play.numbers()["share"] == pytest.approx(0.25, abs=1e-3)
    assert play.numbers()["playing"]
    values["part"] = WHOLE
    assert play.duration == pytest.approx(exhibit.time[-1])
    play.seek(0.0)
    assert set(play.scenery().poses) == {"robot"}
    assert play.numbers()["share"] is None
    assert exhibit.cycle is not None
    play.seek(exhibit.cycle.initial_contact + 0.1)
    assert set(play.scenery().poses) == {"robot", "ghost"}


def test_who_walks_elsewhere_is_seen_from_the_same_side(exhibit: Exhibit, clock: Any) -> None:
    """Turned by a quarter, so is the view, and the ghost still goes to the left."""
    turned = dataclasses.replace(exhibit, heading=np.array([0.0, 1.0, 0.0]))
    straight = dataclasses.replace(exhibit, heading=np.array([1.0, 0.0, 0.0]))
    (x, y, z), (a, b, c) = GaitPlayback(straight, dict).look, GaitPlayback(turned, dict).look
    assert (a, b, c) == pytest.approx((-y, x, z))
    play = GaitPlayback(turned, lambda: {"apart": 1.0})
    other = next(iter(exhibit.reproduced.values()))
    assert play.scenery().poses["ghost"][1, :3] == pytest.approx(other.q[0, :3] + [-1.0, 0.0, 0.0])


@pytest.mark.parametrize("nonsense", [None, "x", float("nan"), [], -1e9])
def test_nonsense_in_controls_does_no_harm(exhibit: Exhibit, nonsense: object) -> None:
    names = ("variant", "part", "apart", "markers")
    play = GaitPlayback(exhibit, lambda: dict.fromkeys(names, nonsense))
    assert np.isfinite(play.scenery().poses["ghost"]).all()
    assert play.numbers()["words"]


def test_a_single_frame_can_be_shown(exhibit: Exhibit) -> None:
    one = dataclasses.replace(exhibit, time=exhibit.time[:1], q=exhibit.q[:1], cycle=None, curves=None, reproduced={})
    play = GaitPlayback(one, dict)
    assert play.duration == 0.0
    assert set(play.scenery().poses) == {"robot"}
    assert play.numbers()["replay"]["time"] == 0.0


def test_the_view_draws_markers_that_are_seen_and_hides_who_is_not_there() -> None:
    robot = robot_of("human")
    viewer = Viewer()
    try:
        viewer.figures({"robot": (robot, None), "ghost": (robot, (0.2, 0.4, 0.9, 0.3))})
        state = robot.stance("standing")
        seen = np.array([[0.1, 0.2, 0.3], [np.nan] * 3, [0.4, 0.5, 0.6]])
        viewer.show(Scenery.of(state, markers={"known": seen, "other": np.zeros((0, 3))}))
        balls = not_none(viewer._markers)._balls["known"]
        assert balls.visible
        assert balls.batched_positions == pytest.approx(seen[[0, 0, 2]], abs=1e-6)
        assert set(not_none(viewer._markers)._balls) == {"known"}
        assert viewer._figures["robot"]._root.visible
        assert not viewer._figures["ghost"]._root.visible
        viewer.show(Scenery.of(state, markers={"known": seen[2:]}))
        assert len(not_none(viewer._markers)._balls["known"].batched_positions) == 1
        viewer.show(Scenery.of(state, markers={"known": seen[1:2]}))
        assert not not_none(viewer._markers)._balls["known"].visible
        viewer.show(Scenery.of(state))
        assert not not_none(viewer._markers)._balls["known"].visible
    finally:
        viewer.close()


def test_a_replay_tells_the_fallback_of_its_moment() -> None:
    robot = robot_of("mighty")
    start = robot.stance("standing")
    controller = poise.KinematicController(poise.Hierarchy(levels=[poise.Level("posture", [tasks.Posture(start)])]))
    step = next(iter(poise.steps(controller, poise.IdealPlant(start), 0.1)))
    assert step.command.fallback == ""
    command = controller.step(None)  # no state was measured: a hold
    assert command.fallback
    recorder = Recorder(robot)
    recorder(step)
    recorder(dataclasses.replace(step, state=start.replace(time=0.005), command=command))
    play = Playback("walk.poise", recorder.finish(), robot)
    assert play.numbers()["fallback"] == ""
    play.seek(0.005)
    assert play.numbers()["fallback"] == command.fallback
