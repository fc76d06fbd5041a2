"""Comparison of gait reproduction variants over several subjects: equivalence tests, tables and plain values."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
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
from poise.human.gait.reproduction_quality import ReproductionQuality, measure_reproduction


@dataclass(frozen=True, eq=False)
class VariantResult:
    """Results of one variant over p walks, one or more of each person.

    Attributes:
        variant: the variant.
        qualities: one for each walk.
        ranges, reference_ranges: ranges of motion of the twelve joint angles, p x 12, degrees.
        tests: paired and equivalence tests of the differences, one for each joint angle; the walks of each person are
            averaged first, so that their number is that of the people.
        curves, reference_curves: mean and deviation over the people, from right to right initial contact, 101 x 12,
            degrees; figures 4 to 7 of the paper show four of them.
    """

    variant: Variant
    qualities: tuple[ReproductionQuality, ...]
    ranges: Array
    reference_ranges: Array
    tests: tuple[PairedTest, ...]
    curves: CycleCurves
    reference_curves: CycleCurves

    @property
    def differences(self) -> Array:
        """Differences of the ranges of motion, simulated minus measured, p x 12, degrees."""
        return self.ranges - self.reference_ranges

    @property
    def people(self) -> tuple[str, ...]:
        """Names of the people, each once."""
        return tuple(dict.fromkeys(each.reproduction.reference.name for each in self.qualities))

    @property
    def mean_difference(self) -> float:
        """Mean absolute difference, degrees."""
        return float(np.abs(self.differences).mean())

    @property
    def worst_difference(self) -> tuple[float, str, str]:
        """The difference of largest absolute value (degrees, simulated minus measured), its joint and its subject."""
        row, joint = np.unravel_index(int(np.abs(self.differences).argmax()), self.differences.shape)
        person = self.qualities[int(row)].reproduction.reference.name
        return float(self.differences[row, joint]), TABLE_I_JOINTS[int(joint)], person

    @property
    def beyond_bound(self) -> int:
        """Number of absolute differences larger than the equivalence bound of 5 degrees."""
        return int(np.sum(np.abs(self.differences) > EQUIVALENCE_BOUND))

    @property
    def equivalent_count(self) -> int:
        """Number of joint angles whose range of motion the tests show to be equivalent."""
        return sum(test.verdict == "equivalent" for test in self.tests)

    @property
    def rms_error(self) -> float:
        """Root mean square error over the cycle, mean over joint angles and walks, degrees."""
        return float(np.mean([each.errors for each in self.qualities]))

    def mean(self, name: str) -> float:
        """Return the mean of an attribute of `ReproductionQuality` over the walks, for example ``"zmp_inside"``."""
        return self._over_walks(name, np.mean)

    def _over_walks(self, name: str, combine: Callable[[Array], Any]) -> float:
        """Combine an attribute over the walks in which it is known; NaN if it is not known in any."""
        values = np.array([getattr(each, name) for each in self.qualities])
        known = values[np.isfinite(values)]
        return float(combine(known)) if len(known) else np.nan

    def largest(self, name: str) -> float:
        """Return the maximum of an attribute of `ReproductionQuality` over the walks."""
        return self._over_walks(name, np.max)

    def smallest(self, name: str) -> float:
        """Return the minimum of an attribute of `ReproductionQuality` over the walks."""
        return self._over_walks(name, np.min)


@dataclass(frozen=True, eq=False)
class VariantComparison:
    """Comparison of several variants.

    Attributes:
        results: one for each variant, in the order of the reproductions.
        people: name of the person of each walk, as in the first variant.
        notes: remarks for readers of the tables: the rule for gait events, and the meaning of the tests.

    >>> from poise.human import gait
    >>> found = gait.compare_variants([gait.reproduce(fit, variant=each) for fit in fits for each in gait.VARIANTS])
    >>> print(found)
    """

    results: tuple[VariantResult, ...]
    people: tuple[str, ...]
    notes: tuple[str, ...]

    def result(self, variant: Variant | str) -> VariantResult:
        """Return the result of a variant, given as a `Variant` or by name."""
        name = variant if isinstance(variant, str) else variant.name
        for each in self.results:
            if each.variant.name == name:
                return each
        known = ", ".join(each.variant.name for each in self.results)
        raise GaitError(f"no variant {name!r} in this study; it has {known}")

    def summary(self) -> dict[str, Any]:
        """Return all numbers of the tables as plain values for JSON: degrees, mm, shares from 0 to 1.

        For each attribute of `ReproductionQuality` it has the mean and the worst value over the walks.
        """
        return {
            "people": list(self.people),
            "variants": {each.variant.name: _summary(each) for each in self.results},
            "notes": list(self.notes),
        }

    def __str__(self) -> str:
        judged = any(test.interval is not None for each in self.results for test in each.tests)
        ranges = [range_of_motion_table(each) for each in self.results] if judged else [ranges_by_variant(self)]
        return "\n\n".join([comparison_table(self), *ranges, *self.notes])


def compare_variants(reproductions: Iterable[Reproduction | ReproductionQuality]) -> VariantComparison:
    """Group reproductions by variant and compare them; walks with the same name are of the same person."""
    qualities = [
        each if isinstance(each, ReproductionQuality) else measure_reproduction(each) for each in reproductions
    ]
    if not qualities:
        raise GaitError("no reproductions given; pass at least one")
    variants = dict.fromkeys(each.reproduction.variant for each in qualities)
    groups = [[each for each in qualities if each.reproduction.variant == variant] for variant in variants]
    names = tuple(each.reproduction.reference.name for each in groups[0])
    return VariantComparison(
        tuple(_variant_result(group) for group in groups),
        names,
        (EVENT_RULE, EQUIVALENCE_REMARK, *_remarks(names), *_partial_body_remarks(groups[0])),
    )


def _variant_result(group: Sequence[ReproductionQuality]) -> VariantResult:
    ranges, reference = np.array([m.ranges for m in group]), np.array([m.reference_ranges for m in group])
    return VariantResult(
        group[0].reproduction.variant,
        tuple(group),
        ranges,
        reference,
        paired_tests(np.array(_by_person(group, ranges - reference)), TABLE_I_JOINTS),
        curves_over_people(_by_person(group, [_from_right_contact(m, m.curves) for m in group])),
        curves_over_people(_by_person(group, [_from_right_contact(m, m.reference_curves) for m in group])),
    )


def _by_person(group: Sequence[ReproductionQuality], values: Sequence[Array] | Array) -> list[Array]:
    """Return the mean of the values of each person's walks."""
    names = [each.reproduction.reference.name for each in group]
    return [
        np.mean([value for name, value in zip(names, values, strict=True) if name == person], axis=0)
        for person in dict.fromkeys(names)
    ]


def _from_right_contact(quality: ReproductionQuality, curves: Array) -> Array:
    """Shift the curves of a left cycle so that they begin at the initial contact of the right foot."""
    cycle = quality.reproduction.cycle
    if cycle.side == "right":
        return curves
    share = np.linspace(0.0, 1.0, len(curves))
    at = np.remainder(share + cycle.event_percents[2] / 100.0, 1.0)
    return np.asarray(resample(share, curves, at))


def _remarks(names: Sequence[str]) -> tuple[str, ...]:
    remarks = [
        "Key postures alone reproduce ranges of motion: compare with the interpolation through the same keys, which "
        "has no tasks. The effect of the tasks is in the other columns: heels, center of mass, ground, ZMP.",
        "Two or three markers do not determine the inversion of a foot: that row shows how the fitted model "
        "distributes the rotation of the foot among its joints, and not the motion of the ankle.",
    ]
    counts = Counter(names)
    several = ", ".join(f"{count} of {name}" for name, count in counts.items() if count > 1)
    people = f"{len(counts)} {'people' if len(counts) > 1 else 'person'}"
    averaged = f"Walks of the same person are averaged before the tests, which are between {people}: {several}. "
    remarks.append(
        (averaged if several else "")
        + "Walks are of the same person if their files name the same subject, or share a static trial or a calibrated "
        "person; all others count as different people."
    )
    return tuple(remarks)


def _partial_body_remarks(group: Sequence[ReproductionQuality]) -> tuple[str, ...]:
    partial = [each.reproduction.reference.name for each in group if not each.reproduction.reference.whole_body]
    if not partial:
        return ()
    return (
        f"Trunk or arms are not measured ({', '.join(dict.fromkeys(partial))}): they stay at rest in the reproduction, "
        "and center of mass and ZMP are not given.",
    )


# -- Tables of a study, as text --------------------------------------------------------------------------------------


#: Attributes of `ReproductionQuality` in the summary.
SUMMARY_NUMBERS = (
    "heel_error",
    "center_of_mass_error",
    "penetration",
    "reference_penetration",
    "foot_slide",
    "reference_foot_slide",
    "zmp_inside",
    "reference_zmp_inside",
    "joint_limit_margin",
    "peak_acceleration",
    "control_milliseconds",
)


def comparison_table(comparison: VariantComparison) -> str:
    """Return a table with one row per variant: joint angles, then contact measures; the last row is the reference."""
    head = (
        "variant", "|dROM| °", "worst °", "> 5°", "equivalent", "RMSE °", "heels mm", "CoM mm", "penetration mm",
        "slide mm", "ZMP inside %", "min %", "ms",
    )  # fmt: skip
    lines = [head]
    for each in comparison.results:
        lines.append(
            (
                each.variant.name,
                f"{each.mean_difference:.1f}",
                f"{each.worst_difference[0]:+.1f}",
                f"{each.beyond_bound} of {each.differences.size}",
                f"{each.equivalent_count} of {len(each.tests)}",
                f"{each.rms_error:.1f}",
                f"{each.largest('heel_error'):.1f}",
                _text(each.largest("center_of_mass_error"), 1),
                f"{each.largest('penetration'):.1f}",
                f"{each.largest('foot_slide'):.0f}",
                _text(100 * each.mean("zmp_inside")),
                _text(100 * each.smallest("zmp_inside")),
                f"{each.mean('control_milliseconds'):.2f}",
            )
        )
    first = comparison.results[0]
    measured = ("measured", *[""] * 7, f"{first.largest('reference_penetration'):.1f}")
    inside = (
        _text(100 * first.mean("reference_zmp_inside")),
        _text(100 * first.smallest("reference_zmp_inside")),
        "",
    )
    return _align_columns([*lines, (*measured, f"{first.largest('reference_foot_slide'):.0f}", *inside)])


def range_of_motion_table(result: VariantResult) -> str:
    """Return Table I of the paper for one variant: mean ranges of motion, their difference (degrees), and tests."""
    lines: list[tuple[str, ...]] = [
        (
            "joint angle",
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
    means, measured = result.ranges.mean(axis=0), result.reference_ranges.mean(axis=0)
    for k, (angle, test) in enumerate(zip(TABLE_I, result.tests, strict=True)):
        interval = "" if test.interval is None else f"{test.interval[0]:+.1f} to {test.interval[1]:+.1f}"
        numbers = (f"{means[k]:.1f}", f"{measured[k]:.1f}", f"{means[k] - measured[k]:+.1f}")
        tests = (_p_value_text(test.normality), _p_value_text(test.student), _p_value_text(test.tost))
        lines.append((angle.title, *numbers, interval, test.verdict, *tests))
    return f"{result.variant.name}, {_walks(result)}\n{_align_columns(lines)}"


def ranges_by_variant(comparison: VariantComparison) -> str:
    """Return a table of mean ranges of motion (degrees), measured and of each variant, without tests."""
    first = comparison.results[0]
    columns = [first.reference_ranges.mean(axis=0), *(each.ranges.mean(axis=0) for each in comparison.results)]
    lines = [("joint angle", "measured", *(each.variant.name for each in comparison.results))]
    lines += [(angle.title, *(f"{each[k]:.1f}" for each in columns)) for k, angle in enumerate(TABLE_I)]
    title = f"ranges of motion (degrees), {_walks(first)}; equivalence cannot be judged: give walks of several people"
    return f"{title}\n{_align_columns(lines)}"


def _walks(result: VariantResult) -> str:
    count, people = len(result.qualities), len(result.people)
    walks = f"{count} walk{'s' if count > 1 else ''}"
    return walks if people == count else f"{walks} of {people} {'people' if people > 1 else 'person'}"


def _summary(result: VariantResult) -> dict[str, Any]:
    worst, joint, person = result.worst_difference
    ranges_of_motion = {
        test.name: {
            "simulation": float(simulated),
            "reference": float(measured),
            "difference": float(simulated - measured),
            "interval": None if test.interval is None else list(test.interval),
            "verdict": test.verdict,
            **{
                name: getattr(test, name) for name in ("normality", "student", "wilcoxon", "tost", "bonferroni", "holm")
            },
        }
        for test, simulated, measured in zip(
            result.tests, result.ranges.mean(axis=0), result.reference_ranges.mean(axis=0), strict=True
        )
    }
    return {
        "mean_difference": result.mean_difference,
        "worst_difference": worst,
        "worst_joint": joint,
        "worst_person": person,
        "beyond_bound": result.beyond_bound,
        "equivalent": result.equivalent_count,
        "rms_error": result.rms_error,
        **{name: {"mean": result.mean(name), "worst": _worst(result, name)} for name in SUMMARY_NUMBERS},
        "ranges_of_motion": ranges_of_motion,
        "differences": result.differences.tolist(),
    }


def _worst(result: VariantResult, name: str) -> float:
    """Return the minimum over the walks of a measure that should be large, the maximum of one that should be small."""
    return (
        result.smallest(name)
        if name in ("zmp_inside", "reference_zmp_inside", "joint_limit_margin")
        else result.largest(name)
    )


def _text(value: float, digits: int = 0) -> str:
    return f"{value:.{digits}f}" if np.isfinite(value) else "-"


def _p_value_text(p: float | None) -> str:
    return "" if p is None else "< 0.001" if p < 0.001 else f"{p:.3f}"


def _align_columns(lines: Sequence[Sequence[str]]) -> str:
    widths = [max(len(line[k]) for line in lines) for k in range(len(lines[0]))]
    return "\n".join(
        "  ".join(
            [line[0].ljust(widths[0]), *(word.rjust(w) for word, w in zip(line[1:], widths[1:], strict=True))]
        ).rstrip()
        for line in lines
    )
