"""Study: the reproductions of several people in one table, as in [Boukheddimi2019], and with tests that can tell."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from poise.analysis.equivalence import BOUND, REMARK, PairedTest, paired_tests
from poise.analysis.gait_error import GaitError
from poise.analysis.gait_events import RULE
from poise.analysis.rotations import JOINTS, Spread, over_people
from poise.human.gait.measures import Measures, measured
from poise.human.gait.reproduction import Reproduction
from poise.human.gait.variants import Variant

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Outcome:
    """One variant over all people: p measures.

    Attributes:
        variant: which.
        measures: one for each person.
        ranges, reference_ranges: ranges of motion of the twelve rotations, p x 12, degrees.
        tests: of their differences, one for each rotation.
        curves, reference_curves: mean and deviation over the people, from right strike to right strike, 101 x 12,
            degrees; figures 4 to 7 of the paper are four of them.
    """

    variant: Variant
    measures: tuple[Measures, ...]
    ranges: Array
    reference_ranges: Array
    tests: tuple[PairedTest, ...]
    curves: Spread
    reference_curves: Spread

    @property
    def differences(self) -> Array:
        """Ranges of motion, simulated less measured, p x 12, degrees."""
        return self.ranges - self.reference_ranges

    @property
    def mean_difference(self) -> float:
        """Mean of their sizes, degrees."""
        return float(np.abs(self.differences).mean())

    @property
    def worst(self) -> tuple[float, str, str]:
        """The largest difference (degrees), its joint, and whose it is."""
        person, joint = np.unravel_index(int(np.abs(self.differences).argmax()), self.differences.shape)
        whose = self.measures[int(person)].reproduction.reference.name
        return float(self.differences[person, joint]), JOINTS[int(joint)], whose

    @property
    def beyond(self) -> int:
        """How many of the differences are larger than the bound of 5 degrees."""
        return int(np.sum(np.abs(self.differences) > BOUND))

    @property
    def equivalent(self) -> int:
        """How many of the twelve rotations are shown to be equivalent."""
        return sum(test.verdict == "equivalent" for test in self.tests)

    @property
    def error(self) -> float:
        """Root mean square error over the cycle, mean of all rotations and people, degrees."""
        return float(np.mean([each.errors for each in self.measures]))

    def mean(self, name: str) -> float:
        """Mean over the people of one of the numbers of `Measures`, such as ``"inside"``."""
        return float(np.mean([getattr(each, name) for each in self.measures]))

    def largest(self, name: str) -> float:
        """Largest over the people of one of the numbers of `Measures`."""
        return float(np.max([getattr(each, name) for each in self.measures]))

    def smallest(self, name: str) -> float:
        """Smallest over the people of one of the numbers of `Measures`."""
        return float(np.min([getattr(each, name) for each in self.measures]))


@dataclass(frozen=True, eq=False)
class Study:
    """Variants side by side.

    Attributes:
        outcomes: one for each variant, in the order in which they came.
        people: their names, as in the first variant.
        notes: what a reader of the tables must know: by which rule events were found, and what the tests can tell.

    >>> from poise.human import gait
    >>> found = gait.study([gait.reproduce(fit, variant=each) for fit in fits for each in gait.VARIANTS])
    >>> print(found)
    """

    outcomes: tuple[Outcome, ...]
    people: tuple[str, ...]
    notes: tuple[str, ...]

    def outcome(self, variant: Variant | str) -> Outcome:
        """Of one variant, or of the name of one."""
        name = variant if isinstance(variant, str) else variant.name
        for each in self.outcomes:
            if each.variant.name == name:
                return each
        known = ", ".join(each.variant.name for each in self.outcomes)
        raise GaitError(f"the study has no variant {name!r}; it has {known}")

    def facts(self) -> dict[str, Any]:
        """All numbers of the tables as plain values, for files and other programs."""
        from poise.human.gait.tables import facts

        return facts(self)

    def __str__(self) -> str:
        from poise.human.gait.tables import comparison, table_one

        tables = [comparison(self), *(table_one(each) for each in self.outcomes)]
        return "\n\n".join([*tables, *self.notes])


def study(reproductions: Iterable[Reproduction | Measures]) -> Study:
    """Puts the reproductions of several people together, variant by variant; one person each, or more cycles of one."""
    every = [each if isinstance(each, Measures) else measured(each) for each in reproductions]
    if not every:
        raise GaitError("there is nothing to study; give the reproductions of one person or more")
    variants = dict.fromkeys(each.reproduction.variant for each in every)
    groups = [[each for each in every if each.reproduction.variant == variant] for variant in variants]
    names = tuple(each.reproduction.reference.name for each in groups[0])
    return Study(tuple(_outcome(group) for group in groups), names, (RULE, REMARK, *_remarks(names)))


def _outcome(group: Sequence[Measures]) -> Outcome:
    ranges, reference = np.array([m.ranges for m in group]), np.array([m.reference_ranges for m in group])
    return Outcome(
        group[0].reproduction.variant,
        tuple(group),
        ranges,
        reference,
        paired_tests(ranges - reference, JOINTS),
        over_people([_from_right(m, m.curves) for m in group]),
        over_people([_from_right(m, m.reference_curves) for m in group]),
    )


def _from_right(measures: Measures, curves: Array) -> Array:
    """Curves of a left foot's cycle, begun at the strike of the right one in its middle."""
    cycle = measures.reproduction.cycle
    if cycle.side == "right":
        return curves
    share = np.linspace(0.0, 1.0, len(curves))
    at = np.remainder(share + cycle.shares[2] / 100.0, 1.0)
    return np.column_stack([np.interp(at, share, each) for each in curves.T])


def _remarks(names: Sequence[str]) -> tuple[str, ...]:
    remarks = [
        "Key postures alone give ranges of motion: compare with the interpolation through the same keys, which knows "
        "no task. What the tasks add is in the other columns: heels, center of mass, ground, zero-moment point.",
        "Feet with two or three markers do not show their inversion: that row tells how a fitted body shares the turn "
        "of the foot among its joints, and not what an ankle does.",
    ]
    if len(set(names)) < len(names):
        remarks.append("Several cycles are of one person: the tests take them for people, and are then too sure.")
    return tuple(remarks)
