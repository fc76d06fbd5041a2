"""Calibration: body dimensions and marker placement from a trial and a static trial, starting from the pelvis."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np
import pinocchio
from numpy.typing import NDArray

from poise.arrays import Array, Mask
from poise.human.fitting.body_adjustment import INITIAL_OUTLIER_SCALE, AdjustmentResult, BodyAdjustment, MarkerPrior
from poise.human.fitting.calibrated_subject import CalibratedSubject
from poise.human.fitting.marker_tracking import (
    FEWEST_AGREEING,
    MAX_FIRST_ITERATIONS,
    MAX_ITERATIONS,
    REST_COST,
    BodyPoints,
    MarkerTracker,
)
from poise.human.fitting.pelvis import Pelvis, PelvisMarkers, hip_centers, measure_pelvis, nan_median
from poise.human.markers import Marker
from poise.human.trial import Trial, TrialError
from poise.robots import SIDES, BodyShape, Robot, landmarks, load_robot


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


# -- Initial body and posture ------------------------------------------------------------------------------------------


#: Height of the anterior spines and of the hip centres above the floor as shares of the stature: 0.99 and 0.93 m on the
#: mean body of 1.77 m.
ASIS_HEIGHT_RATIO, HIP_HEIGHT_RATIO = 0.56, 0.53
#: Plausible distances between joint centres, relative to the mean body.
PLAUSIBLE_LENGTH_RATIO = (0.5, 1.6)
#: Landmarks at both ends of thigh and shank.
LEG_LANDMARKS = (
    ("hip_center", "lateral_knee"),
    ("hip_center", "knee_center"),
    ("lateral_knee", "lateral_ankle"),
    ("knee_center", "ankle_center"),
)
#: Largest height of the lowest foot markers (m) for which the floor is taken as z = 0.
FLOOR_TOLERANCE = 0.15


def estimate_height(trajectories: MarkerTrajectories, sex: str) -> float:
    """Estimate the stature (m) from the lengths of thighs and shanks, which do not depend on the posture.

    Distances between hip centres, knees and ankles are divided by those of the mean body; the median counts. Only
    without markers there, the height of the pelvis above the lowest markers is used, for which the person must stand.
    """
    measured = trajectories.landmarks()
    measured = {**hip_centers(measured), **measured}
    mean_body = BodyShape.of(sex=sex)
    knee = np.array([0.0, 0.0, -mean_body.thigh[0]])
    known = {name: (at + knee if link.endswith("_shank") else at) for name, (link, at) in landmarks(mean_body).items()}
    ratios = []
    for one, other in [(f"{side}_{one}", f"{side}_{other}") for side in SIDES for one, other in LEG_LANDMARKS]:
        if one in measured and other in measured:
            hip = one.endswith("_hip_center")  # in the frame of the pelvis; the thigh begins there
            usual = float(np.linalg.norm((0.0 if hip else known[one]) - known[other]))
            ratio = float(nan_median(np.linalg.norm(measured[one] - measured[other], axis=1))) / usual
            ratios += [ratio] if PLAUSIBLE_LENGTH_RATIO[0] < ratio < PLAUSIBLE_LENGTH_RATIO[1] else []
    guess = float(np.median(ratios)) * mean_body.height if ratios else _height_from_pelvis(trajectories)
    return guess if 0.8 < guess < 2.5 else mean_body.height


def _height_from_pelvis(trajectories: MarkerTrajectories) -> float:
    """Return the stature (m) of a standing person from the height of the pelvis above the lowest markers."""
    pelvis_markers = PelvisMarkers.of(trajectories.landmarks())
    high = np.nanmedian((pelvis_markers.left[:, 2] + pelvis_markers.right[:, 2]) / 2.0)
    low = np.nanmin(nan_median(trajectories.positions[:, :, 2])) - 0.03  # heel and toe markers are 3 cm above the floor
    return float((high - low) / (HIP_HEIGHT_RATIO if pelvis_markers.are_joint_centers else ASIS_HEIGHT_RATIO))


def initial_shape(
    trajectories: MarkerTrajectories, pelvis: Pelvis, height: float, mass: float | None, sex: str
) -> BodyShape:
    """Return the mean body of a stature with the measured pelvis and the measured distances between joint centres."""
    shape = BodyShape.of(height, mass, sex).with_parameters(hip_width=pelvis.hip_width, asis_width=pelvis.width)
    measured = trajectories.landmarks()

    def center_distance(one: str, other: str, default: float) -> float:
        if f"{one}_center" not in measured or f"{other}_center" not in measured:
            return default
        length = float(np.nanmedian(np.linalg.norm(measured[f"{one}_center"] - measured[f"{other}_center"], axis=1)))
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


def initial_posture(robot: Robot, seen: Mapping[str, Array], pelvis: Pelvis, rest: Array) -> Array:
    """Return the configuration `rest` with the base placed at the pelvis markers of one frame.

    Args:
        robot: the model.
        seen: positions of the landmarks in that frame (3, m), with all markers of the pelvis.
        pelvis: measured pelvis.
        rest: configuration that gives the joint angles (nq).
    """
    rotation, origin = PelvisMarkers.of(seen).poses()
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
#: Distance of a marker at the side of thigh or shank from the body above which its place is not taken as known (m).
PLANE_TOLERANCE = 0.015
#: Distance of a marker from the body (m), which does not have the person's dimensions yet, from which its limb is
#: searched in other postures.
FAR_FROM_INITIAL_BODY = 0.15
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
    stature = height or estimate_height(walk, sex)
    shape = initial_shape(walk, pelvis, stature, mass, sex)
    robot = build_robot(shape)
    prior = MarkerPrior.of(walk.markers, shape, pelvis.landmark_positions)
    frames, weights, floor_heights = _select_frames(walk, static_markers)
    postures = _initial_postures(robot, walk, prior, frames, pelvis)
    prior = _update_prior_locations(robot, prior, frames, postures)
    report_progress(0.3)
    adjusted = BodyAdjustment(robot, shape, prior, frames, weights, floor_heights).solve(postures)
    if (misplaced := _beside_their_plane(walk, adjusted)).any():
        labels = ", ".join(label for label, free in zip(walk.labels, misplaced, strict=True) if free)
        notes.append(f"not in the plane of the joints, as on a wand; taken as anywhere on the segment: {labels}")
        prior = _update_prior_locations(robot, prior.anywhere_on_segment(misplaced), frames, adjusted.postures)
        adjusted = BodyAdjustment(robot, shape, prior, frames, weights, floor_heights).solve(adjusted.postures)
    report_progress(1.0)
    final_shape = adjusted.shape
    if height is None:
        final_shape = replace(final_shape, height=body_height(final_shape))
        if mass is None:
            final_shape = replace(final_shape, mass=22.5 * final_shape.height**2)
    notes.append(
        f"body calibrated on {len(frames)} frames in {adjusted.iterations} iterations, {1e3 * adjusted.rms:.1f} mm rms"
    )
    return final_shape, adjusted


def _beside_their_plane(walk: MarkerTrajectories, adjusted: AdjustmentResult) -> Mask:
    """Return a mask of the markers at the side of thigh and shank that are not where the marker set says (M).

    On wands, or aligned with a knee alignment device, they are not in the plane of the joints.
    """
    at_side = np.array([str(marker.landmark).endswith("_side") for marker in walk.markers])
    return np.asarray(at_side & (nan_median(adjusted.errors) > PLANE_TOLERANCE))


def calibrate_to_subject(
    walk: MarkerTrajectories, subject: CalibratedSubject, report_progress: Callable[[float], object], notes: list[str]
) -> tuple[BodyShape, AdjustmentResult]:
    """Place the markers of a trial on a calibrated person; the shape and the markers of pelvis and legs are given."""
    pelvis, shape = measure_pelvis(walk.landmarks()), subject.shape
    robot = build_robot(shape)
    prior = MarkerPrior.of(walk.markers, shape, {}).with_locations(
        [subject.locations.get(name) for name in walk.labels]
    )
    frames, weights, floor_heights = _select_frames(walk, None)
    postures = _initial_postures(robot, walk, prior, frames, pelvis)
    report_progress(0.3)
    adjusted = BodyAdjustment(robot, shape, prior, frames, weights, floor_heights, fixed_shape=True).solve(postures)
    report_progress(1.0)
    notes.append(
        f"body of {subject.name}, calibrated with {subject.static}; markers of trunk and arms placed on {len(frames)} "
        f"frames in {adjusted.iterations} iterations, {1e3 * adjusted.rms:.1f} mm rms"
    )
    return shape, adjusted


def body_height(shape: BodyShape) -> float:
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
        seen = {str(marker.landmark): frame[k] for k, marker in enumerate(walk.markers) if marker.landmark}
        guess = initial_posture(robot, seen, pelvis, robot.stance("standing").q)
        postures.append(_search_posture(tracker, frame, guess, weights > 0.0))
    return np.array(postures)


def _search_posture(tracker: MarkerTracker, frame: Array, guess: Array, used: Mask) -> Array:
    """Return the posture of a frame from a guess, or from raised arms where markers there are far from the body."""
    posture = tracker.solve(frame, guess, 0.0, REST_COST, MAX_FIRST_ITERATIONS)[0]

    def distances(q: Array) -> Array:
        return np.where(used, np.linalg.norm(frame - tracker.points.positions(q), axis=1), np.nan)

    far = distances(posture) > FAR_FROM_INITIAL_BODY
    if far.sum() < FEWEST_AGREEING:
        return posture
    starts = [
        tracker.solve(frame, start, 0.0, REST_COST, MAX_ITERATIONS)[0] for start in tracker.search_starts(posture, far)
    ]
    return min([posture, *starts], key=lambda q: float(np.nansum(np.minimum(distances(q), INITIAL_OUTLIER_SCALE))))


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
