"""What ``poise human`` says about people: one fit, a table of many, the study of their gaits."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from poise.recording import Bar

if TYPE_CHECKING:
    from poise.human import Fit, Motion
    from poise.human.dynamic import Simulated
    from poise.human.gait import Measures, Study
    from poise.human.people import Failure, Job

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
    from poise.human.references import beside_motion, beside_stored

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
    from poise.exports.place import whole

    with whole(path) as file, open(file, "w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, columns, extrasaction="ignore", restval="")
        writer.writeheader()
        writer.writerows({key: _cell(value) for key, value in row.items()} for row in rows)


def _cell(value: Any) -> Any:
    return "" if value is None else f"{value:.6g}" if isinstance(value, float) else value


def gait_run(
    found: Sequence[tuple[Job, Fit | Failure]], out: Path | None, dynamics: bool
) -> tuple[int, dict[str, Any], str]:
    """Reproduces every walk by every variant: exit status, plain values, and a text to read."""
    from poise.analysis.gait_error import GaitError
    from poise.human import gait
    from poise.human.people import Failure

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
    from poise.human import gait
    from poise.human.spatiotemporal import compared_events, spatiotemporal

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
    from poise.human.dynamic import dynamics_facts, simulate

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
    from poise.human.gait import BEST
    from poise.report.human import save_study_page

    out.mkdir(parents=True, exist_ok=True)
    written = [out / "study.json", out / "trials.csv"]
    written[0].write_text(json.dumps(facts, indent=1, default=float), encoding="utf-8")
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
