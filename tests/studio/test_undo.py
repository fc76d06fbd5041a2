"""Undo of changes of controls, and what a reset of the simulation resets."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing import Pipe
from typing import Any

import pytest

from poise.studio import simulation_process
from poise.studio.simulation_process import SimulationLoop, SimulationStart

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
        command("undo")
        assert command.values["task_order"] == order
