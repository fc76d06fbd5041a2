"""Checks and repairs of walking styles in worker processes, while the simulation runs.

A check takes tens of milliseconds and a repair seconds, too long for the simulation process, which keeps real time.
`StyleChecker` uses the pendulum, fast enough for a slider that is dragged: its worker, `main`, checks a style, repairs
it, and finds the ranges of its sliders. `SimulatedCheck` simulates the whole walk once its controls have come to rest,
and `SimulatedRanges` its neighbors.
"""

from __future__ import annotations

import functools
import itertools
import multiprocessing
import os
import subprocess
import sys
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from multiprocessing.connection import Connection
from typing import NamedTuple

from poise import runs
from poise.plans import (
    PARAMETERS,
    SINUSOID_PARAMETERS,
    BodyDimensions,
    FeasibilityCheck,
    Style,
    StyleRepair,
    check_walk,
    repair_style,
)
from poise.robots import library_names

#: Number of worker processes that are started at most: one that keeps failing is not started again.
MAX_STARTS = 3
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
#: Niceness of the worker, 0 to 19: the simulation has priority.
NICENESS = 5


# -- Messages --------------------------------------------------------------------------------------------------------


class StyleRequest(NamedTuple):
    """A style to check.

    Attributes:
        number: increases with each request.
        style, body, com_reference: as in `poise.plans.check_walk`.
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
        number: number of the request.
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
        number: number of the request.
        parameter: name of the parameter.
        low, high: ends of the range; both equal to the value if the style itself is not feasible.
    """

    number: int
    parameter: str
    low: float
    high: float


# -- Clients, in the simulation process ------------------------------------------------------------------------------


class StyleChecker:
    """Checks styles in a worker process, which starts with the first request and ends with this process.

    >>> checker = StyleChecker()
    >>> checker.request(style, body, "dcm", repair=True)
    1
    >>> checker.replies()  # as soon as there are some
    [StyleReply(number=1, ...)]
    """

    def __init__(self) -> None:
        self._numbers = itertools.count(1)
        self._connection: Connection | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._starts = 0

    def request(self, style: Style, body: BodyDimensions, com_reference: str, repair: bool) -> int:
        """Request the check of a style instead of earlier ones; return its number, or 0 if there is no worker."""
        request = StyleRequest(next(self._numbers), style, body, com_reference, repair)
        while self.available:
            try:
                if self._connection is None:
                    self._start()
                assert self._connection is not None
                self._connection.send(request)
            except OSError:  # the process has died: try another one
                self.close()
            else:
                return request.number
        return 0

    def replies(self) -> list[StyleReply | RangeReply]:
        """Return the replies that have arrived since the last call, oldest first; does not wait."""
        arrived: list[StyleReply | RangeReply] = []
        try:
            while self._connection is not None and self._connection.poll():
                arrived.append(self._connection.recv())
        except (EOFError, OSError):
            self.close()
        return arrived

    @property
    def running(self) -> bool:
        """Whether there is a worker that may still reply."""
        return self._connection is not None

    @property
    def available(self) -> bool:
        """Whether a request is possible: a worker is running, or can be started."""
        return self.running or self._starts < MAX_STARTS

    def close(self) -> None:
        """Stop the worker."""
        connection, self._connection = self._connection, None
        process, self._process = self._process, None
        if connection is not None:
            connection.close()
        if process is not None:
            process.kill()
            process.wait()

    def _start(self) -> None:
        # Not multiprocessing.Process: the simulation process is a daemon, which may have no such children.
        self._starts += 1
        self._connection, child_end = multiprocessing.Pipe()
        # Not -m: the classes of messages would then belong to the module __main__.
        program = f"from poise.studio.style_checker import main; main({child_end.fileno()})"
        command = [sys.executable, "-c", program]
        self._process = subprocess.Popen(command, stdin=subprocess.DEVNULL, pass_fds=[child_end.fileno()])
        child_end.close()

    def __del__(self) -> None:
        with suppress(Exception):
            self.close()


class SimulatedCheck:
    """Simulated check (`runs.check_walk`) and repair (`runs.repair_walk`) of the walk that the controls describe.

    A walk is simulated only if it is the same in two updates, so that a slider that is dragged causes no simulations.
    Only robots of the library can be simulated: a worker process loads them by name.
    """

    def __init__(self) -> None:
        self.checker = runs.WalkChecker(runs.check_walk)
        self.repairer = runs.WalkChecker(runs.repair_walk)
        self._motion: runs.Walk | None = None
        self._result: FeasibilityCheck | None = None
        self._repaired_motion: runs.Walk | None = None

    def update(self, motion: runs.Walk) -> FeasibilityCheck | None:
        """Return the result for a walk if it is known, else request it; call this a few times per second."""
        if motion.robot not in library_names():
            return None
        if motion != self._motion:
            self._motion, self._result = motion, None
        elif self._result is None:
            self._result = self.check(motion)
        return self._result

    def check(self, motion: runs.Walk) -> FeasibilityCheck | None:
        """Return the result for a walk if the worker has it, else request it instead of other walks."""
        return self.checker.answer() if self.checker.request(motion) else None

    def request_repair(self, motion: runs.Walk) -> None:
        """Start the search for the nearest walk that passes the check; it takes up to a minute."""
        self._repaired_motion = motion
        self.repairer.request(motion)

    def cancel_repair(self) -> None:
        """Discard the repair that is being searched for."""
        self._repaired_motion = None

    def repair(self, motion: runs.Walk) -> StyleRepair | None:
        """Return the repair of a walk once, when it is found; None for a walk other than the requested one."""
        requested = self._repaired_motion
        # Requested again in each update: a worker process may have ended.
        if requested is None or not self.repairer.request(requested) or (repair := self.repairer.answer()) is None:
            return None
        self._repaired_motion = None
        return repair if motion == requested else None


#: Number of bisections between a value with which a simulated walk passes the check and one with which it fails.
RANGE_BISECTIONS = 3


class SimulatedRanges:
    """Ranges of the parameters of a style around their values, whose ends pass the simulated check.

    The search for each end starts from the end that the pendulum gives, one simulation at a time.

    Args:
        motion: walk that passes the simulated check.
        estimates: ranges that the pendulum gives, by name of the parameter, in the order of the search.

    Attributes:
        motion: the walk.
        ranges: ranges that are known so far, by name of the parameter.
    """

    def __init__(self, motion: runs.Walk, estimates: Mapping[str, tuple[float, float]]) -> None:
        self.motion = motion
        self.ranges: dict[str, tuple[float, float]] = {}
        self._search = self._walks_to_check(estimates)
        self._next: runs.Walk | None = next(self._search, None)

    def update(self, check: Callable[[runs.Walk], FeasibilityCheck | None]) -> None:
        """Continue the search as far as results are known; call this a few times per second.

        Args:
            check: returns the result for a walk if it is known, else requests it.
        """
        while self._next is not None and (result := check(self._next)) is not None:
            try:
                self._next = self._search.send(result.feasible)
            except StopIteration:
                self._next = None

    def _walks_to_check(self, estimates: Mapping[str, tuple[float, float]]) -> Generator[runs.Walk, bool, None]:
        for name, (low, high) in estimates.items():
            declared = PARAMETERS[name]
            self.ranges[name] = (
                (yield from self._range_end(name, low, declared.low)),
                (yield from self._range_end(name, high, declared.high)),
            )

    def _range_end(self, name: str, estimate: float, limit: float) -> Generator[runs.Walk, bool, float]:
        """Return an end of a range: the limit of the slider if a walk passes there, else a value found by bisection.

        The estimate is tried before the limit.
        """
        style = self.motion.resolved_style()

        def walk(value: float) -> runs.Walk:
            return replace(self.motion, style=style.replace(**{name: value}))

        inside = float(getattr(style, name))
        for end in (estimate, limit):
            if end == inside:
                continue
            if (yield walk(end)):
                inside = end
                continue
            outside = end
            for _ in range(RANGE_BISECTIONS):
                middle = 0.5 * (inside + outside)
                if (yield walk(middle)):
                    inside = middle
                else:
                    outside = middle
            break
        return inside


@functools.cache
def shared_simulated_check() -> SimulatedCheck:
    """Return the check of this process: scenes come and go, and its workers take seconds to start."""
    return SimulatedCheck()


# -- Worker process --------------------------------------------------------------------------------------------------


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
    """Return the last value on the way to an end of the range of a parameter up to which all walks are feasible."""
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
