"""Motions on their way out: to real robots, to animators, to other people's screens. And back: a trajectory replayed.

>>> from poise import exports
>>> exports.save(recording, "walk.csv", rate=100.0)
>>> exports.read_trajectory("walk.csv").joints

One module per format, named in `FORMATS`; `read_trajectory` reads tables and arrays back, and
`replay_trajectory` lets a simulated robot with position servos follow one, without balance feedback.
"""

from poise.exports.formats import FORMATS, ExportFormat, checked_path, format_of, save
from poise.exports.joint_trajectory import ExportError, Trajectory
from poise.exports.replay import LEAD_IN, LEAD_OUT, replay_trajectory
from poise.exports.trajectory_files import read_trajectory

__all__ = [
    "FORMATS",
    "LEAD_IN",
    "LEAD_OUT",
    "ExportError",
    "ExportFormat",
    "Trajectory",
    "checked_path",
    "format_of",
    "read_trajectory",
    "replay_trajectory",
    "save",
]
