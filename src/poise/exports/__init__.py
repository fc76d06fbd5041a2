"""Export of recordings to files for real robots, animation software and browsers, and open-loop replay of trajectories.

>>> from poise import exports
>>> exports.save(recording, "walk.csv", rate=100.0)
>>> exports.read_trajectory("walk.csv").joints

`FORMATS` lists the file formats. `read_trajectory` reads CSV and NPZ files back, and `replay_trajectory` plays a joint
trajectory on a simulated robot with position servos, without balance feedback.
"""

from poise.exports.formats import FORMATS, ExportFormat, checked_path, format_of, save
from poise.exports.joint_trajectory import ExportError, Trajectory, read_trajectory
from poise.exports.replay import LEAD_IN, LEAD_OUT, replay_trajectory

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
