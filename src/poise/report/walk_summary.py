"""Report sections on a walk: footprints, steps, margins of CoP and DCM, style measures and angular momentum.

CoP is the center of pressure, DCM the divergent component of motion ξ.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from poise.analysis import STYLE_MEASURES, Footprint, MeasureDefinition, RecordedWalk
from poise.arrays import Array
from poise.html import (
    DASH,
    FULL_WIDTH,
    GRID_COLOR,
    HALF_WIDTH,
    LINE_COLORS,
    LINE_DASHES,
    MARGIN_BOTTOM,
    MARGIN_LEFT,
    MARGIN_RIGHT,
    MARGIN_TOP,
    MINUS,
    TEXT_COLOR,
    TIMES,
    Section,
    annotated_table,
    chart_width,
    curve,
    figure,
    grid,
    heading,
    join_words,
    new_chart,
    note,
    number,
    paragraph,
    shade_phases,
    table,
)
from poise.report.balance_view import path_curve
from poise.report.recording_view import RecordingView, time_range

if TYPE_CHECKING:
    from matplotlib.axes import Axes

WalkViews = Sequence[tuple[RecordingView, RecordedWalk]]

#: Quantities of the steady steps: title with unit, attribute of a step, factor to that unit.
STEP_QUANTITIES = (
    ("length (mm)", "length", 1e3),
    ("width (mm)", "width", 1e3),
    ("height (mm)", "height", 1e3),
    ("turn (deg)", "turn", math.degrees(1.0)),
    ("duration (s)", "duration", 1.0),
    ("single support (s)", "single", 1.0),
    ("double support (s)", "double", 1.0),
)
DCM_COLOR, PRESSURE_COLOR = "#009e73", "#b3589a"
MARGINS_DESCRIPTION = (
    "In single support, the divergent component of motion (DCM) ξ leaves the sole; it must be between the feet when "
    "the next foot lands. The center of pressure is always inside the soles."
)


def step_table(walks: WalkViews) -> str:
    """Return a table with a column per walk: mean and range of each quantity over the steady steps."""
    rows = [("steps", *(str(len(walk.steps)) for _, walk in walks))]
    rows.append(("of which steady", *(_steady_count(walk) for _, walk in walks)))
    for title, name, factor in STEP_QUANTITIES:
        rows.append(
            (title, *(_mean_and_range([factor * getattr(step, name) for step in w.steady_steps]) for _, w in walks))
        )
    rows.append(("largest slip (mm)", *(_worst_footprint(walk, "slip", 1e3) for _, walk in walks)))
    rows.append(
        (
            "largest rotation on the ground (deg)",
            *(_worst_footprint(walk, "turn", math.degrees(1.0)) for _, walk in walks),
        )
    )
    caption = "Steady steps: mean, and in brackets minimum … maximum. Slip and rotation on the ground are of all steps."
    return table(["steps", *(view.label for view, _ in walks)], rows, caption)


def _steady_count(walk: RecordedWalk) -> str:
    """Return the number of steady steps; a short walk has none, and all its steps take their place."""
    return "none; all count" if len(walk.steady_steps) == len(walk.steps) else str(len(walk.steady_steps))


def _mean_and_range(values: Sequence[float]) -> str:
    known = [value for value in values if not math.isnan(value)]
    if not known:
        return DASH
    digits = 2 if max(map(abs, known)) < 10 else 1 if max(map(abs, known)) < 100 else 0
    mean_least_most = (float(np.mean(known)), min(known), max(known))
    mean, least, most = (f"{round(value, digits) + 0.0:.{digits}f}".replace("-", MINUS) for value in mean_least_most)
    return f"{mean} ({least} … {most})"


def _worst_footprint(walk: RecordedWalk, name: str, factor: float) -> str:
    worst = max(walk.footprints, key=lambda each: float(getattr(each, name)))
    number_of = {id(step.after): f"step {k + 1}" for k, step in enumerate(walk.steps)}
    where = number_of.get(id(worst), f"{worst.side}, start")
    return f"{number(factor * getattr(worst, name), 2)} ({where})"


def margin_figures(walks: WalkViews) -> str:
    """Plot the distance of CoP and DCM from the edge of the soles over time, positive inside."""
    values = [1e3 * each.margin for _, w in walks for each in (w.pressure_margin, w.dcm_margin)]
    known = np.concatenate([value[np.isfinite(value)] for value in values])
    limits = (float(np.percentile(known, 0.5)), float(known.max())) if len(known) else (-1.0, 1.0)
    figures = [_margin_figure(view, walk, limits, chart_width(len(walks))) for view, walk in walks]
    return heading("Distance to the edge of the soles") + paragraph(MARGINS_DESCRIPTION) + grid(figures, len(walks))


def _margin_figure(view: RecordingView, walk: RecordedWalk, limits: tuple[float, float], width: float) -> str:
    with new_chart(f"Distance of center of pressure and DCM of {view.label} to the edge", width) as chart:
        axes = chart.axes
        pressure, dcm = walk.pressure_margin, walk.dcm_margin
        curve(axes, dcm.time, 1e3 * dcm.margin, color=DCM_COLOR, label="DCM ξ")
        style = {"color": PRESSURE_COLOR, "linestyle": (0, (4, 1.2)), "linewidth": 0.9}
        curve(axes, pressure.time, 1e3 * pressure.margin, label="center of pressure", **style)
        shade_phases(axes, view.phases, width)
        axes.axhline(0.0, color=TEXT_COLOR, linewidth=0.6)
        padding = 0.06 * (limits[1] - limits[0])
        axes.set(
            xlabel="time (s)",
            ylabel="margin (mm)",
            xlim=time_range(view),
            ylim=(limits[0] - padding, limits[1] + padding),
        )
        chart.legend(2)
    measures = view.style_measures
    caption = f"{view.label}."
    if measures is not None:
        distance = f"{number(1e3 * abs(measures.dcm_margin))} mm or {'more' if measures.dcm_margin > 0.0 else 'less'}"
        side = "inside" if measures.dcm_margin > 0.0 else "outside"
        caption = f"{view.label}: at touchdown, ξ is {distance} {side} the polygon of both soles."
    return figure(chart.svg, caption)


# -- Footprints ------------------------------------------------------------------------------------------------------


#: Colors of the feet.
SIDE_COLORS = {"left": "#00568a", "right": "#d55e00"}
#: Opacity of the first and the last footprint.
FIRST_ALPHA, LAST_ALPHA = 0.10, 0.55
#: Figures of walks wider than this share of their length are placed side by side; others take the full width.
WIDE_RATIO = 0.5
#: Smallest and largest height of the axes, in drawing units.
MIN_HEIGHT, MAX_HEIGHT = 90.0, 380.0
FOOTPRINTS_DESCRIPTION = (
    "Top view; at the start, x points forward and y to the left of the robot. Soles are drawn to scale, later ones "
    "darker, with the number of the step."
)


class FootprintView(NamedTuple):
    """Top view of a walk: the recording, the walk, and lower and upper corner of the axes, (2, 2), m."""

    recording_view: RecordingView
    walk: RecordedWalk
    limits: Array


def footprints_section(views: Sequence[RecordingView]) -> Section | None:
    """Build the section: footprints at one scale, table of steps, and margins over time; None if there is no step."""
    top_views = [_top_view(view, view.recorded_steps) for view in views if view.recorded_steps is not None]
    if not top_views:
        return None
    size = np.max([np.ptp(top_view.limits, axis=0) for top_view in top_views], axis=0)
    side_by_side = len(top_views) > 1 and size[1] > WIDE_RATIO * size[0]
    footprint_figures = [
        _footprint_figure(top_view, size, HALF_WIDTH if side_by_side else FULL_WIDTH) for top_view in top_views
    ]
    walks = [(top_view.recording_view, top_view.walk) for top_view in top_views]
    falls = [
        note(f"{view.label}: it fell after {walk.fall_time:.2f} s; footprints after the fall are not shown.")
        for view, walk in walks
        if not math.isnan(walk.fall_time)
    ]
    pictures = grid(footprint_figures) if side_by_side else "".join(footprint_figures)
    return Section(
        "Footprints",
        paragraph(FOOTPRINTS_DESCRIPTION) + "".join(falls) + pictures + step_table(walks) + margin_figures(walks),
    )


def _top_view(view: RecordingView, walk: RecordedWalk) -> FootprintView:
    upright = walk.tracks.recording.time < (math.inf if math.isnan(walk.fall_time) else walk.fall_time)
    points = np.vstack(
        [walk.tracks.center_of_mass[upright, :2], *(sole_outline(walk, each) for each in walk.footprints)]
    )
    points = points[np.isfinite(points).all(axis=1)]
    padding = 0.02 * float(np.ptp(points, axis=0).max()) + 0.02
    return FootprintView(view, walk, np.array([points.min(axis=0) - padding, points.max(axis=0) + padding]))


def sole_outline(walk: RecordedWalk, footprint: Footprint) -> Array:
    """Return the corners of a footprint in the horizontal plane of the world, (4, 2), m."""
    foot = walk.tracks.robot.foot(footprint.side)
    return ((foot.corners - foot.sole.center) @ footprint.rotation.T + footprint.position)[:, :2]


def _footprint_figure(top_view: FootprintView, size: Array, width: float) -> str:
    axes_height = (width - MARGIN_LEFT - MARGIN_RIGHT) * float(size[1] / size[0])
    height = min(max(axes_height, MIN_HEIGHT), MAX_HEIGHT) + MARGIN_TOP + MARGIN_BOTTOM
    label, walk = top_view.recording_view.label, top_view.walk
    with new_chart(f"Footprints of {label} from above", width, height) as chart:
        axes = chart.axes
        _draw_soles(axes, walk)
        pressure_name = (
            "center of pressure" if "center_of_pressure" in top_view.recording_view.recording else "zero-moment point"
        )
        path_curve(
            axes,
            walk.center_of_pressure,
            pressure_name,
            {"color": PRESSURE_COLOR, "linewidth": 0.7, "linestyle": (0, (3, 1.2))},
        )
        path_curve(axes, walk.dcm, "DCM ξ", {"color": DCM_COLOR, "linewidth": 1.0})
        path_curve(axes, walk.tracks.center_of_mass[:, :2], "center of mass", {"color": TEXT_COLOR, "linewidth": 1.3})
        (left, right), (bottom, y_max) = (top_view.limits.mean(axis=0) + np.array([[-0.5], [0.5]]) * size).T
        axes.set(xlabel="x (m)", ylabel="y (m)", aspect="equal", xlim=(left, right), ylim=(bottom, y_max))
        axes.grid(color=GRID_COLOR, alpha=0.25, linewidth=0.5)
        chart.legend(5 if width > HALF_WIDTH else 3)
    count = f"{len(walk.steps)} step{'' if len(walk.steps) == 1 else 's'}"
    if math.isnan(walk.speed.forward):
        return figure(chart.svg, f"{label}: {count}.")
    x, y, turning = (
        f"{round(value, 2) + 0.0:.2f}".replace("-", MINUS) for value in walk.speed
    )  # adding 0.0 turns -0.00 into 0.00
    return figure(chart.svg, f"{label}: {count}, {x} m/s forward, {y} m/s to the left, {turning} rad/s turning.")


def _draw_soles(axes: Axes, walk: RecordedWalk) -> None:
    """Draw the footprints to scale; later ones are darker and on top."""
    numbers = {id(step.after): str(k + 1) for k, step in enumerate(walk.steps)}
    labelled_sides: set[str] = set()
    for k, each in enumerate(walk.footprints):
        color, corners = SIDE_COLORS[each.side], sole_outline(walk, each)
        name = None if each.side in labelled_sides else f"{each.side} sole"
        labelled_sides.add(each.side)
        share = FIRST_ALPHA + (LAST_ALPHA - FIRST_ALPHA) * k / max(len(walk.footprints) - 1, 1)
        axes.fill(*corners.T, facecolor=color, alpha=share, linewidth=0)
        axes.fill(*corners.T, facecolor="none", edgecolor=color, linewidth=0.8, label=name)
        if id(each) in numbers:
            x, y = each.position[:2]
            axes.text(x, y, numbers[id(each)], ha="center", va="center", fontsize=7.0, color=TEXT_COLOR)


# -- Style measures --------------------------------------------------------------------------------------------------


#: Display of each unit: displayed unit, conversion factor, and decimals; further digits are noise of the simulation or
#: of the sensors.
DISPLAY_UNITS: dict[str, tuple[str, float, int]] = {
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
MEASURES_DESCRIPTION = "Only steady steps count: all but the first two and the last two."


def style_measures_section(views: Sequence[RecordingView]) -> Section | None:
    """Build the section: a table row per style measure that any recording has; None if there is no walk."""
    walks = [view for view in views if view.style_measures is not None]
    if not walks:
        return None
    first = walks[0]
    rows = []
    for name, measure in STYLE_MEASURES.items():
        values = [float(getattr(view.style_measures, name)) for view in walks]
        if all(map(math.isnan, values)):
            continue
        unit = f" ({DISPLAY_UNITS[measure.unit][0]})" if measure.unit else ""
        cells = [
            *(format_measure(measure, value) for value in values),
            *(compare_measure(measure, value, values[0]) for value in values[1:]),
        ]
        rows.append((f"{name.replace('_', ' ')}{unit}", f"{measure.description}.", cells))
    head = ["measure", *(view.label for view in walks), *(f"{view.label} against {first.label}" for view in walks[1:])]
    short_walks = [
        view.label
        for view in walks
        if view.recorded_walk is not None and len(view.recorded_walk.steady_steps) == len(view.recorded_walk.steps)
    ]
    few_steps_note = f"{join_words(short_walks)}: too few steps for that; all of them count." if short_walks else ""
    missing = [note(view.missing_note("walk with two or more steps")) for view in views if view.style_measures is None]
    comparison_note = f"Comparisons with the first walk are ratios ({TIMES}) or differences (+)."
    description = paragraph(MEASURES_DESCRIPTION, few_steps_note, comparison_note if len(walks) > 1 else "")
    return Section("Style measures", description + annotated_table(head, rows, "Measures of style.") + "".join(missing))


def format_measure(measure: MeasureDefinition, value: float) -> str:
    """Format a measure in the unit and with the decimals of `DISPLAY_UNITS`."""
    _, factor, digits = DISPLAY_UNITS[measure.unit]
    return DASH if math.isnan(value) else f"{round(factor * value, digits) + 0.0:.{digits}f}".replace("-", MINUS)


def compare_measure(measure: MeasureDefinition, value: float, first: float) -> str:
    """Compare a value with that of the first recording: their ratio, or their difference if ratios are meaningless."""
    if math.isnan(value) or math.isnan(first):
        return DASH
    if not measure.has_ratio:
        difference = format_measure(measure, value - first)
        return difference if difference.startswith(MINUS) else f"+{difference}"
    return f"{TIMES}{number(value / first)}" if abs(first) > 1e-9 else DASH


# -- Angular momentum about the center of mass -----------------------------------------------------------------------


MOMENTUM_AXES = ("x, forward", "y, to the left", "z, up")
MOMENTUM_DESCRIPTION = (
    "Angular momentum L about the center of mass, in axes that rotate with the heading; steady steps are between the "
    "vertical lines."
)


def angular_momentum_section(views: Sequence[RecordingView]) -> Section | None:
    """Build the section: a figure per walk, all at one scale; None if there is no walk."""
    walks = [(view, view.recorded_walk) for view in views if view.recorded_walk is not None]
    if not walks:
        return None
    sizes = [np.abs(walk.angular_momentum[np.isfinite(walk.angular_momentum)]).max(initial=0.0) for _, walk in walks]
    y_max = float(max(sizes)) or 1.0
    figures = [_momentum_figure(view, walk, y_max, chart_width(len(walks))) for view, walk in walks]
    return Section("Angular momentum", paragraph(MOMENTUM_DESCRIPTION) + grid(figures, len(walks)))


def _momentum_figure(view: RecordingView, walk: RecordedWalk, y_max: float, width: float) -> str:
    recording = view.recording
    with new_chart(f"Angular momentum of {view.label} over time", width) as chart:
        axes = chart.axes
        for k, name in enumerate(MOMENTUM_AXES):
            curve(
                axes,
                recording.time,
                walk.angular_momentum[:, k],
                label=name,
                color=LINE_COLORS[k],
                linestyle=LINE_DASHES[k],
            )
        shade_phases(axes, view.phases, width)
        for sample in (walk.window.start, walk.window.stop):
            axes.axvline(recording.time[min(sample, recording.samples - 1)], color="#555555", linewidth=0.6)
        axes.set(xlabel="time (s)", ylabel="L (kg m²/s)", ylim=(-1.08 * y_max, 1.08 * y_max))
        axes.set_xlim(*time_range(view))
        chart.legend(3)
    inner = walk.angular_momentum[walk.window]
    sizes = [number(float(np.sqrt(np.nanmean(inner[:, k] ** 2)))) for k in range(3)]
    text = f"{view.label}: root mean square {sizes[0]} (x), {sizes[1]} (y), {sizes[2]} (z) kg m²/s in steady steps."
    return figure(chart.svg, text)
