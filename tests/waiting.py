"""Waits without a fixed time limit: they fail after a time without progress, and last longer on a busy machine."""

from __future__ import annotations

import inspect
import os
import signal
import subprocess
import time
from collections.abc import Callable, Sequence
from typing import Any

import psutil

#: Seconds without progress after which a wait fails; see `StallTimer`.
STALL_SECONDS = 60.0
#: Interval between two checks of the processes of the machine (s).
POLL_INTERVAL = 0.5


class StallTimer:
    """Timer that fails after a time without progress.

    Time counts only as far as the awaited process could have run: as far as the machine had an idle core, or this
    process and its descendants used one. So the timer lasts longer if other programs use all cores.

    Args:
        what: description of the awaited condition, for the error.
        progress: returns a value that changes while there is progress (a count, a file's size, simulated time);
            every change restarts the timer.
        stall: counted seconds without progress until it fails.
    """

    def __init__(self, what: str, progress: Callable[[], Any] | None = None, stall: float = STALL_SECONDS) -> None:
        self.what, self.stall = what, stall
        self._progress = progress
        self._last = progress() if progress else None
        self._stalled_seconds = 0.0
        self._last_check, self._last_capacity = time.monotonic(), _available_cpu_seconds()

    def check(self) -> None:
        """Count the time since the last call.

        Raises:
            AssertionError: after `stall` counted seconds without progress.
        """
        now = time.monotonic()
        if now - self._last_check < POLL_INTERVAL:
            return
        used = _available_cpu_seconds()
        self._stalled_seconds += max(min(now - self._last_check, used - self._last_capacity), 0.0)
        self._last_check, self._last_capacity = now, used
        if self._progress is not None and (current := self._progress()) != self._last:
            self._last, self._stalled_seconds = current, 0.0
        assert self._stalled_seconds < self.stall, f"no progress for {self.stall:g} s; waited for: {self.what}"


def wait_until(
    condition: Callable[[], Any],
    what: str = "",
    progress: Callable[[], Any] | None = None,
    stall: float = STALL_SECONDS,
    pause: float = 0.02,
) -> Any:
    """Wait until a condition is true and return its value.

    Args:
        condition: returns the awaited value, or a false value.
        what: describes the condition in the error; default: its source.
        progress, stall: see `StallTimer`.
        pause: seconds between two checks.
    """
    stall_timer = StallTimer(what or _source(condition), progress, stall)
    while not (value := condition()):
        stall_timer.check()
        time.sleep(pause)
    return value


def wait_for_exit(process: subprocess.Popen[Any], what: str = "", stall: float = STALL_SECONDS) -> tuple[Any, Any]:
    """Wait for a process to end and return its output and errors."""
    stall_timer = StallTimer(what or f"the end of {process.args!r}", lambda: _cpu_seconds(process), stall)
    while True:
        try:
            return process.communicate(timeout=POLL_INTERVAL)
        except subprocess.TimeoutExpired:
            try:
                stall_timer.check()
            except AssertionError:
                process.kill()
                raise


def enable_ctrl_c() -> None:
    """Let a child process react to SIGINT (a ``preexec_fn``): shells start background processes with it ignored."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def run_to_end(command: Sequence[Any], **options: Any) -> subprocess.CompletedProcess[str]:
    """Run a program like `subprocess.run` with captured text, without a time limit while it computes."""
    words = [str(word) for word in command]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options) as process:
        output, errors = wait_for_exit(process)
    return subprocess.CompletedProcess(words, process.returncode, output, errors)


def _available_cpu_seconds() -> float:
    """Return the core-seconds used by this process and its descendants, plus the idle ones of the machine."""
    total = 0.0
    for process in (me := psutil.Process(), *me.children(recursive=True)):
        try:
            times = process.cpu_times()
        except psutil.Error:  # it has just ended
            continue
        total += times.user + times.system
    ended = os.times()
    machine = psutil.cpu_times()
    return total + ended.children_user + ended.children_system + machine.idle


def _cpu_seconds(process: subprocess.Popen[Any]) -> float:
    """Return the CPU time of a process and its descendants (s), which changes while one of them computes."""
    total = 0.0
    try:
        parent = psutil.Process(process.pid)
        for each in (parent, *parent.children(recursive=True)):
            total += sum(each.cpu_times()[:4])
    except psutil.Error:  # one of them has just ended
        return -total
    return float(round(total))


def _source(condition: Callable[[], Any]) -> str:
    """Return the source of a condition in one line."""
    try:
        return " ".join(inspect.getsource(condition).split())
    except (OSError, TypeError):
        return repr(condition)
