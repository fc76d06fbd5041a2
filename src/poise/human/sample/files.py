"""Sample trials as files."""

from __future__ import annotations

from pathlib import Path

from poise.errors import PoiseError
from poise.human.files.c3d_writing import write_c3d
from poise.human.files.trc import write_trc
from poise.human.trial import Trial


def write_sample(folder: Path, walk: Trial, static: Trial) -> list[Path]:
    """Writes ``walk`` and ``static`` as C3D, with force plates and events, and as TRC; makes the folder if need be."""
    if folder.exists() and not folder.is_dir():
        raise PoiseError(f"'{folder}' is a file; give the name of a folder")
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for name, trial in (("walk", walk), ("static", static)):
        written.append(write_c3d(trial, folder / f"{name}.c3d"))
        write_trc(trial, folder / f"{name}.trc")
        written.append(folder / f"{name}.trc")
    return written
