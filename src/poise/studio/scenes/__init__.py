"""Scenes of the studio, one file each.

A file in this folder that holds a subclass of `Scene` is a scene; nothing has to be registered.
"""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache

from poise.errors import UsageError
from poise.studio.scene_base import Act, Point, Scene

__all__ = ["Act", "Point", "Scene", "scene", "scenes"]


@cache
def scenes() -> tuple[type[Scene], ...]:
    """All of them, in the order of their tabs."""
    found = []
    for module in pkgutil.iter_modules(__path__):
        for value in vars(importlib.import_module(f"{__name__}.{module.name}")).values():
            if isinstance(value, type) and issubclass(value, Scene) and value.__module__.endswith(f".{module.name}"):
                found.append(value)
    concrete = [each for each in found if each is not Scene]
    return tuple(sorted(concrete, key=lambda each: (each.order, each.name)))


def scene(name: str) -> type[Scene]:
    """The scene of that name."""
    for each in scenes():
        if each.name == name:
            return each
    raise UsageError(f"there is no scene '{name}'; expected one of {', '.join(each.name for each in scenes())}")
