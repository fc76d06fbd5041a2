"""Things that took long to make, kept on disk for the next time; a cache that is damaged or not writable is ignored."""

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
    """``$POISE_CACHE``; else ``poise`` in the user's cache folder, ``$XDG_CACHE_HOME`` or ``~/.cache``."""
    if override := os.environ.get("POISE_CACHE"):
        return Path(override)
    # A relative XDG_CACHE_HOME is to be ignored, as its specification says.
    user_cache = Path(os.environ.get("XDG_CACHE_HOME", ""))
    try:
        return (user_cache if user_cache.is_absolute() else Path.home() / ".cache") / "poise"
    except RuntimeError:  # a user without a home
        return Path(os.devnull)


def load_arrays(name: str) -> Arrays | None:
    """The arrays of this name; None if there are none, or none that can be read."""
    try:
        with np.load(cache_folder() / f"{name}.npz", allow_pickle=False) as file:
            return {key: file[key] for key in file.files}
    except Exception:  # whatever a damaged file makes its reader say: it is made anew
        return None


def save_arrays(name: str, arrays: Mapping[str, NDArray[Any]]) -> None:
    """Keeps arrays under a name, whole or not at all; where nothing can be written, nothing is kept."""
    folder = cache_folder()
    with contextlib.suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)
        with atomic_write(folder / f"{name}.npz", durable=False) as temporary_path, open(temporary_path, "wb") as file:
            np.savez(file, allow_pickle=False, **arrays)
