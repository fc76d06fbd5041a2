"""Fault detection: which force cells and servos cannot be trusted."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from poise.arrays import Array
from poise.robots import Foot, Robot

#: What goes on for so long (s) is no accident: longer than a sole rocks when it lands, shorter than a robot falls.
PATIENCE = 0.1
#: A cell says nothing below this share of the robot's weight, and should, by its neighbours, say at least `PRESSED` of
#: it; when that has been so for `SILENCE` seconds in all without a word, it is dead. Only soles that stand on their
#: other three corners count: those that rock stand on two.
SILENT, PRESSED, SILENCE = 0.01, 0.08, 0.3
#: A cell is stuck when it says the same to the last bit while all others together change by this share of the weight.
CHANGED = 0.02
#: Cells that tell in steps flicker by one of them: changes below so many of the smallest that was seen do not count.
FLICKER = 2.5
#: What is so many times the weight is no force.
WILD = 100.0
#: Feet are swapped when the plan puts more than this share of the weight beyond one half on a foot, and the cells
#: feel it on the other one.
APART = 0.2
#: A servo is at its limit at this share of the error that takes its largest torque, and free again at half of it.
FULL = 0.95
#: So often (s) is judged what takes ten times as long to find out.
LOOK = 0.01
#: In so many seconds the regulation comes and goes.
FADE = 0.2
CORNERS = ("front left", "back left", "back right", "front right")


class Cell:
    """One force cell, and what was noticed about it."""

    __slots__ = ("broken", "last", "moved", "name", "same", "silent")

    def __init__(self, foot: Foot, corner: int) -> None:
        self.name = f"the {CORNERS[corner]} force cell of the {foot.side} sole"
        self.last, self.same, self.moved, self.silent = math.nan, 0.0, 0.0, 0.0
        self.broken = ""

    def find(self, complaint: str) -> None:
        """It is broken, from the first time on."""
        self.broken = self.broken or f"{self.name} {complaint}"


class Watch:
    """Listens to cells and servos, and says which of them cannot be trusted.

    A cell that is found to be broken stays so until the watch is made anew; a servo that is free again is forgiven.
    Plain numbers, not arrays: there are eight cells, and a thousand looks a second.

    Args:
        robot: whose cells.
        stiffness: of its servos, as a share of what their data say.

    Attributes:
        words: what is wrong, one sentence each; empty: nothing is.
        trust: share of the regulation that is to act, from 0 to 1: it fades away when something is wrong.
    """

    def __init__(self, robot: Robot, stiffness: float = 1.0) -> None:
        self.robot = robot
        self.words: list[str] = []
        self.trust = 0.0
        self._weight = robot.weight
        self._limit = FULL * robot.servos.full_torque / stiffness
        self._cells = [[Cell(foot, corner) for corner in range(len(CORNERS))] for foot in robot.feet]
        self._swapped, self._crossed, self._grain, self._since = 0.0, "", math.inf, 0.0
        self._earlier: list[list[float]] = []
        legs = {i for foot in robot.feet for i in robot.model.supports[foot.joint]}
        self._legs = np.array([joint.v - 6 for joint in robot.joints if joint.index in legs], dtype=int)
        self._full, self._strained = np.zeros(len(self._legs)), np.zeros(len(self._legs), dtype=bool)

    def look(
        self, cells: Mapping[str, Array], lags: Array | None, share: float, period: float, wanted: bool = True
    ) -> list[list[float]]:
        """One period later: the forces of each foot (N, 4), with zero for what is no number.

        Args:
            cells: forces by foot (N, 4).
            lags: by which joints are behind their commands (rad, per joint); None: not known.
            share: of the weight that the plan puts on the first foot.
            wanted: whether there is to be any regulation.
        """
        told = [self._told(cells.get(foot.name), own) for foot, own in zip(self.robot.feet, self._cells, strict=True)]
        for forces, own in zip(told, self._cells, strict=True):
            for force, cell in zip(forces, own, strict=True):
                if force != cell.last:
                    cell.last, cell.same, cell.moved = force, 0.0, 0.0
                else:
                    cell.same += period
        self._since += period
        if self._since >= LOOK - 1e-9:
            self._judge(told, lags, share, min(self._since, LOOK + period))
            self._since = 0.0
        toward = 1.0 if wanted and not self.words else 0.0
        if toward != self.trust:
            self.trust += min(max(toward - self.trust, -period / FADE), period / FADE)
        return told

    def _judge(self, told: list[list[float]], lags: Array | None, share: float, period: float) -> None:
        """Everything that takes longer than a tick to find out."""
        change = 0.0
        for forces, earlier in zip(told, self._earlier, strict=False):  # at the first look there is nothing to compare
            for force, before in zip(forces, earlier, strict=True):
                step = abs(force - before)
                if step > 0.0:
                    self._grain = min(self._grain, step)
                    change += step if step > FLICKER * self._grain else 0.0
        self._earlier = told
        for forces, own in zip(told, self._cells, strict=True):
            for corner, cell in enumerate(own):
                self._stuck(cell, change)
                self._dead(cell, forces, corner, period)
        self._cross(told, share, period)
        if lags is not None:
            self._strain(lags, period)
        found = [cell.broken for own in self._cells for cell in own if cell.broken]
        self.words = [*found, *([self._crossed] if self._crossed else []), *self._tired()]

    # -- cells -----------------------------------------------------------------------------------------------------

    def _told(self, forces: Array | None, own: Sequence[Cell]) -> list[float]:
        """What four cells say; none of a foot that has none."""
        said: list[float] = [math.nan] * len(own) if forces is None else np.asarray(forces).tolist()
        if sum(map(abs, said)) < WILD * self._weight:  # which NaN is not
            return said
        for i, (force, cell) in enumerate(zip(said, own, strict=True)):
            if not abs(force) < WILD * self._weight:
                cell.find("tells no number")
                said[i] = 0.0
                self._since = math.inf  # at once
        return said

    def _stuck(self, cell: Cell, change: float) -> None:
        """The same to the last bit, while the others move."""
        if cell.same <= LOOK or cell.last == 0.0:
            return
        cell.moved += change
        if cell.same > PATIENCE and cell.moved > CHANGED * self._weight:
            cell.find("always tells the same")

    def _dead(self, cell: Cell, forces: Sequence[float], corner: int, period: float) -> None:
        """Silent, although a flat sole that is pressed as its other three cells say is pressed there, too."""
        if forces[corner] > SILENT * self._weight:
            cell.silent = 0.0
            return
        before, after, opposite = forces[corner - 1], forces[corner - 3], forces[corner - 2]
        if opposite > 2.0 * SILENT * self._weight and before + after - opposite > PRESSED * self._weight:
            cell.silent += period
            if cell.silent > SILENCE:
                cell.find("tells nothing, although its neighbours are pressed")

    def _cross(self, told: Sequence[Sequence[float]], share: float, period: float) -> None:
        """The weight is felt where it is not."""
        loads = [sum(forces) for forces in told]
        if len(loads) != 2 or not sum(loads) > 0.5 * self._weight:
            return
        felt = loads[0] / sum(loads) - 0.5
        crossed = abs(felt) > APART and abs(share - 0.5) > APART and felt * (share - 0.5) < 0.0
        self._swapped = self._swapped + period if crossed else 0.0
        if self._swapped > PATIENCE:
            self._crossed = "the cells feel the weight on the wrong foot: left and right are swapped"

    # -- servos ----------------------------------------------------------------------------------------------------

    def _strain(self, lags: Array, period: float) -> None:
        lag = np.abs(lags[self._legs])
        if not self._strained.any() and float(lag.max()) <= self._limit:
            self._full[:] = 0.0
            return
        self._full = np.where(lag > self._limit, self._full + period, 0.0)
        self._strained = (self._full > PATIENCE) | (self._strained & (lag > 0.5 * self._limit))

    def _tired(self) -> list[str]:
        if not self._strained.any():
            return []
        names = [self.robot.joints[self._legs[k]].name for k in np.nonzero(self._strained)[0]]
        return [f"the servo of {name} gives all it has and does not follow" for name in names]
