"""Points that can be dragged in the view."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from viser import TransformControlsEvent, TransformControlsHandle, ViserServer

from poise.report.extras import COLORS
from poise.studio.viewer.marks import linear
from poise.studio.viewer.scenery import Point, finite

Array = NDArray[np.float64]
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
