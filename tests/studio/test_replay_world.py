"""The world of a replay in the view of the studio: that of the recorded run, not that of the live scene."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from poise import record, runs
from poise.studio import Hub
from robot_states import installed_robot
from waiting import wait_until

pytestmark = pytest.mark.needs_models

#: Two steps up of 10 cm.
STAIRS, STAIR_HEIGHTS = "stairs:0.1,0.3,2", [0.1, 0.2]


def record_walk(path: Path, terrain: str) -> None:
    robot = installed_robot("g1")
    setup = runs.Walk(robot="g1", terrain=terrain).build(robot)  # type: ignore[call-arg]
    record(setup.controller, setup.plant, 0.05, path)


@pytest.fixture
def hub(tmp_path: Path) -> Iterator[Hub]:
    for name, terrain in (("stairs", STAIRS), ("flat", "flat")):
        record_walk(tmp_path / f"{name}.poise", terrain)
    hub = Hub("g1", tmp_path, "walk")
    hub.start()
    wait_until(lambda: hub.frame() and hub.hello()["controls"], "the scene")
    yield hub
    hub.stop()


def box_heights(hub: Hub) -> list[float]:
    """Heights of the upper faces of all boxes of the ground in the view (m), lowest first."""
    scene: Any = hub.viewer._server.scene
    meshes = [node for name, node in dict(scene._handle_from_node_name).items() if name.endswith("/all")]
    tops = [corners[:, 2].max() for mesh in meshes for corners in mesh.vertices.reshape(-1, 8, 3)]
    return sorted(float(top) for top in tops)


def replay(hub: Hub, file: str) -> None:
    """Replay a file, or with "" go back to the live scene; wait until the view has changed."""
    version = hub.hello_version
    hub.handle_command("replay", {"file": file, "time": 0.0} if file else None)
    wait_until(lambda: hub.hello_version > version and (hub.frame() or {})["replay"]["file"] == file, file or "live")


def test_a_replay_shows_the_stairs_of_its_run_and_the_live_scene_has_none(hub: Hub) -> None:
    assert box_heights(hub) == []
    replay(hub, "stairs.poise")
    assert np.allclose(wait_until(lambda: box_heights(hub)), STAIR_HEIGHTS)
    replay(hub, "")
    wait_until(lambda: box_heights(hub) == [], "the stairs are gone")


def test_a_replay_on_flat_ground_hides_the_stairs_of_the_live_scene_until_it_ends(hub: Hub) -> None:
    hub.handle_command("control", ["terrain", "stairs:0.05,0.3,4"])
    stairs = wait_until(lambda: box_heights(hub), "the stairs of the live scene")
    replay(hub, "flat.poise")
    wait_until(lambda: box_heights(hub) == [], "flat ground")
    replay(hub, "")
    assert wait_until(lambda: box_heights(hub)) == stairs
