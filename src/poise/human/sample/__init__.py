"""A walk without a laboratory: norm curves on a body of any stature, with markers, noise and ground forces.

>>> walk, static = sample_trial(height=1.68, mass=61.0, sex="female")
>>> time, q = sample_motion(robot)  # the same without markers: coordinates that are exactly known
"""

from poise.human.sample.motion import PeriodicMotion
from poise.human.sample.trial import sample_motion, sample_trial
from poise.human.sample.walk import sample_walk

__all__ = ["PeriodicMotion", "sample_motion", "sample_trial", "sample_walk"]
