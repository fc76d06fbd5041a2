"""Torques of people: inverse dynamics from markers and force plates, and the comparison with robots ([Saab2012]).

>>> torques = inverse_dynamics(fit(read_trial("walk.c3d"), read_trial("static.c3d")))
>>> moments(torques)["left ankle plantarflexor"], torques.residual_rms, torques.notes
"""

from poise.human.torques.comparing import compare_walks, human_strides
from poise.human.torques.ground import Ground, Interval
from poise.human.torques.inverse import Torques, inverse_dynamics
from poise.human.torques.mass import mass_from_plates
from poise.human.torques.moments import against_stored, moments
from poise.human.torques.recording import recorded

__all__ = [
    "Ground",
    "Interval",
    "Torques",
    "against_stored",
    "compare_walks",
    "human_strides",
    "inverse_dynamics",
    "mass_from_plates",
    "moments",
    "recorded",
]
