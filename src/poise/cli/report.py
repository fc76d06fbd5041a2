"""Command ``poise report``: write an HTML report about recordings or about a campaign."""

from __future__ import annotations

import argparse
import itertools
import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from poise.cli.options import PAGE_SUFFIXES, check_writable, print_status
from poise.errors import PoiseError, UsageError
from poise.recording import ProgressBar

if TYPE_CHECKING:
    from poise.campaign import Results
    from poise.report import RunFiles


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``poise report`` to a parser."""
    parser.add_argument(
        "recordings", nargs="+", type=Path, metavar="RECORDING",
        help=".poise files to show side by side, or the folder of one campaign",
    )  # fmt: skip
    parser.add_argument("--out", type=Path, required=True, metavar="FILE.html", help="write the report to this file")
    parser.set_defaults(action=_report)


def _report(options: argparse.Namespace) -> int:
    _check_output(options.recordings, options.out)
    campaigns = [path for path in options.recordings if path.is_dir() or path.suffix == ".parquet"]
    if campaigns:
        return _campaign_report(campaigns, options)
    from poise.report import RECORDING_SECTIONS, read_recordings, save_page

    recordings = read_recordings(options.recordings)
    with _progress_bar(options.out, len(RECORDING_SECTIONS)) as bar:
        save_page(options.out, recordings, _progress(bar))
    what = f"{len(recordings)} recording{'' if len(recordings) == 1 else 's'}"
    print(f"{options.out}: {what}, {options.out.stat().st_size / 1e6:.1f} MB")
    return 0


def _campaign_report(campaigns: list[Path], options: argparse.Namespace) -> int:
    if len(options.recordings) > 1:
        contents = "several campaigns" if len(campaigns) == len(options.recordings) else "recordings and a campaign"
        raise UsageError(f"a report cannot show {contents}; give one campaign ('{campaigns[0]}') or recordings only")
    from poise.campaign import FACTS_FILE, Results

    (path,) = campaigns
    if path.is_dir() and not (path / FACTS_FILE).is_file():
        raise UsageError(
            f"'{path}' is a directory, but not that of a campaign; "
            "give .poise files, or a folder that 'poise campaign' wrote"
        )
    results = Results.load(path)
    from poise.report import CAMPAIGN_SECTIONS, save_campaign_page

    run_files = _run_files(results, options.out)
    with _progress_bar(options.out, len(CAMPAIGN_SECTIONS)) as bar:
        save_campaign_page(options.out, results, run_files, _progress(bar))
    replays = sum(bool(each.replay) for each in run_files.values())
    also = f", {replays} replay{'' if replays == 1 else 's'} beside it" if replays else ""
    what = f"{len(results)} of {results.planned_runs} runs"
    print(f"{options.out}: {what}, {options.out.stat().st_size / 1e6:.1f} MB{also}")
    return 0


def _progress_bar(out: Path, sections: int) -> ProgressBar:
    return ProgressBar(out.name, sections, unit="sections", count_items=True)


def _progress(bar: ProgressBar) -> Callable[[str], None]:
    """Return a function that shows in the bar which section is being written."""
    numbers = itertools.count(1)
    return lambda section: bar(next(numbers), section)


def _run_files(results: Results, out: Path) -> dict[int, RunFiles]:
    """Write a replay page for each of the worst runs, and return the links to recordings and replays by run number.

    Replays are written to the folder ``NAME_replays`` beside the report. A recording that is missing or cannot be read
    becomes a note, not an error.
    """
    from poise.report import RunFiles, worst_runs

    table, page = results.table, out.absolute().parent
    rows = [row for row in worst_runs(results) if table.column("recording")[row].as_py()]
    run_files: dict[int, RunFiles] = {}
    for count, row in enumerate(rows, 1):
        run, file = int(table.column("run")[row].as_py()), str(table.column("recording")[row].as_py())
        recording = results.folder.absolute() / file
        if not recording.is_file():
            run_files[run] = RunFiles(note=f"recording not found: {file}")
            continue
        address = quote(Path(os.path.relpath(recording, page)).as_posix())
        replay, note = "", ""
        if recording.suffix == ".poise":
            print_status(f"replay {count} of {len(rows)}: run {run}")
            replay_path = page / f"{out.stem}_replays" / f"{run:06d}.html"
            try:
                _write_replay(recording, replay_path)
                replay = quote(replay_path.relative_to(page).as_posix())
            except (PoiseError, OSError) as error:
                note = f"no replay: {' '.join(str(error).split())}"
        run_files[run] = RunFiles(address, replay, note)
    return run_files


def _write_replay(recording: Path, replay_path: Path) -> None:
    """Write an HTML page that plays a recording."""
    from poise import exports
    from poise.recording import load_recording

    loaded = load_recording(recording, partial=True)
    replay_path.parent.mkdir(exist_ok=True)
    exports.save(loaded, replay_path, "html")


def _check_output(recordings: list[Path], out: Path) -> None:
    """Raise `UsageError` if the report cannot be written to `out`, before the recordings are read."""
    if any(out.absolute() == recording.absolute() for recording in recordings):
        raise UsageError(f"--out '{out}' is one of the recordings; give another name, like {out.with_suffix('.html')}")
    check_writable(out, PAGE_SUFFIXES)
