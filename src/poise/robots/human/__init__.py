"""Human model with 42 degrees of freedom, generated from anthropometric tables for a stature, mass and sex.

>>> robot = poise.load_robot("human", height=1.68, mass=61.0, sex="female")
"""

from poise.robots.human.anthropometry import SEXES, BodyShape, LeftRight, Sex, body_shape
from poise.robots.human.human_model import foot_points, human_description, urdf_text
from poise.robots.human.landmarks import landmarks

__all__ = [
    "SEXES",
    "BodyShape",
    "LeftRight",
    "Sex",
    "body_shape",
    "foot_points",
    "human_description",
    "landmarks",
    "urdf_text",
]
