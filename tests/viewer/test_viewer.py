"""The viewer without a browser: poses of links, drag handles, and clients that send invalid messages."""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from socket import SHUT_RDWR
from typing import Any

import numpy as np
import pinocchio
import pytest
from websockets.exceptions import ConnectionClosed
from websockets.typing import Origin

from poise.errors import PoiseError
from poise.plants import CarriedBox, EnvironmentGeometry, parse_terrain
from poise.robots import Robot, State, load_robot
from poise.viewer import viewer as viewer_module
from poise.viewer.view_frame import ViewFrame
from poise.viewer.viewer import Viewer
from robot_states import not_none
from viser_client import CAMERA, client, drag, receive_until, send_message
from waiting import STALL_SECONDS, wait_until

BIPED = Path(__file__).parents[2] / "examples/biped.urdf"


@pytest.fixture(autouse=True, scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("POISE_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield Path()


@pytest.fixture(scope="module")
def robot() -> Robot:
    return load_robot("nao")


@pytest.fixture
def viewer(robot: Robot) -> Iterator[Viewer]:
    viewer = Viewer()
    viewer.set_figures({"robot": (robot, None)})
    yield viewer
    viewer.close()


@pytest.fixture
def standing(robot: Robot) -> ViewFrame:
    return ViewFrame.from_state(robot.stance("standing"))


def nodes(viewer: Viewer, word: str = "") -> dict[str, Any]:
    """Nodes of the scene, by name."""
    return {name: node for name, node in viewer._server.scene._handle_from_node_name.items() if word in name}


def world_from(viewer: Viewer, joint: int) -> pinocchio.SE3:
    """The pose of a link at the clients, without the motion of the world node."""
    (frame,) = (node for name, node in nodes(viewer, "/figure").items() if name.split("/")[3:] == [str(joint)])
    w, x, y, z = frame.wxyz
    return pinocchio.SE3(pinocchio.Quaternion(w, x, y, z).matrix(), np.array(frame.position))


def arrow_ends(viewer: Viewer, word: str) -> np.ndarray:
    """Begin and end of an arrow, from the poses of its parts."""
    parts = {name.rpartition("/")[2]: node for name, node in nodes(viewer, word).items()}
    frame, head = next(node for name, node in nodes(viewer, word).items() if name.endswith(word)), parts["head"]
    w, x, y, z = frame.wxyz
    turn = pinocchio.Quaternion(w, x, y, z).matrix()
    tip = head.position + np.array([0.0, 0.0, head.vertices[:, 2].max()])
    assert parts["shaft"].vertices[:, 2].max() * parts["shaft"].scale[2] == pytest.approx(head.position[2], abs=1e-6)
    return np.array([frame.position, frame.position + turn @ tip])


class DragLog(list[tuple[str, tuple[float, float, float]]]):
    def __call__(self, name: str, place: tuple[float, float, float]) -> None:
        self.append((name, place))


def test_poses_of_links_are_those_of_pinocchio(viewer: Viewer, robot: Robot) -> None:
    random, data = np.random.default_rng(0), robot.model.createData()
    for _ in range(5):
        step = 0.5 * random.normal(size=robot.model.nv)
        state = State(robot, pinocchio.integrate(robot.model, robot.rest, step))
        viewer.show(ViewFrame.from_state(state))
        pinocchio.forwardKinematics(robot.model, data, state.q)
        shown = {int(name.split("/")[3]) for name in nodes(viewer, "/figure") if name.count("/") == 3}
        assert len(shown) > 20
        for joint in shown:
            assert np.abs(world_from(viewer, joint).homogeneous - data.oMi[joint].homogeneous).max() < 1e-4


def test_a_joint_that_was_never_placed_is_not_shown(viewer: Viewer, standing: ViewFrame) -> None:
    frames = [node for name, node in nodes(viewer, "/figure").items() if name.count("/") == 3]
    assert not any(frame.visible for frame in frames)
    viewer.show(standing)
    assert all(frame.visible for frame in frames)


def test_a_removed_robot_leaves_no_nodes_and_its_names_are_not_reused(viewer: Viewer, robot: Robot) -> None:
    before = set(nodes(viewer, "/figure"))
    viewer.set_figures({})
    assert not nodes(viewer, "/figure")
    viewer.set_figures({"robot": (robot, None)})
    after = set(nodes(viewer, "/figure"))
    assert not before & after
    assert len(after) == len(before)


def test_an_unchanged_robot_is_not_sent_again(viewer: Viewer, robot: Robot) -> None:
    viewer.set_figures({"robot": (robot, None)})
    before = set(nodes(viewer, "/figure"))
    viewer.set_figures({"robot": (robot, None), "ghost": (robot, (0.2, 0.4, 0.8, 0.3))})
    both = set(nodes(viewer, "/figure"))
    assert before < both
    assert len(both) == 2 * len(before)
    viewer.set_figures({"robot": (robot, (0.2, 0.4, 0.8, 0.3))})
    assert not before & set(nodes(viewer, "/figure")), "in another color"


def test_a_ghost_has_one_colour_and_is_transparent(viewer: Viewer, robot: Robot) -> None:
    viewer.set_figures({"ghost": (robot, (0.0, 0.4, 1.0, 0.3))})
    meshes = [node for name, node in nodes(viewer, "/figure").items() if name.count("/") == 4]
    assert {(mesh.color, mesh.opacity) for mesh in meshes} == {((0, 102, 255), 0.3)}


def test_forces_support_and_balance_are_drawn_where_they_are_and_vanish_with_them(
    viewer: Viewer, standing: ViewFrame
) -> None:
    forces = np.array([[[0.0, 0.1, 0.0], [0.0, 0.1, 0.3]]])
    viewer.show(standing._replace(forces=forces, center_of_pressure=np.array([0.02, 0.0, 0.0])))
    marks = {name.split("/")[-1]: node for name, node in nodes(viewer, "/marks").items()}
    assert np.allclose(arrow_ends(viewer, "/force0"), forces[0], atol=1e-3)
    assert np.allclose(marks["area"].vertices[:, :2], standing.support[:, :2], atol=1e-3)
    assert len(marks["area"].faces) == len(standing.support) - 2
    assert np.allclose(marks["edge"].points[:, 1], np.roll(marks["edge"].points[:, 0], -1, axis=0))
    assert np.allclose(marks["center"].position, not_none(standing.center_of_mass))
    assert np.allclose(marks["below"].position[:2], np.asarray(standing.center_of_mass)[:2])
    parts = ("force0", "area", "edge", "center", "below", "plumb", "pressure")
    assert all(marks[name].visible for name in parts)
    nothing = ViewFrame(standing.poses, np.zeros((0, 2, 3)), np.zeros((0, 3)), None, None, {}, None)
    viewer.show(nothing)
    assert not any(marks[name].visible for name in parts)


@pytest.mark.parametrize("direction", [(0, 0, -1), (1, 0, 0), (0, -1, 0), (0.3, -0.4, 0.5), (-0.3, 0.2, -0.9)])
def test_an_arrow_goes_from_its_begin_to_its_end(
    viewer: Viewer, standing: ViewFrame, direction: tuple[float, float, float]
) -> None:
    begin = np.array([0.1, -0.2, 0.3])
    ends = np.array([begin, begin + 0.4 * np.array(direction)])
    viewer.show(standing._replace(forces=ends[None]))
    assert np.allclose(arrow_ends(viewer, "/force0"), ends, atol=1e-3)


def test_shapes_on_the_body_are_moved_by_poses_alone(viewer: Viewer, robot: Robot) -> None:
    """Clients draw new shapes one picture after new poses, so shapes would trail the body on a slow client."""
    start = robot.stance("standing")
    shift = np.array([0.03, 0.02, 0.0])
    markers = start.q[:3] + np.array([[0.1, 0.0, 0.2], [0.0, 0.1, 0.3], [np.nan] * 3])
    forces = np.array([[[0.0, 0.1, 0.0], [0.0, 0.1, 0.3]]])

    def frame(offset: np.ndarray) -> ViewFrame:
        moved = State(robot, np.concatenate([start.q[:3] + offset, start.q[3:]]), contacts=start.contacts)
        return ViewFrame.from_state(
            moved, forces=forces + offset, support=np.zeros((0, 3)), markers={"known": markers + offset}
        )

    viewer.show(frame(np.zeros(3)))
    with client(viewer.port) as page:
        viewer._server.scene.add_frame("/before")
        receive_until(page, "/before")
        viewer.show(frame(shift))
        viewer._server.scene.add_frame("/after")
        batches = [batch for batch in receive_until(page, "/after") if batch]
    assert len(batches) == 1, "one message for the whole frame"
    kinds = {message["type"] for message in batches[0]}
    assert kinds <= {"SetPositionMessage", "SetOrientationMessage"}
    moved = {message["name"].rpartition("/")[2] for message in batches[0]}
    assert {"force0", "center", "below", "plumb", "known0", "known1"} <= moved
    assert "known2" not in moved, "an invisible marker is not moved"


def test_a_ghost_is_hidden_where_it_coincides_with_the_robot(viewer: Viewer, robot: Robot) -> None:
    viewer.set_figures({"robot": (robot, None), "ghost": (robot, (0.2, 0.4, 0.8, 0.35))})
    start = robot.stance("standing")
    elbow = next(joint for joint in robot.joints if "Elbow" in joint.name)
    q = start.q.copy()
    q[elbow.q] += 0.5
    poses = {
        name: ViewFrame.from_state(State(robot, each)).poses["robot"]
        for name, each in (("robot", start.q), ("ghost", q))
    }
    viewer.show(ViewFrame.from_state(start, poses=poses))
    ghost = viewer._figures["ghost"]
    visible = {joint for joint, frame in ghost._frames.items() if joint > 0 and frame.visible}
    moved = {j for j in ghost._frames if not np.allclose(poses["robot"][j], poses["ghost"][j])}
    assert visible == moved
    assert elbow.index in visible
    robots = viewer._figures["robot"]._frames
    assert all(frame.visible for joint, frame in robots.items() if joint > 0)
    viewer.show(ViewFrame.from_state(start, poses={**poses, "ghost": poses["robot"]}))
    assert not any(frame.visible for joint, frame in ghost._frames.items() if joint > 0)


def test_an_invalid_frame_changes_nothing_and_raises_nothing(viewer: Viewer, standing: ViewFrame, robot: Robot) -> None:
    viewer.show(standing)
    before = world_from(viewer, 1).homogeneous
    poses = np.full((robot.model.njoints, 7), np.nan)
    for bad in (poses, poses[:3], np.zeros(7), None, "x"):
        viewer.show(standing._replace(poses={"robot": bad, "nobody": bad}))  # type: ignore[dict-item]
    wrong: Any = np.full((2, 2), np.inf)
    viewer.show(ViewFrame({}, wrong, wrong, wrong, wrong, {"none": wrong}, wrong))
    assert np.array_equal(world_from(viewer, 1).homogeneous, before)


def test_the_world_node_follows_the_robot_smoothly_jumps_after_a_reset_and_rises_with_the_support(
    viewer: Viewer, standing: ViewFrame, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = [100.0]
    monkeypatch.setattr(viewer_module.time, "monotonic", lambda: clock[0])
    (world,) = (node for name, node in nodes(viewer).items() if name == viewer_module.WORLD_NODE)
    base, floor = np.asarray(standing.camera_target), np.asarray(standing.support)

    def follow_to(x: float, z: float = 0.0, camera_target: bool = True) -> np.ndarray:
        clock[0] += 1 / 30
        place = base + np.array([x, 0.0, 5.0 * z])
        viewer.show(
            standing._replace(camera_target=place if camera_target else None, support=floor + np.array([0, 0, z]))
        )
        return -np.array(world.position) - [base[0], base[1], floor[0, 2]]

    assert np.allclose(follow_to(0.0), 0.0, atol=1e-6)
    displacement = np.array([follow_to(0.5 * k / 30)[0] for k in range(150)])  # half a meter a second
    assert (np.diff(displacement) >= -1e-9).all()
    assert np.abs(np.diff(displacement, n=2)).max() < 0.5 / 30  # no step
    assert 0.5 * 149 / 30 - displacement[-1] == pytest.approx(0.5 * viewer_module.CAMERA_LAG, abs=0.02)
    assert np.array_equal(follow_to(99.0, camera_target=False), follow_to(99.0, camera_target=False))
    assert follow_to(50.0)[0] == pytest.approx(50.0, abs=1e-6)
    for _ in range(120):
        risen = follow_to(50.0, z=0.2)
    assert risen[2] == pytest.approx(0.2, abs=0.001)


def test_the_grid_stays_on_the_ground_and_under_the_robot(viewer: Viewer, standing: ViewFrame) -> None:
    (grid,) = nodes(viewer, "/grid").values()
    for text in ("flat", "stairs:0.1,0.3,4", "slope:10", "stairs:-0.1,0.3,4", "flat"):
        ground = parse_terrain(text)
        viewer.set_environment(EnvironmentGeometry(ground.plane, tuple(ground.boxes(0, np.zeros((2, 2))))))
        for x in (0.0, 7.3, -40.2):
            viewer.show(standing._replace(camera_target=np.array([x, 3.0, 0.5])))
            local = ground.plane.actInv(np.array(grid.position))
            assert local[2] == pytest.approx(-0.001)
            assert np.abs(local[:2] - np.round(local[:2])).max() < 1e-9  # whole squares: the motion is invisible
            assert math.hypot(grid.position[0] - x, grid.position[1] - 3.0) < 1.5
        assert bool(nodes(viewer, "/all")) == text.startswith("stairs")


def test_boxes_are_drawn_where_they_stand(viewer: Viewer) -> None:
    ground = parse_terrain("stairs:0.1,0.3,2")
    boxes = ground.boxes(0, np.zeros((2, 2)))
    viewer.set_environment(EnvironmentGeometry(ground.plane, tuple(boxes)))
    (mesh,) = nodes(viewer, "/all").values()
    (edges,) = nodes(viewer, "/edges").values()
    for block, corners in zip(boxes, mesh.vertices.reshape(-1, 8, 3), strict=True):
        assert np.allclose(corners.mean(axis=0), block.position, atol=1e-6)
        assert np.allclose(np.ptp(corners, axis=0), block.size, atol=1e-6)
    tops = [np.asarray(block.position)[2] + np.asarray(block.size)[2] / 2 for block in boxes for _ in range(4)]
    assert np.allclose(edges.points[:, :, 2], np.array(tops)[:, None], atol=1e-6)
    assert (np.linalg.norm(edges.points[:, 1] - edges.points[:, 0], axis=1) > 0.1).all()


def test_a_box_is_drawn_between_the_hands_and_goes_with_the_environment(viewer: Viewer, robot: Robot) -> None:
    start = robot.stance("carrying")
    environment = EnvironmentGeometry.of(None, start, carried_box=CarriedBox(0.3))
    viewer.set_environment(environment)
    (frame,) = (node for name, node in nodes(viewer, "/held").items() if not name.endswith("/box"))
    assert not frame.visible  # the positions of the hands are still unknown
    q = np.array(start.q)
    q[:2] += (0.5, 0.2)
    moved = start.replace(q=q)
    viewer.show(ViewFrame.from_state(moved))
    expected = not_none(environment.held_box).pose_in(moved)
    assert frame.visible
    assert np.allclose(frame.position, expected.translation, atol=1e-6)
    assert np.allclose(pinocchio.Quaternion(*frame.wxyz).matrix(), expected.rotation, atol=1e-6)
    viewer.set_environment(EnvironmentGeometry())
    assert not nodes(viewer, "/held")


def test_every_point_that_can_be_dragged_has_its_name_beside_it(viewer: Viewer, standing: ViewFrame) -> None:
    places = {"left hand": (0.1, 0.2, 0.3), "gaze": (0.9, 0.0, 0.5), "push": (0.2, 0.0, 0.4)}
    viewer.set_drag_handles(places, DragLog())
    moved = {name: np.add(place, (0.0, 0.1, 0.2)) for name, place in places.items()}
    viewer.show(standing._replace(drag_handles=moved))
    labels = {node.text: (name, node) for name, node in nodes(viewer, "/handles").items() if name.endswith("/label")}
    assert set(labels) == set(places)
    for text, (name, label) in labels.items():
        handle = nodes(viewer)[name.removesuffix("/label")]  # the label is drawn in its axes
        assert np.allclose(handle.position, moved[text])
        assert np.linalg.norm(label.position) < 0.05
        assert label.visible
    viewer.set_drag_handles({}, DragLog())
    assert not nodes(viewer, "/label")


def test_drags_are_reported_in_order_and_the_simulation_does_not_move_a_dragged_point(
    viewer: Viewer, standing: ViewFrame
) -> None:
    moved = DragLog()
    viewer.set_drag_handles({"left hand": (0.1, 0.2, 0.3)}, moved)
    ((name, handle),) = (item for item in nodes(viewer, "/handles").items() if item[0].endswith("/0"))
    simulated = standing._replace(drag_handles={"left hand": np.array([0.0, 0.0, 0.9])})
    viewer.show(simulated)
    assert np.allclose(handle.position, [0.0, 0.0, 0.9])
    places = [(0.01 * k, 0.5, 0.6) for k in range(30)]
    with client(viewer.port) as page:
        drag(page, name, "DragStart")
        for place in places:
            drag(page, name, "Update", position=list(place))
        wait_until(lambda: len(moved) == len(places), "all places were reported")
        viewer.show(simulated)
        assert np.allclose(handle.position, places[-1])
        drag(page, name, "DragEnd")
        wait_until(lambda: len(moved) == len(places) + 1, "the end was reported")
        viewer.show(simulated)  # it has not received the message yet
        assert np.allclose(handle.position, places[-1])
    assert moved == [("left hand", place) for place in [*places, places[-1]]]
    wait_until(lambda: viewer.show(simulated) or np.allclose(handle.position, [0.0, 0.0, 0.9]), "it went on")  # type: ignore[func-returns-value]


def test_a_push_is_reported_while_it_is_held_drawn_as_an_arrow_and_ends_on_release(
    viewer: Viewer, standing: ViewFrame
) -> None:
    moved = DragLog()
    viewer.set_drag_handles({"push": (0.1, 0.0, 0.4)}, moved)
    (name,) = (name for name in nodes(viewer, "/handles") if name.endswith("/0"))
    arrow = next(node for name, node in nodes(viewer, "/arrow").items() if name.endswith("/arrow"))
    body = np.asarray(standing.camera_target)
    viewer.show(standing._replace(drag_handles={"push": np.array([0.1, 0.0, 0.4])}))
    with client(viewer.port) as page:
        drag(page, name, "DragStart")
        drag(page, name, "Update", position=[0.6, 0.0, 0.4])
        wait_until(lambda: moved, "it was reported")
        count, step = len(moved), np.array([0.1, 0.0, 0.0])
        for k in range(1, 4):  # the simulation may report the dragged position, and the body moves
            viewer.show(
                standing._replace(drag_handles={"push": np.array([0.6, 0.0, 0.4])}, camera_target=body + step * k)
            )
        assert moved[count:] == [("push", (0.6, 0.0, 0.4))] * 3
        assert arrow.visible
        assert np.allclose(arrow_ends(viewer, "/arrow"), [[0.4, 0.0, 0.4], [0.6, 0.0, 0.4]], atol=1e-3)
        drag(page, name, "DragEnd")
        wait_until(lambda: len(moved) > count + 3, "the end was reported")
    assert moved[-1][1] == pytest.approx((0.4, 0.0, 0.4))
    viewer.show(standing)
    assert not arrow.visible


def test_a_client_that_disconnects_while_dragging_releases_the_point(viewer: Viewer, standing: ViewFrame) -> None:
    moved = DragLog()
    viewer.set_drag_handles({"push": (0.1, 0.0, 0.4)}, moved)
    (name,) = (name for name in nodes(viewer, "/handles") if name.endswith("/0"))
    with client(viewer.port) as page:
        drag(page, name, "DragStart")
        drag(page, name, "Update", position=[0.6, 0.0, 0.4])
        wait_until(lambda: moved, "it was reported")
        page.socket.shutdown(SHUT_RDWR)  # without a message
    wait_until(lambda: moved[-1][1] == pytest.approx((0.1, 0.0, 0.4)), "the push ended")
    count = len(moved)
    viewer.show(standing)
    assert len(moved) == count


def test_a_point_removed_while_dragged_reports_nothing_more(viewer: Viewer, standing: ViewFrame) -> None:
    old, new = DragLog(), DragLog()
    viewer.set_drag_handles({"hand": (0.1, 0.0, 0.4)}, old)
    (name,) = (name for name in nodes(viewer, "/handles") if name.endswith("/0"))
    with client(viewer.port) as page:
        drag(page, name, "DragStart")
        drag(page, name, "Update", position=[0.6, 0.0, 0.4])
        wait_until(lambda: old, "it was reported")
        viewer.set_drag_handles({"foot": (0.0, 0.0, 0.0)}, new)
        drag(page, name, "Update", position=[0.7, 0.0, 0.4])
        drag(page, name, "DragEnd")
        (other,) = (name for name in nodes(viewer, "/handles") if name.endswith("/0"))
        drag(page, other, "Update", position=[1.0, 0.0, 0.0])
        wait_until(lambda: new, "the new one was reported")
    assert (len(old), len(new)) == (1, 1)
    viewer.show(standing)


NONSENSE: list[Any] = [
    {"position": [math.nan, 0.0, 0.0]},
    {"position": [1e9, 0.0, 0.0]},
    {"position": [0.0]},
    {"position": []},
    {"position": [[0.0, 1.0], [2.0, 3.0]]},
    {"position": "here"},
    {"position": None},
    {"position": [1.0, 2.0, 3.0], "wxyz": [math.nan]},
]


def test_nothing_a_client_sends_ends_the_view(viewer: Viewer, standing: ViewFrame) -> None:
    moved = DragLog()
    viewer.set_drag_handles({"hand": (0.1, 0.0, 0.4)}, moved)
    (name,) = (name for name in nodes(viewer, "/handles") if name.endswith("/0"))
    for nonsense in NONSENSE:
        with client(viewer.port) as page:
            drag(page, name, "DragStart")
            drag(page, name, "Update", **nonsense)
            drag(page, name, "DragEnd")
            viewer.show(standing._replace(drag_handles={"hand": np.array([0.1, 0.0, 0.4])}))
    for raw in (b"", b"\xff\x00 garbage", "text", b"\x81\xa4type\xa4None", b"\xc0"):
        with client(viewer.port) as page:
            page.send(raw)
            with suppress(ConnectionClosed):
                deque(page, maxlen=0)  # all that comes until it is closed
    with client(viewer.port, greets=False) as page:
        send_message(page, **{**CAMERA, "position": [math.nan] * 3, "look_at": [0.0] * 3, "up_direction": [0.0] * 3})
        wait_until(lambda: viewer._server.get_clients(), "the client was there")
        viewer.set_figures({"robot": (load_robot(BIPED), None)})  # moves the cameras that are there
        viewer.show(standing)
    assert all(np.isfinite(place).all() and np.abs(place).max() < 1000.0 for _, place in moved)
    moved.clear()
    with client(viewer.port) as page:
        drag(page, name, "Update", position=[0.3, 0.2, 0.1])
        wait_until(lambda: moved, "a drag was reported after all that")
    assert moved == [("hand", (0.3, 0.2, 0.1))]
    viewer.show(standing._replace(drag_handles={"hand": np.array([0.1, 0.0, 0.4])}))


def test_cameras_step_back_or_nearer_in_proportion_to_the_robot(viewer: Viewer, robot: Robot) -> None:
    small = viewer._robot_height
    assert small == pytest.approx(robot.height, rel=0.1)
    with client(viewer.port):
        wait_until(lambda: viewer._server.get_clients(), "the client was there")
        (page,) = viewer._server.get_clients().values()
        viewer.set_figures({"robot": (load_robot(BIPED), None)})
        ratio = viewer._robot_height / small
        assert not np.isclose(ratio, 1.0)
        assert np.allclose(page.camera.position, ratio * np.array(CAMERA["position"]))
        assert np.allclose(page.camera.look_at, ratio * np.array(CAMERA["look_at"]))


def test_no_client_can_open_a_share_tunnel(viewer: Viewer, monkeypatch: pytest.MonkeyPatch) -> None:
    opened = DragLog()
    monkeypatch.setattr("viser._viser.ViserTunnel", lambda *_: opened("tunnel", (0, 0, 0)))
    moved = DragLog()
    viewer.set_drag_handles({"hand": (0.1, 0.0, 0.4)}, moved)
    (name,) = (name for name in nodes(viewer, "/handles") if name.endswith("/0"))
    with client(viewer.port) as page:
        send_message(page, type="ShareUrlRequest")
        drag(page, name, "Update", position=[0.3, 0.2, 0.1])
        wait_until(lambda: moved, "a later message was reported")
        time.sleep(0.2)  # it would come from another thread
    assert not opened


def test_pages_of_other_sites_cannot_connect(viewer: Viewer, standing: ViewFrame) -> None:
    viewer.show(standing)
    assert viewer._server.get_host() == "127.0.0.1"
    for origin in ("http://example.org", f"http://example.org:{viewer.port}", "null", "http://127.0.0.1:1"):
        with client(viewer.port, Origin(origin), greets=False) as page, pytest.raises(ConnectionClosed) as closed:
            page.recv(timeout=STALL_SECONDS)
        assert closed.value.rcvd is not None
        assert closed.value.rcvd.code == 1008
    for known in (None, Origin(f"http://127.0.0.1:{viewer.port}"), Origin(f"http://localhost:{viewer.port}")):
        with client(viewer.port, known) as page:
            assert len(page.recv(timeout=STALL_SECONDS)) > 100


def test_a_client_that_reads_nothing_does_not_keep_the_view_waiting(viewer: Viewer, robot: Robot) -> None:
    random = np.random.default_rng(0)
    with client(viewer.port):
        wait_until(lambda: viewer._server.get_clients(), "the client was there")
        for _ in range(300):
            step = 0.5 * random.normal(size=robot.model.nv)
            viewer.show(ViewFrame.from_state(State(robot, pinocchio.integrate(robot.model, robot.rest, step))))
        buffer = viewer._server._websock_server.get_message_buffer()
        assert len(buffer.message_from_id) < 1000  # only the latest of each is kept


def test_a_closed_view_ignores_frames(robot: Robot, standing: ViewFrame) -> None:
    viewer = Viewer()
    viewer.set_figures({"robot": (robot, None)})
    viewer.show(standing)
    before = world_from(viewer, 1)
    viewer.close()
    step = np.concatenate([[1.0, 0.0, 0.0], np.zeros(robot.model.nv - 3)])
    viewer.show(ViewFrame.from_state(State(robot, pinocchio.integrate(robot.model, robot.stance("standing").q, step))))
    assert world_from(viewer, 1) == before


@pytest.mark.parametrize("port", [-1, 65536, 0.5, "8080", None])
def test_an_invalid_port_is_refused(port: Any) -> None:
    with pytest.raises(PoiseError, match="expected an integer from 0 to 65535"):
        Viewer(port)
