"""Overlay: recordings in one figure, on a scale that they share."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from poise.analysis import Normalised
from poise.report.page.drawing import HALF, curve, drawing, shade
from poise.report.page.html import figure
from poise.report.page.subject import Subject

Array = NDArray[np.float64]
#: A recording, and the same on the scale that all share.
Scaled = tuple[Subject, Normalised]

SCALE = "progress of the motion (%)"


def overlay(
    scaled: Sequence[Scaled],
    values: Sequence[Array],
    label: str,
    caption: str,
    width: float = HALF,
    from_zero: bool = False,
    least: float = 0.0,
) -> str:
    """A figure with a line per recording.

    Args:
        scaled: the recordings.
        values: of each, one per step of its scale.
        label: of the vertical axis, with its unit.
        caption: below the figure.
        width: in units of the drawing.
        from_zero: whether the vertical axis begins at zero.
        least: what the vertical axis spans at least, so that noise is not blown up.
    """
    with drawing(f"{caption.partition(':')[0]} of several recordings", width) as drawn:
        for (subject, own), y in zip(scaled, values, strict=True):
            style = {"color": subject.line.color, "linestyle": subject.line.dash, "label": subject.label}
            curve(drawn.axes, own.share, y, **style)
        shade(drawn.axes, scaled[0][1].phases, width)
        drawn.axes.set(xlabel=SCALE, ylabel=label, xlim=(0.0, 100.0))
        if from_zero:
            drawn.axes.set_ylim(bottom=0.0)
        low, high = drawn.axes.get_ylim()
        if high - low < least:
            drawn.axes.set_ylim((low + high - least) / 2, (low + high + least) / 2)
        drawn.legend(3)
    return figure(drawn.svg, caption)


def heights(scaled: Sequence[Scaled]) -> list[float]:
    """Heights of the robots (m), if they are different robots and all heights are known; else nothing."""
    known = [subject.robot.height for subject, _ in scaled if subject.robot is not None]
    different = len({subject.robot_name for subject, _ in scaled}) > 1
    return known if different and len(known) == len(scaled) else []
