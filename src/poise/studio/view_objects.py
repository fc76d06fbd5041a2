"""Objects of the 3D view: robots, ground and points to drag."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pinocchio

from poise.arrays import Array
from poise.plants import Box
from poise.rendering import COLORS, box
from poise.robots import Robot
from poise.studio.scenery import Point, finite
from poise.studio.view_marks import linear, seen
from poise.studio.view_meshes import Piece

if TYPE_CHECKING:
    from viser import FrameHandle, MeshHandle, TransformControlsEvent, TransformControlsHandle, ViserServer

Tint = tuple[float, float, float, float]

#: Opacity of feet that what is under them can be seen through.
FOOT_OPACITY = 0.3
#: A joint so near before that of a foot, as a share of the robot's height, is of the ankle, and goes with the foot.
NEAR = 0.05


class Shown:
    """One robot in the view.

    Args:
        root: name of the scene node under which it stands.
        found: its shapes.
        tint: colour and opacity of all of it; None: its own colours.
    """

    def __init__(self, server: ViserServer, root: str, robot: Robot, found: Sequence[Piece], tint: Tint | None) -> None:
        self.robot, self.tint = robot, tint
        self._root = server.scene.add_frame(root, show_axes=False)
        self._frames: dict[int, FrameHandle] = {}
        self._feet: list[tuple[MeshHandle, float | None]] = []
        self._glass, feet = False, _feet(robot)
        for number, piece in enumerate(found):
            if piece.joint not in self._frames:
                frame = server.scene.add_frame(f"{root}/{piece.joint}", show_axes=False, visible=piece.joint == 0)
                self._frames[piece.joint] = frame
            r, g, b, a = piece.color if tint is None else tint
            mesh = server.scene.add_mesh_simple(
                f"{root}/{piece.joint}/{number}",
                piece.points,
                piece.faces,
                color=(r, g, b),
                opacity=a if a < 1.0 else None,
                side="double" if tint is None else "front",
                cast_shadow=False,
                receive_shadow=False,
            )
            if piece.joint in feet:
                self._feet.append((mesh, mesh.opacity))
        self._moving = np.array(sorted(joint for joint in self._frames if joint > 0), dtype=np.int64)
        self._last = np.full((robot.model.njoints, 7), np.nan)
        self.extent = _extent(robot, found)

    def place(self, poses: Array) -> None:
        """Moves all joints, njoints x 7; joints that did not move by what can be seen are left alone."""
        if finite(poses, len(self._last), 7) is None:
            return
        moving = self._moving
        # A hundredth of a millimetre and of a milliradian: far below a pixel.
        moved = moving[~(np.abs(poses[moving] - self._last[moving]).max(axis=1, initial=0.0) < 1e-5)]
        self._last[moved] = poses[moved]
        for joint in moved.tolist():
            frame = self._frames[joint]
            frame.position, frame.wxyz = poses[joint, :3], poses[joint, 3:]
            frame.visible = True

    def present(self, there: bool) -> None:
        """Whether it is there at all."""
        seen(self._root, there)

    def bare(self, soles: bool) -> None:
        """Whether what is under its soles is seen, through its feet."""
        if soles != self._glass:
            self._glass = soles
            for mesh, opacity in self._feet:
                mesh.opacity = min(FOOT_OPACITY, opacity or 1.0) if soles else opacity

    def remove(self) -> None:
        self._root.remove()


def _feet(robot: Robot) -> set[int]:
    """Joints that carry feet, and those of the ankles."""
    joints = {foot.joint for foot in robot.feet}
    arms = {joint: float(np.linalg.norm(robot.model.jointPlacements[joint].translation)) for joint in joints}
    return joints | {int(robot.model.parents[joint]) for joint, arm in arms.items() if arm < NEAR * robot.height}


def _extent(robot: Robot, found: Sequence[Piece]) -> tuple[float, float]:
    """Lowest and highest point at rest (m)."""
    data = robot.model.createData()
    pinocchio.forwardKinematics(robot.model, data, robot.rest)
    heights = [p.points @ data.oMi[p.joint].rotation[2] + data.oMi[p.joint].translation[2] for p in found]
    every = np.concatenate([np.zeros(1), *heights])
    return float(every.min()), float(every.max())


# -- What robots stand on, in the view -------------------------------------------------------------------------------


#: Squares of the grid, and their thick lines (m).
CELL, SECTION = 0.25, 1.0
#: The grid has faded at this distance from the camera (m).
FADE = 25.0
#: Colour of boxes (0 to 255): that of steps and blocks in exported scenes.
STONE = (189, 194, 201)
#: Colour of the upper edges of boxes, and the corners between which they run, see `poise.rendering.scene_geometry.box`.
EDGE = (120, 128, 138)
TOP = np.array([[1, 3], [3, 7], [7, 5], [5, 1]])
#: All of them: corners whose numbers differ in one bit.
ALL = np.array([[i, i | bit] for i in range(8) for bit in (1, 2, 4) if not i & bit])
#: Opacity of what stands around.
OBSTACLE_OPACITY = 0.3


class Floor:
    """Ground under a scene node that may move."""

    def __init__(self, server: ViserServer, root: str) -> None:
        self._server, self._root = server, root
        self._plane = pinocchio.SE3.Identity()
        self._grid = server.scene.add_grid(
            f"{root}/grid",
            infinite_grid=True,
            fade_distance=FADE,
            fade_strength=1.5,
            cell_size=CELL,
            section_size=SECTION,
            cell_color=(214, 218, 223),
            section_color=(182, 189, 198),
            plane_color=(228, 231, 235),
            plane_opacity=1.0,
            shadow_opacity=0.0,
        )
        self._boxes = server.scene.add_frame(f"{root}/boxes0", show_axes=False)
        self._laid = 0

    def lay(self, boxes: Sequence[Box], plane: pinocchio.SE3, things: Sequence[Box] = ()) -> None:
        """Another ground: boxes on an endless plane (world_from_plane, z its normal), and things that are seen
        through."""
        self._plane = plane
        turn = pinocchio.Quaternion(plane.rotation)
        self._grid.wxyz = (turn.w, turn.x, turn.y, turn.z)
        self.under(np.zeros(3))
        self._boxes.remove()
        self._laid += 1
        root = f"{self._root}/boxes{self._laid}"
        self._boxes = self._server.scene.add_frame(root, show_axes=False)
        if boxes:
            self._draw((f"{root}/all", f"{root}/edges"), boxes, TOP, None)
        if things:
            self._draw((f"{root}/things", f"{root}/outlines"), things, ALL, OBSTACLE_OPACITY)

    def _draw(self, names: tuple[str, str], boxes: Sequence[Box], lines: Array, opacity: float | None) -> None:
        points, faces, edges = [], [], []
        for i, block in enumerate(boxes):
            x, y, z = (float(length) / 2 for length in np.asarray(block.size))
            corners, triangles = box((x, y, z))
            points.append(corners @ np.asarray(block.rotation).T + np.asarray(block.position))
            faces.append(triangles + i * len(corners))
            edges.append(points[-1][lines])
        self._server.scene.add_mesh_simple(
            names[0],
            np.concatenate(points),
            np.concatenate(faces),
            color=STONE,
            opacity=opacity,
            flat_shading=True,
            cast_shadow=False,
            receive_shadow=False,
        )
        self._server.scene.add_line_segments(
            names[1], np.concatenate(edges), EDGE, thickness=1.5, thickness_units="screen"
        )

    def under(self, place: Array) -> None:
        """Moves the grid along its plane, by whole sections so that nobody sees it: it fades out around its middle."""
        x, y = (SECTION * math.floor(c / SECTION + 0.5) for c in self._plane.actInv(place)[:2])
        # A millimetre below the ground, lest it flickers through soles and polygons.
        self._grid.position = self._plane.act(np.array([x, y, -0.001]))


# -- Points that can be dragged in the view --------------------------------------------------------------------------


Moved = Callable[[str, Point], None]

#: Name of the point that stands for a push: dragged off its body, it pushes; let go, it returns.
PUSH = "push"
#: Size on the screen (pixels): fingers find it.
SIZE = 70.0
#: No point is dragged further from the origin than this (m); what a client sends from beyond is not believed.
FAR = 1000.0
#: A point that was let go is left alone so long (s), until the simulation has heard where it is.
REST = 0.5
ARROW = COLORS[3]


class Gizmos:
    """Draggable points under a scene node.

    Args:
        points: where they are, by name.
        moved: told name and place of what is dragged, from viser's thread or that of `insist`; it must return at once.
            A push is told again and again as long as it is held, and when it is let go once more, where it began on the
            body: no push.
        size: height of the robot (m).
    """

    def __init__(
        self, server: ViserServer, root: str, points: Mapping[str, Point], moved: Moved, size: float = 1.5
    ) -> None:
        self._root = server.scene.add_frame(root, show_axes=False)
        self._moved, self._gone = moved, False
        self._handles: dict[str, TransformControlsHandle] = {}
        self._held: dict[str, set[int | None]] = {name: set() for name in points}
        self._rest: dict[str, float] = {}
        self._told: dict[str, Array] = {name: np.array(point, dtype=np.float64) for name, point in points.items()}
        self._at = {name: point.copy() for name, point in self._told.items()}
        self._body = np.zeros(3)  # what moves with the body, and where the push begins from there
        self._grip = np.zeros(3)
        for number, (name, point) in enumerate(points.items()):
            handle = server.scene.add_transform_controls(
                f"{root}/{number}",
                scale=SIZE,
                fixed=True,
                line_width=3.5,
                disable_rotations=True,
                depth_test=False,
                translation_limits=((-FAR, FAR),) * 3,
                position=point,
            )
            server.scene.add_icosphere(
                f"{root}/{number}/ball",
                radius=0.014 * size,
                color=COLORS[number % 3] if name != PUSH else ARROW,
                cast_shadow=False,
                receive_shadow=False,
            )
            handle.on_update(self._listener(name, handle))
            self._handles[name] = handle
        self._arrow = server.scene.add_arrows(
            f"{root}/arrow",
            np.zeros((1, 2, 3)),
            linear(ARROW),
            shaft_radius=0.008 * size,
            head_radius=0.02 * size,
            head_length=0.05 * size,
            visible=False,
        )

    @property
    def held(self) -> bool:
        """Whether somebody is dragging something."""
        return any(self._held.values())

    def show(self, places: Mapping[str, Array], body: Array | None) -> None:
        """Where the simulation has the points, and what moves with the body; what is dragged stays with the hand."""
        now, body = time.monotonic(), finite(body, 3)
        if body is not None:
            self._body = body
        for name, handle in self._handles.items():
            told = finite(places.get(name), 3)
            if told is not None:
                self._told[name] = told
            if not self._held[name] and now > self._rest.get(name, 0.0) and told is not None:
                self._at[name] = told.copy()
                if np.shape(handle.position) == (3,):
                    handle.position = told
        pushed = bool(self._held.get(PUSH))
        if pushed:
            self._arrow.points = np.array([[self._body + self._grip, self._at[PUSH]]])
        if self._arrow.visible != pushed:
            self._arrow.visible = pushed

    def insist(self) -> None:
        """Tells of a push that is held, also while it does not move."""
        if self._held.get(PUSH):
            self._moved(PUSH, _point(self._at[PUSH]))

    def _listener(self, name: str, handle: TransformControlsHandle) -> Any:
        async def heard(event: TransformControlsEvent) -> None:  # async: viser then keeps their order
            if self._gone:
                return
            if event.phase == "start":
                if name == PUSH and not self._held[name]:
                    self._grip = self._told[name] - self._body
                self._held[name].add(event.client_id)
            place = finite(handle._impl.position, 3)
            if place is None or np.abs(place).max() > FAR:
                handle._impl.position = self._at[name].copy()  # what viser sends on to others
                place = None
            if event.phase == "end":
                self._held[name].discard(event.client_id)
                if name == PUSH:
                    place = self._body + self._grip
                else:
                    self._rest[name] = time.monotonic() + REST
            if place is not None and event.phase != "start":
                self._at[name] = place.copy()
                self._moved(name, _point(place))

        return heard

    def remove(self) -> None:
        self._gone = True
        self._held.clear()
        self._root.remove()


def _point(place: Array) -> Point:
    return float(place[0]), float(place[1]), float(place[2])
