"""A map of pushes as seen from above: directions around, sizes outwards."""

from __future__ import annotations

from typing import Any

import numpy as np

from poise.report.campaign.groups import Groups, crossed, grouped
from poise.report.campaign.runs import Array, Runs
from poise.report.campaign.shades import ink_on, shade_of
from poise.report.campaign.words import named, several
from poise.report.page.drawing import HALF, drawing
from poise.report.page.html import figure

SIZE, DIRECTION = "push.size", "push.direction"
#: Directions that are shown one by one; more are put in sectors.
DIRECTIONS, SECTORS = 24, 8
HEIGHT = 300.0
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
    with drawing("Share that succeeded by direction and size of the push, seen from above", HALF, HEIGHT) as drawn:
        drawn.axes.remove()
        axes: Any = drawn.figure.add_subplot(projection="polar")
        axes.set_theta_zero_location("N")
        for j, angle in enumerate(np.radians(around.places)):
            for i in range(len(sizes)):
                if count[i, j]:
                    _cell(axes, float(angle), i + 1.0, width, good[i, j] / count[i, j], len(sizes))
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


def _cell(axes: Any, angle: float, ring: float, width: float, share: float, rings: int) -> None:
    axes.bar(angle, 1.0, width, bottom=ring - 0.5, color=shade_of(share), edgecolor="white", linewidth=1.0)
    unit = 0.38 * HEIGHT / (rings + 1.0)  # of a ring
    if min(unit, unit * ring * width) > ROOM - 3.0 * (rings > 6):
        text = f"{100 * share:.0f}"
        axes.text(angle, ring, text, ha="center", va="center", fontsize=7.5, color=ink_on(share))
