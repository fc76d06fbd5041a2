"""What became of the motion segments of a guided motion: how long they took, how much room they left, and why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from poise.report.page.drawing import FAINT, HALF, INK, curve, drawing, span
from poise.report.page.html import NONE, beside, figure, number, paragraph, table
from poise.report.page.subject import Subject

Array = NDArray[np.float64]
Segment = Mapping[str, Any]

#: Rows of a table that one may still read; of more segments those are shown of which there is something to say.
ROWS = 80
#: Samples at which the distance to the edge is measured.
SAMPLES = 1200
#: Width of the bins of the histogram (s): the usual increment of durations.
BIN = 0.1
PLANNED, ACTUAL = "#00568a", "#d55e00"


def segments(subject: Subject, found: Sequence[Segment]) -> str:
    """A sentence, durations and margins as figures, and a table."""
    outcomes = Counter(str(each["outcome"]) for each in found)
    told = ", ".join(f"{count} {name}" for name, count in outcomes.items())
    prolonged = sum(1 for each in found if each["corrections"])
    projected = sum(1 for each in found if each.get("projected"))
    words = (
        f"{len(found)} segments ({told}); {prolonged} were prolonged to keep the zero-moment point inside the support, "
        f"and {projected} commands were beyond a boundary of the workspace and projected onto it."
    )
    return paragraph(words) + beside([_durations(subject, found), _margins(subject, found)]) + _table(found)


def _durations(subject: Subject, found: Sequence[Segment]) -> str:
    seconds = np.array([each["seconds"] for each in found])
    first = BIN * np.floor(seconds.min() / BIN + 1e-6)
    edges = np.arange(first, seconds.max() + 2.0 * BIN, BIN)
    with drawing(f"Durations of the segments of {subject.label}", HALF) as drawn:
        drawn.axes.hist(seconds + 1e-9, bins=list(edges), color=PLANNED, edgecolor="white", linewidth=0.5)
        drawn.axes.set(xlabel="T (s)", ylabel="segments")
    longest = number(float(seconds.max()), 2)
    return figure(drawn.svg, f"{subject.label}: durations of segments; the longest took {longest} s.")


def _margins(subject: Subject, found: Sequence[Segment]) -> str:
    """How far the zero-moment point is inside the support: the least of each segment as planned, and as it was."""
    recording, tracks = subject.recording, subject.tracks
    with drawing(f"Distance of the zero-moment point of {subject.label} to the edge of the support", HALF) as drawn:
        axes = drawn.axes
        if tracks is not None and "center_of_pressure" in recording:
            n = len(recording)
            seen = np.unique(np.linspace(0, n - 1, min(SAMPLES, n)).astype(int))
            margins = 1e3 * tracks.margins(recording["center_of_pressure"], seen.tolist())
            style = {"color": ACTUAL, "linewidth": 0.6, "label": "center of pressure, actual"}
            curve(axes, recording.time[seen], margins, **style)
        known = [each for each in found if each["margin"] is not None]
        ends = [*(each["time"] for each in known[1:]), known[-1]["time"] + known[-1]["seconds"]] if known else []
        for i, (each, end) in enumerate(zip(known, ends, strict=True)):
            label = "least of a segment, planned" if i == 0 else None
            axes.plot((each["time"], end), [1e3 * each["margin"]] * 2, color=PLANNED, linewidth=1.4, label=label)
        axes.axhline(0.0, color=INK, linewidth=0.6)
        axes.grid(color=FAINT, alpha=0.25, linewidth=0.5)
        axes.set(xlabel="time (s)", ylabel="inside by (mm)", xlim=span(subject))
        drawn.legend(2)
    said = "planned inside soles that are smaller by the margin left to feedback, measured inside the whole soles"
    return figure(drawn.svg, f"{subject.label}: zero-moment point, {said}.")


def _table(found: Sequence[Segment]) -> str:
    shown = list(enumerate(found, start=1))
    caption = "Motion segments: T is the duration, prolonged so often; margin is that of the planned zero-moment point."
    if len(shown) > ROWS:
        telling = [
            (i, each) for i, each in shown if each["corrections"] or each["notes"] or each["outcome"] != "commanded"
        ]
        shown = telling[:ROWS]
        caption += f" Of {len(found)} segments, {len(shown)} of which there is something to say."
    head = ["segment", "time (s)", "guided point", "T (s)", "corrections", "outcome", "step", "margin (mm)", "notes"]
    rows = [
        (
            str(i),
            f"{each['time']:.2f}",
            str(each["mode"]),
            f"{each['seconds']:.2f}",
            str(each["corrections"]) if each["corrections"] else NONE,
            str(each["outcome"]),
            _step(each),
            NONE if each["margin"] is None else f"{1e3 * each['margin']:.0f}",
            "; ".join(map(str, each["notes"])),
        )
        for i, each in shown
    ]
    return table(head, rows, caption) if rows else ""


def _step(each: Segment) -> str:
    if each["step"] is None:
        return NONE
    return f"{each['step']} (air)" if each["lifted"] else str(each["step"])
