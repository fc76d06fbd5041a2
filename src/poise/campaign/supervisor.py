"""Supervise one worker process: time and memory limits, restart after a crash, one answer for each run."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from poise.campaign.kinds.kind import Value
from poise.campaign.sweep import Run
from poise.errors import PoiseError

#: How often the memory of a busy worker is looked at, s.
WATCH = 0.05
#: How long a worker may take to start, s: importing everything on a busy machine.
START = 180.0
#: A run whose worker was killed by somebody else, who may have meant another, is begun so often.
ATTEMPTS = 2
#: A worker that has come to hold this share of the memory it may have is replaced before its next run.
WORN = 0.5
#: Runs that end so had no time to keep anything: what they wrote along is all there is.
SUDDEN = ("crashed", "timeout", "memory")
#: One thread for each solver: there are as many workers as cores.
ENVIRONMENT = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS"), "1")


class StartError(PoiseError):
    """Workers that do not start, whatever they are given: the machine's fault, not the run's."""


@dataclass(frozen=True)
class Done:
    """What became of a run.

    Attributes:
        outcome, reason: as in the table.
        values: of the columns of its kind.
        times: that it told, by name.
        file: that is to be kept; None: none.
        seconds: that it took.
        memory_mb: largest memory of its worker so far.
        attempts: how often it was begun.
        worker: which worker did it.
        log: what the worker said before it died.
    """

    outcome: str
    reason: str = ""
    values: Mapping[str, Value] = field(default_factory=dict)
    times: Mapping[str, float] = field(default_factory=dict)
    file: str | None = None
    seconds: float = 0.0
    memory_mb: float | None = None
    attempts: int = 1
    worker: str = ""
    log: str = ""


@dataclass(frozen=True)
class Orders:
    """What a guard lets its worker do.

    Attributes:
        kind: name of the kind of its runs.
        seconds, memory_mb: what a run may take.
        keep: which files are kept.
    """

    kind: str
    seconds: float
    memory_mb: float
    keep: str


class Guard:
    """One worker process at a time, started when it is needed and again whenever it dies.

    Args:
        orders: for it.
        scratch: a folder for the files of its runs.
        name: of the worker.
    """

    def __init__(self, orders: Orders, scratch: Path, name: str) -> None:
        self.orders, self.scratch, self.name = orders, scratch, name
        self._process: subprocess.Popen[bytes] | None = None
        self._unread = b""
        self._log = scratch / f"{name.replace(' ', '-')}.log"
        self._lock = threading.Lock()
        self._closed = False

    def perform(self, run: Run) -> Done:
        """Lets the worker do a run, and tells what became of it."""
        begin = time.monotonic()
        done = Done("crashed")
        for attempt in range(1, ATTEMPTS + 1):
            done = replace(self._attempt(run), attempts=attempt)
            if done.outcome != "killed":
                break
        else:
            done = replace(
                done,
                outcome="crashed",
                reason="its process was killed from outside twice; is the machine out of memory?",
            )
        if done.outcome in SUDDEN and self.orders.keep != "none":
            done = replace(done, file=mended(Path(self._along(run))))
        return replace(done, seconds=time.monotonic() - begin, worker=self.name)

    def close(self) -> None:
        """Ends the worker, busy or not, from any thread; it is not started again."""
        with self._lock:
            self._closed = True
            if self._process is not None:
                self._process.kill()
                self._process.wait()

    def _attempt(self, run: Run) -> Done:
        process = self._started()
        begin = time.monotonic()
        task = {
            "run": run.index,
            "seed": run.seed,
            "parameters": dict(run.parameters),
            "keep": self.orders.keep,
            "place": self._place(run),
            "along": None if self.orders.keep == "none" else self._along(run),
        }
        try:
            self._send(process, task)
        except OSError:
            return self._died(process)
        peak = 0.0
        while True:
            answer = self._answer(process, WATCH)
            if answer is not None:
                break
            if process.poll() is not None:
                return self._died(process)
            peak = max(peak, resident(process.pid) or 0.0)
            over = peak > self.orders.memory_mb
            if over or time.monotonic() - begin > self.orders.seconds:
                self._end()
                how, why = ("memory", self._too_much) if over else ("timeout", self._too_long)
                return Done(how, why, memory_mb=peak or None, log=self._said())
        if answer["outcome"] == "memory":  # what is left of it may be in pieces
            self._end()
            return Done("memory", self._too_much, memory_mb=answer["memory_mb"], log=self._said())
        if (resident(process.pid) or 0.0) > WORN * self.orders.memory_mb:
            self._end()
        keys = ("outcome", "reason", "values", "times", "file", "memory_mb")
        log = self._said() if answer["outcome"] == "error" else ""
        return Done(**{key: answer[key] for key in keys}, log=log)

    def _place(self, run: Run) -> str:
        """Of files of a run, without their suffix."""
        return str(self.scratch / f"{self.name.replace(' ', '-')}-{run.index}")

    def _along(self, run: Run) -> str:
        """What a run records while it goes on."""
        return f"{self._place(run)}.poise"

    @property
    def _too_much(self) -> str:
        return f"needed more than {self.orders.memory_mb:g} MB of memory"

    @property
    def _too_long(self) -> str:
        return f"took longer than {self.orders.seconds:g} s"

    def _died(self, process: subprocess.Popen[bytes]) -> Done:
        status = process.wait()
        log = self._said()
        self._end()
        if status == -signal.SIGKILL:
            return Done("killed", log=log)
        if status < 0:
            name = signal.Signals(-status).name
            return Done("crashed", f"its process died of signal {-status} ({name})", log=log)
        return Done("crashed", f"its process ended with status {status}", log=log)

    def _started(self) -> subprocess.Popen[bytes]:
        """The worker, ready for work."""
        with self._lock:
            if self._closed:
                raise StartError("the campaign is over")
            if self._process is not None and self._process.poll() is None:
                return self._process
            self._end()
            self._unread = b""
            command = [sys.executable, "-P", "-m", "poise.campaign.worker", str(os.getpid())]
            with open(self._log, "wb") as log:
                process = subprocess.Popen(
                    command,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=log,
                    env={**os.environ, **ENVIRONMENT},
                )
            self._process = process
        try:
            self._send(process, {"kind": self.orders.kind, "memory_mb": self.orders.memory_mb})
            ready = self._answer(process, START)
        except OSError:
            ready = None
        if ready is None:
            said = " ".join(self._said().split())[-300:]
            self._end()
            raise StartError(f"a worker did not start; it said: {said or 'nothing'}")
        return process

    def _send(self, process: subprocess.Popen[bytes], what: Mapping[str, Any]) -> None:
        assert process.stdin is not None
        process.stdin.write(json.dumps(what).encode() + b"\n")
        process.stdin.flush()

    def _answer(self, process: subprocess.Popen[bytes], patience: float) -> dict[str, Any] | None:
        """The next answer of the worker; None if there is none within so many seconds, or ever."""
        assert process.stdout is not None
        end = time.monotonic() + patience
        while True:
            line, whole, rest = self._unread.partition(b"\n")
            if whole:
                self._unread = rest
                with suppress(ValueError):  # what something printed before the worker kept its output to itself
                    if isinstance(answer := json.loads(line), dict):
                        return answer
                continue
            ready, _, _ = select.select([process.stdout], [], [], max(end - time.monotonic(), 0.0))
            if not ready:
                return None
            piece = os.read(process.stdout.fileno(), 1 << 16)
            if not piece:
                process.wait()
                return None
            self._unread += piece

    def _said(self) -> str:
        """The end of what the worker wrote."""
        try:
            return self._log.read_bytes()[-4000:].decode(errors="replace")
        except OSError:
            return ""

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                with suppress(OSError):  # something was on its way to it
                    stream.close()


def mended(path: Path) -> str | None:
    """Makes a recording that was cut off whole as far as it goes; None if there is nothing in it."""
    from poise.recording import load_recording  # here, as few runs die

    try:
        recording = load_recording(path, partial=True)
        if len(recording):
            recording.save(path)
            return str(path)
    except PoiseError:
        pass
    with suppress(OSError):
        path.unlink()
    return None


def resident(process: int) -> float | None:
    """Resident memory of a process (MB); None where that is not known."""
    try:
        with open(f"/proc/{process}/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") * 1e-6
    except (OSError, ValueError, IndexError):
        return None
