"""Visibility of a person in a trial: the frames in which pelvis and legs are seen, and those of each joint.

Where too few markers are visible there is no posture to find. Frames before the person is in view and after it has left
are cut off; in gaps between them posture, velocity, moments and events are absent.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pinocchio

from poise.analysis import true_intervals
from poise.arrays import Array, Mask
from poise.human.fitting.calibration import MarkerTrajectories
from poise.human.fitting.marker_tracking import BodyPoints
from poise.human.trial import Trial, TrialError
from poise.robots import SIDES, Robot, Side

#: Fewest visible markers with which the posture of pelvis and leg is determined: three points fix the pelvis, and two
#: the plane of a leg, as required of a marker set.
FEWEST_PELVIS_MARKERS, FEWEST_LEG_MARKERS = 3, 2
LEG_SEGMENTS = ("thigh", "shank", "foot", "toes")
#: Error of a marker (m) and uncertainty of a joint before any marker is seen (rad), which decide what is determined.
MARKER_ERROR, PRIOR_ANGLE = 0.01, 1.0
#: Uncertainty (rad) up to which a joint angle is measured by a marker set at all, and in a frame; and that of the pose
#: of the pelvis (m, rad). With all markers of Plug-in Gait a forearm has 0.25, other joints have less than 0.2; without
#: the markers that matter it is 0.35 to 1.
MEASURED_ANGLE, SEEN_ANGLE, SEEN_PELVIS = 0.3, 0.2, 0.12
#: A joint that a marker set determines poorly counts as seen up to this multiple of its uncertainty with all markers.
SEEN_RATIO = 1.5
#: Postures in which the uncertainty is computed, spread over the calibration; the median counts.
UNCERTAINTY_POSTURES = 5
#: Longest gap that is bridged, and shortest time in view that is used (s): after it the filter has settled.
LONGEST_BRIDGED_GAP, SHORTEST_VIEW = 0.1, 0.2


def seen_frames(trajectories: MarkerTrajectories) -> Mask:
    """Return the frames in which the posture of pelvis and both legs is determined (n)."""
    visible = np.asarray(np.isfinite(trajectories.positions).all(axis=2))
    links = [marker.segment for marker in trajectories.markers]
    seen = _count(visible, links, ("pelvis",)) >= FEWEST_PELVIS_MARKERS
    for side in SIDES:
        seen &= _count(visible, links, [f"{side}_{part}" for part in LEG_SEGMENTS]) >= FEWEST_LEG_MARKERS
    return np.asarray(seen)


def cut_to_seen(trial: Trial, trajectories: MarkerTrajectories) -> tuple[Trial, float]:
    """Cut off the frames before the person is in view and after it has left; also return the time of the first (s)."""
    seen = np.flatnonzero(seen_frames(trajectories))
    if not len(seen):
        raise TrialError(
            f"{trial.path}: no frame shows {FEWEST_PELVIS_MARKERS} markers on the pelvis and {FEWEST_LEG_MARKERS} on "
            "each leg at the same time",
            path=trial.path,
        )
    first, last = int(seen[0]), int(seen[-1])
    if first == 0 and last == len(trial.time) - 1:
        return trial, 0.0
    begin, end = float(trial.time[first]), float(trial.time[last])
    note = (
        f"Pelvis and legs are in view from {begin:.2f} to {end:.2f} s only; the other frames are left out, and times "
        f"count from {begin:.2f} s on."
    )
    cut = trial.cut(begin, end)
    return cut.replace(notes=(*trial.notes, note)), begin


class SeenCoordinates(NamedTuple):
    """Frames in which markers determine each velocity coordinate: the pelvis, then the joints (n x nv).

    Attributes:
        determined: the markers of that frame determine it.
        seen: its value is known: like `determined`, with short gaps between two views, but without short views.
    """

    determined: Mask
    seen: Mask


def seen_coordinates(points: BodyPoints, postures: Array, visible: Mask, rate: float) -> SeenCoordinates:
    """Find the frames in which the visible markers determine each velocity coordinate.

    With the Jacobians J_i of the visible markers, in a typical posture, and a standard deviation d of a marker, the
    covariance of the coordinates is

        P = (Σ_i J_iᵀ J_i / d² + Σ_j e_j e_jᵀ / s²)⁻¹

    with s the uncertainty of a joint j without markers. A coordinate is determined if its standard deviation is small,
    that of a joint also where the pelvis is not. All six coordinates of the pelvis are determined together. Gaps up to
    `LONGEST_BRIDGED_GAP` between two views count as seen, and views shorter than `SHORTEST_VIEW` do not.

    Args:
        points: the markers on the body (M).
        postures: typical configurations (K x nq).
        visible: mask of the visible markers (n x M).
        rate: of the frames (Hz).
    """
    nv = points.model.nv
    chosen = postures[np.unique(np.linspace(0, len(postures) - 1, UNCERTAINTY_POSTURES).round().astype(int))]
    information = [_marker_information(points, q) for q in chosen]
    patterns, pattern_of_frame = np.unique(visible, axis=0, return_inverse=True)
    worn = _uncertainty(information, np.ones(visible.shape[1], dtype=bool), nv)
    limit = np.where(worn < MEASURED_ANGLE, np.maximum(SEEN_ANGLE, SEEN_RATIO * worn), 0.0)
    limit[:6] = SEEN_PELVIS
    by_pattern = np.array([_uncertainty(information, pattern, nv) <= limit for pattern in patterns])
    by_pattern[:, :6] = by_pattern[:, :6].all(axis=1, keepdims=True)
    determined = by_pattern[np.ravel(pattern_of_frame)]
    columns, column_of = np.unique(determined, axis=1, return_inverse=True)
    cleaned = np.stack([_bridge_short_gaps(column, rate) for column in columns.T], axis=1)
    return SeenCoordinates(determined, cleaned[:, np.ravel(column_of)])


def _marker_information(points: BodyPoints, q: Array) -> Array:
    """Return ``J_iᵀ J_i / d²`` of each marker in a posture (M x nv x nv)."""
    _, jacobians = points.positions_and_jacobians(q)
    return np.asarray(np.einsum("mik,mil->mkl", jacobians, jacobians) / MARKER_ERROR**2)


def _uncertainty(information: Sequence[Array], visible: Mask, nv: int) -> Array:
    """Return the standard deviation of each coordinate with the visible markers (nv), median over the postures."""
    prior = np.diag(np.concatenate([np.full(6, 1e-4), np.full(nv - 6, 1.0 / PRIOR_ANGLE**2)]))
    variances = [np.diag(np.linalg.inv(each[visible].sum(axis=0) + prior)) for each in information]
    return np.asarray(np.sqrt(np.median(variances, axis=0)))


def _bridge_short_gaps(seen: Mask, rate: float) -> Mask:
    """Close short gaps between two views, then remove short views; a view of the whole trial always stays."""
    cleaned = seen.copy()
    for begin, end in true_intervals(~seen):
        if begin > 0 and end < len(seen) and end - begin <= LONGEST_BRIDGED_GAP * rate + 1e-6:
            cleaned[begin:end] = True
    for begin, end in true_intervals(cleaned):
        if end - begin < min(SHORTEST_VIEW * rate, len(seen)):
            cleaned[begin:end] = False
    return cleaned


def _count(visible: Mask, links: Sequence[str], wanted: Sequence[str]) -> Array:
    return np.asarray(visible[:, [link in wanted for link in links]].sum(axis=1))


# -- What is known of a partly seen body -------------------------------------------------------------------------------


#: Displacement of the centre of mass by one radian of a joint (m) from which it is unknown without that joint: a
#: shoulder has 0.012, a head 0.007, an ankle 0.002.
CENTER_OF_MASS_INFLUENCE = 0.01
#: Parts of the body with the joints that place them, without side.
BODY_PARTS = {
    "leg": ("hip_flexion", "hip_adduction", "knee_flexion"), "foot": ("ankle_dorsiflexion",),
    "trunk": ("lumbar_extension", "lumbar_bending"), "head": ("neck_extension", "neck_bending"),
    "arm": ("shoulder_flexion", "shoulder_adduction", "elbow_flexion"),
}  # fmt: skip


def influential_joints(robot: Robot, q: Array) -> Mask:
    """Return the velocity coordinates without which the centre of mass of the body is unknown (nv).

    Args:
        robot: the human model.
        q: n x nq, of which the posture in the middle counts.
    """
    data = robot.model.createData()
    jacobian = pinocchio.jacobianCenterOfMass(robot.model, data, q[len(q) // 2])
    return np.asarray(np.linalg.norm(jacobian, axis=0) >= CENTER_OF_MASS_INFLUENCE)


def leg_seen(robot: Robot, seen: Mask, side: Side) -> Mask:
    """Return the frames in which pelvis, hip, knee and ankle of a leg are known (n), of a mask of coordinates (n x nv).

    Toes and inversion often have no markers, and the place of the foot depends little on them.
    """
    columns = [robot.joint(f"{side}_{name}").v for name in (*BODY_PARTS["leg"], *BODY_PARTS["foot"])]
    return np.asarray(seen[:, [*range(6), *columns]].all(axis=1))


def efforts_seen(robot: Robot, q: Array, seen: Mask) -> Mask:
    """Return where the motion determines the effort at each velocity coordinate (n x nv).

    The effort at a joint depends on the motion of the pelvis, of the joints between pelvis and joint, of the joint
    itself, and of all joints beyond it; joints with little influence on the centre of mass may be unknown. Those at the
    pelvis depend on the whole body.
    """
    model, influential = robot.model, influential_joints(robot, q)
    known = np.empty_like(seen)
    known[:, :6] = seen[:, influential].all(axis=1, keepdims=True)
    for joint in robot.joints:
        needed = np.zeros(model.nv, dtype=bool)
        for other in (*model.supports[joint.index], *model.subtrees[joint.index]):
            if other > 0:
                needed[model.idx_vs[other] : model.idx_vs[other] + model.nvs[other]] = True
        needed &= influential
        needed[joint.v] = True
        known[:, joint.v] = seen[:, needed].all(axis=1)
    return known


def gap_notes(robot: Robot, time: Array, seen: Mask) -> list[str]:
    """Return notes on the parts of the body that are never seen, or not always (n s, n x nv)."""
    parts = {"pelvis": list(range(6))}
    for part, joints in BODY_PARTS.items():
        sides = ("",) if part in ("trunk", "head") else tuple(f"{side} " for side in SIDES)
        parts |= {
            f"{side}{part}": [robot.joint(f"{side.strip()}_{name}".lstrip("_")).v for name in joints] for side in sides
        }
    partly = {name: seen[:, columns].all(axis=1) for name, columns in parts.items()}
    never = [name for name, mask in partly.items() if not mask.any()]
    notes = []
    if never:
        notes.append(f"not measured by these markers: {', '.join(never)}; angles and moments there are absent")
    single = [
        joint.name
        for joint in robot.joints
        if not seen[:, joint.v].any() and not any(joint.v in parts[name] for name in never)
    ]
    if single:
        notes.append(f"not determined by these markers, and absent: {', '.join(single)}")
    for name, mask in partly.items():
        if name not in never and not mask.all():
            spans = [f"{time[begin]:.2f} to {time[end - 1]:.2f} s" for begin, end in true_intervals(~mask)]
            more = f" and {len(spans) - 4} more times" if len(spans) > 4 else ""
            notes.append(f"{name} not in view, values are absent: {', '.join(spans[:4])}{more}")
    return notes
