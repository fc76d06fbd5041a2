"""Motion-capture files: C3D, TRC, MOT and STO, BVH.

>>> from poise import human
>>> trial = human.read_trial("walk.c3d")
>>> human.write_trc(trial, "walk.trc")
"""

from poise.human.files.bvh_reader import BvhMotion, read_bvh
from poise.human.files.opensim_motion import OpenSimMotion, read_motion, write_motion
from poise.human.files.trc_files import write_trc
from poise.human.files.trial_reader import read_trial

__all__ = ["BvhMotion", "OpenSimMotion", "read_bvh", "read_motion", "read_trial", "write_motion", "write_trc"]
