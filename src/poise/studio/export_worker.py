"""Worker process that exports one recording: ``python -m poise.studio.export_worker RECORDING FILE FORMAT``.

It writes its progress to standard error, in lines like ``progress 0.25``. It stops when its standard input closes, so
it does not outlive the studio.
"""

from __future__ import annotations

import _thread
import contextlib
import itertools
import os
import sys
import threading
import time
from pathlib import Path

from poise.errors import PoiseError
from poise.studio.output_folder import PROGRESS_PREFIX

#: Time to remove partial output after standard input has closed (s).
CLEANUP_TIME = 2.0
#: Niceness of this process, 0 to 19: the simulation has priority.
NICENESS = 10


def main(source: str, target: str, format: str) -> int:
    """Export a recording and return the exit status: 0 on success, else 2, with one line on standard error.

    Args:
        source: path of the recording.
        target: path of the file to write.
        format: "report", or a format of `poise.exports`.
    """
    threading.Thread(target=_exit_when_stdin_closes, daemon=True).start()
    with contextlib.suppress(OSError, AttributeError):
        os.nice(NICENESS)
    try:
        _export(Path(source), Path(target), format)
    except PoiseError as error:
        print(error, file=sys.stderr)
    except KeyboardInterrupt:
        print("the export was stopped", file=sys.stderr)
    except Exception as error:  # the studio shows the last line of standard error, whatever happened
        print(f"{type(error).__name__}: {' '.join(str(error).split())[:300]}", file=sys.stderr)
    else:
        return 0
    return 2


def _export(source: Path, target: Path, format: str) -> None:
    from poise.report import read_recordings

    report = Progress()
    recordings = read_recordings([source])
    if format == "report":
        from poise.report import RECORDING_SECTIONS, save_page

        sections = itertools.count()
        save_page(target, recordings, lambda section: report(next(sections) / len(RECORDING_SECTIONS)))
    else:
        from poise import exports

        recording = next(iter(recordings.values()))
        duration = max(recording.duration, 1e-9)
        exports.save(recording, target, format, progress=lambda seconds: report(seconds / duration))


class Progress:
    """Writes the completed share (0 to 1) to standard error, once per percent."""

    def __init__(self) -> None:
        self._percent = -1

    def __call__(self, share: float) -> None:
        percent = int(100.0 * min(max(share, 0.0), 1.0))
        if percent > self._percent:
            self._percent = percent
            print(f"{PROGRESS_PREFIX}{percent / 100.0:g}", file=sys.stderr, flush=True)


def _exit_when_stdin_closes() -> None:
    with contextlib.suppress(OSError):
        while os.read(0, 4096):  # not sys.stdin: its lock would still be held when the process exits
            pass
    _thread.interrupt_main()  # lets the main thread remove a partly written file
    time.sleep(CLEANUP_TIME)
    os._exit(130)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
