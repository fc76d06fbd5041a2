"""Steps of walks in numbers, and how far inside the soles pressure and divergent component stay."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from poise.analysis import Walked
from poise.report.page.drawing import INK, column, curve, drawing, shade, span
from poise.report.page.html import MINUS, NONE, beside, figure, heading, number, paragraph, table
from poise.report.page.subject import Subject

Array = NDArray[np.float64]
Walks = Sequence[tuple[Subject, Walked]]

#: What is told of the steady steps: words, attribute of a step, factor to the unit in the words.
TOLD = (
    ("length (mm)", "length", 1e3),
    ("width (mm)", "width", 1e3),
    ("height (mm)", "height", 1e3),
    ("turn (deg)", "turn", math.degrees(1.0)),
    ("duration (s)", "duration", 1.0),
    ("on one foot (s)", "single", 1.0),
    ("on both feet (s)", "double", 1.0),
)
DIVERGENT, PRESSURE = "#009e73", "#b3589a"
WORDS = (
    "While a robot walks, the divergent component leaves the sole on one foot and must be between the feet when the "
    "next one lands; the ground can push nowhere but inside."
)


def stepping(walks: Walks) -> str:
    """A table with a column per walk: mean of each quantity over the steady steps, and its range."""
    rows = [("steps", *(str(len(walk.steps)) for _, walk in walks))]
    rows.append(("of which steady", *(str(len(walk.steady)) for _, walk in walks)))
    for words, name, factor in TOLD:
        rows.append((words, *(_spread([factor * getattr(step, name) for step in w.steady]) for _, w in walks)))
    rows.append(("largest slip (mm)", *(_worst(walk, "slip", 1e3) for _, walk in walks)))
    rows.append(("largest turn on the ground (deg)", *(_worst(walk, "turn", math.degrees(1.0)) for _, walk in walks)))
    caption = "Steady steps: mean, and in brackets from the least to the largest. Slip is that of all steps."
    return table(["steps", *(s.label for s, _ in walks)], rows, caption)


def _spread(values: Sequence[float]) -> str:
    known = [value for value in values if not math.isnan(value)]
    if not known:
        return NONE
    digits = 2 if max(map(abs, known)) < 10 else 1 if max(map(abs, known)) < 100 else 0
    three = (float(np.mean(known)), min(known), max(known))
    mean, least, most = (f"{round(value, digits) + 0.0:.{digits}f}".replace("-", MINUS) for value in three)
    return f"{mean} ({least} … {most})"


def _worst(walk: Walked, name: str, factor: float) -> str:
    worst = max(walk.footprints, key=lambda each: float(getattr(each, name)))
    number_of = {id(step.after): f"step {k + 1}" for k, step in enumerate(walk.steps)}
    where = number_of.get(id(worst), f"{worst.side}, start")
    return f"{number(factor * getattr(worst, name), 2)} ({where})"


def margins(walks: Walks) -> str:
    """Over time how far inside the soles pressure and divergent component are."""
    values = [1e3 * each.margin for _, w in walks for each in (w.pressure_margin, w.divergent_margin)]
    known = np.concatenate([value[np.isfinite(value)] for value in values])
    limits = (float(np.percentile(known, 0.5)), float(known.max())) if len(known) else (-1.0, 1.0)
    figures = [_figure(s, walk, limits, column(len(walks))) for s, walk in walks]
    return heading("Distance to the edge of the soles") + paragraph(WORDS) + beside(figures, len(walks))


def _figure(subject: Subject, walk: Walked, limits: tuple[float, float], width: float) -> str:
    with drawing(f"Distance of pressure and divergent component of {subject.label} to the edge", width) as drawn:
        axes = drawn.axes
        pressure, divergent = walk.pressure_margin, walk.divergent_margin
        curve(axes, divergent.time, 1e3 * divergent.margin, color=DIVERGENT, label="divergent component ξ")
        style = {"color": PRESSURE, "linestyle": (0, (4, 1.2)), "linewidth": 0.9}
        curve(axes, pressure.time, 1e3 * pressure.margin, label="pressure", **style)
        shade(axes, subject.phases, width)
        axes.axhline(0.0, color=INK, linewidth=0.6)
        room = 0.06 * (limits[1] - limits[0])
        axes.set(
            xlabel="time (s)", ylabel="inside by (mm)", xlim=span(subject), ylim=(limits[0] - room, limits[1] + room)
        )
        drawn.legend(2)
    measures = subject.measures
    at = (
        ""
        if measures is None
        else f" at touchdowns ξ is inside both soles by {number(1e3 * measures.divergent_margin)} mm or more"
    )
    return figure(drawn.svg, f"{subject.label}:{at}.")
