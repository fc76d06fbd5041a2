"""Clients of the worker processes that check and repair styles of a walk while the simulation runs.

`StyleChecker` uses the pendulum, fast enough for a slider that is dragged; `SimulatedCheck` simulates the whole walk
once its controls have come to rest.
"""

from __future__ import annotations

import functools
import itertools
import multiprocessing
import subprocess
import sys
from contextlib import suppress
from multiprocessing.connection import Connection

from poise import runs
from poise.plans import BodyDimensions, FeasibilityCheck, Style, StyleRepair
from poise.robots import library_names
from poise.studio.style_check_worker import RangeReply, StyleReply, StyleRequest

#: Number of worker processes that are started at most: one that keeps failing is not started again.
MAX_STARTS = 3


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
        program = f"from poise.studio.style_check_worker import main; main({child_end.fileno()})"
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
        self._repaired_motion: runs.Walk | None = None

    def update(self, motion: runs.Walk) -> FeasibilityCheck | None:
        """Return the result for a walk if it is known, else request it; call this a few times per second."""
        if motion.robot not in library_names():
            return None
        if motion != self._motion:
            self._motion = motion
            return None
        self.checker.request(motion)
        return self.checker.answer()

    def request_repair(self, motion: runs.Walk) -> None:
        """Start the search for the nearest walk that passes the check; it takes up to a minute."""
        self._repaired_motion = motion
        self.repairer.request(motion)

    def repair(self, motion: runs.Walk) -> StyleRepair | None:
        """Return the repair of a walk once, when it is found; None for a walk other than the requested one."""
        if self._repaired_motion is None or (repair := self.repairer.answer()) is None:
            return None
        requested, self._repaired_motion = self._repaired_motion, None
        return repair if motion == requested else None


@functools.cache
def shared_simulated_check() -> SimulatedCheck:
    """Return the check of this process: scenes come and go, and its workers take seconds to start."""
    return SimulatedCheck()
