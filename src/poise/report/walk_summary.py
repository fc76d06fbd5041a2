"""Report sections on a walk: footprints, steps, style measures and angular momentum."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from poise.analysis import MEASURES, Footprint, Measure, RecordedWalk
from poise.arrays import Array
from poise.html import (
    ABOVE,
    BELOW,
    COLORS,
    DASHES,
    FAINT,
    HALF,
    INK,
    LEFT,
    MINUS,
    NONE,
    RIGHT,
    TIMES,
    WHOLE,
    Section,
    beside,
    column,
    curve,
    drawing,
    explained,
    figure,
    heading,
    listed,
    note,
    number,
    paragraph,
    shade,
    table,
)
from poise.report.balance_view import way
from poise.report.recording_view import Subject, span

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Walks = Sequence[tuple[Subject, RecordedWalk]]

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
MARGINS_TEXT = (
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


def _worst(walk: RecordedWalk, name: str, factor: float) -> str:
    worst = max(walk.footprints, key=lambda each: float(getattr(each, name)))
    number_of = {id(step.after): f"step {k + 1}" for k, step in enumerate(walk.steps)}
    where = number_of.get(id(worst), f"{worst.side}, start")
    return f"{number(factor * getattr(worst, name), 2)} ({where})"


def margins(walks: Walks) -> str:
    """Over time how far inside the soles pressure and divergent component are."""
    values = [1e3 * each.margin for _, w in walks for each in (w.pressure_margin, w.dcm_margin)]
    known = np.concatenate([value[np.isfinite(value)] for value in values])
    limits = (float(np.percentile(known, 0.5)), float(known.max())) if len(known) else (-1.0, 1.0)
    figures = [_margin_figure(s, walk, limits, column(len(walks))) for s, walk in walks]
    return heading("Distance to the edge of the soles") + paragraph(MARGINS_TEXT) + beside(figures, len(walks))


def _margin_figure(subject: Subject, walk: RecordedWalk, limits: tuple[float, float], width: float) -> str:
    with drawing(f"Distance of pressure and divergent component of {subject.label} to the edge", width) as drawn:
        axes = drawn.axes
        pressure, divergent = walk.pressure_margin, walk.dcm_margin
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


# -- Footprints of walks from above ----------------------------------------------------------------------------------


#: Colours of the feet, and of what moves above them.
SIDE_COLORS = {"left": "#00568a", "right": "#d55e00"}
#: How dark the first and the last sole are filled.
LIGHT, DARK = 0.10, 0.55
#: Walks that are wider than this share of their length stand side by side, others have the whole width.
WIDE = 0.5
#: Least and most height of the axes, in units of the drawing.
LOWEST, HIGHEST = 90.0, 380.0
FOOTPRINTS_TEXT = (
    "Seen from above, x is forward and y to the left of where the robot started. Soles are drawn as large as they are, "
    "those that were set down later darker, with the number of the step."
)


class View(NamedTuple):
    """A walk from above, and the lower and upper corner of what is to be seen, (2, 2), m."""

    subject: Subject
    walk: RecordedWalk
    frame: Array


def footprints(subjects: Sequence[Subject]) -> Section | None:
    """Views from above at one scale, margins over time, and a table of steps; None if nobody walks."""
    views = [_view(s, s.walk) for s in subjects if s.walk is not None]
    if not views:
        return None
    size = np.max([np.ptp(view.frame, axis=0) for view in views], axis=0)
    narrow = len(views) > 1 and size[1] > WIDE * size[0]
    drawn = [_footprint_figure(view, size, HALF if narrow else WHOLE) for view in views]
    walking = [(view.subject, view.walk) for view in views]
    falls = [
        note(f"{s.label}: it fell after {walk.fall_time:.2f} s; what it did with its feet from then on is not shown.")
        for s, walk in walking
        if not math.isnan(walk.fall_time)
    ]
    pictures = beside(drawn) if narrow else "".join(drawn)
    return Section(
        "Footprints", paragraph(FOOTPRINTS_TEXT) + "".join(falls) + pictures + stepping(walking) + margins(walking)
    )


def _view(subject: Subject, walk: RecordedWalk) -> View:
    upright = walk.tracks.recording.time < (math.inf if math.isnan(walk.fall_time) else walk.fall_time)
    shown = np.vstack([walk.tracks.center[upright, :2], *(sole(walk, each) for each in walk.footprints)])
    shown = shown[np.isfinite(shown).all(axis=1)]
    pad = 0.02 * float(np.ptp(shown, axis=0).max()) + 0.02
    return View(subject, walk, np.array([shown.min(axis=0) - pad, shown.max(axis=0) + pad]))


def sole(walk: RecordedWalk, mark: Footprint) -> Array:
    """Corners of a sole on the ground, from above, (4, 2), m."""
    foot = walk.tracks.robot.foot(mark.side)
    return ((foot.corners - foot.sole.center) @ mark.rotation.T + mark.place)[:, :2]


def _footprint_figure(view: View, size: Array, width: float) -> str:
    inside = (width - LEFT - RIGHT) * float(size[1] / size[0])
    height = min(max(inside, LOWEST), HIGHEST) + ABOVE + BELOW
    label, walk = view.subject.label, view.walk
    with drawing(f"Footprints of {label} from above", width, height) as drawn:
        axes = drawn.axes
        _soles(axes, walk)
        pushing = "center of pressure" if "center_of_pressure" in view.subject.recording else "zero-moment point"
        way(axes, walk.center_of_pressure, pushing, {"color": PRESSURE, "linewidth": 0.7, "linestyle": (0, (3, 1.2))})
        way(axes, walk.dcm, "divergent component ξ", {"color": DIVERGENT, "linewidth": 1.0})
        way(axes, walk.tracks.center[:, :2], "center of mass", {"color": INK, "linewidth": 1.3})
        (left, right), (bottom, top) = (view.frame.mean(axis=0) + np.array([[-0.5], [0.5]]) * size).T
        axes.set(xlabel="x (m)", ylabel="y (m)", aspect="equal", xlim=(left, right), ylim=(bottom, top))
        axes.grid(color=FAINT, alpha=0.25, linewidth=0.5)
        drawn.legend(5 if width > HALF else 3)
    x, y, turning = (f"{round(value, 2) + 0.0:.2f}".replace("-", MINUS) for value in walk.speed)  # no minus before 0.00
    said = f"{x} m/s forward, {y} m/s to the left, {turning} rad/s turning"
    return figure(drawn.svg, f"{label}: {len(walk.steps)} steps, {said}.")


def _soles(axes: Axes, walk: RecordedWalk) -> None:
    """Rectangles at their true place; a sole that is set down later lies above and is darker."""
    numbers = {id(step.after): str(k + 1) for k, step in enumerate(walk.steps)}
    named: set[str] = set()
    for k, each in enumerate(walk.footprints):
        color, corners = SIDE_COLORS[each.side], sole(walk, each)
        name = None if each.side in named else f"{each.side} sole"
        named.add(each.side)
        share = LIGHT + (DARK - LIGHT) * k / max(len(walk.footprints) - 1, 1)
        axes.fill(*corners.T, facecolor=color, alpha=share, linewidth=0)
        axes.fill(*corners.T, facecolor="none", edgecolor=color, linewidth=0.8, label=name)
        if id(each) in numbers:
            x, y = each.place[:2]
            axes.text(x, y, numbers[id(each)], ha="center", va="center", fontsize=7.0, color=INK)


# -- How recordings walk, in a table ---------------------------------------------------------------------------------


#: How units are shown: as what, how many of those one is, and digits behind the point that mean something; what is less
#: is noise of a simulation or of sensors.
SHOWN: dict[str, tuple[str, float, int]] = {
    "m": ("mm", 1e3, 1),
    "share": ("%", 100.0, 2),
    "m/s": ("m/s", 1.0, 3),
    "rad/s": ("rad/s", 1.0, 3),
    "s": ("s", 1.0, 3),
    "leg lengths": ("leg lengths", 1.0, 3),
    "steps/min": ("steps/min", 1.0, 1),
    "deg": ("deg", 1.0, 1),
    "": ("", 1.0, 2),
}
MEASURES_TEXT = "Only steady steps count: those without the first two and the last two."


def measures(subjects: Sequence[Subject]) -> Section | None:
    """A row per measure that any recording has; None if nobody walks."""
    walking = [s for s in subjects if s.measures is not None]
    if not walking:
        return None
    first = walking[0]
    rows = []
    for name, measure in MEASURES.items():
        values = [float(getattr(s.measures, name)) for s in walking]
        if all(map(math.isnan, values)):
            continue
        unit = f" ({SHOWN[measure.unit][0]})" if measure.unit else ""
        cells = [
            *(rounded(measure, value) for value in values),
            *(against(measure, value, values[0]) for value in values[1:]),
        ]
        rows.append((f"{name.replace('_', ' ')}{unit}", f"{measure.about}.", cells))
    head = ["measure", *(s.label for s in walking), *(f"{s.label} against {first.label}" for s in walking[1:])]
    few = [s.label for s in walking if s.walk is not None and len(s.walk.steady) == len(s.walk.steps)]
    short = f"{listed(few)}: too few steps for that, all of them count." if few else ""
    absent = [note(s.lacks("two steps or more were found")) for s in subjects if s.measures is None]
    compared = f"Beside the first walk stands how many times as much another has ({TIMES}), or how much more (+)."
    words = paragraph(MEASURES_TEXT, short, compared if len(walking) > 1 else "")
    return Section("Style of the walk", words + explained(head, rows) + "".join(absent))


def rounded(measure: Measure, value: float) -> str:
    """A value as the page shows it, in the unit of `SHOWN` and with its digits."""
    _, factor, digits = SHOWN[measure.unit]
    return NONE if math.isnan(value) else f"{round(factor * value, digits) + 0.0:.{digits}f}".replace("-", MINUS)


def against(measure: Measure, value: float, first: float) -> str:
    """A value beside that of the first recording: how many times as much, or how much more if it may be negative."""
    if math.isnan(value) or math.isnan(first):
        return NONE
    if not measure.ratio:
        more = rounded(measure, value - first)
        return more if more.startswith(MINUS) else f"+{more}"
    return f"{TIMES}{number(value / first)}" if abs(first) > 1e-9 else NONE


# -- Angular momentum about the center of mass over time -------------------------------------------------------------


AXES = ("x, ahead", "y, to the left", "z, up")
MOMENTUM_TEXT = (
    "Angular momentum L about the center of mass, in axes that turn with the heading; steady steps are between the "
    "vertical lines."
)


def momentum(subjects: Sequence[Subject]) -> Section | None:
    """A figure per walk, all at one scale; None if nobody walks."""
    walking = [(s, s.walk) for s in subjects if s.walk is not None]
    if not walking:
        return None
    sizes = [np.abs(walk.angular_momentum[np.isfinite(walk.angular_momentum)]).max(initial=0.0) for _, walk in walking]
    top = float(max(sizes)) or 1.0
    figures = [_momentum_figure(s, walk, top, column(len(walking))) for s, walk in walking]
    return Section("Angular momentum", paragraph(MOMENTUM_TEXT) + beside(figures, len(walking)))


def _momentum_figure(subject: Subject, walk: RecordedWalk, top: float, width: float) -> str:
    recording = subject.recording
    with drawing(f"Angular momentum of {subject.label} over time", width) as drawn:
        axes = drawn.axes
        for k, name in enumerate(AXES):
            curve(axes, recording.time, walk.angular_momentum[:, k], label=name, color=COLORS[k], linestyle=DASHES[k])
        shade(axes, subject.phases, width)
        for sample in (walk.window.start, walk.window.stop):
            axes.axvline(recording.time[min(sample, len(recording) - 1)], color="#555555", linewidth=0.6)
        axes.set(xlabel="time (s)", ylabel="L (kg m²/s)", ylim=(-1.08 * top, 1.08 * top))
        axes.set_xlim(*span(subject))
        drawn.legend(3)
    inner = walk.angular_momentum[walk.window]
    sizes = [number(float(np.sqrt(np.nanmean(inner[:, k] ** 2)))) for k in range(3)]
    said = f"{subject.label}: root mean square {sizes[0]} (x), {sizes[1]} (y), {sizes[2]} (z) kg m²/s in steady steps."
    return figure(drawn.svg, said)
