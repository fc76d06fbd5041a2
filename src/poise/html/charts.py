"""Matplotlib charts as inline SVG: sizes, colors, curves, legends and shaded phases.

Draw inside a `new_chart` block; when the block ends, `Chart.svg` holds the drawing as text for an HTML page.
"""

from __future__ import annotations

import io
import math
import re
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from poise.analysis import MotionPhase
from poise.arrays import Array
from poise.extras import matplotlib

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: Removed from the SVG: file metadata, the style sheet (it would apply to the whole page), comments.
_UNUSED_ELEMENTS = re.compile(r"<metadata>.*?</metadata>|<style.*?</style>|<!--.*?-->", re.DOTALL)
#: Attributes that hold coordinates, which are rounded.
_COORDINATES = re.compile(r'(?: d| x| y|transform)="[^"]*"')
_LONG_DECIMALS = re.compile(r"-?\d+\.\d{2,}")


def inline_svg(svg: str, alt_text: str) -> str:
    """Reduce an SVG file to an ``<svg>`` element that can be placed in an HTML page.

    Removes the file header, name spaces, style sheet and unused ids, and rounds coordinates to 0.1 unit. Ids that are
    used get a checksum of the whole text as prefix, so that they differ from the ids of other figures on the page.

    Args:
        svg: text of a whole SVG file.
        alt_text: description of the figure for screen readers.
    """
    svg = _UNUSED_ELEMENTS.sub("", svg[svg.index("<svg") :])
    view = re.search(r'viewBox="([^"]+)"', svg)
    box = view[1] if view else "0 0 100 100"
    svg = re.sub(r"<svg[^>]*>", f'<svg viewBox="{box}" role="img" aria-label="{escape(alt_text)}">', svg, count=1)
    svg = svg.replace("xlink:href", "href")
    used = set(re.findall(r'(?:href="#|url\(#)([\w.-]+)', svg))
    prefix = f"f{zlib.crc32(svg.encode()):x}-"
    svg = re.sub(r' id="([\w.-]+)"', lambda match: f' id="{prefix}{match[1]}"' if match[1] in used else "", svg)
    svg = re.sub(r'(href="#|url\(#)', rf"\g<1>{prefix}", svg)
    # Remove the font family, so that the figure uses the font of the page.
    svg = re.sub(r"font: (?:[a-z]+ )*([\d.]+)px [^;\"]*", r"font-size: \1px", svg)
    svg = re.sub(r" ?font-family: [^;\"]*;?", "", svg)
    svg = re.sub(r' transform="rotate\(-?0 [^"]*"', "", svg)
    svg = _COORDINATES.sub(lambda match: _LONG_DECIMALS.sub(_round_coordinate, match[0]), svg)
    svg = re.sub(r"<defs>\s*</defs>|<g>\s*</g>", "", svg)
    return re.sub(r"\s*\n\s*", "\n", svg)


def _round_coordinate(match: re.Match[str]) -> str:
    return f"{round(float(match[0]), 1) + 0.0:.1f}".removesuffix(".0")  # adding zero turns -0 into 0


# -- Chart -----------------------------------------------------------------------------------------------------------


#: Width of a figure in a row of three, in a row of two, and alone in its row, in drawing units. One unit is about one
#: point on paper (A4 landscape) and on a page 1040 pixels wide, so that the font sizes below appear as given.
THIRD_WIDTH, HALF_WIDTH, FULL_WIDTH = 290.0, 440.0, 900.0
#: Default height of a figure without its legend, in drawing units.
CHART_HEIGHT = 136.0
#: Margins around the axes, in drawing units: left for tick labels and label of the vertical axis, right for half a tick
#: label, top for names of phases, bottom for tick labels and label of the horizontal axis; then the height of one line
#: of a legend.
MARGIN_LEFT, MARGIN_RIGHT, MARGIN_TOP, MARGIN_BOTTOM, LEGEND_LINE_HEIGHT = 52.0, 10.0, 13.0, 34.0, 12.5
#: Legend: width of a line sample with the space around it, and average width of a letter, in drawing units.
LEGEND_SAMPLE_WIDTH, LETTER_WIDTH = 34.0, 4.2
#: Bins that a curve is decimated to, with two points each: finer than a printer shows with lines one point wide.
BINS = 300

TEXT_COLOR, GRID_COLOR, SHADE_COLOR = "#222222", "#8a8a8a", "#ececec"
#: Colors that are safe for most kinds of color blindness, each with its own dash pattern, for the joints of a limb;
#: after M. Okabe and K. Ito, 2008.
LINE_COLORS = ("#00568a", "#d55e00", "#009e73", "#b3589a", "#333333", "#3d9bd1", "#8f6d00")
LINE_DASHES: tuple[Any, ...] = (
    "solid", (0, (5, 1.5)), (0, (1.2, 1.2)), (0, (6, 1.5, 1.2, 1.5)), (0, (3, 3)), (0, (9, 2)), (0, (3, 1, 1, 1, 1, 1)),
)  # fmt: skip

_STYLE: Any = {
    "svg.fonttype": "none",
    "svg.hashsalt": "poise",
    "font.size": 9.0,
    "axes.labelsize": 9.0,
    "axes.edgecolor": GRID_COLOR,
    "axes.labelcolor": TEXT_COLOR,
    "axes.linewidth": 0.6,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "xtick.labelsize": 8.0,
    "ytick.labelsize": 8.0,
    "xtick.color": TEXT_COLOR,
    "ytick.color": TEXT_COLOR,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "legend.fontsize": 8.0,
    "legend.frameon": False,
    "legend.borderpad": 0.0,
    "legend.borderaxespad": 0.2,
    "legend.labelspacing": 0.3,
    "legend.columnspacing": 1.4,
    "legend.handlelength": 2.4,
    "lines.linewidth": 1.1,
    "path.simplify_threshold": 0.3,
    "figure.dpi": 72.0,
    "savefig.dpi": 72.0,
}


class Chart:
    """A figure with one pair of axes; `svg` holds the drawing once the `new_chart` block has ended."""

    def __init__(self, figure: Figure, axes: Axes) -> None:
        self.figure, self.axes, self.svg = figure, axes, ""
        self.extra_bottom = 0.0

    def legend(self, columns: int) -> None:
        """Add a legend below the axes, so that it hides no curve; it has fewer columns if the names are long."""
        handles, labels = self.axes.get_legend_handles_labels()
        if handles:
            box = self.axes.get_position()
            middle = (box.x0 + box.x1) / 2
            columns = _legend_columns(labels, columns, 2.0 * (1.0 - middle) * 72.0 * self.figure.get_figwidth())
            self.figure.legend(handles, labels, loc="lower center", ncols=columns, bbox_to_anchor=(middle, 0.0))
            self.extra_bottom = LEGEND_LINE_HEIGHT * math.ceil(len(handles) / columns)


def _legend_columns(labels: Sequence[str], columns: int, width: float) -> int:
    """Return the largest number of columns, at most ``columns``, in which the labels of a legend fit into ``width``.

    Matplotlib fills a legend column by column.
    """
    for count in range(min(columns, len(labels)), 1, -1):
        parts = np.array_split([len(label) for label in labels], count)
        if sum(LEGEND_SAMPLE_WIDTH + LETTER_WIDTH * int(part.max()) for part in parts) <= width:
            return count
    return 1


@contextmanager
def new_chart(
    alt_text: str, width: float = HALF_WIDTH, height: float = CHART_HEIGHT, left: float = MARGIN_LEFT
) -> Iterator[Chart]:
    """Context manager that yields an empty `Chart` and converts it to SVG when the block ends.

    Margins are the same in every figure, so that axes in one column of a page are aligned.

    Args:
        alt_text: description of the figure for screen readers.
        width, height: in drawing units, see `HALF_WIDTH` and `FULL_WIDTH`; a legend adds to the height.
        left: left margin for the labels of the vertical axis, in drawing units.
    """
    with matplotlib.rc_context(_STYLE):
        figure = matplotlib.figure.Figure(figsize=(width / 72.0, height / 72.0))
        figure.subplots_adjust(
            left / width, MARGIN_BOTTOM / height, 1.0 - MARGIN_RIGHT / width, 1.0 - MARGIN_TOP / height
        )
        chart = Chart(figure, figure.add_subplot())
        yield chart
        total_height = height + chart.extra_bottom
        figure.set_size_inches(width / 72.0, total_height / 72.0)
        figure.subplots_adjust(
            bottom=(MARGIN_BOTTOM + chart.extra_bottom) / total_height, top=1.0 - MARGIN_TOP / total_height
        )
        buffer = io.StringIO()
        figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None})
    chart.svg = inline_svg(buffer.getvalue(), alt_text)


def chart_width(count: int) -> float:
    """Return the width of a figure if ``count`` figures share a row; more than three are laid out in several rows."""
    return HALF_WIDTH if count < 3 else THIRD_WIDTH


def curve(axes: Axes, x: ArrayLike, y: ArrayLike, **style: Any) -> None:
    """Plot a curve, decimated to the resolution of the page; ``style`` goes to `Axes.plot`."""
    axes.plot(*decimate(np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)), **style)


def decimate(x: Array, y: Array, bins: int = BINS) -> tuple[Array, Array]:
    """Reduce a curve to the minimum and the maximum of y in each of ``bins`` bins, so that no peak is lost.

    A bin with NaN values keeps one of them as well, so that gaps remain visible. Short curves are returned unchanged.
    """
    if len(x) <= 2 * bins:
        return x, y
    size = math.ceil(len(y) / bins)
    rows = np.append(y, np.full(-len(y) % size, y[-1])).reshape(-1, size)
    gaps = np.isnan(rows)
    lowest, highest = np.where(gaps, np.inf, rows).argmin(axis=1), np.where(gaps, -np.inf, rows).argmax(axis=1)
    first = size * np.arange(len(rows))
    selected = np.concatenate([first + lowest, first + highest, (first + gaps.argmax(axis=1))[gaps.any(axis=1)]])
    indices = np.unique(selected.clip(max=len(y) - 1))
    return x[indices], y[indices]


def shade_phases(axes: Axes, phases: Sequence[MotionPhase], width: float = HALF_WIDTH) -> None:
    """Shade every second phase and write its name above the axes, or its number if the names do not fit."""
    if not phases:
        return
    letter_width = 4.4  # average, in drawing units
    unit = (width - MARGIN_LEFT - MARGIN_RIGHT) / (phases[-1].end - phases[0].begin)
    fits = all(letter_width * len(phase.name) < unit * (phase.end - phase.begin) for phase in phases)
    for i, phase in enumerate(phases):
        if i % 2:
            axes.axvspan(phase.begin, phase.end, color=SHADE_COLOR, linewidth=0, zorder=0)
        text = phase.name if fits else str(i + 1)
        if letter_width * len(text) < unit * (phase.end - phase.begin):
            middle, above = (phase.begin + phase.end) / 2, axes.get_xaxis_transform()
            axes.text(middle, 1.01, text, transform=above, ha="center", va="bottom", fontsize=7.5, color="#555555")


def short_joint_names(names: Sequence[str]) -> list[str]:
    """Remove the words that all joint names share: ``left_hip_pitch_joint`` of a leg becomes ``hip_pitch``."""
    if len(names) < 2:
        return [name.removesuffix("_joint") for name in names]
    words = [name.split("_") for name in names]
    shortest = min(map(len, words)) - 1
    front = next((i for i in range(shortest) if len({w[i] for w in words}) > 1), shortest)
    back = next((i for i in range(shortest - front) if len({w[-1 - i] for w in words}) > 1), shortest - front)
    shortened = ["_".join(w[front : len(w) - back]) for w in words]
    return ["_".join(w[: len(w) - back]) for w in words] if all(word.isdigit() for word in shortened) else shortened
