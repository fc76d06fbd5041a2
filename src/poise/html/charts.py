"""Charts as inline SVG: sizes, colours, curves, legends and shaded phases."""

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

#: What a page has no use for: facts about the file, a style sheet that would hold for the whole page, remarks.
_UNUSED_ELEMENTS = re.compile(r"<metadata>.*?</metadata>|<style.*?</style>|<!--.*?-->", re.DOTALL)
#: Attributes that hold places, whose digits may go.
_COORDINATES = re.compile(r'(?: d| x| y|transform)="[^"]*"')
_LONG_DECIMALS = re.compile(r"-?\d+\.\d{2,}")


def inline_svg(svg: str, alt_text: str) -> str:
    """SVG without head, name spaces, style sheet and unused names, with places to a tenth of a unit.

    Names that are used begin with a sum of the whole text, so that they differ from those of other figures.

    Args:
        svg: a whole file.
        alt_text: what is seen, for who cannot see it.
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
    # The typeface is that of the page.
    svg = re.sub(r"font: (?:[a-z]+ )*([\d.]+)px [^;\"]*", r"font-size: \1px", svg)
    svg = re.sub(r" ?font-family: [^;\"]*;?", "", svg)
    svg = re.sub(r' transform="rotate\(-?0 [^"]*"', "", svg)
    svg = _COORDINATES.sub(lambda match: _LONG_DECIMALS.sub(_round_coordinate, match[0]), svg)
    svg = re.sub(r"<defs>\s*</defs>|<g>\s*</g>", "", svg)
    return re.sub(r"\s*\n\s*", "\n", svg)


def _round_coordinate(match: re.Match[str]) -> str:
    return f"{round(float(match[0]), 1) + 0.0:.1f}".removesuffix(".0")  # adding zero turns -0 into 0


# -- Chart -----------------------------------------------------------------------------------------------------------


#: Width of a figure that stands beside two others, beside another, and alone, in units of its drawing. On paper (A4
#: across) and on a screen of 1040 pixels a unit is about a point, so that sizes of letters below are those one sees.
THIRD_WIDTH, HALF_WIDTH, FULL_WIDTH = 290.0, 440.0, 900.0
#: Usual height of a figure without its legend, in the same units.
CHART_HEIGHT = 136.0
#: Room around the axes: for numbers and name of the vertical axis, half a number at the right, names of phases above,
#: numbers and name of the horizontal axis below; and for each line of a legend.
MARGIN_LEFT, MARGIN_RIGHT, MARGIN_TOP, MARGIN_BOTTOM, LEGEND_LINE_HEIGHT = 52.0, 10.0, 13.0, 34.0, 12.5
#: Of a legend: width of a line with the room around it, and of a letter on average.
LEGEND_SAMPLE_WIDTH, LETTER_WIDTH = 34.0, 4.2
#: Pieces of time that a curve is thinned to, two points each: finer than what a printer shows of lines a point wide.
BINS = 300

TEXT_COLOR, GRID_COLOR, SHADE_COLOR = "#222222", "#8a8a8a", "#ececec"
#: Colours that most eyes tell apart, in turn with dashes, for the joints of a limb; after M. Okabe and K. Ito, 2008.
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
    """A figure while it is drawn: `figure` and its one `axes`; afterwards `svg` holds the text."""

    def __init__(self, figure: Figure, axes: Axes) -> None:
        self.figure, self.axes, self.svg = figure, axes, ""
        self.extra_bottom = 0.0

    def legend(self, columns: int) -> None:
        """What the lines are, below the axes, where nothing is hidden; in fewer columns if names are long."""
        handles, labels = self.axes.get_legend_handles_labels()
        if handles:
            box = self.axes.get_position()
            middle = (box.x0 + box.x1) / 2
            columns = _legend_columns(labels, columns, 2.0 * (1.0 - middle) * 72.0 * self.figure.get_figwidth())
            self.figure.legend(handles, labels, loc="lower center", ncols=columns, bbox_to_anchor=(middle, 0.0))
            self.extra_bottom = LEGEND_LINE_HEIGHT * math.ceil(len(handles) / columns)


def _legend_columns(labels: Sequence[str], columns: int, width: float) -> int:
    """Most columns, up to so many, in which the names of a legend stay within a width; its columns fill one by one."""
    for count in range(min(columns, len(labels)), 1, -1):
        parts = np.array_split([len(label) for label in labels], count)
        if sum(LEGEND_SAMPLE_WIDTH + LETTER_WIDTH * int(part.max()) for part in parts) <= width:
            return count
    return 1


@contextmanager
def new_chart(
    alt_text: str, width: float = HALF_WIDTH, height: float = CHART_HEIGHT, left: float = MARGIN_LEFT
) -> Iterator[Chart]:
    """A figure to draw in; when the block ends, it becomes SVG.

    Margins are the same in every figure, so that axes that stand above each other begin at the same place.

    Args:
        alt_text: what is seen, for who cannot see it.
        width, height: in units of the drawing, see `HALF_WIDTH` and `FULL_WIDTH`; a legend adds to the height.
        left: room for the labels of the vertical axis.
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
    """Width of a figure that stands in a row of so many; more than three stand in several rows."""
    return HALF_WIDTH if count < 3 else THIRD_WIDTH


def curve(axes: Axes, x: ArrayLike, y: ArrayLike, **style: Any) -> None:
    """A line through values, thinned to what can be seen."""
    axes.plot(*decimate(np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)), **style)


def decimate(x: Array, y: Array, bins: int = BINS) -> tuple[Array, Array]:
    """Two points for each of so many bins, where y is lowest and where it is highest, so that no peak is lost.

    A bin with a gap keeps one point of the gap as well.
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
    """Every other phase on a grey ground, with its name above, or its number where the name does not fit."""
    if not phases:
        return
    letter_width = 4.4  # width of one, on average
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
    """Names of joints without what all have in common: ``left_hip_pitch_joint`` of a leg becomes ``hip_pitch``."""
    if len(names) < 2:
        return [name.removesuffix("_joint") for name in names]
    words = [name.split("_") for name in names]
    shortest = min(map(len, words)) - 1
    front = next((i for i in range(shortest) if len({w[i] for w in words}) > 1), shortest)
    back = next((i for i in range(shortest - front) if len({w[-1 - i] for w in words}) > 1), shortest - front)
    shortened = ["_".join(w[front : len(w) - back]) for w in words]
    return ["_".join(w[: len(w) - back]) for w in words] if all(word.isdigit() for word in shortened) else shortened
