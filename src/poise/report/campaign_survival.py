"""Report sections on the success rate of a campaign against one and two parameters."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from itertools import combinations
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from poise.arrays import Array
from poise.extras import matplotlib
from poise.html import (
    COLORS,
    DASHES,
    FAINT,
    HALF,
    HEIGHT,
    INK,
    SHADE,
    THIRD,
    Section,
    beside,
    drawing,
    figure,
    heading,
    listed,
    note,
    paragraph,
)
from poise.report.campaign_runs import (
    VALUES,
    Groups,
    Kept,
    Runs,
    crossed,
    grouped,
    named,
    several,
    shortened,
    split_of,
    titled,
    wilson,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: A grid with up to so many values is shown value by value, if there are so many runs of each.
FINE, ENOUGH = 24, 5
#: Words that are shown, those with the fewest successes first if there are more.
BARS = 24
#: Groups that share a figure, told apart by colours; more have a figure each.
TOGETHER = 4
#: Height of a bar with its room, and of letters, in units of the drawing.
BAR_ROW, LETTER = 17.0, 4.4
MARKERS = ("o", "s", "^", "D")
SURVIVED = "succeeded (%)"
INTERVALS = "Lines are 95 % intervals after Wilson: the fewer the runs, the longer."


def against(runs: Runs, kept: Mapping[int, Kept]) -> Section:
    """A figure for each parameter that differs between runs; numbers also by robot, or by what else splits the runs."""
    title = "Survival against each parameter"
    if not runs.varied:
        said = "Nothing was varied but the seed" if len(runs) > 1 else f"{several(len(runs), 'run')} cannot be compared"
        return Section(title, note(f"{said}: there is no parameter to show survival against."))
    split = split_of(runs)
    parts = [paragraph(f"Which share of the runs succeeded, by each parameter over all others. {INTERVALS}")]
    pairs: list[str] = []
    for name in runs.varied:
        if not runs.numeric(name):
            pairs.append(_bars(runs, grouped(runs, name)))
            continue
        groups = grouped(runs, name, _most(runs, name))
        if len(groups) < 2:
            parts.append(note(f"{titled(name)}: only one value is known, and {several(groups.absent, 'run')} without."))
            continue
        if split is None:
            pairs.append(_points(runs, groups))
        elif len(split) <= TOGETHER:
            parts += [heading(titled(name)), beside([_points(runs, groups), _points(runs, groups, split)])]
        else:
            parts += [heading(titled(name)), beside([_points(runs, groups)]), _each(runs, groups, split)]
    if pairs and len(parts) > 1:
        parts.append(heading("By words" if split is not None else "By value"))
    return Section(title, "".join([*parts, beside(pairs)]))


def _most(runs: Runs, name: str) -> int:
    """How many values are shown one by one."""
    values = runs.numbers(name)
    different = len(np.unique(values[np.isfinite(values)]))
    return FINE if different <= FINE and len(runs) >= ENOUGH * different else VALUES


def _points(runs: Runs, groups: Groups, split: Groups | None = None) -> str:
    """Survival over a number, of all runs or of each part of a split in its colour."""
    name = titled(groups.name)
    by = f" by {titled(split.name)}" if split is not None else ""
    with drawing(f"Share that succeeded against {name}{by}", HALF, HEIGHT + 14) as drawn:
        if split is None:
            _line(drawn.axes, groups, np.ones(len(runs), dtype=bool), runs.succeeded, 0, told=True)
        else:
            step = _gap(groups) * 0.12
            for k, label in enumerate(split.labels):
                move = step * (k - (len(split) - 1) / 2)
                _line(drawn.axes, groups, split.index == k, runs.succeeded, k, move, shortened(label))
            drawn.legend(4)
        _frame(drawn.axes, groups)
    count = groups.counts() if split is None else crossed(split, groups, runs.succeeded)[0]
    return figure(drawn.svg, _caption(groups, count, by, split is None))


def _each(runs: Runs, groups: Groups, split: Groups) -> str:
    """A small figure for each part of a split."""
    figures = []
    for k, label in enumerate(split.labels):
        chosen = split.index == k
        with drawing(f"Share that succeeded of {label} against {titled(groups.name)}", THIRD) as drawn:
            _line(drawn.axes, groups, chosen, runs.succeeded, 0)
            _frame(drawn.axes, groups)
        figures.append(figure(drawn.svg, f"{label}: {several(int(chosen.sum()), 'run')}."))
    return beside(figures, 3)


def _line(
    axes: Axes,
    groups: Groups,
    chosen: NDArray[np.bool_],
    succeeded: NDArray[np.bool_],
    k: int,
    move: float = 0.0,
    label: str = "",
    told: bool = False,
) -> None:
    assert groups.places is not None
    count, good = groups.counts(chosen), groups.counts(chosen & succeeded)
    there = count > 0
    x, y = groups.places[there] + move, 100.0 * good[there] / count[there]
    ends = 100.0 * np.array([wilson(int(a), int(b)) for a, b in zip(good[there], count[there], strict=True)])
    ends = ends.reshape(-1, 2)
    color = COLORS[k % len(COLORS)]
    axes.vlines(x, ends[:, 0], ends[:, 1], color=color, linewidth=1.4)
    dash = DASHES[k % len(DASHES)]
    axes.plot(
        x, y, color=color, marker=MARKERS[k % len(MARKERS)], markersize=4.0, linewidth=0.8, linestyle=dash,
        label=label or "_all", clip_on=False,
    )  # fmt: skip
    if told and len(x) <= VALUES:
        above = axes.get_xaxis_transform()
        for place, runs in zip(x, count[there], strict=True):
            axes.text(place, 1.02, str(runs), transform=above, ha="center", va="bottom", fontsize=7.0, color="#555555")


def _frame(axes: Axes, groups: Groups) -> None:
    assert groups.places is not None
    axes.set(ylim=(0.0, 100.0), xlabel=named(groups.name, groups.column), ylabel=SURVIVED, yticks=(0, 25, 50, 75, 100))
    axes.grid(axis="y", color=SHADE, linewidth=0.6)
    axes.set_axisbelow(True)
    margin = 0.5 * _gap(groups)
    axes.set_xlim(groups.places[0] - margin, groups.places[-1] + margin)
    if groups.edges is None and _roomy(groups.places):
        axes.set_xticks(groups.places, groups.labels)


def _roomy(places: Array) -> bool:
    """Whether every value can have its number below the axis."""
    smallest = float(np.diff(places).min())
    return len(places) <= VALUES and smallest > 0.06 * float(places[-1] - places[0])


def _gap(groups: Groups) -> float:
    """Between neighbours, on average."""
    assert groups.places is not None
    return float(groups.places[-1] - groups.places[0]) / (len(groups) - 1)


def _caption(groups: Groups, count: NDArray[np.int64], by: str, told: bool) -> str:
    what = f"Survival against {titled(groups.name)}{by}."
    if groups.edges is not None:
        ranges = f"Values were put in {len(groups)} ranges; points stand at their medians."
        what = f"{what} {ranges}"
    numbers = "Above: runs of each point." if told and len(groups) <= VALUES else _counted(count, "point")
    absent = f"{several(groups.absent, 'run')} had none." if groups.absent else ""
    return " ".join(filter(None, [what, numbers, absent]))


def _counted(count: NDArray[np.int64], what: str) -> str:
    low, high = int(count[count > 0].min()), int(count.max())
    return f"{several(high, 'run') if low == high else f'{low} to {high} runs'} a {what}."


def _bars(runs: Runs, groups: Groups) -> str:
    """Survival of each word, with its interval and its number of runs."""
    count, good = groups.counts(), groups.counts(runs.succeeded)
    order = np.arange(len(groups))
    if len(groups) > BARS:
        order = np.argsort(good / count, kind="stable")[:BARS]
    labels = [shortened(groups.labels[k]) for k in order]
    left = 18.0 + LETTER * max(len(label) for label in labels)
    with drawing(f"Share that succeeded by {titled(groups.name)}", HALF, 50.0 + BAR_ROW * len(order), left) as drawn:
        axes = drawn.axes
        for row, k in enumerate(order):
            low, high = wilson(int(good[k]), int(count[k]))
            axes.barh(row, 100.0 * good[k] / count[k], height=0.62, color="#9cc3dc", linewidth=0)
            axes.plot([100.0 * low, 100.0 * high], [row, row], color=COLORS[0], linewidth=1.4)
            axes.plot([100.0 * good[k] / count[k]], [row], "o", color=COLORS[0], markersize=3.6, clip_on=False)
            axes.text(103.0, row, str(count[k]), ha="left", va="center", fontsize=7.0, color="#555555")
        axes.axvline(100.0, color=FAINT, linewidth=0.5)
        axes.set_yticks(range(len(order)), labels, color=INK)
        axes.tick_params(axis="y", length=0)
        axes.set(xlabel=SURVIVED, xlim=(0.0, 114.0), ylim=(len(order) - 0.4, -0.6), xticks=(0, 25, 50, 75, 100))
    few = f" Of {len(groups)} values those {len(order)} with the least survival." if len(order) < len(groups) else ""
    return figure(drawn.svg, f"Survival by {titled(groups.name)}; at the right, runs of each.{few}")


# -- Shades ----------------------------------------------------------------------------------------------------------


#: Colours from failure, dark, to success, light; lightness grows all the way.
SHADES = ("#5e1f00", "#b85410", "#f0b070", "#e9f1f6")
#: Below this share letters are white.
DARK = 0.5


@cache
def _shades() -> matplotlib.colors.Colormap:
    return matplotlib.colors.LinearSegmentedColormap.from_list("survival", SHADES)


def shade_of(share: float) -> str:
    """The colour of a share from 0 to 1."""
    return str(matplotlib.colors.to_hex(_shades()(share)))


def ink_on(share: float) -> str:
    """The colour of letters that can be read on it."""
    return "#ffffff" if share < DARK else "#222222"


# -- A map of pushes as seen from above ------------------------------------------------------------------------------


SIZE, DIRECTION = "push.size", "push.direction"
#: Directions that are shown one by one; more are put in sectors.
DIRECTIONS, SECTORS = 24, 8
POLAR_HEIGHT = 300.0
#: Letters take so much of the radius; a cell that is narrower has none (units of the drawing).
ROOM = 15.0
#: Share of the radius that is left free around the rings, for the names of directions.
MARGIN = 0.12


def polar(runs: Runs) -> str:
    """Survival by size and direction of a push: 0 degrees, forward, is up, and 90 degrees is to the left."""
    sizes, around = grouped(runs, SIZE), directions(runs)
    count, good = crossed(sizes, around, runs.succeeded)
    assert around.places is not None
    width = _width(around.places)
    with drawing(
        "Share that succeeded by direction and size of the push, seen from above", HALF, POLAR_HEIGHT
    ) as drawn:
        drawn.axes.remove()
        axes: Any = drawn.figure.add_subplot(projection="polar")
        axes.set_theta_zero_location("N")
        for j, angle in enumerate(np.radians(around.places)):
            for i in range(len(sizes)):
                if count[i, j]:
                    _polar_cell(axes, float(angle), i + 1.0, width, good[i, j] / count[i, j], len(sizes))
        axes.set_thetagrids(np.arange(0, 360, 45), ["forward", "45°", "left", "135°", "back", "225°", "right", "315°"])
        axes.set_ylim(0.0, len(sizes) + 0.5 + MARGIN * len(sizes))
        axes.set_yticks([])
        axes.grid(False)
        axes.spines[:].set_visible(False)
        axes.tick_params(pad=-2.0)
        axes.set_anchor("S")
    ranges = "ranges of size" if sizes.edges is not None else "sizes"
    said = f"Pushes as seen from above: the side towards which they push, up is forward. Rings from inside are {ranges}"
    there = count[count > 0]
    least, most = (int(there.min()), int(there.max())) if len(there) else (0, 0)
    runs_each = several(most, "run") if least == most else f"{least} to {most} runs"
    unit = named(SIZE, sizes.column).partition("(")[2].rstrip(")")
    return figure(drawn.svg, f"{said}: {', '.join(sizes.labels)} {unit}. Numbers are per cent; {runs_each} a cell.")


def directions(runs: Runs) -> Groups:
    """Runs by direction, 0 to 360 degrees; sectors around multiples of 45 degrees if there are many."""
    angles: Array = runs.numbers(DIRECTION)
    if runs.column(DIRECTION).unit == "rad":
        angles = np.asarray(np.degrees(angles), dtype=np.float64)
    angles = np.asarray(np.round(np.mod(angles, 360.0), 6) % 360.0, dtype=np.float64)
    known = np.isfinite(angles)
    different = np.unique(angles[known])
    if len(different) > DIRECTIONS:
        different = np.arange(SECTORS) * 360.0 / SECTORS
        sector = np.where(known, angles, 0.0) * SECTORS / 360.0
        index = np.where(known, np.round(sector).astype(np.int64) % SECTORS, -1)
    else:
        index = np.where(known, np.searchsorted(different, angles), -1)
    return Groups(DIRECTION, runs.column(DIRECTION), tuple(f"{a:g}" for a in different), index, different)


def _width(angles: Array) -> float:
    """Of a cell (rad): as wide as neighbours leave room for, a quarter of the circle at most."""
    gaps = np.diff(np.append(angles, angles[0] + 360.0)) if len(angles) > 1 else np.array([90.0])
    return float(np.radians(min(gaps.min(), 90.0)))


def _polar_cell(axes: Any, angle: float, ring: float, width: float, share: float, rings: int) -> None:
    axes.bar(angle, 1.0, width, bottom=ring - 0.5, color=shade_of(share), edgecolor="white", linewidth=1.0)
    unit = 0.38 * POLAR_HEIGHT / (rings + 1.0)  # of a ring
    if min(unit, unit * ring * width) > ROOM - 3.0 * (rings > 6):
        text = f"{100 * share:.0f}"
        axes.text(angle, ring, text, ha="center", va="center", fontsize=7.5, color=ink_on(share))


# -- Maps: survival over two parameters at once, as cells ------------------------------------------------------------


#: Pairs that are shown.
MOST = 6
#: Height of a row of cells, and width of a letter, in units of the drawing.
CELL_ROW, CELL_LETTER = 24.0, 4.4


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
    left = 26.0 + CELL_LETTER * max(map(len, names))
    cell = (HALF - left - 10.0) / len(columns)
    heads = [shortened(label, 22) for label in columns.labels]
    turned = CELL_LETTER * max(map(len, heads)) > cell - 3.0
    said = f"Share that succeeded by {titled(rows.name)} and {titled(columns.name)}"
    with drawing(said, HALF, 50.0 + CELL_ROW * len(rows), left) as drawn:
        axes = drawn.axes
        for i in range(len(rows)):
            for j in range(len(columns)):
                _cell(axes, i, j, int(pair.good[i, j]), int(pair.runs[i, j]), cell)
        axes.set_xticks(range(len(columns)), heads, rotation=40 if turned else 0, ha="right" if turned else "center")
        if turned:
            drawn.below = 0.64 * CELL_LETTER * max(map(len, heads))
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
        axes.add_patch(
            matplotlib.patches.Rectangle(
                (j - 0.5, i - 0.5), 1.0, 1.0, facecolor="white", edgecolor="#dddddd", linewidth=0.5
            )
        )
        return
    share = good / count
    axes.add_patch(
        matplotlib.patches.Rectangle(
            (j - 0.5, i - 0.5), 1.0, 1.0, facecolor=shade_of(share), edgecolor="white", linewidth=1.0
        )
    )
    color, size = ink_on(share), 8.5 if width > 26.0 else 7.0
    # Places are in points, so that the two lines keep their distance whichever way the axis runs.
    axes.annotate(f"{100 * share:.0f}", (j, i), (0, 3.4), textcoords="offset points", ha="center", va="center",
                  fontsize=size, color=color)  # fmt: skip
    axes.annotate(str(count), (j, i), (0, -5.6), textcoords="offset points", ha="center", va="center", fontsize=5.6,
                  color=color)  # fmt: skip
