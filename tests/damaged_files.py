"""Ways to damage a cached file, independent of its content."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import numpy as np

from poise.cache import save_arrays


def _truncate(file: Path) -> None:
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])


def _fill_with_garbage(file: Path) -> None:
    file.write_bytes(os.urandom(5000))


def _make_empty(file: Path) -> None:
    file.write_bytes(b"")


def _replace_by_folder(file: Path) -> None:
    file.unlink()
    file.mkdir()


def _replace_arrays(file: Path) -> None:
    save_arrays(file.stem, {"other arrays": np.zeros(3)})


DAMAGES: dict[str, Callable[[Path], None]] = {
    "cut": _truncate,
    "garbage": _fill_with_garbage,
    "empty": _make_empty,
    "folder": _replace_by_folder,
    "other arrays": _replace_arrays,
}
