"""Robots: frozen descriptions of bodies, with handles to the parts that tasks speak of.

>>> robot = poise.load_robot("g1")
>>> robot.foot("left").sole, robot.hand("right").name, robot.limits.velocity
>>> robot.stance("standing").center_of_mass

The library holds one data file per robot (`poise.robots.library`); any other URDF is loaded by its path, with its feet,
hands and stances declared as `poise.robots.description` says.
"""

from poise.robots.catalogue import library_names, listing, table
from poise.robots.limits import Limits
from poise.robots.loading import load_robot
from poise.robots.parts import Foot, Frame, Gaze, Hand, Joint, Side, Sole
from poise.robots.robot import Robot
from poise.robots.state import State

__all__ = [
    "Foot",
    "Frame",
    "Gaze",
    "Hand",
    "Joint",
    "Limits",
    "Robot",
    "Side",
    "Sole",
    "State",
    "library_names",
    "listing",
    "load_robot",
    "table",
]
