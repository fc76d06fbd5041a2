"""Sole pressure in the view, without a browser: dots at the ZMP, crosses at its target, transparent feet."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio
import pytest

from poise.behaviors import SoleLoad
from poise.robots import Robot, load_robot
from poise.studio.sole_pressure import SolePressure
from poise.viewer.view_frame import SolePressureFrame, ViewFrame
from poise.viewer.view_objects import FOOT_OPACITY
from poise.viewer.viewer import Viewer


@pytest.fixture(scope="module")
def robot() -> Robot:
    return load_robot("hoap3")


@pytest.fixture
def viewer(robot: Robot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Viewer]:
    monkeypatch.setenv("POISE_CACHE", str(tmp_path))
    viewer = Viewer()
    viewer.set_figures({"robot": (robot, None)})
    yield viewer
    viewer.close()


def nodes(viewer: Viewer, word: str) -> dict[str, Any]:
    """Nodes of the scene, by the end of their names."""
    found = viewer._server.scene._handle_from_node_name.items()
    return {name.rsplit("/", 1)[-1]: node for name, node in found if f"/{word}" in name}


def sole_frame(robot: Robot, **pressed: SoleLoad) -> SolePressureFrame:
    sole_pressure = SolePressure(robot)
    sole_pressure.update(pressed, 0.001)
    return sole_pressure.to_frame(robot.stance("standing"))


def opacities(viewer: Viewer, robot: Robot) -> dict[int, set[float | None]]:
    """Opacities of the meshes of each joint."""
    found = viewer._server.scene._handle_from_node_name.items()
    meshes = [(name.split("/"), node) for name, node in found if "/figure" in name and name.count("/") == 4]
    return {int(parts[3]): {n.opacity for p, n in meshes if p[3] == parts[3]} for parts, _ in meshes}  # type: ignore[attr-defined]


def test_a_dot_is_where_the_zmp_is_and_as_large_as_the_force(viewer: Viewer, robot: Robot) -> None:
    start = robot.stance("standing")
    weight = 9.81 * robot.mass
    under = sole_frame(robot, left=SoleLoad(0.8 * weight, 0.02 - 0.01j), right=SoleLoad(0.2 * weight, -0.01j))
    viewer.show(ViewFrame.from_state(start, sole_pressure=under))
    drawn = nodes(viewer, "soles")
    for number, (side, x, y) in enumerate((("left", 0.02, -0.01), ("right", 0.0, -0.01))):
        foot = robot.foot(side)
        place = start.pose(foot).act(foot.sole.center + np.array([x, y, 0.0]))
        assert np.allclose(drawn[f"zmp{number}"].position[:2], place[:2], atol=1e-6)
        assert drawn[f"zmp{number}"].visible
    areas = [np.prod(drawn[f"zmp{number}"].scale) for number in range(2)]
    assert areas[0] / areas[1] == pytest.approx(4.0, rel=0.05)
    for number, foot in enumerate(robot.feet):
        lines, sole = drawn[f"lines{number}"], under.outlines[number]
        assert len(lines.points) == 4 + 2, "an outline, and a cross at the middle"
        assert np.allclose(lines.position[:2], start.pose(foot).act(foot.sole.center)[:2], atol=1e-6)
        w, x, y, z = lines.wxyz
        corners = lines.points[:4, 0] @ pinocchio.Quaternion(w, x, y, z).matrix().T + lines.position
        assert np.allclose(corners[:, :2], sole[:, :2], atol=1e-4)


def test_an_unloaded_sole_has_no_dot_and_invalid_values_are_not_drawn(viewer: Viewer, robot: Robot) -> None:
    start = robot.stance("standing")
    under = sole_frame(robot, left=SoleLoad(80.0, 0j), right=SoleLoad(0.0, 0j))
    viewer.show(ViewFrame.from_state(start, sole_pressure=under))
    drawn = nodes(viewer, "soles")
    assert (drawn["zmp0"].visible, drawn["zmp1"].visible) == (True, False)
    bad = under._replace(zmps=np.full((2, 3), np.nan), outlines=np.zeros((2, 3)), load_shares=np.ones(5))
    viewer.show(ViewFrame.from_state(start, sole_pressure=bad))
    assert not any(drawn[name].visible for name in ("zmp0", "zmp1", "lines0", "lines1"))


def test_feet_are_transparent_only_while_sole_pressure_is_shown(viewer: Viewer, robot: Robot) -> None:
    start = robot.stance("standing")
    before = opacities(viewer, robot)
    viewer.show(
        ViewFrame.from_state(start, sole_pressure=sole_frame(robot, left=SoleLoad(40.0, 0j), right=SoleLoad(40.0, 0j)))
    )
    glassy = opacities(viewer, robot)
    feet = {foot.joint for foot in robot.feet}
    assert all(glassy[joint] == {FOOT_OPACITY} for joint in feet)
    changed = {joint for joint in glassy if glassy[joint] != before[joint]}
    assert feet <= changed
    assert len(changed) <= 4, "the ankles, at most"
    viewer.show(ViewFrame.from_state(start))
    assert opacities(viewer, robot) == before
    assert not nodes(viewer, "soles")["lines0"].visible
