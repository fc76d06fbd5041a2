"""Nearest: the pairs of capsules that are nearest to each other at a snapshot; Jacobian and drift of their gaps."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from poise.constraints.gaps import Gaps
from poise.state import Snapshot, _motion  # type: ignore[attr-defined]
from poise.tasks.layout import Memory
from poise.tasks.task import Writer

Array = NDArray[np.float64]


class Nearest:
    """Gaps of the K nearest pairs, bound to the memory of a snapshot; `update` measures them at the present state.

    Compiled, see `native/motion/collision.hpp`: it writes into the arrays below, which stay where they are.

    Attributes:
        pair: which pairs; one keeps its row while it is among the nearest, others come and go.
        gap: d of each, m.
        normal: n, K x 3, from the second body to the first; always of unit length.
        first, second: where they are nearest, K x 3 (m): on the axes of the capsules, or on the surface of hulls.

    >>> nearest = Nearest(snapshot, Gaps(robot.model, capsules(robot), pairs), rows=64)
    >>> nearest.update()
    """

    def __init__(self, snapshot: Snapshot, gaps: Gaps, rows: int) -> None:
        self.snapshot, self.rows = snapshot, rows  # the snapshot, since its memory is read
        self.pair = np.zeros(rows, dtype=np.int32)
        self.gap = np.zeros(rows)
        self.normal, self.first, self.second = (np.zeros((rows, 3)) for _ in range(3))
        poses = [snapshot.data.oMi[joint] for joint in gaps.joints]
        self._compiled = _motion.GapRows(
            pairs=gaps.compiled,
            rotations=[pose.rotation for pose in poses],
            positions=[pose.translation for pose in poses],
            joints=np.array(gaps.joints, dtype=np.int32),
            tree=gaps.tree(snapshot.data.J, snapshot.v),
            pair=self.pair,
            gap=self.gap,
            normal=self.normal,
            first=self.first,
            second=self.second,
        )

    def update(self) -> None:
        """Measures the pairs at the snapshot's state, and gives rows to the nearest."""
        self._compiled.update()

    def jacobian(self, out: Array) -> None:
        """Writes J with ``ḋ = J v``, K x nv."""
        self._compiled.jacobian(out)

    def drift(self, out: Array) -> None:
        """Writes ``J̇ v``: how the gaps accelerate when no joint does (m/s²)."""
        self._compiled.drift(out)

    def writers(self, memory: Memory, wanted: Array, influence: float) -> Sequence[Writer]:
        """Writers of rows and of drift: gaps below `influence` stay above what is `wanted` of their pairs (m)."""
        writer = _motion.GapWriter(self._compiled, wanted, influence, memory.error, memory.low, memory.A, memory.drift)
        return writer.write, writer.write_drift
