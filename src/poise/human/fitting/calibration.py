"""Calibration: body dimensions and marker placement from a walk and a static trial, starting from the pelvis markers.

The hip joint centres are those of Harrington et al. 2007 ("Prediction of the hip joint centre in adults, children, and
patients with cerebral palsy based on magnetic resonance imaging", Journal of Biomechanics 40). With the pelvic width W
between the anterior spines and the pelvic depth D from their midpoint to that of the posterior spines, their positions
relative to the midpoint of the anterior spines, in the axes of the pelvis, are (m)

    forward  -0.24 D - 0.0099,   up  -0.30 W - 0.0109,   to either side  0.33 W + 0.0073
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np
import pinocchio
from numpy.typing import NDArray

from poise.arrays import Array
from poise.human.fitting.body_adjustment import INITIAL_OUTLIER_SCALE, AdjustmentResult, BodyAdjustment, MarkerPrior
from poise.human.fitting.marker_tracking import MAX_FIRST_ITERATIONS, REST_COST, BodyPoints, MarkerTracker
from poise.human.markers import Marker
from poise.human.trial import Trial, TrialError
from poise.robots import MEAN_STATURE, SIDES, BodyShape, Robot, anthropometry, load_robot


@dataclass(frozen=True)
class MarkerTrajectories:
    """Trajectories of M markers of a trial: labels, markers, positions over n frames (n x M x 3, m; NaN in gaps)."""

    labels: tuple[str, ...]
    markers: tuple[Marker, ...]
    positions: Array

    @classmethod
    def of(
        cls, trial: Trial, markers: Mapping[str, Marker], labels: tuple[str, ...] | None = None
    ) -> MarkerTrajectories:
        """Select trajectories of a trial.

        Args:
            trial: the trial.
            markers: marker of each label.
            labels: labels to select, with NaN for those that the trial lacks; None: all that are visible in any frame.
        """
        if labels is None:
            labels = tuple(label for label in markers if np.isfinite(trial.marker(label)).all(axis=1).any())
        blank = np.full((len(trial.time), 3), np.nan)
        positions = np.stack([trial.marker(label) if label in trial.labels else blank for label in labels], axis=1)
        return cls(labels, tuple(markers[label] for label in labels), positions)

    @property
    def weights(self) -> Array:
        """Weight of each of the M markers in the fit."""
        return np.array([marker.weight for marker in self.markers])

    def landmarks(self) -> dict[str, Array]:
        """Return the positions by landmark (n x 3, m)."""
        return {
            marker.landmark: self.positions[:, k]
            for k, marker in enumerate(self.markers)
            if marker.landmark is not None
        }


def nan_median(values: Array) -> Array:
    """Median over the first axis, ignoring NaN; NaN for columns without any value."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # a marker may never be visible
        return np.asarray(np.nanmedian(values, axis=0))


# -- The pelvis ------------------------------------------------------------------------------------------------------


PELVIS_SKIN_LANDMARKS = ("left_asis", "right_asis", "left_psis", "right_psis", "sacrum")
PELVIS_CENTERS = ("left_hip_center", "right_hip_center", "lumbar_center")
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


# -- Initial body and posture ------------------------------------------------------------------------------------------


#: Height of the anterior spines and of the hip centres above the floor as shares of the stature: 0.99 and 0.93 m on the
#: mean body of 1.77 m.
ASIS_HEIGHT_RATIO, HIP_HEIGHT_RATIO = 0.56, 0.53
#: Plausible distances between joint centres, relative to the mean body.
PLAUSIBLE_LENGTH_RATIO = (0.5, 1.6)
#: Relative difference between a given height and that of the fitted segments which is noted.
HEIGHT_TOLERANCE = 0.1
#: Largest height of the lowest foot markers (m) for which the floor is taken as z = 0.
FLOOR_TOLERANCE = 0.15


def estimate_height(trajectories: MarkerTrajectories, sex: str) -> float:
    """Estimate the stature (m) from the height of the pelvis above the lowest markers.

    The mean stature of the sex is returned if the estimate is outside 0.8 to 2.5 m.
    """
    pelvis_markers = PelvisMarkers.of(trajectories.landmarks())
    high = np.nanmedian((pelvis_markers.left[:, 2] + pelvis_markers.right[:, 2]) / 2.0)
    low = np.nanmin(nan_median(trajectories.positions[:, :, 2])) - 0.03  # heel and toe markers are 3 cm above the floor
    guess = float((high - low) / (HIP_HEIGHT_RATIO if pelvis_markers.are_joint_centers else ASIS_HEIGHT_RATIO))
    return guess if 0.8 < guess < 2.5 else MEAN_STATURE[sex]


def initial_shape(
    trajectories: MarkerTrajectories, pelvis: Pelvis, height: float, mass: float | None, sex: str
) -> BodyShape:
    """Return the mean body of a stature with the measured pelvis and the measured distances between joint centres."""
    shape = BodyShape.of(height, mass, sex).with_parameters(hip_width=pelvis.hip_width, asis_width=pelvis.width)
    landmarks = trajectories.landmarks()

    def center_distance(one: str, other: str, default: float) -> float:
        if f"{one}_center" not in landmarks or f"{other}_center" not in landmarks:
            return default
        length = float(np.nanmedian(np.linalg.norm(landmarks[f"{one}_center"] - landmarks[f"{other}_center"], axis=1)))
        return length if PLAUSIBLE_LENGTH_RATIO[0] * default < length < PLAUSIBLE_LENGTH_RATIO[1] * default else default

    segment_ends = {"thigh": ("hip", "knee"), "shank": ("knee", "ankle")}
    segment_ends |= {"upper_arm": ("shoulder", "elbow"), "forearm": ("elbow", "wrist")}
    lengths = {
        name: tuple(
            center_distance(f"{side}_{one}", f"{side}_{two}", getattr(shape, name)[i]) for i, side in enumerate(SIDES)
        )
        for name, (one, two) in segment_ends.items()
    }
    width = center_distance("left_shoulder", "right_shoulder", shape.shoulder_width)
    return shape.with_parameters(**lengths, shoulder_width=width)


def build_robot(shape: BodyShape) -> Robot:
    """Build the robot model of a shape, by parameters that a recording can store."""
    return load_robot("human", height=shape.height, mass=shape.mass, sex=shape.sex, shape=shape.parameters())


def initial_posture(robot: Robot, landmarks: Mapping[str, Array], pelvis: Pelvis, rest: Array) -> Array:
    """Return the configuration `rest` with the base placed at the pelvis markers of one frame.

    Args:
        robot: the model.
        landmarks: positions of the landmarks in that frame (3, m), with all markers of the pelvis.
        pelvis: measured pelvis.
        rest: configuration that gives the joint angles (nq).
    """
    rotation, origin = PelvisMarkers.of(landmarks).poses()
    pose = pinocchio.SE3(rotation, origin - rotation @ pelvis.origin)
    return np.concatenate([pinocchio.SE3ToXYZQUAT(pose), rest[7:]])


def frames_with_pelvis(trajectories: MarkerTrajectories) -> NDArray[np.bool_]:
    """Return the frames in which the whole pelvis is visible (n)."""
    return PelvisMarkers.of(trajectories.landmarks()).visible


def floor_height(trajectories: MarkerTrajectories) -> float:
    """Return the height of the floor, 0, if the lowest foot marker is 0 to 15 cm above it; else NaN (unknown)."""
    feet = [k for k, marker in enumerate(trajectories.markers) if marker.segment.endswith(("_foot", "_toes"))]
    if not feet:
        return np.nan
    lowest = float(np.nanmin(nan_median(trajectories.positions[:, feet, 2])))
    return 0.0 if 0.0 < lowest < FLOOR_TOLERANCE else np.nan


# -- Calibration of body shape and marker placement ------------------------------------------------------------------


#: Number of frames of the walk used for calibration: one cycle has all postures, and more frames add little.
CALIBRATION_FRAMES = 24
#: Weight of the static frame relative to a frame of the walk.
STATIC_FRAME_WEIGHT = 6


def calibrate_body(
    walk: MarkerTrajectories,
    static_markers: MarkerTrajectories | None,
    height: float | None,
    mass: float | None,
    sex: str,
    report_progress: Callable[[float], object],
    notes: list[str],
) -> tuple[BodyShape, AdjustmentResult]:
    """Calibrate body shape and marker placement from a walk and, if given, a static trial.

    The adjustment has the postures of the calibration frames; the first one is a frame of the walk.

    Args:
        walk, static_markers: the same markers in both trials.
        height, mass: m and kg, if known.
        sex: "male" or "female", selects the anthropometric tables.
        report_progress: called with the completed share (0 to 1).
        notes: list to which remarks are appended.
    """
    pelvis = measure_pelvis(walk.landmarks())
    body_height = height or estimate_height(walk, sex)
    shape = initial_shape(walk, pelvis, body_height, mass, sex)
    robot = build_robot(shape)
    prior = MarkerPrior.of(walk.markers, shape, pelvis.landmark_positions)
    frames, weights, floor_heights = _select_frames(walk, static_markers)
    postures = _initial_postures(robot, walk, prior, frames, pelvis)
    prior = _update_prior_locations(robot, prior, frames, postures)
    report_progress(0.3)
    adjusted = BodyAdjustment(robot, shape, prior, frames, weights, floor_heights).solve(postures)
    report_progress(1.0)
    final_shape = adjusted.shape
    if height is None:
        final_shape = replace(final_shape, height=_body_height(final_shape))
        if mass is None:
            final_shape = replace(final_shape, mass=22.5 * final_shape.height**2)
    elif abs(_body_height(final_shape) / height - 1.0) > HEIGHT_TOLERANCE:
        notes.append(
            f"the height of {height:.2f} m does not agree with the segments fitted to the markers, which add up to "
            f"{_body_height(final_shape):.2f} m: check it"
        )
    notes.append(
        f"body calibrated on {len(frames)} frames in {adjusted.iterations} iterations, {1e3 * adjusted.rms:.1f} mm rms"
    )
    return final_shape, adjusted


def _body_height(shape: BodyShape) -> float:
    """Return the height of the vertex in upright standing (m)."""
    return shape.hip_height + shape.l5s1_up + shape.torso + shape.head


def _select_frames(walk: MarkerTrajectories, static_markers: MarkerTrajectories | None) -> tuple[Array, Array, Array]:
    """Return calibration frames (K x m x 3), weights (K x m), and floor height under flat soles (K, NaN if none)."""
    visible = np.flatnonzero(frames_with_pelvis(walk))
    chosen = visible[np.unique(np.linspace(0, len(visible) - 1, CALIBRATION_FRAMES).round().astype(int))]
    frames, weights = walk.positions[chosen], np.tile(walk.weights, (len(chosen), 1))
    floor_heights = np.full(len(chosen), np.nan)
    if static_markers is None:
        return frames, weights, floor_heights
    static_visible = frames_with_pelvis(static_markers)
    if not static_visible.any():
        raise TrialError(
            "the whole pelvis is never visible in the static trial; expected frames with all pelvis markers"
        )
    static_frame = nan_median(static_markers.positions[static_visible])
    floor = floor_height(static_markers)
    return (
        np.concatenate([frames, static_frame[None]]),
        np.concatenate([weights, STATIC_FRAME_WEIGHT * walk.weights[None]]),
        np.append(floor_heights, floor),
    )


def _initial_postures(
    robot: Robot, walk: MarkerTrajectories, prior: MarkerPrior, frames: Array, pelvis: Pelvis
) -> Array:
    """Compute initial postures of the frames from markers on landmarks only."""
    known = np.array([marker.landmark is not None for marker in walk.markers])
    weights = np.where(known, walk.weights, 0.0)
    points = BodyPoints.from_links(robot.model, prior.links, prior.locations)
    tracker = MarkerTracker(robot, points, weights, robot.stance("standing").q, INITIAL_OUTLIER_SCALE)
    postures = []
    for frame in frames:
        landmarks = {str(marker.landmark): frame[k] for k, marker in enumerate(walk.markers) if marker.landmark}
        guess = initial_posture(robot, landmarks, pelvis, robot.stance("standing").q)
        postures.append(tracker.solve(frame, guess, 0.0, REST_COST, MAX_FIRST_ITERATIONS)[0])
    return np.array(postures)


def _update_prior_locations(robot: Robot, prior: MarkerPrior, frames: Array, postures: Array) -> MarkerPrior:
    """Set the prior position of markers known only by segment to their median position in the initial postures."""
    points = BodyPoints.from_links(robot.model, prior.links, prior.locations)
    local = []
    for frame, q in zip(frames, postures, strict=True):
        points.positions(q)
        origins = np.array([points.data.oMi[int(j)].translation for j in points.joints])
        local.append(np.einsum("mji,mj->mi", points.rotations(), frame - origins))
    free = prior.segment_only
    locations = prior.locations.copy()
    locations[free] = nan_median(np.array(local))[free]
    return replace(prior, locations=locations)
