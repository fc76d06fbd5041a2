"""Norms of gait curves: the share of the cycle inside the normal range, and the gait profile score.

Laboratories place the zero of some angles differently: that of pelvis tilt and hip flexion depends on the plane through
the markers of the pelvis (with a marker on the sacrum instead of two on the posterior spines it is some ten degrees
steeper), that of hip rotation on the axis of the knee, those of ankle and foot on the markers of the foot. These
offsets say nothing about the gait, so they are removed before a curve is compared with the norm, and reported beside
it. Other angles are compared as they are.

The normal range is that in which 95 % of new healthy people are expected at each instant, mean ± k √(sd² + e²), with
the standard deviation sd of the n people of the norm, e = 2 degrees for the placement of markers [McGinley2009], and

    k = t(0.975, n - 1) √(1 + 1/n)

which is 3.0 for five people, and 2 if their number is large or unknown. An angle outside it is unusual at that instant,
no more.

The gait variable score of an angle is the rms difference from the mean of the norm over the cycle; the gait profile
score [Baker2009] is the rms of the gait variable scores of nine angles of each side. It is given as published, offsets
included, and with offsets removed.

[Baker2009] R. Baker et al. *The gait profile score and movement analysis profile.* Gait & Posture 30, 2009.
[McGinley2009] J. L. McGinley et al. *The reliability of three-dimensional kinematic gait measurements.* Gait & Posture
29, 2009.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from poise.analysis import normative_band, normative_datasets, normative_facts, normative_joints
from poise.arrays import Array
from poise.errors import GaitError, unknown_name_error
from poise.extras import scipy
from poise.robots import SIDES, BodyShape, Side

#: Angles whose zero differs between laboratories and marker sets.
OFFSET_ANGLES = ("pelvis_tilt", "hip_flexion", "hip_rotation", "ankle_dorsiflexion", "foot_progression")
#: Angles of the gait profile score.
PROFILE_ANGLES = (
    "pelvis_tilt", "pelvis_obliquity", "pelvis_rotation", "hip_flexion", "hip_adduction", "hip_rotation",
    "knee_flexion", "ankle_dorsiflexion", "foot_progression",
)  # fmt: skip
#: Error of an angle by the placement of markers (degrees).
PLACEMENT_ERROR = 2.0
#: Half the width of the normal range in standard deviations, if the number of people is unknown.
RANGE_WIDTH = 2.0
#: Difference of the walking speed from those of the norm that is noted, m/s.
SPEED_TOLERANCE = 0.1
#: Height below which the norm of children is taken (m): that of a twelve-year-old.
CHILD_HEIGHT = 1.5


@dataclass(frozen=True, eq=False)
class NormComparison:
    """A mean curve of one side against the norm, degrees.

    Attributes:
        angle, side: of the curve.
        dataset: name of the norm.
        mean, low, high: of the norm, 101 points each, moved by the offset of the person.
        offset: mean difference that was removed; 0 for angles whose zero does not depend on the laboratory.
        inside: share of the cycle inside the normal range.
        score: gait variable score, as published.
        shape_score: the same with the offset removed.
        range_of_motion, norm_range: of the person and of the mean of the norm.
    """

    angle: str
    side: Side
    dataset: str
    mean: Array
    low: Array
    high: Array
    offset: float
    inside: float
    score: float
    shape_score: float
    range_of_motion: float
    norm_range: float

    def summary(self) -> dict[str, Any]:
        """Return plain values for JSON, without the curves."""
        names = (
            "angle",
            "side",
            "dataset",
            "offset",
            "inside",
            "score",
            "shape_score",
            "range_of_motion",
            "norm_range",
        )
        return {name: getattr(self, name) for name in names}


@dataclass(frozen=True, eq=False)
class ProfileScore:
    """Gait profile score of a walk, degrees.

    Attributes:
        dataset, source: name and description of the norm.
        scores: gait variable score by angle and side.
        score, shape_score: gait profile score as published, and with offsets removed.
        missing: angles of the score without a norm.
    """

    dataset: str
    source: str
    scores: Mapping[tuple[str, Side], float]
    score: float
    shape_score: float
    missing: tuple[str, ...]

    def summary(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return {
            "dataset": self.dataset,
            "source": self.source,
            "gait_profile_score_deg": self.score,
            "without_offsets_deg": self.shape_score,
            "gait_variable_scores_deg": {f"{side} {angle}": value for (angle, side), value in self.scores.items()},
            "missing": list(self.missing),
        }

    def lines(self, comparisons: Iterable[NormComparison], titles: Mapping[str, str]) -> list[str]:
        """Return a table of the angles and the score as lines of text."""
        rows = {(each.angle, each.side): each for each in comparisons}
        lines = [
            f"norm '{self.dataset}': {self.source}",
            f"{'':<28} {'inside the norm':>16} {'range of motion':>17} {'norm':>5} {'offset':>12}",
            f"{'':<28} {'left':>8}{'right':>8} {'left':>9}{'right':>8} {'':>5} {'left':>6}{'right':>6}",
        ]
        for angle, title in titles.items():
            own = [rows.get((angle, side)) for side in SIDES]
            if not any(own):
                continue
            inside = "".join(f"{f'{100 * each.inside:.0f} %' if each else '-':>8}" for each in own)
            ranges = "".join(f"{f'{each.range_of_motion:.0f}' if each else '-':>8}" for each in own)
            norm = next(each.norm_range for each in own if each)
            offsets = "".join(f"{f'{each.offset:+.0f}' if each and each.offset else '':>6}" for each in own)
            lines.append(f"{title:<28} {inside}  {ranges} {norm:>5.0f} {offsets}")
        without = f", without {', '.join(self.missing)}" if self.missing else ""
        lines.append(
            f"gait profile score {self.score:.1f} degrees, {self.shape_score:.1f} with offsets removed{without}"
        )
        return lines


def check_norm(dataset: str | None) -> None:
    """Raise an error with the existing norms if a requested one does not exist."""
    if dataset is not None and dataset not in normative_datasets():
        raise unknown_name_error("no norm", dataset, normative_datasets())


def choose_norm(shape: BodyShape, dataset: str | None = None) -> str:
    """Return the norm to compare with: the one requested, else by the height of the person.

    >>> choose_norm(BodyShape.of(1.2))
    'children'
    """
    if dataset is not None:
        check_norm(dataset)
        return dataset
    return "children" if shape.height < CHILD_HEIGHT else "adults"


def range_width(people: int | None) -> float:
    """Return half the width of the normal range in standard deviations, for the number of people of the norm.

    >>> range_width(5), range_width(None)
    (3.04, 2.0)
    """
    if people is None:
        return RANGE_WIDTH
    return float(scipy.stats.t.ppf(0.975, people - 1) * np.sqrt(1.0 + 1.0 / people))


def speed_note(speed: float, dataset: str) -> str:
    """Return a sentence if a walk is slower or faster (m/s) than those of the norm; else an empty text."""
    known = normative_facts(dataset).speed
    if known is None or known[0] - SPEED_TOLERANCE <= speed <= known[1] + SPEED_TOLERANCE:
        return ""
    return (
        f"walking speed {speed:.2f} m/s; the norm '{dataset}' was measured at {known[0]:g} to {known[1]:g} m/s, and "
        "ranges of motion grow with speed"
    )


def compare_with_norm(
    means: Mapping[tuple[str, Side], Array], shape: BodyShape, dataset: str | None = None
) -> tuple[NormComparison, ...]:
    """Compare mean curves (101 points, degrees) by angle and side with a norm; angles without a norm are left out.

    Args:
        means: by angle and side.
        shape: of the person; its height chooses the norm of adults or children.
        dataset: a norm, one of `poise.analysis.normative_datasets`.
    """
    name = choose_norm(shape, dataset)
    found = []
    for (angle, side), curve in means.items():
        if angle not in normative_joints(name) or not np.isfinite(curve).any():
            continue
        band = normative_band(angle, cycle=side, dataset=name)
        facts = normative_facts(name)
        mean = np.degrees(band.at(np.linspace(0.0, 1.0, len(curve)) + facts.lead))
        half = range_width(facts.people) * np.sqrt(np.degrees(band.deviation) ** 2 + PLACEMENT_ERROR**2)
        difference = curve - mean
        offset = float(np.nanmean(difference)) if angle in OFFSET_ANGLES else 0.0
        inside = np.abs(difference - offset) <= half
        known = np.isfinite(curve)
        found.append(
            NormComparison(
                angle, side, name, mean + offset, mean + offset - half, mean + offset + half, offset,
                float(inside[known].mean()), _rms(difference), _rms(difference - np.nanmean(difference)),
                float(np.nanmax(curve) - np.nanmin(curve)), float(np.ptp(mean)),
            )
        )  # fmt: skip
    if not found:
        raise GaitError(f"no curve has a norm in '{name}'")
    return tuple(found)


def profile_score(
    means: Mapping[tuple[str, Side], Array], shape: BodyShape, dataset: str | None = None
) -> ProfileScore:
    """Return the gait profile score of mean curves; arguments as in `compare_with_norm`."""
    rows = [each for each in compare_with_norm(means, shape, dataset) if each.angle in PROFILE_ANGLES]
    name = choose_norm(shape, dataset)
    # Angles of the pelvis are the same for both sides: they count once, from the left cycles if there are any.
    sides = {each.side for each in rows}
    first = "left" if "left" in sides else "right"
    counted = [each for each in rows if not each.angle.startswith("pelvis") or each.side == first]
    missing = tuple(angle for angle in PROFILE_ANGLES if angle not in normative_joints(name))
    return ProfileScore(
        name,
        normative_datasets()[name],
        {(each.angle, each.side): each.score for each in rows},
        float(np.sqrt(np.mean([each.score**2 for each in counted]))),
        float(
            np.sqrt(
                np.mean([(each.shape_score if each.angle in OFFSET_ANGLES else each.score) ** 2 for each in counted])
            )
        ),
        missing,
    )


def _rms(values: Array) -> float:
    return float(np.sqrt(np.nanmean(values**2)))
