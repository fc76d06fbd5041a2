"""Files of motion capture: C3D, TRC, MOT and STO, BVH.

>>> from poise import human
>>> trial = human.read_trial("walk.c3d")
>>> human.write_trc(trial, "walk.trc")
"""

from poise.human.files.bvh import read_bvh
from poise.human.files.bvh_motion import BvhMotion
from poise.human.files.motion import Motion, read_motion, write_motion
from poise.human.files.reading import read_trial
from poise.human.files.trc import write_trc

__all__ = ["BvhMotion", "Motion", "read_bvh", "read_motion", "read_trial", "write_motion", "write_trc"]
