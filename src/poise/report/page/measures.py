"""How recordings walk, in a table: each measure with what it means, beside those of the first recording."""

from __future__ import annotations

import math
from collections.abc import Sequence

from poise.analysis import MEASURES, Measure
from poise.report.page.html import MINUS, NONE, TIMES, explained, listed, note, number, paragraph
from poise.report.page.section import Section
from poise.report.page.subject import Subject

#: How units are shown: as what, how many of those one is, and digits behind the point that mean something; what is less
#: is noise of a simulation or of sensors.
SHOWN: dict[str, tuple[str, float, int]] = {
    "m": ("mm", 1e3, 1),
    "share": ("%", 100.0, 2),
    "m/s": ("m/s", 1.0, 3),
    "rad/s": ("rad/s", 1.0, 3),
    "s": ("s", 1.0, 3),
    "leg lengths": ("leg lengths", 1.0, 3),
    "steps/min": ("steps/min", 1.0, 1),
    "deg": ("deg", 1.0, 1),
    "": ("", 1.0, 2),
}
WORDS = "Only steady steps count: those without the first two and the last two."


def measures(subjects: Sequence[Subject]) -> Section | None:
    """A row per measure that any recording has; None if nobody walks."""
    walking = [s for s in subjects if s.measures is not None]
    if not walking:
        return None
    first = walking[0]
    rows = []
    for name, measure in MEASURES.items():
        values = [float(getattr(s.measures, name)) for s in walking]
        if all(map(math.isnan, values)):
            continue
        unit = f" ({SHOWN[measure.unit][0]})" if measure.unit else ""
        cells = [
            *(rounded(measure, value) for value in values),
            *(against(measure, value, values[0]) for value in values[1:]),
        ]
        rows.append((f"{name.replace('_', ' ')}{unit}", f"{measure.about}.", cells))
    head = ["measure", *(s.label for s in walking), *(f"{s.label} against {first.label}" for s in walking[1:])]
    few = [s.label for s in walking if s.walk is not None and len(s.walk.steady) == len(s.walk.steps)]
    short = f"{listed(few)}: too few steps for that, all of them count." if few else ""
    absent = [note(s.lacks("two steps or more were found")) for s in subjects if s.measures is None]
    compared = f"Beside the first walk stands how many times as much another has ({TIMES}), or how much more (+)."
    words = paragraph(WORDS, short, compared if len(walking) > 1 else "")
    return Section("Style of the walk", words + explained(head, rows) + "".join(absent))


def rounded(measure: Measure, value: float) -> str:
    """A value as the page shows it, in the unit of `SHOWN` and with its digits."""
    _, factor, digits = SHOWN[measure.unit]
    return NONE if math.isnan(value) else f"{round(factor * value, digits) + 0.0:.{digits}f}".replace("-", MINUS)


def against(measure: Measure, value: float, first: float) -> str:
    """A value beside that of the first recording: how many times as much, or how much more if it may be negative."""
    if math.isnan(value) or math.isnan(first):
        return NONE
    if not measure.ratio:
        more = rounded(measure, value - first)
        return more if more.startswith(MINUS) else f"+{more}"
    return f"{TIMES}{number(value / first)}" if abs(first) > 1e-9 else NONE
