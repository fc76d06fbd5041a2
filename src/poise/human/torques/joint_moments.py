"""Joint moments in the conventions of gait laboratories, compared with stored moments and with torques of robots.

Moments are internal moments, those of muscles and ligaments. In the legs extensor, abductor, external rotator,
plantarflexor and evertor moments are positive, which is the opposite sign of the joint torques of the model: these are
positive in flexion, adduction, internal rotation, dorsiflexion and inversion. Moments of the back have the sign of the
model: extension, bending to the right, rotation to the left. Plug-in Gait uses the same signs at hip, knee and ankle,
as verified on its files, whose curves agree with these signs only. It stores N mm per kg, although the files say "Nmm".

>>> internal_joint_moments(torques)["left knee extensor"].max()
0.58
>>> [(row.title, round(row.agreement.correlation, 2)) for row in compare_stored_moments(torques)]
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from poise.analysis import (
    Agreement,
    AnatomicalWalk,
    StrideComparison,
    agreement,
    anatomical_joints,
    anatomical_leg_length,
    anatomical_walk,
    compare_strides,
    cycles_from_stance,
)
from poise.arrays import Array
from poise.errors import RecordingError
from poise.files import json_ready
from poise.human.fitting.fit_summary import quality_lines
from poise.recording import Recording, robot_from_provenance
from poise.robots import GRAVITY, SIDES, Robot, Side

if TYPE_CHECKING:
    from poise.human.torques.joint_torques import Torques

#: N m per kg in one unit of the moments that Plug-in Gait stores.
PLUG_IN_GAIT_UNIT = 1e-3
#: Smallest share of the time on plates with stored moments: at the ends of a trial some files have only a late swing.
MIN_COVERAGE = 0.5


class MomentConvention(NamedTuple):
    """Sign convention and stored channel of a joint moment.

    Attributes:
        joint: joint of the human model, without its side.
        title: name of the positive moment.
        sign: factor from the joint torque to the moment.
        plug_in_gait_channel: name of the stored channel without its side; "" if none is stored.
        component: index of the moment in that channel, 0 to 2.
    """

    joint: str
    title: str
    sign: float
    plug_in_gait_channel: str = ""
    component: int = 0


#: Moments of each leg. Inversion is not compared: two markers on a foot do not determine it.
LEG_MOMENTS = (
    MomentConvention("hip_flexion", "hip extensor", -1.0, "HipMoment", 0),
    MomentConvention("hip_adduction", "hip abductor", -1.0, "HipMoment", 1),
    MomentConvention("hip_rotation", "hip external rotator", -1.0, "HipMoment", 2),
    MomentConvention("knee_flexion", "knee extensor", -1.0, "KneeMoment", 0),
    MomentConvention("ankle_dorsiflexion", "ankle plantarflexor", -1.0, "AnkleMoment", 0),
    MomentConvention("ankle_inversion", "ankle evertor", -1.0),
)
#: Moments of the back.
BACK_MOMENTS = (
    MomentConvention("lumbar_extension", "lumbar extensor", 1.0),
    MomentConvention("lumbar_bending", "lumbar bender to the right", 1.0),
    MomentConvention("lumbar_rotation", "lumbar rotator to the left", 1.0),
)


def internal_joint_moments(torques: Torques, include_unknown: bool = False) -> dict[str, Array]:
    """Return internal joint moments by title, n, N m per kg of body mass; NaN where `Torques.valid` is false.

    With `include_unknown` all values are returned, also those of a foot that is only partly on a plate.
    Titles are those of the conventions after the side: ``"left hip extensor"``, ``"lumbar extensor"``.
    """
    moments = {}
    for side in SIDES:
        for convention in LEG_MOMENTS:
            moments[f"{side} {convention.title}"] = _moment(
                torques, f"{side}_{convention.joint}", convention, include_unknown
            )
    for convention in BACK_MOMENTS:
        moments[convention.title] = _moment(torques, convention.joint, convention, include_unknown)
    return moments


class MomentAgreement(NamedTuple):
    """Agreement of one computed moment with the moment stored in the file, N m per kg."""

    side: Side
    title: str
    agreement: Agreement


def compare_stored_moments(torques: Torques) -> tuple[MomentAgreement, ...]:
    """Compare the moments with those that the laboratory's software stored in the file, for legs that have any.

    Only frames with the foot on a plate are compared, including feet that are only partly on a plate, because the
    software used the same forces. Frames with stored zeros are excluded. Swing is excluded because both moments are
    small there, and because some files have moments from a plate that was assigned to the wrong foot.
    """
    rows = []
    for side in SIDES:
        for convention in LEG_MOMENTS:
            stored = (
                torques.trial.moments.get(f"{side[0].upper()}{convention.plug_in_gait_channel}")
                if convention.plug_in_gait_channel
                else None
            )
            if stored is None:
                continue
            compared_frames = (
                np.isfinite(stored).all(axis=1) & (stored != 0.0).any(axis=1) & torques.foot_wrenches.loaded[side]
            )
            if compared_frames.sum() < MIN_COVERAGE * max(torques.foot_wrenches.loaded[side].sum(), 1):
                continue
            computed_moment = _moment(torques, f"{side}_{convention.joint}", convention, include_unknown=True)
            stored_moment = PLUG_IN_GAIT_UNIT * stored[:, convention.component]
            rows.append(
                MomentAgreement(
                    side, convention.title, agreement(computed_moment[compared_frames], stored_moment[compared_frames])
                )
            )
    return tuple(rows)


def _moment(torques: Torques, joint: str, convention: MomentConvention, include_unknown: bool) -> Array:
    return np.asarray(convention.sign * torques.joint_torque(joint, include_unknown) / torques.mass)


# -- Comparison with robots --------------------------------------------------------------------------------------------


def human_anatomical_walk(torques: Torques, name: str = "human") -> AnatomicalWalk:
    """Return the walk of a person under anatomical names, with gait cycles from the stance of the feet.

    Torques are NaN where unknown because a foot is beside the plates. One stride with the foot fully on a plate is
    enough for a leg, and cycles of both legs are averaged.
    """
    cycles = [c for side in SIDES for c in cycles_from_stance(torques.time, torques.foot_wrenches.stance[side], side)]
    angle, torque = {}, {}
    for joint in anatomical_joints(torques.robot):
        angle[joint.side, joint.degree_of_freedom] = joint.sign * torques.q[:, joint.joint.q]
        torque[joint.side, joint.degree_of_freedom] = joint.sign * torques.joint_torque(joint.joint.name)
    return AnatomicalWalk(
        name, torques.mass, anatomical_leg_length(torques.robot), torques.time, tuple(cycles), angle, torque
    )


def compare_walks(
    torques: Torques, recording: Recording, robot: Robot | None = None, cutoff: float | None = None
) -> StrideComparison:
    """Compare the walk of a robot with that of a person over the gait cycle, joint by joint.

    Args:
        torques: of the person.
        recording: of the robot, with torques.
        robot: robot of the recording; by default the one named in it.
        cutoff: cut-off of a low-pass filter on the torques of the robot (Hz). The motion of the person was filtered,
            usually at 6 Hz, which makes its torques smoother; the same cut-off here makes the comparison fair.

    >>> found = compare_walks(compute_torques(fit(walk, static)), poise.load_recording("g1_walk.poise"))
    >>> {row.degree_of_freedom: round(row.torque.correlation, 2) for row in found.rows}["ankle dorsiflexion"]
    """
    recorded_robot = robot or recording.robot or robot_from_provenance(recording.provenance)
    if isinstance(recorded_robot, str):
        raise RecordingError(f"robot of the recording is unknown: {recorded_robot}; pass the robot")
    return compare_strides(anatomical_walk(recording, recorded_robot, cutoff=cutoff), human_anatomical_walk(torques))


# -- Summary of the torques of a trial as plain values, and as text --------------------------------------------------


def torques_summary(torques: Torques) -> dict[str, Any]:
    """Return plain values for JSON; see `Torques.summary`."""
    force, moment = np.split(torques.residual_rms, 2)
    return json_ready(
        {
            "trial": Path(torques.trial.path).name,
            "mass_kg": torques.mass,
            "frames": len(torques.time),
            "forces_estimated": torques.foot_wrenches.estimated,
            "frames_known": int(torques.foot_wrenches.known.sum()),
            "moments_per_kg": _peaks(torques),
            "stored": [
                {"side": row.side, "moment": row.title, **row.agreement.summary()}
                for row in compare_stored_moments(torques)
            ],
            "residual_rms": {"force_n": force.tolist(), "moment_n_m": moment.tolist(), "about": "origin of the pelvis"},
            **torques.quality.summary(),
            "notes": list(torques.notes),
        }
    )


def torques_text(torques: Torques) -> str:
    """Return the summary as text; see `Torques.text`."""
    ground = torques.foot_wrenches
    lines = [
        f"{Path(torques.trial.path).name}: {torques.mass:.1f} kg, "
        + (
            "ground forces estimated, not measured"
            if ground.estimated
            else f"all ground contact measured in {ground.known.sum()} of {len(torques.time)} frames"
        ),
        *quality_lines(torques.quality),
        f"{'internal moment (N m/kg)':<38} {'largest':>8} {'smallest':>9}",
    ]
    swing_only = tuple(side for side in SIDES if not ground.measured_in_stance(side))
    for name, peak in _peaks(torques).items():
        title = f"{name}, swing only" if name.startswith(swing_only) else name
        lines.append(f"{title:<38} {peak['largest']:>8.2f} {peak['smallest']:>9.2f}")
    rows = compare_stored_moments(torques)
    if rows:
        lines.append("")
        lines.append(f"{'compared with the file':<38} {'r':>6} {'rmse':>6} {'peak':>6} {'stored':>7} {'ratio':>6}")
    for row in rows:
        result = row.agreement
        numbers = f"{result.correlation:>6.3f} {result.error:>6.2f} {result.peak:>6.2f} {result.reference_peak:>7.2f}"
        lines.append(f"{row.side + ' ' + row.title:<38} {numbers} {result.peak_ratio:>6.2f}")
    force, moment = (", ".join(f"{value:.0f}" for value in part) for part in np.split(torques.residual_rms, 2))
    share = ", ".join(f"{100 * value / (GRAVITY * torques.mass):.0f}" for value in torques.residual_rms[:3])
    if np.isfinite(torques.residual_rms).all():
        lines.append(
            f"residual at the pelvis, rms along x, y, z (up): {force} N ({share} % of the weight), {moment} N m"
        )
    else:
        lines.append(
            "residual at the pelvis: unknown, for it depends on the motion of the whole body and on all contact"
        )
    return "\n".join([*lines, *(f"  {note}" for note in torques.notes)])


def _peaks(torques: Torques) -> dict[str, dict[str, Any]]:
    """Return maximum, minimum (N m per kg) and number of known samples of each moment that is known anywhere."""
    peaks = {}
    for name, values in internal_joint_moments(torques).items():
        known = values[np.isfinite(values)]
        if len(known):
            peaks[name] = {"largest": float(known.max()), "smallest": float(known.min()), "samples": len(known)}
    return peaks
