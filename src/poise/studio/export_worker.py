"""One export: ``python -m poise.studio.export_worker RECORDING FILE FORMAT``. It ends when its standard input does."""

from __future__ import annotations

import _thread
import contextlib
import os
import sys
import threading
import time
from pathlib import Path

from poise.errors import PoiseError

#: Time to clean up after being told to end (s).
CLEANUP_TIME = 2.0
#: How much less important than the simulation this is, 0 to 19.
NICENESS = 10


def main(source: str, target: str, format: str) -> int:
    """The status of the process: 0 if the file is there, else 2, and one line on standard error."""
    threading.Thread(target=_exit_when_stdin_closes, daemon=True).start()
    with contextlib.suppress(OSError, AttributeError):
        os.nice(NICENESS)
    try:
        _export(Path(source), Path(target), format)
    except PoiseError as error:
        print(error, file=sys.stderr)
    except KeyboardInterrupt:
        print("it was stopped", file=sys.stderr)
    except Exception as error:  # whoever asked wants a line to read, whatever happened
        print(f"{type(error).__name__}: {' '.join(str(error).split())[:300]}", file=sys.stderr)
    else:
        return 0
    return 2


def _export(source: Path, target: Path, format: str) -> None:
    from poise.report import read_recordings

    recordings = read_recordings([source])
    if format == "report":
        from poise.report import save_page

        save_page(target, recordings)
    else:
        from poise import exports

        exports.save(next(iter(recordings.values())), target, format)


def _exit_when_stdin_closes() -> None:
    with contextlib.suppress(OSError):
        while os.read(0, 4096):  # not sys.stdin, whose lock would be held when the process ends
            pass
    _thread.interrupt_main()  # so that what is half written is cleaned up
    time.sleep(CLEANUP_TIME)
    os._exit(130)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
