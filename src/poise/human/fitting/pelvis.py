"""The pelvis from its markers: pose in each frame, dimensions, and hip joint centres.

The hip joint centres are those of Harrington et al. 2007 ("Prediction of the hip joint centre in adults, children, and
patients with cerebral palsy based on magnetic resonance imaging", Journal of Biomechanics 40). With the pelvic width W
between the anterior spines and the pelvic depth D from their midpoint to that of the posterior spines, their positions
relative to the midpoint of the anterior spines, in the axes of the pelvis, are (m)

    forward  -0.24 D - 0.0099,   up  -0.30 W - 0.0109,   to either side  0.33 W + 0.0073
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from poise.arrays import Array
from poise.human.trial import TrialError
from poise.robots import SIDES, anthropometry


def nan_median(values: Array) -> Array:
    """Median over the first axis, ignoring NaN; NaN for columns without any value."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # a marker may never be visible
        return np.asarray(np.nanmedian(values, axis=0))


PELVIS_SKIN_LANDMARKS = ("left_asis", "right_asis", "left_psis", "right_psis", "sacrum")
PELVIS_CENTERS = ("left_hip_center", "right_hip_center", "lumbar_center")
#: Joint centres of key points from video, which have no point at the lumbar joint.
TRUNK_CENTERS = ("left_hip_center", "right_hip_center", "left_shoulder_center", "right_shoulder_center")
#: Position of L5S1 relative to the midpoint of the hip centres of the mean man: forward and up [Dumas2007].
HIP_TO_LUMBAR = (
    anthropometry.LUMBAR_OFFSET["male"][0] - anthropometry.HIP_CENTER_OFFSET["male"][0],
    anthropometry.LUMBAR_OFFSET["male"][1] - anthropometry.HIP_CENTER_OFFSET["male"][1],
)


@dataclass(frozen=True)
class Pelvis:
    """Dimensions of a pelvis.

    Attributes:
        width: distance between the anterior spines (m).
        depth: distance of the back point of `PelvisMarkers` from the midpoint of left and right (m).
        hip_width: between the hip centres (m).
        landmark_positions: positions of its landmarks relative to the midpoint of the hip centres: x forward and y left
            in the plane of the spines, z up (m).
        origin: midpoint of left and right of `PelvisMarkers`, in the same axes relative to the same point (m).
    """

    width: float
    depth: float
    hip_width: float
    landmark_positions: Mapping[str, Array]
    origin: Array


@dataclass(frozen=True)
class PelvisMarkers:
    """Three points that determine the pose of the pelvis: left, right and back, each n x 3 or 3 (m).

    They are the anterior spines and the sacrum, or the midpoint of the posterior spines; for a skeleton without skin
    markers the hip centres and the lumbar joint (`are_joint_centers`).
    """

    left: Array
    right: Array
    back: Array
    are_joint_centers: bool

    @classmethod
    def of(cls, landmarks: Mapping[str, Array]) -> PelvisMarkers:
        """Select the three points from landmarks by name; the error names missing ones."""
        if "left_asis" not in landmarks and all(name in landmarks for name in PELVIS_CENTERS):
            return cls(landmarks["left_hip_center"], landmarks["right_hip_center"], landmarks["lumbar_center"], True)
        if "left_asis" not in landmarks and all(name in landmarks for name in TRUNK_CENTERS):
            left, right = landmarks["left_hip_center"], landmarks["right_hip_center"]
            return cls(left, right, _lumbar_from_trunk(landmarks), True)
        missing = [name for name in ("left_asis", "right_asis") if name not in landmarks]
        if missing:
            raise TrialError(f"no marker on {' and '.join(missing)}; expected both anterior spines of the pelvis")
        if "sacrum" in landmarks:
            return cls(landmarks["left_asis"], landmarks["right_asis"], landmarks["sacrum"], False)
        if "left_psis" not in landmarks or "right_psis" not in landmarks:
            raise TrialError("no marker on the back of the pelvis; expected both posterior spines or the sacrum")
        back = (landmarks["left_psis"] + landmarks["right_psis"]) / 2.0
        return cls(landmarks["left_asis"], landmarks["right_asis"], back, False)

    @property
    def visible(self) -> NDArray[np.bool_]:
        """Frames in which all three are visible (n)."""
        parts = [np.isfinite(part).all(axis=-1) for part in (self.left, self.right, self.back)]
        return np.asarray(parts[0] & parts[1] & parts[2])

    def during(self, frames: NDArray[np.bool_]) -> PelvisMarkers:
        """Return the points in some frames."""
        return PelvisMarkers(self.left[frames], self.right[frames], self.back[frames], self.are_joint_centers)

    def poses(self) -> tuple[Array, Array]:
        """Return rotation (n x 3 x 3, axes x forward, y left, z up) and origin, middle of left and right (n x 3, m).

        With spines, the three points span the horizontal plane of the pelvis. With joint centres, the lumbar joint is
        above and behind as in the mean body.
        """
        origin = (self.left + self.right) / 2.0
        y = _unit(self.left - self.right)
        if not self.are_joint_centers:
            z = _unit(np.cross(origin - self.back, y))
            return np.stack([np.cross(y, z), y, z], axis=-1), origin
        to_lumbar = self.back - origin
        up = _unit(to_lumbar - np.sum(to_lumbar * y, axis=-1, keepdims=True) * y)
        ahead = np.cross(y, up)
        sine, cosine = np.array(HIP_TO_LUMBAR) / np.hypot(*HIP_TO_LUMBAR)
        return np.stack([cosine * ahead + sine * up, y, cosine * up - sine * ahead], axis=-1), origin


def measure_pelvis(landmarks: Mapping[str, Array]) -> Pelvis:
    """Measure a pelvis from landmarks over time (n x 3, m); medians over the frames in which all are visible."""
    pelvis_markers = PelvisMarkers.of(landmarks)
    visible = pelvis_markers.visible
    if not visible.any():
        raise TrialError(
            "front and back of the pelvis are never visible in the same frame; expected frames with all pelvis markers"
        )
    pelvis_markers = pelvis_markers.during(visible)
    rotation, origin = pelvis_markers.poses()
    width_measured = float(np.median(np.linalg.norm(pelvis_markers.left - pelvis_markers.right, axis=1)))
    depth = float(np.median(np.linalg.norm(origin - pelvis_markers.back, axis=1)))
    if not (0.1 < width_measured < 0.5 and 0.05 < depth < 0.5):
        message = f"a pelvis {width_measured:.3f} m wide and {depth:.3f} m deep"
        raise TrialError(f"{message}; expected about 0.24 and 0.15 m: check the units and the labels of its markers")
    if pelvis_markers.are_joint_centers:
        middle, width, hip_width = (
            np.zeros(3),
            width_measured / (2.0 * anthropometry.HIP_CENTER_OFFSET["male"][2]),
            width_measured,
        )
    else:
        middle = np.array([0.24 * depth + 0.0099, 0.0, 0.30 * width_measured + 0.0109])
        width, hip_width = width_measured, 2.0 * (0.33 * width_measured + 0.0073)
    locations = {}
    for name in (*PELVIS_SKIN_LANDMARKS, *PELVIS_CENTERS):
        if name in landmarks:
            local = np.einsum("nji,nj->ni", rotation, landmarks[name][visible] - origin)
            locations[name] = nan_median(local) + middle
    return Pelvis(width, depth, hip_width, locations, middle)


def _unit(vectors: Array) -> Array:
    return np.asarray(vectors / np.linalg.norm(vectors, axis=-1, keepdims=True))


def needs_trunk(names: Iterable[str | None]) -> bool:
    """Return whether these landmarks have only hip centres on the pelvis: its tilt is then that of the trunk."""
    names = set(names)
    return "left_asis" not in names and "lumbar_center" not in names and names.issuperset(TRUNK_CENTERS)


def _lumbar_from_trunk(landmarks: Mapping[str, Array]) -> Array:
    """Return the lumbar joint (n x 3, m) of a pelvis that is as upright as the trunk, from hips to shoulders."""
    left, right, left_shoulder, right_shoulder = (landmarks[name] for name in TRUNK_CENTERS)
    middle, across = 0.5 * (left + right), left - right
    y = _unit(across)
    trunk = 0.5 * (left_shoulder + right_shoulder) - middle
    up = _unit(trunk - np.sum(trunk * y, axis=-1, keepdims=True) * y)
    width = float(np.nanmedian(np.linalg.norm(across, axis=-1))) / (2.0 * anthropometry.HIP_CENTER_OFFSET["male"][2])
    return np.asarray(middle + width * (HIP_TO_LUMBAR[0] * np.cross(y, up) + HIP_TO_LUMBAR[1] * up))


def hip_centers(landmarks: Mapping[str, Array]) -> dict[str, Array]:
    """Return both hip centres over time (n x 3, m) from the markers of the pelvis; empty if too few are there."""
    try:
        pelvis = measure_pelvis(landmarks)
        rotation, origin = PelvisMarkers.of(landmarks).poses()
    except TrialError:
        return {}
    middle = origin - np.einsum("nij,j->ni", rotation, pelvis.origin)
    offset = pelvis.hip_width / 2.0 * rotation[:, :, 1]
    return {f"{SIDES[0]}_hip_center": middle + offset, f"{SIDES[1]}_hip_center": middle - offset}
