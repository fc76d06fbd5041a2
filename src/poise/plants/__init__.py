"""The only things that move: `IdealPlant`, which obeys exactly."""

from poise.plants.ideal import IdealPlant
from poise.plants.loop import Controller, Plant, steps

__all__ = ["Controller", "IdealPlant", "Plant", "steps"]
