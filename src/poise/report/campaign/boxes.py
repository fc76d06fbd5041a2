"""A small figure of one measure: how it is spread in each group, by colours where the groups have parts."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from poise.report.campaign.groups import Groups
from poise.report.campaign.runs import Array, Runs
from poise.report.campaign.words import named, shortened, titled
from poise.report.page.drawing import COLORS, FAINT, HEIGHT, SHADE, THIRD, drawing
from poise.report.page.html import figure

#: Up to so many values are points; more are a box.
POINTS = 20
#: Parts that are told apart by colours.
PARTS = 4
LETTER = 4.2


def boxes(runs: Runs, name: str, groups: Groups, split: Groups | None, chosen: NDArray[np.bool_]) -> str:
    """The figure, with its caption."""
    column, values = runs.columns[name], runs.numbers(name)
    apart = split if split is not None and len(split) <= PARTS else None
    labels = [shortened(label, 16) for label in groups.labels]
    turned = LETTER * max(map(len, labels)) > 225.0 / len(labels) - 3.0
    by = f" by {titled(groups.name)}" + (f" and {titled(apart.name)}" if apart is not None else "")
    with drawing(f"{titled(name, column)}{by}", THIRD, HEIGHT + 8) as drawn:
        axes = drawn.axes
        count = len(apart) if apart is not None else 1
        width = 0.7 / count
        for k in range(len(groups)):
            for part in range(count):
                inside = chosen & (groups.index == k) & np.isfinite(values)
                if apart is not None:
                    inside &= apart.index == part
                _box(axes, k + width * (part - (count - 1) / 2), 0.8 * width, values[inside], COLORS[part])
        if apart is not None:
            for part, label in enumerate(apart.labels):
                axes.plot([], [], "s", color=COLORS[part], markersize=4.0, label=shortened(label, 20))
        axes.set_xticks(range(len(labels)), labels, rotation=40 if turned else 0, ha="right" if turned else "center")
        axes.tick_params(axis="x", length=0, pad=2.0)
        axes.ticklabel_format(axis="y", scilimits=(-2, 4))  # long numbers would push their title out of the figure
        axes.grid(axis="y", color=SHADE, linewidth=0.6)
        axes.set_axisbelow(True)
        axes.set(xlabel=named(groups.name, groups.column), ylabel=named(name, column), xlim=(-0.6, len(labels) - 0.4))
        drawn.legend(4)
        if turned:
            room = 0.64 * LETTER * max(map(len, labels)) - 4.0
            drawn.below += max(room, 0.0)
    called = titled(name, column)
    about = f": {column.about}" if column.about else ""
    return figure(drawn.svg, f"{called[0].upper()}{called[1:]}{by}{about}.")


def _box(axes: Axes, place: float, width: float, values: Array, color: str) -> None:
    """Points beside each other if they are few, else a box."""
    if not len(values):
        return
    half = width / 2
    if len(values) <= POINTS:
        # The golden ratio spreads points evenly whatever their number, and the same each time.
        beside = (np.arange(len(values)) * 0.618034 % 1.0 - 0.5) * 0.8 * width if len(values) > 1 else np.zeros(1)
        axes.plot(place + beside, values, ".", color=color, markersize=3.2, alpha=0.75, markeredgewidth=0)
        axes.hlines(values.mean(), place - half, place + half, color=color, linewidth=1.4)
        return
    low, first, middle, third, high = np.quantile(values, (0.05, 0.25, 0.5, 0.75, 0.95))
    axes.vlines(place, low, high, color=FAINT, linewidth=0.9)
    axes.bar(place, third - first, width, bottom=first, color=color, alpha=0.35, linewidth=0)
    axes.hlines(middle, place - half, place + half, color=color, linewidth=1.8)
