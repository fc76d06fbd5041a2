"""Angular momentum about the center of mass over time: what the arms and the trunk of a walk keep small."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from poise.analysis import Walked
from poise.report.page.drawing import COLORS, DASHES, column, curve, drawing, shade, span
from poise.report.page.html import beside, figure, number, paragraph
from poise.report.page.section import Section
from poise.report.page.subject import Subject

AXES = ("x, ahead", "y, to the left", "z, up")
WORDS = (
    "Angular momentum L about the center of mass, in axes that turn with the heading; steady steps are between the "
    "vertical lines."
)


def momentum(subjects: Sequence[Subject]) -> Section | None:
    """A figure per walk, all at one scale; None if nobody walks."""
    walking = [(s, s.walk) for s in subjects if s.walk is not None]
    if not walking:
        return None
    sizes = [np.abs(walk.spin[np.isfinite(walk.spin)]).max(initial=0.0) for _, walk in walking]
    top = float(max(sizes)) or 1.0
    figures = [_figure(s, walk, top, column(len(walking))) for s, walk in walking]
    return Section("Angular momentum", paragraph(WORDS) + beside(figures, len(walking)))


def _figure(subject: Subject, walk: Walked, top: float, width: float) -> str:
    recording = subject.recording
    with drawing(f"Angular momentum of {subject.label} over time", width) as drawn:
        axes = drawn.axes
        for k, name in enumerate(AXES):
            curve(axes, recording.time, walk.spin[:, k], label=name, color=COLORS[k], linestyle=DASHES[k])
        shade(axes, subject.phases, width)
        for sample in (walk.window.start, walk.window.stop):
            axes.axvline(recording.time[min(sample, len(recording) - 1)], color="#555555", linewidth=0.6)
        axes.set(xlabel="time (s)", ylabel="L (kg m²/s)", ylim=(-1.08 * top, 1.08 * top))
        axes.set_xlim(*span(subject))
        drawn.legend(3)
    inner = walk.spin[walk.window]
    sizes = [number(float(np.sqrt(np.nanmean(inner[:, k] ** 2)))) for k in range(3)]
    said = f"{subject.label}: root mean square {sizes[0]} (x), {sizes[1]} (y), {sizes[2]} (z) kg m²/s in steady steps."
    return figure(drawn.svg, said)
