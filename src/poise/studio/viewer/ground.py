"""What robots stand on, in the view: an endless plane with a grid, and boxes."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pinocchio
from numpy.typing import NDArray
from viser import ViserServer

from poise.exports.scene.solids import box
from poise.plants.things import Box

Array = NDArray[np.float64]

#: Squares of the grid, and their thick lines (m).
CELL, SECTION = 0.25, 1.0
#: The grid has faded at this distance from the camera (m).
FADE = 25.0
#: Colour of boxes (0 to 255): that of steps and blocks in exported scenes.
STONE = (189, 194, 201)
#: Colour of the upper edges of boxes, and the corners between which they run, see `poise.exports.scene.solids.box`.
EDGE = (120, 128, 138)
TOP = np.array([[1, 3], [3, 7], [7, 5], [5, 1]])
#: All of them: corners whose numbers differ in one bit.
ALL = np.array([[i, i | bit] for i in range(8) for bit in (1, 2, 4) if not i & bit])
#: Opacity of what stands around.
GLASS = 0.3


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
            self._draw((f"{root}/things", f"{root}/outlines"), things, ALL, GLASS)

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
