"""Simple solids as triangles: points (n x 3, m) and faces (m x 3), counter-clockwise from outside."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Faces = NDArray[np.int64]
Solid = tuple[Array, Faces]

#: Points around a circle: edges of 15 degrees look round.
AROUND = 24


def box(half: tuple[float, float, float]) -> Solid:
    """A box around the origin, of half its lengths."""
    corners = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], dtype=np.float64)
    squares = [[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]]
    faces = [face for a, b, c, d in squares for face in ((a, b, c), (a, c, d))]
    return corners * np.array(half), np.array(faces, dtype=np.int64)


def sphere(radius: float) -> Solid:
    angles = np.linspace(-np.pi / 2, np.pi / 2, AROUND // 2 + 1)
    return _turned(radius * np.cos(angles), radius * np.sin(angles))


def cylinder(radius: float, half: float) -> Solid:
    """A cylinder along z, with its ends."""
    return _turned(np.array([0.0, radius, radius, 0.0]), np.array([-half, -half, half, half]))


def capsule(radius: float, half: float) -> Solid:
    """A cylinder along z with half a ball at each end; ``half`` is the length of the cylinder alone."""
    low = np.linspace(-np.pi / 2, 0.0, AROUND // 4 + 1)
    r = radius * np.concatenate([np.cos(low), np.cos(low[::-1])])
    z = np.concatenate([-half + radius * np.sin(low), half - radius * np.sin(low[::-1])])
    return _turned(r, z)


def _turned(r: Array, z: Array) -> Solid:
    """The surface that a line in the half plane (r, z), from below to above, draws about the z axis."""
    angle = np.linspace(0.0, 2.0 * np.pi, AROUND, endpoint=False)
    points = np.stack(
        [np.outer(r, np.cos(angle)), np.outer(r, np.sin(angle)), np.repeat(z[:, None], AROUND, axis=1)], axis=-1
    )
    faces = []
    for i in range(len(r) - 1):
        for j in range(AROUND):
            a, b = i * AROUND + j, i * AROUND + (j + 1) % AROUND
            faces += [(a, b, b + AROUND), (a, b + AROUND, a + AROUND)]
    return points.reshape(-1, 3), np.array(faces, dtype=np.int64)
