"""Summary of a fit as plain values and as text, and comparison of its joint angles with those of other software.

The joint angles are zero in different postures (the pelvis is upright in OpenSim, aligned with its iliac spines in
Plug-in Gait and here), so the mean difference is reported separately, and the root mean square is that of the
difference without its mean.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from poise.arrays import Array
from poise.errors import PoiseError
from poise.files import json_ready
from poise.human.fitting.fit_quality import FitQuality
from poise.robots import SIDES

if TYPE_CHECKING:
    from poise.human.files.opensim_motion import OpenSimMotion
    from poise.human.fitting.body_fit import Fit

#: Number of markers listed in a text, those with the largest errors.
LISTED_MARKERS = 5
#: Joint angles with the channels of Plug-in Gait and their columns, and the coordinates of OpenSim models.
ANGLE_CHANNELS = {
    "hip_flexion": ("HipAngles", 0, ("hip_flexion",)),
    "hip_adduction": ("HipAngles", 1, ("hip_adduction",)),
    "hip_rotation": ("HipAngles", 2, ("hip_rotation",)),
    "knee_flexion": ("KneeAngles", 0, ("knee_angle", "knee_flexion")),
    "ankle_dorsiflexion": ("AnkleAngles", 0, ("ankle_angle", "ankle_dorsiflexion")),
}
#: Smallest number of samples for a comparison.
FEWEST_SAMPLES = 10


class AngleComparison(NamedTuple):
    """Comparison of a joint angle of the fit with another source, degrees.

    Attributes:
        joint: as in `Robot.joints`.
        offset: mean difference, fit minus other.
        rms: of the difference, without its mean.
        range, reference_range: ranges of motion of the fit and of the other source.
    """

    joint: str
    offset: float
    rms: float
    range: float
    reference_range: float


def compare_stored_angles(fit: Fit) -> list[AngleComparison]:
    """Compare the angles of a fit with those that its C3D file stores; empty if it stores none."""
    rows = []
    for side in SIDES:
        for joint, (channel, column, _) in ANGLE_CHANNELS.items():
            values = fit.trial.angles.get(f"{side[0].upper()}{channel}")
            if values is not None:
                known = np.where((values != 0.0).any(axis=1), values[:, column], np.nan)
                rows += _compare_angle(fit, f"{side}_{joint}", known)
    return rows


def compare_angles(fit: Fit, motion: OpenSimMotion) -> list[AngleComparison]:
    """Compare the angles of a fit with the coordinates of a .mot or .sto file of the same trial.

    Column names are those of OpenSim models (``hip_flexion_r``, ``knee_angle_r``, ...) or of Poise. A knee angle with
    the opposite sign is inverted. If the times of the file are not within the trial, its first row is taken as the
    first frame.
    """
    values = dict(zip(motion.names, motion.values_in_degrees.T, strict=True))
    rows = []
    for side in SIDES:
        for joint, (_, _, names) in ANGLE_CHANNELS.items():
            known = [f"{side}_{joint}", *(f"{name}_{side[0]}" for name in names)]
            column = next((values[name] for name in known if name in values), None)
            if column is None:
                continue
            reference_angle = np.interp(
                fit.time, motion.time - motion.time[0] + _start_time(fit, motion), column, np.nan, np.nan
            )
            fitted_angle = np.degrees(fit.angles()[f"{side}_{joint}"])
            valid = np.isfinite(reference_angle) & fit.seen(f"{side}_{joint}")
            if (
                joint == "knee_flexion"
                and valid.sum() > FEWEST_SAMPLES
                and np.corrcoef(fitted_angle[valid], reference_angle[valid])[0, 1] < 0.0
            ):
                reference_angle = -reference_angle
            rows += _compare_angle(fit, f"{side}_{joint}", reference_angle)
    if not rows:
        raise PoiseError(
            f"no hip, knee or ankle angle among the columns {', '.join(motion.names[:8])}, ...; expected OpenSim names"
        )
    return rows


def _start_time(fit: Fit, motion: OpenSimMotion) -> float:
    """Return the time of the first row of a motion in the fit (s).

    The times of a motion count if they are within the trial; else its first row is that of the first frame in the file.
    """
    begin, last = float(motion.time[0]), fit.start + float(fit.time[-1])
    return (begin if 0.0 < begin < last and motion.time[-1] <= last + 1.0 / fit.trial.rate else 0.0) - fit.start


def _compare_angle(fit: Fit, joint: str, reference: Array) -> list[AngleComparison]:
    valid = np.isfinite(reference) & fit.seen(joint)
    if valid.sum() < FEWEST_SAMPLES:
        return []
    fitted_angle, reference_angle = np.degrees(fit.angles()[joint])[valid], reference[valid]
    difference = fitted_angle - reference_angle
    return [
        AngleComparison(
            joint,
            float(difference.mean()),
            float(difference.std()),
            float(np.ptp(fitted_angle)),
            float(np.ptp(reference_angle)),
        )
    ]


# -- Summary of a fit as plain values, and as text -------------------------------------------------------------------


def fit_summary(fit: Fit, reference: OpenSimMotion | None = None) -> dict[str, Any]:
    """Return plain values for JSON; see `Fit.summary`."""
    size, label, time = fit.largest_error
    shape = fit.shape
    return json_ready(
        {
            "trial": fit.name,
            "static": _static_name(fit),
            "marker_set": fit.marker_set,
            "frames": len(fit.time),
            "seconds": float(fit.time[-1] - fit.time[0]),
            "rate_hz": fit.trial.rate,
            "height_m": shape.height,
            "mass_kg": shape.mass,
            "sex": shape.sex,
            "whole_body": fit.whole_body,
            "markers": len(fit.marker_placement.labels),
            "marker_rms_mm": 1e3 * fit.rms,
            "worst_marker_mm": 1e3 * size,
            "worst_marker": label,
            "worst_time_s": time,
            "by_marker_mm": {name: 1e3 * value for name, value in fit.rms_by_marker.items()},
            "iterations": float(np.mean(fit.tracking.iterations)),
            "shape": shape.parameters(),
            "range_of_motion_deg": {name: _range_of_motion(fit.angles()[name]) for name in fit.measured_joints},
            "stored_angles": [row._asdict() for row in compare_stored_angles(fit)],
            "reference_angles": [] if reference is None else [row._asdict() for row in compare_angles(fit, reference)],
            **fit.quality.summary(),
            "notes": list(fit.notes),
        }
    )


def fit_text(fit: Fit, reference: OpenSimMotion | None = None) -> str:
    """Return the summary as text; see `Fit.text`."""
    size, label, time = fit.largest_error
    shape, static = fit.shape, _static_name(fit)
    lines = [
        f"{fit.name}: {len(fit.time)} frames, {fit.time[-1] - fit.time[0]:.2f} s, "
        f"{len(fit.marker_placement.labels)} markers",
        f"  body: {shape.height:.2f} m, {shape.mass:.1f} kg, {shape.sex}"
        + (f", with {static}" if static else ", without a static trial"),
        *quality_lines(fit.quality),
        _both_legs("thigh, shank (m)", [*shape.thigh, *shape.shank], ".3f"),
        _both_legs(
            "tibial torsion, knee varus (degrees)",
            np.degrees([*shape.tibial_torsion, *shape.knee_varus]).tolist(),
            ".1f",
        ),
        f"  markers: {1e3 * fit.rms:.1f} mm rms, largest {1e3 * size:.0f} mm ({label} at {time:.2f} s)",
        "  largest errors: "
        + ", ".join(f"{k} {1e3 * v:.1f}" for k, v in list(fit.rms_by_marker.items())[:LISTED_MARKERS])
        + " mm rms",
        *(f"  {note}" for note in fit.notes),
        *_angle_lines("angles stored in the file", compare_stored_angles(fit)),
        *_angle_lines("angles of the reference", [] if reference is None else compare_angles(fit, reference)),
    ]
    return "\n".join(lines)


def quality_lines(quality: FitQuality) -> list[str]:
    """Return the verdict and a line for each check that did not pass."""
    return [f"  verdict: {quality.verdict}", *(f"    {check.level}: {check.message}" for check in quality.checks)]


def _static_name(fit: Fit) -> str | None:
    return Path(fit.static).name if fit.static else None


def _angle_lines(source: str, rows: Sequence[AngleComparison]) -> list[str]:
    if not rows:
        return []
    lines = [f"  compared with the {source} (degrees): mean difference, rms without it, range of motion fit / other"]
    for row in rows:
        numbers = f"{row.offset:+6.1f} {row.rms:5.1f} {row.range:6.0f} / {row.reference_range:.0f}"
        lines.append(f"    {row.joint:<28} {numbers}")
    return lines


def _range_of_motion(angle: Array) -> float:
    """Return the range of a joint angle (rad), in degrees, over the frames in which it is known."""
    return float(np.degrees(np.nanmax(angle) - np.nanmin(angle)))


def _both_legs(title: str, values: Sequence[float], number_format: str) -> str:
    a, b, c, d = (format(value, number_format) for value in values)
    return f"  {title}: left {a}, {c}; right {b}, {d}"
