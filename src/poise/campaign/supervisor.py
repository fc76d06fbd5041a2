"""Supervisor of one worker process: enforce time and memory limits, restart after a crash, one result per run."""

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

#: Interval at which the memory of a busy worker is checked (s).
POLL_INTERVAL = 0.05
#: Timeout for the start of a worker (s): it imports everything, possibly on a busy machine.
START_TIMEOUT = 180.0
#: Attempts at a run whose worker is killed from outside, possibly not because of this run.
MAX_ATTEMPTS = 2
#: A worker is restarted before its next run if it holds more than this fraction of its memory limit.
RESTART_MEMORY_SHARE = 0.5
#: Outcomes after which the worker cannot save a file: only the recording written during the run remains.
ABRUPT_OUTCOMES = ("crashed", "timeout", "memory")
#: Environment of a worker: one thread for each solver, since there is one worker per core.
WORKER_ENVIRONMENT = dict.fromkeys(
    ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS"), "1"
)


class WorkerStartError(PoiseError):
    """A worker process does not start: a fault of the machine, not of the run."""


@dataclass(frozen=True)
class RunResult:
    """Result of a run, as its supervisor reports it.

    Attributes:
        outcome: one of `OUTCOMES`.
        reason: reason for failure; "" if it succeeded.
        values: values of the columns of its kind.
        times: times that the run reported, by name.
        file: file to keep; None: none.
        seconds: computation time (s).
        memory_mb: largest resident memory of its worker so far (MB); None if unknown.
        attempts: number of attempts.
        worker: name of the worker.
        log: end of the worker's standard error, after a crash or an error.
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
    """Settings of a worker process.

    Attributes:
        kind: name of the kind of its runs.
        seconds: time limit of a run (s).
        memory_mb: memory limit of a run (MB).
        recording_policy: recordings to keep: ``"failures"``, ``"all"`` or ``"none"``.
    """

    kind: str
    seconds: float
    memory_mb: float
    recording_policy: str


class Supervisor:
    """Owner of one worker process, which it starts on demand and restarts after it dies.

    Args:
        settings: settings of the worker.
        scratch: folder for the files of its runs.
        name: name of the worker.
    """

    def __init__(self, settings: WorkerSettings, scratch: Path, name: str) -> None:
        self.settings, self.scratch, self.name = settings, scratch, name
        self._process: subprocess.Popen[bytes] | None = None
        self._buffer = b""
        self._log = scratch / f"{name.replace(' ', '-')}.log"
        self._lock = threading.Lock()
        self._closed = False

    def run(self, run: PlannedRun) -> RunResult:
        """Execute a run in the worker and return its result."""
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
                reason="its process was killed from outside twice; the machine may be out of memory",
            )
        if result.outcome in ABRUPT_OUTCOMES and self.settings.recording_policy != "none":
            result = replace(result, file=recover_recording(Path(self._recording_path(run))))
        return replace(result, seconds=time.monotonic() - begin, worker=self.name)

    def close(self) -> None:
        """Kill the worker, busy or not, and do not restart it. Safe to call from any thread."""
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
        if answer["outcome"] == "memory":  # the process may be in an inconsistent state
            self._stop()
            return RunResult("memory", self._memory_reason, memory_mb=answer["memory_mb"], log=self._log_tail())
        if (resident_memory(process.pid) or 0.0) > RESTART_MEMORY_SHARE * self.settings.memory_mb:
            self._stop()
        keys = ("outcome", "reason", "values", "times", "file", "memory_mb")
        log = self._log_tail() if answer["outcome"] == "error" else ""
        return RunResult(**{key: answer[key] for key in keys}, log=log)

    def _file_stem(self, run: PlannedRun) -> str:
        """Path of the files of a run, without suffix."""
        return str(self.scratch / f"{self.name.replace(' ', '-')}-{run.index}")

    def _recording_path(self, run: PlannedRun) -> str:
        """Path of the recording that a run writes while it goes on."""
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
        """Return the worker process, started if necessary."""
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
            raise WorkerStartError(f"a worker process did not start; its log: {log_text or 'empty'}")
        return process

    def _send(self, process: subprocess.Popen[bytes], message: Mapping[str, Any]) -> None:
        assert process.stdin is not None
        process.stdin.write(json.dumps(message).encode() + b"\n")
        process.stdin.flush()

    def _read_answer(self, process: subprocess.Popen[bytes], timeout: float) -> dict[str, Any] | None:
        """Return the next answer of the worker; None if none arrives within the timeout (s) or the worker ends."""
        assert process.stdout is not None
        end = time.monotonic() + timeout
        while True:
            line, separator, rest = self._buffer.partition(b"\n")
            if separator:
                self._buffer = rest
                with suppress(ValueError):  # output of libraries before the worker redirected it
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
        """Return the end of the worker's standard error."""
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
                with suppress(OSError):  # unsent data is lost with the process
                    stream.close()


def recover_recording(path: Path) -> str | None:
    """Repair a truncated recording in place and return its path; None, and no file, if it holds no samples."""
    from poise.recording import load_recording  # imported late, since few runs crash

    try:
        recording = load_recording(path, partial=True)
        if recording.samples:
            recording.save(path)
            return str(path)
    except PoiseError:
        pass
    with suppress(OSError):
        path.unlink()
    return None


def resident_memory(pid: int) -> float | None:
    """Return the resident memory of a process (MB); None if the platform does not report it."""
    try:
        with open(f"/proc/{pid}/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") * 1e-6
    except (OSError, ValueError, IndexError):
        return None
