"""Worker: a process that does runs, one after the other, as its guard tells it. Started by `poise.campaign.supervisor`.

It reads one JSON object a line from standard input and answers with one a line. What anything else in the process
prints goes to standard error, which the guard keeps. It dies with its guard.
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

#: Of prctl(2): the signal that a process gets when its parent dies.
PR_SET_PDEATHSIG = 1
#: After a run that took longer than this (s) what it left is collected at once: recordings are large and few.
COLLECT_GARBAGE_AFTER = 1.0


def main() -> None:
    """Answers until there is nothing more to do."""
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
    """Does a run and tells what became of it."""
    recording_path = None if task["recording_path"] is None else Path(task["recording_path"])
    output, outcome = _run_and_classify(kind, task, recording_path)
    file = None
    try:
        if task["recording_policy"] == "all" or (task["recording_policy"] == "failures" and outcome != "succeeded"):
            file = _recording_file(output, recording_path, task["file_stem"])
        elif recording_path is not None:
            recording_path.unlink(missing_ok=True)
    except (PoiseError, OSError, MemoryError) as error:
        print(f"run {task['run']}: nothing could be kept: {error}", file=sys.stderr, flush=True)
    return {
        "outcome": outcome,
        "reason": " ".join(output.reason.split()),
        "values": {name: json_ready(value) for name, value in output.values.items()},
        "times": {name: json_ready(value) for name, value in output.times.items()},
        "file": file,
        "memory_mb": peak_memory(),
    }


def _recording_file(output: RunOutput, recording_path: Path | None, file_stem: str) -> str | None:
    """The file of a run that is to be kept: what it wrote along, or else what it saves now."""
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
    except Exception as error:  # whatever it is, the campaign goes on
        traceback.print_exc()
        return RunOutput({}, f"{type(error).__name__}: {error} ({_error_location(error)})"), "error"
    return output, "failed" if output.reason else "succeeded"


def _error_location(error: BaseException) -> str:
    """Where in Poise an error came from: the innermost file that is ours, and its line."""
    package = Path(__file__).parents[1]
    frames = traceback.extract_tb(error.__traceback__)
    package_frames = [frame for frame in frames if package in Path(frame.filename).parents]
    if not package_frames:
        return "outside of Poise"
    return f"{Path(package_frames[-1].filename).relative_to(package.parent).as_posix()}:{package_frames[-1].lineno}"


def _write_message(answers: BinaryIO, message: dict[str, Any]) -> None:
    answers.write(json.dumps(message).encode() + b"\n")
    answers.flush()


def _claim_standard_output() -> BinaryIO:
    """Standard output for answers alone: what libraries print goes to standard error."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    return answers


def _exit_with_parent(parent: int) -> None:
    """Nothing is left behind when the guard is killed."""
    with suppress(OSError, AttributeError):  # not Linux: then it ends with its next line
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # it died before
        sys.exit(1)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the guard's business


def _limit_data_segment(megabytes: float) -> None:
    """What asks for too much at once fails at once; the guard sees what grows."""
    with suppress(ImportError, ValueError, OSError, OverflowError):
        import resource

        resource.setrlimit(resource.RLIMIT_DATA, (int(megabytes * 1e6), resource.RLIM_INFINITY))


def peak_memory() -> float | None:
    """Largest resident memory of this process so far (MB); None where that is not known."""
    try:
        status = Path("/proc/self/status").read_text(encoding="ascii")
        return round(int(status.partition("VmHWM:")[2].split()[0]) * 1024e-6, 1)
    except (OSError, ValueError, IndexError):
        pass
    try:
        import resource
    except ImportError:
        return None
    # On Linux this would count the process that started this one, too: it is only for others.
    size = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return round(size * (1e-6 if sys.platform == "darwin" else 1024e-6), 1)


if __name__ == "__main__":
    main()
