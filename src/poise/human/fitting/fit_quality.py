"""Quality of a fit: checks of markers, labels, body and joints, with a verdict.

A check passes, is a warning, or is a failure. The verdict of a fit is that of its worst check: ``"good"``,
``"doubtful"`` (read the warnings before using the angles) or ``"unusable"``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from poise.arrays import Array
from poise.human.fitting.calibration import body_height
from poise.robots import SIDES

if TYPE_CHECKING:
    from poise.human.fitting.body_fit import Fit

Level = Literal["warning", "failure"]
Verdict = Literal["good", "doubtful", "unusable"]

#: Root mean square distance of the markers from the body (m), above which the fit is doubtful and unusable. Skin
#: markers of recorded walks have 4 to 12 mm; a marker set with wrong landmarks has 25 mm and more.
DOUBTFUL_RMS, UNUSABLE_RMS = 0.015, 0.02
#: The same for markers of pelvis and legs alone: they slide less over the bones than those of shoulders and arms.
DOUBTFUL_LEG_RMS, UNUSABLE_LEG_RMS = 0.015, 0.02
#: A marker this far from its place on the body (m, median of its frames) is misplaced or has the label of another.
MISPLACED = 0.035
#: Root mean square distance of a frame (m) that counts as bad, and shares of bad frames.
BAD_FRAME_RMS, DOUBTFUL_BAD_FRAMES, UNUSABLE_BAD_FRAMES = 0.03, 0.02, 0.25
#: Shares of the visible marker positions that are too far from the body to be used.
DOUBTFUL_UNUSED, UNUSABLE_UNUSED = 0.02, 0.2
#: A joint this close to its limit (rad) is at it, and shares of the frames. Hips and knees determine the gait.
LIMIT_MARGIN, DOUBTFUL_LIMIT_SHARE, UNUSABLE_LIMIT_SHARE = 0.009, 0.10, 0.5
MAIN_JOINTS = ("hip_flexion", "hip_adduction", "knee_flexion")
#: Thigh and shank as shares of the stature [Drillis & Contini 1966], and ratios to them that are rare and implausible;
#: their standard deviation between adults is 4 to 5 %.
LENGTH_SHARES = {"thigh": 0.245, "shank": 0.246}
RARE_LENGTH, IMPLAUSIBLE_LENGTH = 0.15, 0.35
#: Difference of leg lengths, thigh and shank together (m), that is reported: clinical examinations report 1 to 2 cm.
LEG_DIFFERENCE = 0.02
#: Statures (m) and body mass indices (kg/m²) of people from a child of two years on.
STATURE_RANGE, MASS_INDEX_RANGE = (0.75, 2.3), (12.0, 45.0)
#: Relative difference between a given stature and that of the fitted segments.
DOUBTFUL_HEIGHT, UNUSABLE_HEIGHT = 0.10, 0.25


@dataclass(frozen=True)
class QualityCheck:
    """A check that did not pass: what was checked, "warning" or "failure", and one sentence."""

    name: str
    level: Level
    message: str


@dataclass(frozen=True)
class FitQuality:
    """Checks of a fit that did not pass, the failures first."""

    checks: tuple[QualityCheck, ...] = ()

    def __str__(self) -> str:
        return "; ".join([self.verdict, *(check.message for check in self.checks)])

    @property
    def verdict(self) -> Verdict:
        """Verdict of the worst check."""
        levels = {check.level for check in self.checks}
        return "unusable" if "failure" in levels else "doubtful" if levels else "good"

    @property
    def usable(self) -> bool:
        """Whether no check failed."""
        return self.verdict != "unusable"

    @property
    def failures(self) -> tuple[str, ...]:
        """Messages of the checks that failed."""
        return tuple(check.message for check in self.checks if check.level == "failure")

    def summary(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return {"verdict": self.verdict, "checks": [vars(check) for check in self.checks]}

    @classmethod
    def from_summary(cls, values: Mapping[str, Any]) -> FitQuality:
        """Return the quality that a recording or a file stores; good if it stores none."""
        return cls(tuple(QualityCheck(**each) for each in values.get("checks", ())))

    @classmethod
    def of(cls, checks: list[QualityCheck]) -> FitQuality:
        """Sort checks, failures first."""
        return cls(tuple(sorted(checks, key=lambda check: check.level != "failure")))


def check_fit(fit: Fit, label_messages: tuple[str, ...] = ()) -> FitQuality:
    """Check a fit.

    Args:
        fit: body model and motion.
        label_messages: what is wrong with the labels of walk and static trial, see `LabelOrder.message`.
    """
    checks = [QualityCheck("labels", "failure", message) for message in label_messages]
    for part in (
        _check_markers,
        _check_unused_markers,
        _check_misplaced_markers,
        _check_frames,
        _check_body,
        _check_limits,
    ):
        checks += part(fit)
    return FitQuality.of(checks)


def _rms(errors: Array) -> float:
    return float(np.sqrt(np.nanmean(errors**2))) if np.isfinite(errors).any() else 0.0


def _check_markers(fit: Fit) -> Iterator[QualityCheck]:
    legs = [k for k, link in enumerate(fit.marker_placement.links) if _is_lower_body(link)]
    for what, rms, doubtful, unusable in (
        ("markers", fit.rms, DOUBTFUL_RMS, UNUSABLE_RMS),
        ("markers of pelvis and legs", _rms(_used_errors(fit)[:, legs]), DOUBTFUL_LEG_RMS, UNUSABLE_LEG_RMS),
    ):
        if rms > doubtful:
            yield QualityCheck(
                "markers",
                "failure" if rms > unusable else "warning",
                f"{what} are {1e3 * rms:.0f} mm (rms) from the body, usual are 4 to 12 mm: check marker set, labels, "
                "height and static trial",
            )
            return


def _check_unused_markers(fit: Fit) -> Iterator[QualityCheck]:
    share = fit.unused_share
    if share > DOUBTFUL_UNUSED:
        unused = np.isfinite(fit.errors) & ~fit.tracking.used
        most = np.argsort(-unused.sum(axis=0))[:6]
        names = ", ".join(fit.marker_placement.labels[k] for k in most if unused[:, k].any())
        yield QualityCheck(
            "lost markers",
            "failure" if share > UNUSABLE_UNUSED else "warning",
            f"{100 * share:.0f} % of the marker positions do not agree with the body and are not used (most of "
            f"{names}): check their labels; values that depend on them are absent",
        )
    wrong = [
        label
        for k, (label, link) in enumerate(zip(fit.marker_placement.labels, fit.marker_placement.links, strict=True))
        if _is_lower_body(link) and fit.tracking.used[:, k].sum() < np.isfinite(fit.errors[:, k]).sum() / 2
    ]
    if len(wrong) > 1:
        yield QualityCheck(
            "lost markers",
            "failure",
            f"{', '.join(wrong[:6])} are far from the body in most frames: their labels or the marker set are wrong",
        )


def _used_errors(fit: Fit) -> Array:
    """Return the distances of the used markers from the body (n x M, m); NaN for the others."""
    return np.where(fit.tracking.used, fit.errors, np.nan)


def _is_lower_body(link: str) -> bool:
    return link == "pelvis" or link.endswith(("_thigh", "_shank", "_foot", "_toes"))


def _check_misplaced_markers(fit: Fit) -> Iterator[QualityCheck]:
    seen = np.asarray(np.isfinite(fit.errors).any(axis=0))
    far = {
        label: float(np.nanmedian(fit.errors[:, k]))
        for k, label in enumerate(fit.marker_placement.labels)
        if seen[k] and np.nanmedian(fit.errors[:, k]) > MISPLACED
    }
    if far:
        names = ", ".join(f"{label} ({1e3 * distance:.0f} mm)" for label, distance in list(far.items())[:6])
        yield QualityCheck("placement", "warning", f"misplaced or wrongly labelled markers: {names}")


def _check_frames(fit: Fit) -> Iterator[QualityCheck]:
    seen = fit.tracking.used.any(axis=1)
    if not seen.any():
        return
    frame_rms = np.sqrt(np.nanmean(_used_errors(fit)[seen] ** 2, axis=1))
    share = float(np.mean(frame_rms > BAD_FRAME_RMS))
    if share > DOUBTFUL_BAD_FRAMES:
        yield QualityCheck(
            "frames",
            "failure" if share > UNUSABLE_BAD_FRAMES else "warning",
            f"in {100 * share:.0f} % of the frames the markers are more than {1e3 * BAD_FRAME_RMS:.0f} mm (rms) from "
            "the body",
        )


def _check_body(fit: Fit) -> Iterator[QualityCheck]:
    shape, stature = fit.shape, fit.shape.height
    low, high = STATURE_RANGE
    if not low < stature < high:
        yield QualityCheck("height", "failure", f"a height of {stature:.2f} m: give --height, or check the unit")
    segments = body_height(shape)
    apart = abs(segments / stature - 1.0)
    if apart > DOUBTFUL_HEIGHT:
        yield QualityCheck(
            "height",
            "failure" if apart > UNUSABLE_HEIGHT else "warning",
            f"the height of {stature:.2f} m does not agree with the segments fitted to the markers, which add up to "
            f"{segments:.2f} m: check it",
        )
    index = shape.mass / stature**2
    if not MASS_INDEX_RANGE[0] < index < MASS_INDEX_RANGE[1]:
        pounds = shape.mass * 0.4536
        hint = f"; did you mean {pounds:.1f} kg ({shape.mass:g} lb)?" if 16.0 < pounds / stature**2 < 35.0 else ""
        yield QualityCheck(
            "mass",
            "warning",
            f"{shape.mass:g} kg at {stature:.2f} m is a body mass index of {index:.0f} kg/m², outside "
            f"{MASS_INDEX_RANGE[0]:g} to {MASS_INDEX_RANGE[1]:g}{hint}",
        )
    for name, share in LENGTH_SHARES.items():
        for side, length in zip(SIDES, getattr(shape, name), strict=True):
            deviation = length / (share * stature) - 1.0
            if abs(deviation) > RARE_LENGTH:
                yield QualityCheck(
                    "lengths",
                    "failure" if abs(deviation) > IMPLAUSIBLE_LENGTH else "warning",
                    f"the {side} {name} is {length:.3f} m long, {100 * deviation:+.0f} % from what is usual at a "
                    f"height of {stature:.2f} m",
                )
    legs = [thigh + shank for thigh, shank in zip(shape.thigh, shape.shank, strict=True)]
    if abs(legs[0] - legs[1]) > LEG_DIFFERENCE:
        longer = SIDES[0] if legs[0] > legs[1] else SIDES[1]
        yield QualityCheck(
            "lengths",
            "warning",
            f"the {longer} leg is {1e3 * abs(legs[0] - legs[1]):.0f} mm longer by its markers: a leg length difference "
            "or misplaced markers",
        )


def _check_limits(fit: Fit) -> Iterator[QualityCheck]:
    limits = fit.robot.limits
    for k, joint in enumerate(fit.robot.joints):
        name = joint.name.split("_", 1)[-1] if joint.name.startswith(("left_", "right_")) else joint.name
        angle = fit.tracking.q[fit.seen(joint.name), joint.q]
        at_limit = (angle < limits.lower[k] + LIMIT_MARGIN) | (angle > limits.upper[k] - LIMIT_MARGIN)
        share = float(at_limit.mean()) if len(angle) else 0.0
        if share > DOUBTFUL_LIMIT_SHARE:
            yield QualityCheck(
                "limits",
                "failure" if share > UNUSABLE_LIMIT_SHARE and name in MAIN_JOINTS else "warning",
                f"{joint.name} is at the limit of its range in {100 * share:.0f} % of the frames",
            )
