"""Report sections on joint torques: by limb over time, and as shares of the torque limits."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from poise.analysis import peak
from poise.html import (
    FULL_WIDTH,
    GRID_COLOR,
    HALF_WIDTH,
    LINE_COLORS,
    LINE_DASHES,
    SHADE_COLOR,
    Section,
    chart_width,
    curve,
    figure,
    grid,
    grouped_table,
    heading,
    join_words,
    new_chart,
    note,
    number,
    paragraph,
    percent,
    shade_phases,
    short_joint_names,
)
from poise.report.recording_view import RecordingView, time_range
from poise.robots import Limb

#: Groups of limbs with a common heading.
LIMB_GROUPS = (
    ("Legs", ("left leg", "right leg")),
    ("Trunk and head", ("trunk", "head")),
    ("Arms", ("left arm", "right arm")),
    ("Other joints", ("other joints", "all joints")),
)


def joint_torques_section(views: Sequence[RecordingView]) -> Section:
    """Build the section: one figure per limb and recording; figures of one limb have the same scale."""
    available = [view for view in views if view.torque is not None]
    no_torques_note = "torques were recorded; its controller commands motion only"
    missing = [note(view.missing_note(no_torques_note)) for view in views if view.torque is None]
    parts = [paragraph(*(_largest_torque_sentence(view) for view in available)), *missing]
    for title, names in LIMB_GROUPS:
        rows = [row for name in names if (row := _limb_row(available, name))]
        if len(available) == 1:  # left and right side by side
            rows = [[each for row in rows for each in row]] if rows else []
        parts += [heading(title)] if rows else []
        parts += [grid(row, len(available)) for row in rows]
    return Section("Torques by limb", "".join(parts))


def _largest_torque_sentence(view: RecordingView) -> str:
    highest = peak(view.torque if view.torque is not None else np.zeros((0, 1)))
    name = view.torque_joints[highest.column]
    unit = view.recording.units[f"command/torque/{name}"]
    limits = view.torque_limits
    share = "" if limits is None or np.isnan(limits[highest.column]) else (
        f" ({percent(highest.value / limits[highest.column])} of its limit)"
    )  # fmt: skip
    at = view.recording.time[highest.sample]
    return f"The largest torque of {view.label} is {number(highest.value)} {unit}, at {name}{share}, after {at:.2f} s."


def _limb_row(views: Sequence[RecordingView], limb: str) -> list[str]:
    """Return the figures of one limb, one per recording that has it, at the same scale."""
    available = [
        (view, each) for view in views for each in view.limbs if each.name == limb and _torque_columns(view, each)
    ]
    sizes = [np.abs(view.torque[:, _torque_columns(view, each)]) for view, each in available if view.torque is not None]
    y_max = max((float(np.nanmax(size)) for size in sizes if np.isfinite(size).any()), default=1.0)
    return [_limb_figure(view, each, y_max, chart_width(len(views))) for view, each in available]


def _limb_figure(view: RecordingView, limb: Limb, y_max: float, width: float) -> str:
    columns = _torque_columns(view, limb)
    names = [view.torque_joints[k] for k in columns]
    units = sorted({view.recording.units[f"command/torque/{name}"] for name in names}, reverse=True)
    torque = view.torque
    assert torque is not None
    with new_chart(f"Torques of the {limb.name} of {view.label} over time", width) as chart:
        axes = chart.axes
        for i, (k, name) in enumerate(zip(columns, short_joint_names(names), strict=True)):
            style = {"color": LINE_COLORS[i % len(LINE_COLORS)], "linestyle": LINE_DASHES[i % len(LINE_DASHES)]}
            curve(axes, view.recording.time, torque[:, k], label=name, **style)
        shade_phases(axes, view.phases, width)
        axes.set(
            xlabel="time (s)", ylabel=f"torque ({', '.join(units)})", ylim=(-1.08 * y_max or -1, 1.08 * y_max or 1)
        )
        axes.set_xlim(*time_range(view))
        chart.legend(4 if width >= HALF_WIDTH else 3)
    highest = peak(torque[:, columns])
    text = f"{view.label}, {limb.name}: at most {number(highest.value)} {units[0]} at {names[highest.column]}."
    return figure(chart.svg, text)


def _torque_columns(view: RecordingView, limb: Limb) -> list[int]:
    return [view.torque_joints.index(name) for name in limb.joints if name in view.torque_joints]


# -- Shares of the torque limits -------------------------------------------------------------------------------------


#: Number of joints in the table: those closest to their limits.
TABLE_ROWS = 8
#: Share of the limit from which a joint counts as at its limit, to allow for solver tolerance.
AT_LIMIT = 0.999
MARKER_SHAPES = ("o", "s", "^", "D", "v", "P")


def torque_limits_section(views: Sequence[RecordingView]) -> Section:
    """Build the section: a dot per joint and recording, and a table of the joints closest to their limits."""
    missing = [
        note(
            view.missing_note(
                "torques were recorded"
                if view.torque is None
                else "torque limits, since the model of its robot is missing"
            )
        )
        for view in views
        if view.torque is None or view.torque_limits is None
    ]
    available = [view for view in views if view.torque is not None and view.torque_limits is not None]
    robots: dict[tuple[str, ...], list[RecordingView]] = {}
    for view in available:
        robots.setdefault(view.torque_joints, []).append(view)
    parts = [paragraph(*(_limit_sentence(view) for view in available)), *missing]
    for robot_views in robots.values():
        parts += [_share_figure(robot_views), _share_table(robot_views)]
    return Section("Torques as a share of their limits", "".join(parts))


def torque_shares(view: RecordingView) -> np.ndarray:
    """Return |τ| / limit of each joint and sample, (n, joints)."""
    assert view.torque is not None
    assert view.torque_limits is not None
    return np.abs(view.torque) / view.torque_limits


def _peak_shares(view: RecordingView) -> np.ndarray:
    shares = torque_shares(view)
    return np.where(
        np.isnan(shares).all(axis=0), np.nan, np.nanmax(np.where(np.isnan(shares), -np.inf, shares), axis=0)
    )


def _limit_sentence(view: RecordingView) -> str:
    at = [name for name, highest in zip(view.torque_joints, _peak_shares(view), strict=True) if highest >= AT_LIMIT]
    if not at:
        return f"No joint of {view.label} reached its torque limit."
    return f"{view.label} reached the torque limit of {join_words(at)}."


def _share_figure(views: Sequence[RecordingView]) -> str:
    """Plot one row per joint, ordered by limb: a dot for the peak share, a bar for its root mean square."""
    joints = [name for limb in views[0].limbs for name in limb.joints if name in views[0].torque_joints]
    columns = [views[0].torque_joints.index(name) for name in joints]
    rows = np.arange(len(joints))
    with new_chart("Torque of each joint as a share of its limit", FULL_WIDTH, 50 + 13.0 * len(joints), 160.0) as chart:
        axes, y_max = chart.axes, 1.0
        for i, view in enumerate(views):
            offset = (i - (len(views) - 1) / 2) * 0.5 / len(views)
            shares = 100.0 * torque_shares(view)[:, columns]
            mean = np.sqrt(np.nanmean(shares**2, axis=0))
            peaks = 100.0 * _peak_shares(view)[columns]
            y_max = max(y_max, float(np.nanmax(peaks)))
            axes.hlines(rows + offset, 0.0, mean, color=view.line_style.color, linewidth=3.0, alpha=0.45)
            marker = MARKER_SHAPES[i % len(MARKER_SHAPES)]
            axes.plot(
                peaks, rows + offset, marker, color=view.line_style.color, markersize=4.0, linestyle="none",
                label=f"{view.label}: peak, bar: root mean square",
            )  # fmt: skip
        axes.axvline(100.0, color=GRID_COLOR, linewidth=0.8)
        _shade_limbs(chart.axes, views[0], joints)
        axes.set(xlabel="share of the torque limit (%)", xlim=(0.0, max(104.0, 1.04 * y_max)))
        axes.set_yticks(rows, joints)
        axes.set_ylim(len(joints) - 0.5, -0.5)
        chart.legend(min(len(views), 2))
    return figure(
        chart.svg, f"Peak and root mean square of each joint of {views[0].robot_name}; the line is the limit."
    )


def _shade_limbs(axes: object, view: RecordingView, joints: list[str]) -> None:
    """Shade the rows of every second limb."""
    begin = 0
    for i, limb in enumerate(limb for limb in view.limbs if set(limb.joints) & set(joints)):
        count = len(set(limb.joints) & set(joints))
        if i % 2:
            axes.axhspan(begin - 0.5, begin + count - 0.5, color=SHADE_COLOR, linewidth=0, zorder=0)  # type: ignore[attr-defined]
        begin += count


def _share_table(views: Sequence[RecordingView]) -> str:
    peaks = np.array([_peak_shares(view) for view in views])
    order = np.argsort(-np.nanmax(np.where(np.isnan(peaks), -1.0, peaks), axis=0))[:TABLE_ROWS]
    first = views[0]
    assert first.torque_limits is not None
    rows = []
    for k in order:
        cells = []
        for view in views:
            shares = torque_shares(view)[:, k]
            at = int(np.nanargmax(np.where(np.isnan(shares), -1.0, shares)))
            assert view.torque is not None
            cells += [
                number(abs(float(view.torque[at, k]))),
                percent(float(shares[at])),
                f"{view.recording.time[at]:.2f}",
            ]
        rows.append((first.torque_joints[k], number(float(first.torque_limits[k])), *cells))
    each, caption = ("peak (N m)", "share", "at (s)"), f"The {len(rows)} joints closest to their limits."
    return grouped_table(["joint", "limit (N m)"], [view.label for view in views], each, rows, caption)
