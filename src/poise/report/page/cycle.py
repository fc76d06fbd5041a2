"""Gait cycle: angles and torques of the legs from one touchdown of a foot to its next."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from poise.analysis import Walked, cycles
from poise.report.page.drawing import THIRD, drawing, short
from poise.report.page.html import beside, figure, heading, listed, note, number, paragraph
from poise.report.page.section import Section
from poise.report.page.subject import Subject
from poise.robots.parts import SIDES

Array = NDArray[np.float64]
Walks = Sequence[tuple[Subject, Walked]]

#: Colours of the legs where there is one recording; where there are more, each has its own.
LEGS = {"left": "#00568a", "right": "#d55e00"}
DASHES = {"left": "solid", "right": (0, (4.0, 1.4))}
#: How dark bands are: so that five of them can lie above each other.
BAND = 0.15
SCALE = "gait cycle (%)"
WORDS = (
    "From one touchdown of a foot (0 %) to its next (100 %): the mean of the steady strides, with the range of all of "
    "them as a band. The vertical line is where the foot leaves the ground."
)
SEVERAL = "The left leg is drawn solid, the right one dashed."


def cycle(subjects: Sequence[Subject]) -> Section | None:
    """A figure per joint of the legs with both sides in it: angles, then torques; None if nobody walks."""
    walking = [(s, s.walk) for s in subjects if s.walk is not None]
    if not walking:
        return None
    robots: dict[tuple[str, ...], list[tuple[Subject, Walked]]] = {}
    for subject, walk in walking:
        robots.setdefault(subject.recording.labels["q"], []).append((subject, walk))
    parts = [paragraph(WORDS, "" if len(walking) == 1 else SEVERAL)]
    for same in robots.values():
        of = f" of {same[0][0].robot_name}" if len(robots) > 1 else ""
        angles = [_figure(same, pair, name, "angle (deg)") for pair, name in pairs(same[0][0])]
        parts += [heading(f"Angles of the legs{of}"), beside(filter(None, angles), 3)]
        driven = [(s, walk) for s, walk in same if s.torque is not None]
        efforts = (
            [_figure(driven, pair, name, "share of limit (%)") for pair, name in pairs(same[0][0])] if driven else []
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


def _figure(walks: Walks, joints: dict[str, str], name: str, quantity: str) -> str:
    alone = len(walks) == 1
    spans: dict[str, list[float]] = {}
    with drawing(f"{name} over the gait cycle: {quantity}", THIRD) as drawn:
        axes = drawn.axes
        for subject, walk in walks:
            for side in SIDES:
                own = cycles(walk, values(subject, joints[side], quantity), side)
                if not len(own.values):
                    continue
                color = LEGS[side] if alone else subject.line.color
                axes.fill_between(own.share, own.low, own.high, color=color, alpha=BAND, linewidth=0)
                label = side if alone else subject.label if side == SIDES[0] else None
                axes.plot(own.share, own.mean, color=color, linestyle=DASHES[side], label=label)
                axes.axvline(own.lift_off, color=color, linestyle=DASHES[side], linewidth=0.5, alpha=0.7)
                spans.setdefault(subject.label, []).append(float(np.ptp(own.mean)))
        axes.set(xlabel=SCALE, ylabel=quantity, xlim=(0.0, 100.0))
        drawn.legend(2)
    unit = quantity[quantity.index("(") + 1 : -1]
    ranges = [f"{'' if alone else f'{label} '}{number(float(np.mean(own)), 2)} {unit}" for label, own in spans.items()]
    return figure(drawn.svg, f"{name}: range {listed(ranges)}.") if spans else ""
