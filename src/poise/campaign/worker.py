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

from poise.campaign.kinds import kind_named
from poise.campaign.kinds.kind import Kind, Outcome
from poise.errors import PoiseError
from poise.files import json_ready

#: Of prctl(2): the signal that a process gets when its parent dies.
PR_SET_PDEATHSIG = 1
#: After a run that took longer than this (s) what it left is collected at once: recordings are large and few.
LONG = 1.0


def main() -> None:
    """Answers until there is nothing more to do."""
    with suppress(KeyboardInterrupt):
        answers = _own_output()
        _die_with(int(sys.argv[1]))
        faulthandler.enable()
        asked = sys.stdin.buffer
        first = json.loads(asked.readline())
        _limit_memory(float(first["memory_mb"]))
        kind = kind_named(first["kind"])
        _say(answers, {"ready": os.getpid()})
        for line in asked:
            begin = time.monotonic()
            _say(answers, _done(kind, json.loads(line)))
            if time.monotonic() - begin > LONG:
                gc.collect()


def _done(kind: Kind, task: dict[str, Any]) -> dict[str, Any]:
    """Does a run and tells what became of it."""
    along = None if task["along"] is None else Path(task["along"])
    outcome, how = _performed(kind, task, along)
    file = None
    try:
        if task["keep"] == "all" or (task["keep"] == "failures" and how != "succeeded"):
            file = _kept(outcome, along, task["place"])
        elif along is not None:
            along.unlink(missing_ok=True)
    except (PoiseError, OSError, MemoryError) as error:
        print(f"run {task['run']}: nothing could be kept: {error}", file=sys.stderr, flush=True)
    return {
        "outcome": how,
        "reason": " ".join(outcome.reason.split()),
        "values": {name: json_ready(value) for name, value in outcome.values.items()},
        "times": {name: json_ready(value) for name, value in outcome.times.items()},
        "file": file,
        "memory_mb": peak_memory(),
    }


def _kept(outcome: Outcome, along: Path | None, place: str) -> str | None:
    """The file of a run that is to be kept: what it wrote along, or else what it saves now."""
    if along is not None and along.exists():
        return str(along)
    if outcome.save is None:
        return None
    path = Path(place + outcome.suffix)
    outcome.save(path)
    return str(path)


def _performed(kind: Kind, task: dict[str, Any], along: Path | None) -> tuple[Outcome, str]:
    try:
        outcome = kind.perform(task["parameters"], task["seed"], along)
    except PoiseError as error:
        return Outcome({}, str(error)), "failed"
    except MemoryError:
        return Outcome({}, ""), "memory"
    except Exception as error:  # whatever it is, the campaign goes on
        traceback.print_exc()
        return Outcome({}, f"{type(error).__name__}: {error} ({_place(error)})"), "error"
    return outcome, "failed" if outcome.reason else "succeeded"


def _place(error: BaseException) -> str:
    """Where in Poise an error came from: the innermost file that is ours, and its line."""
    package = Path(__file__).parents[1]
    frames = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in frames if package in Path(frame.filename).parents]
    if not ours:
        return "outside of Poise"
    return f"{Path(ours[-1].filename).relative_to(package.parent).as_posix()}:{ours[-1].lineno}"


def _say(answers: BinaryIO, what: dict[str, Any]) -> None:
    answers.write(json.dumps(what).encode() + b"\n")
    answers.flush()


def _own_output() -> BinaryIO:
    """Standard output for answers alone: what libraries print goes to standard error."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    return answers


def _die_with(parent: int) -> None:
    """Nothing is left behind when the guard is killed."""
    with suppress(OSError, AttributeError):  # not Linux: then it ends with its next line
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # it died before
        sys.exit(1)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the guard's business


def _limit_memory(megabytes: float) -> None:
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
