"""Worker process of `poise.studio.style_checker`: check and repair styles of a walk, and find ranges of their sliders.

A check takes tens of milliseconds and a repair seconds, too long for the simulation process, which keeps real time.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from multiprocessing.connection import Connection
from typing import NamedTuple

from poise.plans import (
    PARAMETERS,
    SINUSOID_PARAMETERS,
    BodyDimensions,
    FeasibilityCheck,
    Style,
    check_walk,
    repair_style,
)

#: Parameters that the check depends on; those of the sinusoid count only for that reference.
CHECKED_PARAMETERS = (
    "step_length",
    "lateral_step",
    "step_turn",
    "single_support",
    "double_support",
    "com_height_offset",
    *SINUSOID_PARAMETERS,
)
#: The border of a range is searched in steps of this share of the whole range, then by this number of bisections.
SCAN_STEP, BISECTIONS = 1.0 / 12.0, 4
#: Niceness of this process, 0 to 19: the simulation has priority.
NICENESS = 5


class StyleRequest(NamedTuple):
    """A style to check.

    Attributes:
        number: increases with each request.
        style, body, com_reference: as of `poise.plans.check_walk`.
        repair: whether to look for the nearest feasible style if this one is not feasible.
    """

    number: int
    style: Style
    body: BodyDimensions
    com_reference: str
    repair: bool


class StyleReply(NamedTuple):
    """Result of a check.

    Attributes:
        number: of the request.
        style: the requested style, or the repaired one.
        feasible: whether a walk with this style is expected to keep its balance.
        changes: one line per parameter that the repair changed.
    """

    number: int
    style: Style
    feasible: bool
    changes: tuple[str, ...]


class RangeReply(NamedTuple):
    """Range of a parameter around its value, in which a walk with the style is expected to keep its balance.

    Attributes:
        number: of the request.
        parameter: its name.
        low, high: ends of the range; both equal to the value if the style itself is not feasible.
    """

    number: int
    parameter: str
    low: float
    high: float


def check(request: StyleRequest, style: Style) -> FeasibilityCheck:
    """Check a walk with a style; all marks and repairs of the studio follow from this check and from `repair_style`."""
    return check_walk(style, request.body, request.com_reference)


def replies(request: StyleRequest) -> Iterator[StyleReply | RangeReply]:
    """Yield the result of the check, then the range of each parameter that it depends on."""
    changes: tuple[str, ...] = ()
    style, feasible = request.style, check(request, request.style).feasible
    if not feasible and request.repair:
        repair = repair_style(style, request.body, request.com_reference)
        style, feasible, changes = repair.style, repair.check.feasible, repair.changes
    yield StyleReply(request.number, style, feasible, changes)
    for name in CHECKED_PARAMETERS:
        if request.com_reference == "sinusoid" or name not in SINUSOID_PARAMETERS:
            low, high = (
                _range_end(request, style, name, end) if feasible else getattr(style, name)
                for end in (PARAMETERS[name].low, PARAMETERS[name].high)
            )
            yield RangeReply(request.number, name, low, high)


def _range_end(request: StyleRequest, style: Style, name: str, end: float) -> float:
    """Return the value nearest to an end of the range of a parameter that is still reached with feasible walks only."""
    declared, value = PARAMETERS[name], float(getattr(style, name))
    step = SCAN_STEP * (declared.high - declared.low) * (1.0 if end > value else -1.0)

    def is_feasible(tried: float) -> bool:
        return check(request, style.replace(**{name: tried})).feasible

    while value != end:
        ahead = end if abs(end - value) <= abs(step) else value + step
        if is_feasible(ahead):
            value = ahead
            continue
        for _ in range(BISECTIONS):
            middle = 0.5 * (value + ahead)
            value, ahead = (middle, ahead) if is_feasible(middle) else (value, middle)
        break
    return value


def main(handle: int) -> None:
    """Answer requests until the connection closes; a new request ends the answer to the one before."""
    with suppress(OSError, AttributeError):
        os.nice(NICENESS)
    connection = Connection(handle)
    with suppress(EOFError, OSError, KeyboardInterrupt):
        while True:
            request = connection.recv()
            while connection.poll():  # only the latest request counts
                request = connection.recv()
            for reply in replies(request):
                connection.send(reply)
                if connection.poll():
                    break
