"""Behaviors: a plan and the task hierarchies that follow it, for standing, squatting, walking, reaching, navigating.

A behavior is a hierarchy as a function of the state, and is given to a controller. The motions with the same names in
`poise.runs` are complete runs: robot, world, behavior, controller and plant, and how the recording is judged.
"""

from poise.behaviors.gait_tasks import TickClock, arm_collision_constraints, limb_joints
from poise.behaviors.navigate import Navigate, SegmentStart
from poise.behaviors.navigate_tasks import NavigateSettings
from poise.behaviors.reach import (
    REACH_TARGETS,
    Reach,
    ReachPhase,
    ReachSettings,
    TargetChoice,
    default_targets,
    load_reach_points,
    one_foot_stance,
)
from poise.behaviors.stand import (
    LiveSquat,
    Squat,
    SquatSettings,
    Stand,
    UprightSettings,
    center_above_support,
    upright_hierarchy,
)
from poise.behaviors.walk import Walk
from poise.behaviors.walk_tasks import WalkSettings, gait_speed
from poise.behaviors.zmp_balance import ZmpBalance, regulation_settings, standing_reference, walking_pattern
from poise.behaviors.zmp_regulation import SoleLoad, ZmpBalanceSettings, zmp_error

__all__ = [
    "REACH_TARGETS",
    "LiveSquat",
    "Navigate",
    "NavigateSettings",
    "Reach",
    "ReachPhase",
    "ReachSettings",
    "SegmentStart",
    "SoleLoad",
    "Squat",
    "SquatSettings",
    "Stand",
    "TargetChoice",
    "TickClock",
    "UprightSettings",
    "Walk",
    "WalkSettings",
    "ZmpBalance",
    "ZmpBalanceSettings",
    "arm_collision_constraints",
    "center_above_support",
    "default_targets",
    "gait_speed",
    "limb_joints",
    "load_reach_points",
    "one_foot_stance",
    "regulation_settings",
    "standing_reference",
    "upright_hierarchy",
    "walking_pattern",
    "zmp_error",
]
