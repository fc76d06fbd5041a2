"""Gait from a few tasks: a measured walk, reproduced by the hierarchy of [Boukheddimi2019] and by a better one.

>>> from poise import human
>>> from poise.human import gait
>>> fit = human.fit(trial, static)
>>> paper, best = gait.reproduce(fit), gait.reproduce(fit, variant=gait.BEST)
>>> print(gait.study([paper, best]))

[Boukheddimi2019] M. Boukheddimi, F. Bailly, P. Souères, B. Watier. *Human-like gait generation from a reduced set of
tasks using the hierarchical control framework from robotics.* ROBIO, 2019.
"""

from poise.human.gait.contact_schedule import Contacts, contacts
from poise.human.gait.key_postures import Key, keys
from poise.human.gait.population_study import Outcome, Study, study
from poise.human.gait.reference_walk import Reference
from poise.human.gait.reproduction import (
    BEST,
    EIGHT,
    FOUR_KEYS,
    PAPER,
    SIX_KEYS,
    TRACK,
    TWO_PHASES,
    VARIANTS,
    Reproduction,
    Variant,
    find_variant,
    hierarchy,
    reproduce,
)
from poise.human.gait.reproduction_quality import Measures, measured

__all__ = [
    "BEST",
    "EIGHT",
    "FOUR_KEYS",
    "PAPER",
    "SIX_KEYS",
    "TRACK",
    "TWO_PHASES",
    "VARIANTS",
    "Contacts",
    "Key",
    "Measures",
    "Outcome",
    "Reference",
    "Reproduction",
    "Study",
    "Variant",
    "contacts",
    "find_variant",
    "hierarchy",
    "keys",
    "measured",
    "reproduce",
    "study",
]
