"""Gaps: how far apart the capsules of a robot are, where, and how that changes.

A capsule is a segment with center c, half axis h and a radius. Between two of them, i and j, the segments are nearest
at ``p_i = c_i + s h_i`` and ``p_j = c_j + t h_j`` with s and t in [-1, 1], and the gap is

    d = |p_i - p_j| - r_i - r_j        in m, negative where they overlap

With n the unit vector from p_j to p_i, its rate is ``n · (velocity of p_i on body i - velocity of p_j on body j)``: how
s and t change does not matter, since d is least in them. Written in `native/motion/capsules.hpp`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from poise.robots.capsules import Capsule
from poise.state import _motion  # type: ignore[attr-defined]

Array = NDArray[np.float64]


class Gaps:
    """Pairs of capsules and the joints that move them: numbers that do not change with the configuration.

    Args:
        model: pinocchio model.
        capsules: all capsules of the robot.
        pairs: indices of capsules, P x 2.

    Attributes:
        joints: numbers of the joints that carry a capsule of some pair.
        compiled: the pairs, for compiled readers.
    """

    def __init__(self, model: Any, capsules: Sequence[Capsule], pairs: Sequence[tuple[int, int]]) -> None:
        used = sorted({index for pair in pairs for index in pair})
        chosen = [capsules[index] for index in used]
        self.joints = sorted({capsule.joint for capsule in chosen})
        self.count, self.capsules = len(pairs), len(chosen)
        first, second = np.searchsorted(used, np.array(pairs, dtype=np.int32).reshape(-1, 2).T).astype(np.int32)
        self.compiled = _motion.CapsulePairs(
            center=np.array([capsule.center for capsule in chosen]).reshape(-1, 3),
            half_axis=np.array([capsule.half_axis for capsule in chosen]).reshape(-1, 3),
            radius=np.array([capsule.radius for capsule in chosen], dtype=np.float64),
            carrier=np.array([self.joints.index(capsule.joint) for capsule in chosen], dtype=np.int32),
            first=first,
            second=second,
        )
        self._tree = {
            "parents": np.array(model.parents, dtype=np.int32),
            "columns": np.array(model.idx_vs, dtype=np.int32),
            "counts": np.array(model.nvs, dtype=np.int32),
        }

    def tree(self, J: Array, v: Array) -> _motion.JointTree:
        """The compiled reader of how bodies move, from the joints' twists at the world's origin (6 x nv) and speeds."""
        return _motion.JointTree(J, v, **self._tree)

    def place(self, R: Sequence[Array], p: Sequence[Array]) -> Array:
        """Center and half axis of all capsules (B x 6, m) from rotations and positions of their `joints`."""
        X = np.empty((self.capsules, 6))
        self.compiled.place(list(R), list(p), X)
        return X

    def measure(self, X: Array) -> tuple[Array, Array, Array]:
        """(d, s, t) of all pairs, for capsules placed at X."""
        d, s, t = (np.empty(self.count) for _ in range(3))
        self.compiled.measure(X, d, s, t)
        return d, s, t
