"""Read a trial from any supported file: C3D, TRC or BVH, detected from the content, then from the file extension."""

from __future__ import annotations

from pathlib import Path

from poise.human.files.c3d_layout import C3D_KEY
from poise.human.files.c3d_reader import read_c3d
from poise.human.files.file_conventions import check_up_axis
from poise.human.files.trc_files import read_trc
from poise.human.trial import Trial, trial_error

#: Largest file size (bytes): half an hour of 60 markers at 200 Hz with plates. In memory it takes three times as much.
MAX_FILE_BYTES = 1 << 30
#: Files with joint coordinates instead of markers, and the function that reads them.
MOTION_READERS = {".mot": "read_motion", ".sto": "read_motion"}


def read_trial(path: str | Path, *, up: str | None = None, forces: str | Path | None = None) -> Trial:
    """Read a trial from a C3D, TRC or BVH file, in m with z up.

    C3D and TRC files are recognised by their content, else the format follows from the file extension. A BVH file gives
    the joint centres of its skeleton as markers.

    Args:
        path: the file.
        up: the vertical axis of the file, ``"x"``, ``"y"``, ``"z"`` or one of these with a minus. None: detected from
            the markers of pelvis, feet and head, else the usual axis of the format; a note says which.
        forces: MOT or STO file with the ground forces of the trial, instead of plates in the file. None: for TRC files
            the file beside it that is named like it and has force columns, if there is exactly one; a note says so.

    >>> trial = read_trial("walk.c3d")
    >>> trial.rate, len(trial.labels), trial.notes[-1]
    (100.0, 35, 'z is up in the file, from the positions of pelvis, feet and head.')
    """
    from poise.human.files.ground_forces import add_ground_forces, find_ground_forces  # imports this module

    path = Path(path)
    trial = _read_markers(path, up)
    if forces is not None:
        return add_ground_forces(trial.replace(plates=()), forces)
    if trial.plates or path.suffix.lower() != ".trc":
        return trial
    beside = find_ground_forces(path)
    if len(beside) == 1:
        return add_ground_forces(trial, beside[0])
    if beside:
        names = ", ".join(file.name for file in beside)
        note = f"Ground forces left out: {names} are all named like the trial; choose one with --forces."
        return trial.replace(notes=(*trial.notes, note))
    return trial


def _read_markers(path: Path, up: str | None) -> Trial:
    """Read a trial from one file."""
    if up is not None:
        check_up_axis(up, path)
    start = read_file_head(path)
    if start[1:2] == bytes([C3D_KEY]) and not start.lstrip().lower().startswith(b"path"):
        return read_c3d(path, up)
    if b"pathfiletype" in start.lower() or path.suffix.lower() == ".trc":
        return read_trc(path, up)
    if path.suffix.lower() == ".c3d":
        return read_c3d(path, up)
    if path.suffix.lower() == ".bvh":
        from poise.human.files.bvh_reader import read_skeleton  # imported here because it imports this module

        return read_skeleton(path, up)
    if path.suffix.lower() in MOTION_READERS:
        raise trial_error(
            path,
            "has joint coordinates, not markers; give a C3D, TRC or BVH file "
            f"(in Python {MOTION_READERS[path.suffix.lower()]} reads it)",
        )
    raise trial_error(path, "not a C3D, TRC or BVH file; expected one of these")


def read_file_head(path: Path) -> bytes:
    """Return the first bytes of a file; raises a `TrialError` if it cannot be read or is too large."""
    try:
        if not path.is_file():
            raise trial_error(path, "no such file" if not path.exists() else "not a file")
        size = path.stat().st_size
        if size > MAX_FILE_BYTES:
            raise trial_error(path, f"{size / 1e9:.1f} GB; expected at most {MAX_FILE_BYTES / 1e9:.1f} GB")
        if size == 0:
            raise trial_error(path, "is empty; expected a motion-capture file")
        with path.open("rb") as stream:
            return stream.read(4096)
    except OSError as error:
        raise trial_error(path, f"cannot be read: {error.strerror or error}") from None
