"""What recordings tell when they are looked at closely: phases, cycles, smoothness, tracks, walks, one scale for all.

>>> from poise import analysis
>>> analysis.spectral_arc_length(tracks.velocity(robot.hand("right")), recording.period)
>>> analysis.normalised(recording)["center_of_mass"]
>>> analysis.style_measures(analysis.walked(recording, robot)).arm_swing
"""

from poise.analysis.cycles import Cycles, cycles
from poise.analysis.footprints import Footprint
from poise.analysis.measures import MEASURES, Measure, StyleMeasures
from poise.analysis.normalising import Normalised, aligned, normalised
from poise.analysis.periodicity import Rhythm, cycle_difference, joint_angles, rhythm
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
from poise.analysis.steps import Step
from poise.analysis.style_measures import style_measures
from poise.analysis.supports import supports
from poise.analysis.tracks import Tracks, tracked
from poise.analysis.walking import Speed, Walked, walked
from poise.robots.limbs import Limb, limbs

__all__ = [
    "MEASURES",
    "Cycles",
    "Footprint",
    "Limb",
    "Measure",
    "Normalised",
    "Peak",
    "Phase",
    "Rhythm",
    "Speed",
    "Step",
    "StyleMeasures",
    "Tracks",
    "Walked",
    "aligned",
    "cycle_difference",
    "cycles",
    "joint_angles",
    "limbs",
    "log_dimensionless_jerk",
    "normalised",
    "peak",
    "peak_rate",
    "phases",
    "rhythm",
    "root_mean_square",
    "root_mean_square_rate",
    "spectral_arc_length",
    "style_measures",
    "supports",
    "torque_arc_length",
    "tracked",
    "walked",
]
