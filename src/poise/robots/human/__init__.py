"""The human of the library: a body of 42 degrees of freedom made from tables, stature, mass and sex.

>>> robot = poise.load_robot("human", height=1.68, mass=61.0, sex="female")
"""

from poise.robots.human.describing import foot_points, human_values, urdf_text
from poise.robots.human.dumas import SEXES, Sex
from poise.robots.human.landmarks import landmarks
from poise.robots.human.shape import BodyShape, Sided, shape_of

__all__ = ["SEXES", "BodyShape", "Sex", "Sided", "foot_points", "human_values", "landmarks", "shape_of", "urdf_text"]
