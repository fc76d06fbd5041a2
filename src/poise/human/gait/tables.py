"""Tables of a study, as text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from poise.analysis.rotations import ROTATIONS

if TYPE_CHECKING:
    from poise.human.gait.study import Outcome, Study

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
    for k, (rotation, test) in enumerate(zip(ROTATIONS, outcome.tests, strict=True)):
        interval = "" if test.interval is None else f"{test.interval[0]:+.1f} to {test.interval[1]:+.1f}"
        numbers = (f"{means[k]:.1f}", f"{measured[k]:.1f}", f"{means[k] - measured[k]:+.1f}")
        tests = (_probability(test.normality), _probability(test.student), _probability(test.tost))
        lines.append((rotation.title, *numbers, interval, test.verdict, *tests))
    return f"{outcome.variant.name}, {len(outcome.measures)} walks\n{_text(lines)}"


def facts(study: Study) -> dict[str, Any]:
    """The same as plain values: degrees, mm, shares from 0 to 1; of `Measures` the mean and the worst of the people."""
    return {
        "people": list(study.people),
        "variants": {each.variant.name: _facts(each) for each in study.outcomes},
        "notes": list(study.notes),
    }


def _facts(outcome: Outcome) -> dict[str, Any]:
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
