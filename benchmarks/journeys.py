"""List the modules of Poise of which a function runs during a command, not counting imports.

    python benchmarks/journeys.py readme                       # the first program of README.md
    python benchmarks/journeys.py run walk --steps 4           # any command line
    python benchmarks/journeys.py human gait walk.c3d --out study

The lists in docs/architecture.md are made with it. Standard output holds the list; the output of the command goes to
standard error.
"""

from __future__ import annotations

import argparse
import contextlib
import re
import sys
import threading
from collections import defaultdict
from pathlib import Path
from types import FrameType
from typing import Any

import poise

ROOT = Path(poise.__file__).parent
#: Code flag of functions; modules and class bodies do not have it.
FUNCTION = 1


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "journey", nargs=argparse.REMAINDER, metavar="readme | COMMAND ...", help="program or command to trace"
    )
    words = parser.parse_args().journey
    if not words:
        parser.error("no command given; give 'readme' or a command of poise")
    files_used: set[str] = set()

    def record_call(frame: FrameType, event: str, argument: Any) -> None:
        code = frame.f_code
        is_poise_function = code.co_flags & FUNCTION and code.co_filename.startswith(str(ROOT))
        if event == "call" and is_poise_function and not _importing(frame):
            files_used.add(Path(code.co_filename).relative_to(ROOT).as_posix())

    threading.setprofile(record_call)
    sys.setprofile(record_call)
    try:
        with contextlib.redirect_stdout(sys.stderr):
            status = _run_journey(words)
    finally:
        sys.setprofile(None)
    rooms: dict[str, list[str]] = defaultdict(list)
    for path in sorted(files_used):
        room, _, rest = path.partition("/")
        rooms[room].append(rest or room)
    for room, files in rooms.items():
        print(f"{room}: {', '.join(files)}")
    print(f"{len(files_used)} files")
    return status


def _run_journey(words: list[str]) -> int:
    if words == ["readme"]:
        text = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")
        exec(compile(re.findall(r"```python\n(.*?)```", text, re.DOTALL)[0], "README.md", "exec"), {})
        return 0
    from poise.cli import main as command

    return command(words)


def _importing(frame: FrameType) -> bool:
    """Return whether a function runs as part of an import."""
    outer: FrameType | None = frame
    while outer is not None:
        if outer.f_code.co_name == "<module>" and str(ROOT) in outer.f_code.co_filename:
            return True
        outer = outer.f_back
    return False


if __name__ == "__main__":
    sys.exit(main())
