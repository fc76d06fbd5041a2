"""Contact forces: those that the controller counted on against those that the sensors felt."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from poise.report.page.drawing import HALF, column, curve, drawing, shade, span
from poise.report.page.html import NONE, beside, figure, listed, note, number, paragraph, percent, table
from poise.report.page.section import Section
from poise.report.page.subject import Subject
from poise.state.balance import GRAVITY

Array = NDArray[np.float64]

#: Where forces stand in a recording, what the page calls them, and how they are drawn.
KINDS = {"force": "commanded", "sensed/force": "sensed", "plate/force": "plate"}
LINES: dict[str, Any] = {
    "force": {"linewidth": 1.3, "linestyle": (0, (4, 1.2))},
    "sensed/force": {"linewidth": 1.0, "alpha": 0.45},
    "plate/force": {"linewidth": 1.2},
}
VERTICAL, ALONG = "#00568a", "#d55e00"
#: Below this (N) of what was ever felt or asked for, a contact did not touch.
UNTOUCHED = 1.0


def forces(subjects: Sequence[Subject]) -> Section:
    """A figure per contact and recording, and a table of the differences."""
    absent = "contact forces were recorded; its controller and plant know none"
    missing = [note(s.lacks(absent)) for s in subjects if not s.contacts]
    touching = {s.label: [name for name in s.contacts if _most(s, name) > UNTOUCHED] for s in subjects}
    idle = sorted({name for s in subjects for name in s.contacts if name not in touching[s.label]})
    names = list(dict.fromkeys(name for own in touching.values() for name in own))
    parts = [paragraph("Forces act on the robot, in world axes.", _idle(idle)) if names else "", *missing]
    alone = sum(bool(own) for own in touching.values()) == 1  # then contacts stand side by side
    rows, figures = [], []
    for name in names:
        having = [s for s in subjects if name in touching[s.label]]
        top = max(_most(s, name) for s in having)
        figures.append([_figure(s, name, top, HALF if alone else column(len(subjects))) for s in having])
        rows += [_row(s, name) for s in having]
    parts += [beside(itertools.chain(*figures))] if alone else [beside(row, len(subjects)) for row in figures]
    head = ["contact", "commanded (N)", "sensed (N)", "rms difference (N)", "share of the weight"]
    parts.append(
        table(head, rows, "Vertical forces: means, and what separates them where both are known.") if rows else ""
    )
    return Section("Contact forces", "".join(parts))


def vertical(subject: Subject, kind: str, name: str) -> Array:
    """Vertical force at a contact per sample (N), NaN where it is not known; kind is one of `KINDS`."""
    channel = f"{kind}/{name}/fz"
    return subject.recording[channel] if channel in subject.recording else np.full(len(subject.recording), np.nan)


def _figure(subject: Subject, name: str, top: float, width: float) -> str:
    time, recording = subject.recording.time, subject.recording
    with drawing(f"Forces at {name} of {subject.label} over time", width) as drawn:
        axes = drawn.axes
        for kind, words in reversed(KINDS.items()):  # what was commanded lies above
            if f"{kind}/{name}" in recording:
                wrench = recording[f"{kind}/{name}"]
                curve(axes, time, wrench[:, 2], color=VERTICAL, label=f"vertical, {words}", **LINES[kind])
                along = np.hypot(*wrench[:, :2].T)
                curve(axes, time, along, color=ALONG, label=f"horizontal, {words}", **LINES[kind])
        shade(axes, subject.phases, width)
        axes.set(xlabel="time (s)", ylabel="force (N)", xlim=span(subject))
        axes.set_ylim(min(0.0, axes.get_ylim()[0]), 1.05 * top)
        drawn.legend(2)
    known = {words: vertical(subject, kind, name) for kind, words in KINDS.items()}
    most = [f"{number(_peak(values))} N {words}" for words, values in known.items() if np.isfinite(values).any()]
    return figure(drawn.svg, f"{subject.label}, {name}: at most {listed(most)}.")


def _row(subject: Subject, name: str) -> tuple[str, ...]:
    asked, felt = vertical(subject, "force", name), vertical(subject, "sensed/force", name)
    felt = felt if np.isfinite(felt).any() else vertical(subject, "plate/force", name)
    both = np.isfinite(asked) & np.isfinite(felt)
    apart = float(np.sqrt(np.mean((asked[both] - felt[both]) ** 2))) if both.any() else float("nan")
    weight = float("nan") if subject.robot is None else GRAVITY * subject.robot.mass
    share = percent(apart / weight) if np.isfinite(apart / weight) else NONE
    return (f"{subject.label}, {name}", number(_mean(asked)), number(_mean(felt)), number(apart), share)


def _mean(values: Array) -> float:
    known = values[np.isfinite(values)]
    return float(known.mean()) if len(known) else float("nan")


def _peak(values: Array) -> float:
    known = values[np.isfinite(values)]
    return float(known.max()) if len(known) else float("nan")


def _most(subject: Subject, name: str) -> float:
    """The largest part of a force that was ever asked for or felt there (N)."""
    known = [f"{kind}/{name}" for kind in KINDS if f"{kind}/{name}" in subject.recording]
    parts = np.concatenate([np.abs(subject.recording[channel][:, :3]).ravel() for channel in known])
    return float(parts[np.isfinite(parts)].max(initial=0.0))


def _idle(names: Sequence[str]) -> str:
    return f"Nothing was felt at {', '.join(names)}." if names else ""
