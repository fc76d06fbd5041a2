"""What is going to be, in the view: footprints, paths, hands and the support to come, before they are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from viser import ViserServer

from poise.studio.viewer.marks import ABOVE, BALL, seen
from poise.studio.viewer.scenery import Plan, finite

Array = NDArray[np.float64]
Color = tuple[float, float, float]

#: Colour of each plan, by its name: "accepted" is what is being done, "next" what would be done if the stick stayed so,
#: "place" where the world wants a hand to be. No other mark has them.
COLORS: dict[str, Color] = {"accepted": (0.49, 0.23, 0.93), "next": (0.05, 0.72, 0.85), "place": (0.86, 0.10, 0.50)}
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
        self._drawn = {name: _Drawn(server, f"{root}/{name}", size, color) for name, color in COLORS.items()}

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
        wide = BOLD if color == COLORS["accepted"] else FINE
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
