"""Gaps: how far apart the capsules of a robot are, where, and how that changes.

A capsule is a segment with center c, half axis h and a radius. Between two of them, i and j, the segments are nearest
at ``p_i = c_i + s h_i`` and ``p_j = c_j + t h_j`` with s and t in [-1, 1], and the gap is

    d = |p_i - p_j| - r_i - r_j        in m, negative where they overlap

With n the unit vector from p_j to p_i, its rate is ``n · (velocity of p_i on body i - velocity of p_j on body j)``: how
s and t change does not matter, since d is least in them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from poise.robots.capsules import Capsule

Array = NDArray[np.float64]
Indices = NDArray[np.intp]

#: Sine squared of the angle below which two axes count as nearly parallel (0.6 degrees): where they are nearest is then
#: drawn towards the middle, up to PULL, or it would jump from end to end with the least turn.
PARALLEL, PULL = 1e-4, 1e-6
#: Axes nearer than this (m) have no direction from one to the other.
TOUCHING = 1e-9


class Gaps:
    """Pairs of capsules and the joints that move them: numbers that do not change with the configuration.

    Args:
        model: pinocchio model.
        capsules: all capsules of the robot.
        pairs: indices of capsules, P x 2.
    """

    def __init__(self, model: Any, capsules: Sequence[Capsule], pairs: Sequence[tuple[int, int]]) -> None:
        used = sorted({index for pair in pairs for index in pair})
        place = {index: k for k, index in enumerate(used)}
        chosen = [capsules[index] for index in used]
        self.count = len(used)
        joints = sorted({capsule.joint for capsule in chosen})
        self.joints = joints
        self.carrier: Indices = np.array([joints.index(capsule.joint) for capsule in chosen], dtype=np.intp)
        self.local: Array = np.array([[capsule.center, capsule.half_axis] for capsule in chosen]).transpose(0, 2, 1)
        self.i, self.j = np.array([[place[a], place[b]] for a, b in pairs], dtype=np.intp).reshape(-1, 2).T
        squared = np.einsum("bi,bi->b", self.local[:, :, 1], self.local[:, :, 1])
        squared = np.maximum(squared, 1e-16)  # a ball: any s will do
        self.a, self.e = squared[self.i], squared[self.j]
        radius = np.array([capsule.radius for capsule in chosen])
        self.radii = radius[self.i] + radius[self.j]
        self.index = self._products()
        self.moved = np.array([supports(model, capsule.joint) for capsule in chosen]).reshape(-1, model.nv)
        self.sign = self.moved[self.i] - self.moved[self.j]  # P x nv: which joints part them, and with which sign

    def _products(self) -> Indices:
        """Where the scalar products of each pair stand among those of all (centers, half axes) with each other."""
        B, i, j = self.count, self.i, self.j
        c_i, c_j, h_i, h_j = i, j, B + i, B + j
        pairs = [(h_i, h_j), (h_i, c_i), (h_i, c_j), (h_j, c_i), (h_j, c_j), (c_i, c_i), (c_j, c_j), (c_i, c_j)]
        return np.array([2 * B * first + second for first, second in pairs])

    def place(self, R: Array, p: Array) -> Array:
        """Centers, then half axes of all capsules (2B x 3, m) from the poses of their joints (`joints`)."""
        placed = R[self.carrier] @ self.local
        X = np.empty((2 * self.count, 3))
        np.add(placed[:, :, 0], p[self.carrier], out=X[: self.count])
        X[self.count :] = placed[:, :, 1]
        return X

    def measure(self, X: Array) -> tuple[Array, Array, Array]:
        """(d, s, t) of all pairs, for capsules placed at X; best near the origin, where products lose no digits.

        Minimises ``|c_i + s h_i - c_j - t h_j|²``: first s without its bounds, then t, then s again, each clipped.
        That is exact: where s was inside its bounds the last step finds it again, and where it was not, t is right.
        """
        b, ii, ij, ji, jj, cc_i, cc_j, cc = np.take(X @ X.T, self.index)
        a, e = self.a, self.e
        c, f = ii - ij, ji - jj  # of w = c_i - c_j with h_i, h_j
        ae = a * e
        sine = ae - b * b
        pull = np.maximum(PARALLEL * ae - sine, 0.0)
        sine += (PULL / PARALLEL) * pull
        s = np.clip((b * f - e * c) / np.maximum(sine, 1e-300), -1.0, 1.0)
        t = np.clip((b * s + f) / e, -1.0, 1.0)
        s = np.clip((b * t - c) / a, -1.0, 1.0)
        squared = cc_i + cc_j - 2.0 * cc + s * (s * a + 2.0 * c) + t * (t * e - 2.0 * f - 2.0 * s * b)
        return np.sqrt(np.maximum(squared, 0.0)) - self.radii, s, t


def supports(model: Any, joint: int) -> Array:
    """1 for each column of v that moves the body of a joint, else 0."""
    out = np.zeros(model.nv)
    for parent in model.supports[joint]:
        out[model.idx_vs[parent] : model.idx_vs[parent] + model.nvs[parent]] = 1.0
    return out
