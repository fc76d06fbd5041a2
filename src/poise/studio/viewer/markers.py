"""Markers on a person, in the view: small balls where cameras saw them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from trimesh.creation import icosphere
from viser import BatchedMeshHandle, ViserServer

from poise.studio.viewer.marks import seen

Array = NDArray[np.float64]

#: Colour of each kind (0 to 255): those that the body follows, and those that nobody knows.
COLORS = {"known": (226, 62, 32), "other": (112, 118, 128)}
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
        for kind in COLORS:
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
            ball = icosphere(subdivisions=1, radius=RADIUS)  # 80 triangles: there may be a hundred of them
            quiet: Any = {"cast_shadow": False, "receive_shadow": False, "lod": "off"}
            balls = self._balls[kind] = self._server.scene.add_batched_meshes_simple(
                f"{self._name}/{kind}{count}",
                np.asarray(ball.vertices, dtype=np.float32),
                np.asarray(ball.faces, dtype=np.uint32),
                batched_wxyzs=np.tile([1.0, 0.0, 0.0, 0.0], (count, 1)),
                batched_positions=np.zeros((count, 3), dtype=np.float32),
                batched_colors=COLORS[kind],
                **quiet,
            )
        return balls

    def remove(self) -> None:
        self._root.remove()
