"""How far each level of the hierarchy was from being met."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from poise.recording import Recording
from poise.recording.digest import Level
from poise.report.page.drawing import HALF, curve, drawing, shade, span
from poise.report.page.html import beside, figure, grouped, listed, note, number, paragraph, prefixed
from poise.report.page.section import Section
from poise.report.page.subject import Subject

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
    figures = [_figure(subjects, levels, name) for name in moved]
    rows = [_row([levels[s.label].get(name) for s in subjects], name) for name in names]
    caption, labels = "Error of each level, the most important first.", [s.label for s in subjects]
    summary = grouped(["level"], labels, ("rms", "max", "final"), rows, caption) if rows else ""
    return Section("Task errors by level", paragraph(*said) + "".join(absent) + beside(figures, 2) + summary)


def level_error(recording: Recording, name: str) -> np.ndarray:
    """Length of all errors of a level per sample; its slack where no errors of tasks are known."""
    channels = [c for c in recording.channels if c.startswith(f"error/{name}/") and recording.labels[c]]
    if not channels:
        return np.abs(recording[f"slack/{name}"]) if f"slack/{name}" in recording else np.full(len(recording), np.nan)
    squares = np.array([np.sum(recording[c] ** 2, axis=1) for c in channels])
    present = ~np.isnan(squares).all(axis=0)
    return np.where(present, np.sqrt(np.nansum(squares, axis=0)), np.nan)


def _figure(subjects: Sequence[Subject], levels: dict[str, dict[str, Level]], name: str) -> str:
    having = [s for s in subjects if name in levels[s.label] and len(s.recording)]
    factor, unit = prefixed(_unit(levels, name), max(_most(levels[s.label][name]) for s in having))
    with drawing(f"Error of the level {name} over time") as drawn:
        for s in having:
            style = {"color": s.line.color, "linestyle": s.line.dash, "label": s.label}
            curve(drawn.axes, s.recording.time, factor * level_error(s.recording, name), **style)
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


def _row(levels: Sequence[Level | None], name: str) -> tuple[str, ...]:
    """A level in the unit in which its errors read well."""
    known = next((level.unit for level in levels if level is not None and level.unit), "")
    factor, unit = prefixed(known, max(map(_most, levels)))
    values = [value for level in levels for value in ((None,) * 3 if level is None else level[2:5])]
    return (
        f"{name} ({unit})" if unit else name,
        *(number(None if value is None else factor * value) for value in values),
    )
