"""Request and result of fitting a human model to a marker trial, as plain data sent between processes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from poise.analysis import TABLE_I, TABLE_I_JOINTS, GaitCycle, normative_band, range_of_motion
from poise.arrays import Array
from poise.human import FitQuality
from poise.robots import BodyShape, other_side

#: Where height, mass and sex of the subject come from.
SUBJECT_SOURCES = FROM_FILE, MANUAL = ("from the file", "entered below")
#: Names of the variants of `poise.human.gait` that are computed. All of them are computed at once, since a
#: reproduction takes a sixth of the time of a fit.
VARIANTS = ("best", "paper", "two phases")


class UploadedFile(NamedTuple):
    """An uploaded file: path of the copy on disk, and the file name that the user gave."""

    path: Path
    name: str


class FitRequest(NamedTuple):
    """Input of a fit.

    Attributes:
        trial: motion trial; None: a synthetic sample walk.
        static: static calibration trial of the same subject, if there is one.
        height, mass, sex: m, kg, "male" or "female"; None: taken from the file.
    """

    trial: UploadedFile | None = None
    static: UploadedFile | None = None
    height: float | None = None
    mass: float | None = None
    sex: str | None = None

    @property
    def title(self) -> str:
        """Name shown to the user."""
        return "sample walk" if self.trial is None else self.trial.name

    def with_user_names(self, text: str) -> str:
        """Return `text` with paths of copies replaced by the file names that the user gave."""
        for file in (self.trial, self.static):
            if file is not None:
                text = text.replace(str(file.path), f"'{file.name}'")
        return text


# -- GaitResult ------------------------------------------------------------------------------------------------------


#: Joint angles whose curves are plotted: those that a clinical gait analysis examines first.
PLOTTED_ANGLES = ("hip_flexion", "knee_flexion", "ankle_dorsiflexion")


@dataclass(frozen=True, eq=False)
class ReproducedCycle:
    """Gait cycle reproduced by one variant.

    Attributes:
        time: n, s, in the time of the trial.
        q: n x nq, configurations.
        curves: twelve joint angles over the cycle, 101 x 12, degrees.
        summary: sentences on the differences from the measured cycle: ranges of motion, heels, center of mass, ZMP.
    """

    time: Array
    q: Array
    curves: Array
    summary: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class GaitResult:
    """Trial, human model fitted to it, and reproductions of one gait cycle.

    Attributes:
        title: name of the file.
        shape: shape of the fitted body.
        time: n, s.
        q: n x nq, configurations of the body; a walk on a treadmill is moved to a fixed floor.
        markers, unknown_markers: n x k x 3, m; markers that the fit uses, and markers that no marker set knows. NaN in
            gaps.
        heading: walking direction, a horizontal unit vector.
        cycle: gait cycle that is reproduced; None: the trial has none, and there are no curves and reproductions.
        curves: twelve measured joint angles over the cycle, 101 x 12, degrees.
        reproductions: reproduced cycles by the name of their variant.
        summary: sentences that describe the trial and the fit.
        notes: sentences on decisions of the fit.
        quality: checks of the fit with a verdict.
    """

    title: str
    shape: BodyShape
    time: Array
    q: Array
    markers: Array
    unknown_markers: Array
    heading: Array
    cycle: GaitCycle | None = None
    curves: Array | None = None
    reproductions: dict[str, ReproducedCycle] = field(default_factory=dict)
    summary: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    quality: FitQuality = field(default_factory=FitQuality)

    def as_json(self) -> dict[str, Any]:
        """Return the data of the gait panel.

        "curves" has one entry per plotted joint angle: "measured", the normative mean "norm" with its standard
        deviation "band", and all "variants". "rows" is the table of ranges of motion, "summary" holds sentences by
        variant, "notes" sentences on the fit, "verdict" and "checks" its quality. Angles are in degrees.
        """
        data: dict[str, Any] = {"title": self.title, "notes": list(self.notes), "curves": [], "rows": [], "summary": {}}
        data |= self.quality.summary()
        if self.curves is None or self.cycle is None:
            return data
        for side in (self.cycle.side, other_side(self.cycle.side)):
            for kind in PLOTTED_ANGLES:
                joint = f"{side}_{kind}"
                k, norm = TABLE_I_JOINTS.index(joint), normative_band(joint, self.cycle.side)
                data["curves"].append(
                    {
                        "title": f"{side} {kind.split('_')[0]}",
                        "help": TABLE_I[k].title,
                        "measured": _round_tenths(self.curves[:, k]),
                        "norm": _round_tenths(np.degrees(norm.mean)),
                        "band": _round_tenths(np.degrees(norm.deviation)),
                        "variants": {
                            name: _round_tenths(reproduction.curves[:, k])
                            for name, reproduction in self.reproductions.items()
                        },
                    }
                )
        measured = range_of_motion(self.curves)
        ranges = {name: range_of_motion(reproduction.curves) for name, reproduction in self.reproductions.items()}
        data["rows"] = [
            {
                "side": rotation.joint.split("_")[0],
                "title": rotation.title.split(" ", 1)[1],
                "measured": round(float(measured[k]), 1),
                "variants": {
                    name: _round_tenths([variant_ranges[k], variant_ranges[k] - measured[k]])
                    for name, variant_ranges in ranges.items()
                },
            }
            for k, rotation in enumerate(TABLE_I)
        ]
        data["summary"] = {name: list(reproduction.summary) for name, reproduction in self.reproductions.items()}
        return data


def _round_tenths(curve: Iterable[float]) -> list[float]:
    """Round angles to 0.1 degrees, which is less than the width of a plotted line."""
    return [round(float(value), 1) for value in curve]
