"""Motions on their way out: to real robots, to animators, to other people's screens. And back: a trajectory replayed.

>>> from poise import exports
>>> exports.save(recording, "walk.csv", rate=100.0)
>>> exports.trajectory("walk.csv").joints

One module per format, named in `FORMATS`; `trajectory` reads tables and arrays back, and `replayed` lets a simulated
robot with position servos follow one, without anybody watching its balance.
"""

from poise.exports.formats import FORMATS, Format, checked_path, format_of, save
from poise.exports.joint_trajectory import ExportError, Trajectory
from poise.exports.replay import REST, SETTLE, replayed
from poise.exports.trajectory_files import trajectory

__all__ = [
    "FORMATS",
    "REST",
    "SETTLE",
    "ExportError",
    "Format",
    "Trajectory",
    "checked_path",
    "format_of",
    "replayed",
    "save",
    "trajectory",
]
