"""Report sections on the quality of control: task errors, solver times, fallbacks and smoothness."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from poise.analysis import (
    log_dimensionless_jerk,
    peak_rate,
    root_mean_square,
    root_mean_square_rate,
    spectral_arc_length,
    torque_arc_length,
)
from poise.arrays import Array
from poise.extras import matplotlib
from poise.html import (
    FAINT,
    HALF,
    MINUS,
    NONE,
    WHOLE,
    Section,
    beside,
    curve,
    drawing,
    figure,
    grouped,
    listed,
    note,
    number,
    paragraph,
    percent,
    prefixed,
    shade,
    table,
)
from poise.recording import Level, Recording, counts, percentiles
from poise.report.recording_view import Subject, span

#: An error below this, in m or rad, is not drawn: a tenth of a millimetre is the width of a hair.
NOTHING = 1e-4


def errors(subjects: Sequence[Subject]) -> Section:
    """A figure per level with a line per recording, and a table."""
    levels = {s.label: {level.name: level for level in s.recording.residuals()} for s in subjects}
    absent = [note(s.lacks("levels were recorded")) for s in subjects if not levels[s.label]]
    names = list(dict.fromkeys(name for own in levels.values() for name in own))
    moved = [name for name in names if any((_most(levels[s.label].get(name))) > NOTHING for s in subjects)]
    met = [name for name in names if name not in moved]
    said = [
        "The error of a level is the length of what its tasks are beyond what they allow." if moved else "",
        f"Met to a tenth of a millimetre or milliradian throughout, and not drawn: {listed(met)}." if met else "",
    ]
    figures = [_error_figure(subjects, levels, name) for name in moved]
    rows = [_error_row([levels[s.label].get(name) for s in subjects], name) for name in names]
    caption, labels = "Error of each level, the most important first.", [s.label for s in subjects]
    summary = grouped(["level"], labels, ("rms", "max", "final"), rows, caption) if rows else ""
    return Section("Task errors by level", paragraph(*said) + "".join(absent) + beside(figures, 2) + summary)


def level_error(recording: Recording, key: str) -> np.ndarray:
    """Length of all errors of a level (``Level.key``) per sample; its slack where no errors of tasks are known."""
    channels = [c for name, c in recording.channels.items() if name.startswith(f"error/{key}/") and c.labels]
    if not channels:
        return np.abs(recording[f"slack/{key}"]) if f"slack/{key}" in recording else np.full(len(recording), np.nan)
    squares = np.array([np.sum(c.values**2, axis=1) for c in channels])
    present = ~np.isnan(squares).all(axis=0)
    return np.where(present, np.sqrt(np.nansum(squares, axis=0)), np.nan)


def _error_figure(subjects: Sequence[Subject], levels: dict[str, dict[str, Level]], name: str) -> str:
    having = [s for s in subjects if name in levels[s.label] and len(s.recording)]
    factor, unit = prefixed(_unit(levels, name), max(_most(levels[s.label][name]) for s in having))
    with drawing(f"Error of the level {name} over time") as drawn:
        for s in having:
            style = {"color": s.line.color, "linestyle": s.line.dash, "label": s.label}
            curve(drawn.axes, s.recording.time, factor * level_error(s.recording, levels[s.label][name].key), **style)
        begins = [tuple(round(phase.end, 2) for phase in s.phases) for s in having]
        if len(set(begins)) == 1:
            shade(drawn.axes, having[0].phases, HALF)
        drawn.axes.set(xlabel="time (s)", ylabel=f"error ({unit})")
        drawn.axes.set_ylim(bottom=0.0)
        drawn.axes.set_xlim(*span(*having))
        if len(subjects) > 1:
            drawn.legend(3)
    finals = [levels[s.label][name].final or 0.0 for s in having]
    factor, unit = prefixed(_unit(levels, name), max(finals))
    said = listed([f"{number(factor * final)} ({s.label})" for final, s in zip(finals, having, strict=True)])
    return figure(drawn.svg, f"{name}: in the end {said}, in {unit}.")


def _most(level: Level | None) -> float:
    return 0.0 if level is None or level.max is None else level.max


def _unit(levels: dict[str, dict[str, Level]], name: str) -> str:
    return next((own[name].unit for own in levels.values() if name in own and own[name].unit), "1")


def _error_row(levels: Sequence[Level | None], name: str) -> tuple[str, ...]:
    """A level in the unit in which its errors read well."""
    known = next((level.unit for level in levels if level is not None and level.unit), "")
    factor, unit = prefixed(known, max(map(_most, levels)))
    values = [value for level in levels for value in ((None,) * 3 if level is None else level[2:5])]
    return (
        f"{name} ({unit})" if unit else name,
        *(number(None if value is None else factor * value) for value in values),
    )


# -- Times of the solver and of the whole control call ---------------------------------------------------------------


def timing(subjects: Sequence[Subject]) -> Section:
    """Milliseconds over time, a table, and every kind of fallback with its first moment."""
    given = [s for s in subjects if _known(s)]
    parts = [note(s.lacks("times were recorded")) for s in subjects if s not in given]
    parts.insert(0, paragraph(*(_said(s) for s in given)))
    if given:
        parts += [_time_figure(given), _times(given)]
    parts.append(_fallbacks(subjects))
    return Section("Solver times and fallbacks", "".join(parts))


def late(subject: Subject) -> float:
    """Share of the control calls that took longer than the period; NaN if the times are not known."""
    values = subject.recording["control/milliseconds"] if _known(subject) else np.zeros(0)
    known = values[np.isfinite(values)]
    return float(np.mean(known > 1e3 * subject.recording.period)) if len(known) > 1 else np.nan


def _known(subject: Subject) -> bool:
    name = "control/milliseconds"
    return name in subject.recording and bool(np.isfinite(subject.recording[name]).any())


def _said(subject: Subject) -> str:
    period, share = 1e3 * subject.recording.period, late(subject)
    if np.isnan(share):
        return ""
    if share == 0.0:
        return f"Every control call of {subject.label} ended within its period of {period:g} ms."
    return f"{percent(share)} of the control calls of {subject.label} took longer than its period of {period:g} ms."


def _time_figure(subjects: Sequence[Subject]) -> str:
    with drawing("Milliseconds of each control call over time", WHOLE, 160) as drawn:
        for s in subjects:
            style = {"color": s.line.color, "linestyle": "solid", "linewidth": 0.7, "alpha": 0.8}
            curve(drawn.axes, s.recording.time, s.recording["control/milliseconds"], label=s.label, **style)
        for period in {round(1e3 * s.recording.period, 6) for s in subjects if len(s.recording) > 1}:
            drawn.axes.axhline(period, color=FAINT, linewidth=0.9, linestyle=(0, (4, 2)))
            drawn.axes.annotate(
                f"period {period:g} ms", (1.0, period), xycoords=("axes fraction", "data"), ha="right",
                va="bottom", fontsize=7.5, color="#555555", backgroundcolor="#ffffffcc",
            )  # fmt: skip
        drawn.axes.set(xlabel="time (s)", ylabel="control call (ms)", yscale="log", xlim=span(*subjects))
        drawn.axes.yaxis.set_minor_formatter(matplotlib.ticker.NullFormatter())
        drawn.axes.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
        drawn.legend(4)
    return figure(drawn.svg, "Time of each control call, on a logarithmic scale; the slowest of each moment is drawn.")


def _times(subjects: Sequence[Subject]) -> str:
    rows = []
    for title, channel in (("control call (ms)", "control/milliseconds"), ("solver (ms)", "solver/milliseconds"),
                           ("solver's iterations", "solver/iterations")):  # fmt: skip
        found = [percentiles(s.recording, channel) for s in subjects]
        rows.append((title, *(_cell(own[key]) for own in found for key in ("median", "p99", "max"))))
    answers = [
        f"{s.label}: " + ", ".join(f"{name} {count}" for name, count in counts(s.recording, "solver/status").items())
        for s in subjects
    ]
    whole = grouped([""], [s.label for s in subjects], ("median", "99th percentile", "most"), rows)
    return whole + paragraph("Answers of the solver: " + "; ".join(answers) + ".")


def _cell(value: float | None) -> str:
    return NONE if value is None else f"{value:.3g}"


def _fallbacks(subjects: Sequence[Subject]) -> str:
    rows = []
    for s in subjects:
        texts = s.recording["control/fallback"] if "control/fallback" in s.recording else np.zeros(0, dtype=object)
        for name, count in s.recording.fallbacks().items():
            first = next(i for i, text in enumerate(texts) if str(text).partition(":")[0] == name)
            reason = str(texts[first]).partition(":")[2].strip() or NONE
            rows.append((f"{s.label}: {name}", str(count), f"{s.recording.time[first]:.3f}", reason))
    wrong = [f"{s.label} holds {s.recording.nonfinite_commands()} commands that are not finite." for s in subjects
             if s.recording.nonfinite_commands()]  # fmt: skip
    if not rows:
        return paragraph("No fallback was needed.", *wrong)
    return paragraph(*wrong) + table(["fallback", "times", "first at (s)", "why, the first time"], rows)


# -- Smoothness of movement and torques, in tables -------------------------------------------------------------------


Measure = Callable[[Array, float], float]

#: A part that never moves faster than this (m/s) stands still, and stillness has no smoothness.
STILL = 0.01
#: What is measured of a movement.
MOVEMENT: dict[str, Measure] = {"spectral arc length": spectral_arc_length, "log jerk": log_dimensionless_jerk}
#: What is measured of torques, and whether one is so many times another.
TORQUES: dict[str, tuple[Measure, bool]] = {
    "root mean square (N m)": (lambda torque, _: root_mean_square(torque), True),
    "root mean square of the rate (N m/s)": (root_mean_square_rate, True),
    "peak rate (N m/s)": (lambda torque, period: peak_rate(torque, period).value, True),
    "spectral arc length": (torque_arc_length, False),
}
WORDS = (
    "Spectral arc length and log dimensionless jerk have no unit, do not depend on the size or the duration of a "
    f"movement, and rise towards zero as it gets smoother: one minimum-jerk stroke has {MINUS}1.41 and {MINUS}5.32."
)
PHASES = "A motion of several strokes has less; by phase, each phase counts as one stroke and the mean is given."
OF_TORQUES = "Torques are those of all joints together; the peak rate is that of the fastest joint."


def smoothness(subjects: Sequence[Subject]) -> Section:
    """Tables of movement and of torques, with a column per recording."""
    still = "movement of its parts is known without its robot's model"
    notes = [note(s.lacks("torques were recorded")) for s in subjects if s.torque is None]
    notes += [note(s.lacks(still)) for s in subjects if s.robot is None]
    phased = any(len(s.phases) > 1 for s in subjects)
    words = paragraph(WORDS, PHASES if phased else "")
    return Section("Smoothness", words + _movements(subjects, phased) + _torques(subjects) + "".join(notes))


def _movements(subjects: Sequence[Subject], phased: bool) -> str:
    moving = [_velocities(s) for s in subjects]
    parts = list(dict.fromkeys(name for own in moving for name in own))
    each = [f"{title}{how}" for title in MOVEMENT for how in (("", ", by phase") if phased else ("",))]
    rows = []
    for part in parts:
        cells = []
        for subject, own in zip(subjects, moving, strict=True):
            for measure in MOVEMENT.values():
                velocity = own.get(part, np.zeros((len(subject.recording), 3)))  # at rest it has none
                cells.append(measure(velocity, subject.recording.period))
                cells += [by_phase(subject, velocity, measure)] if phased else []
        rows.append((part, *map(number, cells)))
    return grouped(["movement of"], [s.label for s in subjects], each, rows) if rows else ""


def _velocities(subject: Subject) -> dict[str, Array]:
    """Of what moves: feet, hands and center of mass, (n, 3), m/s."""
    tracks = subject.tracks
    if tracks is None:
        return {}
    moving = {f"{foot.side} foot": tracks.velocity(foot) for foot in tracks.robot.feet}
    moving |= {f"{hand.side} hand": tracks.velocity(hand) for hand in tracks.robot.hands}
    moving["center of mass"] = tracks.center_velocity
    return {name: v for name, v in moving.items() if np.isfinite(v).all() and _fastest(v) > STILL}


def by_phase(subject: Subject, velocity: Array, measure: Measure) -> float:
    """Mean of a measure over the phases in which something moves; NaN if there are none."""
    time, values = subject.recording.time, []
    for phase in subject.phases:
        own = velocity[(time >= phase.begin - 1e-9) & (time < phase.end - 1e-9)]
        if _fastest(own) > STILL:
            values.append(measure(own, subject.recording.period))
    return float(np.mean(values)) if values else np.nan


def _torques(subjects: Sequence[Subject]) -> str:
    given = [s for s in subjects if s.torque is not None]
    if not given:
        return ""
    rows = []
    for title, (measure, compared) in TORQUES.items():
        values = [measure(s.torque, s.recording.period) for s in given if s.torque is not None]
        ratios = [number(value / values[0]) if compared and values[0] else "" for value in values[1:]]
        rows.append((title, *map(number, values), *ratios))
    rows.append(("joint of the peak rate", *map(_hasty, given), *[""] * (len(given) - 1)))
    head = ["torques", *(s.label for s in given), *(f"{s.label} / {given[0].label}" for s in given[1:])]
    return paragraph(OF_TORQUES) + table(head, rows)


def _hasty(subject: Subject) -> str:
    """Name of the joint whose torque changes fastest."""
    fastest = peak_rate(np.zeros((0, 1)) if subject.torque is None else subject.torque, subject.recording.period)
    return subject.joints[fastest.column] if fastest.sample >= 0 else NONE


def _fastest(velocity: Array) -> float:
    return float(np.linalg.norm(velocity, axis=1).max(initial=0.0))
