"""Request and result of fitting a trial, as plain data that crosses processes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from poise.analysis import TABLE_I, TABLE_I_JOINTS, GaitCycle, normative_band, range_of_motion
from poise.arrays import Array
from poise.robots import BodyShape, other_side

#: Whose height, mass and sex count.
SUBJECT_SOURCES = FROM_FILE, MANUAL = ("as the file says", "as given here")
#: Names of the variants that are made, all at once, since a reproduction takes a sixth of the time of a fit.
VARIANTS = ("best", "paper", "two phases")


class UploadedFile(NamedTuple):
    """A file of the user's: where a copy of it lies, and what the user calls it."""

    path: Path
    name: str


class FitRequest(NamedTuple):
    """What is to be made.

    Attributes:
        trial: of the motion; None: a synthetic person walks.
        static: of the same person standing, if there is one.
        height, mass, sex: m, kg, "male" or "female"; None: as the file says.
    """

    trial: UploadedFile | None = None
    static: UploadedFile | None = None
    height: float | None = None
    mass: float | None = None
    sex: str | None = None

    @property
    def title(self) -> str:
        """What the user calls it."""
        return "sample walk" if self.trial is None else self.trial.name

    def with_user_names(self, text: str) -> str:
        """A line in which files are called what the user calls them."""
        for file in (self.trial, self.static):
            if file is not None:
                text = text.replace(str(file.path), f"'{file.name}'")
        return text


# -- GaitResult ------------------------------------------------------------------------------------------------------


#: Rotations whose curves are drawn: those that clinics look at first.
PLOTTED_ANGLES = ("hip_flexion", "knee_flexion", "ankle_dorsiflexion")


@dataclass(frozen=True, eq=False)
class ReproducedCycle:
    """The gait cycle as a variant reproduces it.

    Attributes:
        time: n, s, on the clock of the trial.
        q: n x nq.
        curves: the twelve rotations over the cycle, 101 x 12, degrees.
        summary: how near it is in what angles do not tell.
    """

    time: Array
    q: Array
    curves: Array
    summary: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class GaitResult:
    """A trial, the body that was fitted to it, and the reproductions of one gait cycle.

    Attributes:
        title: name of the file.
        shape: of the body.
        time: n, s.
        q: n x nq, of the body, on a floor that does not move.
        markers, unknown_markers: n x k x 3, m; those that the body follows, and those that no marker set knows. NaN in
            gaps.
        heading: where the person walks, a horizontal direction of length 1.
        cycle: the gait cycle that is reproduced; None: there is none, and nothing below.
        curves: the twelve rotations as measured, 101 x 12, degrees.
        reproductions: by the name of their variant.
        summary: what the trial is, in sentences.
        notes: what was decided and done, in sentences.
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

    def as_json(self) -> dict[str, Any]:
        """For pages: "curves" over the cycle, as "measured", of the "norm" (its deviation is the "band") and of all
        "variants"; "rows" of the table of ranges; "summary" by variant, and "notes". Angles in degrees."""
        data: dict[str, Any] = {"title": self.title, "notes": list(self.notes), "curves": [], "rows": [], "summary": {}}
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
    """A tenth of a degree is less than the width of a line."""
    return [round(float(value), 1) for value in curve]
