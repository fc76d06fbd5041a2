"""Fit a body model to the markers of a trial: body shape, filtered motion with its derivatives, and their recording."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from poise.arrays import Array, Mask
from poise.errors import unknown_name_error
from poise.extras import threadpoolctl
from poise.human.fitting.body_adjustment import AdjustmentResult
from poise.human.fitting.calibrated_subject import CalibratedSubject, check_alone, load_subject, with_mass
from poise.human.fitting.calibration import MarkerTrajectories, build_robot, calibrate_body, calibrate_to_subject
from poise.human.fitting.filtered_motion import FilteredMotion, filter_motion
from poise.human.fitting.fit_quality import FitQuality, check_fit
from poise.human.fitting.fit_recording import to_recording
from poise.human.fitting.fit_summary import fit_summary, fit_text
from poise.human.fitting.label_order import (
    FIXES,
    check_labels,
    check_unit,
    fix_labels,
    mirror_trial,
    scale_trial,
    unit_factor,
)
from poise.human.fitting.marker_tracking import MarkerPlacement, MarkerTracker, TrackingResult
from poise.human.fitting.pelvis import needs_trunk
from poise.human.fitting.visibility import cut_to_seen, gap_notes, influential_joints, seen_coordinates
from poise.human.markers import Marker, MarkerMatch, MarkerSet, match_markers
from poise.human.trial import Trial, fill_gaps
from poise.recording import Recording
from poise.robots import SEXES, BodyShape, Robot

if TYPE_CHECKING:
    from poise.human.files.opensim_motion import OpenSimMotion


# -- Fit of body shape and motion ------------------------------------------------------------------------------------


#: Longest gap (s) of a rejected marker that is filled: splines have errors of millimetres there.
MAX_JUMP_GAP = 0.25


@dataclass(frozen=True, eq=False)
class Fit:
    """Body model and motion of a person in a trial.

    Attributes:
        robot: the scaled human model.
        shape: body dimensions.
        trial: the trial, with gaps filled.
        marker_placement: positions of the markers on the model.
        tracking: configurations by inverse kinematics frame by frame, and marker errors.
        motion: filtered configurations and their derivatives, bridged where unknown; see `bridged`.
        notes: remarks on the processing, one sentence each.
        marker_set: name of the marker set.
        static: path of the static trial; "" without one.
        label_messages: what is wrong with the labels of both trials, one sentence each.
        markers: marker of each label.
        mass_known: whether the mass was given or stored; else it is estimated from the height.
        start: time of the first frame in the file (s); frames before the person is in view are left out.

    >>> found = fit(read_trial("walk.c3d"), read_trial("static.c3d"))
    >>> found.rms, found.robot, found.angles()["left_knee_flexion"]
    """

    robot: Robot
    shape: BodyShape
    trial: Trial
    marker_placement: MarkerPlacement
    tracking: TrackingResult
    motion: FilteredMotion
    notes: tuple[str, ...]
    marker_set: str = ""
    static: str = ""
    label_messages: tuple[str, ...] = ()
    markers: Mapping[str, Marker] = field(default_factory=dict)
    mass_known: bool = False
    start: float = 0.0

    def __str__(self) -> str:
        return self.text()

    @property
    def name(self) -> str:
        """File name of the trial."""
        return Path(self.trial.path).name

    @property
    def time(self) -> Array:
        """Times of the frames (n, s)."""
        return self.motion.time

    @property
    def q(self) -> Array:
        """Configurations (n x nq), filtered; NaN where markers do not determine them."""
        return self.motion.known_q

    @property
    def v(self) -> Array:
        """Velocities (n x nv); NaN where unknown."""
        return self.motion.known_v

    @property
    def a(self) -> Array:
        """Accelerations (n x nv); NaN where unknown."""
        return self.motion.known_a

    def seen(self, joint: str) -> Mask:
        """Return the frames in which markers determine the angle of a joint (n)."""
        return np.asarray(self.motion.seen[:, self.robot.joint(joint).v])

    @cached_property
    def measured_joints(self) -> tuple[str, ...]:
        """Joints whose angle is known in any frame; a lower-body marker set has none of trunk, head and arms."""
        return tuple(joint.name for joint in self.robot.joints if self.motion.seen[:, joint.v].any())

    @property
    def whole_body(self) -> bool:
        """Whether all joints that move the centre of mass are measured; else it is not known, nor is the ZMP."""
        return bool(self.motion.seen[:, self._influential].any(axis=0).all())

    @cached_property
    def center_of_mass_seen(self) -> Mask:
        """Frames in which the centre of mass of the whole body is known (n)."""
        return np.asarray(self.motion.seen[:, self._influential].all(axis=1))

    @cached_property
    def _influential(self) -> Mask:
        return influential_joints(self.robot, self.motion.q)

    def bridged(self) -> Fit:
        """Return the fit with a posture in every frame: interpolated over gaps, at rest where it is never seen."""
        return replace(self, motion=replace(self.motion, seen=np.ones_like(self.motion.seen)))

    @property
    def errors(self) -> Array:
        """Distance of each of M markers from its position on the model (n x M, m; NaN where not visible).

        The model is in the configuration from inverse kinematics, before the filter.
        """
        return self.tracking.errors

    @property
    def rms(self) -> float:
        """Root mean square of `errors` over all markers and frames that determine the posture (m)."""
        used = self.tracking.used
        return float(np.sqrt(np.mean(self.errors[used] ** 2))) if used.any() else math.nan

    @property
    def unused_share(self) -> float:
        """Share of the visible marker positions that are too far from the body to be used."""
        visible = np.isfinite(self.errors)
        return float((visible & ~self.tracking.used).sum() / max(visible.sum(), 1))

    @property
    def largest_error(self) -> tuple[float, str, float]:
        """The largest marker error (m), its marker and its time (s)."""
        k, i = np.unravel_index(int(np.nanargmax(self.errors)), self.errors.shape)
        return float(self.errors[k, i]), self.marker_placement.labels[i], float(self.time[k])

    @cached_property
    def rms_by_marker(self) -> dict[str, float]:
        """Root mean square error of each marker (m), the largest first."""
        rms = np.sqrt(np.nanmean(self.errors**2, axis=0))
        return {self.marker_placement.labels[i]: float(rms[i]) for i in np.argsort(-rms)}

    @cached_property
    def quality(self) -> FitQuality:
        """Checks of markers, labels, body and joints, with a verdict: "good", "doubtful" or "unusable"."""
        return check_fit(self, self.label_messages)

    def angles(self) -> dict[str, Array]:
        """Return the filtered angle of each joint by name (n, rad); NaN where markers do not determine it."""
        return {joint.name: self.q[:, joint.q] for joint in self.robot.joints}

    def recording(self) -> Recording:
        """Return motion and markers as a recording, to save, export, plot or report."""
        return to_recording(self)

    def summary(self, reference: OpenSimMotion | None = None) -> dict[str, Any]:
        """Return plain values for JSON: trial, body, quality of the fit, ranges of motion; units are in the keys.

        Args:
            reference: joint angles of the same trial from other software, to compare with.
        """
        return fit_summary(self, reference)

    def text(self, reference: OpenSimMotion | None = None) -> str:
        """Return the most important results as text."""
        return fit_text(self, reference)


def fit(
    trial: Trial,
    static: Trial | None = None,
    *,
    height: float | None = None,
    mass: float | None = None,
    sex: str | None = None,
    marker_set: MarkerSet | str | Path | None = None,
    cutoff: float = 6.0,
    fix: str | None = None,
    subject: CalibratedSubject | str | Path | None = None,
    progress: Callable[[str, float], object] | None = None,
) -> Fit:
    """Scale a body model to a person, and compute the motion in a trial by inverse kinematics.

    Segment lengths, torsion and varus of each leg and the placement of all markers are estimated from the static trial
    and the walk together, or from the walk alone. Those of trunk and arms are always estimated from the walk alone,
    because in a static trial with raised arms the shoulders are 3 to 8 cm higher. Then [Boukheddimi2019] eq. (1) is
    solved frame by frame.

    Args:
        trial: the motion.
        static: static trial of the same person, feet flat.
        height: m; None: from the files, else estimated from the markers.
        mass: kg; None: from the files, else 22.5 kg/m² times height squared.
        sex: "male" or "female", selects the anthropometric tables; None: from the files, else male.
        marker_set: a set, its name or its file; None: the best match.
        cutoff: cut-off of the low-pass filter on the motion (Hz); human walking has little content above 6 Hz.
        fix: a correction of the files, one of `FIXES`: "labels" exchanges labels that are on the other side of the
            body, "mirror" reflects mirrored coordinates, "unit" scales coordinates in another unit than the file says.
        subject: calibrated person or its TOML file, instead of static trial, height, sex and marker set.
        progress: called with the stage ("body", "frames") and its completed share (0 to 1).
    """
    with threadpoolctl.threadpool_limits(1):  # matrices are small, so BLAS threads would only wait for each other
        if subject is not None:
            check_alone(subject, static=static, height=height, sex=sex, marker_set=marker_set)
            subject = with_mass(subject if isinstance(subject, CalibratedSubject) else load_subject(subject), mass)
        return _fit(
            trial, static, height, mass, sex, marker_set, cutoff, fix, subject, progress or (lambda what, share: None)
        )


def _fit(
    trial: Trial,
    static: Trial | None,
    height: float | None,
    mass: float | None,
    sex: str | None,
    marker_set: MarkerSet | str | Path | None,
    cutoff: float,
    fix: str | None,
    subject: CalibratedSubject | None,
    report_progress: Callable[[str, float], object],
) -> Fit:
    if fix is not None and fix not in FIXES:
        raise unknown_name_error("no correction", fix, FIXES)
    report_progress("body", 0.0)
    trials = [each for each in (trial, static) if each is not None]
    sex = sex or next((each.subject.sex for each in trials if each.subject.sex in SEXES), None) or "male"
    height_source, mass_source = ("as given" if value else "from the file" for value in (height, mass))
    height = height or next((each.subject.height for each in trials if each.subject.height), None)
    mass = mass or next((each.subject.mass for each in trials if each.subject.mass), None)
    if subject is not None:
        sex, height, mass = subject.shape.sex, subject.shape.height, subject.shape.mass if subject.mass_known else None
        height_source = mass_source = "of the subject"
    marker_match = match_markers(trial, marker_set if subject is None else subject.as_marker_set())
    trial, messages = _check_trial(trial, marker_match, fix)
    if static is not None:
        static, static_messages = _check_trial(static, match_markers(static, marker_match.marker_set), fix)
        messages += [f"static trial: {message}" for message in static_messages if message not in messages]
    trial = fill_gaps(trial)
    trial, start = cut_to_seen(trial, MarkerTrajectories.of(trial, marker_match.markers))
    walk = MarkerTrajectories.of(trial, marker_match.markers)
    notes = [f"marker set {marker_match.marker_set.name}: {len(walk.labels)} markers used"]
    notes += [
        f"height {height:.3f} m, {height_source}" if height else "the height was not given: estimated from the markers",
        f"mass {mass:.1f} kg, {mass_source}" if mass else "the mass was not given: 22.5 kg/m² times height squared",
    ]
    notes += _unknown_label_notes(marker_match)
    if static is not None and needs_trunk([marker.landmark for marker in walk.markers]):
        static = None
        notes.append("the static trial is not used: these key points have no place on the pelvis but the hips")
    static_markers = None if static is None else _static_trajectories(static, walk, marker_match.marker_set)
    if subject is not None:
        shape, adjusted = calibrate_to_subject(walk, subject, lambda share: report_progress("body", share), notes)
    else:
        shape, adjusted = calibrate_body(
            walk, static_markers, height, mass, sex, lambda share: report_progress("body", share), notes
        )
    robot = build_robot(shape)
    marker_placement = MarkerPlacement(
        walk.labels, tuple(marker.segment for marker in walk.markers), adjusted.locations, walk.weights
    )
    tracking = _track_markers(
        robot, marker_placement, walk, trial.rate, adjusted, lambda share: report_progress("frames", share)
    )
    visibility = seen_coordinates(marker_placement.body_points(robot), adjusted.postures, tracking.used, trial.rate)
    filtered = filter_motion(robot, trial.time, tracking.q, cutoff, visibility)
    notes = [*notes, filtered.note, *gap_notes(robot, trial.time, filtered.seen)]
    notes += _rejected_marker_notes(walk, tracking)
    notes += list(trial.notes)
    name = marker_match.marker_set.name
    path = "" if static is None else static.path
    return Fit(
        robot,
        shape,
        trial,
        marker_placement,
        tracking,
        filtered,
        tuple(dict.fromkeys(notes)),
        name,
        path,
        tuple(messages),
        dict(zip(walk.labels, walk.markers, strict=True)),
        mass is not None,
        start,
    )


def _check_trial(trial: Trial, marker_match: MarkerMatch, fix: str | None) -> tuple[Trial, list[str]]:
    """Check unit and labels of a trial; return it with the requested correction, and what remains wrong."""
    trajectories = MarkerTrajectories.of(trial, marker_match.markers)
    if fix == "unit" and (factor := unit_factor(trajectories)) != 1.0:
        trial = scale_trial(trial, factor)
        trajectories = MarkerTrajectories.of(trial, marker_match.markers)
    check_unit(trial, trajectories)
    order = check_labels(trajectories)
    if fix == "mirror" and order.whole_body:
        trial = mirror_trial(trial)
    elif fix == "labels" and order.exchanged:
        trial = fix_labels(trial, order)
    else:
        return trial, [order.message] if order.message else []
    remaining = check_labels(MarkerTrajectories.of(trial, marker_match.markers)).message
    return trial, [remaining] if remaining else []


def _static_trajectories(static: Trial, walk: MarkerTrajectories, marker_set: MarkerSet) -> MarkerTrajectories:
    """Return the trajectories in a static trial of the markers of a walk; those of trunk, head and arms are NaN."""
    static_matches = match_markers(static, marker_set).markers
    known = dict(zip(walk.labels, walk.markers, strict=True))
    static_markers = MarkerTrajectories.of(fill_gaps(static), {**known, **static_matches}, walk.labels)
    for k, marker in enumerate(walk.markers):
        if _is_upper_body(marker.segment):
            static_markers.positions[:, k] = np.nan
    return static_markers


def _unknown_label_notes(marker_match: MarkerMatch) -> list[str]:
    """Return a note on labels that are not in the marker set, with suggestions."""
    labels = [
        f"{label} (did you mean {' or '.join(near)}?)" if near else label
        for label, near in marker_match.unknown_labels.items()
    ]
    return [f"labels not in the marker set, not used: {', '.join(labels)}"] if labels else []


def _rejected_marker_notes(walk: MarkerTrajectories, tracking: TrackingResult) -> list[str]:
    """Return notes on rejected markers and the number of frames."""
    counts = tracking.ignored.sum(axis=0)
    return [
        f"marker {walk.labels[i]} jumped and was ignored in {counts[i]} of {len(tracking.q)} frames"
        for i in np.flatnonzero(counts)
    ]


def _is_upper_body(segment: str) -> bool:
    """Return whether a link belongs to trunk, head or arms."""
    return segment in ("torso", "head") or segment.endswith(("_arm", "_forearm", "_hand", "_fingers"))


def _track_markers(
    robot: Robot,
    marker_placement: MarkerPlacement,
    walk: MarkerTrajectories,
    rate: float,
    adjusted: AdjustmentResult,
    report_progress: Callable[[float], object],
) -> TrackingResult:
    """Track all frames from the first calibrated posture; joints without visible markers tend to the median posture."""
    rest = np.median(adjusted.postures, axis=0)
    tracker = MarkerTracker(robot, marker_placement.body_points(robot), marker_placement.weights, rest)
    count = len(walk.positions)
    first_pass = tracker.track(walk.positions, adjusted.postures[0], lambda k: report_progress((k + 1) / count), rate)
    if not first_pass.ignored.any():
        return first_pass
    # Rejected markers are gaps: short ones are filled, so that joints which depend on one marker do not drift.
    ignored = first_pass.ignored[:, :, None]
    accepted = Trial("", rate, np.arange(count) / rate, walk.labels, np.where(ignored, np.nan, walk.positions))
    filled = np.where(ignored, fill_gaps(accepted, MAX_JUMP_GAP).positions, walk.positions)
    second_pass = tracker.track(filled, adjusted.postures[0], rate=rate)
    errors = np.linalg.norm(walk.positions - np.array([tracker.points.positions(q) for q in second_pass.q]), axis=2)
    return replace(second_pass, errors=errors, ignored=first_pass.ignored)
