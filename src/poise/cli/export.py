"""Command ``poise export``: convert a recording to another file format."""

from __future__ import annotations

import argparse
import re
from pathlib import Path
from typing import TYPE_CHECKING

from poise.cli.options import positive_argument
from poise.errors import RecordingError, UsageError
from poise.recording import ProgressBar, load_recording

if TYPE_CHECKING:
    from poise.recording import Recording


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``poise export`` to a parser."""
    formats = "csv, npz, bvh, mot, opensim, osim, grf, trc, mcap, html or mp4"
    parser.add_argument("recording", type=Path, metavar="RECORDING", help="recording to convert (.poise)")
    parser.add_argument("--to", metavar="FORMAT", help=f"output format: {formats} (default: from the suffix of --out)")
    parser.add_argument("--out", type=Path, required=True, metavar="FILE", help="write to this file")
    parser.add_argument(
        "--rate", "--fps", type=positive_argument, metavar="HZ",
        help="samples or frames per second (default: all samples; 60 for bvh, 30 for html and mp4)",
    )  # fmt: skip
    parser.add_argument(
        "--size", type=_parse_size, metavar="WIDTHxHEIGHT", help="video size in pixels (default 1280x720)"
    )
    parser.add_argument("--robot", metavar="NAME|FILE", help="robot of the motion (default: the recorded one)")
    parser.add_argument("--partial", action="store_true", help="export the intact samples of a truncated file")
    parser.set_defaults(action=_export)


def _export(options: argparse.Namespace) -> int:
    from poise import exports
    from poise.exports import checked_path
    from poise.robots import load_robot

    name = exports.format_of(options.out, options.to)
    output_format = exports.FORMATS[name]
    checked_path(options.out, output_format.suffixes)  # fail before the recording is read, which may be slow
    if options.size is not None and not output_format.has_image_size:
        raise UsageError(f"--size is for videos, not for {name}; leave it out")
    recording = _load(options.recording, options.partial)
    robot = load_robot(options.robot) if options.robot else None
    with ProgressBar(f"{options.recording.name} to {name}", recording.duration) as bar:
        size = options.size or (1280, 720)
        exports.save(recording, options.out, name, robot=robot, rate=options.rate, size=size, progress=bar)
    megabytes = options.out.stat().st_size / 1e6
    print(f"{options.out}: {output_format.description}, {recording.duration:.2f} s, {megabytes:.2f} MB")
    return 0


def _load(path: Path, partial: bool) -> Recording:
    try:
        return load_recording(path, partial=partial)
    except RecordingError as error:
        message = str(error).replace("open with load_recording(path, partial=True)", "give --partial to export these")
        raise RecordingError(message, path=str(path)) from None


def _parse_size(text: str) -> tuple[int, int]:
    match = re.fullmatch(r"(\d{1,5})x(\d{1,5})", text)
    if match is None:
        raise argparse.ArgumentTypeError(f"'{text}' is not a size; expected WIDTHxHEIGHT in pixels, like 1280x720")
    return int(match[1]), int(match[2])
