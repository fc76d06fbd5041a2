"""Times of the solver and of the whole control call, and what happened when there was no solution."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.ticker import NullFormatter

from poise.recording.digest import counts, spread
from poise.report.page.drawing import FAINT, WHOLE, curve, drawing, span
from poise.report.page.html import NONE, figure, grouped, note, paragraph, percent, table
from poise.report.page.section import Section
from poise.report.page.subject import Subject


def timing(subjects: Sequence[Subject]) -> Section:
    """Milliseconds over time, a table, and every kind of fallback with its first moment."""
    given = [s for s in subjects if _known(s)]
    parts = [note(s.lacks("times were recorded")) for s in subjects if s not in given]
    parts.insert(0, paragraph(*(_said(s) for s in given)))
    if given:
        parts += [_figure(given), _times(given)]
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


def _figure(subjects: Sequence[Subject]) -> str:
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
        drawn.axes.yaxis.set_minor_formatter(NullFormatter())
        drawn.axes.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
        drawn.legend(4)
    return figure(drawn.svg, "Time of each control call, on a logarithmic scale; the slowest of each moment is drawn.")


def _times(subjects: Sequence[Subject]) -> str:
    rows = []
    for title, channel in (("control call (ms)", "control/milliseconds"), ("solver (ms)", "solver/milliseconds"),
                           ("solver's iterations", "solver/iterations")):  # fmt: skip
        found = [spread(s.recording, channel) for s in subjects]
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
