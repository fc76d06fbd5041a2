"""Report section on the measures of a campaign's runs, as box plots and tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from poise.analysis import MEASURES
from poise.arrays import Array, Mask
from poise.html import (
    COLORS,
    FAINT,
    HEIGHT,
    MINUS,
    SHADE,
    THIRD,
    TIMES,
    Section,
    beside,
    drawing,
    explained,
    figure,
    heading,
    note,
    number,
    paragraph,
    prefixed,
)
from poise.report.campaign_runs import (
    NUMERIC,
    Groups,
    Kept,
    Runs,
    grouped,
    named,
    several,
    shortened,
    spread,
    titled,
    words_of,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

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


# -- Measures --------------------------------------------------------------------------------------------------------


#: Figures that are drawn, of the measures that differ most between groups.
FIGURES = 9
#: What others are compared with, where a style has it.
NEUTRAL = "neutral"


def measures(runs: Runs, kept: Mapping[int, Kept]) -> Section:
    """Figures of what differs most, then tables of all."""
    title = "Measures of the runs"
    if not len(runs):
        return Section(title, note("No run is done yet."))
    chosen = runs.succeeded if runs.succeeded.any() else np.ones(len(runs), dtype=bool)
    names = [name for name in runs.columns if _known(runs, name, chosen)]
    if not names:
        return Section(title, note("The runs measured nothing, or nothing that is a number."))
    whose = (
        f"the {several(int(chosen.sum()), 'run')} that succeeded"
        if runs.succeeded.any()
        else "all runs: none succeeded"
    )
    groups, split = _grouping(runs)
    said = [f"Of {whose}."]
    if groups is None:
        return Section(title, paragraph(*said) + _whole(runs, names, chosen))
    differing = [name for name in names if np.nanstd(runs.numbers(name)[chosen]) > 0.0]
    telling = sorted(differing, key=lambda name: -_telling(runs.numbers(name), groups, chosen))[:FIGURES]
    if len(differing) > FIGURES:
        said.append(f"Drawn are the {FIGURES} of {len(names)} measures that differ most by {titled(groups.name)}.")
    said.append("Boxes hold the middle half of the runs, lines nine tenths; up to 20 runs are points.")
    figures = [boxes(runs, name, groups, split, chosen) for name in telling]
    return Section(title, paragraph(*said) + beside(figures, 3) + _tables(runs, names, groups, split, chosen))


def _known(runs: Runs, name: str, chosen: Mask) -> bool:
    return runs.columns[name].type in NUMERIC and bool(np.isfinite(runs.numbers(name)[chosen]).any())


def _grouping(runs: Runs) -> tuple[Groups | None, Groups | None]:
    """By what the runs are compared, and what parts them before: style and robot where there are both."""
    words = words_of(runs)
    if not words:
        numeric = [name for name in runs.varied if runs.numeric(name)]
        candidates = [each for each in (grouped(runs, name) for name in numeric) if len(each) > 1]
        return (
            max(candidates, key=lambda each: _telling(runs.succeeded.astype(np.float64), each, None))
            if candidates
            else None
        ), None
    first = "style" if "style" in words else words[0]
    others = [name for name in words if name != first]
    return grouped(runs, first), grouped(runs, others[0]) if others else None


def _telling(values: Array, groups: Groups, chosen: Mask | None) -> float:
    """Share of the variance of a measure that is between the groups."""
    known = np.isfinite(values) & (groups.index >= 0)
    if chosen is not None:
        known &= chosen
    y, index = values[known], groups.index[known]
    if len(y) < 2 or not y.std() > 1e-9 * max(float(np.abs(y).max()), 1e-300):
        return 0.0
    count = np.bincount(index, minlength=len(groups))
    means = np.bincount(index, y, minlength=len(groups)) / np.maximum(count, 1)
    return float((count * (means - y.mean()) ** 2).sum() / (len(y) * y.var()))


def _whole(runs: Runs, names: Sequence[str], chosen: Mask) -> str:
    """Without groups: each measure over all runs."""
    rows = []
    for name in names:
        values = runs.numbers(name)[chosen]
        values = values[np.isfinite(values)]
        factor, label = _shown(runs, name, values)
        quantiles = (number(factor * float(q)) for q in np.quantile(values, (0.0, 0.5, 1.0)))
        rows.append((label, _about(runs, name), [spread(values, factor), *quantiles, str(len(values))]))
    return explained(["measure", "mean ± SD", "least", "median", "largest", "runs"], rows)


def _tables(runs: Runs, names: Sequence[str], groups: Groups, split: Groups | None, chosen: Mask) -> str:
    """One table for each part of the split: measures below each other, groups side by side."""
    if split is None:
        return heading(f"By {titled(groups.name)}") + _table(runs, names, groups, chosen)
    parts = []
    for k, label in enumerate(split.labels):
        part = chosen & (split.index == k)
        if part.any():
            parts += [heading(f"{titled(split.name)} {label}"), _table(runs, names, groups, part)]
        else:
            parts.append(note(f"{titled(split.name)} {label}: no run succeeded."))
    return "".join(parts)


def _table(runs: Runs, names: Sequence[str], groups: Groups, chosen: Mask) -> str:
    neutral = groups.labels.index(NEUTRAL) if groups.name == "style" and NEUTRAL in groups.labels else None
    order = list(range(len(groups)))
    if neutral is not None:
        order = [neutral, *(k for k in order if k != neutral)]
    rows = []
    for name in names:
        values = runs.numbers(name)
        inside = chosen & np.isfinite(values)
        if not inside.any():
            continue
        factor, label = _shown(runs, name, values[inside])
        each = [values[inside & (groups.index == k)] for k in order]
        cells = [spread(part, factor) for part in each]
        if neutral is not None:
            ratio = _has_ratio(name, values[inside])
            others = zip(cells[1:], each[1:], strict=True)
            cells = [cells[0], *(_beside(cell, part, each[0], factor, ratio) for cell, part in others)]
        rows.append((label, _about(runs, name), cells))
    counts = groups.counts(chosen)
    unit = f" {groups.column.unit}" if groups.column.unit else ""
    head = ["measure", *(f"{groups.labels[k]}{unit} ({several(int(counts[k]), 'run')})" for k in order)]
    said = (
        f"Mean ± standard deviation; in brackets how many times as much as {NEUTRAL} ({TIMES}), or how much more (+)."
    )
    return explained(head, rows, said if neutral is not None else "Mean ± standard deviation.")


def _beside(cell: str, part: Array, first: Array, factor: float, ratio: bool) -> str:
    """A cell with its ratio to the neutral style, or its difference where a ratio makes no sense."""
    if not len(part) or not len(first):
        return cell
    mean, base = float(part.mean()), float(first.mean())
    if ratio:
        return f"{cell} ({TIMES}{number(mean / base)})" if abs(base) > 1e-9 else cell
    more = number(factor * (mean - base))
    return f"{cell} ({more if more.startswith(MINUS) else f'+{more}'})"


def _has_ratio(name: str, values: Array) -> bool:
    """Whether it makes sense to have so many times as much of a measure: the same for a whole row."""
    measure = MEASURES.get(name.removeprefix("measure."))
    return measure.ratio if measure is not None else "margin" not in name and float(values.min()) > 0.0


def _shown(runs: Runs, name: str, values: Array) -> tuple[float, str]:
    """A factor and a name with the unit in which a measure reads well."""
    column = runs.columns[name]
    if column.unit == "share":
        return 100.0, f"{titled(name, column)} (%)"
    factor, unit = prefixed(column.unit, float(np.abs(values).max(initial=0.0)))
    return factor, named(name, column).replace(f"({column.unit})", f"({unit})")


def _about(runs: Runs, name: str) -> str:
    about = runs.columns[name].about
    return f"{about}." if about else ""
