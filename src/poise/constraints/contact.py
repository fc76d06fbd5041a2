"""PinnedContact: a part of the body that does not move against the world."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from poise.robots import Frame, Robot
from poise.state import FRAMES, Snapshot, _motion  # type: ignore[attr-defined]
from poise.tasks.axes import component_indices, positive, selection
from poise.tasks.frame import frame_name
from poise.tasks.layout import ACCELERATION, Layout, Memory
from poise.tasks.motion import MotionTask
from poise.tasks.reference import Decay
from poise.tasks.task import Writer

Array = NDArray[np.float64]


class PinnedContact(MotionTask):
    """A frame does not move: ``J v = 0``, or ``J v̇ = -J̇ v - k J v`` ([Saab2012] eq. 4; k stops what still moves).

    It remembers no place: where drift should be undone, use `tasks.HoldPose`.

    Args:
        frame: e.g. ``robot.foot("right")``.
        axes, turns: which motions are blocked, in world axes.
        damping: k, 1/s.

    >>> constraints.PinnedContact(robot.foot("right"))
    """

    unit = "m/s, rad/s"
    needs = FRAMES
    wants_rate = True
    curvature = 0.0

    def __init__(
        self,
        frame: Frame,
        axes: str = "xyz",
        turns: str = "xyz",
        damping: float = 40.0,
        weight: ArrayLike = 1.0,
        name: str = "",
    ) -> None:
        name = name or f"contact of {frame_name(frame)}"
        linear, angular = component_indices(axes, turns, name)
        super().__init__(name, weight, None, Decay(positive(damping, "damping", name)), len(linear + angular))
        self.frame = frame
        self.S = selection(linear + angular, 6)
        self.words = (*axes, *(f"about {a}" for a in turns))

    def labels(self, robot: Robot) -> tuple[str, ...]:
        return self.words

    def frames(self) -> tuple[Frame, ...]:
        return (self.frame,)

    def bind_error(self, snapshot: Snapshot, memory: Memory, layout: Layout) -> Sequence[Writer]:
        rows = snapshot.frame(self.frame)
        unused = np.zeros(len(self.S))  # the distance to a place that a contact does not remember
        writer = _motion.FrameWriter(rows, self.S, np.zeros(3), np.eye(3), unused, memory.A, memory.drift)
        return [writer.write, writer.write_drift] if layout.order == ACCELERATION else [writer.write]
