"""Walk: steps in physics, with a style."""

from poise.behaviors.walk.levels import WEIGHTS
from poise.behaviors.walk.settings import WalkSettings
from poise.behaviors.walk.walk import Walk

__all__ = ["WEIGHTS", "Walk", "WalkSettings"]
