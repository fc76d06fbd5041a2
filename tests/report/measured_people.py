"""Subjects for the tests of reports: sample walks with fits, reproductions and torques, each computed once."""

from __future__ import annotations

from functools import cache

from poise.human import Fit, Torques, compute_torques, fit, gait, sample_trial

#: Height (m), mass (kg), sex.
PEOPLE = ((1.70, 64.0, "female"), (1.84, 80.0, "male"))
VARIANTS = (gait.PAPER, gait.TWO_PHASES, gait.BEST, gait.FOUR_KEYS)


@cache
def person(which: int = 0) -> Fit:
    height, mass, sex = PEOPLE[which]
    walk, static = sample_trial(height, mass, sex, cycles=2, seed=which)
    return fit(walk, static)


@cache
def standing_person() -> Fit:
    """Return the fit of a subject who does not walk."""
    _, static = sample_trial(*PEOPLE[0], cycles=1)
    return fit(static)


@cache
def gait_study(people: int = 2) -> gait.VariantComparison:
    runs = [gait.reproduce(person(k), variant=each) for k in range(people) for each in VARIANTS]
    return gait.compare_variants(runs)


@cache
def torques() -> Torques:
    return compute_torques(person(0))
