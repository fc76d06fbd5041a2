"""Planned motions in the view, without a browser: position, color and removal of each plan."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from poise.plants import EnvironmentGeometry, StairsAndDoor
from poise.robots import Robot, load_robot
from poise.viewer.view_frame import Plan, ViewFrame
from poise.viewer.view_marks import PLAN_COLORS
from poise.viewer.viewer import Viewer

SOLE = np.array([[0.05, 0.04, 0.0], [-0.05, 0.04, 0.0], [-0.05, -0.04, 0.0], [0.05, -0.04, 0.0]])
PLAN = Plan(
    footprints=np.array([SOLE + np.array([0.2, 0.05, 0.0])]),
    hands=np.array([[0.3, 0.2, 0.4]]),
    center_of_mass=np.array([0.1, 0.0, 0.3]),
    support=SOLE,
    paths=(np.array([[0.0, 0.0, 0.3], [0.05, 0.01, 0.31], [0.1, 0.0, 0.3]]),),
)


@pytest.fixture(scope="module")
def robot() -> Robot:
    return load_robot("mighty")


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
    return {name.rsplit("/", 2)[-1]: node for name, node in found if "/plans" in name and word in name}


def show_plans(viewer: Viewer, robot: Robot, **plans: Plan) -> None:
    viewer.show(ViewFrame.from_state(robot.stance("standing"), plans=plans))


def test_a_plan_is_drawn_at_its_position_and_removed_afterwards(viewer: Viewer, robot: Robot) -> None:
    show_plans(viewer, robot, accepted=PLAN)
    drawn = nodes(viewer, "/accepted/")
    assert drawn["soles"].visible
    assert np.allclose(drawn["soles"].vertices[:, :2], PLAN.footprints.reshape(-1, 3)[:, :2], atol=1e-6)
    assert np.abs(drawn["soles"].vertices[:, 2]).max() < 0.01
    assert np.allclose(drawn["ball0"].position, PLAN.hands[0])
    assert np.allclose(drawn["ball1"].position, PLAN.center_of_mass)
    assert not drawn["ball2"].visible
    ends = drawn["lines"].points.reshape(-1, 3)
    for point in PLAN.paths[0]:
        assert np.abs(ends - point).sum(axis=1).min() < 1e-6
    shadow = np.append(PLAN.center_of_mass[:2], 0.0)
    assert np.abs(ends - shadow).sum(axis=1).min() < 0.01, "also drawn on the ground, where it is visible"
    assert not any(node.visible for name, node in nodes(viewer, "/next/").items())
    show_plans(viewer, robot)
    assert not any(node.visible for node in nodes(viewer, "/accepted/").values())


def test_accepted_and_next_plans_have_different_colours(viewer: Viewer, robot: Robot) -> None:
    show_plans(viewer, robot, accepted=PLAN, next=PLAN)
    colors = {name: tuple(nodes(viewer, f"/{name}/")["soles"].color) for name in PLAN_COLORS}
    assert len(set(colors.values())) == len(PLAN_COLORS)


def test_a_plan_that_stays_is_not_sent_again(viewer: Viewer, robot: Robot) -> None:
    show_plans(viewer, robot, accepted=PLAN)
    lines = nodes(viewer, "/accepted/")["lines"]
    before = lines.points
    show_plans(viewer, robot, accepted=Plan(*(np.array(part) for part in PLAN[:4]), PLAN.paths))  # type: ignore[arg-type, call-arg]
    assert lines.points is before
    show_plans(viewer, robot, accepted=PLAN._replace(hands=PLAN.hands + 0.1))
    assert np.allclose(nodes(viewer, "/accepted/")["ball0"].position, PLAN.hands[0] + 0.1)


@pytest.mark.parametrize("part", ["footprints", "hands", "center_of_mass", "support"])
def test_parts_that_are_not_finite_are_hidden_and_the_others_drawn(viewer: Viewer, robot: Robot, part: str) -> None:
    show_plans(viewer, robot, accepted=PLAN._replace(**{part: np.full_like(getattr(PLAN, part), np.nan)}))
    drawn = nodes(viewer, "/accepted/")
    assert drawn["lines"].visible
    assert np.isfinite(drawn["lines"].points).all()
    assert drawn["soles"].visible == (part != "footprints")
    assert drawn["ball1"].visible == (part not in ("hands", "center_of_mass"))


def test_walls_are_transparent_and_the_camera_shows_the_stairs(viewer: Viewer, robot: Robot) -> None:
    stage = StairsAndDoor.of(robot)
    viewer.set_environment(EnvironmentGeometry.of(stage, robot.stance("standing"), objects=stage.objects))
    handles = viewer._server.scene._handle_from_node_name
    (walls,) = (node for name, node in handles.items() if name.endswith("/obstacles"))
    assert walls.opacity < 0.5  # type: ignore[attr-defined]
    assert walls.vertices[:, 0].min() == pytest.approx(stage.door_x, abs=1e-6)  # type: ignore[attr-defined]
    before = np.array(viewer._server.initial_camera.position)
    viewer.set_camera_direction((-1.0, -1.0, 0.5))
    there = np.array(viewer._server.initial_camera.position)
    assert there[0] < 0.0 < before[0]
    assert np.linalg.norm(there[:2]) > 0.5
    viewer.set_camera_direction(None)
    assert np.allclose(viewer._server.initial_camera.position, before)
