"""Worker process that executes runs one after the other. Started by `poise.campaign.supervisor`.

It reads one JSON object per line from standard input and answers each with one line on standard output. Everything else
that is printed goes to standard error, which the supervisor logs. The worker ends when its supervisor ends.
"""

from __future__ import annotations

import ctypes
import faulthandler
import gc
import json
import os
import signal
import sys
import time
import traceback
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO

from poise.campaign.kinds import find_run_kind
from poise.campaign.kinds.kind import RunKind, RunOutput
from poise.errors import PoiseError
from poise.files import json_ready

#: Option of prctl(2) that sets the signal a process receives when its parent dies.
PR_SET_PDEATHSIG = 1
#: Duration of a run (s) above which garbage is collected at once: recordings are large and few.
COLLECT_GARBAGE_AFTER = 1.0


def main() -> None:
    """Execute the requested runs until standard input ends."""
    with suppress(KeyboardInterrupt):
        answers = _claim_standard_output()
        _exit_with_parent(int(sys.argv[1]))
        faulthandler.enable()
        requests = sys.stdin.buffer
        settings = json.loads(requests.readline())
        _limit_data_segment(float(settings["memory_mb"]))
        kind = find_run_kind(settings["kind"])
        _write_message(answers, {"ready": os.getpid()})
        for line in requests:
            begin = time.monotonic()
            _write_message(answers, _run_task(kind, json.loads(line)))
            if time.monotonic() - begin > COLLECT_GARBAGE_AFTER:
                gc.collect()


def _run_task(kind: RunKind, task: dict[str, Any]) -> dict[str, Any]:
    """Execute a run and return the answer to the supervisor."""
    recording_path = None if task["recording_path"] is None else Path(task["recording_path"])
    output, outcome = _run_and_classify(kind, task, recording_path)
    file = None
    try:
        if task["recording_policy"] == "all" or (task["recording_policy"] == "failures" and outcome != "succeeded"):
            file = _recording_file(output, recording_path, task["file_stem"])
        elif recording_path is not None:
            recording_path.unlink(missing_ok=True)
    except (PoiseError, OSError, MemoryError) as error:
        print(f"run {task['run']}: the recording could not be kept: {error}", file=sys.stderr, flush=True)
    return {
        "outcome": outcome,
        "reason": " ".join(output.reason.split()),
        "values": {name: json_ready(value) for name, value in output.values.items()},
        "times": {name: json_ready(value) for name, value in output.times.items()},
        "file": file,
        "memory_mb": peak_memory(),
    }


def _recording_file(output: RunOutput, recording_path: Path | None, file_stem: str) -> str | None:
    """Return the file of a run to keep: the recording written during the run, else the file that the run saves now."""
    if recording_path is not None and recording_path.exists():
        return str(recording_path)
    if output.save is None:
        return None
    path = Path(file_stem + output.suffix)
    output.save(path)
    return str(path)


def _run_and_classify(kind: RunKind, task: dict[str, Any], recording_path: Path | None) -> tuple[RunOutput, str]:
    try:
        output = kind.run(task["parameters"], task["seed"], recording_path)
    except PoiseError as error:
        return RunOutput({}, str(error)), "failed"
    except MemoryError:
        return RunOutput({}, ""), "memory"
    except Exception as error:  # the campaign continues after any error
        traceback.print_exc()
        return RunOutput({}, f"{type(error).__name__}: {error} ({_error_location(error)})"), "error"
    return output, "failed" if output.reason else "succeeded"


def _error_location(error: BaseException) -> str:
    """Return the innermost location inside Poise that an error passed through, as file and line."""
    package = Path(__file__).parents[1]
    frames = traceback.extract_tb(error.__traceback__)
    package_frames = [frame for frame in frames if package in Path(frame.filename).parents]
    if not package_frames:
        return "outside Poise"
    return f"{Path(package_frames[-1].filename).relative_to(package.parent).as_posix()}:{package_frames[-1].lineno}"


def _write_message(answers: BinaryIO, message: dict[str, Any]) -> None:
    answers.write(json.dumps(message).encode() + b"\n")
    answers.flush()


def _claim_standard_output() -> BinaryIO:
    """Reserve standard output for answers and redirect the output of libraries to standard error."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    return answers


def _exit_with_parent(parent: int) -> None:
    """Arrange that this process dies when its supervisor is killed, and ignore Ctrl-C."""
    with suppress(OSError, AttributeError):  # not Linux: then it ends with the next read or write
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # the supervisor died before
        sys.exit(1)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the supervisor handles Ctrl-C


def _limit_data_segment(megabytes: float) -> None:
    """Limit the data segment, so that a too large allocation fails at once; the supervisor watches slow growth."""
    with suppress(ImportError, ValueError, OSError, OverflowError):
        import resource

        resource.setrlimit(resource.RLIMIT_DATA, (int(megabytes * 1e6), resource.RLIM_INFINITY))


def peak_memory() -> float | None:
    """Return the largest resident memory of this process so far (MB); None if the platform does not report it."""
    try:
        status = Path("/proc/self/status").read_text(encoding="ascii")
        return round(int(status.partition("VmHWM:")[2].split()[0]) * 1024e-6, 1)
    except (OSError, ValueError, IndexError):
        pass
    try:
        import resource
    except ImportError:
        return None
    # Only for other platforms: on Linux this would include the parent process.
    size = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return round(size * (1e-6 if sys.platform == "darwin" else 1024e-6), 1)


if __name__ == "__main__":
    main()
