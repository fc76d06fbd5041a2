"""Motions on their way out: to real robots, to animators, to other people's screens. And back: a trajectory replayed.

>>> from poise import exports
>>> exports.save(recording, "walk.csv", rate=100.0)
>>> exports.trajectory("walk.csv").joints

One module per format, named in `FORMATS`; `trajectory` reads tables and arrays back, and `replayed` lets a simulated
robot with position servos follow one, without anybody watching its balance.
"""

from poise.exports.errors import ExportError
from poise.exports.formats import FORMATS, Format, format_of, save
from poise.exports.reading import trajectory
from poise.exports.replay import replayed
from poise.exports.trajectory import Trajectory

__all__ = ["FORMATS", "ExportError", "Format", "Trajectory", "format_of", "replayed", "save", "trajectory"]
