"""Choice of the native modules that fit the processor.

A wheel for x86-64 holds every native module in three variants: ``baseline`` (any processor), ``avx2`` (AVX2 and FMA,
most processors since 2013) and ``avx512``. The fastest one that the processor supports is imported. The environment
variable ``POISE_CPU`` names another one. Other wheels hold ``baseline`` alone, and an editable install one variant
``native``, compiled for the processor of the machine that builds it.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from functools import cache
from importlib import import_module

from poise.errors import PoiseError

#: Environment variable that names the variant to import.
VARIABLE = "POISE_CPU"


@cache
def variant() -> str:
    """Name of the variant that this process imports; empty if the native modules are not built.

    Raises:
        PoiseError: ``POISE_CPU`` names a variant that this installation lacks or that the processor does not support.
    """
    try:
        cpu = import_module("poise._cpu")
    except ImportError:  # not built, or built before there were variants
        return ""
    return choose(os.environ.get(VARIABLE, ""), cpu.built, cpu.supported)


def choose(requested: str, available: tuple[str, ...], supported: tuple[str, ...]) -> str:
    """The variant to import.

    Args:
        requested: its name; empty: the fastest that can run.
        available: variants of this installation.
        supported: variants that the processor supports, slowest first.
    """
    usable = [name for name in available if name == "native" or name in supported]
    if not requested:
        return usable[-1]
    if requested in usable:
        return requested
    if requested in available:
        raise PoiseError(
            f"{VARIABLE} is '{requested}', which this processor does not support; expected {_either(usable)}"
        )
    raise PoiseError(f"{VARIABLE} is '{requested}'; this installation of poise has {_either(usable)}")


def variant_path(path: Iterable[str]) -> list[str]:
    """Search path of a package with native modules: the folder of the chosen variant first.

    Args:
        path: the package's ``__path__``.
    """
    folders, name = list(path), variant()
    if name in ("", "baseline", "native"):  # these are in the package itself
        return folders
    return [*(os.path.join(folder, f"_{name}") for folder in folders), *folders]


def _either(names: list[str]) -> str:
    return " or ".join(f"'{name}'" for name in names)
