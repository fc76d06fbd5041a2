"""Words of the page of a campaign: names and values of parameters as people read them."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

import numpy as np

from poise.campaign.kinds.kind import Column, Value
from poise.report.page.html import MINUS, NONE, number, unbroken

#: Units of parameters, which the command line tells and tables need not.
UNITS = {
    "push.size": "N", "push.direction": "deg", "push.duration": "s", "push.time": "s", "mass_error": "%", "delay": "ms",
    "carry": "kg", "seconds": "s", "height": "m", "mass": "kg", "cutoff": "Hz",
}  # fmt: skip
FLAGS: dict[bool | None, str] = {True: "yes", False: "no", None: "none"}
#: Endings of names that repeat the unit.
ENDINGS = {
    "m": "_m", "rad": "_rad", "deg": "_deg", "s": "_s", "mm": "_mm", "kg": "_kg", "ms": "_ms", "m/s": "_m_s",
    "MB": "_mb",
}  # fmt: skip
#: Letters of a name in a figure; what is longer loses its middle.
LONGEST = 34


def titled(name: str, column: Column | None = None) -> str:
    """A name in words: ``push.size`` is "push size", ``measure.arm_swing`` "arm swing"."""
    name = name.removeprefix("measure.").removeprefix("set.")
    if column is not None:
        name = name.removesuffix(ENDINGS.get(column.unit, ""))
    name = name.replace("_ms_", "_") if column is not None and column.unit == "ms" else name
    return re.sub(r"\bzmp\b", "ZMP", re.sub(r"[._]+", " ", name).strip())


def named(name: str, column: Column) -> str:
    """A name with its unit, as axes and heads of tables have it."""
    return f"{titled(name, column)} ({column.unit})" if column.unit else titled(name, column)


def plain(value: float) -> str:
    """A number as somebody asked for it: without digits that say nothing."""
    return f"{value:.4g}".replace("-", MINUS) if abs(value) < 1e5 else number(value, 4)


def valued(value: Value, column: Column) -> str:
    """A value of a parameter with its unit."""
    if value is None or isinstance(value, bool):
        return FLAGS[value]
    if isinstance(value, str):
        return value
    return f"{plain(float(value))} {column.unit}".strip() if math.isfinite(value) else NONE


def shortened(text: str, longest: int = LONGEST) -> str:
    """A name that fits into a figure."""
    if len(text) <= longest:
        return text
    half = (longest - 1) // 2
    return f"{text[:half]}…{text[-half:]}"


def natural(text: str) -> tuple[tuple[int, float, str], ...]:
    """A key that sorts ``slope:4`` before ``slope:10``."""
    parts = re.split(r"(\d+(?:\.\d+)?)", text)
    return tuple((0, float(part), "") if i % 2 else (1, 0.0, part.lower()) for i, part in enumerate(parts) if part)


def spread(values: Sequence[float] | np.ndarray, factor: float = 1.0) -> str:
    """Mean ± standard deviation, with digits that the deviation leaves a meaning; the mean alone of a single value."""
    known = factor * np.asarray(values, dtype=np.float64)
    known = known[np.isfinite(known)]
    if not len(known):
        return NONE
    mean = float(known.mean())
    if len(known) == 1:
        return number(mean)
    deviation = float(known.std(ddof=1))
    if not deviation > 1e-9 * max(abs(mean), 1e-300):
        return unbroken(f"{number(mean)} ± 0")
    places = 1 - math.floor(math.log10(deviation))
    if not -4 <= places <= 6:
        return unbroken(f"{number(mean)} ± {number(deviation, 2)}")
    places = max(places, 0)
    return unbroken(f"{round(mean, places) + 0.0:.{places}f} ± {deviation:.{places}f}".replace("-", MINUS))


def several(count: int, word: str) -> str:
    """``1 run``, ``2 runs``."""
    return f"{count} {word}{'' if count == 1 else 's'}"
