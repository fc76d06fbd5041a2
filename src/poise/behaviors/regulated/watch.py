"""Watch: whether what the force cells and servos of a robot say can be true."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from poise.robots import Foot, Robot

Array = NDArray[np.float64]

#: What goes on for so long (s) is no accident: longer than a sole rocks when it lands, shorter than a robot falls.
PATIENCE = 0.1
#: A cell says nothing below this share of the robot's weight, and should, by its neighbours, say at least `PRESSED` of
#: it; when that has been so for `SILENCE` seconds in all without a word, it is dead. Soles that rock stand on three
#: corners, or two, but not always on the same.
SILENT, PRESSED, SILENCE = 0.01, 0.08, 0.3
#: A cell is stuck when it says the same to the last bit while all others together change by this share of the weight.
CHANGED = 0.02
#: Feet are swapped when the plan puts more than this share of the weight beyond one half on a foot, and the cells on the
#: other one.
APART = 0.2
#: A servo is at its limit at this share of the error that takes its largest torque, and free again at half of it.
FULL = 0.95
#: In so many seconds the regulation comes and goes.
FADE = 0.2
CORNERS = ("front left", "back left", "back right", "front right")


class Watch:
    """Listens to cells and servos, and says which of them cannot be trusted.

    A cell that is found to be broken stays so until the watch is made anew; a servo that is free again is forgiven.

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
        self._weight = 9.81 * robot.mass
        self._limit = robot.servos.full_torque / stiffness
        feet = len(robot.feet)
        self._last = np.full((feet, 4), np.nan)
        self._moved = np.zeros((feet, 4))
        self._same, self._silent = np.zeros((feet, 4)), np.zeros((feet, 4))
        self._swapped = 0.0
        legs = {i for foot in robot.feet for i in robot.model.supports[foot.joint]}
        self._legs = np.array([joint.v - 6 for joint in robot.joints if joint.index in legs], dtype=int)
        self._full, self._strained = np.zeros(len(self._legs)), np.zeros(len(self._legs), dtype=bool)
        self._broken: dict[str, str] = {}

    def look(
        self, cells: Mapping[str, Array], lags: Array | None, share: float, period: float, wanted: bool = True
    ) -> Mapping[str, Array]:
        """One period later: the same cells, without numbers that are none.

        Args:
            cells: forces by foot (N, 4).
            lags: by which joints are behind their commands (rad, per joint); None: not known.
            share: of the weight that the plan puts on the first foot.
            wanted: whether there is to be any regulation.
        """
        told = np.array([cells.get(foot.name, _NOTHING) for foot in self.robot.feet], dtype=np.float64)
        good = np.isfinite(told)
        if not good.all():
            self._find(~good, "tells no number")
            told = np.where(good, told, 0.0)
        self._stuck(told, period)
        self._dead(told, period)
        self._crossed(told, share, period)
        if lags is not None:
            self._straining(lags, period)
        self.words = [*self._broken.values(), *self._tired()]
        toward = 1.0 if wanted and not self.words else 0.0
        self.trust += float(np.clip(toward - self.trust, -period / FADE, period / FADE))
        return {foot.name: row for foot, row in zip(self.robot.feet, told, strict=True)}

    # -- cells -----------------------------------------------------------------------------------------------------

    def _find(self, wrong: NDArray[np.bool_], complaint: str) -> None:
        for i, k in zip(*np.nonzero(wrong), strict=True):
            foot: Foot = self.robot.feet[int(i)]
            name = f"{foot.side} {CORNERS[k]}"
            self._broken.setdefault(name, f"the {CORNERS[k]} force cell of the {foot.side} sole {complaint}")

    def _stuck(self, told: Array, period: float) -> None:
        """The same to the last bit, while the others move."""
        same = (told == self._last) & (told != 0.0)
        change = np.abs(np.where(np.isfinite(self._last), told - self._last, 0.0))
        self._same = np.where(same, self._same + period, 0.0)
        self._moved = np.where(same, self._moved + change.sum(), 0.0)
        self._last = told
        wrong = (self._same > PATIENCE) & (self._moved > CHANGED * self._weight)
        if wrong.any():
            self._find(wrong, "always tells the same")

    def _dead(self, told: Array, period: float) -> None:
        """Silent, although a flat sole that is pressed as its other three cells say is pressed there, too."""
        due = np.roll(told, 1, axis=1) + np.roll(told, -1, axis=1) - np.roll(told, 2, axis=1)
        self._silent += period * (due > PRESSED * self._weight)
        self._silent[told > SILENT * self._weight] = 0.0
        if (wrong := self._silent > SILENCE).any():
            self._find(wrong, "tells nothing, although its neighbours are pressed")

    def _crossed(self, told: Array, share: float, period: float) -> None:
        """The weight is felt where it is not."""
        loads = told.sum(axis=1)
        if len(loads) != 2 or not loads.sum() > 0.5 * self._weight:
            return
        felt = loads[0] / loads.sum() - 0.5
        crossed = abs(felt) > APART and abs(share - 0.5) > APART and felt * (share - 0.5) < 0.0
        self._swapped = self._swapped + period if crossed else 0.0
        if self._swapped > PATIENCE:
            self._broken.setdefault(
                "swapped", "the cells feel the weight on the wrong foot: left and right are swapped"
            )

    # -- servos ----------------------------------------------------------------------------------------------------

    def _straining(self, lags: Array, period: float) -> None:
        share = np.abs(lags[self._legs]) / self._limit
        self._full = np.where(share > FULL, self._full + period, 0.0)
        self._strained = (self._full > PATIENCE) | (self._strained & (share > 0.5 * FULL))

    def _tired(self) -> list[str]:
        names = [self.robot.joints[self._legs[k]].name for k in np.nonzero(self._strained)[0]]
        return [f"the servo of {name} gives all it has and does not follow" for name in names]


_NOTHING = np.full(4, np.nan)
