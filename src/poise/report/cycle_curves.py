"""Report sections over the gait cycle: joint angles and torques, with normative bands."""

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
    NONE,
    SHADE,
    THIRD,
    Section,
    beside,
    drawing,
    figure,
    grouped,
    heading,
    listed,
    note,
    number,
    paragraph,
    short,
    table,
)
from poise.report.recording_view import BY_RULE, Gait, Subject
from poise.robots import SIDES, Side

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Walks = Sequence[tuple[Subject, RecordedWalk]]

#: Colours of the legs where there is one recording; where there are more, each has its own.
LEG_COLORS = {"left": "#00568a", "right": "#d55e00"}
LEG_DASHES = {"left": "solid", "right": (0, (4.0, 1.4))}
#: How dark bands are: so that five of them can lie above each other.
BAND_ALPHA = 0.15
SCALE = "gait cycle (%)"
CYCLE_TEXT = (
    "From one touchdown of a foot (0 %) to its next (100 %): the mean of the steady strides, with the range of all of "
    "them as a band. The vertical line is where the foot leaves the ground."
)
SEVERAL = "The left leg is drawn solid, the right one dashed."


def cycle(subjects: Sequence[Subject]) -> Section | None:
    """A figure per joint of the legs with both sides in it: angles, then torques; None if nobody walks."""
    walking = [(s, s.walk) for s in subjects if s.walk is not None]
    if not walking:
        return None
    robots: dict[tuple[str, ...], list[tuple[Subject, RecordedWalk]]] = {}
    for subject, walk in walking:
        robots.setdefault(subject.recording.labels["q"], []).append((subject, walk))
    parts = [paragraph(CYCLE_TEXT, "" if len(walking) == 1 else SEVERAL)]
    for same in robots.values():
        of = f" of {same[0][0].robot_name}" if len(robots) > 1 else ""
        angles = [_cycle_figure(same, pair, name, "angle (deg)") for pair, name in pairs(same[0][0])]
        parts += [heading(f"Angles of the legs{of}"), beside(filter(None, angles), 3)]
        driven = [(s, walk) for s, walk in same if s.torque is not None]
        efforts = (
            [_cycle_figure(driven, pair, name, "share of limit (%)") for pair, name in pairs(same[0][0])]
            if driven
            else []
        )
        parts += [heading(f"Torques of the legs as a share of their limits{of}"), beside(filter(None, efforts), 3)]
        parts += [note(s.lacks("torques were recorded")) for s, _ in same if s.torque is None]
    return Section("Gait cycle", "".join(parts))


def pairs(subject: Subject) -> list[tuple[dict[str, str], str]]:
    """Joints of the left and the right leg that answer to each other, with the name that they share."""
    legs = {limb.name.removesuffix(" leg"): limb.joints for limb in subject.limbs if limb.name.endswith(" leg")}
    if set(legs) != set(SIDES) or len(legs["left"]) != len(legs["right"]):
        return []
    names = short(legs["left"])
    return [
        ({"left": one, "right": two}, name) for one, two, name in zip(legs["left"], legs["right"], names, strict=True)
    ]


def values(subject: Subject, joint: str, quantity: str) -> Array:
    """Angle (deg) or torque (% of its limit) of a joint, n."""
    if quantity.startswith("angle"):
        return np.degrees(subject.recording[f"q/{joint}"])
    assert subject.torque is not None
    assert subject.torque_limits is not None
    k = subject.joints.index(joint)
    return np.asarray(100.0 * subject.torque[:, k] / subject.torque_limits[k])


def _cycle_figure(walks: Walks, joints: dict[str, str], name: str, quantity: str) -> str:
    alone = len(walks) == 1
    spans: dict[str, list[float]] = {}
    with drawing(f"{name} over the gait cycle: {quantity}", THIRD) as drawn:
        axes = drawn.axes
        for subject, walk in walks:
            for side in SIDES:
                own = walk.curves(values(subject, joints[side], quantity), side)
                if not own.count:
                    continue
                color = LEG_COLORS[side] if alone else subject.line.color
                axes.fill_between(own.share, own.low, own.high, color=color, alpha=BAND_ALPHA, linewidth=0)
                label = side if alone else subject.label if side == SIDES[0] else None
                axes.plot(own.share, own.mean, color=color, linestyle=LEG_DASHES[side], label=label)
                axes.axvline(own.toe_off, color=color, linestyle=LEG_DASHES[side], linewidth=0.5, alpha=0.7)
                spans.setdefault(subject.label, []).append(float(np.ptp(own.mean)))
        axes.set(xlabel=SCALE, ylabel=quantity, xlim=(0.0, 100.0))
        drawn.legend(2)
    unit = quantity[quantity.index("(") + 1 : -1]
    ranges = [f"{'' if alone else f'{label} '}{number(float(np.mean(own)), 2)} {unit}" for label, own in spans.items()]
    return figure(drawn.svg, f"{name}: range {listed(ranges)}.") if spans else ""


# -- Gait angles -----------------------------------------------------------------------------------------------------


Gaits = Sequence[tuple[Subject, Gait]]

#: The six rotations of a leg: names of joints without their side, and titles.
KINDS = {each.joint.removeprefix("right_"): each.title.removeprefix("Right ").capitalize() for each in TABLE_I[:6]}
#: Grey of the band of norms and of the line in its middle.
BAND, MIDDLE = "#d9d9d9", "#8a8a8a"
ANGLES_TEXT = (
    "From one strike of a foot (0 %) to its next (100 %), each leg over the cycles of its own foot: the mean of the "
    "complete cycles, single ones as thin lines. Vertical lines are where the foot leaves the ground."
)


def gait_angles(subjects: Sequence[Subject]) -> Section | None:
    """Cycles, a figure per rotation, and a table of ranges; None if no human body walks a whole cycle."""
    walking = [(s, s.gait) for s in subjects if s.gait is not None]
    if not walking:
        return None
    sources = list(dict.fromkeys(gait.source for _, gait in walking))
    parts = [
        paragraph(*sources, EVENT_RULE if BY_RULE in sources else ""),
        _cycles(walking),
        paragraph(ANGLES_TEXT, _norms()),
    ]
    parts.append(beside([_angle_figure(walking, kind, title) for kind, title in KINDS.items()], 3))
    return Section("Gait angles", "".join([*parts, _ranges(walking)]))


def curves(subject: Subject, gait: Gait, joint: str, side: Side) -> Array:
    """Angle of a joint over each cycle of a foot, (cycles, 101), degrees."""
    degrees = np.degrees(subject.recording[f"q/{joint}"])
    return normalize_cycles(subject.recording.time, degrees, gait.of(side), kind="spline").values


def known_norm(joint: str) -> NormativeBand | None:
    """The norm of a joint; None if nobody knows one."""
    try:
        return normative_band(joint)
    except GaitError:
        return None


def band(axes: Axes, known: NormativeBand | None) -> None:
    """The norm as a grey band, mean plus and minus one standard deviation."""
    if known is not None:
        share = np.linspace(0.0, 100.0, len(known.mean))
        mean, deviation = np.degrees(known.mean), np.degrees(known.deviation)
        axes.fill_between(share, mean - deviation, mean + deviation, color=BAND, linewidth=0, zorder=0, label="norm")
        axes.plot(share, mean, color=MIDDLE, linewidth=0.7, zorder=1)


def _norms() -> str:
    """Where the band comes from, and which rotations have none."""
    known = {kind: known_norm(f"right_{kind}") for kind in KINDS}
    sources = list(dict.fromkeys(each.source for each in known.values() if each is not None))
    absent = [KINDS[kind].lower() for kind, each in known.items() if each is None]
    without = f" For {listed(absent)} there is none." if absent else ""
    return f"The grey band is the norm, mean ± one standard deviation: {'; '.join(sources)}.{without}"


def _cycles(walking: Gaits) -> str:
    rows = []
    for s, gait in walking:
        for side in SIDES:
            own = gait.of(side)
            if not own:
                continue
            sizes = [gait.lengths(cycle) for cycle in own]
            means = [
                np.mean([cycle.duration for cycle in own]),
                np.mean([cycle.cadence for cycle in own]),
                np.mean([size.speed for size in sizes]),
                np.mean([size.stride for size in sizes]),
                1e3 * np.mean([size.width for size in sizes]),
                np.mean([cycle.stance for cycle in own]),
                np.mean([cycle.double_support for cycle in own]),
            ]
            rows.append((f"{s.label}, {side} foot", str(len(own)), *(number(float(mean)) for mean in means)))
    head = ["", "cycles", "duration (s)", "cadence (steps/min)", "speed (m/s)", "stride (m)", "width (mm)",
            "stance (%)", "both feet (%)"]  # fmt: skip
    return table(head, rows, "Complete gait cycles, means.")


def _angle_figure(walking: Gaits, kind: str, title: str) -> str:
    alone = len(walking) == 1
    said = []
    with drawing(f"{title} over the gait cycle", THIRD) as drawn:
        axes = drawn.axes
        band(axes, known_norm(f"right_{kind}"))
        for s, gait in walking:
            ranges: list[str] = []
            for side in SIDES:
                every = curves(s, gait, f"{side}_{kind}", side)
                if not len(every):
                    continue
                share, mean = np.linspace(0.0, 100.0, every.shape[1]), every.mean(axis=0)
                color = LEG_COLORS[side] if alone else s.line.color
                if len(every) > 1:
                    axes.plot(share, every.T, color=color, linewidth=0.4, alpha=0.5)
                label = side if alone else s.label if not ranges else None
                axes.plot(share, mean, color=color, linestyle=LEG_DASHES[side], linewidth=1.3, label=label)
                off = float(np.mean([cycle.stance for cycle in gait.of(side)]))
                axes.axvline(off, color=color, linestyle=LEG_DASHES[side], linewidth=0.5, alpha=0.7)
                ranges.append(f"{side} {number(float(np.ptp(mean)), 2)}°")
            said.append(f"{'' if alone else f'{s.label} '}{listed(ranges)}")
        axes.axhline(0.0, color=SHADE, linewidth=0.8, zorder=0)
        axes.set(xlabel=SCALE, ylabel="angle (deg)", xlim=(0.0, 100.0))
        drawn.legend(3)
    return figure(drawn.svg, f"{title}: range {', '.join(said)}.")


def _ranges(walking: Gaits) -> str:
    rows = []
    for each in TABLE_I:
        side: Side = "right" if each.joint.startswith("right") else "left"
        usual, cells = known_norm(each.joint), []
        for s, gait in walking:
            every = curves(s, gait, each.joint, side)
            if not len(every):
                cells += [NONE, NONE]
                continue
            mean = every.mean(axis=0)
            apart = None if usual is None else float(root_mean_square_error(mean, np.degrees(usual.mean)))
            cells += [f"{float(range_of_motion(mean)):.1f}", NONE if apart is None else f"{apart:.1f}"]
        own = NONE if usual is None else f"{np.degrees(usual.range_of_motion):.1f}"
        rows.append((each.title, own, *cells))
    each_head, caption = ("range (deg)", "rms from the norm (deg)"), "Ranges of motion over the mean cycle."
    names = [s.label for s, _ in walking]
    return heading("Ranges of motion") + grouped(["rotation", "norm (deg)"], names, each_head, rows, caption)
