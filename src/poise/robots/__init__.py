"""Robots: frozen descriptions of bodies, with handles to the parts that tasks speak of.

>>> robot = poise.load_robot("g1")
>>> robot.foot("left").sole, robot.hand("right").name, robot.limits.velocity
>>> robot.stance("standing").center_of_mass

The library holds one data file per robot (`poise.robots.library`); any other URDF is loaded by its path, with its feet,
hands and stances declared as `poise.robots.description` says.
"""

from poise.robots.catalogue import library_names, listing, table, takes_angles
from poise.robots.collision_capsules import Capsule, capsules
from poise.robots.description import is_pattern, named
from poise.robots.human import anthropometry
from poise.robots.human.anthropometry import SEXES, STATURE, BodyShape
from poise.robots.human.human_model import foot_points
from poise.robots.human.landmarks import landmarks
from poise.robots.human.skeleton import joints
from poise.robots.loading import described, load_robot
from poise.robots.parts import SIDES, Foot, Frame, Gaze, Hand, Joint, Limits, Side, Sole, other_side, side_sign
from poise.robots.robot import GRAVITY, Limb, Robot, State, hip_height, leg_length, leg_strength, limbs
from poise.robots.urdf import vertices

__all__ = [
    "GRAVITY",
    "SEXES",
    "SIDES",
    "STATURE",
    "BodyShape",
    "Capsule",
    "Foot",
    "Frame",
    "Gaze",
    "Hand",
    "Joint",
    "Limb",
    "Limits",
    "Robot",
    "Side",
    "Sole",
    "State",
    "anthropometry",
    "capsules",
    "described",
    "foot_points",
    "hip_height",
    "is_pattern",
    "joints",
    "landmarks",
    "leg_length",
    "leg_strength",
    "library_names",
    "limbs",
    "listing",
    "load_robot",
    "named",
    "other_side",
    "side_sign",
    "table",
    "takes_angles",
    "vertices",
]
