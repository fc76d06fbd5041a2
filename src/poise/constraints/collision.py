"""SelfCollision: bodies of the robot stay apart from each other."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from poise.constraints.gaps import Gaps
from poise.constraints.hulls import Hull, NearestHulls
from poise.constraints.nearest import Nearest
from poise.constraints.pairs import meeting_pairs, named_pairs
from poise.errors import TaskError
from poise.robots import Joint, Robot, State
from poise.robots.capsules import capsules
from poise.state import FRAMES, Snapshot
from poise.tasks.axes import number, shown
from poise.tasks.layout import ACCELERATION, Layout, Memory
from poise.tasks.motion import MotionTask
from poise.tasks.reference import Decay, Reference
from poise.tasks.task import Writer

Array = NDArray[np.float64]

#: Rows that a robot with more pairs gets: G1 and Talos stand with 20 to 40 pairs within 10 cm; coal takes 20 µs a pair.
ROWS = {"capsules": 64, "meshes": 32}


class SelfCollision(MotionTask):
    """Bodies of the robot keep a distance from each other.

    The error of a row is the gap d between two bodies (m, negative where they overlap); it stays above `distance` and
    shrinks no faster than the reference lets it: ``ḋ >= -g (d - distance)``. Bodies that overlap part at that rate.

    Bodies are capsules around the links' shapes (`poise.robots.capsules`), whose gaps, Jacobians and drifts are exact
    and cost some 10 µs for hundreds of pairs; or, slimmer and slower, the convex hulls of their meshes, by coal. A pair
    keeps its row for as long as it is among the nearest: solvers start from the rows that acted before.

    Args:
        robot: whose bodies.
        distance: to keep, m. Found pairs that stand nearer keep half of the gap that their hulls stand with; what their
            capsules are fatter than the hulls in that stance is granted to them.
        pairs: pairs of frames or of names of links or joints; None: all that can meet (`meeting_pairs`); the path of
            an SRDF file: these without the ones it disables.
        joints: of the found pairs only those with a body that one of these joints carries, e.g. of the arms; None: all.
        shapes: "capsules" or "meshes".
        rows: how many of the pairs, the nearest ones, have a row; None: all, but no more than 64 (32 with meshes).
        influence: pairs with a larger gap (m) are left alone; nearer, none closes faster than g (influence - distance).
        reference: how gaps shrink at most; None: ``Decay(10)``, which brakes a hand at 1 m/s with 10 m/s².

    >>> poise.Hierarchy(always=[constraints.JointRange(robot), constraints.SelfCollision(robot)], levels=[...])
    >>> constraints.SelfCollision(robot, distance=0.05, pairs=[(robot.hand("left"), robot.chest)])
    """

    unit = "m"
    needs = FRAMES

    def __init__(
        self,
        robot: Robot,
        distance: float = 0.02,
        pairs: Iterable[tuple[Any, Any]] | str | Path | None = None,
        shapes: str = "capsules",
        rows: int | None = None,
        influence: float = 0.2,
        joints: Iterable[Joint] | None = None,
        weight: ArrayLike = 1.0,
        reference: Reference | None = None,
        name: str = "self-collision",
    ) -> None:
        if not isinstance(robot, Robot):
            raise TaskError(f"{name}: {shown(robot)} is not a robot; give what load_robot returned", name)
        if shapes not in tuple(ROWS):
            raise TaskError(f"{name}: shapes is {shown(shapes)}; expected 'capsules' or 'meshes'", name)
        if rows is not None and not (isinstance(rows, int) and rows > 0):
            raise TaskError(f"{name}: rows is {shown(rows)}; expected a positive whole number, or None", name)
        self.robot, self.shapes = robot, shapes
        self.distance, self.influence = number(distance, "distance", name), number(influence, "influence", name)
        if not self.distance < self.influence:
            raise TaskError(f"{name}: influence is {influence}; expected more than the distance, {distance}", name)
        if pairs is None or isinstance(pairs, (str, Path)):
            found = meeting_pairs(robot, pairs)
            self.indices = found.pairs
            self.wanted = np.minimum(self.distance, 0.5 * found.hulls)
            if shapes == "capsules":
                nearer = found.standing < self.distance
                self.wanted = np.where(nearer, self.wanted - (found.hulls - found.standing), self.distance)
            if joints is not None:
                carried, every = {joint.index for joint in joints}, capsules(robot)
                kept = [k for k, pair in enumerate(self.indices) if any(every[i].joint in carried for i in pair)]
                self.indices, self.wanted = tuple(self.indices[k] for k in kept), self.wanted[kept]
        else:
            self.indices = named_pairs(robot, pairs, name)
            self.wanted = np.full(len(self.indices), self.distance)
        if not self.indices:
            raise TaskError(f"{name}: {robot.name} has no bodies that can meet; give pairs=[(frame, frame), ...]", name)
        self.rows_count = min(len(self.indices), rows or ROWS[shapes])
        super().__init__(name, weight, (self.distance, np.inf), reference or Decay(10.0), self.rows_count)
        bodies = capsules(robot)
        used = sorted({index for pair in self.indices for index in pair}) if shapes == "meshes" else []
        self._hulls = {index: Hull(bodies[index]) for index in used}
        self.pairs = tuple((bodies[a].name, bodies[b].name) for a, b in self.indices)

    def labels(self, robot: Robot) -> tuple[str, ...]:
        if robot.name != self.robot.name:
            raise TaskError(f"{self.name}: bodies of {self.robot.name} on a {robot.name}; build it for that", self.name)
        if self.rows_count == len(self.pairs):
            return tuple(f"{a} - {b}" for a, b in self.pairs)
        return tuple(f"near pair {i}" for i in range(self.rows_count))

    def gaps(self, state: State | Snapshot) -> dict[tuple[str, str], float]:
        """Pairs and their gaps (m), the nearest first: what a row of this constraint speaks of.

        >>> next(iter(constraint.gaps(state).items()))
        (('pelvis', 'left_rubber_hand'), 0.083)
        """
        snapshot = state if isinstance(state, Snapshot) else Snapshot(self.robot).at(state)
        snapshot.fill(FRAMES)
        nearest = self._nearest(snapshot, len(self.pairs))
        nearest.update()
        return {self.pairs[k]: float(nearest.gap[k]) for k in np.argsort(nearest.gap, kind="stable")}

    def bind_error(self, snapshot: Snapshot, memory: Memory, layout: Layout) -> Sequence[Writer]:
        write, write_drift = self._nearest(snapshot, self.rows_count).writers(memory, self.wanted, self.influence)
        return [write, write_drift] if layout.order == ACCELERATION else [write]

    def _nearest(self, snapshot: Snapshot, rows: int) -> Nearest:
        gaps = Gaps(self.robot.model, capsules(self.robot), self.indices)
        if not self._hulls:
            return Nearest(snapshot, gaps, rows)
        hulls = [(self._hulls[a], self._hulls[b]) for a, b in self.indices]
        return NearestHulls(snapshot, gaps, rows, hulls, self.influence)
