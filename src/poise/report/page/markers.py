"""Markers: how far each of them is from its place on the fitted body, and how the fit was made."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray

from poise.report.page.drawing import COLORS, HALF, SHADE, curve, drawing, shade, span
from poise.report.page.html import bullets, columns, figure, heading, number, paragraph, percent, table
from poise.report.page.section import Section
from poise.report.page.subject import Subject

Array = NDArray[np.float64]

#: Markers in the table: those that are farthest off; the figure has all.
SHOWN = 12
#: Height of a row of the figure, and room for the names of markers, in units of the drawing.
ROW, NAMES = 11.5, 96.0
#: Root mean square distance (mm) below which a whole-body fit is a good one: skin moves that much over bone.
GOOD = 12.0
WORDS = (
    "The distance of a marker is that between where it was measured and where it sits on the fitted body. Skin moves "
    f"over bone by about a centimetre; a whole body that is fitted to less than {GOOD:.0f} mm is fitted well. A single "
    "marker that is far off throughout sits elsewhere than assumed, one that is far off for a moment was mistaken for "
    "another."
)


def markers(subjects: Sequence[Subject]) -> Section | None:
    """Distances by marker and over time, and the notes of the fit; None if no recording has markers."""
    having = [s for s in subjects if "markers/distance" in s.recording and len(s.recording)]
    if not having:
        return None
    parts = [paragraph(WORDS), _table(having)]
    for s in having:
        parts += [heading(s.label)] if len(having) > 1 else []
        parts.append(columns([_bars(s), _times(s) + _farthest(s)]))
        notes = [str(each) for each in s.recording.provenance.get("notes") or ()]
        parts += [heading("How the body was fitted"), bullets(notes)] if notes else []
    return Section("Markers", "".join(parts))


def _distances(subject: Subject) -> Array:
    """mm, n x m."""
    return np.asarray(1e3 * subject.recording["markers/distance"])


def _table(subjects: Sequence[Subject]) -> str:
    rows = []
    for s in subjects:
        apart, names = _distances(s), s.recording.labels["markers/distance"]
        frame, marker = np.unravel_index(int(np.nanargmax(apart)), apart.shape)
        rows.append(
            (
                s.label,
                str(len(names)),
                number(_rms(apart)),
                number(float(np.nanpercentile(apart, 95))),
                f"{number(float(apart[frame, marker]))}, {names[marker]} at {s.recording.time[frame]:.2f} s",
                percent(float(np.isfinite(apart).mean())),
            )
        )
    head = ["recording", "markers", "rms (mm)", "95 % are below (mm)", "largest (mm)", "seen"]
    return table(head, rows)


def _rms(values: Array, axis: int | None = None) -> float:
    return float(np.sqrt(np.nanmean(values**2, axis=axis)))


def _each(apart: Array) -> tuple[Array, Array]:
    """Root mean square and largest distance of every marker, mm; NaN of one that is never seen."""
    known = np.where(np.isfinite(apart), apart, 0.0)
    count = np.isfinite(apart).sum(axis=0)
    rms = np.where(count > 0, np.sqrt((known**2).sum(axis=0) / np.maximum(count, 1)), np.nan)
    return rms, np.where(count > 0, known.max(axis=0), np.nan)


def _bars(subject: Subject) -> str:
    names, apart = subject.recording.labels["markers/distance"], _distances(subject)
    rms, most = _each(apart)
    order = np.argsort(-np.nan_to_num(rms, nan=-1.0))
    rows = np.arange(len(order))
    with drawing(f"Distance of each marker of {subject.label}", HALF, 50.0 + ROW * len(order), NAMES) as drawn:
        axes = drawn.axes
        for k in rows[1::2]:
            axes.axhspan(k - 0.5, k + 0.5, color=SHADE, alpha=0.55, linewidth=0, zorder=0)
        axes.barh(rows, rms[order], height=0.6, color=COLORS[0], label="root mean square")
        axes.plot(most[order], rows, "o", color=COLORS[1], markersize=3.2, label="largest")
        axes.set_yticks(rows, [names[k] for k in order])
        axes.tick_params(axis="y", length=0, labelsize=7.5)
        axes.set(xlabel="distance (mm)", ylim=(len(rows) - 0.5, -0.5))
        axes.set_xlim(left=0.0)
        drawn.legend(2)
    return figure(drawn.svg, f"{subject.label}: each marker from its place on the body, the farthest first.")


def _times(subject: Subject) -> str:
    recording, apart = subject.recording, _distances(subject)
    names = recording.labels["markers/distance"]
    worst = int(np.nanargmax(_each(apart)[1]))
    with np.errstate(invalid="ignore"):
        whole = np.sqrt(np.nanmean(np.where(np.isfinite(apart).any(axis=1, keepdims=True), apart, np.inf) ** 2, axis=1))
    whole = np.where(np.isfinite(whole), whole, np.nan)
    with drawing(f"Distance of the markers of {subject.label} over time", HALF, 160.0) as drawn:
        line = partial(curve, drawn.axes, recording.time)
        line(apart[:, worst], color=COLORS[1], label=f"{names[worst]}, which has the largest", linewidth=0.9)
        line(whole, color=COLORS[0], label="root mean square of all")
        shade(drawn.axes, subject.phases, HALF)
        drawn.axes.set(xlabel="time (s)", ylabel="distance (mm)", xlim=span(subject))
        drawn.axes.set_ylim(bottom=0.0)
        drawn.legend(2)
    said = f"at most {number(float(np.nanmax(apart)))} mm, at {names[worst]}"
    return figure(drawn.svg, f"{subject.label} over time: {number(_rms(apart))} mm root mean square, {said}.")


def _farthest(subject: Subject) -> str:
    names, apart = subject.recording.labels["markers/distance"], _distances(subject)
    known = subject.recording.provenance.get("markers") or {}
    rms, most = _each(apart)
    rows = []
    for k in np.argsort(-np.nan_to_num(rms, nan=-1.0))[:SHOWN]:
        link = str((known.get(names[k]) or {}).get("link", "")).replace("_", " ")
        seen = percent(float(np.isfinite(apart[:, k]).mean()))
        rows.append((names[k], link, number(float(rms[k])), number(float(most[k])), seen))
    head = ["marker", "on the", "rms (mm)", "largest (mm)", "seen"]
    return table(head, rows, f"The {len(rows)} that are farthest off.")
