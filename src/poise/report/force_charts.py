"""Report sections on contact forces: commanded and sensed forces, and the pressure under each sole."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from poise.arrays import Array
from poise.errors import PoiseError
from poise.extras import scipy
from poise.html import (
    FAINT,
    HALF,
    NONE,
    Section,
    beside,
    column,
    curve,
    drawing,
    figure,
    heading,
    listed,
    note,
    number,
    paragraph,
    percent,
    shade,
    table,
)
from poise.plants import Push
from poise.recording import LEAST_LOAD, plain
from poise.report.recording_view import Subject, span
from poise.robots import Foot
from poise.state import CELL_FILTER, sole_pressure

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Where forces stand in a recording, what the page calls them, and how they are drawn.
KINDS = {"force": "commanded", "sensed/force": "sensed", "plate/force": "plate"}
LINES: dict[str, Any] = {
    "force": {"linewidth": 1.3, "linestyle": (0, (4, 1.2))},
    "sensed/force": {"linewidth": 1.0, "alpha": 0.45},
    "plate/force": {"linewidth": 1.2},
}
VERTICAL, ALONG = "#00568a", "#d55e00"
#: Below this (N) of what was ever felt or asked for, a contact did not touch.
UNTOUCHED = 1.0


def forces(subjects: Sequence[Subject]) -> Section:
    """A figure per contact and recording, and a table of the differences."""
    absent = "contact forces were recorded; its controller and plant know none"
    missing = [note(s.lacks(absent)) for s in subjects if not s.contacts]
    touching = {s.label: [name for name in s.contacts if _most(s, name) > UNTOUCHED] for s in subjects}
    idle = sorted({name for s in subjects for name in s.contacts if name not in touching[s.label]})
    names = list(dict.fromkeys(name for own in touching.values() for name in own))
    parts = [paragraph("Forces act on the robot, in world axes.", _idle(idle)) if names else "", *missing]
    alone = sum(bool(own) for own in touching.values()) == 1  # then contacts stand side by side
    rows, figures = [], []
    for name in names:
        having = [s for s in subjects if name in touching[s.label]]
        top = max(_most(s, name) for s in having)
        figures.append([_force_figure(s, name, top, HALF if alone else column(len(subjects))) for s in having])
        rows += [_force_row(s, name) for s in having]
    parts += [beside(itertools.chain(*figures))] if alone else [beside(row, len(subjects)) for row in figures]
    head = ["contact", "commanded (N)", "sensed (N)", "rms difference (N)", "share of the weight"]
    parts.append(
        table(head, rows, "Vertical forces: means, and what separates them where both are known.") if rows else ""
    )
    return Section("Contact forces", "".join(parts))


def vertical(subject: Subject, kind: str, name: str) -> Array:
    """Vertical force at a contact per sample (N), NaN where it is not known; kind is one of `KINDS`."""
    channel = f"{kind}/{name}/fz"
    return subject.recording[channel] if channel in subject.recording else np.full(len(subject.recording), np.nan)


def _force_figure(subject: Subject, name: str, top: float, width: float) -> str:
    time, recording = subject.recording.time, subject.recording
    with drawing(f"Forces at {name} of {subject.label} over time", width) as drawn:
        axes = drawn.axes
        for kind, words in reversed(KINDS.items()):  # what was commanded lies above
            if f"{kind}/{name}" in recording:
                wrench = recording[f"{kind}/{name}"]
                curve(axes, time, wrench[:, 2], color=VERTICAL, label=f"vertical, {words}", **LINES[kind])
                along = np.hypot(*wrench[:, :2].T)
                curve(axes, time, along, color=ALONG, label=f"horizontal, {words}", **LINES[kind])
        shade(axes, subject.phases, width)
        axes.set(xlabel="time (s)", ylabel="force (N)", xlim=span(subject))
        axes.set_ylim(min(0.0, axes.get_ylim()[0]), 1.05 * top)
        drawn.legend(2)
    known = {words: vertical(subject, kind, name) for kind, words in KINDS.items()}
    most = [f"{number(_peak(values))} N {words}" for words, values in known.items() if np.isfinite(values).any()]
    return figure(drawn.svg, f"{subject.label}, {name}: at most {listed(most)}.")


def _force_row(subject: Subject, name: str) -> tuple[str, ...]:
    asked, felt = vertical(subject, "force", name), vertical(subject, "sensed/force", name)
    felt = felt if np.isfinite(felt).any() else vertical(subject, "plate/force", name)
    both = np.isfinite(asked) & np.isfinite(felt)
    apart = float(np.sqrt(np.mean((asked[both] - felt[both]) ** 2))) if both.any() else float("nan")
    weight = float("nan") if subject.robot is None else subject.robot.weight
    share = percent(apart / weight) if np.isfinite(apart / weight) else NONE
    return (f"{subject.label}, {name}", number(_mean(asked)), number(_mean(felt)), number(apart), share)


def _mean(values: Array) -> float:
    known = values[np.isfinite(values)]
    return float(known.mean()) if len(known) else float("nan")


def _peak(values: Array) -> float:
    known = values[np.isfinite(values)]
    return float(known.max()) if len(known) else float("nan")


def _most(subject: Subject, name: str) -> float:
    """The largest part of a force that was ever asked for or felt there (N)."""
    known = [f"{kind}/{name}" for kind in KINDS if f"{kind}/{name}" in subject.recording]
    parts = np.concatenate([np.abs(subject.recording[channel][:, :3]).ravel() for channel in known])
    return float(parts[np.isfinite(parts)].max(initial=0.0))


def _idle(names: Sequence[str]) -> str:
    return f"Nothing was felt at {', '.join(names)}." if names else ""


# -- Under each sole -------------------------------------------------------------------------------------------------


#: A ZMP this near to an edge (m) is on it: cells at the corners cannot tell of one outside, and a millimetre is less
#: than what tips a foot.
EDGE = 1e-3
#: Colours of the feet, those of the loci, and of pushes.
COLORS = {"left": "#00568a", "right": "#d55e00"}
PUSHED = "#e8c9c9"
#: Directions of the ZMP: the words and letters of the paper, and what lies at the upper and at the lower edge.
DIRECTIONS = (("frontal", "x", "toes", "heel"), ("lateral", "y", "left", "right"))
WORDS = (
    "From the four force cells of each sole: W is the sum of their forces, and the ZMP their middle, seen from the "
    "middle of the sole, x to the front and y to the left. Lines across are the edges of the sole. "
    f"Cells are smoothed with {1e3 * CELL_FILTER:.0f} ms."
)
CAPTION = (
    f"W is a mean over all of the time; the ZMP counts while the foot bears {100 * LEAST_LOAD:.0f} % of the weight or "
    "more: its distance from the middle of the sole, and how much of that time it is inside. Cells at the corners "
    f"cannot tell of a ZMP outside: within {1e3 * EDGE:.0f} mm of an edge it is not inside."
)


class Pressed(NamedTuple):
    """What the cells of a foot tell at each sample.

    Attributes:
        foot: whose cells.
        amplitude: W, n, N; NaN where nothing was sensed.
        zmp: from the middle of the sole, (n, 2), m; NaN where the foot bears nothing.
    """

    foot: Foot
    amplitude: Array
    zmp: Array

    @property
    def half(self) -> Array:
        """Half the length and half the width of the sole, m."""
        return np.array(self.foot.sole.half)

    @property
    def inside(self) -> float:
        """How much of the time in which the foot bears something the ZMP is inside, 0 to 1; NaN if it never does."""
        known = self.zmp[np.isfinite(self.zmp).all(axis=1)]
        return float(np.mean((np.abs(known) < self.half - EDGE).all(axis=1))) if len(known) else np.nan


def soles(subjects: Sequence[Subject]) -> Section | None:
    """W and ZMP of the left and the right foot over time, and a table; None if no force cells were recorded."""
    if not any(_sensed(s) for s in subjects):
        return None
    parts = [paragraph(WORDS, "Bands mark pushes." if any(pushes(s) for s in subjects) else "")]
    rows = []
    for subject in subjects:
        if len(subjects) > 1:
            parts.append(heading(subject.label))
        if not _sensed(subject):
            parts.append(note(subject.lacks("force cells were recorded")))
            continue
        felt = pressed(subject)
        if not felt:
            parts.append(
                note(subject.lacks("soles with these cells are known: its robot's model is missing or another"))
            )
            continue
        top = max(float(np.nanmax(each.amplitude)) for each in felt) or 1.0  # feet share their scale
        parts.append(beside([_amplitude(subject, each, top) for each in felt]))
        parts += [beside([_zmp(subject, each, k) for each in felt]) for k in range(2)]
        rows += [_pressure_row(subject, each) for each in felt]
    head = ["foot", "mean W (N)", "rms of the ZMP (mm)", "at most (mm)", "at (s)", "inside the sole"]
    return Section("Under each sole", "".join([*parts, table(head, rows, CAPTION) if rows else ""]))


def pressed(subject: Subject) -> list[Pressed]:
    """Of each foot with cells, the left one first; none without its robot's model."""
    recording, robot = subject.recording, subject.robot
    if robot is None:
        return []
    found = []
    for foot in sorted(robot.feet, key=lambda foot: foot.side):
        name = f"sensed/cells/{plain(foot.name)}"
        cells: Array = recording[name] if name in recording else np.zeros((0, 4))
        if cells.shape[1:] == (4,) and np.isfinite(cells).any():
            W, zmp = sole_pressure(foot, smoothed(cells, recording.period))
            W[~np.isfinite(cells).any(axis=1)] = np.nan
            zmp[~(LEAST_LOAD * robot.weight <= W)] = np.nan
            found.append(Pressed(foot, W, zmp))
    return found


def smoothed(cells: Array, period: float) -> Array:
    """Forces after a low-pass of first order, ``τ ẏ = x - y`` with τ = `CELL_FILTER`, which starts at the first sample.

    A cell that tells no number counts as zero, as in `sole_pressure`; where none of them does, all keep their last one.

    Args:
        cells: x, (n, 4), N.
        period: between samples, s.
    """
    known = np.isfinite(cells).any(axis=1)
    if not (known.any() and period > 0.0):
        return cells
    last = np.maximum.accumulate(np.where(known, np.arange(len(cells)), known.argmax()))
    x = np.nan_to_num(cells[last], nan=0.0, posinf=0.0, neginf=0.0)
    b = math.exp(-period / CELL_FILTER)
    return np.asarray(scipy.signal.lfilter([1.0 - b], [1.0, -b], x, axis=0, zi=b * x[:1])[0])


def pushes(subject: Subject) -> list[Push]:
    """Pushes that the recording tells of."""
    told = subject.recording.provenance.get("push", ())
    found = []
    for text in told if isinstance(told, (list, tuple)) else ():
        try:
            found.append(Push.parsed(str(text)))
        except PoiseError:  # written by someone else
            continue
    return found


def _sensed(subject: Subject) -> bool:
    names = [name for name in subject.recording.channels if name.startswith("sensed/cells/")]
    return any(np.isfinite(subject.recording[name]).any() for name in names)


def _amplitude(subject: Subject, felt: Pressed, top: float) -> str:
    side = felt.foot.side
    with drawing(f"Force under the {side} sole of {subject.label} over time", HALF) as drawn:
        curve(drawn.axes, subject.recording.time, felt.amplitude, color=COLORS[side])
        _mark(drawn.axes, subject)
        drawn.axes.set(xlabel="time (s)", ylabel="W (N)", xlim=span(subject), ylim=(0.0, 1.05 * top))
    mean, most = float(np.nanmean(felt.amplitude)), float(np.nanmax(felt.amplitude))
    return figure(drawn.svg, f"{subject.label}, {side} foot: W, {number(mean)} N on average, at most {number(most)} N.")


def _zmp(subject: Subject, felt: Pressed, k: int) -> str:
    side, edge, (word, letter, above, below) = felt.foot.side, 1e3 * float(felt.half[k]), DIRECTIONS[k]
    values = 1e3 * felt.zmp[:, k]
    with drawing(f"{word} position of the ZMP under the {side} sole of {subject.label} over time", HALF) as drawn:
        axes = drawn.axes
        curve(axes, subject.recording.time, values, color=COLORS[side])
        _mark(axes, subject)
        axes.axhline(0.0, color=FAINT, linewidth=0.4)
        for sign, name in ((1.0, above), (-1.0, below)):
            axes.axhline(sign * edge, color=FAINT, linewidth=0.9, linestyle=(0, (4, 2)))
            place, across = (1.0, 0.94 * sign * edge), axes.get_yaxis_transform()  # below or above its line
            axes.text(*place, name, transform=across, ha="right", va="top" if sign > 0.0 else "bottom", fontsize=7.5)
        axes.set(xlabel="time (s)", ylabel=f"{letter} (mm)", xlim=span(subject), ylim=(-1.1 * edge, 1.1 * edge))
    known = np.abs(values[np.isfinite(values)])
    most = f"at most {number(round(float(known.max()), 2))} mm from the middle" if len(known) else "which bears nothing"
    return figure(drawn.svg, f"{subject.label}, {side} foot: {word} ZMP, {most}.")


def _mark(axes: Axes, subject: Subject) -> None:
    """Phases, and a band for each push."""
    shade(axes, subject.phases, HALF)
    for push in pushes(subject):
        axes.axvspan(push.time, push.time + push.duration, color=PUSHED, linewidth=0.8, zorder=0.5)


def _pressure_row(subject: Subject, felt: Pressed) -> tuple[str, ...]:
    distance = np.hypot(*felt.zmp.T)
    known = np.isfinite(distance)
    name, W = f"{subject.label}, {felt.foot.side}", number(float(np.nanmean(felt.amplitude)))
    if not known.any():
        return (name, W, *[number(None)] * 4)
    rms, at = float(np.sqrt(np.mean(distance[known] ** 2))), int(np.nanargmax(distance))
    most = (number(1e3 * rms), number(1e3 * distance[at]), f"{subject.recording.time[at]:.2f}")
    return (name, W, *most, _share(felt.inside))


def _share(share: float) -> str:
    """In per cent, rounded down: 100 % are all samples."""
    return percent(share) if share == 1.0 else f"{math.floor(1e3 * share) / 10:.1f} %"
