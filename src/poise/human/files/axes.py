"""Which way is up in a file, and how to turn it so that z is."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from poise.human.errors import refused
from poise.human.markers.matching import assigned, best_set

Array = NDArray[np.float64]

#: Rotations that bring an axis of a file to z: quarter and half turns, so that left stays left. From y up with x
#: forward and z to the right (OpenSim) comes x forward, y to the left.
Z_UP: dict[str, Array] = {
    "x": np.array([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]),
    "y": np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]]),
    "z": np.eye(3),
    "-x": np.array([[0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 0.0]]),
    "-y": np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, -1.0, 0.0]]),
    "-z": np.array([[1.0, 0.0, 0.0], [0.0, -1.0, 0.0], [0.0, 0.0, -1.0]]),
}
#: Cosine between an axis and the way from the feet to the pelvis from which the axis is believed to be up: a person who
#: stands or walks is within 20 degrees of it, one who lies or sits is not.
UPRIGHT = 0.94


def checked_up(up: str, path: object = "") -> str:
    """The name of an axis, if it is one."""
    if up not in Z_UP:
        raise refused(path, f"up is {up!r}; expected one of {', '.join(Z_UP)}", "up")
    return up


def upwards(positions: Array, labels: Sequence[str], up: str | None, usual: str, path: object) -> tuple[str, str]:
    """The axis that is up, and a sentence on how it was found.

    What the caller says counts. Else the way from the feet to the pelvis (or from the pelvis to the head, without feet)
    decides if the labels are those of a marker set; an arm span, as long as a person is tall, misleads nobody then.
    Else it is what files of this format usually have.

    Args:
        positions: n x m x 3 as in the file.
        labels: of the m markers.
        up: ``"x"``, ``"y"``, ``"z"``, one of these with a minus, or None to find out.
        usual: the axis that is up in most files of the format.
        path: for the error.
    """
    if up is not None:
        return checked_up(up, path), f"{up} is up, as asked."
    way = _way_up(positions, labels)
    if way is not None:
        axis = int(np.abs(way).argmax())
        if abs(way[axis]) >= UPRIGHT:
            found = ("-" if way[axis] < 0.0 else "") + "xyz"[axis]
            return found, f"{found} is up in the file, by where pelvis, feet and head are."
    return usual, f"{usual} is taken as up, as usual in this format: the markers do not tell."


def _way_up(positions: Array, labels: Sequence[str]) -> Array | None:
    """Unit vector from the feet to the pelvis, or from the pelvis to the head, in the mean over frames."""
    found = assigned(labels, best_set(labels))
    columns: dict[str, list[int]] = {"foot": [], "pelvis": [], "head": []}
    for i, label in enumerate(labels):
        if label in found:
            part = found[label].segment.split("_")[-1]
            columns.get("foot" if part == "toes" else part, []).append(i)
    pairs = [("foot", "pelvis"), ("pelvis", "head"), ("foot", "head")]
    pair = next(((a, b) for a, b in pairs if columns[a] and columns[b]), None)
    if pair is None:
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # frames without any of these markers
        low, high = (np.nanmean(positions[:, columns[part]], axis=1) for part in pair)
        way = np.nanmedian(high - low, axis=0)
    length = float(np.linalg.norm(way))
    return way / length if np.isfinite(length) and length > 0.0 else None
