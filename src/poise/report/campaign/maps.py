"""Maps: survival over two parameters at once, as cells."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from matplotlib.patches import Rectangle
from numpy.typing import NDArray

from poise.report.campaign.groups import VALUES, Groups, crossed, grouped
from poise.report.campaign.kept import Kept
from poise.report.campaign.polar import DIRECTION, SIZE, polar
from poise.report.campaign.runs import Runs
from poise.report.campaign.shades import ink_on, shade_of
from poise.report.campaign.words import named, several, shortened, titled
from poise.report.page.drawing import HALF, drawing
from poise.report.page.html import beside, figure, listed, note, paragraph
from poise.report.page.section import Section

#: Pairs that are shown.
MOST = 6
#: Height of a row of cells, and width of a letter, in units of the drawing.
ROW, LETTER = 24.0, 4.4


class Pair(NamedTuple):
    """Two parameters and what became of the runs of each pair of values."""

    rows: Groups
    columns: Groups
    runs: NDArray[np.int64]
    good: NDArray[np.int64]

    @property
    def variation(self) -> float:
        """How much more survival differs between cells than chance would have it: chi square per degree of freedom."""
        count, good = self.runs[self.runs > 0], self.good[self.runs > 0]
        mean = good.sum() / count.sum()
        if len(count) < 2 or mean in (0.0, 1.0):
            return 0.0
        return float((count * (good / count - mean) ** 2).sum() / (mean * (1.0 - mean) * (len(count) - 1)))


def maps(runs: Runs, kept: Mapping[int, Kept]) -> Section:
    """Pairs of parameters with few values or in ranges; pushes also by direction as seen from above."""
    title = "Survival over two parameters"
    groups = {name: grouped(runs, name) for name in runs.varied}
    usable = {name: each for name, each in groups.items() if 1 < len(each) <= VALUES}
    if len(usable) < 2:
        left = [titled(name) for name in runs.varied if name not in usable]
        also = f" ({listed(left)}: more than {VALUES} words)" if left else ""
        return Section(title, note(f"Fewer than two parameters with few values were varied{also}: there is no map."))
    crossings = [_pair(a, b, runs) for a, b in combinations(usable.values(), 2)]
    pairs = [pair for pair in crossings if pair.runs.any()]
    pairs.sort(key=lambda pair: (not _pushes(pair), -pair.variation))
    said = (
        "Each cell: per cent of its runs that succeeded, and below, small, how many runs these were. Dark is failure."
    )
    chosen = f"Of {len(pairs)} pairs the {MOST} over which survival varies most." if len(pairs) > MOST else ""
    figures = [polar(runs)] if SIZE in usable and DIRECTION in runs.varied and runs.numeric(DIRECTION) else []
    figures += [_cells(pair) for pair in pairs[:MOST]]
    return Section(title, paragraph(said, chosen) + beside(figures))


def _pushes(pair: Pair) -> bool:
    return {pair.rows.name, pair.columns.name} == {SIZE, DIRECTION}


def _pair(a: Groups, b: Groups, runs: Runs) -> Pair:
    """Longer names stand at the left, where there is room for them."""
    longest = [max(map(len, each.labels)) for each in (a, b)]
    rows, columns = (a, b) if longest[0] > longest[1] else (b, a)
    return Pair(rows, columns, *crossed(rows, columns, runs.succeeded))


def _cells(pair: Pair) -> str:
    rows, columns = pair.rows, pair.columns
    upward = rows.places is not None  # numbers grow upwards, words are read downwards
    names = [shortened(label, 26) for label in rows.labels]
    left = 26.0 + LETTER * max(map(len, names))
    cell = (HALF - left - 10.0) / len(columns)
    heads = [shortened(label, 22) for label in columns.labels]
    turned = LETTER * max(map(len, heads)) > cell - 3.0
    said = f"Share that succeeded by {titled(rows.name)} and {titled(columns.name)}"
    with drawing(said, HALF, 50.0 + ROW * len(rows), left) as drawn:
        axes = drawn.axes
        for i in range(len(rows)):
            for j in range(len(columns)):
                _cell(axes, i, j, int(pair.good[i, j]), int(pair.runs[i, j]), cell)
        axes.set_xticks(range(len(columns)), heads, rotation=40 if turned else 0, ha="right" if turned else "center")
        if turned:
            drawn.below = 0.64 * LETTER * max(map(len, heads))
            axes.tick_params(axis="x", pad=1.0)
        axes.set_yticks(range(len(rows)), names)
        axes.tick_params(length=0)
        axes.spines[:].set_visible(False)
        ends = (-0.5, len(rows) - 0.5)
        axes.set(xlabel=named(columns.name, columns.column), ylabel=named(rows.name, rows.column),
                 xlim=(-0.5, len(columns) - 0.5), ylim=ends if upward else ends[::-1])  # fmt: skip
    empty = int((pair.runs == 0).sum())
    blank = f" {several(empty, 'cell')} without runs {'is' if empty == 1 else 'are'} left white." if empty else ""
    outside = int((np.minimum(rows.index, columns.index) < 0).sum())
    absent = f" {several(outside, 'run')} without one of both are not in it." if outside else ""
    return figure(drawn.svg, f"Survival over {titled(columns.name)} and {titled(rows.name)}.{blank}{absent}")


def _cell(axes: Any, i: int, j: int, good: int, count: int, width: float) -> None:
    if not count:
        axes.add_patch(Rectangle((j - 0.5, i - 0.5), 1.0, 1.0, facecolor="white", edgecolor="#dddddd", linewidth=0.5))
        return
    share = good / count
    axes.add_patch(Rectangle((j - 0.5, i - 0.5), 1.0, 1.0, facecolor=shade_of(share), edgecolor="white", linewidth=1.0))
    color, size = ink_on(share), 8.5 if width > 26.0 else 7.0
    # Places are in points, so that the two lines keep their distance whichever way the axis runs.
    axes.annotate(f"{100 * share:.0f}", (j, i), (0, 3.4), textcoords="offset points", ha="center", va="center",
                  fontsize=size, color=color)  # fmt: skip
    axes.annotate(str(count), (j, i), (0, -5.6), textcoords="offset points", ha="center", va="center", fontsize=5.6,
                  color=color)  # fmt: skip
