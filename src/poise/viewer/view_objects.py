"""Objects of the 3D view: robots, ground and drag handles."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pinocchio

from poise.arrays import Array
from poise.plants import EnvironmentGeometry, HeldBox, SolidBox
from poise.rendering import MARK_COLORS, box_mesh
from poise.robots import Frame, Robot
from poise.viewer.view_frame import Point, finite_array
from poise.viewer.view_marks import Arrow, set_visible
from poise.viewer.view_meshes import MeshPart

if TYPE_CHECKING:
    from viser import FrameHandle, MeshHandle, TransformControlsEvent, TransformControlsHandle, ViserServer

Tint = tuple[float, float, float, float]

#: Opacity of feet while marks under the soles are shown.
FOOT_OPACITY = 0.3
#: A link of a ghost is hidden where it coincides with that of the robot, as overlapping surfaces would flicker. It
#: appears at this distance (m) or angle (rad), and vanishes at half of it.
GHOST_DISTANCE, GHOST_ANGLE = 0.008, 0.03
#: A parent joint nearer than this to the joint of a foot, as a share of the robot's height, belongs to the ankle and is
#: drawn like the foot.
ANKLE_DISTANCE = 0.05


class RobotFigure:
    """A robot in the view.

    Args:
        server: viser server.
        root: name of the scene node of the robot.
        robot: robot to draw.
        parts: meshes of the robot.
        tint: color and opacity of the whole robot; None: its own colors.

    Attributes:
        height_range: lowest and highest point in the rest configuration (m).
    """

    def __init__(
        self, server: ViserServer, root: str, robot: Robot, parts: Sequence[MeshPart], tint: Tint | None
    ) -> None:
        self.robot, self.tint = robot, tint
        self._root = server.scene.add_frame(root, show_axes=False)
        self._frames: dict[int, FrameHandle] = {}
        self._feet: list[tuple[MeshHandle, float | None]] = []
        self._feet_transparent, feet = False, _foot_joints(robot)
        for number, part in enumerate(parts):
            if part.joint not in self._frames:
                frame = server.scene.add_frame(f"{root}/{part.joint}", show_axes=False, visible=part.joint == 0)
                self._frames[part.joint] = frame
            r, g, b, a = part.color if tint is None else tint
            mesh = server.scene.add_mesh_simple(
                f"{root}/{part.joint}/{number}",
                part.points,
                part.faces,
                color=(r, g, b),
                opacity=a if a < 1.0 else None,
                side="double" if tint is None else "front",
                cast_shadow=False,
                receive_shadow=False,
            )
            if part.joint in feet:
                self._feet.append((mesh, mesh.opacity))
        self._moving = np.array(sorted(joint for joint in self._frames if joint > 0), dtype=np.int64)
        self._last = np.full((robot.model.njoints, 7), np.nan)
        self._coincident = np.zeros(robot.model.njoints, dtype=bool)
        self.height_range = _height_range(robot, parts)

    def set_poses(self, poses: Array) -> None:
        """Set the poses of all joints, njoints x 7 (see `ViewFrame.poses`); invisible changes are not sent."""
        if finite_array(poses, len(self._last), 7) is None:
            return
        moving = self._moving
        # A hundredth of a millimeter and of a milliradian: far below a pixel.
        changed_joints = moving[~(np.abs(poses[moving] - self._last[moving]).max(axis=1, initial=0.0) < 1e-5)]
        self._last[changed_joints] = poses[changed_joints]
        for joint in changed_joints.tolist():
            frame = self._frames[joint]
            frame.position, frame.wxyz = poses[joint, :3], poses[joint, 3:]
            frame.visible = not self._coincident[joint]

    def hide_coincident_links(self, poses: Array) -> None:
        """Hide the links that coincide with those of a robot of the same model, njoints x 7; see `GHOST_DISTANCE`."""
        if finite_array(poses, len(self._last), 7) is None or not np.isfinite(self._last[self._moving]).all():
            return
        distance = np.linalg.norm(poses[:, :3] - self._last[:, :3], axis=1) / GHOST_DISTANCE
        cosine = np.abs(np.sum(poses[:, 3:] * self._last[:, 3:], axis=1))  # of half the angle
        angle = 2.0 * np.arccos(np.clip(cosine, 0.0, 1.0)) / GHOST_ANGLE
        self._coincident = np.maximum(distance, angle) < np.where(self._coincident, 1.0, 0.5)
        for joint in self._moving.tolist():
            set_visible(self._frames[joint], not self._coincident[joint])

    def set_visible(self, visible: bool) -> None:
        """Show or hide the robot."""
        set_visible(self._root, visible)

    def show_soles(self, transparent: bool) -> None:
        """Make the feet transparent, so that marks under the soles are visible, or opaque again."""
        if transparent != self._feet_transparent:
            self._feet_transparent = transparent
            for mesh, opacity in self._feet:
                mesh.opacity = min(FOOT_OPACITY, opacity or 1.0) if transparent else opacity

    def remove(self) -> None:
        self._root.remove()


def _foot_joints(robot: Robot) -> set[int]:
    """Return the joints of feet and ankles."""
    joints = {foot.joint for foot in robot.feet}
    offsets = {joint: float(np.linalg.norm(robot.model.jointPlacements[joint].translation)) for joint in joints}
    return joints | {
        int(robot.model.parents[joint]) for joint, offset in offsets.items() if offset < ANKLE_DISTANCE * robot.height
    }


def _height_range(robot: Robot, parts: Sequence[MeshPart]) -> tuple[float, float]:
    """Return the heights of the lowest and the highest point in the rest configuration (m)."""
    data = robot.model.createData()
    pinocchio.forwardKinematics(robot.model, data, robot.rest)
    heights = [p.points @ data.oMi[p.joint].rotation[2] + data.oMi[p.joint].translation[2] for p in parts]
    all_heights = np.concatenate([np.zeros(1), *heights])
    return float(all_heights.min()), float(all_heights.max())


# -- Ground ----------------------------------------------------------------------------------------------------------


#: Distances of the thin and of the thick lines of the grid (m).
GRID_CELL, GRID_SECTION = 0.25, 1.0
#: Colors of its lines (0 to 255), and opacity of the plane: visible on the light and on the dark background, which is
#: that of the page, see `poise.viewer.viewer`.
GRID_COLOR, GRID_SECTION_COLOR, PLANE_OPACITY = (158, 166, 177), (128, 137, 150), 0.12
#: Distance at which the grid fades out (m).
GRID_FADE_DISTANCE = 25.0
#: Color of boxes (0 to 255), the same as in exported scenes.
BOX_COLOR = (189, 194, 201)
#: Color of the edges of boxes, and corner indices of the upper edges, see `poise.rendering.scene_geometry.box`.
EDGE_COLOR = (120, 128, 138)
TOP_EDGES = np.array([[1, 3], [3, 7], [7, 5], [5, 1]])
#: Corner indices of all edges: pairs whose indices differ in one bit.
ALL_EDGES = np.array([[i, i | bit] for i in range(8) for bit in (1, 2, 4) if not i & bit])
#: Color of a box in the hands (0 to 255), the same as in pictures.
HELD_BOX_COLOR = (204, 140, 64)
#: Opacity of obstacles.
OBSTACLE_OPACITY = 0.3


class Floor:
    """Ground of the view: an infinite plane with a grid, boxes and obstacles, under a scene node that may move.

    Args:
        server: viser server.
        root: name of the scene node.
    """

    def __init__(self, server: ViserServer, root: str) -> None:
        self._server, self._root = server, root
        self._plane = pinocchio.SE3.Identity()
        self._grid = server.scene.add_grid(
            f"{root}/grid",
            infinite_grid=True,
            fade_distance=GRID_FADE_DISTANCE,
            fade_strength=1.5,
            cell_size=GRID_CELL,
            section_size=GRID_SECTION,
            cell_color=GRID_COLOR,
            section_color=GRID_SECTION_COLOR,
            plane_color=GRID_SECTION_COLOR,
            plane_opacity=PLANE_OPACITY,
            shadow_opacity=0.0,
        )
        self._boxes = server.scene.add_frame(f"{root}/boxes0", show_axes=False)
        self._ground_number = 0

    def set_environment(self, environment: EnvironmentGeometry) -> None:
        """Replace the ground and the objects on it."""
        self._plane = environment.plane
        turn = pinocchio.Quaternion(environment.plane.rotation)
        self._grid.wxyz = (turn.w, turn.x, turn.y, turn.z)
        self.follow(np.zeros(3))
        self._boxes.remove()
        self._ground_number += 1
        root = f"{self._root}/boxes{self._ground_number}"
        self._boxes = self._server.scene.add_frame(root, show_axes=False)
        if environment.ground:
            self._draw((f"{root}/all", f"{root}/edges"), environment.ground, TOP_EDGES, None)
        if environment.objects:
            self._draw((f"{root}/obstacles", f"{root}/outlines"), environment.objects, ALL_EDGES, OBSTACLE_OPACITY)

    def _draw(self, names: tuple[str, str], boxes: Sequence[SolidBox], lines: Array, opacity: float | None) -> None:
        points, faces, edges = [], [], []
        for i, block in enumerate(boxes):
            corners, triangles = box_mesh(block)
            points.append(corners)
            faces.append(triangles + i * len(corners))
            edges.append(points[-1][lines])
        self._server.scene.add_mesh_simple(
            names[0],
            np.concatenate(points),
            np.concatenate(faces),
            color=BOX_COLOR,
            opacity=opacity,
            flat_shading=True,
            cast_shadow=False,
            receive_shadow=False,
        )
        self._server.scene.add_line_segments(
            names[1], np.concatenate(edges), EDGE_COLOR, thickness=1.5, thickness_units="screen"
        )

    def follow(self, position: Array) -> None:
        """Center the grid near a position (m), as it fades out with distance; it moves by whole sections, invisibly."""
        x, y = (GRID_SECTION * math.floor(c / GRID_SECTION + 0.5) for c in self._plane.actInv(position)[:2])
        # One millimeter below the ground, to avoid flicker with soles and polygons.
        self._grid.position = self._plane.act(np.array([x, y, -0.001]))


class HeldBoxFigure:
    """A box between the hands of a robot in the view.

    Args:
        server: viser server.
        root: name of its scene node.
        held: the box.
    """

    def __init__(self, server: ViserServer, root: str, held: HeldBox) -> None:
        self._held = held
        self._frame = server.scene.add_frame(root, show_axes=False, visible=False)
        corners, triangles = box_mesh(SolidBox((0.0, 0.0, 0.0), held.size))
        server.scene.add_mesh_simple(
            f"{root}/box", corners, triangles, color=HELD_BOX_COLOR, flat_shading=True, cast_shadow=False,
            receive_shadow=False,
        )  # fmt: skip

    def show(self, robot: Robot, poses: Array) -> None:
        """Place the box between the hands of a robot with these poses of its joints, see `ViewFrame.poses`."""
        sides = {hand.side for hand in robot.hands}
        if finite_array(poses, robot.model.njoints, 7) is None or not set(self._held.hand_from_box) <= sides:
            return
        pose = self._held.pose({hand.side: _frame_pose(robot, hand, poses) for hand in robot.hands})
        turn = pinocchio.Quaternion(pose.rotation)
        self._frame.position, self._frame.wxyz = pose.translation, (turn.w, turn.x, turn.y, turn.z)
        self._frame.visible = True

    def remove(self) -> None:
        self._frame.remove()


def _frame_pose(robot: Robot, frame: Frame, poses: Array) -> pinocchio.SE3:
    """Return world_from_frame, from the poses of all joints, njoints x 7."""
    x, y, z, qw, qx, qy, qz = poses[frame.joint]
    world_from_joint = pinocchio.SE3(pinocchio.Quaternion(qw, qx, qy, qz).matrix(), np.array([x, y, z]))
    return world_from_joint * robot.model.frames[frame.index].placement


# -- Drag handles ----------------------------------------------------------------------------------------------------


DragCallback = Callable[[str, Point], None]

#: Name of the handle of a push: dragging it pushes the robot; released, it returns to the robot.
PUSH = "push"
#: Size on the screen (pixels): large enough for fingers.
HANDLE_SIZE = 70.0
#: Largest coordinate of a handle (m); positions beyond that are rejected.
MAX_DISTANCE = 1000.0
#: Time after the release of a handle in which the simulation does not move it (s), until it has received the position.
RELEASE_DELAY = 0.5
PUSH_COLOR = MARK_COLORS[3]


class DragHandles:
    """Draggable points under a scene node.

    Args:
        server: viser server.
        root: name of the scene node.
        points: initial positions by name (m).
        on_drag: called with name and position (m) of a dragged point, from viser's thread or from that of
            `repeat_push`; it must return at once. A push is reported repeatedly while it is held, and once more on
            release, at its rest position on the body, which means no push.
        size: height of the robot (m).
    """

    def __init__(
        self, server: ViserServer, root: str, points: Mapping[str, Point], on_drag: DragCallback, size: float = 1.5
    ) -> None:
        self._root = server.scene.add_frame(root, show_axes=False)
        self._on_drag, self._removed = on_drag, False
        self._handles: dict[str, TransformControlsHandle] = {}
        self._holders: dict[str, set[int | None]] = {name: set() for name in points}
        self._release_times: dict[str, float] = {}
        self._simulated: dict[str, Array] = {name: np.array(point, dtype=np.float64) for name, point in points.items()}
        self._positions = {name: point.copy() for name, point in self._simulated.items()}
        self._body_position = np.zeros(3)  # point that moves with the body; the push starts at an offset from it
        self._grip_offset = np.zeros(3)
        for number, (name, point) in enumerate(points.items()):
            handle = server.scene.add_transform_controls(
                f"{root}/{number}",
                scale=HANDLE_SIZE,
                fixed=True,
                line_width=3.5,
                disable_rotations=True,
                depth_test=False,
                translation_limits=((-MAX_DISTANCE, MAX_DISTANCE),) * 3,
                position=point,
            )
            server.scene.add_label(
                f"{root}/{number}/label", name, position=(0.0, 0.0, 0.03 * size), font_screen_scale=0.8,
                anchor="bottom-center",
            )  # fmt: skip
            server.scene.add_icosphere(
                f"{root}/{number}/ball",
                radius=0.014 * size,
                color=MARK_COLORS[number % 3] if name != PUSH else PUSH_COLOR,
                cast_shadow=False,
                receive_shadow=False,
            )
            handle.on_update(self._listener(name, handle))
            self._handles[name] = handle
        self._arrow = Arrow(server, f"{root}/arrow", PUSH_COLOR, size)

    @property
    def is_dragging(self) -> bool:
        """Whether any client is dragging a point."""
        return any(self._holders.values())

    def show(self, places: Mapping[str, Array], body: Array | None) -> None:
        """Move the points to their positions in the simulation, except points being dragged.

        Args:
            places: positions by name (m).
            body: point that moves with the body, from which a push is measured (m); None: unchanged.
        """
        now, body = time.monotonic(), finite_array(body, 3)
        if body is not None:
            self._body_position = body
        for name, handle in self._handles.items():
            simulated = finite_array(places.get(name), 3)
            if simulated is not None:
                self._simulated[name] = simulated
            if not self._holders[name] and now > self._release_times.get(name, 0.0) and simulated is not None:
                self._positions[name] = simulated.copy()
                if np.shape(handle.position) == (3,):
                    handle.position = simulated
        is_pushing = bool(self._holders.get(PUSH))
        ends = np.array([self._body_position + self._grip_offset, self._positions[PUSH]]) if is_pushing else None
        self._arrow.show(ends)

    def repeat_push(self) -> None:
        """Report a push that is held, even if it does not move."""
        if self._holders.get(PUSH):
            self._on_drag(PUSH, _point(self._positions[PUSH]))

    def _listener(self, name: str, handle: TransformControlsHandle) -> Any:
        async def on_update(event: TransformControlsEvent) -> None:  # async: viser then preserves the order of events
            if self._removed:
                return
            if event.phase == "start":
                if name == PUSH and not self._holders[name]:
                    self._grip_offset = self._simulated[name] - self._body_position
                self._holders[name].add(event.client_id)
            position = finite_array(handle._impl.position, 3)
            if position is None or np.abs(position).max() > MAX_DISTANCE:
                handle._impl.position = self._positions[name].copy()  # viser sends this position to the other clients
                position = None
            if event.phase == "end":
                self._holders[name].discard(event.client_id)
                if name == PUSH:
                    position = self._body_position + self._grip_offset
                else:
                    self._release_times[name] = time.monotonic() + RELEASE_DELAY
            if position is not None and event.phase != "start":
                self._positions[name] = position.copy()
                self._on_drag(name, _point(position))

        return on_update

    def remove(self) -> None:
        self._removed = True
        self._holders.clear()
        self._root.remove()


def _point(position: Array) -> Point:
    return float(position[0]), float(position[1]), float(position[2])
