"""Joint moments in the conventions of gait laboratories, compared with stored moments and with torques of robots.

What is printed is the internal moment, that of muscles and ligaments: extensors, abductors, external rotators and
plantarflexors are positive, which is minus the torque of the body's joints (flexion, adduction, internal rotation and
dorsiflexion are positive there). That Plug-in Gait has these signs at hip, knee and ankle was found on its own files,
where shapes agree with these signs and with no others. It stores N mm per kg, though the files say "Nmm".

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
from poise.recording import Recording, robot_from_provenance
from poise.robots import SIDES, Robot, Side

if TYPE_CHECKING:
    from poise.human.torques.joint_torques import Torques

#: N m per kg in what Plug-in Gait stores.
PLUG_IN_GAIT_UNIT = 1e-3
#: Least part of the time on plates for which the file must have moments: at its edges some have a swing that ends late.
MIN_COVERAGE = 0.5


class MomentConvention(NamedTuple):
    """How a torque is printed.

    Attributes:
        joint: of the human of the library, without its side.
        title: what is positive.
        sign: from the torque of the joint to the printed moment.
        plug_in_gait_channel, component: channel without its side, "" if none is stored, and which of its three numbers.
    """

    joint: str
    title: str
    sign: float
    plug_in_gait_channel: str = ""
    component: int = 0


#: Of each leg. Inversion is not compared: two markers on a foot do not show it.
LEG_MOMENTS = (
    MomentConvention("hip_flexion", "hip extensor", -1.0, "HipMoment", 0),
    MomentConvention("hip_adduction", "hip abductor", -1.0, "HipMoment", 1),
    MomentConvention("hip_rotation", "hip external rotator", -1.0, "HipMoment", 2),
    MomentConvention("knee_flexion", "knee extensor", -1.0, "KneeMoment", 0),
    MomentConvention("ankle_dorsiflexion", "ankle plantarflexor", -1.0, "AnkleMoment", 0),
    MomentConvention("ankle_inversion", "ankle evertor", -1.0),
)
#: Of the back.
BACK_MOMENTS = (
    MomentConvention("lumbar_extension", "lumbar extensor", 1.0),
    MomentConvention("lumbar_bending", "lumbar bender to the right", 1.0),
    MomentConvention("lumbar_rotation", "lumbar rotator to the left", 1.0),
)


def internal_joint_moments(torques: Torques, include_unknown: bool = False) -> dict[str, Array]:
    """Printed moments by title, n, N m per kg; NaN where not known, unless asked for `include_unknown`.

    Titles are those of the conventions, after the side: ``"left hip extensor"``, ``"lumbar extensor"``.
    """
    found = {}
    for side in SIDES:
        for convention in LEG_MOMENTS:
            found[f"{side} {convention.title}"] = _moment(
                torques, f"{side}_{convention.joint}", convention, include_unknown
            )
    for convention in BACK_MOMENTS:
        found[convention.title] = _moment(torques, convention.joint, convention, include_unknown)
    return found


class MomentAgreement(NamedTuple):
    """One moment against the same as the file has it, N m per kg."""

    side: Side
    title: str
    agreement: Agreement


def compare_stored_moments(torques: Torques) -> tuple[MomentAgreement, ...]:
    """Moments against those that the laboratory's software stored in the file, for legs that it has.

    Compared are the frames in which a plate bears the foot, also one that bears only some of it: the software was given
    the same forces. Where it stores zeros it had none. In the air both are small, and some files hold what became of a
    plate that was given to the wrong foot.
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
            there = np.isfinite(stored).all(axis=1) & (stored != 0.0).any(axis=1) & torques.foot_wrenches.loaded[side]
            if there.sum() < MIN_COVERAGE * max(torques.foot_wrenches.loaded[side].sum(), 1):
                continue
            ours = _moment(torques, f"{side}_{convention.joint}", convention, include_unknown=True)
            theirs = PLUG_IN_GAIT_UNIT * stored[:, convention.component]
            rows.append(MomentAgreement(side, convention.title, agreement(ours[there], theirs[there])))
    return tuple(rows)


def _moment(torques: Torques, joint: str, convention: MomentConvention, include_unknown: bool) -> Array:
    return np.asarray(convention.sign * torques.joint_torque(joint, include_unknown) / torques.mass)


# -- Comparison with robots --------------------------------------------------------------------------------------------


def human_anatomical_walk(torques: Torques, name: str = "human") -> AnatomicalWalk:
    """The walk of a person, with gait cycles from the frames at which feet come to stand and leave the ground.

    Torques that are not known, because a foot is beside the plates, are NaN: one stride with a foot whole on a plate is
    enough for a leg, and both legs tell of the same walk.
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
    """A robot's walk against a person's, over the gait cycle, joint by joint.

    Args:
        torques: of the person.
        recording: of the robot, with torques.
        robot: whose recording it is; by default that which it names.
        cutoff: of a low-pass filter on the robot's torques (Hz). The person's motion was filtered, at 6 Hz as a rule: a
            part of the person's smoothness is the filter's. With the same cut-off here that part is in both.

    >>> found = compare_walks(compute_torques(fit(walk, static)), poise.load_recording("g1_walk.poise"))
    >>> {row.degree_of_freedom: round(row.torque.correlation, 2) for row in found.rows}["ankle dorsiflexion"]
    """
    owner = robot or recording.robot or robot_from_provenance(recording.provenance)
    if isinstance(owner, str):
        raise RecordingError(f"whose recording it is cannot be told: {owner}; give its robot")
    return compare_strides(anatomical_walk(recording, owner, cutoff=cutoff), human_anatomical_walk(torques))


# -- Summary of the torques of a trial as plain values, and as text --------------------------------------------------


def torques_summary(torques: Torques) -> dict[str, Any]:
    """Plain values for JSON; see `Torques.summary`."""
    force, moment = np.split(torques.residual_rms, 2)
    return json_ready(
        {
            "trial": Path(torques.trial.path).name,
            "mass_kg": torques.mass,
            "frames": len(torques.time),
            "frames_known": int(torques.foot_wrenches.known.sum()),
            "moments_per_kg": _peaks(torques),
            "stored": [
                {"side": row.side, "moment": row.title, **row.agreement.summary()}
                for row in compare_stored_moments(torques)
            ],
            "residual_rms": {"force_n": force.tolist(), "moment_n_m": moment.tolist(), "about": "origin of the pelvis"},
            "notes": list(torques.notes),
        }
    )


def torques_text(torques: Torques) -> str:
    """The same to read; see `Torques.text`."""
    lines = [
        f"{Path(torques.trial.path).name}: {torques.mass:.1f} kg, all ground contact measured in "
        f"{torques.foot_wrenches.known.sum()} of {len(torques.time)} frames",
        f"{'moment (N m/kg)':<36} {'largest':>8} {'smallest':>9}",
    ]
    for name, peak in _peaks(torques).items():
        lines.append(f"{name:<36} {peak['largest']:>8.2f} {peak['smallest']:>9.2f}")
    rows = compare_stored_moments(torques)
    if rows:
        lines.append("")
        lines.append(f"{'against the file':<36} {'r':>6} {'rmse':>6} {'peak':>6} {'stored':>7} {'ratio':>6}")
    for row in rows:
        agreed = row.agreement
        numbers = f"{agreed.correlation:>6.3f} {agreed.error:>6.2f} {agreed.peak:>6.2f} {agreed.reference_peak:>7.2f}"
        lines.append(f"{row.side + ' ' + row.title:<36} {numbers} {agreed.peak_ratio:>6.2f}")
    force, moment = (", ".join(f"{value:.0f}" for value in part) for part in np.split(torques.residual_rms, 2))
    lines.append(f"residual at the pelvis, rms in world axes: {force} N, {moment} N m")
    return "\n".join([*lines, *(f"  {note}" for note in torques.notes)])


def _peaks(torques: Torques) -> dict[str, dict[str, Any]]:
    """Largest and smallest of each moment that is known anywhere, N m per kg, and the number of its samples."""
    found = {}
    for name, values in internal_joint_moments(torques).items():
        known = values[np.isfinite(values)]
        if len(known):
            found[name] = {"largest": float(known.max()), "smallest": float(known.min()), "samples": len(known)}
    return found
