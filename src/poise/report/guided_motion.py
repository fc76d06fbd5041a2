"""Report section on guided motion: loci of the navigation points ([Sugihara2008]) and motion segments."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from poise.arrays import Array
from poise.html import (
    ABOVE,
    BELOW,
    FAINT,
    HALF,
    INK,
    LEFT,
    NONE,
    RIGHT,
    Section,
    beside,
    curve,
    drawing,
    figure,
    heading,
    note,
    number,
    paragraph,
    table,
)
from poise.report.balance_view import way
from poise.report.recording_view import Subject, span
from poise.robots import Foot, Hand

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Segment = Mapping[str, Any]

#: Rows of a table that one may still read; of more segments those are shown of which there is something to say.
ROWS = 80
#: Samples at which the distance to the edge is measured.
SAMPLES = 1200
#: Width of the bins of the histogram (s): the usual increment of durations.
BIN = 0.1
PLANNED, ACTUAL = "#00568a", "#d55e00"


def segments(subject: Subject, found: Sequence[Segment]) -> str:
    """A sentence, durations and margins as figures, and a table."""
    outcomes = Counter(str(each["outcome"]) for each in found)
    told = ", ".join(f"{count} {name}" for name, count in outcomes.items())
    prolonged = sum(1 for each in found if each["corrections"])
    projected = sum(1 for each in found if each.get("projected"))
    words = (
        f"{len(found)} segments ({told}); {prolonged} were prolonged to keep the zero-moment point inside the support, "
        f"and {projected} commands were beyond a boundary of the workspace and projected onto it."
    )
    return paragraph(words) + beside([_durations(subject, found), _margins(subject, found)]) + _table(found)


def _durations(subject: Subject, found: Sequence[Segment]) -> str:
    seconds = np.array([each["seconds"] for each in found])
    first = BIN * np.floor(seconds.min() / BIN + 1e-6)
    edges = np.arange(first, seconds.max() + 2.0 * BIN, BIN)
    with drawing(f"Durations of the segments of {subject.label}", HALF) as drawn:
        drawn.axes.hist(seconds + 1e-9, bins=list(edges), color=PLANNED, edgecolor="white", linewidth=0.5)
        drawn.axes.set(xlabel="T (s)", ylabel="segments")
    longest = number(float(seconds.max()), 2)
    return figure(drawn.svg, f"{subject.label}: durations of segments; the longest took {longest} s.")


def _margins(subject: Subject, found: Sequence[Segment]) -> str:
    """How far the zero-moment point is inside the support: the least of each segment as planned, and as it was."""
    recording, tracks = subject.recording, subject.tracks
    with drawing(f"Distance of the zero-moment point of {subject.label} to the edge of the support", HALF) as drawn:
        axes = drawn.axes
        if tracks is not None and "center_of_pressure" in recording:
            n = len(recording)
            seen = np.unique(np.linspace(0, n - 1, min(SAMPLES, n)).astype(int))
            margins = 1e3 * tracks.margins(recording["center_of_pressure"], seen.tolist())
            style = {"color": ACTUAL, "linewidth": 0.6, "label": "center of pressure, actual"}
            curve(axes, recording.time[seen], margins, **style)
        known = [each for each in found if each["margin"] is not None]
        ends = [*(each["time"] for each in known[1:]), known[-1]["time"] + known[-1]["seconds"]] if known else []
        for i, (each, end) in enumerate(zip(known, ends, strict=True)):
            label = "least of a segment, planned" if i == 0 else None
            axes.plot((each["time"], end), [1e3 * each["margin"]] * 2, color=PLANNED, linewidth=1.4, label=label)
        axes.axhline(0.0, color=INK, linewidth=0.6)
        axes.grid(color=FAINT, alpha=0.25, linewidth=0.5)
        axes.set(xlabel="time (s)", ylabel="inside by (mm)", xlim=span(subject))
        drawn.legend(2)
    said = "planned inside soles that are smaller by the margin left to feedback, measured inside the whole soles"
    return figure(drawn.svg, f"{subject.label}: zero-moment point, {said}.")


def _table(found: Sequence[Segment]) -> str:
    shown = list(enumerate(found, start=1))
    caption = "Motion segments: T is the duration, prolonged so often; margin is that of the planned zero-moment point."
    if len(shown) > ROWS:
        telling = [
            (i, each) for i, each in shown if each["corrections"] or each["notes"] or each["outcome"] != "commanded"
        ]
        shown = telling[:ROWS]
        caption += f" Of {len(found)} segments, {len(shown)} of which there is something to say."
    head = ["segment", "time (s)", "guided point", "T (s)", "corrections", "outcome", "step", "margin (mm)", "notes"]
    rows = [
        (
            str(i),
            f"{each['time']:.2f}",
            str(each["mode"]),
            f"{each['seconds']:.2f}",
            str(each["corrections"]) if each["corrections"] else NONE,
            str(each["outcome"]),
            _step(each),
            NONE if each["margin"] is None else f"{1e3 * each['margin']:.0f}",
            "; ".join(map(str, each["notes"])),
        )
        for i, each in shown
    ]
    return table(head, rows, caption) if rows else ""


def _step(each: Segment) -> str:
    if each["step"] is None:
        return NONE
    return f"{each['step']} (air)" if each["lifted"] else str(each["step"])


# -- Loci of a guided motion -----------------------------------------------------------------------------------------


#: Ways of the navigation points by name, (n, 3), m, with NaN where a way breaks off.
Loci = Mapping[str, Array]

#: Colours of the navigation points.
POINTS = {
    "center": INK,
    "left foot": "#00568a",
    "right foot": "#d55e00",
    "left hand": "#009e73",
    "right hand": "#b3589a",
}
#: What is seen: from above and from the side, as the axes across and up.
VIEWS = {"above": (0, 1), "the side": (0, 2)}
#: Least and most height of the axes, in units of the drawing.
LOWEST, HIGHEST = 90.0, 330.0
WORDS = (
    "One point is guided at a time, and the others follow. Left: what the motion segments planned, each from where the "
    "robot was when it began, with a ring at the subgoal of its guided point. Right: what the robot did, with the same "
    "rings. Feet are the middles of their soles."
)


def loci(subjects: Sequence[Subject]) -> Section | None:
    """Loci from above and from the side, planned and actual, and the segments; None if nobody is guided."""
    guided = [(s, found) for s in subjects if (found := s.recording.provenance.get("segments"))]
    if not guided:
        return None
    parts = [paragraph(WORDS)]
    for subject, found in guided:
        if len(subjects) > 1:
            parts.append(heading(subject.label))
        parts += [*_figures(subject, found), segments(subject, found)]
    return Section("Guided-point navigation", "".join(parts))


def planned(found: Sequence[Segment]) -> Loci:
    """What the segments planned, one after the other."""
    names = [name for name in POINTS if name in found[0]["planned"]]
    gap = np.full((1, 3), np.nan)
    return {name: np.vstack([_piece(each, name, gap) for each in found]) for name in names}


def actual(subject: Subject, names: Sequence[str]) -> Loci | None:
    """What the robot did; None if its model is not at hand."""
    tracks = subject.tracks
    if tracks is None:
        return None
    ways: dict[str, Array] = {"center": tracks.center}
    for k, part in enumerate(tracks.parts):
        if isinstance(part, Foot):
            ways[f"{part.side} foot"] = tracks.positions[:, k] + tracks.rotations[:, k] @ part.sole.center
        elif isinstance(part, Hand):
            ways.setdefault(f"{part.side} hand", tracks.positions[:, k])
    return {name: ways[name] for name in names if name in ways}


def _piece(each: Segment, name: str, gap: Array) -> Array:
    """A planned way up to where the next segment begins, and a gap."""
    return np.vstack([np.array(each["planned"][name], dtype=np.float64), gap])


def _figures(subject: Subject, found: Sequence[Segment]) -> list[str]:
    wanted = planned(found)
    did = actual(subject, list(wanted))
    shown = [("planned", wanted)] if did is None else [("planned", wanted), ("actual", did)]
    told = subject.recording.provenance.get("world", {})
    world = told if isinstance(told, Mapping) else {}
    absent = [note(subject.lacks("actual loci can be drawn without its robot's model"))] if did is None else []
    drawn = []
    for view in VIEWS:
        frame = _frame([each for _, each in shown], world, view)
        drawn.append(beside([_figure(subject, word, each, found, world, view, frame) for word, each in shown]))
    return [*absent, *drawn]


def _frame(shown: Sequence[Loci], world: Mapping[str, Any], view: str) -> Array:
    """Lower and upper corner of what is to be seen, (2, 2), m; of the world what is near."""
    axes = list(VIEWS[view])
    points = np.vstack([way[:, axes] for each in shown for way in each.values()])
    points = points[np.isfinite(points).all(axis=1)]
    low, high = points.min(axis=0), points.max(axis=0)
    if "target" in world:
        there = np.array(world["target"])[:, axes]
        low, high = np.minimum(low, there.min(axis=0)), np.maximum(high, there.max(axis=0))
    pad = 0.04 * float((high - low).max()) + 0.01
    return np.array([low - pad, high + pad])


def _figure(
    subject: Subject,
    word: str,
    shown: Loci,
    found: Sequence[Segment],
    world: Mapping[str, Any],
    view: str,
    frame: Array,
) -> str:
    size = np.ptp(frame, axis=0)
    inside = (HALF - LEFT - RIGHT) * float(size[1] / size[0])
    height = min(max(inside, LOWEST), HIGHEST) + ABOVE + BELOW
    columns = VIEWS[view]
    with drawing(f"{word} loci of {subject.label} from {view}", HALF, height) as drawn:
        axes = drawn.axes
        _world(axes, world, view)
        for name, points in shown.items():
            label = "center of mass" if name == "center" else name
            style = {"color": POINTS[name], "linewidth": 1.3 if name == "center" else 0.9}
            way(axes, points[:, list(columns)], label, style)
        _subgoals(axes, found, columns)
        axes.set(xlabel="x (m)", ylabel="y (m)" if view == "above" else "z (m)", aspect="equal")
        axes.set(xlim=tuple(frame[:, 0]), ylim=tuple(frame[:, 1]))
        axes.grid(color=FAINT, alpha=0.25, linewidth=0.5)
        drawn.legend(3)
    return figure(drawn.svg, f"{subject.label}: {word} loci, from {view}.")


def _subgoals(axes: Axes, found: Sequence[Segment], columns: tuple[int, int]) -> None:
    """A ring where the guided point of each segment was to go; still sticks have none."""
    named = False
    for mode, color in POINTS.items():
        name = "trunk" if mode == "center" else mode
        goals = [
            each["goal"][mode] for each in found if each["mode"] == name and any(each["axes"]) and mode in each["goal"]
        ]
        if goals:
            label = None if named else "subgoal"
            x, y = np.array(goals, dtype=np.float64)[:, list(columns)].T
            axes.plot(x, y, "o", color=color, markersize=3.6, markerfacecolor="none", markeredgewidth=0.7, label=label)
            named = True


def _world(axes: Axes, world: Mapping[str, Any], view: str) -> None:
    """Stairs and door, where the recording tells of them."""
    if not world:
        return
    line: dict[str, Any] = {"color": FAINT, "linewidth": 1.0}
    if view == "above":
        for x, y, right, top in [*world.get("edges", ()), *world.get("door", ())]:
            axes.plot((x, right), (y, top), **line)
    elif "profile" in world:
        axes.plot(*np.array(world["profile"]).T, **line)
    if "target" in world:
        x, y = np.array(world["target"])[:, list(VIEWS[view])].T
        axes.plot(x, y, "x", color=INK, markersize=6, markeredgewidth=1.2, label="goal B", linestyle="none")
