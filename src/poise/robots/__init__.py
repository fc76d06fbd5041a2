"""Robot models: loading, states, parts (feet, hands, joints, frames) and joint limits.

>>> robot = poise.load_robot("g1")
>>> robot.foot("left").sole, robot.hand("right").name, robot.limits.velocity
>>> robot.stance("standing").center_of_mass

The library has one data file per robot (`poise.robots.library`). Any other URDF is loaded by its path; its feet, hands
and stances are declared as described in `poise.robots.description`.
"""

from poise.robots.catalogue import format_listing, has_position_servos, library_names, listing
from poise.robots.collision_capsules import Capsule, capsules
from poise.robots.description import has_side_placeholder, with_side
from poise.robots.human import anthropometry
from poise.robots.human.anthropometry import MEAN_STATURE, SEXES, BodyShape
from poise.robots.human.human_model import foot_points
from poise.robots.human.landmarks import landmarks
from poise.robots.human.skeleton import human_joints
from poise.robots.loading import describe_robot, load_robot
from poise.robots.parts import (
    SIDES,
    Foot,
    Frame,
    GazeFrame,
    Hand,
    Joint,
    JointLimits,
    Side,
    Sole,
    contact_points,
    other_side,
    side_sign,
)
from poise.robots.robot import (
    GRAVITY,
    Limb,
    Robot,
    State,
    ankle_position,
    ankle_range,
    check_robot,
    hip_height,
    hip_offset,
    knee_joint,
    leg_length,
    leg_strength,
    limbs,
    swing_limits,
)
from poise.robots.urdf import shape_vertices

__all__ = [
    "GRAVITY",
    "MEAN_STATURE",
    "SEXES",
    "SIDES",
    "BodyShape",
    "Capsule",
    "Foot",
    "Frame",
    "GazeFrame",
    "Hand",
    "Joint",
    "JointLimits",
    "Limb",
    "Robot",
    "Side",
    "Sole",
    "State",
    "ankle_position",
    "ankle_range",
    "anthropometry",
    "capsules",
    "check_robot",
    "contact_points",
    "describe_robot",
    "foot_points",
    "format_listing",
    "has_position_servos",
    "has_side_placeholder",
    "hip_height",
    "hip_offset",
    "human_joints",
    "knee_joint",
    "landmarks",
    "leg_length",
    "leg_strength",
    "library_names",
    "limbs",
    "listing",
    "load_robot",
    "other_side",
    "shape_vertices",
    "side_sign",
    "swing_limits",
    "with_side",
]
