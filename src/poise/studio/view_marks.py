"""Marks of the 3D view: forces, support, centre of mass, plans, pressure under soles, motion-capture markers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from poise.arrays import Array
from poise.extras import trimesh
from poise.rendering import CENTER, COLORS, SUPPORT, cylinder
from poise.studio.scenery import Plan, Scenery, Underfoot, finite

if TYPE_CHECKING:
    from viser import BatchedMeshHandle, SceneNodeHandle, ViserServer

FORCE = COLORS[1]
PRESSURE = COLORS[0]
#: Lengths per m of the robot's height: radius of balls, of the shafts and heads of arrows; length of heads.
BALL, SHAFT, HEAD, POINT = 0.016, 0.009, 0.022, 0.05
#: Polygons lie so far above the ground (m), lest they flicker.
ABOVE = 0.003
#: What moved by less (m) is not drawn anew: less than a pixel.
STEP = 2e-4
#: Neither is a support of which no corner moved by this (m): a foot that stands trembles by less, and a surface that
#: always changed would never be seen, so long does a client take to make one.
STILL = 0.003


class Marks:
    """Forces, support and balance under a scene node.

    Args:
        size: height of the robot (m), of which arrows and balls are a share.
    """

    def __init__(self, server: ViserServer, root: str, size: float) -> None:
        scene = server.scene
        self._root = scene.add_frame(root, show_axes=False)
        self._height = 0.0
        nothing = np.zeros((1, 2, 3))
        self._forces = scene.add_arrows(
            f"{root}/forces",
            nothing,
            linear(FORCE),
            shaft_radius=SHAFT * size,
            head_radius=HEAD * size,
            head_length=POINT * size,
            visible=False,
        )
        self._area = scene.add_mesh_simple(
            f"{root}/area",
            np.zeros((3, 3)),
            np.array([[0, 1, 2]]),
            color=SUPPORT,
            opacity=0.3,
            side="double",
            cast_shadow=False,
            receive_shadow=False,
            visible=False,
        )
        self._edge = scene.add_line_segments(
            f"{root}/edge", nothing, SUPPORT, thickness=3.0, thickness_units="screen", visible=False
        )
        quiet: Any = {"cast_shadow": False, "receive_shadow": False, "visible": False}
        self._center = scene.add_icosphere(f"{root}/center", radius=BALL * size, color=CENTER, **quiet)
        disc = cylinder(0.8 * BALL * size, 0.002)
        self._below = scene.add_mesh_simple(f"{root}/below", *disc, color=CENTER, flat_shading=True, **quiet)
        self._plumb = scene.add_line_segments(
            f"{root}/plumb", nothing, CENTER, thickness=1.5, thickness_units="screen", visible=False
        )
        self._pressure = scene.add_mesh_simple(f"{root}/pressure", *disc, color=PRESSURE, flat_shading=True, **quiet)

    def show(self, scenery: Scenery) -> None:
        forces = finite(scenery.forces, -1, 2, 3)
        if seen(self._forces, forces is not None and len(forces) > 0):
            self._forces.points = _even(forces)
        self._support(finite(scenery.support, -1, 3))
        center = finite(scenery.center, 3)
        for mark in (self._center, self._below, self._plumb):
            seen(mark, center is not None)
        if center is not None:
            below = np.array([center[0], center[1], self._height + ABOVE])
            self._center.position, self._below.position = center, below
            self._plumb.points = _even(np.array([[center, below]]))
        pressure = finite(scenery.pressure, 3)
        if seen(self._pressure, pressure is not None) and pressure is not None:
            self._pressure.position = pressure + np.array([0.0, 0.0, 2 * ABOVE])

    def _support(self, corners: Array | None) -> None:
        drawn = corners is not None and len(corners) >= 3
        seen(self._area, drawn)
        seen(self._edge, drawn)
        if corners is None or not drawn:
            return
        self._height = float(corners[:, 2].mean())
        lifted, before = _even(corners + np.array([0.0, 0.0, ABOVE])), self._area.vertices
        if lifted.shape == before.shape and np.abs(lifted - before).max() < STILL:
            return
        if len(lifted) != len(before):
            fan = np.arange(1, len(lifted) - 1, dtype=np.uint32)
            self._area.faces = np.stack([np.zeros_like(fan), fan, fan + np.uint32(1)], axis=1)
        self._area.vertices = lifted
        self._edge.points = np.stack([lifted, np.roll(lifted, -1, axis=0)], axis=1)

    def remove(self) -> None:
        self._root.remove()


def linear(color: tuple[float, float, float]) -> tuple[float, float, float]:
    """A colour as viser's arrows want it: of light, of which a screen shows a share s as s^(1/2.2)."""
    r, g, b = color
    return r**2.2, g**2.2, b**2.2


def seen(mark: SceneNodeHandle, visible: bool) -> bool:
    """Shows or hides a mark, if it is not so already; whether it is seen now."""
    if mark.visible != visible:
        mark.visible = visible
    return visible


def _even(points: Array | None) -> NDArray[np.float32]:
    """On a fine lattice, so that what trembles stays the same."""
    return (np.round(np.asarray(points) / STEP) * STEP).astype(np.float32)


# -- What is going to be, in the view --------------------------------------------------------------------------------


Color = tuple[float, float, float]

#: Colour of each plan, by its name: "accepted" is what is being done, "next" what would be done if the stick stayed so,
#: "place" where the world wants a hand to be. No other mark has them.
PLAN_COLORS: dict[str, Color] = {
    "accepted": (0.49, 0.23, 0.93),
    "next": (0.05, 0.72, 0.85),
    "place": (0.86, 0.10, 0.50),
}
#: Widths of lines on the screen (pixels): what is being done is bolder than what may be.
BOLD, FINE = 4.0, 2.5
#: So far above the ground (m) and in this order, lest they flicker: the support below the soles.
LAYER = 0.001


class Plans:
    """Plans under a scene node, each in its colour.

    Args:
        size: height of the robot (m), of which balls are a share.
    """

    def __init__(self, server: ViserServer, root: str, size: float) -> None:
        self._root = server.scene.add_frame(root, show_axes=False)
        self._drawn = {name: _Drawn(server, f"{root}/{name}", size, color) for name, color in PLAN_COLORS.items()}

    def show(self, plans: Mapping[str, Plan] | None) -> None:
        for name, drawn in self._drawn.items():
            drawn.show((plans or {}).get(name))

    def remove(self) -> None:
        self._root.remove()


class _Drawn:
    def __init__(self, server: ViserServer, root: str, size: float, color: Color) -> None:
        scene = server.scene
        scene.add_frame(root, show_axes=False)
        nothing = np.zeros((1, 2, 3))
        wide = BOLD if color == PLAN_COLORS["accepted"] else FINE
        self._lines = scene.add_line_segments(
            f"{root}/lines", nothing, color, thickness=wide, thickness_units="screen", visible=False
        )
        self._edge = scene.add_line_segments(
            f"{root}/edge", nothing, color, thickness=0.5 * wide, thickness_units="screen", visible=False
        )
        quiet: Any = {"cast_shadow": False, "receive_shadow": False, "visible": False}
        self._soles = scene.add_mesh_simple(
            f"{root}/soles", np.zeros((3, 3)), np.array([[0, 1, 2]]), color=color, opacity=0.45, side="double", **quiet
        )
        radius = 1.2 * BALL * size
        self._balls = [
            scene.add_icosphere(f"{root}/ball{number}", radius=radius, color=color, opacity=0.7, **quiet)
            for number in range(3)
        ]
        self._last: Plan | None = None

    def show(self, plan: Plan | None) -> None:
        """A plan that is the same object, or equal, is not sent again."""
        if plan is self._last or (plan is not None and self._last is not None and _equal(plan, self._last)):
            return
        self._last = plan
        soles = None if plan is None else finite(plan.soles, -1, 4, 3)
        paths = [] if plan is None else [path for path in plan.paths if finite(path, -1, 3) is not None]
        support = None if plan is None else finite(plan.support, -1, 3)
        self._fill(soles)
        outlines = [] if soles is None else [_closed(sole + _up(2)) for sole in soles]
        below = [] if support is None or not len(support) else [_on_ground(path, support) for path in paths[:1]]
        self._draw(self._lines, [*outlines, *(_pairs(path) for path in (*paths, *below))])
        self._draw(self._edge, [] if support is None or len(support) < 3 else [_closed(support + _up(1))])
        hands = None if plan is None else finite(plan.hands, -1, 3)
        center = None if plan is None else finite(plan.center, 3)
        places = [*([] if hands is None else hands[:2]), *([] if center is None else [center])]
        for number, ball in enumerate(self._balls):
            if seen(ball, number < len(places)):
                ball.position = places[number]

    def _fill(self, soles: Array | None) -> None:
        if not seen(self._soles, soles is not None and len(soles) > 0) or soles is None:
            return
        first = 4 * np.arange(len(soles))[:, None, None]
        faces = (first + np.array([[0, 1, 2], [0, 2, 3]])).reshape(-1, 3).astype(np.uint32)
        if faces.shape != self._soles.faces.shape:
            self._soles.faces = faces
        self._soles.vertices = (soles + _up(2)).reshape(-1, 3).astype(np.float32)

    def _draw(self, lines: Any, pieces: list[Array]) -> None:
        if seen(lines, bool(pieces)):
            lines.points = np.concatenate(pieces).astype(np.float32)


def _up(layers: int) -> Array:
    return np.array([0.0, 0.0, ABOVE + layers * LAYER])


def _pairs(path: Array) -> Array:
    return np.stack([path[:-1], path[1:]], axis=1)


def _closed(corners: Array) -> Array:
    return np.stack([corners, np.roll(corners, -1, axis=0)], axis=1)


def _on_ground(path: Array, support: Array) -> Array:
    """A path as its shadow on what carries it: within the body it could not be seen."""
    return np.column_stack([path[:, :2], np.full(len(path), support[:, 2].max() + ABOVE + 2 * LAYER)])


def _equal(one: Plan, other: Plan) -> bool:
    flat = zip((*one[:4], *one.paths), (*other[:4], *other.paths), strict=False)
    return len(one.paths) == len(other.paths) and all(np.array_equal(a, b) for a, b in flat)


# -- What soles feel, in the view ------------------------------------------------------------------------------------


#: Colours of the left and the right foot: those of their lines in the plots.
SOLE_COLORS = ((0.04, 0.40, 0.76), (0.76, 0.25, 0.05))
#: Of outlines and of the crosses at the middles of soles (0 to 1).
LINE = (0.20, 0.22, 0.26)
#: Radius of the dot of a sole that bears half of the weight, in radii of balls: a quarter of the width of a sole.
WIDE = 1.0
#: Arms of a cross, as a share of the way to the corners of its sole.
CROSS = 0.15
#: What moved by less (m) is not drawn anew, see `poise.studio.view_marks`.
SOLE_STILL = 3e-4


class Soles:
    """A dot under each sole where its ZMP is, and a cross in the sole's outline where it should be.

    The area of a dot goes with the force on its sole.

    Args:
        size: height of the robot (m), of which dots are a share.
    """

    def __init__(self, server: ViserServer, root: str, size: float) -> None:
        scene = server.scene
        self._root = scene.add_frame(root, show_axes=False)
        quiet: Any = {"cast_shadow": False, "receive_shadow": False, "visible": False, "flat_shading": True}
        disc = cylinder(WIDE * BALL * size, 0.002)
        self._dots = [
            scene.add_mesh_simple(f"{root}/zmp{number}", *disc, color=color, **quiet)
            for number, color in enumerate(SOLE_COLORS)
        ]
        self._lines = scene.add_line_segments(
            f"{root}/lines", np.zeros((1, 2, 3)), LINE, thickness=2.0, thickness_units="screen", visible=False
        )

    def show(self, under: Underfoot | None) -> None:
        outlines = None if under is None else finite(under.outlines, -1, 4, 3)
        middles = None if under is None else finite(under.middles, -1, 3)
        drawn = outlines is not None and middles is not None and len(middles) == len(outlines) > 0
        if seen(self._lines, drawn) and outlines is not None and middles is not None:
            points = np.concatenate([_lines(*each) for each in zip(outlines, middles, strict=True)])
            before = self._lines.points
            if points.shape != before.shape or np.abs(points - before).max() > SOLE_STILL:
                self._lines.points = points.astype(np.float32)
        zmps = None if under is None else finite(under.zmps, -1, 3)
        shares = None if under is None else finite(under.shares, -1)
        if zmps is None or shares is None:
            zmps, shares = np.zeros((0, 3)), np.zeros(0)
        for number, dot in enumerate(self._dots):
            if seen(dot, number < min(len(zmps), len(shares)) and bool(shares[number] > 0.0)):
                dot.position = zmps[number] + np.array([0.0, 0.0, 3 * ABOVE])
                wide = round(float(np.sqrt(2.0 * shares[number])), 2)
                dot.scale = (wide, wide, 1.0)

    def remove(self) -> None:
        self._root.remove()


def _lines(corners: Array, middle: Array) -> Array:
    """Outline and cross of a sole, n x 2 x 3."""
    arms = middle + CROSS * (corners - middle)
    cross = arms[[[0, 2], [1, 3]]]
    outline = np.stack([corners, np.roll(corners, -1, axis=0)], axis=1)
    return np.concatenate([outline, cross]) + np.array([0.0, 0.0, 2 * ABOVE])


# -- Markers on a person, in the view --------------------------------------------------------------------------------


#: Colour of each kind (0 to 255): those that the body follows, and those that nobody knows.
MARKER_COLORS = {"known": (226, 62, 32), "other": (112, 118, 128)}
#: Radius of a ball (m): real ones have 7 mm, and would not be seen.
RADIUS = 0.015


class Markers:
    """Balls under a scene node, all of a kind as one mesh."""

    def __init__(self, server: ViserServer, root: str) -> None:
        self._server, self._name = server, root
        self._root = server.scene.add_frame(root, show_axes=False)
        self._balls: dict[str, BatchedMeshHandle] = {}

    def show(self, markers: Mapping[str, Array] | None) -> None:
        """Where they are, k x 3 by kind; those that are not finite are left out."""
        for kind in MARKER_COLORS:
            places = np.asarray((markers or {}).get(kind, ()), dtype=np.float32).reshape(-1, 3)
            there = np.isfinite(places.sum(axis=1))
            balls = self._of(kind, len(places)) if there.any() else self._balls.get(kind)
            if balls is not None and seen(balls, bool(there.any())):
                balls.batched_positions = np.where(there[:, np.newaxis], places, places[there][:1])  # one upon another

    def _of(self, kind: str, count: int) -> BatchedMeshHandle:
        """As many balls of a kind."""
        balls = self._balls.get(kind)
        if balls is None or len(balls.batched_positions) != count:
            if balls is not None:
                balls.remove()
            # 80 triangles: there may be a hundred of them
            ball = trimesh.creation.icosphere(subdivisions=1, radius=RADIUS)
            quiet: Any = {"cast_shadow": False, "receive_shadow": False, "lod": "off"}
            balls = self._balls[kind] = self._server.scene.add_batched_meshes_simple(
                f"{self._name}/{kind}{count}",
                np.asarray(ball.vertices, dtype=np.float32),
                np.asarray(ball.faces, dtype=np.uint32),
                batched_wxyzs=np.tile([1.0, 0.0, 0.0, 0.0], (count, 1)),
                batched_positions=np.zeros((count, 3), dtype=np.float32),
                batched_colors=MARKER_COLORS[kind],
                **quiet,
            )
        return balls

    def remove(self) -> None:
        self._root.remove()
