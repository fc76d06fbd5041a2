"""On-disk cache of arrays that are slow to compute; a cache that is damaged or not writable is ignored."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from poise.files import atomic_write

Arrays = dict[str, NDArray[Any]]


def cache_folder() -> Path:
    """Return the cache folder: ``$POISE_CACHE``, or ``poise`` in ``$XDG_CACHE_HOME`` or else in ``~/.cache``.

    It need not exist. For a user without a home folder it is the null device, which stores nothing.
    """
    if override := os.environ.get("POISE_CACHE"):
        return Path(override)
    # The XDG specification says that a relative XDG_CACHE_HOME is ignored.
    user_cache = Path(os.environ.get("XDG_CACHE_HOME", ""))
    try:
        return (user_cache if user_cache.is_absolute() else Path.home() / ".cache") / "poise"
    except RuntimeError:  # the user has no home folder
        return Path(os.devnull)


def load_arrays(name: str) -> Arrays | None:
    """Return the arrays that were saved under a name; None if there are none or the file cannot be read."""
    try:
        with np.load(cache_folder() / f"{name}.npz", allow_pickle=False) as file:
            return {key: file[key] for key in file.files}
    except Exception:  # a damaged file can raise almost anything; the caller computes the arrays again
        return None


def save_arrays(name: str, arrays: Mapping[str, NDArray[Any]]) -> None:
    """Save arrays under a name, atomically. If the file cannot be written, nothing is saved and no error is raised."""
    folder = cache_folder()
    with contextlib.suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)
        with atomic_write(folder / f"{name}.npz", durable=False) as temporary_path, open(temporary_path, "wb") as file:
            np.savez(file, allow_pickle=False, **arrays)
