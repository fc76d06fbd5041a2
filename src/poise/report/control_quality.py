"""Report sections on the quality of control: task errors by level, solver times, fallbacks, and smoothness."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from poise.analysis import (
    log_dimensionless_jerk,
    peak_rate,
    root_mean_square,
    root_mean_square_rate,
    spectral_arc_length,
    torque_arc_length,
)
from poise.arrays import Array
from poise.extras import matplotlib
from poise.html import (
    DASH,
    FULL_WIDTH,
    GRID_COLOR,
    HALF_WIDTH,
    MINUS,
    Section,
    curve,
    figure,
    grid,
    grouped_table,
    join_words,
    new_chart,
    note,
    number,
    paragraph,
    shade_phases,
    si_prefix,
    table,
)
from poise.recording import LevelResidual, Recording, count_texts, percentiles
from poise.report.recording_view import RecordingView, time_range
from poise.solvers import negligible

#: Errors up to this are not drawn if their unit has no threshold of its own.
NEGLIGIBLE_ERROR = 1e-4


def task_errors_section(views: Sequence[RecordingView]) -> Section:
    """Build the section: a figure per level of the hierarchy with a line per recording, and a table."""
    levels = {view.label: {level.name: level for level in view.recording.residuals()} for view in views}
    missing = [note(view.missing_note("levels were recorded")) for view in views if not levels[view.label]]
    names = list(dict.fromkeys(name for view_levels in levels.values() for name in view_levels))
    unmet = [name for name in names if any(_is_unmet(levels[view.label].get(name)) for view in views)]
    always_met = [name for name in names if name not in unmet]
    text = [
        "The error of a level is the norm of its task errors; for inequalities, of what exceeds the bounds."
        if unmet
        else "",
        f"Nothing gives way in {join_words(always_met)}: errors are below 0.1 mm, 1 mrad, 0.1 N or the like."
        if always_met
        else "",
    ]
    figures = [_error_figure(views, levels, name) for name in unmet]
    rows = [_error_row([levels[view.label].get(name) for view in views], name) for name in unmet]
    caption, labels = "Error of each level, highest priority first.", [view.label for view in views]
    summary = grouped_table(["level"], labels, ("rms", "max", "final"), rows, caption) if rows else ""
    return Section("Task errors by level", paragraph(*text) + "".join(missing) + grid(figures, 2) + summary)


def level_error(recording: Recording, key: str) -> np.ndarray:
    """Return the norm of all task errors of a level (``LevelResidual.key``) per sample; else its slack, else NaN."""
    channels = [c for name, c in recording.channels.items() if name.startswith(f"error/{key}/") and c.labels]
    if not channels:
        return np.abs(recording[f"slack/{key}"]) if f"slack/{key}" in recording else np.full(recording.samples, np.nan)
    squares = np.array([np.sum(c.values**2, axis=1) for c in channels])
    present = ~np.isnan(squares).all(axis=0)
    return np.where(present, np.sqrt(np.nansum(squares, axis=0)), np.nan)


def _error_figure(views: Sequence[RecordingView], levels: dict[str, dict[str, LevelResidual]], name: str) -> str:
    available = [view for view in views if name in levels[view.label] and view.recording.samples]
    factor, unit = si_prefix(
        _level_unit(levels, name), max(_largest_error(levels[view.label][name]) for view in available)
    )
    with new_chart(f"Error of the level {name} over time") as chart:
        for view in available:
            style = {"color": view.line_style.color, "linestyle": view.line_style.dashes, "label": view.label}
            curve(
                chart.axes,
                view.recording.time,
                factor * level_error(view.recording, levels[view.label][name].key),
                **style,
            )
        phase_ends = [tuple(round(phase.end, 2) for phase in view.phases) for view in available]
        if len(set(phase_ends)) == 1:
            shade_phases(chart.axes, available[0].phases, HALF_WIDTH)
        chart.axes.set(xlabel="time (s)", ylabel=f"error ({unit})")
        chart.axes.set_ylim(bottom=0.0)
        chart.axes.set_xlim(*time_range(*available))
        if len(views) > 1:
            chart.legend(3)
    finals = [levels[view.label][name].final or 0.0 for view in available]
    factor, unit = si_prefix(_level_unit(levels, name), max(finals))
    text = join_words(
        [f"{number(factor * final)} ({view.label})" for final, view in zip(finals, available, strict=True)]
    )
    return figure(chart.svg, f"{name}: final error {text}, in {unit}.")


def _largest_error(level: LevelResidual | None) -> float:
    return 0.0 if level is None or level.max is None else level.max


def _is_unmet(level: LevelResidual | None) -> bool:
    return level is not None and _largest_error(level) > negligible(level.unit, NEGLIGIBLE_ERROR)


def _level_unit(levels: dict[str, dict[str, LevelResidual]], name: str) -> str:
    return next(
        (view_levels[name].unit for view_levels in levels.values() if name in view_levels and view_levels[name].unit),
        "1",
    )


def _error_row(levels: Sequence[LevelResidual | None], name: str) -> tuple[str, ...]:
    """Return the table row of a level, with a unit prefix that suits its errors."""
    known = next((level.unit for level in levels if level is not None and level.unit), "")
    factor, unit = si_prefix(known, max(map(_largest_error, levels)))
    values = [value for level in levels for value in ((None,) * 3 if level is None else level[2:5])]
    return (
        f"{name} ({unit})" if unit else name,
        *(number(None if value is None else factor * value) for value in values),
    )


# -- Times of the solver and of the control call ---------------------------------------------------------------------


def timing_section(views: Sequence[RecordingView]) -> Section:
    """Build the section: time of control calls as a figure and a table, and all kinds of fallbacks."""
    available = [view for view in views if has_control_times(view)]
    parts = [note(view.missing_note("times were recorded")) for view in views if view not in available]
    parts.insert(0, paragraph(*(_overrun_sentence(view) for view in available)))
    if available:
        parts += [_time_figure(available), _time_table(available)]
    parts.append(_fallback_table(views))
    return Section("Solver times and fallbacks", "".join(parts))


def has_control_times(view: RecordingView) -> bool:
    """Return whether a recording has computing times."""
    name = "control/milliseconds"
    return name in view.recording and bool(np.isfinite(view.recording[name]).any())


def _overrun_sentence(view: RecordingView) -> str:
    late = view.recording.overruns()
    return "" if late is None else f"{view.label}: {late}."


def _time_figure(views: Sequence[RecordingView]) -> str:
    with new_chart("Milliseconds of each control call over time", FULL_WIDTH, 160) as chart:
        for view in views:
            style = {"color": view.line_style.color, "linestyle": "solid", "linewidth": 0.7, "alpha": 0.8}
            curve(chart.axes, view.recording.time, view.recording["control/milliseconds"], label=view.label, **style)
        for period in {round(late.period_ms, 6) for view in views if (late := view.recording.overruns()) is not None}:
            chart.axes.axhline(period, color=GRID_COLOR, linewidth=0.9, linestyle=(0, (4, 2)))
            chart.axes.annotate(
                f"period {period:g} ms", (1.0, period), xycoords=("axes fraction", "data"), ha="right",
                va="bottom", fontsize=7.5, color="#555555", backgroundcolor="#ffffffcc",
            )  # fmt: skip
        chart.axes.set(xlabel="time (s)", ylabel="control call (ms)", yscale="log", xlim=time_range(*views))
        chart.axes.yaxis.set_minor_formatter(matplotlib.ticker.NullFormatter())
        chart.axes.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
        chart.legend(4)
    return figure(chart.svg, "Duration of the control calls, on a logarithmic scale; peaks are preserved.")


def _time_table(views: Sequence[RecordingView]) -> str:
    rows = []
    for title, channel in (("control call (ms)", "control/milliseconds"), ("solver (ms)", "solver/milliseconds"),
                           ("solver iterations", "solver/iterations")):  # fmt: skip
        durations = [percentiles(view.recording, channel) for view in views]
        rows.append(
            (title, *(_format_cell(percentile[key]) for percentile in durations for key in ("median", "p99", "max")))
        )
    statuses = [
        f"{view.label}: "
        + ", ".join(f"{name} {count}" for name, count in count_texts(view.recording, "solver/status").items())
        for view in views
    ]
    time_table = grouped_table([""], [view.label for view in views], ("median", "99th percentile", "maximum"), rows)
    return time_table + paragraph("Solver status: " + "; ".join(statuses) + ".")


def _format_cell(value: float | None) -> str:
    return DASH if value is None else f"{value:.3g}"


def _fallback_table(views: Sequence[RecordingView]) -> str:
    rows = []
    for view in views:
        texts = (
            view.recording["control/fallback"] if "control/fallback" in view.recording else np.zeros(0, dtype=object)
        )
        for name, count in view.recording.fallbacks().items():
            first = next(i for i, text in enumerate(texts) if str(text).partition(":")[0] == name)
            reason = str(texts[first]).partition(":")[2].strip() or DASH
            rows.append((f"{view.label}: {name}", str(count), f"{view.recording.time[first]:.3f}", reason))
    nonfinite_notes = [
        f"{view.label} has {view.recording.nonfinite_commands()} commands that are not finite."
        for view in views
        if view.recording.nonfinite_commands()
    ]
    if not rows:
        return paragraph("No fallback was needed.", *nonfinite_notes)
    return paragraph(*nonfinite_notes) + table(["fallback", "count", "first at (s)", "first reason"], rows)


# -- Smoothness of movement and torques ------------------------------------------------------------------------------


SmoothnessMeasure = Callable[[Array, float], float]

#: Parts that never move faster than this (m/s) are at rest and have no smoothness.
MIN_SPEED = 0.01
#: Smoothness measures of a movement.
MOVEMENT_MEASURES: dict[str, SmoothnessMeasure] = {
    "spectral arc length": spectral_arc_length,
    "log jerk": log_dimensionless_jerk,
}
#: Measures of torques, and whether ratios between recordings are meaningful.
TORQUE_MEASURES: dict[str, tuple[SmoothnessMeasure, bool]] = {
    "root mean square (N m)": (lambda torque, _: root_mean_square(torque), True),
    "root mean square of the rate (N m/s)": (root_mean_square_rate, True),
    "peak rate (N m/s)": (lambda torque, period: peak_rate(torque, period).value, True),
    "spectral arc length": (torque_arc_length, False),
}
SMOOTHNESS_DESCRIPTION = (
    "Spectral arc length and log dimensionless jerk have no unit and do not depend on the size or the duration of a "
    "movement. They are negative, and closer to zero if it is smoother: a single minimum-jerk movement has "
    f"{MINUS}1.41 and {MINUS}5.32."
)
PHASES_DESCRIPTION = (
    "A motion with several movements has lower values; by phase, each phase counts as one movement and the mean is "
    "given."
)
TORQUES_DESCRIPTION = "Values are over all joints together; the peak rate is that of the joint that changes fastest."


def smoothness_section(views: Sequence[RecordingView]) -> Section:
    """Build the section: tables of smoothness of movement and of torques, with columns per recording."""
    no_model_note = "movement of body parts, since the model of its robot is missing"
    without_torques = [view for view in views if view.torque is None]
    missing = without_torques if len(without_torques) < len(views) else []
    notes = [note(view.missing_note("torques were recorded")) for view in missing]
    notes += [note(view.missing_note(no_model_note)) for view in views if view.robot is None]
    has_phases = any(len(view.phases) > 1 for view in views)
    description = paragraph(SMOOTHNESS_DESCRIPTION, PHASES_DESCRIPTION if has_phases else "")
    return Section(
        "Smoothness", description + _movement_table(views, has_phases) + _torque_table(views) + "".join(notes)
    )


def _movement_table(views: Sequence[RecordingView], has_phases: bool) -> str:
    moving = [_part_velocities(view) for view in views]
    parts = list(dict.fromkeys(name for velocities in moving for name in velocities))
    each = [
        f"{title}{variant}" for title in MOVEMENT_MEASURES for variant in (("", ", by phase") if has_phases else ("",))
    ]
    rows = []
    for part in parts:
        cells = []
        for view, velocities in zip(views, moving, strict=True):
            for measure in MOVEMENT_MEASURES.values():
                velocity = velocities.get(part, np.zeros((view.recording.samples, 3)))  # a part at rest
                cells.append(measure(velocity, view.recording.period))
                cells += [mean_by_phase(view, velocity, measure)] if has_phases else []
        rows.append((part, *map(number, cells)))
    return grouped_table(["movement of"], [view.label for view in views], each, rows) if rows else ""


def _part_velocities(view: RecordingView) -> dict[str, Array]:
    """Return the velocities of feet, hands and center of mass that move, (n, 3), m/s, by name."""
    tracks = view.body_trajectories
    if tracks is None:
        return {}
    moving = {f"{foot.side} foot": tracks.velocity(foot) for foot in tracks.robot.feet}
    moving |= {f"{hand.side} hand": tracks.velocity(hand) for hand in tracks.robot.hands}
    moving["center of mass"] = tracks.center_of_mass_velocity
    return {name: v for name, v in moving.items() if np.isfinite(v).all() and _peak_speed(v) > MIN_SPEED}


def mean_by_phase(view: RecordingView, velocity: Array, measure: SmoothnessMeasure) -> float:
    """Return the mean of a measure over the phases with movement; NaN if there are none."""
    time, values = view.recording.time, []
    for phase in view.phases:
        phase_velocity = velocity[(time >= phase.begin - 1e-9) & (time < phase.end - 1e-9)]
        if _peak_speed(phase_velocity) > MIN_SPEED:
            values.append(measure(phase_velocity, view.recording.period))
    return float(np.mean(values)) if values else np.nan


def _torque_table(views: Sequence[RecordingView]) -> str:
    available = [view for view in views if view.torque is not None]
    if not available:
        return ""
    rows = []
    for title, (measure, has_ratio) in TORQUE_MEASURES.items():
        values = [measure(view.torque, view.recording.period) for view in available if view.torque is not None]
        ratios = [number(value / values[0]) if has_ratio and values[0] else "" for value in values[1:]]
        rows.append((title, *map(number, values), *ratios))
    rows.append(("joint with the peak rate", *map(_fastest_torque_joint, available), *[""] * (len(available) - 1)))
    head = [
        "torques",
        *(view.label for view in available),
        *(f"{view.label} / {available[0].label}" for view in available[1:]),
    ]
    return paragraph(TORQUES_DESCRIPTION) + table(head, rows)


def _fastest_torque_joint(view: RecordingView) -> str:
    """Return the name of the joint with the largest torque rate."""
    fastest = peak_rate(np.zeros((0, 1)) if view.torque is None else view.torque, view.recording.period)
    return view.torque_joints[fastest.column] if fastest.sample >= 0 else DASH


def _peak_speed(velocity: Array) -> float:
    return float(np.linalg.norm(velocity, axis=1).max(initial=0.0))
