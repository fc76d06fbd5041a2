"""Report section on guided motion: paths of the navigation points ([Sugihara2008]) and motion segments."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from poise.arrays import Array
from poise.html import (
    DASH,
    GRID_COLOR,
    HALF_WIDTH,
    MARGIN_BOTTOM,
    MARGIN_LEFT,
    MARGIN_RIGHT,
    MARGIN_TOP,
    TEXT_COLOR,
    Section,
    curve,
    figure,
    grid,
    heading,
    new_chart,
    note,
    number,
    paragraph,
    table,
)
from poise.report.balance_view import path_curve
from poise.report.recording_view import RecordingView, time_range
from poise.robots import Foot, Hand

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SegmentRecord = Mapping[str, Any]

#: Largest number of table rows; of more segments, only those with corrections, notes or another outcome are shown.
MAX_TABLE_ROWS = 80
#: Number of samples at which the distance to the edge is measured.
MARGIN_SAMPLES = 1200
#: Width of the bins of the histogram (s): the usual increment of durations.
HISTOGRAM_BIN = 0.1
PLANNED_COLOR, ACTUAL_COLOR = "#00568a", "#d55e00"


def segment_summary(view: RecordingView, segments: Sequence[SegmentRecord]) -> str:
    """Return a summary sentence, figures of durations and ZMP margins, and a table of the segments."""
    outcomes = Counter(str(each["outcome"]) for each in segments)
    outcome_text = ", ".join(f"{count} {name}" for name, count in outcomes.items())
    prolonged_count = sum(1 for each in segments if each["corrections"])
    projected_count = sum(1 for each in segments if each.get("projected"))
    description = (
        f"{len(segments)} segments ({outcome_text}); {prolonged_count} were prolonged to keep the zero-moment point "
        f"inside the support polygon, and {projected_count} commands outside the workspace were projected onto its "
        "boundary."
    )
    return (
        paragraph(description)
        + grid([_duration_figure(view, segments), _margin_figure(view, segments)])
        + _segment_table(segments)
    )


def _duration_figure(view: RecordingView, segments: Sequence[SegmentRecord]) -> str:
    durations = np.array([each["duration"] for each in segments])
    first = HISTOGRAM_BIN * np.floor(durations.min() / HISTOGRAM_BIN + 1e-6)
    edges = np.arange(first, durations.max() + 2.0 * HISTOGRAM_BIN, HISTOGRAM_BIN)
    with new_chart(f"Durations of the segments of {view.label}", HALF_WIDTH) as chart:
        chart.axes.hist(durations + 1e-9, bins=list(edges), color=PLANNED_COLOR, edgecolor="white", linewidth=0.5)
        chart.axes.set(xlabel="T (s)", ylabel="segments")
    longest = number(float(durations.max()), 2)
    return figure(chart.svg, f"{view.label}: durations of segments; the longest took {longest} s.")


def _margin_figure(view: RecordingView, segments: Sequence[SegmentRecord]) -> str:
    """Plot the distance of the ZMP from the edge of the support: planned minimum of each segment, and actual CoP."""
    recording, tracks = view.recording, view.body_trajectories
    with new_chart(
        f"Distance of the zero-moment point of {view.label} to the edge of the support", HALF_WIDTH
    ) as chart:
        axes = chart.axes
        if tracks is not None and "center_of_pressure" in recording:
            n = recording.samples
            samples = np.unique(np.linspace(0, n - 1, min(MARGIN_SAMPLES, n)).astype(int))
            margins = 1e3 * tracks.margins(recording["center_of_pressure"], samples.tolist())
            style = {"color": ACTUAL_COLOR, "linewidth": 0.6, "label": "actual center of pressure"}
            curve(axes, recording.time[samples], margins, **style)
        known = [each for each in segments if each["margin"] is not None]
        ends = [*(each["time"] for each in known[1:]), known[-1]["time"] + known[-1]["duration"]] if known else []
        for i, (each, end) in enumerate(zip(known, ends, strict=True)):
            label = "planned, minimum of each segment" if i == 0 else None
            axes.plot((each["time"], end), [1e3 * each["margin"]] * 2, color=PLANNED_COLOR, linewidth=1.4, label=label)
        axes.axhline(0.0, color=TEXT_COLOR, linewidth=0.6)
        axes.grid(color=GRID_COLOR, alpha=0.25, linewidth=0.5)
        axes.set(xlabel="time (s)", ylabel="margin (mm)", xlim=time_range(view))
        chart.legend(2)
    text = "planned for soles reduced by the reserve for feedback, measured for the full soles"
    return figure(chart.svg, f"{view.label}: margin of the zero-moment point; {text}.")


def _segment_table(segments: Sequence[SegmentRecord]) -> str:
    shown = list(enumerate(segments, start=1))
    caption = (
        "Motion segments: T is the duration, corrections the number of times it was prolonged; the margin is that of "
        "the planned zero-moment point."
    )
    if len(shown) > MAX_TABLE_ROWS:
        notable = [
            (i, each) for i, each in shown if each["corrections"] or each["notes"] or each["outcome"] != "commanded"
        ]
        shown = notable[:MAX_TABLE_ROWS]
        caption += f" Shown are {len(shown)} of {len(segments)} segments, with corrections, notes or another outcome."
    head = ["segment", "time (s)", "guided point", "T (s)", "corrections", "outcome", "step", "margin (mm)", "notes"]
    rows = [
        (
            str(i),
            f"{each['time']:.2f}",
            str(each["mode"]),
            f"{each['duration']:.2f}",
            str(each["corrections"]) if each["corrections"] else DASH,
            str(each["outcome"]),
            _step_text(each),
            DASH if each["margin"] is None else f"{1e3 * each['margin']:.0f}",
            "; ".join(map(str, each["notes"])),
        )
        for i, each in shown
    ]
    return table(head, rows, caption) if rows else ""


def _step_text(segment: SegmentRecord) -> str:
    swing_foot = segment["swing_foot"]
    if swing_foot is None:
        return DASH
    return f"{swing_foot} (air)" if segment["foot_in_air"] else str(swing_foot)


# -- Paths of the navigation points ----------------------------------------------------------------------------------


#: Paths of the navigation points by name, (n, 3), m, with NaN between segments.
Paths = Mapping[str, Array]

#: Colors of the navigation points.
POINT_COLORS = {
    "center": TEXT_COLOR,
    "left foot": "#00568a",
    "right foot": "#d55e00",
    "left hand": "#009e73",
    "right hand": "#b3589a",
}
#: Views from above and from the side, as (horizontal axis, vertical axis).
PROJECTIONS = {"above": (0, 1), "the side": (0, 2)}
#: Smallest and largest height of the axes, in drawing units.
MIN_HEIGHT, MAX_HEIGHT = 90.0, 330.0
NAVIGATION_DESCRIPTION = (
    "One point is guided at a time, and the others follow. Left: paths planned by the motion segments, each from the "
    "state of the robot at its start, with a ring at the subgoal of its guided point. Right: actual paths of the "
    "robot, with the same rings. The path of a foot is that of the center of its sole."
)


def guided_motion_section(views: Sequence[RecordingView]) -> Section | None:
    """Build the section: planned and actual paths from above and from the side, and the segments.

    None if no recording is of a guided motion.
    """
    guided = [(view, segments) for view in views if (segments := view.recording.provenance.get("segments"))]
    if not guided:
        return None
    parts = [paragraph(NAVIGATION_DESCRIPTION)]
    for view, segments in guided:
        if len(views) > 1:
            parts.append(heading(view.label))
        parts += [*_path_figures(view, segments), segment_summary(view, segments)]
    return Section("Guided-point navigation", "".join(parts))


def planned_paths(segments: Sequence[SegmentRecord]) -> Paths:
    """Return the planned paths of all segments, separated by NaN."""
    names = [name for name in POINT_COLORS if name in segments[0]["planned_paths"]]
    separator = np.full((1, 3), np.nan)
    return {name: np.vstack([_segment_path(each, name, separator) for each in segments]) for name in names}


def actual_paths(view: RecordingView, names: Sequence[str]) -> Paths | None:
    """Return the actual paths of the named points; None without the model of the robot."""
    tracks = view.body_trajectories
    if tracks is None:
        return None
    paths: dict[str, Array] = {"center": tracks.center_of_mass}
    for k, part in enumerate(tracks.parts):
        if isinstance(part, Foot):
            paths[f"{part.side} foot"] = tracks.positions[:, k] + tracks.rotations[:, k] @ part.sole.center
        elif isinstance(part, Hand):
            paths.setdefault(f"{part.side} hand", tracks.positions[:, k])
    return {name: paths[name] for name in names if name in paths}


def _segment_path(segment: SegmentRecord, name: str, separator: Array) -> Array:
    """Return the planned path of a point up to the start of the next segment, followed by a gap."""
    return np.vstack([np.array(segment["planned_paths"][name], dtype=np.float64), separator])


def _path_figures(view: RecordingView, segments: Sequence[SegmentRecord]) -> list[str]:
    planned_points = planned_paths(segments)
    actual_points = actual_paths(view, list(planned_points))
    shown = (
        [("planned", planned_points)]
        if actual_points is None
        else [("planned", planned_points), ("actual", actual_points)]
    )
    world_record = view.recording.provenance.get("world", {})
    world = world_record if isinstance(world_record, Mapping) else {}
    missing = (
        [note(view.missing_note("actual paths, since the model of its robot is missing"))]
        if actual_points is None
        else []
    )
    figures = []
    for projection in PROJECTIONS:
        limits = _axis_limits([each for _, each in shown], world, projection)
        figures.append(
            grid([_path_figure(view, kind, each, segments, world, projection, limits) for kind, each in shown])
        )
    return [*missing, *figures]


def _axis_limits(shown: Sequence[Paths], world: Mapping[str, Any], projection: str) -> Array:
    """Return the lower and upper corner of the axes, (2, 2), m: all paths, and the target of the world."""
    axes = list(PROJECTIONS[projection])
    points = np.vstack([path[:, axes] for each in shown for path in each.values()])
    points = points[np.isfinite(points).all(axis=1)]
    low, high = points.min(axis=0), points.max(axis=0)
    if "target" in world:
        target = np.array(world["target"])[:, axes]
        low, high = np.minimum(low, target.min(axis=0)), np.maximum(high, target.max(axis=0))
    padding = 0.04 * float((high - low).max()) + 0.01
    return np.array([low - padding, high + padding])


def _path_figure(
    view: RecordingView,
    kind: str,
    shown: Paths,
    segments: Sequence[SegmentRecord],
    world: Mapping[str, Any],
    projection: str,
    limits: Array,
) -> str:
    size = np.ptp(limits, axis=0)
    axes_height = (HALF_WIDTH - MARGIN_LEFT - MARGIN_RIGHT) * float(size[1] / size[0])
    height = min(max(axes_height, MIN_HEIGHT), MAX_HEIGHT) + MARGIN_TOP + MARGIN_BOTTOM
    columns = PROJECTIONS[projection]
    with new_chart(f"{kind} paths of {view.label} from {projection}", HALF_WIDTH, height) as chart:
        axes = chart.axes
        _draw_world(axes, world, projection)
        for name, points in shown.items():
            label = "center of mass" if name == "center" else name
            style = {"color": POINT_COLORS[name], "linewidth": 1.3 if name == "center" else 0.9}
            path_curve(axes, points[:, list(columns)], label, style)
        _draw_subgoals(axes, segments, columns)
        axes.set(xlabel="x (m)", ylabel="y (m)" if projection == "above" else "z (m)", aspect="equal")
        axes.set(xlim=tuple(limits[:, 0]), ylim=tuple(limits[:, 1]))
        axes.grid(color=GRID_COLOR, alpha=0.25, linewidth=0.5)
        chart.legend(3)
    return figure(chart.svg, f"{view.label}: {kind} paths, from {projection}.")


def _draw_subgoals(axes: Axes, segments: Sequence[SegmentRecord], columns: tuple[int, int]) -> None:
    """Draw a ring at the subgoal of the guided point of each segment; segments with joysticks at rest have none."""
    is_labelled = False
    for mode, color in POINT_COLORS.items():
        name = "trunk" if mode == "center" else mode
        goals = [
            each["goal"][mode]
            for each in segments
            if each["mode"] == name and any(each["axes"]) and mode in each["goal"]
        ]
        if goals:
            label = None if is_labelled else "subgoal"
            x, y = np.array(goals, dtype=np.float64)[:, list(columns)].T
            axes.plot(x, y, "o", color=color, markersize=3.6, markerfacecolor="none", markeredgewidth=0.7, label=label)
            is_labelled = True


def _draw_world(axes: Axes, world: Mapping[str, Any], projection: str) -> None:
    """Draw stairs, door and target if the recording describes them."""
    if not world:
        return
    line: dict[str, Any] = {"color": GRID_COLOR, "linewidth": 1.0}
    if projection == "above":
        for x, y, right, top in [*world.get("edges", ()), *world.get("door", ())]:
            axes.plot((x, right), (y, top), **line)
    elif "profile" in world:
        axes.plot(*np.array(world["profile"]).T, **line)
    if "target" in world:
        x, y = np.array(world["target"])[:, list(PROJECTIONS[projection])].T
        axes.plot(x, y, "x", color=TEXT_COLOR, markersize=6, markeredgewidth=1.2, label="goal B", linestyle="none")
