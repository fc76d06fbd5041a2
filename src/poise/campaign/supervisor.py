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
from poise.campaign.sweep import PlannedRun
from poise.errors import PoiseError

#: How often the memory of a busy worker is looked at, s.
POLL_INTERVAL = 0.05
#: How long a worker may take to start, s: importing everything on a busy machine.
START_TIMEOUT = 180.0
#: A run whose worker was killed by somebody else, who may have meant another, is begun so often.
MAX_ATTEMPTS = 2
#: A worker that has come to hold this share of the memory it may have is replaced before its next run.
RESTART_MEMORY_SHARE = 0.5
#: Runs that end so had no time to keep anything: what they wrote along is all there is.
ABRUPT_OUTCOMES = ("crashed", "timeout", "memory")
#: One thread for each solver: there are as many workers as cores.
WORKER_ENVIRONMENT = dict.fromkeys(
    ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS"), "1"
)


class WorkerStartError(PoiseError):
    """Workers that do not start, whatever they are given: the machine's fault, not the run's."""


@dataclass(frozen=True)
class RunResult:
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
class WorkerSettings:
    """What a guard lets its worker do.

    Attributes:
        kind: name of the kind of its runs.
        seconds, memory_mb: what a run may take.
        recording_policy: which files are kept.
    """

    kind: str
    seconds: float
    memory_mb: float
    recording_policy: str


class Supervisor:
    """One worker process at a time, started when it is needed and again whenever it dies.

    Args:
        settings: for it.
        scratch: a folder for the files of its runs.
        name: of the worker.
    """

    def __init__(self, settings: WorkerSettings, scratch: Path, name: str) -> None:
        self.settings, self.scratch, self.name = settings, scratch, name
        self._process: subprocess.Popen[bytes] | None = None
        self._buffer = b""
        self._log = scratch / f"{name.replace(' ', '-')}.log"
        self._lock = threading.Lock()
        self._closed = False

    def run(self, run: PlannedRun) -> RunResult:
        """Lets the worker do a run, and tells what became of it."""
        begin = time.monotonic()
        result = RunResult("crashed")
        for attempt in range(1, MAX_ATTEMPTS + 1):
            result = replace(self._run_once(run), attempts=attempt)
            if result.outcome != "killed":
                break
        else:
            result = replace(
                result,
                outcome="crashed",
                reason="its process was killed from outside twice; is the machine out of memory?",
            )
        if result.outcome in ABRUPT_OUTCOMES and self.settings.recording_policy != "none":
            result = replace(result, file=recover_recording(Path(self._recording_path(run))))
        return replace(result, seconds=time.monotonic() - begin, worker=self.name)

    def close(self) -> None:
        """Ends the worker, busy or not, from any thread; it is not started again."""
        with self._lock:
            self._closed = True
            if self._process is not None:
                self._process.kill()
                self._process.wait()

    def _run_once(self, run: PlannedRun) -> RunResult:
        process = self._ensure_started()
        begin = time.monotonic()
        task = {
            "run": run.index,
            "seed": run.seed,
            "parameters": dict(run.parameters),
            "recording_policy": self.settings.recording_policy,
            "file_stem": self._file_stem(run),
            "recording_path": None if self.settings.recording_policy == "none" else self._recording_path(run),
        }
        try:
            self._send(process, task)
        except OSError:
            return self._crash_result(process)
        peak = 0.0
        while True:
            answer = self._read_answer(process, POLL_INTERVAL)
            if answer is not None:
                break
            if process.poll() is not None:
                return self._crash_result(process)
            peak = max(peak, resident_memory(process.pid) or 0.0)
            out_of_memory = peak > self.settings.memory_mb
            if out_of_memory or time.monotonic() - begin > self.settings.seconds:
                self._stop()
                outcome, reason = (
                    ("memory", self._memory_reason) if out_of_memory else ("timeout", self._timeout_reason)
                )
                return RunResult(outcome, reason, memory_mb=peak or None, log=self._log_tail())
        if answer["outcome"] == "memory":  # what is left of it may be in pieces
            self._stop()
            return RunResult("memory", self._memory_reason, memory_mb=answer["memory_mb"], log=self._log_tail())
        if (resident_memory(process.pid) or 0.0) > RESTART_MEMORY_SHARE * self.settings.memory_mb:
            self._stop()
        keys = ("outcome", "reason", "values", "times", "file", "memory_mb")
        log = self._log_tail() if answer["outcome"] == "error" else ""
        return RunResult(**{key: answer[key] for key in keys}, log=log)

    def _file_stem(self, run: PlannedRun) -> str:
        """Of files of a run, without their suffix."""
        return str(self.scratch / f"{self.name.replace(' ', '-')}-{run.index}")

    def _recording_path(self, run: PlannedRun) -> str:
        """What a run records while it goes on."""
        return f"{self._file_stem(run)}.poise"

    @property
    def _memory_reason(self) -> str:
        return f"needed more than {self.settings.memory_mb:g} MB of memory"

    @property
    def _timeout_reason(self) -> str:
        return f"took longer than {self.settings.seconds:g} s"

    def _crash_result(self, process: subprocess.Popen[bytes]) -> RunResult:
        status = process.wait()
        log = self._log_tail()
        self._stop()
        if status == -signal.SIGKILL:
            return RunResult("killed", log=log)
        if status < 0:
            name = signal.Signals(-status).name
            return RunResult("crashed", f"its process died of signal {-status} ({name})", log=log)
        return RunResult("crashed", f"its process ended with status {status}", log=log)

    def _ensure_started(self) -> subprocess.Popen[bytes]:
        """The worker, ready for work."""
        with self._lock:
            if self._closed:
                raise WorkerStartError("the campaign is over")
            if self._process is not None and self._process.poll() is None:
                return self._process
            self._stop()
            self._buffer = b""
            command = [sys.executable, "-P", "-m", "poise.campaign.worker", str(os.getpid())]
            with open(self._log, "wb") as log:
                process = subprocess.Popen(
                    command,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=log,
                    env={**os.environ, **WORKER_ENVIRONMENT},
                )
            self._process = process
        try:
            self._send(process, {"kind": self.settings.kind, "memory_mb": self.settings.memory_mb})
            ready = self._read_answer(process, START_TIMEOUT)
        except OSError:
            ready = None
        if ready is None:
            log_text = " ".join(self._log_tail().split())[-300:]
            self._stop()
            raise WorkerStartError(f"a worker did not start; it said: {log_text or 'nothing'}")
        return process

    def _send(self, process: subprocess.Popen[bytes], message: Mapping[str, Any]) -> None:
        assert process.stdin is not None
        process.stdin.write(json.dumps(message).encode() + b"\n")
        process.stdin.flush()

    def _read_answer(self, process: subprocess.Popen[bytes], timeout: float) -> dict[str, Any] | None:
        """The next answer of the worker; None if there is none within so many seconds, or ever."""
        assert process.stdout is not None
        end = time.monotonic() + timeout
        while True:
            line, separator, rest = self._buffer.partition(b"\n")
            if separator:
                self._buffer = rest
                with suppress(ValueError):  # what something printed before the worker kept its output to itself
                    if isinstance(answer := json.loads(line), dict):
                        return answer
                continue
            ready, _, _ = select.select([process.stdout], [], [], max(end - time.monotonic(), 0.0))
            if not ready:
                return None
            chunk = os.read(process.stdout.fileno(), 1 << 16)
            if not chunk:
                process.wait()
                return None
            self._buffer += chunk

    def _log_tail(self) -> str:
        """The end of what the worker wrote."""
        try:
            return self._log.read_bytes()[-4000:].decode(errors="replace")
        except OSError:
            return ""

    def _stop(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                with suppress(OSError):  # something was on its way to it
                    stream.close()


def recover_recording(path: Path) -> str | None:
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


def resident_memory(pid: int) -> float | None:
    """Resident memory of a process (MB); None where that is not known."""
    try:
        with open(f"/proc/{pid}/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") * 1e-6
    except (OSError, ValueError, IndexError):
        return None
