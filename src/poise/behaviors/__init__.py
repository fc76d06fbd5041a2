"""Things a body does: plan and tasks together."""

from poise.behaviors.navigate import Navigate, NavigateSettings
from poise.behaviors.one_foot import one_foot_stance
from poise.behaviors.reach import Phase, Reach, ReachSettings
from poise.behaviors.regulated import Regulated, RegulatedSettings, regulation_of
from poise.behaviors.stand import Squat, SquatSettings, Stand
from poise.behaviors.upright import UprightSettings, leg_length, upright
from poise.behaviors.walk import Walk, WalkSettings

__all__ = [
    "Navigate",
    "NavigateSettings",
    "Phase",
    "Reach",
    "ReachSettings",
    "Regulated",
    "RegulatedSettings",
    "Squat",
    "SquatSettings",
    "Stand",
    "UprightSettings",
    "Walk",
    "WalkSettings",
    "leg_length",
    "one_foot_stance",
    "regulation_of",
    "upright",
]
