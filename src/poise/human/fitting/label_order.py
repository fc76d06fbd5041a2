"""Check of marker labels before a fit: left and right, front and back of the pelvis, and the unit of the coordinates.

Front and back do not depend on left and right: the forward direction f of a frame points from the sacrum or the
posterior spines to the middle of the anterior spines, or without them along the feet. With z up, the left of the body
is ``z x f``. The labels of a pair, for example LKNE and RKNE, are exchanged if the left marker is on the right in the
median frame. If nearly all pairs are, either all labels are exchanged or the axes of the file are mirrored
(left-handed); markers alone cannot tell these apart, because bodies are nearly symmetric.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from poise.arrays import Array
from poise.human.fitting.calibration import MarkerTrajectories
from poise.human.fitting.pelvis import nan_median
from poise.human.markers import Marker
from poise.human.trial import ForcePlate, Trial, TrialError

#: Corrections that `fit` applies on request.
FIXES = ("labels", "mirror", "unit")
#: Distance (m) by which a left marker must be to the right of its partner before the pair counts as exchanged. Feet may
#: cross in gait, and arms in front of the body; markers at hip and knee of both sides are 0.2 m or more apart.
CROSSING = {"pelvis": 0.01, "thigh": 0.03, "shank": 0.04, "foot": 0.05, "toes": 0.05, "torso": 0.03, "head": 0.02}
ARM_CROSSING = 0.15
#: Share of exchanged pairs from which the whole body is taken as exchanged: hands and feet may be undecided.
WHOLE_BODY_SHARE = 0.7
#: Frames in which the forward direction is steeper than this (sine) are not used: a person lying, or in a deep bend.
STEEPEST_FORWARD = 0.8
#: Width of the pelvis between the anterior spines of the mean adult, and between the hip centres (m); plausible range
#: of the first, and numbers by which coordinates are wrong if a unit is: powers of ten, inches, feet.
PELVIS_WIDTH, HIP_WIDTH, PELVIS_WIDTH_RANGE = 0.235, 0.165, (0.10, 0.40)
UNITS = (1.0, 2.54, 1.0 / 2.54, 3.048, 1.0 / 3.048)
UNIT_FACTORS = tuple(unit * 10.0**k for unit in UNITS for k in range(-5, 6) if unit * 10.0**k != 1.0)


@dataclass(frozen=True)
class LabelOrder:
    """Exchanged labels of a trial.

    Attributes:
        exchanged: pairs of labels, left and right, whose markers are on the other side; all pairs for a whole body.
        whole_body: whether nearly all pairs are exchanged, which mirrored axes would cause as well.
        pelvis_reversed: whether the markers at the front of the pelvis are behind those at its back.
    """

    exchanged: tuple[tuple[str, str], ...] = ()
    whole_body: bool = False
    pelvis_reversed: bool = False

    @property
    def message(self) -> str:
        """What is wrong and what corrects it; empty if nothing is."""
        if self.pelvis_reversed:
            return "the markers at the front of the pelvis are behind those at its back: check their labels"
        if self.whole_body:
            return (
                "left and right labels are exchanged on the whole body, or the axes of the file are mirrored: correct "
                "the file, or use --fix labels (exchanges the labels) or --fix mirror (reflects the coordinates)"
            )
        if self.exchanged:
            pairs = ", ".join(f"{left} and {right}" for left, right in self.exchanged[:6])
            more = f" and {len(self.exchanged) - 6} more pairs" if len(self.exchanged) > 6 else ""
            return f"labels of left and right are exchanged: {pairs}{more}: correct the file, or use --fix labels"
        return ""


def check_labels(trajectories: MarkerTrajectories) -> LabelOrder:
    """Find labels whose markers are on the other side of the body."""
    forward = _forward_directions(trajectories.landmarks())
    if forward is None:
        return LabelOrder()
    left = np.stack([-forward[:, 1], forward[:, 0], np.zeros(len(forward))], axis=1)
    decided, exchanged, pairs = 0, [], []
    for one, other in _pairs(trajectories):
        apart = np.sum((trajectories.positions[:, one] - trajectories.positions[:, other]) * left, axis=1)
        distance = float(nan_median(apart))
        limit = CROSSING.get(trajectories.markers[one].segment.removeprefix("left_"), ARM_CROSSING)
        decided += abs(distance) > limit
        pairs.append((trajectories.labels[one], trajectories.labels[other]))
        exchanged += pairs[-1:] if distance < -limit else []
    whole = decided >= 3 and len(exchanged) >= WHOLE_BODY_SHARE * decided
    return LabelOrder(tuple(pairs if whole else exchanged), whole, _pelvis_reversed(trajectories.landmarks()))


def _forward_directions(landmarks: Mapping[str, Array]) -> Array | None:
    """Return the horizontal forward direction of the body (n x 3), NaN in frames without one; None if all are."""
    directions = _pelvis_direction(landmarks)
    if directions is None:
        directions = _feet_direction(landmarks)
    if directions is None:
        return None
    length = np.linalg.norm(directions, axis=1)
    flat = directions * [1.0, 1.0, 0.0]
    flat[np.abs(directions[:, 2]) > STEEPEST_FORWARD * length] = np.nan
    flat /= np.linalg.norm(flat, axis=1, keepdims=True)
    return flat if np.isfinite(flat).any() else None


def _pelvis_direction(landmarks: Mapping[str, Array]) -> Array | None:
    """Return the direction from the back to the front of the pelvis (n x 3, m)."""
    front = _mean(landmarks, "left_asis", "right_asis")
    back = landmarks.get("sacrum", _mean(landmarks, "left_psis", "right_psis"))
    return None if front is None or back is None else front - back


def _feet_direction(landmarks: Mapping[str, Array]) -> Array | None:
    """Return the mean direction of both feet from heel or ankle to the metatarsal heads or toes (n x 3, m)."""
    directions = []
    for side in ("left", "right"):
        ends = ("second_metatarsal_head", "fifth_metatarsal_head", "toe_end", "ball_center")
        starts = ("heel_back", "lateral_ankle", "ankle_center")
        end = next((landmarks[f"{side}_{name}"] for name in ends if f"{side}_{name}" in landmarks), None)
        start = next((landmarks[f"{side}_{name}"] for name in starts if f"{side}_{name}" in landmarks), None)
        if end is not None and start is not None:
            directions.append(end - start)
    return np.mean(directions, axis=0) if directions else None


def _mean(landmarks: Mapping[str, Array], one: str, other: str) -> Array | None:
    return (landmarks[one] + landmarks[other]) / 2.0 if one in landmarks and other in landmarks else None


def _pelvis_reversed(landmarks: Mapping[str, Array]) -> bool:
    pelvis, feet = _pelvis_direction(landmarks), _feet_direction(landmarks)
    if pelvis is None or feet is None:
        return False
    return bool(nan_median(np.sum(pelvis[:, :2] * feet[:, :2], axis=1)) < 0.0)


def _pairs(trajectories: MarkerTrajectories) -> list[tuple[int, int]]:
    """Return the pairs of left and right markers: the same landmark, or labels that differ only in the side."""
    key = {_side_key(label, marker): k for k, (label, marker) in enumerate(_labelled(trajectories))}
    return [(k, key["right", name]) for (side, name), k in key.items() if side == "left" and ("right", name) in key]


def _labelled(trajectories: MarkerTrajectories) -> list[tuple[str, Marker]]:
    return list(zip(trajectories.labels, trajectories.markers, strict=True))


def _side_key(label: str, marker: Marker) -> tuple[str, str]:
    """Return the side of a marker, and a name that is the same for its partner on the other side."""
    place = marker.landmark or marker.segment
    side = place.split("_", 1)[0]
    if side not in ("left", "right"):
        return "", label
    name = place.removeprefix(f"{side}_")
    # without a landmark several markers share a segment: their labels differ from their partners' in the letter L or R
    if marker.landmark is None:
        name += " " + marker.label.replace("Left", "Right").replace("left", "right").replace("L", "R").replace("l", "r")
    return side, name


# -- Corrections -----------------------------------------------------------------------------------------------------


def fix_labels(trial: Trial, order: LabelOrder) -> Trial:
    """Exchange the labels of the pairs in a trial."""
    index = {label: k for k, label in enumerate(trial.labels)}
    columns = np.arange(len(trial.labels))
    for left, right in order.exchanged:
        columns[index[left]], columns[index[right]] = index[right], index[left]
    note = f"Labels of left and right exchanged as requested: {len(order.exchanged)} pairs."
    return trial.replace(positions=trial.positions[:, columns], notes=(*trial.notes, note))


def mirror_trial(trial: Trial) -> Trial:
    """Reflect a trial at the plane y = 0: markers, forces, and moments, which change their sign as axial vectors."""
    across = np.array([1.0, -1.0, 1.0])
    plates = tuple(
        ForcePlate(
            plate.name,
            plate.corners * across,
            plate.force * across,
            plate.center_of_pressure * across,
            -plate.free_moment * across,
        )
        for plate in trial.plates
    )
    note = "Coordinates mirrored as requested: y reversed."
    return trial.replace(positions=trial.positions * across, plates=plates, notes=(*trial.notes, note))


def unit_factor(trajectories: MarkerTrajectories) -> float:
    """Return the number by which coordinates must be multiplied for a human pelvis: 1, or the nearest unit."""
    landmarks = trajectories.landmarks()
    names = ("left_asis", "right_asis") if "left_asis" in landmarks else ("left_hip_center", "right_hip_center")
    if not all(name in landmarks for name in names):
        return 1.0
    width = float(nan_median(np.linalg.norm(landmarks[names[0]] - landmarks[names[1]], axis=1)))
    width *= 1.0 if names[0] == "left_asis" else PELVIS_WIDTH / HIP_WIDTH
    low, high = PELVIS_WIDTH_RANGE
    if not width > 0.0 or low < width < high:
        return 1.0
    return min(UNIT_FACTORS, key=lambda factor: abs(np.log(width * factor / PELVIS_WIDTH)))


def check_unit(trial: Trial, trajectories: MarkerTrajectories) -> None:
    """Raise an error if the coordinates are in another unit than the file states."""
    factor = unit_factor(trajectories)
    if factor != 1.0:
        how = f"{factor:.6g} times too small" if factor > 1.0 else f"{1.0 / factor:.6g} times too large"
        raise TrialError(
            f"{trial.path}: the coordinates are {how} for a person; is the unit in the file wrong? Correct it, or use "
            "--fix unit",
            path=trial.path,
            element="unit",
        )


def scale_trial(trial: Trial, factor: float) -> Trial:
    """Multiply marker coordinates by a factor; force plates keep their own unit."""
    note = f"Coordinates multiplied by {factor:.6g} as requested: the unit in the file is wrong."
    return trial.replace(positions=trial.positions * factor, notes=(*trial.notes, note))
