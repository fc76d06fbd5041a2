"""Scenes of the studio, one file each.

Every subclass of `Scene` defined in a module of this package is a scene; no registration is needed.
"""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache

from poise.errors import UsageError
from poise.studio.scene_base import ControlledPlant, Point, Scene

__all__ = ["ControlledPlant", "Point", "Scene", "all_scenes", "find_scene"]


@cache
def all_scenes() -> tuple[type[Scene], ...]:
    """Return all scene classes in the order of their tabs."""
    scene_classes = []
    for module in pkgutil.iter_modules(__path__):
        for value in vars(importlib.import_module(f"{__name__}.{module.name}")).values():
            if isinstance(value, type) and issubclass(value, Scene) and value.__module__.endswith(f".{module.name}"):
                scene_classes.append(value)
    concrete = [scene_class for scene_class in scene_classes if scene_class is not Scene]
    return tuple(sorted(concrete, key=lambda scene_class: (scene_class.tab_order, scene_class.name)))


def find_scene(name: str) -> type[Scene]:
    """Return the scene class of a name; raise UsageError if there is none."""
    for scene_class in all_scenes():
        if scene_class.name == name:
            return scene_class
    raise UsageError(
        f"unknown scene '{name}'; expected one of {', '.join(scene_class.name for scene_class in all_scenes())}"
    )
