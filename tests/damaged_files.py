"""Ways in which a kept file is damaged, whatever it holds."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import numpy as np

from poise.cache import store


def _cut(file: Path) -> None:
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])


def _garbage(file: Path) -> None:
    file.write_bytes(os.urandom(5000))


def _empty(file: Path) -> None:
    file.write_bytes(b"")


def _folder(file: Path) -> None:
    file.unlink()
    file.mkdir()


def _others(file: Path) -> None:
    store(file.stem, {"other arrays": np.zeros(3)})


DAMAGES: dict[str, Callable[[Path], None]] = {
    "cut": _cut,
    "garbage": _garbage,
    "empty": _empty,
    "folder": _folder,
    "other arrays": _others,
}
