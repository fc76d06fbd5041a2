"""Torques by limb over time, with the phases of the motion shaded, as in figures 3 and 4 of [Saab2012]."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from poise.analysis import Limb, peak
from poise.report.page.drawing import COLORS, DASHES, HALF, column, curve, drawing, shade, short, span
from poise.report.page.html import beside, figure, heading, note, number, paragraph, percent
from poise.report.page.section import Section
from poise.report.page.subject import Subject

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
        rows = [row for name in names if (row := _row(given, name))]
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


def _row(subjects: Sequence[Subject], limb: str) -> list[str]:
    """The figures of one limb, one per recording that has it, at the same scale."""
    having = [(s, own) for s in subjects for own in s.limbs if own.name == limb and _columns(s, own)]
    sizes = [np.abs(s.torque[:, _columns(s, own)]) for s, own in having if s.torque is not None]
    top = max((float(np.nanmax(size)) for size in sizes if np.isfinite(size).any()), default=1.0)
    return [_figure(s, own, top, column(len(subjects))) for s, own in having]


def _figure(subject: Subject, limb: Limb, top: float, width: float) -> str:
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
