"""Regulated: bodies on position servos whose ZMP is regulated by force cells ([Galdeano2014])."""

from poise.behaviors.regulated.courses import walking
from poise.behaviors.regulated.regulated import Regulated, regulation_of, standing
from poise.behaviors.regulated.regulator import Pressed, Regulator, error_of_zmp
from poise.behaviors.regulated.settings import RegulatedSettings
from poise.behaviors.regulated.watch import Watch

__all__ = [
    "Pressed",
    "Regulated",
    "RegulatedSettings",
    "Regulator",
    "Watch",
    "error_of_zmp",
    "regulation_of",
    "standing",
    "walking",
]
