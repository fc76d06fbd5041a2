"""Report section on the measures of the runs of a campaign, as box plots and tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from poise.analysis import STYLE_MEASURES
from poise.arrays import Array, Mask
from poise.html import (
    CHART_HEIGHT,
    GRID_COLOR,
    LINE_COLORS,
    MINUS,
    SHADE_COLOR,
    THIRD_WIDTH,
    TIMES,
    Section,
    annotated_table,
    figure,
    grid,
    heading,
    new_chart,
    note,
    number,
    paragraph,
    si_prefix,
)
from poise.report.campaign_runs import (
    NUMERIC_TYPES,
    RunFiles,
    RunGroups,
    RunTable,
    axis_label,
    categorical_factors,
    display_name,
    group_runs,
    mean_and_deviation,
    plural,
    shorten,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Largest number of values that are drawn as points; more are drawn as a box.
MAX_POINTS = 20
#: Largest number of parts of a split that are distinguished by color.
MAX_COLORED_PARTS = 4
#: Average width of a letter, in drawing units.
LETTER_WIDTH = 4.2


def box_plot(runs: RunTable, name: str, groups: RunGroups, split: RunGroups | None, selected: NDArray[np.bool_]) -> str:
    """Return a box plot of a measure with its caption.

    Args:
        runs: the runs of the campaign.
        name: column of the measure.
        groups: groups along the horizontal axis.
        split: parts that are drawn side by side in different colors, if they are few; None for no split.
        selected: runs to include, (n,).
    """
    column, values = runs.columns[name], runs.numbers(name)
    colored = split if split is not None and len(split) <= MAX_COLORED_PARTS else None
    labels = [shorten(label, 16) for label in groups.labels]
    is_rotated = LETTER_WIDTH * max(map(len, labels)) > 225.0 / len(labels) - 3.0
    suffix = f" by {display_name(groups.name)}" + (f" and {display_name(colored.name)}" if colored is not None else "")
    with new_chart(f"{display_name(name, column)}{suffix}", THIRD_WIDTH, CHART_HEIGHT + 8) as chart:
        axes = chart.axes
        count = len(colored) if colored is not None else 1
        width = 0.7 / count
        for k in range(len(groups)):
            for part in range(count):
                is_inside = selected & (groups.index == k) & np.isfinite(values)
                if colored is not None:
                    is_inside &= colored.index == part
                _draw_box(axes, k + width * (part - (count - 1) / 2), 0.8 * width, values[is_inside], LINE_COLORS[part])
        if colored is not None:
            for part, label in enumerate(colored.labels):
                axes.plot([], [], "s", color=LINE_COLORS[part], markersize=4.0, label=shorten(label, 20))
        axes.set_xticks(
            range(len(labels)), labels, rotation=40 if is_rotated else 0, ha="right" if is_rotated else "center"
        )
        axes.tick_params(axis="x", length=0, pad=2.0)
        axes.ticklabel_format(axis="y", scilimits=(-2, 4))  # long numbers would push the label out of the figure
        axes.grid(axis="y", color=SHADE_COLOR, linewidth=0.6)
        axes.set_axisbelow(True)
        axes.set(
            xlabel=axis_label(groups.name, groups.column),
            ylabel=axis_label(name, column),
            xlim=(-0.6, len(labels) - 0.4),
        )
        chart.legend(4)
        if is_rotated:
            room = 0.64 * LETTER_WIDTH * max(map(len, labels)) - 4.0
            chart.extra_bottom += max(room, 0.0)
    name_text = display_name(name, column)
    description = f": {column.description}" if column.description else ""
    return figure(chart.svg, f"{name_text[0].upper()}{name_text[1:]}{suffix}{description}.")


def _draw_box(axes: Axes, position: float, width: float, values: Array, color: str) -> None:
    """Draw a box, or points side by side with their mean if there are at most `MAX_POINTS`."""
    if not len(values):
        return
    half = width / 2
    if len(values) <= MAX_POINTS:
        # Multiples of the golden ratio spread any number of points evenly and reproducibly.
        jitter = (np.arange(len(values)) * 0.618034 % 1.0 - 0.5) * 0.8 * width if len(values) > 1 else np.zeros(1)
        axes.plot(position + jitter, values, ".", color=color, markersize=3.2, alpha=0.75, markeredgewidth=0)
        axes.hlines(values.mean(), position - half, position + half, color=color, linewidth=1.4)
        return
    low, first, middle, third, high = np.quantile(values, (0.05, 0.25, 0.5, 0.75, 0.95))
    axes.vlines(position, low, high, color=GRID_COLOR, linewidth=0.9)
    axes.bar(position, third - first, width, bottom=first, color=color, alpha=0.35, linewidth=0)
    axes.hlines(middle, position - half, position + half, color=color, linewidth=1.8)


# -- Measures --------------------------------------------------------------------------------------------------------


#: Largest number of figures; the measures that differ most between groups are drawn.
MAX_FIGURES = 9
#: Style that the other styles are compared with, if the campaign has it.
NEUTRAL_STYLE = "neutral"


def run_measures_section(runs: RunTable, run_files: Mapping[int, RunFiles]) -> Section:
    """Build the section: figures of the measures that differ most between groups, then tables of all measures."""
    title = "Measures of the runs"
    if not len(runs):
        return Section(title, note("No run is complete yet."))
    selected = runs.succeeded if runs.succeeded.any() else np.ones(len(runs), dtype=bool)
    names = [name for name in runs.columns if _has_numbers(runs, name, selected)]
    if not names:
        return Section(title, note("The runs have no numeric measures."))
    run_description = (
        f"the {plural(int(selected.sum()), 'run')} that succeeded"
        if runs.succeeded.any()
        else "all runs, since none succeeded"
    )
    groups, split = _grouping(runs)
    texts = [f"Measures of {run_description}."]
    if groups is None:
        return Section(title, paragraph(*texts) + _overall_table(runs, names, selected))
    differing = [name for name in names if np.nanstd(runs.numbers(name)[selected]) > 0.0]
    most_different = sorted(differing, key=lambda name: -_explained_variance(runs.numbers(name), groups, selected))[
        :MAX_FIGURES
    ]
    if len(differing) > MAX_FIGURES:
        texts.append(
            f"Figures show the {MAX_FIGURES} of {len(names)} measures that differ most by {display_name(groups.name)}."
        )
    texts.append("Boxes show the middle 50 % of the runs, lines the middle 90 %; up to 20 runs are drawn as points.")
    figures = [box_plot(runs, name, groups, split, selected) for name in most_different]
    return Section(title, paragraph(*texts) + grid(figures, 3) + _group_tables(runs, names, groups, split, selected))


def _has_numbers(runs: RunTable, name: str, selected: Mask) -> bool:
    return runs.columns[name].type in NUMERIC_TYPES and bool(np.isfinite(runs.numbers(name)[selected]).any())


def _grouping(runs: RunTable) -> tuple[RunGroups | None, RunGroups | None]:
    """Return the groups to compare and the split into tables, for example style and robot; None for no grouping.

    Without categorical parameters, the runs are grouped by the numeric parameter that explains success best.
    """
    factors = categorical_factors(runs)
    if not factors:
        numeric = [name for name in runs.varied if runs.numeric(name)]
        candidates = [each for each in (group_runs(runs, name) for name in numeric) if len(each) > 1]
        return (
            max(candidates, key=lambda each: _explained_variance(runs.succeeded.astype(np.float64), each, None))
            if candidates
            else None
        ), None
    first = "style" if "style" in factors else factors[0]
    others = [name for name in factors if name != first]
    return group_runs(runs, first), group_runs(runs, others[0]) if others else None


def _explained_variance(values: Array, groups: RunGroups, selected: Mask | None) -> float:
    """Return the share of the variance of a measure that is between groups, from 0 to 1."""
    known = np.isfinite(values) & (groups.index >= 0)
    if selected is not None:
        known &= selected
    y, index = values[known], groups.index[known]
    if len(y) < 2 or not y.std() > 1e-9 * max(float(np.abs(y).max()), 1e-300):
        return 0.0
    count = np.bincount(index, minlength=len(groups))
    means = np.bincount(index, y, minlength=len(groups)) / np.maximum(count, 1)
    return float((count * (means - y.mean()) ** 2).sum() / (len(y) * y.var()))


def _overall_table(runs: RunTable, names: Sequence[str], selected: Mask) -> str:
    """Return a table of each measure over all selected runs, without groups."""
    rows = []
    for name in names:
        values = runs.numbers(name)[selected]
        values = values[np.isfinite(values)]
        factor, label = _display_unit(runs, name, values)
        quantiles = (number(factor * float(q)) for q in np.quantile(values, (0.0, 0.5, 1.0)))
        rows.append(
            (label, _column_description(runs, name), [mean_and_deviation(values, factor), *quantiles, str(len(values))])
        )
    return annotated_table(["measure", "mean ± SD", "minimum", "median", "maximum", "runs"], rows)


def _group_tables(
    runs: RunTable, names: Sequence[str], groups: RunGroups, split: RunGroups | None, selected: Mask
) -> str:
    """Return one table per part of the split, with measures as rows and groups as columns."""
    if split is None:
        return heading(f"By {display_name(groups.name)}") + _group_table(runs, names, groups, selected)
    parts = []
    for k, label in enumerate(split.labels):
        part = selected & (split.index == k)
        if part.any():
            parts += [heading(f"{display_name(split.name)} {label}"), _group_table(runs, names, groups, part)]
        else:
            parts.append(note(f"{display_name(split.name)} {label}: no run succeeded."))
    return "".join(parts)


def _group_table(runs: RunTable, names: Sequence[str], groups: RunGroups, selected: Mask) -> str:
    neutral = groups.labels.index(NEUTRAL_STYLE) if groups.name == "style" and NEUTRAL_STYLE in groups.labels else None
    order = list(range(len(groups)))
    if neutral is not None:
        order = [neutral, *(k for k in order if k != neutral)]
    rows = []
    for name in names:
        values = runs.numbers(name)
        is_inside = selected & np.isfinite(values)
        if not is_inside.any():
            continue
        factor, label = _display_unit(runs, name, values[is_inside])
        group_values = [values[is_inside & (groups.index == k)] for k in order]
        cells = [mean_and_deviation(part, factor) for part in group_values]
        if neutral is not None:
            has_ratio = _has_ratio(name, values[is_inside])
            others = zip(cells[1:], group_values[1:], strict=True)
            cells = [
                cells[0],
                *(_compare_with_neutral(cell, part, group_values[0], factor, has_ratio) for cell, part in others),
            ]
        rows.append((label, _column_description(runs, name), cells))
    counts = groups.counts(selected)
    unit = f" {groups.column.unit}" if groups.column.unit else ""
    head = ["measure", *(f"{groups.labels[k]}{unit} ({plural(int(counts[k]), 'run')})" for k in order)]
    caption = (
        f"Mean ± standard deviation; in brackets the ratio to {NEUTRAL_STYLE} ({TIMES}), or the difference from it (+)."
    )
    return annotated_table(head, rows, caption if neutral is not None else "Mean ± standard deviation.")


def _compare_with_neutral(cell: str, part: Array, first: Array, factor: float, has_ratio: bool) -> str:
    """Append the ratio to the neutral style to a cell, or the difference if a ratio is not meaningful."""
    if not len(part) or not len(first):
        return cell
    mean, base = float(part.mean()), float(first.mean())
    if has_ratio:
        return f"{cell} ({TIMES}{number(mean / base)})" if abs(base) > 1e-9 else cell
    difference = number(factor * (mean - base))
    return f"{cell} ({difference if difference.startswith(MINUS) else f'+{difference}'})"


def _has_ratio(name: str, values: Array) -> bool:
    """Return whether ratios of a measure are meaningful; the answer holds for a whole table row."""
    measure = STYLE_MEASURES.get(name.removeprefix("measure."))
    return measure.has_ratio if measure is not None else "margin" not in name and float(values.min()) > 0.0


def _display_unit(runs: RunTable, name: str, values: Array) -> tuple[float, str]:
    """Return the display factor of a measure and its name with the prefixed unit."""
    column = runs.columns[name]
    if column.unit == "share":
        return 100.0, f"{display_name(name, column)} (%)"
    factor, unit = si_prefix(column.unit, float(np.abs(values).max(initial=0.0)))
    return factor, axis_label(name, column).replace(f"({column.unit})", f"({unit})")


def _column_description(runs: RunTable, name: str) -> str:
    description = runs.columns[name].description
    return f"{description}." if description else ""
