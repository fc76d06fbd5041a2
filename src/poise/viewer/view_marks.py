"""Marks of the 3D view: forces, support, center of mass, plans, pressure under soles, motion-capture markers.

Marks that move with the body are placed by the pose of their scene node, as the links are. Clients draw new poses in
the next picture, but new shapes (points, vertices, scales) one picture later, which is visible on slow clients.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pinocchio
from numpy.typing import NDArray

from poise.arrays import Array
from poise.extras import trimesh
from poise.rendering import CENTER_OF_MASS_COLOR, MARK_COLORS, SUPPORT_COLOR, cylinder
from poise.viewer.view_frame import Plan, SolePressureFrame, ViewFrame, finite_array

if TYPE_CHECKING:
    from viser import IcosphereHandle, SceneNodeHandle, ViserServer

Color = tuple[float, float, float]

FORCE_COLOR = MARK_COLORS[1]
PRESSURE_COLOR = MARK_COLORS[0]
#: Lengths as shares of the robot's height: radius of balls, radii of shafts and heads of arrows, length of heads.
BALL_RADIUS, SHAFT_RADIUS, HEAD_RADIUS, HEAD_LENGTH = 0.016, 0.009, 0.022, 0.05
#: Height of polygons above the ground (m), which avoids flicker.
GROUND_CLEARANCE = 0.003
#: Resolution of positions (m): smaller changes, below a pixel, are not sent.
POSITION_RESOLUTION = 2e-4
#: Motion of a corner (m) below which the support polygon is not redrawn. A standing foot trembles by less, and a client
#: takes so long to build a surface that one that changed with every frame would never appear.
SUPPORT_TOLERANCE = 0.003


class BalanceMarks:
    """Contact forces, support polygon, center of mass and center of pressure under a scene node.

    Args:
        server: viser server.
        root: name of the scene node.
        size: height of the robot (m), which scales arrows and balls.
    """

    def __init__(self, server: ViserServer, root: str, size: float) -> None:
        scene = server.scene
        self._root = scene.add_frame(root, show_axes=False)
        self._height = 0.0
        no_segments = np.zeros((1, 2, 3))
        self._server, self._force_root, self._size = server, f"{root}/force", size
        self._forces: list[Arrow] = []
        self._area = scene.add_mesh_simple(
            f"{root}/area",
            np.zeros((3, 3)),
            np.array([[0, 1, 2]]),
            color=SUPPORT_COLOR,
            opacity=0.3,
            side="double",
            cast_shadow=False,
            receive_shadow=False,
            visible=False,
        )
        self._edge = scene.add_line_segments(
            f"{root}/edge", no_segments, SUPPORT_COLOR, thickness=3.0, thickness_units="screen", visible=False
        )
        no_shadow: Any = {"cast_shadow": False, "receive_shadow": False, "visible": False}
        self._center = scene.add_icosphere(
            f"{root}/center", radius=BALL_RADIUS * size, color=CENTER_OF_MASS_COLOR, **no_shadow
        )
        disc = cylinder(0.8 * BALL_RADIUS * size, 0.002)
        self._ground_point = scene.add_mesh_simple(
            f"{root}/below", *disc, color=CENTER_OF_MASS_COLOR, flat_shading=True, **no_shadow
        )
        self._plumb_line = scene.add_line_segments(
            f"{root}/plumb", no_segments, CENTER_OF_MASS_COLOR, thickness=1.5, thickness_units="screen", visible=False
        )
        self._pressure = scene.add_mesh_simple(
            f"{root}/pressure", *disc, color=PRESSURE_COLOR, flat_shading=True, **no_shadow
        )

    def show(self, view_frame: ViewFrame) -> None:
        forces = finite_array(view_frame.forces, -1, 2, 3)
        for number in range(0 if forces is None else len(forces)):
            if number == len(self._forces):
                self._forces.append(Arrow(self._server, f"{self._force_root}{number}", FORCE_COLOR, self._size))
        for number, arrow in enumerate(self._forces):
            arrow.show(None if forces is None or number >= len(forces) else forces[number])
        self._draw_support(finite_array(view_frame.support, -1, 3))
        center = finite_array(view_frame.center_of_mass, 3)
        for mark in (self._center, self._ground_point, self._plumb_line):
            set_visible(mark, center is not None)
        if center is not None:
            ground_point = np.array([center[0], center[1], self._height + GROUND_CLEARANCE])
            self._center.position, self._ground_point.position = center, ground_point
            self._plumb_line.position = ground_point
            self._plumb_line.points = _round_to_resolution(
                np.array([[np.zeros(3), [0.0, 0.0, center[2] - ground_point[2]]]])
            )
        pressure = finite_array(view_frame.center_of_pressure, 3)
        if set_visible(self._pressure, pressure is not None) and pressure is not None:
            self._pressure.position = pressure + np.array([0.0, 0.0, 2 * GROUND_CLEARANCE])

    def _draw_support(self, corners: Array | None) -> None:
        is_drawn = corners is not None and len(corners) >= 3
        set_visible(self._area, is_drawn)
        set_visible(self._edge, is_drawn)
        if corners is None or not is_drawn:
            return
        self._height = float(corners[:, 2].mean())
        lifted, before = _round_to_resolution(corners + np.array([0.0, 0.0, GROUND_CLEARANCE])), self._area.vertices
        if lifted.shape == before.shape and np.abs(lifted - before).max() < SUPPORT_TOLERANCE:
            return
        if len(lifted) != len(before):
            fan = np.arange(1, len(lifted) - 1, dtype=np.uint32)
            self._area.faces = np.stack([np.zeros_like(fan), fan, fan + np.uint32(1)], axis=1)
        self._area.vertices = lifted
        self._edge.points = np.stack([lifted, np.roll(lifted, -1, axis=0)], axis=1)

    def remove(self) -> None:
        self._root.remove()


class Arrow:
    """Arrow in the view. Start, direction and head are poses; only the length of the shaft is a shape.

    Args:
        server: viser server.
        root: name of the scene node.
        color: red, green, blue, from 0 to 1.
        size: height of the robot (m), which scales the thickness.
        thin: factor on the thickness.
    """

    def __init__(self, server: ViserServer, root: str, color: Color, size: float, thin: float = 1.0) -> None:
        scene = server.scene
        self._head_length = HEAD_LENGTH * size
        self.frame = scene.add_frame(root, show_axes=False, visible=False)
        points, faces = cylinder(thin * SHAFT_RADIUS * size, 0.5)
        no_shadow: Any = {"color": color, "cast_shadow": False, "receive_shadow": False}
        self.shaft = scene.add_mesh_simple(f"{root}/shaft", points + np.array([0.0, 0.0, 0.5]), faces, **no_shadow)
        cone = trimesh.creation.cone(thin * HEAD_RADIUS * size, self._head_length, sections=16)
        self.head = scene.add_mesh_simple(
            f"{root}/head", np.asarray(cone.vertices), np.asarray(cone.faces), flat_shading=True, **no_shadow
        )

    def show(self, ends: Array | None) -> None:
        """Draw the arrow between its start and its end, 2 x 3 (m); None hides it."""
        length = 0.0 if ends is None else float(np.linalg.norm(ends[1] - ends[0]))
        if not set_visible(self.frame, length > 1e-6) or ends is None:
            return
        self.frame.position, self.frame.wxyz = ends[0], _turn_to(ends[1] - ends[0])
        shaft = round(max(length - self._head_length, POSITION_RESOLUTION) / POSITION_RESOLUTION) * POSITION_RESOLUTION
        self.head.position = np.array([0.0, 0.0, shaft])
        if self.shaft.scale != (1.0, 1.0, shaft):
            self.shaft.scale = (1.0, 1.0, shaft)


def _turn_to(direction: Array) -> tuple[float, float, float, float]:
    """Return the quaternion (w, x, y, z) of a rotation that turns the z axis to a direction."""
    x, y, z = direction / np.linalg.norm(direction)
    if z < -1.0 + 1e-9:  # opposite: half a turn about x
        return 0.0, 1.0, 0.0, 0.0
    w = float(np.sqrt(0.5 * (1.0 + z)))
    return w, float(-0.5 * y / w), float(0.5 * x / w), 0.0


def set_visible(mark: SceneNodeHandle, visible: bool) -> bool:
    """Show or hide a mark, without a message if nothing changes; return `visible`."""
    if mark.visible != visible:
        mark.visible = visible
    return visible


def _round_to_resolution(points: Array | None) -> NDArray[np.float32]:
    """Round positions to `POSITION_RESOLUTION`, so that tremor causes no updates."""
    return (np.round(np.asarray(points) / POSITION_RESOLUTION) * POSITION_RESOLUTION).astype(np.float32)


# -- Plans -----------------------------------------------------------------------------------------------------------


#: Color of each plan by name: "accepted" is in execution, "next" would follow if the stick stayed as it is, "target"
#: is the point that a hand has to reach. No other mark has these colors.
PLAN_COLORS: dict[str, Color] = {
    "accepted": (0.49, 0.23, 0.93),
    "next": (0.05, 0.72, 0.85),
    "target": (0.86, 0.10, 0.50),
}
#: Line widths on the screen (pixels): of the plan in execution, and of the others.
WIDE_LINE, THIN_LINE = 4.0, 2.5
#: Distance between layers (m), the support region below the footprints, which avoids flicker.
LAYER_HEIGHT = 0.001


class PlanMarks:
    """Plans under a scene node, each in its color of `PLAN_COLORS`.

    Args:
        server: viser server.
        root: name of the scene node.
        size: height of the robot (m), which scales balls.
    """

    def __init__(self, server: ViserServer, root: str, size: float) -> None:
        self._root = server.scene.add_frame(root, show_axes=False)
        self._plan_marks = {
            name: _PlanMark(server, f"{root}/{name}", size, color) for name, color in PLAN_COLORS.items()
        }

    def show(self, plans: Mapping[str, Plan] | None) -> None:
        for name, mark in self._plan_marks.items():
            mark.show((plans or {}).get(name))

    def remove(self) -> None:
        self._root.remove()


class _PlanMark:
    def __init__(self, server: ViserServer, root: str, size: float, color: Color) -> None:
        scene = server.scene
        scene.add_frame(root, show_axes=False)
        no_segments = np.zeros((1, 2, 3))
        width = WIDE_LINE if color == PLAN_COLORS["accepted"] else THIN_LINE
        self._line_segments = scene.add_line_segments(
            f"{root}/lines", no_segments, color, thickness=width, thickness_units="screen", visible=False
        )
        self._edge = scene.add_line_segments(
            f"{root}/edge", no_segments, color, thickness=0.5 * width, thickness_units="screen", visible=False
        )
        no_shadow: Any = {"cast_shadow": False, "receive_shadow": False, "visible": False}
        self._soles = scene.add_mesh_simple(
            f"{root}/soles",
            np.zeros((3, 3)),
            np.array([[0, 1, 2]]),
            color=color,
            opacity=0.45,
            side="double",
            **no_shadow,
        )
        radius = 1.2 * BALL_RADIUS * size
        self._ball_handles = [
            scene.add_icosphere(f"{root}/ball{number}", radius=radius, color=color, opacity=0.7, **no_shadow)
            for number in range(3)
        ]
        self._last: Plan | None = None

    def show(self, plan: Plan | None) -> None:
        """Draw a plan; None hides it. A plan equal to the last one is not sent again."""
        if plan is self._last or (plan is not None and self._last is not None and _same_plan(plan, self._last)):
            return
        self._last = plan
        soles = None if plan is None else finite_array(plan.footprints, -1, 4, 3)
        paths = [] if plan is None else [path for path in plan.paths if finite_array(path, -1, 3) is not None]
        support = None if plan is None else finite_array(plan.support, -1, 3)
        self._draw_footprints(soles)
        outlines = [] if soles is None else [_polygon_segments(sole + _layer_offset(2)) for sole in soles]
        ground_paths = (
            [] if support is None or not len(support) else [_project_to_ground(path, support) for path in paths[:1]]
        )
        self._draw_lines(self._line_segments, [*outlines, *(_path_segments(path) for path in (*paths, *ground_paths))])
        self._draw_lines(
            self._edge, [] if support is None or len(support) < 3 else [_polygon_segments(support + _layer_offset(1))]
        )
        hands = None if plan is None else finite_array(plan.hands, -1, 3)
        center = None if plan is None else finite_array(plan.center_of_mass, 3)
        positions = [*([] if hands is None else hands[:2]), *([] if center is None else [center])]
        for number, ball in enumerate(self._ball_handles):
            if set_visible(ball, number < len(positions)):
                ball.position = positions[number]

    def _draw_footprints(self, soles: Array | None) -> None:
        if not set_visible(self._soles, soles is not None and len(soles) > 0) or soles is None:
            return
        first = 4 * np.arange(len(soles))[:, None, None]
        faces = (first + np.array([[0, 1, 2], [0, 2, 3]])).reshape(-1, 3).astype(np.uint32)
        if faces.shape != self._soles.faces.shape:
            self._soles.faces = faces
        self._soles.vertices = (soles + _layer_offset(2)).reshape(-1, 3).astype(np.float32)

    def _draw_lines(self, lines: Any, pieces: list[Array]) -> None:
        if set_visible(lines, bool(pieces)):
            lines.points = np.concatenate(pieces).astype(np.float32)


def _layer_offset(layers: int) -> Array:
    return np.array([0.0, 0.0, GROUND_CLEARANCE + layers * LAYER_HEIGHT])


def _path_segments(path: Array) -> Array:
    return np.stack([path[:-1], path[1:]], axis=1)


def _polygon_segments(corners: Array) -> Array:
    return np.stack([corners, np.roll(corners, -1, axis=0)], axis=1)


def _project_to_ground(path: Array, support: Array) -> Array:
    """Project a path to the ground: the path of the center of mass itself is hidden inside the body."""
    return np.column_stack([path[:, :2], np.full(len(path), support[:, 2].max() + GROUND_CLEARANCE + 2 * LAYER_HEIGHT)])


def _same_plan(first: Plan, second: Plan) -> bool:
    flat = zip((*first[:4], *first.paths), (*second[:4], *second.paths), strict=False)
    return len(first.paths) == len(second.paths) and all(np.array_equal(a, b) for a, b in flat)


# -- Pressure under soles --------------------------------------------------------------------------------------------


#: Colors of the left and the right foot, the same as in the plots.
SOLE_COLORS = ((0.04, 0.40, 0.76), (0.76, 0.25, 0.05))
#: Color of outlines and of crosses at the centers of soles (0 to 1).
SOLE_LINE_COLOR = (0.20, 0.22, 0.26)
#: Radius of the dot of a sole that bears half of the weight, in radii of balls: a quarter of the width of a sole.
DOT_RADIUS = 1.0
#: Length of the arms of a cross, as a share of the distance to the corners of the sole.
CROSS_SIZE = 0.15
#: Motion (m) below which outlines and crosses are not redrawn.
SOLE_TOLERANCE = 3e-4


class SolePressureMarks:
    """A dot at the ZMP under each sole, and a cross at the center of the sole's outline, where the ZMP should be.

    The area of a dot is proportional to the force on its sole.

    Args:
        server: viser server.
        root: name of the scene node.
        size: height of the robot (m), which scales dots.
    """

    def __init__(self, server: ViserServer, root: str, size: float) -> None:
        scene = server.scene
        self._root = scene.add_frame(root, show_axes=False)
        no_shadow: Any = {"cast_shadow": False, "receive_shadow": False, "visible": False, "flat_shading": True}
        disc = cylinder(DOT_RADIUS * BALL_RADIUS * size, 0.002)
        self._dots = [
            scene.add_mesh_simple(f"{root}/zmp{number}", *disc, color=color, **no_shadow)
            for number, color in enumerate(SOLE_COLORS)
        ]
        self._outlines = [
            scene.add_line_segments(
                f"{root}/lines{number}",
                np.zeros((1, 2, 3)),
                SOLE_LINE_COLOR,
                thickness=2.0,
                thickness_units="screen",
                visible=False,
            )
            for number in range(len(SOLE_COLORS))
        ]

    def show(self, sole_pressure: SolePressureFrame | None) -> None:
        outlines = None if sole_pressure is None else finite_array(sole_pressure.outlines, -1, 4, 3)
        middles = None if sole_pressure is None else finite_array(sole_pressure.centers, -1, 3)
        if outlines is None or middles is None or len(middles) != len(outlines):
            outlines, middles = np.zeros((0, 4, 3)), np.zeros((0, 3))
        for number, lines in enumerate(self._outlines):
            if set_visible(lines, number < len(outlines)):
                corners, middle = outlines[number], middles[number]
                turn = _sole_rotation(corners)
                points = _sole_lines((corners - middle) @ turn)
                lines.position = middle + np.array([0.0, 0.0, 2 * GROUND_CLEARANCE])
                lines.wxyz = _quaternion(turn)
                if points.shape != lines.points.shape or np.abs(points - lines.points).max() > SOLE_TOLERANCE:
                    lines.points = points.astype(np.float32)
        zmps = None if sole_pressure is None else finite_array(sole_pressure.zmps, -1, 3)
        shares = None if sole_pressure is None else finite_array(sole_pressure.load_shares, -1)
        if zmps is None or shares is None:
            zmps, shares = np.zeros((0, 3)), np.zeros(0)
        for number, dot in enumerate(self._dots):
            if set_visible(dot, number < min(len(zmps), len(shares)) and bool(shares[number] > 0.0)):
                dot.position = zmps[number] + np.array([0.0, 0.0, 3 * GROUND_CLEARANCE])
                width = round(float(np.sqrt(2.0 * shares[number])), 2)
                dot.scale = (width, width, 1.0)

    def remove(self) -> None:
        self._root.remove()


def _sole_rotation(corners: Array) -> Array:
    """Return the rotation of a sole, 3 x 3: x along its first edge, z upward."""
    x = corners[1] - corners[0]
    z = np.cross(x, corners[2] - corners[1])
    if np.linalg.norm(x) < 1e-9 or np.linalg.norm(z) < 1e-9:
        return np.eye(3)
    x, z = x / np.linalg.norm(x), z / np.linalg.norm(z)
    return np.column_stack([x, np.cross(z, x), z])


def _quaternion(rotation: Array) -> tuple[float, float, float, float]:
    """Return the quaternion (w, x, y, z) of a rotation matrix."""
    turn = pinocchio.Quaternion(rotation)
    return turn.w, turn.x, turn.y, turn.z


def _sole_lines(corners: Array) -> Array:
    """Return the line segments of the outline and the cross of a sole, n x 2 x 3, from its corners about its center."""
    arms = CROSS_SIZE * corners
    cross = arms[[[0, 2], [1, 3]]]
    outline = np.stack([corners, np.roll(corners, -1, axis=0)], axis=1)
    return np.concatenate([outline, cross])


# -- Markers ---------------------------------------------------------------------------------------------------------


#: Color of each kind (0 to 255): markers that the fit uses, markers that it does not know, targets of tasks.
MARKER_COLORS = {"known": (226, 62, 32), "unknown": (112, 118, 128), "target": (219, 26, 128)}
#: Radius of a ball (m): motion-capture markers have 7 mm, which is too small to see.
MARKER_RADIUS = 0.015


class MarkerSpheres:
    """Balls at points under a scene node, one node each.

    Args:
        server: viser server.
        root: name of the scene node.
    """

    def __init__(self, server: ViserServer, root: str) -> None:
        self._server, self._name = server, root
        self._root = server.scene.add_frame(root, show_axes=False)
        self._balls: dict[str, list[IcosphereHandle]] = {kind: [] for kind in MARKER_COLORS}

    def show(self, markers: Mapping[str, Array] | None) -> None:
        """Draw points, k x 3 by kind of `MARKER_COLORS` (m); points that are not finite are left out."""
        for kind, balls in self._balls.items():
            positions = np.asarray((markers or {}).get(kind, ()), dtype=float).reshape(-1, 3)
            is_seen = np.isfinite(positions).all(axis=1)
            for number in range(len(balls), len(positions)):
                balls.append(
                    self._server.scene.add_icosphere(
                        f"{self._name}/{kind}{number}",
                        radius=MARKER_RADIUS,
                        color=MARKER_COLORS[kind],
                        subdivisions=1,  # 80 triangles, since there may be a hundred balls
                        cast_shadow=False,
                        receive_shadow=False,
                        visible=False,
                    )
                )
            for number, ball in enumerate(balls):
                if set_visible(ball, number < len(positions) and bool(is_seen[number])):
                    ball.position = positions[number]

    def remove(self) -> None:
        self._root.remove()
