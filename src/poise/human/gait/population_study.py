"""Reproductions of several people in one study: equivalence tests, tables as text and as plain values."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from poise.analysis import (
    EQUIVALENCE_BOUND,
    EQUIVALENCE_REMARK,
    EVENT_RULE,
    TABLE_I,
    TABLE_I_JOINTS,
    CycleCurves,
    PairedTest,
    curves_over_people,
    paired_tests,
    resample,
)
from poise.arrays import Array
from poise.errors import GaitError
from poise.human.gait.reproduction import Reproduction, Variant
from poise.human.gait.reproduction_quality import Measures, measured


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
    curves: CycleCurves
    reference_curves: CycleCurves

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
        return float(self.differences[person, joint]), TABLE_I_JOINTS[int(joint)], whose

    @property
    def beyond(self) -> int:
        """How many of the differences are larger than the bound of 5 degrees."""
        return int(np.sum(np.abs(self.differences) > EQUIVALENCE_BOUND))

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

    def summary(self) -> dict[str, Any]:
        """All numbers of the tables as plain values for JSON: degrees, mm, shares from 0 to 1.

        Of the numbers of `Measures` there are the mean and the worst of the people.
        """
        return {
            "people": list(self.people),
            "variants": {each.variant.name: _summary(each) for each in self.outcomes},
            "notes": list(self.notes),
        }

    def __str__(self) -> str:
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
    return Study(tuple(_outcome(group) for group in groups), names, (EVENT_RULE, EQUIVALENCE_REMARK, *_remarks(names)))


def _outcome(group: Sequence[Measures]) -> Outcome:
    ranges, reference = np.array([m.ranges for m in group]), np.array([m.reference_ranges for m in group])
    return Outcome(
        group[0].reproduction.variant,
        tuple(group),
        ranges,
        reference,
        paired_tests(ranges - reference, TABLE_I_JOINTS),
        curves_over_people([_from_right(m, m.curves) for m in group]),
        curves_over_people([_from_right(m, m.reference_curves) for m in group]),
    )


def _from_right(measures: Measures, curves: Array) -> Array:
    """Curves of a left foot's cycle, begun at the strike of the right one in its middle."""
    cycle = measures.reproduction.cycle
    if cycle.side == "right":
        return curves
    share = np.linspace(0.0, 1.0, len(curves))
    at = np.remainder(share + cycle.shares[2] / 100.0, 1.0)
    return np.asarray(resample(share, curves, at))


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


# -- Tables of a study, as text --------------------------------------------------------------------------------------


#: What of `Measures` stands in files beside the angles.
NUMBERS = (
    "heels", "center", "penetration", "reference_penetration", "slide", "reference_slide", "inside", "reference_inside",
    "limit", "acceleration", "milliseconds",
)  # fmt: skip


def comparison(study: Study) -> str:
    """One line for each variant: angles first, then what angles do not tell; the reference beside where it has both."""
    head = (
        "variant", "|dROM| °", "worst °", "> 5°", "equivalent", "RMSE °", "heels mm", "center mm", "sunk mm",
        "slide mm", "ZMP inside %", "least %", "ms",
    )  # fmt: skip
    lines = [head]
    for each in study.outcomes:
        lines.append(
            (
                each.variant.name,
                f"{each.mean_difference:.1f}",
                f"{each.worst[0]:+.1f}",
                f"{each.beyond} of {each.differences.size}",
                f"{each.equivalent} of {len(each.tests)}",
                f"{each.error:.1f}",
                f"{each.largest('heels'):.1f}",
                f"{each.largest('center'):.1f}",
                f"{each.largest('penetration'):.1f}",
                f"{each.largest('slide'):.0f}",
                f"{100 * each.mean('inside'):.0f}",
                f"{100 * each.smallest('inside'):.0f}",
                f"{each.mean('milliseconds'):.2f}",
            )
        )
    first = study.outcomes[0]
    measured = ("measured", *[""] * 7, f"{first.largest('reference_penetration'):.1f}")
    inside = (f"{100 * first.mean('reference_inside'):.0f}", f"{100 * first.smallest('reference_inside'):.0f}", "")
    return _text([*lines, (*measured, f"{first.largest('reference_slide'):.0f}", *inside)])


def table_one(outcome: Outcome) -> str:
    """Table I of the paper for one variant: mean ranges of motion and their difference, degrees, and what tests say."""
    lines: list[tuple[str, ...]] = [
        (
            "rotation",
            "simulation",
            "reference",
            "difference",
            "90 % interval",
            "verdict",
            "Shapiro p",
            "Student p",
            "TOST p",
        )
    ]
    means, measured = outcome.ranges.mean(axis=0), outcome.reference_ranges.mean(axis=0)
    for k, (rotation, test) in enumerate(zip(TABLE_I, outcome.tests, strict=True)):
        interval = "" if test.interval is None else f"{test.interval[0]:+.1f} to {test.interval[1]:+.1f}"
        numbers = (f"{means[k]:.1f}", f"{measured[k]:.1f}", f"{means[k] - measured[k]:+.1f}")
        tests = (_probability(test.normality), _probability(test.student), _probability(test.tost))
        lines.append((rotation.title, *numbers, interval, test.verdict, *tests))
    return f"{outcome.variant.name}, {len(outcome.measures)} walks\n{_text(lines)}"


def _summary(outcome: Outcome) -> dict[str, Any]:
    worst, joint, whose = outcome.worst
    rotations = {
        test.name: {
            "simulation": float(ours),
            "reference": float(theirs),
            "difference": float(ours - theirs),
            "interval": None if test.interval is None else list(test.interval),
            "verdict": test.verdict,
            **{
                name: getattr(test, name) for name in ("normality", "student", "wilcoxon", "tost", "bonferroni", "holm")
            },
        }
        for test, ours, theirs in zip(
            outcome.tests, outcome.ranges.mean(axis=0), outcome.reference_ranges.mean(axis=0), strict=True
        )
    }
    return {
        "mean_difference": outcome.mean_difference,
        "worst_difference": worst,
        "worst_joint": joint,
        "worst_person": whose,
        "beyond_bound": outcome.beyond,
        "equivalent": outcome.equivalent,
        "error": outcome.error,
        **{name: {"mean": outcome.mean(name), "worst": _worst(outcome, name)} for name in NUMBERS},
        "rotations": rotations,
        "differences": outcome.differences.tolist(),
    }


def _worst(outcome: Outcome, name: str) -> float:
    """The least of what should be large, the largest of what should be small."""
    return outcome.smallest(name) if name in ("inside", "reference_inside", "limit") else outcome.largest(name)


def _probability(p: float | None) -> str:
    return "" if p is None else "< 0.001" if p < 0.001 else f"{p:.3f}"


def _text(lines: Sequence[Sequence[str]]) -> str:
    widths = [max(len(line[k]) for line in lines) for k in range(len(lines[0]))]
    return "\n".join(
        "  ".join(
            [line[0].ljust(widths[0]), *(word.rjust(w) for word, w in zip(line[1:], widths[1:], strict=True))]
        ).rstrip()
        for line in lines
    )
