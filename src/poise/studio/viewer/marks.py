"""What helps to judge a motion, in the view: forces, support polygon, centre of mass, centre of pressure."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from viser import SceneNodeHandle, ViserServer

from poise.exports.scene.solids import cylinder
from poise.report.extras import CENTER, COLORS, SUPPORT
from poise.studio.viewer.scenery import Scenery, finite

Array = NDArray[np.float64]

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
