"""Report sections over the gait cycle: joint angles and torques of robots, gait angles of people with normal ranges."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from poise.analysis import (
    EVENT_RULE,
    TABLE_I,
    NormativeBand,
    RecordedWalk,
    normalize_cycles,
    normative_band,
    range_of_motion,
    root_mean_square_error,
)
from poise.arrays import Array
from poise.errors import GaitError
from poise.html import (
    DASH,
    SHADE_COLOR,
    THIRD_WIDTH,
    Section,
    figure,
    grid,
    grouped_table,
    heading,
    join_words,
    new_chart,
    note,
    number,
    paragraph,
    short_joint_names,
    table,
)
from poise.report.recording_view import EVENTS_FROM_RULE, RecordedGait, RecordingView
from poise.robots import SIDES, Side

if TYPE_CHECKING:
    from matplotlib.axes import Axes

WalkViews = Sequence[tuple[RecordingView, RecordedWalk]]

#: Colors of the legs if there is one recording; several recordings have one color each.
LEG_COLORS = {"left": "#00568a", "right": "#d55e00"}
LEG_DASHES = {"left": "solid", "right": (0, (4.0, 1.4))}
#: Opacity of bands: five of them can overlap.
BAND_ALPHA = 0.15
CYCLE_AXIS_LABEL = "gait cycle (%)"
CYCLE_DESCRIPTION = (
    "From initial contact of a foot (0 %) to its next initial contact (100 %): mean of the steady strides, with their "
    "range as a band. The vertical line is toe-off."
)
SIDES_DESCRIPTION = "The left leg is solid, the right leg dashed."


def gait_cycle_section(views: Sequence[RecordingView]) -> Section | None:
    """Build the section: a figure per leg joint with both sides, for angles and torques; None without a gait cycle."""
    walks = [(view, view.recorded_walk) for view in views if view.recorded_walk is not None]
    walking = [(view, walk) for view, walk in walks if walk.cycles]
    if not walking:
        return None
    robots: dict[tuple[str, ...], list[tuple[RecordingView, RecordedWalk]]] = {}
    for view, walk in walking:
        robots.setdefault(view.recording.labels["q"], []).append((view, walk))
    parts = [paragraph(CYCLE_DESCRIPTION, "" if len(walking) == 1 else SIDES_DESCRIPTION)]
    for walks in robots.values():
        of_robot = f" of {walks[0][0].robot_name}" if len(robots) > 1 else ""
        angles = [_cycle_figure(walks, pair, name, "angle (deg)") for pair, name in joint_pairs(walks[0][0])]
        parts += [heading(f"Joint angles of the legs{of_robot}"), grid(filter(None, angles), 3)]
        with_torques = [(view, walk) for view, walk in walks if view.torque is not None]
        torque_figures = (
            [_cycle_figure(with_torques, pair, name, "share of limit (%)") for pair, name in joint_pairs(walks[0][0])]
            if with_torques
            else []
        )
        parts += [
            heading(f"Joint torques of the legs as a share of their limits{of_robot}"),
            grid(filter(None, torque_figures), 3),
        ]
        parts += [note(view.missing_note("torques were recorded")) for view, _ in walks if view.torque is None]
    return Section("Gait cycle", "".join(parts))


def joint_pairs(view: RecordingView) -> list[tuple[dict[str, str], str]]:
    """Return corresponding joints of the left and right leg by side, with their common name."""
    legs = {limb.name.removesuffix(" leg"): limb.joints for limb in view.limbs if limb.name.endswith(" leg")}
    if set(legs) != set(SIDES) or len(legs["left"]) != len(legs["right"]):
        return []
    names = short_joint_names(legs["left"])
    return [
        ({"left": one, "right": two}, name) for one, two, name in zip(legs["left"], legs["right"], names, strict=True)
    ]


def joint_values(view: RecordingView, joint: str, quantity: str) -> Array:
    """Return the angle (deg) or the torque (% of the torque limit) of a joint, (n,).

    ``quantity`` is the axis label; a label that begins with "angle" selects the angle.
    """
    if quantity.startswith("angle"):
        return np.degrees(view.recording[f"q/{joint}"])
    assert view.torque is not None
    assert view.torque_limits is not None
    k = view.torque_joints.index(joint)
    return np.asarray(100.0 * view.torque[:, k] / view.torque_limits[k])


def _cycle_figure(walks: WalkViews, joints: dict[str, str], name: str, quantity: str) -> str:
    is_single = len(walks) == 1
    ranges_by_view: dict[str, list[float]] = {}
    with new_chart(f"{name} over the gait cycle: {quantity}", THIRD_WIDTH) as chart:
        axes = chart.axes
        for view, walk in walks:
            for side in SIDES:
                cycle_curves = walk.curves(joint_values(view, joints[side], quantity), side)
                if not cycle_curves.count:
                    continue
                color = LEG_COLORS[side] if is_single else view.line_style.color
                axes.fill_between(
                    cycle_curves.percent,
                    cycle_curves.low,
                    cycle_curves.high,
                    color=color,
                    alpha=BAND_ALPHA,
                    linewidth=0,
                )
                label = side if is_single else view.label if side == SIDES[0] else None
                axes.plot(cycle_curves.percent, cycle_curves.mean, color=color, linestyle=LEG_DASHES[side], label=label)
                axes.axvline(cycle_curves.toe_off, color=color, linestyle=LEG_DASHES[side], linewidth=0.5, alpha=0.7)
                ranges_by_view.setdefault(view.label, []).append(float(np.ptp(cycle_curves.mean)))
        axes.set(xlabel=CYCLE_AXIS_LABEL, ylabel=quantity, xlim=(0.0, 100.0))
        chart.legend(2)
    unit = quantity[quantity.index("(") + 1 : -1]
    ranges = [
        f"{'' if is_single else f'{label} '}{number(float(np.mean(spans)), 2)} {unit}"
        for label, spans in ranges_by_view.items()
    ]
    return figure(chart.svg, f"{name}: range {join_words(ranges)}.") if ranges_by_view else ""


# -- Gait angles -----------------------------------------------------------------------------------------------------


GaitViews = Sequence[tuple[RecordingView, RecordedGait]]

#: The six degrees of freedom of a leg: joint names without side, and titles.
LEG_ROTATIONS = {
    each.joint.removeprefix("right_"): each.title.removeprefix("Right ").capitalize() for each in TABLE_I[:6]
}
#: Colors of the normative band and of its mean.
NORM_BAND_COLOR, NORM_MEAN_COLOR = "#d9d9d9", "#8a8a8a"
ANGLES_DESCRIPTION = (
    "From initial contact of a foot (0 %) to its next initial contact (100 %), each leg over the cycles of its own "
    "foot: mean of the complete cycles, with single cycles as thin lines. Vertical lines are toe-offs."
)


def gait_angles_section(views: Sequence[RecordingView]) -> Section | None:
    """Build the section: table of gait cycles, a figure per degree of freedom, and a table of ranges of motion.

    None if no recording is of a human body with a complete gait cycle.
    """
    walking = [(view, view.gait) for view in views if view.gait is not None]
    if not walking:
        return None
    sources = list(dict.fromkeys(gait.source for _, gait in walking))
    parts = [
        paragraph(*sources, EVENT_RULE if EVENTS_FROM_RULE in sources else ""),
        _cycle_table(walking),
        paragraph(ANGLES_DESCRIPTION, _norm_description()),
    ]
    parts.append(grid([_angle_figure(walking, rotation, title) for rotation, title in LEG_ROTATIONS.items()], 3))
    return Section("Gait angles", "".join([*parts, _range_table(walking)]))


def cycle_angles(view: RecordingView, gait: RecordedGait, joint: str, side: Side) -> Array:
    """Return the angle of a joint over each gait cycle of a foot, (cycles, 101), degrees."""
    degrees = np.degrees(view.recording[f"q/{joint}"])
    return normalize_cycles(view.recording.time, degrees, gait.cycles_of(side), kind="spline").values


def find_normative_band(joint: str) -> NormativeBand | None:
    """Return the normative band of a joint; None if there is none."""
    try:
        return normative_band(joint)
    except GaitError:
        return None


def draw_norm(axes: Axes, norm: NormativeBand | None) -> None:
    """Draw a normative band in gray, mean ± one standard deviation."""
    if norm is not None:
        share = np.linspace(0.0, 100.0, len(norm.mean))
        mean, deviation = np.degrees(norm.mean), np.degrees(norm.deviation)
        axes.fill_between(
            share, mean - deviation, mean + deviation, color=NORM_BAND_COLOR, linewidth=0, zorder=0, label="norm"
        )
        axes.plot(share, mean, color=NORM_MEAN_COLOR, linewidth=0.7, zorder=1)


def _norm_description() -> str:
    """Return a sentence with the sources of the normative bands and the degrees of freedom without one."""
    norm = {rotation: find_normative_band(f"right_{rotation}") for rotation in LEG_ROTATIONS}
    sources = list(dict.fromkeys(each.source for each in norm.values() if each is not None))
    missing = [LEG_ROTATIONS[rotation].lower() for rotation, each in norm.items() if each is None]
    missing_note = f" For {join_words(missing)} there is none." if missing else ""
    return f"The gray band is the norm, mean ± one standard deviation ({'; '.join(sources)}).{missing_note}"


def _cycle_table(walking: GaitViews) -> str:
    rows = []
    for view, gait in walking:
        for side in SIDES:
            side_cycles = gait.cycles_of(side)
            if not side_cycles:
                continue
            lengths = [gait.lengths(cycle) for cycle in side_cycles]
            means = [
                np.mean([cycle.duration for cycle in side_cycles]),
                np.mean([cycle.cadence for cycle in side_cycles]),
                np.mean([length.speed for length in lengths]),
                np.mean([length.stride for length in lengths]),
                1e3 * np.mean([length.width for length in lengths]),
                np.mean([cycle.stance for cycle in side_cycles]),
                np.mean([cycle.double_support for cycle in side_cycles]),
            ]
            rows.append((f"{view.label}, {side} foot", str(len(side_cycles)), *(number(float(mean)) for mean in means)))
    head = ["", "cycles", "duration (s)", "cadence (steps/min)", "speed (m/s)", "stride length (m)", "step width (mm)",
            "stance (%)", "double support (%)"]  # fmt: skip
    return table(head, rows, "Means over the complete gait cycles.")


def _angle_figure(walking: GaitViews, rotation: str, title: str) -> str:
    is_single = len(walking) == 1
    texts = []
    with new_chart(f"{title} over the gait cycle", THIRD_WIDTH) as chart:
        axes = chart.axes
        draw_norm(axes, find_normative_band(f"right_{rotation}"))
        for view, gait in walking:
            ranges: list[str] = []
            for side in SIDES:
                curves = cycle_angles(view, gait, f"{side}_{rotation}", side)
                if not len(curves):
                    continue
                share, mean = np.linspace(0.0, 100.0, curves.shape[1]), curves.mean(axis=0)
                color = LEG_COLORS[side] if is_single else view.line_style.color
                if len(curves) > 1:
                    axes.plot(share, curves.T, color=color, linewidth=0.4, alpha=0.5)
                label = side if is_single else view.label if not ranges else None
                axes.plot(share, mean, color=color, linestyle=LEG_DASHES[side], linewidth=1.3, label=label)
                toe_off = float(np.mean([cycle.stance for cycle in gait.cycles_of(side)]))
                axes.axvline(toe_off, color=color, linestyle=LEG_DASHES[side], linewidth=0.5, alpha=0.7)
                ranges.append(f"{side} {number(float(np.ptp(mean)), 2)}°")
            texts.append(f"{'' if is_single else f'{view.label} '}{join_words(ranges)}")
        axes.axhline(0.0, color=SHADE_COLOR, linewidth=0.8, zorder=0)
        axes.set(xlabel=CYCLE_AXIS_LABEL, ylabel="angle (deg)", xlim=(0.0, 100.0))
        chart.legend(3)
    return figure(chart.svg, f"{title}: range {', '.join(texts)}.")


def _range_table(walking: GaitViews) -> str:
    rows = []
    for table_row in TABLE_I:
        side: Side = "right" if table_row.joint.startswith("right") else "left"
        norm, cells = find_normative_band(table_row.joint), []
        for view, gait in walking:
            curves = cycle_angles(view, gait, table_row.joint, side)
            if not len(curves):
                cells += [DASH, DASH]
                continue
            mean = curves.mean(axis=0)
            difference = None if norm is None else float(root_mean_square_error(mean, np.degrees(norm.mean)))
            cells += [f"{float(range_of_motion(mean)):.1f}", DASH if difference is None else f"{difference:.1f}"]
        norm_range = DASH if norm is None else f"{np.degrees(norm.range_of_motion):.1f}"
        rows.append((table_row.title, norm_range, *cells))
    range_headers, caption = ("range (deg)", "rms difference from norm (deg)"), "Ranges of motion over the mean cycle."
    names = [view.label for view, _ in walking]
    return heading("Ranges of motion") + grouped_table(
        ["joint angle", "norm (deg)"], names, range_headers, rows, caption
    )
