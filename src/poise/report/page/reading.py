"""Reading recordings for a page, also those whose file was cut off."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from poise.errors import RecordingError
from poise.recording import Recording, load_recording
from poise.recording.channel import different


def read(paths: Iterable[str | os.PathLike[str]]) -> dict[str, Recording]:
    """Recordings by short names: those of their files, with their folders where these alone tell them apart.

    What is intact of a file that was cut off is taken; ``recording.complete`` is then False, and the page says so.

    >>> list(read(["runs/slow.poise", "runs/fast.poise"]))
    ['slow', 'fast']
    """
    places = [Path(path) for path in paths]
    found = [_loaded(place) for place in places]
    stems = [place.stem for place in places]
    labels = [
        stem if stems.count(stem) == 1 else f"{place.absolute().parent.name}/{stem}"
        for place, stem in zip(places, stems, strict=True)
    ]
    return dict(zip(different(labels), found, strict=True))


def _loaded(path: Path) -> Recording:
    try:
        return load_recording(path)
    except RecordingError as whole:
        try:
            return load_recording(path, partial=True)
        except RecordingError:
            raise whole from None
