"""Undo of changes of controls, and what a reset of the simulation resets."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing import Pipe
from typing import Any

import pytest

from poise.studio import simulation_process
from poise.studio.scenes import find_scene
from poise.studio.simulation_process import SimulationLoop, SimulationStart
from robot_states import installed_robot

pytestmark = pytest.mark.needs_models


class CommandLog:
    """A simulation that does not run: it only executes the commands of a page."""

    def __init__(self, loop: SimulationLoop, page_end: Any) -> None:
        self.loop, self.page_end = loop, page_end

    def __call__(self, name: str, value: Any = None) -> list[str]:
        """Execute a command; return the texts of its messages."""
        self.page_end.send((name, value))
        self.loop._receive_commands()
        texts = []
        while self.page_end.poll():
            kind, *payload = self.page_end.recv()
            texts += [payload[-1]] if kind == "message" else []
        return texts

    @property
    def values(self) -> dict[str, Any]:
        return self.loop._scene.values()


@contextmanager
def commands(scene: str, monkeypatch: pytest.MonkeyPatch, merge_time: float = -1.0) -> Iterator[CommandLog]:
    """A simulation in which changes within `merge_time` (s) are undone together; negative: none are."""
    monkeypatch.setattr(simulation_process, "UNDO_MERGE_TIME", merge_time)
    page_end, loop_end = Pipe()
    loop = SimulationLoop(loop_end, SimulationStart(scene, "g1", {}))
    page_end.recv()
    yield CommandLog(loop, page_end)


def test_undo_goes_back_one_change_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    with commands("stand", monkeypatch) as command:
        start = command.values
        command("control", ["depth", 0.2])
        command("control", ["squatting", True])
        command("control", ["push.force", 10.0])
        assert command("undo") == ["undone: force"]
        assert command.values == {**start, "depth": 0.2, "squatting": True}
        assert command("undo") == ["undone: squat"]
        assert command("undo") == ["undone: depth"]
        assert command.values == start
        assert command("undo") == ["nothing to undo"]


def test_a_dragged_slider_is_undone_as_a_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    with commands("stand", monkeypatch, merge_time=1e6) as command:
        start = command.values
        for depth in (0.13, 0.14, 0.2):
            command("control", ["depth", depth])
        command("undo")
        assert command.values == start


def test_a_reset_resets_the_stack_of_tasks_and_its_targets(monkeypatch: pytest.MonkeyPatch) -> None:
    with commands("reach", monkeypatch) as command:
        scene: Any = command.loop._scene
        start, handles = command.values, scene.drag_handles()
        order = [{**item, "weight": 3.0} for item in reversed(start["task_order"])]
        command("control", ["task_order", order])
        command("move_handle", ("left hand", (0.5, 0.4, 1.2)))
        assert command.values["task_order"] == order
        command("control", ["display", "physics"])  # rebuilds the plants, which is no reset by the user
        assert command.values["task_order"] == order
        command("reset")
        assert command.values["task_order"] == start["task_order"]
        assert scene.drag_handles() == handles
        dragged = {**handles, "left hand": pytest.approx((0.5, 0.4, 1.2))}
        assert command("undo") == ["undone: reset"]
        assert command.values["task_order"] == order
        assert scene.drag_handles() == dragged


def test_a_dragged_target_is_undone_as_a_whole_and_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    with commands("reach", monkeypatch, merge_time=1e6) as command:
        scene: Any = command.loop._scene
        handles = scene.drag_handles()
        command("control", ["box_half_width", 0.2])
        for height in (1.0, 1.1, 1.2):
            command("move_handle", ("left hand", (0.5, 0.4, height)))
        assert command("undo") == ["undone: left hand"]
        assert scene.drag_handles() == handles
        assert command.values["box_half_width"] == 0.2
        assert command("undo") == ["undone: half width of boxes"]
        assert command("undo") == ["nothing to undo"]


def test_a_push_is_nothing_to_undo(monkeypatch: pytest.MonkeyPatch) -> None:
    with commands("stand", monkeypatch) as command:
        command("control", ["depth", 0.2])
        for _ in range(2 * simulation_process.UNDO_DEPTH):
            command("move_handle", ("push", (0.5, 0.0, 1.0)))
        assert command("undo") == ["undone: depth"]


def test_targets_of_a_scene_come_back_for_the_same_robot_only() -> None:
    scene = find_scene("reach")(installed_robot("g1"))
    scene.move_handle("left hand", (0.5, 0.4, 1.2))
    again, other = find_scene("reach")(installed_robot("g1")), find_scene("reach")(installed_robot("nao"))
    at_first = other.drag_handles()
    again.restore(scene.saved_state())
    other.restore(scene.saved_state())
    assert again.drag_handles()["left hand"] == pytest.approx((0.5, 0.4, 1.2))
    assert other.drag_handles() == at_first
