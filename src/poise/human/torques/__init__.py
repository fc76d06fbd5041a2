"""Torques of people: inverse dynamics from markers and force plates, and the comparison with robots ([Saab2012]).

>>> torques = compute_torques(fit(read_trial("walk.c3d"), read_trial("static.c3d")))
>>> moments(torques)["left ankle plantarflexor"], torques.residual_rms, torques.notes
"""

from poise.human.torques.joint_moments import against_stored, compare_walks, human_strides, moments
from poise.human.torques.joint_torques import Torques, compute_torques, mass_from_plates
from poise.human.torques.plate_forces import Ground, Interval

__all__ = [
    "Ground",
    "Interval",
    "Torques",
    "against_stored",
    "compare_walks",
    "compute_torques",
    "human_strides",
    "mass_from_plates",
    "moments",
]
