"""Exports of recordings, each in a process of its own that ends with the studio."""

from __future__ import annotations

import atexit
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

Heard = Callable[[str, str], None]

#: What can be made of a recording, and how names of such files end.
FORMATS = {
    "csv": ".csv",
    "npz": ".npz",
    "bvh": ".bvh",
    "mcap": ".mcap",
    "html": ".html",
    "mp4": ".mp4",
    "report": "-report.html",
}
#: Exports at a time: the simulation wants a core of its own.
TOGETHER = 2
#: Exports that may wait.
WAITING = 16
#: Time to clean up for an export that is told to end (s).
PARTING = 3.0


class Task(NamedTuple):
    """One export that was asked for, and who is told of its end."""

    source: Path
    target: Path
    format: str
    heard: Heard


class Exports:
    """Starts exports, two at a time, in the order in which they were asked for."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waiting: deque[Task] = deque()
        self._running: dict[Path, subprocess.Popen[str] | None] = {}
        self._closed = False
        atexit.register(self.close)

    def start(self, source: Path, target: Path, format: str, heard: Heard) -> None:
        """Begins an export, now or when others are done; `heard` is told how it ended."""
        refused = ""
        with self._lock:
            if self._closed:
                refused = "the studio is closing"
            elif target in self._running or any(task.target == target for task in self._waiting):
                refused = f"{target.name} is being written already; wait until it is there"
            elif len(self._waiting) >= WAITING:
                refused = f"{WAITING} exports are waiting already; try again when some are done"
            else:
                self._waiting.append(Task(source, target, format, heard))
        if refused:
            heard("error", refused)
        else:
            self._next()

    def _next(self) -> None:
        with self._lock:
            if self._closed or len(self._running) >= TOGETHER or not self._waiting:
                return
            task = self._waiting.popleft()
            self._running[task.target] = None
        threading.Thread(target=self._run, args=(task,), daemon=True, name=f"export {task.target.name}").start()

    def _run(self, task: Task) -> None:
        try:
            kind, text = self._result(task)
        except OSError as error:
            kind, text = "error", f"{task.target.name} could not be made: {error.strerror or error}"
        with self._lock:
            del self._running[task.target]
            closed = self._closed
        if not closed:
            task.heard(kind, text)
            self._next()

    def _result(self, task: Task) -> tuple[str, str]:
        command = [sys.executable, "-m", "poise.studio.exporting", str(task.source), str(task.target), task.format]
        # Its standard input ends when this process does, however that happens: then it ends, too.
        with subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
        ) as process:
            with self._lock:
                if self._closed:
                    process.kill()
                self._running[task.target] = process
            assert process.stderr is not None
            said = process.stderr.read()[-4000:].strip().splitlines()
            code = process.wait()
        if code == 0:
            return "info", f"{task.target.name} is there, {task.target.stat().st_size / 1e6:.2f} MB"
        return "error", f"{task.target.name} could not be made: {said[-1] if said else f'it ended with status {code}'}"

    def close(self) -> None:
        """Ends all; nobody is told any more."""
        with self._lock:
            self._closed = True
            self._waiting.clear()
            processes = [process for process in self._running.values() if process is not None]
        for process in processes:
            if process.stdin is not None and process.poll() is None:
                process.stdin.close()
        for process in processes:
            try:
                process.wait(PARTING)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        atexit.unregister(self.close)
