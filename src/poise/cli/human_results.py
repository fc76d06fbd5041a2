"""Results of `poise human`: fits, gait studies, torques and comparisons as values, text and files."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from poise.files import atomic_write, atomic_write_text
from poise.recording import Bar, load_recording

if TYPE_CHECKING:
    from poise.analysis import RecordingComparison
    from poise.human import Failure, Fit, Job, Measures, Motion, Simulated, Study, Torques

#: Markers that are named one by one in a summary: those that fit worst.
NAMED = 5
#: What a table of many trials tells, in this order.
COLUMNS = (
    "trial", "static", "marker_set", "frames", "seconds", "height_m", "mass_kg", "sex", "markers", "marker_rms_mm",
    "worst_marker_mm", "worst_marker", "reason",
)  # fmt: skip


class Kept(NamedTuple):
    """A walk that was reproduced: what is written about it in the end."""

    job: Job
    fit: Fit
    measures: list[Measures]
    simulated: Simulated | None


def fit_facts(job: Job, fit: Fit, motion: Motion | None = None) -> dict[str, Any]:
    """One fit in plain values, beside angles that the file or another one stores."""
    from poise.human import beside_motion, beside_stored

    size, label, time = fit.worst
    shape = fit.shape
    return {
        "trial": job.name,
        "static": job.static.name if job.static else None,
        "marker_set": fit.marker_set,
        "frames": len(fit.time),
        "seconds": float(fit.time[-1] - fit.time[0]),
        "rate_hz": fit.trial.rate,
        "height_m": shape.height,
        "mass_kg": shape.mass,
        "sex": shape.sex,
        "markers": len(fit.placed.labels),
        "marker_rms_mm": 1e3 * fit.rms,
        "worst_marker_mm": 1e3 * size,
        "worst_marker": label,
        "worst_time_s": time,
        "by_marker_mm": {name: 1e3 * value for name, value in fit.by_marker.items()},
        "iterations": float(np.mean(fit.tracked.iterations)),
        "shape": shape.numbers(),
        "range_of_motion_deg": {name: float(np.degrees(np.ptp(angle))) for name, angle in fit.angles().items()},
        "stored_angles": [row._asdict() for row in beside_stored(fit)],
        "reference_angles": [] if motion is None else [row._asdict() for row in beside_motion(fit, motion)],
        "notes": list(fit.notes),
    }


def failure_facts(job: Job, failure: Failure) -> dict[str, Any]:
    """A row about what failed."""
    return {"trial": job.name, "static": job.static.name if job.static else None, "reason": failure.reason}


def fit_text(job: Job, fit: Fit, motion: Motion | None = None) -> str:
    """The same to read."""
    facts = fit_facts(job, fit, motion)
    shape = fit.shape
    lines = [
        f"{job.name}: {facts['frames']} frames, {facts['seconds']:.2f} s, {facts['markers']} markers",
        f"  body: {shape.height:.2f} m, {shape.mass:.1f} kg, {shape.sex}"
        + (f", with {job.static.name}" if job.static else ", from the walk alone"),
        _pairs("thigh, shank (m)", [*shape.thigh, *shape.shank], ".3f"),
        _pairs("torsion, varus (degrees)", np.degrees([*shape.torsion, *shape.varus]).tolist(), ".1f"),
        f"  markers: {facts['marker_rms_mm']:.1f} mm rms, at worst {facts['worst_marker_mm']:.0f} mm "
        f"({facts['worst_marker']} at {facts['worst_time_s']:.2f} s)",
        "  farthest: " + ", ".join(f"{k} {1e3 * v:.1f}" for k, v in list(fit.by_marker.items())[:NAMED]) + " mm rms",
        *(f"  {note}" for note in facts["notes"]),
        *_beside("angles stored in the file", facts["stored_angles"]),
        *_beside("angles of the reference", facts["reference_angles"]),
    ]
    return "\n".join(lines)


def _beside(what: str, rows: Sequence[Mapping[str, Any]]) -> list[str]:
    if not rows:
        return []
    lines = [f"  against the {what} (degrees): mean difference, rms without it, range of motion ours / theirs"]
    for row in rows:
        numbers = f"{row['offset']:+6.1f} {row['rms']:5.1f} {row['range']:6.0f} / {row['reference_range']:.0f}"
        lines.append(f"    {row['joint']:<28} {numbers}")
    return lines


def _pairs(what: str, values: Sequence[float], form: str) -> str:
    a, b, c, d = (format(value, form) for value in values)
    return f"  {what}: left {a}, {c}; right {b}, {d}"


def rows_text(rows: Sequence[Mapping[str, Any]]) -> str:
    """A table of many fits, one trial a line, with the reasons of those that failed."""
    lines = [f"{'trial':<40} {'frames':>6} {'height':>7} {'mass':>7} {'rms mm':>7}  worst"]
    for row in rows:
        if "reason" in row:
            lines.append(f"{row['trial'][:40]:<40} failed: {row['reason']}")
            continue
        numbers = f"{row['frames']:>6} {row['height_m']:>5.2f} m {row['mass_kg']:>4.0f} kg {row['marker_rms_mm']:>7.1f}"
        lines.append(f"{row['trial'][:40]:<40} {numbers}  {row['worst_marker']} {row['worst_marker_mm']:.0f} mm")
    failed = sum("reason" in row for row in rows)
    return "\n".join([*lines, f"{len(rows) - failed} of {len(rows)} trials fitted"])


def write_rows(path: Path, rows: Sequence[Mapping[str, Any]], columns: Sequence[str] = COLUMNS) -> None:
    """The same as a CSV file; it appears whole or not at all."""
    with atomic_write(path) as file, open(file, "w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, columns, extrasaction="ignore", restval="")
        writer.writeheader()
        writer.writerows({key: _cell(value) for key, value in row.items()} for row in rows)


def _cell(value: Any) -> Any:
    return "" if value is None else f"{value:.6g}" if isinstance(value, float) else value


def gait_run(
    found: Sequence[tuple[Job, Fit | Failure]], out: Path | None, dynamics: bool
) -> tuple[int, dict[str, Any], str]:
    """Reproduces every walk by every variant: exit status, plain values, and a text to read."""
    from poise.errors import GaitError
    from poise.human import Failure, gait

    rows: list[dict[str, Any]] = []
    measures: list[Measures] = []
    kept: list[Kept] = []
    with Bar("reproducing", float(len(found)), unit="trials") as bar:
        for k, (job, it) in enumerate(found):
            if isinstance(it, Failure):
                rows.append(failure_facts(job, it))
                continue
            try:
                mine, row, simulated = _reproduced(job, it, dynamics)
            except GaitError as error:
                rows.append({**failure_facts(job, Failure(job, f"{job.name}: {error}"))})
                continue
            rows.append(row)
            measures += mine
            kept.append(Kept(job, it, mine, simulated))
            bar(k + 1.0)
    if not measures:
        reasons = "\n".join(f"{row['trial']}: {row['reason']}" for row in rows)
        return 1, {"trials": rows, "variants": {}, "people": [], "notes": []}, f"no walk could be reproduced\n{reasons}"
    study = gait.study(measures)
    facts = {"trials": rows, **study.facts()}
    text = f"{study}\n\n{_people_text(rows)}"
    if out is not None:
        text += "\n" + "\n".join(str(path) for path in _gait_files(out, rows, study, kept, facts))
    return 0, facts, text


def _reproduced(job: Job, fit: Fit, dynamics: bool) -> tuple[list[Measures], dict[str, Any], Simulated | None]:
    from poise.human import compared_events, gait, spatiotemporal

    reference = gait.Reference.of(fit)
    cycle = reference.cycle()
    mine = [gait.measured(gait.reproduce(reference, cycle, variant)) for variant in gait.VARIANTS]
    best = next(each for each in mine if each.reproduction.variant is gait.BEST)
    row = {
        **{key: value for key, value in fit_facts(job, fit).items() if key not in ("shape", "by_marker_mm")},
        "cycle": {"side": cycle.side, "begin_s": cycle.strike, "end_s": cycle.next_strike},
        "walk": spatiotemporal(reference, cycle),
        "events_ms": compared_events(fit, reference),
        "worst_difference_deg": best.worst[1],
        "worst_rotation": best.worst[0],
        "zmp_inside": best.inside,
        "belt_speed_m_s": reference.belt,
    }
    if not dynamics:
        return mine, row, None
    from poise.human import dynamics_facts, simulate

    simulated = simulate(reference, cycle)
    row["dynamics"] = dynamics_facts(simulated)
    return mine, row, simulated


def _people_text(rows: Sequence[Mapping[str, Any]]) -> str:
    lines = []
    for row in rows:
        if "reason" in row:
            lines.append(f"{row['trial']}: failed: {row['reason']}")
            continue
        lines.append(
            f"{row['trial']}: best variant differs by {row['worst_difference_deg']:+.1f} degrees at most "
            f"({row['worst_rotation']}), ZMP inside the support {100 * row['zmp_inside']:.0f} % of the time"
        )
        if "dynamics" in row:
            lines.append("  " + row["dynamics"]["text"])
    return "\n".join(lines)


def _gait_files(
    out: Path, rows: Sequence[Mapping[str, Any]], study: Study, kept: Sequence[Kept], facts: Mapping[str, Any]
) -> list[Path]:
    """The page, tables and recordings of a study."""
    from poise.human import BEST
    from poise.report import save_study_page

    out.mkdir(parents=True, exist_ok=True)
    written = [out / "study.json", out / "trials.csv"]
    atomic_write_text(written[0], json.dumps(facts, indent=1, default=float))
    write_rows(written[1], rows, (*COLUMNS[:-1], "worst_difference_deg", "worst_rotation", "zmp_inside", "reason"))
    for each in kept:
        best = next(m.reproduction.recording for m in each.measures if m.reproduction.variant is BEST)
        recordings = {"measured": each.fit.recording(), "reproduced": best}
        if each.simulated is not None:
            recordings["torques"] = each.simulated.ideal
            if each.simulated.physics is not None:
                recordings["physics"] = each.simulated.physics
        for name, recording in recordings.items():
            written.append(out / f"{each.job.path.stem}_{name}.poise")
            recording.save(written[-1])
    moved = [(each.job.path.stem, each.fit, each.simulated) for each in kept if each.simulated is not None]
    failed = {row["trial"]: row["reason"] for row in rows if "reason" in row}
    written.append(save_study_page(out / "report.html", study, [each.fit for each in kept], failed, moved))
    return written


# -- What ``poise human torques`` and ``poise human compare`` say ----------------------------------------------------


#: What of an agreement stands in JSON.
NUMBERS = ("samples", "correlation", "error", "peak", "reference_peak", "peak_ratio", "range_ratio")


def torques_run(
    job: Job, fit: Fit, out: Path | None, report: Path | None, against: Path | None
) -> tuple[dict[str, Any], str]:
    """Torques of one trial, as plain values and as a text; files as asked for."""
    from poise.human import compare_walks, inverse_dynamics, recorded

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
        from poise.report import save_torques_page

        name = "" if against is None else against.stem
        save_torques_page(report, torques, {} if other is None else {name: other})
        lines.append(str(report))
    return facts, "\n".join(lines)


def torques_facts(job: Job, torques: Torques) -> dict[str, Any]:
    """Plain values: moments per kg, what the file stores beside, and the residual at the pelvis."""
    from poise.human import against_stored, moments

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
