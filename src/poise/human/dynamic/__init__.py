"""Gait with dynamics: a measured walk under torques and contact forces.

>>> from poise.human import dynamic, gait
>>> reference = gait.Reference.of(fit)
>>> found = dynamic.simulate(reference, reference.cycle())
>>> print(dynamic.dynamics_facts(found)["text"])
"""

from poise.human.dynamic.bearing import Bearing, bearing
from poise.human.dynamic.repeated import repeated
from poise.human.dynamic.simulation import Simulated, dynamics_facts, ground_forces, in_physics, simulate, with_torques
from poise.human.dynamic.treading import Treading

__all__ = [
    "Bearing",
    "Simulated",
    "Treading",
    "bearing",
    "dynamics_facts",
    "ground_forces",
    "in_physics",
    "repeated",
    "simulate",
    "with_torques",
]
