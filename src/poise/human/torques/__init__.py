"""Joint torques of people: inverse dynamics from markers and force plates, and comparison with robots ([Saab2012]).

>>> torques = compute_torques(fit(read_trial("walk.c3d"), read_trial("static.c3d")))
>>> internal_joint_moments(torques)["left ankle plantarflexor"], torques.residual_rms, torques.notes
"""

from poise.human.torques.estimated_forces import ESTIMATE_NOTE, estimate_foot_wrenches
from poise.human.torques.joint_moments import (
    compare_stored_moments,
    compare_walks,
    human_anatomical_walk,
    internal_joint_moments,
)
from poise.human.torques.joint_torques import Torques, compute_torques, mass_from_plates
from poise.human.torques.plate_forces import FootWrenches, PlateContact

__all__ = [
    "ESTIMATE_NOTE",
    "FootWrenches",
    "PlateContact",
    "Torques",
    "compare_stored_moments",
    "compare_walks",
    "compute_torques",
    "estimate_foot_wrenches",
    "human_anatomical_walk",
    "internal_joint_moments",
    "mass_from_plates",
]
