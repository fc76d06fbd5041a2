"""What ``poise human torques`` and ``poise human compare`` say."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from poise.recording import load_recording

if TYPE_CHECKING:
    from poise.analysis.same_task import RecordingComparison
    from poise.human import Fit
    from poise.human.people import Job
    from poise.human.torques import Torques

#: What of an agreement stands in JSON.
NUMBERS = ("samples", "correlation", "error", "peak", "reference_peak", "peak_ratio", "range_ratio")


def torques_run(
    job: Job, fit: Fit, out: Path | None, report: Path | None, against: Path | None
) -> tuple[dict[str, Any], str]:
    """Torques of one trial, as plain values and as a text; files as asked for."""
    from poise.human.torques import compare_walks, inverse_dynamics, recorded

    other = None if against is None else load_recording(against)
    torques = inverse_dynamics(fit)
    facts = torques_facts(job, torques)
    lines = [torques_text(facts)]
    if other is not None:
        found = compare_walks(torques, other)
        facts["comparison"] = comparison_facts(found)
        lines.append(comparison_text(facts["comparison"]))
    if out is not None:
        recorded(torques).save(out)
        lines.append(str(out))
    if report is not None:
        from poise.report.human import save_torques_page

        name = "" if against is None else against.stem
        save_torques_page(report, torques, {} if other is None else {name: other})
        lines.append(str(report))
    return facts, "\n".join(lines)


def torques_facts(job: Job, torques: Torques) -> dict[str, Any]:
    """Plain values: moments per kg, what the file stores beside, and the residual at the pelvis."""
    from poise.human.torques import against_stored, moments

    curves = moments(torques)
    peaks = {}
    for name, values in curves.items():
        known = values[np.isfinite(values)]
        if len(known):
            peaks[name] = {"largest": float(known.max()), "smallest": float(known.min()), "samples": len(known)}
    stored = [
        {"side": row.side, "moment": row.title, **{name: getattr(row.agreement, name) for name in NUMBERS}}
        for row in against_stored(torques)
    ]
    force, moment = np.split(torques.residual_rms, 2)
    return {
        "trial": job.name,
        "mass_kg": torques.mass,
        "frames": len(torques.time),
        "frames_known": int(torques.ground.known.sum()),
        "moments_per_kg": peaks,
        "stored": stored,
        "residual_rms": {"force_n": force.tolist(), "moment_n_m": moment.tolist(), "about": "origin of the pelvis"},
        "notes": list(torques.notes),
    }


def torques_text(facts: dict[str, Any]) -> str:
    """The same to read."""
    lines = [f"{facts['trial']}: {facts['mass_kg']:.1f} kg, all ground contact measured in {facts['frames_known']} of "
             f"{facts['frames']} frames"]  # fmt: skip
    lines.append(f"{'moment (N m/kg)':<36} {'largest':>8} {'smallest':>9}")
    for name, row in facts["moments_per_kg"].items():
        lines.append(f"{name:<36} {row['largest']:>8.2f} {row['smallest']:>9.2f}")
    if facts["stored"]:
        lines.append("")
        lines.append(f"{'against the file':<36} {'r':>6} {'rmse':>6} {'peak':>6} {'stored':>7} {'ratio':>6}")
        for row in facts["stored"]:
            numbers = (
                f"{row['correlation']:>6.3f} {row['error']:>6.2f} {row['peak']:>6.2f} {row['reference_peak']:>7.2f}"
            )
            lines.append(f"{row['side'] + ' ' + row['moment']:<36} {numbers} {row['peak_ratio']:>6.2f}")
    force, moment = facts["residual_rms"]["force_n"], facts["residual_rms"]["moment_n_m"]
    words = ", ".join(f"{value:.0f}" for value in force), ", ".join(f"{value:.0f}" for value in moment)
    lines.append(f"residual at the pelvis, rms in world axes: {words[0]} N, {words[1]} N m")
    return "\n".join([*lines, *(f"  {note}" for note in facts["notes"])])


def comparison_facts(found: Any) -> dict[str, Any]:
    """A robot's walk against a person's, as plain values."""
    rows = {
        row.rotation: {
            **{name: getattr(row.torque, name) for name in NUMBERS},
            "angle_correlation": row.angle.correlation,
            "effort_share": list(row.effort),
            "jerk": [each.jerk for each in row.smoothness],
        }
        for row in found.rows
    }
    return {
        "names": list(found.names),
        "rows": rows,
        "effort_overlap": found.overlap,
        "effort_order": found.order,
        "jerk": list(found.jerk),
        "back_n_m_per_kg": list(found.back),
        "neck_n_m_per_kg": list(found.neck),
    }


def comparison_text(facts: dict[str, Any]) -> str:
    """The same to read."""
    one, two = facts["names"]
    lines = ["", f"{one} against {two}, over the gait cycle, per kg"]
    lines.append(f"{'rotation':<24} {'r':>6} {'rmse':>6} {'peak ratio':>10} {'effort':>13} {'jerk':>13}")
    for name, row in facts["rows"].items():
        effort = f"{100 * row['effort_share'][0]:.0f} / {100 * row['effort_share'][1]:.0f} %"
        jerk = f"{row['jerk'][0]:.1f} / {row['jerk'][1]:.1f}"
        numbers = f"{row['correlation']:>6.2f} {row['error']:>6.2f} {row['peak_ratio']:>10.2f}"
        lines.append(f"{name:<24} {numbers} {effort:>13} {jerk:>13}")
    lines.append(f"efforts overlap by {100 * facts['effort_overlap']:.0f} %; jerk {facts['jerk'][0]:.1f} and "
                 f"{facts['jerk'][1]:.1f}, nearer to zero is smoother")  # fmt: skip
    return "\n".join(lines)


def same_task_facts(found: RecordingComparison, names: tuple[str, str]) -> dict[str, Any]:
    """Two recordings of one task, as plain values ([Saab2012] sections 4.1 and 4.2)."""
    return {
        "names": list(names),
        "posture_distance_rad": found.distances(),
        "endings": [ending._asdict() for ending in found.endings],
        "torques": [
            {name: each._asdict() for name, each in zip([limb.limb for limb in limbs], limbs, strict=True)}
            for limbs in found.torques
        ],
    }


def same_task_text(facts: dict[str, Any]) -> str:
    """The same to read."""
    one, two = facts["names"]
    lines = [f"{'at the end of':<24} {'what':<26} {one[:12]:>12} {two[:12]:>12} {'difference':>11}"]
    for row in facts["endings"]:
        numbers = f"{row['one']:>12.3f} {row['two']:>12.3f} {row['one'] - row['two']:>+11.3f}"
        lines.append(f"{row['phase']:<24} {row['what']:<26} {numbers} {row['unit']}")
    apart = ", ".join(f"{name}: {value:.3f}" for name, value in facts["posture_distance_rad"].items())
    return "\n".join([*lines, f"postures apart, rms (rad): {apart}"])
