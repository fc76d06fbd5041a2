"""What recordings tell when they are looked at closely: phases, smoothness, tracks, one scale for several motions.

>>> from poise import analysis
>>> analysis.spectral_arc_length(tracks.velocity(robot.hand("right")), recording.period)
>>> analysis.normalised(recording)["center_of_mass"]
"""

from poise.analysis.limbs import Limb, limbs
from poise.analysis.normalising import Normalised, aligned, normalised
from poise.analysis.phases import Phase, phases
from poise.analysis.smoothness import (
    Peak,
    log_dimensionless_jerk,
    peak,
    peak_rate,
    root_mean_square,
    root_mean_square_rate,
    spectral_arc_length,
    torque_arc_length,
)
from poise.analysis.tracks import Tracks, tracked

__all__ = [
    "Limb",
    "Normalised",
    "Peak",
    "Phase",
    "Tracks",
    "aligned",
    "limbs",
    "log_dimensionless_jerk",
    "normalised",
    "peak",
    "peak_rate",
    "phases",
    "root_mean_square",
    "root_mean_square_rate",
    "spectral_arc_length",
    "torque_arc_length",
    "tracked",
]
