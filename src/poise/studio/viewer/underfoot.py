"""What soles feel, in the view: where the ZMP is under each of them, and where it should be."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from viser import ViserServer

from poise.exports.scene.solids import cylinder
from poise.studio.viewer.marks import ABOVE, BALL, seen
from poise.studio.viewer.scenery import Underfoot, finite

Array = NDArray[np.float64]

#: Colours of the left and the right foot: those of their lines in the plots.
COLORS = ((0.04, 0.40, 0.76), (0.76, 0.25, 0.05))
#: Of outlines and of the crosses at the middles of soles (0 to 1).
LINE = (0.20, 0.22, 0.26)
#: Radius of the dot of a sole that bears half of the weight, in radii of balls: a quarter of the width of a sole.
WIDE = 1.0
#: Arms of a cross, as a share of the way to the corners of its sole.
CROSS = 0.15
#: What moved by less (m) is not drawn anew, see `poise.studio.viewer.marks`.
STILL = 3e-4


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
            for number, color in enumerate(COLORS)
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
            if points.shape != before.shape or np.abs(points - before).max() > STILL:
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
