"""The order: `Level`, `Hierarchy`, and `Behavior`, a hierarchy that depends on what is the case."""

from poise.hierarchy.level import Behavior, Hierarchy, Level

__all__ = ["Behavior", "Hierarchy", "Level"]
