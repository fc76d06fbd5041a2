"""The human of the library: a body of 42 degrees of freedom made from tables, stature, mass and sex.

>>> robot = poise.load_robot("human", height=1.68, mass=61.0, sex="female")
"""

from poise.robots.human.anthropometry import SEXES, BodyShape, Sex, Sided, shape_of
from poise.robots.human.human_model import foot_points, human_values, urdf_text
from poise.robots.human.landmarks import landmarks

__all__ = ["SEXES", "BodyShape", "Sex", "Sided", "foot_points", "human_values", "landmarks", "shape_of", "urdf_text"]
