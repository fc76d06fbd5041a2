"""People: marker files, marker sets, and what follows from them.

>>> from poise import human
>>> trial = human.filled(human.read_trial("walk.c3d"))
>>> human.match(trial).marker_set.name
'plug_in_gait'
>>> found = human.fit(trial, human.read_trial("static.c3d"))
>>> found.rms, found.robot, found.angles()["left_knee_flexion"]

What follows from a fit: `poise.human.gait`, `poise.human.dynamic`, `poise.human.torques`; without a laboratory:
`poise.human.sample`.
"""

from poise.human.cleaning import filled, smoothed
from poise.human.errors import TrialError
from poise.human.files import (
    BvhMotion,
    Motion,
    read_bvh,
    read_motion,
    read_trial,
    write_motion,
    write_trc,
)
from poise.human.fitting import Fit, fit
from poise.human.markers import Marker, MarkerSet, Matched, load_marker_set, marker_sets, match
from poise.human.trial import Event, Plate, Subject, Trial

__all__ = [
    "BvhMotion",
    "Event",
    "Fit",
    "Marker",
    "MarkerSet",
    "Matched",
    "Motion",
    "Plate",
    "Subject",
    "Trial",
    "TrialError",
    "filled",
    "fit",
    "load_marker_set",
    "marker_sets",
    "match",
    "read_bvh",
    "read_motion",
    "read_trial",
    "smoothed",
    "write_motion",
    "write_trc",
]
