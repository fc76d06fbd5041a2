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
        self.ae = self.a * self.e
        radius = np.array([capsule.radius for capsule in chosen])
        self.radii = radius[self.i] + radius[self.j]
        self.index = self._products()
        moved = np.array([supports(model, capsule.joint) for capsule in chosen]).reshape(-1, model.nv)
        self.sign = moved[self.i] - moved[self.j]  # P x nv: which joints part them, and with which sign

    def _products(self) -> Indices:
        """Where the scalar products of each pair stand among those of all (centers, half axes) with each other."""
        B, i, j = self.count, self.i, self.j
        c_i, c_j, h_i, h_j = i, j, B + i, B + j
        pairs = [(h_i, h_j), (h_i, c_i), (h_i, c_j), (h_j, c_i), (h_j, c_j), (c_i, c_i), (c_j, c_j), (c_i, c_j)]
        return np.array([2 * B * first + second for first, second in pairs])

    def place(self, R: Array, p: Array) -> Array:
        """Centers, then half axes of all capsules (3 x 2B, m) from rotation and position of their `joints`."""
        X = (R[self.carrier] @ self.local).transpose(1, 2, 0).reshape(3, -1)
        X[:, : self.count] += p[self.carrier].T
        return X

    def measure(self, X: Array) -> tuple[Array, Array, Array]:
        """(d, s, t) of all pairs, for capsules placed at X; best near the origin, where products lose no digits.

        Minimises ``|c_i + s h_i - c_j - t h_j|²``: first s without regard to t's bounds, then t, then s again, each
        clipped to its own. That is exact: where t was inside its bounds the last step finds s again, else t is an end.
        """
        b, ii, ij, ji, jj, cc_i, cc_j, cc = (X.T @ X).take(self.index)
        a, e, ae = self.a, self.e, self.ae
        c, f = ii - ij, ji - jj  # of c_i - c_j with h_i and h_j
        sine = ae - b * b
        sine += (PULL / PARALLEL) * np.maximum(PARALLEL * ae - sine, 0.0)
        s = clipped((b * f - e * c) / sine)
        t = clipped((b * s + f) / e)
        s = clipped((b * t - c) / a)
        squared = cc_i + cc_j - 2.0 * (cc + t * (f + s * b) - s * c) + s * s * a + t * t * e
        return np.sqrt(np.maximum(squared, 0.0)) - self.radii, s, t


def clipped(values: Array) -> Array:
    """Cut to [-1, 1]; twice as fast as numpy's clip."""
    return np.minimum(np.maximum(values, -1.0), 1.0)


def supports(model: Any, joint: int) -> Array:
    """1 for each column of v that moves the body of a joint, else 0."""
    out = np.zeros(model.nv)
    for parent in model.supports[joint]:
        out[model.idx_vs[parent] : model.idx_vs[parent] + model.nvs[parent]] = 1.0
    return out
