"""Navigate: guided-point navigation."""

from poise.behaviors.navigate.navigate import Device, Done, Navigate
from poise.behaviors.navigate.settings import NavigateSettings

__all__ = ["Device", "Done", "Navigate", "NavigateSettings"]
