"""Gait from a reduced set of tasks: a measured walk, reproduced by the hierarchy of [Boukheddimi2019] and variants.

>>> from poise import human
>>> from poise.human import gait
>>> fit = human.fit(trial, static)
>>> paper, best = gait.reproduce(fit), gait.reproduce(fit, variant=gait.BEST)
>>> print(gait.compare_variants([paper, best]))

[Boukheddimi2019] M. Boukheddimi, F. Bailly, P. Souères, B. Watier. *Human-like gait generation from a reduced set of
tasks using the hierarchical control framework from robotics.* ROBIO, 2019.
"""

from poise.human.gait.contact_schedule import SupportTrajectory, support_trajectory
from poise.human.gait.key_postures import KeyPosture, find_key_postures
from poise.human.gait.reference_walk import ReferenceWalk
from poise.human.gait.reproduction import (
    BEST,
    BEST_EIGHT_KEYS,
    FOUR_KEYS,
    PAPER,
    SIX_KEYS,
    TRACK,
    TWO_PHASES,
    VARIANTS,
    Reproduction,
    Variant,
    find_variant,
    gait_hierarchy,
    reproduce,
)
from poise.human.gait.reproduction_quality import ReproductionQuality, measure_reproduction
from poise.human.gait.variant_comparison import VariantComparison, VariantResult, compare_variants

__all__ = [
    "BEST",
    "BEST_EIGHT_KEYS",
    "FOUR_KEYS",
    "PAPER",
    "SIX_KEYS",
    "TRACK",
    "TWO_PHASES",
    "VARIANTS",
    "KeyPosture",
    "ReferenceWalk",
    "Reproduction",
    "ReproductionQuality",
    "SupportTrajectory",
    "Variant",
    "VariantComparison",
    "VariantResult",
    "compare_variants",
    "find_key_postures",
    "find_variant",
    "gait_hierarchy",
    "measure_reproduction",
    "reproduce",
    "support_trajectory",
]
