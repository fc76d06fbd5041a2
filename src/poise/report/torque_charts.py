"""Report sections on joint torques: by limb over time, and as shares of their limits."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from poise.analysis import peak
from poise.html import (
    COLORS,
    DASHES,
    FAINT,
    HALF,
    SHADE,
    WHOLE,
    Section,
    beside,
    column,
    curve,
    drawing,
    figure,
    grouped,
    heading,
    listed,
    note,
    number,
    paragraph,
    percent,
    shade,
    short,
)
from poise.report.recording_view import Subject, span
from poise.robots import Limb

#: Limbs that belong together on the page.
GROUPS = (
    ("Legs", ("left leg", "right leg")),
    ("Trunk and head", ("trunk", "head")),
    ("Arms", ("left arm", "right arm")),
    ("Other joints", ("other joints", "all joints")),
)


def torques(subjects: Sequence[Subject]) -> Section:
    """One figure per limb and recording; those of a limb share their scale."""
    given = [s for s in subjects if s.torque is not None]
    absent = "torques were recorded; its controller commands motion only"
    missing = [note(s.lacks(absent)) for s in subjects if s.torque is None]
    parts = [paragraph(*(_largest(s) for s in given)), *missing]
    for title, names in GROUPS:
        rows = [row for name in names if (row := _limb_row(given, name))]
        if len(given) == 1:  # left and right side by side
            rows = [[each for row in rows for each in row]] if rows else []
        parts += [heading(title)] if rows else []
        parts += [beside(row, len(given)) for row in rows]
    return Section("Torques by limb", "".join(parts))


def _largest(subject: Subject) -> str:
    most = peak(subject.torque if subject.torque is not None else np.zeros((0, 1)))
    name = subject.joints[most.column]
    unit = subject.recording.units[f"command/torque/{name}"]
    limits = subject.torque_limits
    share = "" if limits is None or np.isnan(limits[most.column]) else (
        f" ({percent(most.value / limits[most.column])} of its limit)"
    )  # fmt: skip
    at = subject.recording.time[most.sample]
    return f"The largest torque of {subject.label} is {number(most.value)} {unit}, at {name}{share}, after {at:.2f} s."


def _limb_row(subjects: Sequence[Subject], limb: str) -> list[str]:
    """The figures of one limb, one per recording that has it, at the same scale."""
    having = [(s, own) for s in subjects for own in s.limbs if own.name == limb and _columns(s, own)]
    sizes = [np.abs(s.torque[:, _columns(s, own)]) for s, own in having if s.torque is not None]
    top = max((float(np.nanmax(size)) for size in sizes if np.isfinite(size).any()), default=1.0)
    return [_limb_figure(s, own, top, column(len(subjects))) for s, own in having]


def _limb_figure(subject: Subject, limb: Limb, top: float, width: float) -> str:
    columns = _columns(subject, limb)
    names = [subject.joints[k] for k in columns]
    units = sorted({subject.recording.units[f"command/torque/{name}"] for name in names}, reverse=True)
    torque = subject.torque
    assert torque is not None
    with drawing(f"Torques of the {limb.name} of {subject.label} over time", width) as drawn:
        axes = drawn.axes
        for i, (k, name) in enumerate(zip(columns, short(names), strict=True)):
            style = {"color": COLORS[i % len(COLORS)], "linestyle": DASHES[i % len(DASHES)]}
            curve(axes, subject.recording.time, torque[:, k], label=name, **style)
        shade(axes, subject.phases, width)
        axes.set(xlabel="time (s)", ylabel=f"torque ({', '.join(units)})", ylim=(-1.08 * top or -1, 1.08 * top or 1))
        axes.set_xlim(*span(subject))
        drawn.legend(4 if width >= HALF else 3)
    most = peak(torque[:, columns])
    said = f"{subject.label}, {limb.name}: at most {number(most.value)} {units[0]} at {names[most.column]}."
    return figure(drawn.svg, said)


def _columns(subject: Subject, limb: Limb) -> list[int]:
    return [subject.joints.index(name) for name in limb.joints if name in subject.joints]


# -- How much of its torque limit each joint used --------------------------------------------------------------------


#: Joints in the table: those that come closest to their limits.
SHOWN = 8
#: Of its limit: a joint that reaches this is at it, give or take the rounding of a solver.
AT_LIMIT = 0.999
MARKERS = ("o", "s", "^", "D", "v", "P")


def limits(subjects: Sequence[Subject]) -> Section:
    """A dot per joint and recording, and a table of the joints closest to their limits."""
    absent = [
        note(s.lacks("torques were recorded" if s.torque is None else "limits are known without its robot's model"))
        for s in subjects
        if s.torque is None or s.torque_limits is None
    ]
    given = [s for s in subjects if s.torque is not None and s.torque_limits is not None]
    robots: dict[tuple[str, ...], list[Subject]] = {}
    for subject in given:
        robots.setdefault(subject.joints, []).append(subject)
    parts = [paragraph(*(_said(s) for s in given)), *absent]
    for same in robots.values():
        parts += [_share_figure(same), _table(same)]
    return Section("Torques as a share of their limits", "".join(parts))


def shares(subject: Subject) -> np.ndarray:
    """|τ| / limit, (n, joints)."""
    assert subject.torque is not None
    assert subject.torque_limits is not None
    return np.abs(subject.torque) / subject.torque_limits


def _peaks(subject: Subject) -> np.ndarray:
    used = shares(subject)
    return np.where(np.isnan(used).all(axis=0), np.nan, np.nanmax(np.where(np.isnan(used), -np.inf, used), axis=0))


def _said(subject: Subject) -> str:
    at = [name for name, most in zip(subject.joints, _peaks(subject), strict=True) if most >= AT_LIMIT]
    if not at:
        return f"No joint of {subject.label} reached its torque limit."
    return f"{subject.label} reached the limit of {listed(at)}."


def _share_figure(subjects: Sequence[Subject]) -> str:
    """Rows are joints, by limb; a dot is the peak, a bar the root mean square."""
    joints = [name for limb in subjects[0].limbs for name in limb.joints if name in subjects[0].joints]
    columns = [subjects[0].joints.index(name) for name in joints]
    rows = np.arange(len(joints))
    with drawing("Torque of each joint as a share of its limit", WHOLE, 50 + 13.0 * len(joints), 160.0) as drawn:
        axes, top = drawn.axes, 1.0
        for i, subject in enumerate(subjects):
            offset = (i - (len(subjects) - 1) / 2) * 0.5 / len(subjects)
            used = 100.0 * shares(subject)[:, columns]
            mean = np.sqrt(np.nanmean(used**2, axis=0))
            peaks = 100.0 * _peaks(subject)[columns]
            top = max(top, float(np.nanmax(peaks)))
            axes.hlines(rows + offset, 0.0, mean, color=subject.line.color, linewidth=3.0, alpha=0.45)
            marker = MARKERS[i % len(MARKERS)]
            axes.plot(
                peaks, rows + offset, marker, color=subject.line.color, markersize=4.0, linestyle="none",
                label=f"{subject.label}: peak, bar: root mean square",
            )  # fmt: skip
        axes.axvline(100.0, color=FAINT, linewidth=0.8)
        _by_limb(drawn.axes, subjects[0], joints)
        axes.set(xlabel="share of the torque limit (%)", xlim=(0.0, max(104.0, 1.04 * top)))
        axes.set_yticks(rows, joints)
        axes.set_ylim(len(joints) - 0.5, -0.5)
        drawn.legend(min(len(subjects), 2))
    return figure(
        drawn.svg, f"Peak and root mean square of each joint of {subjects[0].robot_name}; the line is the limit."
    )


def _by_limb(axes: object, subject: Subject, joints: list[str]) -> None:
    """Every other limb on a grey ground."""
    begin = 0
    for i, limb in enumerate(limb for limb in subject.limbs if set(limb.joints) & set(joints)):
        count = len(set(limb.joints) & set(joints))
        if i % 2:
            axes.axhspan(begin - 0.5, begin + count - 0.5, color=SHADE, linewidth=0, zorder=0)  # type: ignore[attr-defined]
        begin += count


def _table(subjects: Sequence[Subject]) -> str:
    peaks = np.array([_peaks(s) for s in subjects])
    order = np.argsort(-np.nanmax(np.where(np.isnan(peaks), -1.0, peaks), axis=0))[:SHOWN]
    first = subjects[0]
    assert first.torque_limits is not None
    rows = []
    for k in order:
        cells = []
        for s in subjects:
            used = shares(s)[:, k]
            at = int(np.nanargmax(np.where(np.isnan(used), -1.0, used)))
            assert s.torque is not None
            cells += [number(abs(float(s.torque[at, k]))), percent(float(used[at])), f"{s.recording.time[at]:.2f}"]
        rows.append((first.joints[k], number(float(first.torque_limits[k])), *cells))
    each, caption = ("peak (N m)", "share", "at (s)"), f"The {len(rows)} joints closest to their limits."
    return grouped(["joint", "limit (N m)"], [s.label for s in subjects], each, rows, caption)
