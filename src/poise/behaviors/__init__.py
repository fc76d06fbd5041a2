"""Things a body does: plan and tasks together."""

from poise.behaviors.navigate import Done, Navigate
from poise.behaviors.navigate_tasks import NavigateSettings
from poise.behaviors.reach import Phase, Reach, ReachSettings, one_foot_stance
from poise.behaviors.stand import LiveSquat, Squat, SquatSettings, Stand, UprightSettings, above_support, upright
from poise.behaviors.walk import Walk
from poise.behaviors.walk_tasks import WalkSettings, speed_of
from poise.behaviors.zmp_balance import Regulated, regulation_of, standing, walking
from poise.behaviors.zmp_regulation import Pressed, RegulatedSettings, error_of_zmp

__all__ = [
    "Done",
    "LiveSquat",
    "Navigate",
    "NavigateSettings",
    "Phase",
    "Pressed",
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
    "above_support",
    "error_of_zmp",
    "one_foot_stance",
    "regulation_of",
    "speed_of",
    "standing",
    "upright",
    "walking",
]
