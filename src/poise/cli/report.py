"""``poise report``: one page about recordings."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from poise.cli.options import say
from poise.errors import UsageError


def add(commands: Any, name: str) -> None:
    parser = commands.add_parser(name, help="one page about recordings, to read and to print")
    parser.add_argument(
        "recordings", nargs="+", type=Path, metavar="RECORDING", help=".poise files, shown side by side"
    )
    parser.add_argument("--out", type=Path, required=True, metavar="FILE.html", help="where to write the page")
    parser.set_defaults(action=_report)


def _report(options: argparse.Namespace) -> int:
    _check(options.recordings, options.out)
    from poise.report.page import SECTIONS, save_page  # here, because drawing takes half a second to import
    from poise.report.page.reading import read

    recordings = read(options.recordings)
    count = 0

    def progress(section: str) -> None:
        nonlocal count
        count += 1
        say(f"{count} of {len(SECTIONS)}: {section}")

    save_page(options.out, recordings, progress)
    what = f"{len(recordings)} recording{'' if len(recordings) == 1 else 's'}"
    print(f"{options.out}: {what}, {options.out.stat().st_size / 1e6:.1f} MB")
    return 0


def _check(recordings: list[Path], out: Path) -> None:
    """What is wrong with the place of the page is said before the recordings are read."""
    if out.is_dir():
        raise UsageError(f"--out '{out}' is a folder; give a file, like {out / 'report.html'}")
    if not out.absolute().parent.is_dir():
        raise UsageError(f"--out '{out}': there is no folder '{out.parent}'; make it first")
    if any(out.absolute() == recording.absolute() for recording in recordings):
        raise UsageError(f"--out '{out}' is one of the recordings; give another name, like {out.with_suffix('.html')}")
    if out.suffix.lower() not in (".html", ".htm"):
        say(f"poise: note: '{out}' does not end in .html")
