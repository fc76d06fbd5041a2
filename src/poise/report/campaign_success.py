"""Report sections on the success rate of a campaign: against each parameter, and as maps over two parameters."""

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
    CHART_HEIGHT,
    GRID_COLOR,
    HALF_WIDTH,
    LINE_COLORS,
    LINE_DASHES,
    SHADE_COLOR,
    TEXT_COLOR,
    THIRD_WIDTH,
    Section,
    figure,
    grid,
    heading,
    join_words,
    new_chart,
    note,
    paragraph,
)
from poise.report.campaign_runs import (
    MAX_VALUES,
    RunFiles,
    RunGroups,
    RunTable,
    axis_label,
    cross_tabulate,
    display_name,
    group_runs,
    main_factor,
    plural,
    shorten,
    success_interval,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Values of a parameter grid are shown individually up to this number of values, if each has this number of runs.
MAX_FINE_VALUES, MIN_RUNS_PER_VALUE = 24, 5
#: Largest number of bars; of more values, those with the lowest success rate are shown.
MAX_BARS = 24
#: Largest number of groups that share a figure, distinguished by color; more groups have a figure each.
MAX_SHARED_GROUPS = 4
#: Height of a bar with its spacing, and average width of a letter, in drawing units.
BAR_ROW_HEIGHT, LETTER_WIDTH = 17.0, 4.4
MARKERS = ("o", "s", "^", "D")
SUCCESS_AXIS_LABEL = "success rate (%)"
INTERVALS_DESCRIPTION = "Lines are 95 % Wilson intervals: the fewer the runs, the longer the line."


def success_by_parameter_section(runs: RunTable, run_files: Mapping[int, RunFiles]) -> Section:
    """Build the section: a figure for each varied parameter; numeric ones also split by the main factor, e.g. robot."""
    title = "Success rate against each parameter"
    if not runs.varied:
        text = "Only the seed was varied" if len(runs) > 1 else f"{plural(len(runs), 'run')} cannot be compared"
        return Section(title, note(f"{text}: there is no parameter to show the success rate against."))
    split = main_factor(runs)
    parts = [paragraph(f"Success rate against each parameter, over all values of the others. {INTERVALS_DESCRIPTION}")]
    figures: list[str] = []
    for name in runs.varied:
        if not runs.numeric(name):
            figures.append(_bar_figure(runs, group_runs(runs, name)))
            continue
        groups = group_runs(runs, name, _max_values(runs, name))
        if len(groups) < 2:
            parts.append(
                note(f"{display_name(name)}: only one value; {plural(groups.ungrouped, 'run')} without a value.")
            )
            continue
        if split is None:
            figures.append(_line_figure(runs, groups))
        elif len(split) <= MAX_SHARED_GROUPS:
            parts += [
                heading(display_name(name)),
                grid([_line_figure(runs, groups), _line_figure(runs, groups, split)]),
            ]
        else:
            parts += [
                heading(display_name(name)),
                grid([_line_figure(runs, groups)]),
                _part_figures(runs, groups, split),
            ]
    if figures and len(parts) > 1:
        parts.append(heading("By category" if split is not None else "By value"))
    return Section(title, "".join([*parts, grid(figures)]))


def _max_values(runs: RunTable, name: str) -> int:
    """Return the largest number of values of a parameter to show individually."""
    values = runs.numbers(name)
    distinct = len(np.unique(values[np.isfinite(values)]))
    return MAX_FINE_VALUES if distinct <= MAX_FINE_VALUES and len(runs) >= MIN_RUNS_PER_VALUE * distinct else MAX_VALUES


def _line_figure(runs: RunTable, groups: RunGroups, split: RunGroups | None = None) -> str:
    """Plot the success rate against a numeric parameter, for all runs or for each part of a split in its color."""
    name = display_name(groups.name)
    suffix = f" by {display_name(split.name)}" if split is not None else ""
    with new_chart(f"Success rate against {name}{suffix}", HALF_WIDTH, CHART_HEIGHT + 14) as chart:
        if split is None:
            _draw_line(chart.axes, groups, np.ones(len(runs), dtype=bool), runs.succeeded, 0, show_counts=True)
        else:
            step = _mean_spacing(groups) * 0.12
            for k, label in enumerate(split.labels):
                offset = step * (k - (len(split) - 1) / 2)
                _draw_line(chart.axes, groups, split.index == k, runs.succeeded, k, offset, shorten(label))
            chart.legend(4)
        _set_axes(chart.axes, groups)
    count = groups.counts() if split is None else cross_tabulate(split, groups, runs.succeeded)[0]
    return figure(chart.svg, _caption(groups, count, suffix, split is None))


def _part_figures(runs: RunTable, groups: RunGroups, split: RunGroups) -> str:
    """Return a small figure for each part of a split."""
    figures = []
    for k, label in enumerate(split.labels):
        selected = split.index == k
        with new_chart(f"Success rate of {label} against {display_name(groups.name)}", THIRD_WIDTH) as chart:
            _draw_line(chart.axes, groups, selected, runs.succeeded, 0)
            _set_axes(chart.axes, groups)
        figures.append(figure(chart.svg, f"{label}: {plural(int(selected.sum()), 'run')}."))
    return grid(figures, 3)


def _draw_line(
    axes: Axes,
    groups: RunGroups,
    selected: NDArray[np.bool_],
    succeeded: NDArray[np.bool_],
    k: int,
    offset: float = 0.0,
    label: str = "",
    show_counts: bool = False,
) -> None:
    assert groups.positions is not None
    count, successes = groups.counts(selected), groups.counts(selected & succeeded)
    has_runs = count > 0
    x, y = groups.positions[has_runs] + offset, 100.0 * successes[has_runs] / count[has_runs]
    ends = 100.0 * np.array(
        [success_interval(int(a), int(b)) for a, b in zip(successes[has_runs], count[has_runs], strict=True)]
    )
    ends = ends.reshape(-1, 2)
    color = LINE_COLORS[k % len(LINE_COLORS)]
    axes.vlines(x, ends[:, 0], ends[:, 1], color=color, linewidth=1.4)
    dash = LINE_DASHES[k % len(LINE_DASHES)]
    axes.plot(
        x, y, color=color, marker=MARKERS[k % len(MARKERS)], markersize=4.0, linewidth=0.8, linestyle=dash,
        label=label or "_all", clip_on=False,
    )  # fmt: skip
    if show_counts and len(x) <= MAX_VALUES:
        above = axes.get_xaxis_transform()
        for position, runs in zip(x, count[has_runs], strict=True):
            axes.text(
                position, 1.02, str(runs), transform=above, ha="center", va="bottom", fontsize=7.0, color="#555555"
            )


def _set_axes(axes: Axes, groups: RunGroups) -> None:
    assert groups.positions is not None
    axes.set(
        ylim=(0.0, 100.0),
        xlabel=axis_label(groups.name, groups.column),
        ylabel=SUCCESS_AXIS_LABEL,
        yticks=(0, 25, 50, 75, 100),
    )
    axes.grid(axis="y", color=SHADE_COLOR, linewidth=0.6)
    axes.set_axisbelow(True)
    margin = 0.5 * _mean_spacing(groups)
    axes.set_xlim(groups.positions[0] - margin, groups.positions[-1] + margin)
    if groups.edges is None and _ticks_fit(groups.positions):
        axes.set_xticks(groups.positions, groups.labels)


def _ticks_fit(positions: Array) -> bool:
    """Return whether there is room for a tick label at every value."""
    smallest = float(np.diff(positions).min())
    return len(positions) <= MAX_VALUES and smallest > 0.06 * float(positions[-1] - positions[0])


def _mean_spacing(groups: RunGroups) -> float:
    """Return the mean distance between neighboring groups, in the unit of the parameter."""
    assert groups.positions is not None
    return float(groups.positions[-1] - groups.positions[0]) / (len(groups) - 1)


def _caption(groups: RunGroups, count: NDArray[np.int64], suffix: str, show_counts: bool) -> str:
    what = f"Success rate against {display_name(groups.name)}{suffix}."
    if groups.edges is not None:
        ranges = f"Values are grouped in {len(groups)} ranges; points are at their medians."
        what = f"{what} {ranges}"
    numbers = (
        "Above: number of runs per point."
        if show_counts and len(groups) <= MAX_VALUES
        else _count_sentence(count, "point")
    )
    ungrouped_note = f"Not shown: {plural(groups.ungrouped, 'run')} without a value." if groups.ungrouped else ""
    return " ".join(filter(None, [what, numbers, ungrouped_note]))


def _count_sentence(count: NDArray[np.int64], what: str) -> str:
    low, high = int(count[count > 0].min()), int(count.max())
    return f"{plural(high, 'run') if low == high else f'{low} to {high} runs'} per {what}."


def _bar_figure(runs: RunTable, groups: RunGroups) -> str:
    """Plot the success rate of each value of a categorical parameter as a bar, with interval and number of runs."""
    count, successes = groups.counts(), groups.counts(runs.succeeded)
    order = np.arange(len(groups))
    if len(groups) > MAX_BARS:
        order = np.argsort(successes / count, kind="stable")[:MAX_BARS]
    labels = [shorten(groups.labels[k]) for k in order]
    left = 18.0 + LETTER_WIDTH * max(len(label) for label in labels)
    with new_chart(
        f"Success rate by {display_name(groups.name)}", HALF_WIDTH, 50.0 + BAR_ROW_HEIGHT * len(order), left
    ) as chart:
        axes = chart.axes
        for row, k in enumerate(order):
            low, high = success_interval(int(successes[k]), int(count[k]))
            axes.barh(row, 100.0 * successes[k] / count[k], height=0.62, color="#9cc3dc", linewidth=0)
            axes.plot([100.0 * low, 100.0 * high], [row, row], color=LINE_COLORS[0], linewidth=1.4)
            axes.plot(
                [100.0 * successes[k] / count[k]], [row], "o", color=LINE_COLORS[0], markersize=3.6, clip_on=False
            )
            axes.text(103.0, row, str(count[k]), ha="left", va="center", fontsize=7.0, color="#555555")
        axes.axvline(100.0, color=GRID_COLOR, linewidth=0.5)
        axes.set_yticks(range(len(order)), labels, color=TEXT_COLOR)
        axes.tick_params(axis="y", length=0)
        axes.set(
            xlabel=SUCCESS_AXIS_LABEL, xlim=(0.0, 114.0), ylim=(len(order) - 0.4, -0.6), xticks=(0, 25, 50, 75, 100)
        )
    limit_note = (
        f" The {len(order)} of {len(groups)} values with the lowest success rate." if len(order) < len(groups) else ""
    )
    return figure(
        chart.svg, f"Success rate by {display_name(groups.name)}; at the right, the number of runs.{limit_note}"
    )


# -- Colors of success rates ----------------------------------------------------------------------------------------


#: Colors from failure (dark) to success (light), of monotonic lightness.
SUCCESS_COLORS = ("#5e1f00", "#b85410", "#f0b070", "#e9f1f6")
#: Text is white on colors of success rates below this.
LIGHT_TEXT_BELOW = 0.5


@cache
def _color_map() -> matplotlib.colors.Colormap:
    return matplotlib.colors.LinearSegmentedColormap.from_list("success", SUCCESS_COLORS)


def success_color(share: float) -> str:
    """Return the color of a success rate from 0 to 1."""
    return str(matplotlib.colors.to_hex(_color_map()(share)))


def text_color_on(share: float) -> str:
    """Return a text color that is legible on `success_color`."""
    return "#ffffff" if share < LIGHT_TEXT_BELOW else "#222222"


# -- Polar map of pushes ---------------------------------------------------------------------------------------------


PUSH_SIZE, PUSH_DIRECTION = "push.size", "push.direction"
#: Largest number of directions shown individually; number of sectors if there are more.
MAX_DIRECTIONS, SECTOR_COUNT = 24, 8
POLAR_HEIGHT = 300.0
#: Smallest width of a cell with a number in it (drawing units).
MIN_LABEL_WIDTH = 15.0
#: Share of the radius outside the rings that is kept free for the names of directions.
LABEL_MARGIN = 0.12


def push_direction_map(runs: RunTable) -> str:
    """Plot the success rate by size and direction of a push: 0 degrees (forward) is up, 90 degrees is to the left."""
    sizes, directions = group_runs(runs, PUSH_SIZE), direction_groups(runs)
    count, successes = cross_tabulate(sizes, directions, runs.succeeded)
    assert directions.positions is not None
    width = _cell_width(directions.positions)
    with new_chart(
        "Success rate by direction and size of the push, seen from above", HALF_WIDTH, POLAR_HEIGHT
    ) as chart:
        chart.axes.remove()
        axes: Any = chart.figure.add_subplot(projection="polar")
        axes.set_theta_zero_location("N")
        for j, angle in enumerate(np.radians(directions.positions)):
            for i in range(len(sizes)):
                if count[i, j]:
                    _draw_polar_cell(axes, float(angle), i + 1.0, width, successes[i, j] / count[i, j], len(sizes))
        axes.set_thetagrids(np.arange(0, 360, 45), ["forward", "45°", "left", "135°", "back", "225°", "right", "315°"])
        axes.set_ylim(0.0, len(sizes) + 0.5 + LABEL_MARGIN * len(sizes))
        axes.set_yticks([])
        axes.grid(False)
        axes.spines[:].set_visible(False)
        axes.tick_params(pad=-2.0)
        axes.set_anchor("S")
    ranges = "ranges of size" if sizes.edges is not None else "sizes"
    text = f"Pushes seen from above, in the direction of the force; up is forward. Rings from the inside are {ranges}"
    nonzero = count[count > 0]
    least, most = (int(nonzero.min()), int(nonzero.max())) if len(nonzero) else (0, 0)
    runs_each = plural(most, "run") if least == most else f"{least} to {most} runs"
    unit = axis_label(PUSH_SIZE, sizes.column).partition("(")[2].rstrip(")")
    return figure(chart.svg, f"{text}: {', '.join(sizes.labels)} {unit}. Numbers are percent; {runs_each} per cell.")


def direction_groups(runs: RunTable) -> RunGroups:
    """Group runs by push direction, 0 to 360 degrees; in sectors around multiples of 45 degrees if there are many."""
    angles: Array = runs.numbers(PUSH_DIRECTION)
    if runs.column(PUSH_DIRECTION).unit == "rad":
        angles = np.asarray(np.degrees(angles), dtype=np.float64)
    angles = np.asarray(np.round(np.mod(angles, 360.0), 6) % 360.0, dtype=np.float64)
    known = np.isfinite(angles)
    distinct = np.unique(angles[known])
    if len(distinct) > MAX_DIRECTIONS:
        distinct = np.arange(SECTOR_COUNT) * 360.0 / SECTOR_COUNT
        sector = np.where(known, angles, 0.0) * SECTOR_COUNT / 360.0
        index = np.where(known, np.round(sector).astype(np.int64) % SECTOR_COUNT, -1)
    else:
        index = np.where(known, np.searchsorted(distinct, angles), -1)
    return RunGroups(PUSH_DIRECTION, runs.column(PUSH_DIRECTION), tuple(f"{a:g}" for a in distinct), index, distinct)


def _cell_width(angles: Array) -> float:
    """Return the angular width of a cell (rad): the smallest distance between directions, at most 90 degrees."""
    gaps = np.diff(np.append(angles, angles[0] + 360.0)) if len(angles) > 1 else np.array([90.0])
    return float(np.radians(min(gaps.min(), 90.0)))


def _draw_polar_cell(axes: Any, angle: float, ring: float, width: float, share: float, rings: int) -> None:
    axes.bar(angle, 1.0, width, bottom=ring - 0.5, color=success_color(share), edgecolor="white", linewidth=1.0)
    unit = 0.38 * POLAR_HEIGHT / (rings + 1.0)  # width of a ring
    if min(unit, unit * ring * width) > MIN_LABEL_WIDTH - 3.0 * (rings > 6):
        text = f"{100 * share:.0f}"
        axes.text(angle, ring, text, ha="center", va="center", fontsize=7.5, color=text_color_on(share))


# -- Maps over two parameters ----------------------------------------------------------------------------------------


#: Largest number of maps.
MAX_MAPS = 6
#: Height of a row of cells, and average width of a letter, in drawing units.
CELL_ROW_HEIGHT, CELL_LETTER_WIDTH = 24.0, 4.4


class ParameterPair(NamedTuple):
    """Two grouped parameters, with the number of runs and of successful runs for each pair of groups."""

    rows: RunGroups
    columns: RunGroups
    runs: NDArray[np.int64]
    successes: NDArray[np.int64]

    @property
    def variation(self) -> float:
        """Variation of the success rate between cells, relative to chance: chi square per degree of freedom."""
        count, successes = self.runs[self.runs > 0], self.successes[self.runs > 0]
        mean = successes.sum() / count.sum()
        if len(count) < 2 or mean in (0.0, 1.0):
            return 0.0
        return float((count * (successes / count - mean) ** 2).sum() / (mean * (1.0 - mean) * (len(count) - 1)))


def success_maps_section(runs: RunTable, run_files: Mapping[int, RunFiles]) -> Section:
    """Build the section: maps of the success rate over pairs of parameters, and a polar map of pushes."""
    title = "Success rate over two parameters"
    groups = {name: group_runs(runs, name) for name in runs.varied}
    usable = {name: each for name, each in groups.items() if 1 < len(each) <= MAX_VALUES}
    if len(usable) < 2:
        left = [display_name(name) for name in runs.varied if name not in usable]
        also = f" ({join_words(left)}: more than {MAX_VALUES} values)" if left else ""
        return Section(title, note(f"No map: fewer than two parameters with few values were varied{also}."))
    crossings = [_parameter_pair(a, b, runs) for a, b in combinations(usable.values(), 2)]
    pairs = [pair for pair in crossings if pair.runs.any()]
    pairs.sort(key=lambda pair: (not _is_push_pair(pair), -pair.variation))
    text = "Each cell: success rate in percent, and below it, in small type, the number of runs. Dark is failure."
    limit_note = (
        f"Shown are the {MAX_MAPS} of {len(pairs)} pairs over which the success rate varies most."
        if len(pairs) > MAX_MAPS
        else ""
    )
    figures = (
        [push_direction_map(runs)]
        if PUSH_SIZE in usable and PUSH_DIRECTION in runs.varied and runs.numeric(PUSH_DIRECTION)
        else []
    )
    figures += [_map_figure(pair) for pair in pairs[:MAX_MAPS]]
    return Section(title, paragraph(text, limit_note) + grid(figures))


def _is_push_pair(pair: ParameterPair) -> bool:
    return {pair.rows.name, pair.columns.name} == {PUSH_SIZE, PUSH_DIRECTION}


def _parameter_pair(a: RunGroups, b: RunGroups, runs: RunTable) -> ParameterPair:
    """Return a pair of parameters; the one with longer labels becomes the rows, where there is more room."""
    longest = [max(map(len, each.labels)) for each in (a, b)]
    rows, columns = (a, b) if longest[0] > longest[1] else (b, a)
    return ParameterPair(rows, columns, *cross_tabulate(rows, columns, runs.succeeded))


def _map_figure(pair: ParameterPair) -> str:
    rows, columns = pair.rows, pair.columns
    numbers_upward = rows.positions is not None  # numbers increase upwards, words are listed downwards
    names = [shorten(label, 26) for label in rows.labels]
    left = 26.0 + CELL_LETTER_WIDTH * max(map(len, names))
    cell = (HALF_WIDTH - left - 10.0) / len(columns)
    heads = [shorten(label, 22) for label in columns.labels]
    is_rotated = CELL_LETTER_WIDTH * max(map(len, heads)) > cell - 3.0
    text = f"Success rate by {display_name(rows.name)} and {display_name(columns.name)}"
    with new_chart(text, HALF_WIDTH, 50.0 + CELL_ROW_HEIGHT * len(rows), left) as chart:
        axes = chart.axes
        for i in range(len(rows)):
            for j in range(len(columns)):
                _draw_cell(axes, i, j, int(pair.successes[i, j]), int(pair.runs[i, j]), cell)
        axes.set_xticks(
            range(len(columns)), heads, rotation=40 if is_rotated else 0, ha="right" if is_rotated else "center"
        )
        if is_rotated:
            chart.extra_bottom = 0.64 * CELL_LETTER_WIDTH * max(map(len, heads))
            axes.tick_params(axis="x", pad=1.0)
        axes.set_yticks(range(len(rows)), names)
        axes.tick_params(length=0)
        axes.spines[:].set_visible(False)
        ends = (-0.5, len(rows) - 0.5)
        axes.set(xlabel=axis_label(columns.name, columns.column), ylabel=axis_label(rows.name, rows.column),
                 xlim=(-0.5, len(columns) - 0.5), ylim=ends if numbers_upward else ends[::-1])  # fmt: skip
    empty = int((pair.runs == 0).sum())
    empty_note = f" {plural(empty, 'cell')} without runs {'is' if empty == 1 else 'are'} white." if empty else ""
    outside = int((np.minimum(rows.index, columns.index) < 0).sum())
    ungrouped_note = f" Not shown: {plural(outside, 'run')} without a value." if outside else ""
    return figure(
        chart.svg,
        f"Success rate over {display_name(columns.name)} and {display_name(rows.name)}.{empty_note}{ungrouped_note}",
    )


def _draw_cell(axes: Any, i: int, j: int, successes: int, count: int, width: float) -> None:
    if not count:
        axes.add_patch(
            matplotlib.patches.Rectangle(
                (j - 0.5, i - 0.5), 1.0, 1.0, facecolor="white", edgecolor="#dddddd", linewidth=0.5
            )
        )
        return
    share = successes / count
    axes.add_patch(
        matplotlib.patches.Rectangle(
            (j - 0.5, i - 0.5), 1.0, 1.0, facecolor=success_color(share), edgecolor="white", linewidth=1.0
        )
    )
    color, size = text_color_on(share), 8.5 if width > 26.0 else 7.0
    # Offsets are in points, so that the two lines keep their distance whichever direction the axis has.
    axes.annotate(f"{100 * share:.0f}", (j, i), (0, 3.4), textcoords="offset points", ha="center", va="center",
                  fontsize=size, color=color)  # fmt: skip
    axes.annotate(str(count), (j, i), (0, -5.6), textcoords="offset points", ha="center", va="center", fontsize=5.6,
                  color=color)  # fmt: skip
