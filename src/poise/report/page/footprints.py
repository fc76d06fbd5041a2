"""Footprints of walks from above, with the ways of center of mass, divergent component and pressure."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from poise.analysis import Footprint, Walked
from poise.report.page.balance import way
from poise.report.page.drawing import ABOVE, BELOW, FAINT, HALF, INK, LEFT, RIGHT, WHOLE, drawing
from poise.report.page.html import MINUS, beside, figure, note, paragraph
from poise.report.page.section import Section
from poise.report.page.stepping import margins, stepping
from poise.report.page.subject import Subject

Array = NDArray[np.float64]

#: Colours of the feet, and of what moves above them.
SIDES = {"left": "#00568a", "right": "#d55e00"}
DIVERGENT, PRESSURE = "#009e73", "#b3589a"
#: How dark the first and the last sole are filled.
LIGHT, DARK = 0.10, 0.55
#: Walks that are wider than this share of their length stand side by side, others have the whole width.
WIDE = 0.5
#: Least and most height of the axes, in units of the drawing.
LOWEST, HIGHEST = 90.0, 380.0
WORDS = (
    "Seen from above, x is forward and y to the left of where the robot started. Soles are drawn as large as they are, "
    "those that were set down later darker, with the number of the step."
)


class View(NamedTuple):
    """A walk from above, and the lower and upper corner of what is to be seen, (2, 2), m."""

    subject: Subject
    walk: Walked
    frame: Array


def footprints(subjects: Sequence[Subject]) -> Section | None:
    """Views from above at one scale, margins over time, and a table of steps; None if nobody walks."""
    views = [_view(s, s.walk) for s in subjects if s.walk is not None]
    if not views:
        return None
    size = np.max([np.ptp(view.frame, axis=0) for view in views], axis=0)
    narrow = len(views) > 1 and size[1] > WIDE * size[0]
    drawn = [_figure(view, size, HALF if narrow else WHOLE) for view in views]
    walking = [(view.subject, view.walk) for view in views]
    falls = [
        note(f"{s.label}: it fell after {walk.fell:.2f} s; what it did with its feet from then on is not shown.")
        for s, walk in walking
        if not math.isnan(walk.fell)
    ]
    pictures = beside(drawn) if narrow else "".join(drawn)
    return Section("Footprints", paragraph(WORDS) + "".join(falls) + pictures + stepping(walking) + margins(walking))


def _view(subject: Subject, walk: Walked) -> View:
    upright = walk.tracks.recording.time < (math.inf if math.isnan(walk.fell) else walk.fell)
    shown = np.vstack([walk.tracks.center[upright, :2], *(sole(walk, each) for each in walk.footprints)])
    shown = shown[np.isfinite(shown).all(axis=1)]
    pad = 0.02 * float(np.ptp(shown, axis=0).max()) + 0.02
    return View(subject, walk, np.array([shown.min(axis=0) - pad, shown.max(axis=0) + pad]))


def sole(walk: Walked, mark: Footprint) -> Array:
    """Corners of a sole on the ground, from above, (4, 2), m."""
    foot = walk.tracks.robot.foot(mark.side)
    return ((foot.corners - foot.sole.center) @ mark.rotation.T + mark.place)[:, :2]


def _figure(view: View, size: Array, width: float) -> str:
    inside = (width - LEFT - RIGHT) * float(size[1] / size[0])
    height = min(max(inside, LOWEST), HIGHEST) + ABOVE + BELOW
    label, walk = view.subject.label, view.walk
    with drawing(f"Footprints of {label} from above", width, height) as drawn:
        axes = drawn.axes
        _soles(axes, walk)
        pushing = "center of pressure" if "center_of_pressure" in view.subject.recording else "zero-moment point"
        way(axes, walk.pressure, pushing, {"color": PRESSURE, "linewidth": 0.7, "linestyle": (0, (3, 1.2))})
        way(axes, walk.divergent, "divergent component ξ", {"color": DIVERGENT, "linewidth": 1.0})
        way(axes, walk.tracks.center[:, :2], "center of mass", {"color": INK, "linewidth": 1.3})
        (left, right), (bottom, top) = (view.frame.mean(axis=0) + np.array([[-0.5], [0.5]]) * size).T
        axes.set(xlabel="x (m)", ylabel="y (m)", aspect="equal", xlim=(left, right), ylim=(bottom, top))
        axes.grid(color=FAINT, alpha=0.25, linewidth=0.5)
        drawn.legend(5 if width > HALF else 3)
    x, y, turning = (f"{round(value, 2) + 0.0:.2f}".replace("-", MINUS) for value in walk.speed)  # no minus before 0.00
    said = f"{x} m/s forward, {y} m/s to the left, {turning} rad/s turning"
    return figure(drawn.svg, f"{label}: {len(walk.steps)} steps, {said}.")


def _soles(axes: Axes, walk: Walked) -> None:
    """Rectangles at their true place; a sole that is set down later lies above and is darker."""
    numbers = {id(step.after): str(k + 1) for k, step in enumerate(walk.steps)}
    named: set[str] = set()
    for k, each in enumerate(walk.footprints):
        color, corners = SIDES[each.side], sole(walk, each)
        name = None if each.side in named else f"{each.side} sole"
        named.add(each.side)
        share = LIGHT + (DARK - LIGHT) * k / max(len(walk.footprints) - 1, 1)
        axes.fill(*corners.T, facecolor=color, alpha=share, linewidth=0)
        axes.fill(*corners.T, facecolor="none", edgecolor=color, linewidth=0.8, label=name)
        if id(each) in numbers:
            x, y = each.place[:2]
            axes.text(x, y, numbers[id(each)], ha="center", va="center", fontsize=7.0, color=INK)
