"""List the modules of Poise in which at least one function runs during a command, imports excluded.

    python benchmarks/call_trace.py readme                       # the first program of README.md
    python benchmarks/call_trace.py run walk --steps 4           # any command line
    python benchmarks/call_trace.py human gait walk.c3d --out study

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
        "command", nargs=argparse.REMAINDER, metavar="readme | COMMAND ...", help="program or command to trace"
    )
    words = parser.parse_args().command
    if not words:
        parser.error("no command given; give 'readme' or a command of poise")
    files_used: set[str] = set()

    def record_call(frame: FrameType, event: str, argument: Any) -> None:
        code = frame.f_code
        is_poise_function = code.co_flags & FUNCTION and code.co_filename.startswith(str(ROOT))
        if event == "call" and is_poise_function and not _is_import(frame):
            files_used.add(Path(code.co_filename).relative_to(ROOT).as_posix())

    threading.setprofile(record_call)
    sys.setprofile(record_call)
    try:
        with contextlib.redirect_stdout(sys.stderr):
            status = _run_command(words)
    finally:
        sys.setprofile(None)
    packages: dict[str, list[str]] = defaultdict(list)
    for path in sorted(files_used):
        package, _, rest = path.partition("/")
        packages[package].append(rest or package)
    for package, files in packages.items():
        print(f"{package}: {', '.join(files)}")
    print(f"{len(files_used)} files")
    return status


def _run_command(arguments: list[str]) -> int:
    if arguments == ["readme"]:
        text = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")
        exec(compile(re.findall(r"```python\n(.*?)```", text, re.DOTALL)[0], "README.md", "exec"), {})
        return 0
    from poise.cli import main as command

    return command(arguments)


def _is_import(frame: FrameType) -> bool:
    """Return whether a function runs as part of an import."""
    outer: FrameType | None = frame
    while outer is not None:
        if outer.f_code.co_name == "<module>" and str(ROOT) in outer.f_code.co_filename:
            return True
        outer = outer.f_back
    return False


if __name__ == "__main__":
    sys.exit(main())
