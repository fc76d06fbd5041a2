"""Survival against each varied parameter: points with intervals for numbers, bars for words."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from poise.report.campaign.groups import VALUES, Groups, crossed, grouped
from poise.report.campaign.interval import wilson
from poise.report.campaign.kept import Kept
from poise.report.campaign.runs import Array, Runs
from poise.report.campaign.splitting import split_of
from poise.report.campaign.words import named, several, shortened, titled
from poise.report.page.drawing import COLORS, DASHES, FAINT, HALF, HEIGHT, INK, SHADE, THIRD, drawing
from poise.report.page.html import beside, figure, heading, note, paragraph
from poise.report.page.section import Section

#: A grid with up to so many values is shown value by value, if there are so many runs of each.
FINE, ENOUGH = 24, 5
#: Words that are shown, those with the fewest successes first if there are more.
BARS = 24
#: Groups that share a figure, told apart by colours; more have a figure each.
TOGETHER = 4
#: Height of a bar with its room, and of letters, in units of the drawing.
ROW, LETTER = 17.0, 4.4
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
    with drawing(f"Share that succeeded by {titled(groups.name)}", HALF, 50.0 + ROW * len(order), left) as drawn:
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
