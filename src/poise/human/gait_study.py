"""Gait study: walks reproduced from a few tasks, with spatiotemporal parameters, statistics, tables and files.

>>> from poise import human
>>> study = human.study_gait(["a.c3d", "b.c3d"], dynamics=True)
>>> print(study.table())
>>> study.save("study")
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import Any, Unpack

import numpy as np

from poise.analysis import GaitCycle, events_from_plates, stride_lengths, walking_direction
from poise.errors import GaitError
from poise.files import json_ready, make_folder, write_csv
from poise.human.dynamic_gait import DynamicGait, simulate_gait
from poise.human.fitting.body_fit import Fit
from poise.human.gait.reference_walk import ReferenceWalk
from poise.human.gait.reproduction import BEST, VARIANTS, Variant, reproduce
from poise.human.gait.reproduction_quality import ReproductionQuality, measure_reproduction
from poise.human.gait.straight_walking import straight_cycle, straightness
from poise.human.gait.variant_comparison import VariantComparison, compare_variants, comparison_table
from poise.human.trial import ForcePlate
from poise.human.trial_fitting import FIT_COLUMNS, FitOptions, TrialFailure, TrialFiles, find_trials, fit_trials
from poise.recording import Recording
from poise.robots import SIDES, Side

#: Largest time difference of two events of the same step, s.
SAME_EVENT_TIME = 0.15
#: Columns of the CSV table of trials.
TRIAL_COLUMNS = (*FIT_COLUMNS[:-1], "worst_difference_deg", "worst_joint", "zmp_inside", "reason")


@dataclass(frozen=True, eq=False)
class GaitTrial:
    """One gait cycle of a fitted walk, reproduced by one variant or several.

    Attributes:
        fit: body model and motion.
        reference: the walk that the tasks track.
        cycle: the gait cycle that was reproduced.
        qualities: quality of each reproduction, in the order of the variants.
        dynamic_gait: the cycle with dynamics; None if not requested.
    """

    fit: Fit
    reference: ReferenceWalk
    cycle: GaitCycle
    qualities: tuple[ReproductionQuality, ...]
    dynamic_gait: DynamicGait | None = None

    def __str__(self) -> str:
        return self.text()

    @property
    def best_quality(self) -> ReproductionQuality:
        """Quality of the variant `BEST`, or of the first variant if that was not reproduced."""
        return next((each for each in self.qualities if each.reproduction.variant == BEST), self.qualities[0])

    @cached_property
    def spatiotemporal_parameters(self) -> dict[str, float]:
        """Speed, lengths and times of the measured cycle, see `spatiotemporal_parameters`."""
        return spatiotemporal_parameters(self.reference, self.cycle)

    def recordings(self) -> dict[str, Recording]:
        """Return the recordings by name: "measured", "reproduced"; with dynamics also "torques" (ideal plant) and
        "physics" (MuJoCo).
        """
        recordings = {"measured": self.fit.recording(), "reproduced": self.best_quality.reproduction.recording}
        if self.dynamic_gait is not None:
            recordings["torques"] = self.dynamic_gait.ideal_recording
            if self.dynamic_gait.physics_recording is not None:
                recordings["physics"] = self.dynamic_gait.physics_recording
        return recordings

    def summary(self) -> dict[str, Any]:
        """Return plain values for JSON: `Fit.summary`, gait cycle, spatiotemporal parameters, events, best variant."""
        joint, difference = self.best_quality.worst_joint
        row = {
            **{key: value for key, value in self.fit.summary().items() if key not in ("shape", "by_marker_mm")},
            "cycle": {"side": self.cycle.side, "begin_s": self.cycle.initial_contact, "end_s": self.cycle.end},
            "walk": self.spatiotemporal_parameters,
            "events_ms": compare_events(self.fit, self.reference),
            "worst_difference_deg": difference,
            "worst_joint": joint,
            "zmp_inside": self.best_quality.zmp_inside,
            "belt_speed_m_s": self.reference.belt_speed,
        }
        if self.dynamic_gait is not None:
            row["dynamics"] = self.dynamic_gait.summary()
        return json_ready(row)

    def text(self) -> str:
        """Return the measured cycle in one line, the best reproduction in another, dynamics in a third."""
        joint, difference = self.best_quality.worst_joint
        walk, cycle = self.spatiotemporal_parameters, self.cycle
        line = (
            f"{self.fit.name}: {cycle.side} gait cycle {cycle.initial_contact:.2f} to {cycle.end:.2f} s, "
            f"{walk['speed']:.2f} m/s, {walk['cadence']:.0f} steps/min, stride {walk['stride']:.2f} m, "
            f"stance {walk['stance']:.0f} %\n"
            f"  largest range-of-motion difference of the best variant {difference:+.1f} degrees "
            f"({joint}), ZMP inside the support polygon {100 * self.best_quality.zmp_inside:.0f} % of the time"
        )
        return line if self.dynamic_gait is None else f"{line}\n  {self.dynamic_gait.text()}"


@dataclass(frozen=True, eq=False)
class GaitStudy:
    """Reproduced walks of one or more people.

    Attributes:
        results: one entry per trial, in their order: its reproduction, or the reason of the failure.
    """

    results: tuple[GaitTrial | TrialFailure, ...]

    def __str__(self) -> str:
        return self.text()

    @property
    def trials(self) -> tuple[GaitTrial, ...]:
        """The walks that were reproduced."""
        return tuple(each for each in self.results if isinstance(each, GaitTrial))

    @property
    def failures(self) -> tuple[TrialFailure, ...]:
        """The trials that could not be read, fitted or reproduced."""
        return tuple(each for each in self.results if isinstance(each, TrialFailure))

    @cached_property
    def statistics(self) -> VariantComparison:
        """Comparison of variants over all walks: ranges of motion, equivalence tests; GaitError without walks."""
        return compare_variants(each for trial in self.trials for each in trial.qualities)

    def table(self) -> str:
        """Return a table with one row per variant, over all walks: joint angles, feet, center of mass, ZMP."""
        return comparison_table(self.statistics)

    def summary(self) -> dict[str, Any]:
        """Return plain values for JSON: ``"trials"`` with a summary of each, then `VariantComparison.summary`."""
        statistics = self.statistics.summary() if self.trials else {"variants": {}, "people": [], "notes": []}
        return json_ready({"trials": [each.summary() for each in self.results], **statistics})

    def text(self) -> str:
        """Return all tables, then a line for each trial."""
        if not self.trials:
            return "\n".join(["no walk could be reproduced", *(each.text() for each in self.failures)])
        lines = [each.text() for each in self.results]
        return f"{self.statistics}\n\n" + "\n".join(lines)

    def save(self, folder: str | PathLike[str]) -> list[Path]:
        """Write summary, table of trials and recordings into a folder, and return the paths of the files.

        The files are ``study.json``, ``trials.csv`` and ``NAME_measured.poise``, ``NAME_reproduced.poise``, ... of each
        trial. `poise.report.save_study_page` writes a page with figures about the same study.
        """
        if not self.trials:
            raise GaitError(self.text())
        folder_path, facts = Path(folder), self.summary()
        make_folder(folder_path, GaitError)
        paths = [folder_path / "study.json", folder_path / "trials.csv"]
        paths[0].write_text(json.dumps(facts, indent=1), encoding="utf-8")
        write_csv(paths[1], facts["trials"], TRIAL_COLUMNS)
        for trial in self.trials:
            for name, recording in trial.recordings().items():
                paths.append(folder_path / f"{Path(trial.fit.trial.path).stem}_{name}.poise")
                recording.save(paths[-1])
        return paths


def study_gait(
    walks: Iterable[str | PathLike[str] | TrialFiles | Fit | TrialFailure],
    static: str | PathLike[str] | None = None,
    *,
    variants: Sequence[Variant] = VARIANTS,
    dynamics: bool = False,
    progress: Callable[[float], object] | None = None,
    **options: Unpack[FitOptions],
) -> GaitStudy:
    """Fit walks if needed, reproduce a gait cycle of each, and compare the variants (`poise human gait`).

    Args:
        walks: files, folders of files, fits, or a `FitBatch`; a walk that cannot be used, or whose fit is unusable
            (`Fit.quality`), becomes a `TrialFailure`.
        static: static trial of all files; None: found next to each, see `find_trials`.
        variants: methods of reproduction.
        dynamics: whether to simulate each cycle also with torques and contact forces, and in MuJoCo.
        progress: called with the number of completed walks.
        **options: options of the fits, see `FitOptions`.

    >>> study = study_gait(["a.c3d", "b.c3d"])
    >>> study.statistics.result("best").worst_difference
    """
    report = progress or (lambda completed: None)
    queue: list[TrialFiles | Fit | TrialFailure] = []
    for walk in walks:
        queue += [walk] if isinstance(walk, (Fit, TrialFailure)) else find_trials([walk], static)
    results: list[GaitTrial | TrialFailure] = []
    for k, each in enumerate(queue):
        (outcome,) = fit_trials([each], **options) if isinstance(each, TrialFiles) else (each,)
        results.append(
            outcome if isinstance(outcome, TrialFailure) else _reproduce_or_failure(outcome, variants, dynamics)
        )
        report(k + 1.0)
    return GaitStudy(tuple(results))


def _reproduce_or_failure(fit: Fit, variants: Sequence[Variant], dynamics: bool) -> GaitTrial | TrialFailure:
    if not fit.quality.usable:
        return TrialFailure(fit.name, Path(fit.static).name if fit.static else None, fit.quality.failures[0])
    try:
        return reproduce_walk(fit, variants=variants, dynamics=dynamics)
    except GaitError as error:
        return TrialFailure(fit.name, Path(fit.static).name if fit.static else None, str(error))


def reproduce_walk(
    fit: Fit,
    *,
    variants: Sequence[Variant] = VARIANTS,
    dynamics: bool = False,
    reference: ReferenceWalk | None = None,
    progress: Callable[[float], object] | None = None,
) -> GaitTrial:
    """Reproduce the gait cycle in the middle of a fitted walk, of those in which the person walks straight ahead.

    Args:
        fit: body model and motion.
        variants: methods of reproduction, one or more.
        dynamics: whether to simulate the cycle also with torques and contact forces, and in MuJoCo.
        reference: reference walk of this fit; computed if not given.
        progress: called with the number of completed variants.

    Raises:
        GaitError: the motion has no complete gait cycle of straight walking; the message says why.

    >>> trial = reproduce_walk(fit_trial("walk.c3d"), variants=[BEST])
    >>> trial.best_quality.worst_joint, trial.spatiotemporal_parameters["speed"]
    """
    if not variants:
        raise GaitError("no variant given; pass one or more of poise.human.gait.VARIANTS")
    reference = reference or ReferenceWalk.from_fit(fit)
    cycle = reference.cycle()  # raises an error that lists the missing events, if there is none
    cycle = straight_cycle(reference, reference.cycles)
    qualities = []
    for k, variant in enumerate(variants):
        if progress is not None:
            progress(float(k))
        qualities.append(measure_reproduction(reproduce(reference, cycle, variant)))
    return GaitTrial(fit, reference, cycle, tuple(qualities), simulate_gait(reference, cycle) if dynamics else None)


# -- Spatiotemporal parameters ---------------------------------------------------------------------------------------


def spatiotemporal_parameters(reference: ReferenceWalk, cycle: GaitCycle) -> dict[str, float]:
    """Compute speed (m/s), stride and step length and step width (m), cadence (steps/min), and the shares of stance and
    double support (% of the cycle); and the angle between facing and travel, and the turn over the cycle (degrees).
    """
    heels = reference.foot_point("heel")
    direction = walking_direction(reference.q[:, :3], heels, reference.foot_point("first_metatarsal"))
    strides = stride_lengths(cycle, reference.time, heels, direction)
    straight = straightness(reference, cycle)
    return {
        **{name: float(value) for name, value in strides._asdict().items()},
        "drift_deg": float(np.degrees(straight.drift)),
        "turn_deg": float(np.degrees(straight.turn)),
        "cadence": float(cycle.cadence),
        "stance": float(cycle.stance),
        "double_support": float(cycle.double_support),
    }


def compare_events(fit: Fit, reference: ReferenceWalk) -> dict[str, Any]:
    """Compare detected gait events with those stored in the file and with those of its force plates.

    Returns, by source ("file", "plates") and kind of event: mean and standard deviation of the time difference of
    matching events, detected minus other (ms), and their number.
    """
    own_events = [(event.time, event.side, event.kind) for event in reference.events]
    stored_events = [(event.time, event.side, event.kind) for event in fit.trial.events]
    plate_events = [
        (event.time, side, event.kind)
        for plate in fit.trial.plates
        if (side := nearest_foot(plate, reference)) is not None
        for event in events_from_plates(fit.time, {side: plate.force[:, 2]})
    ]
    return {
        source: {kind: _event_differences(own_events, other_events, kind) for kind in ("initial_contact", "toe_off")}
        for source, other_events in (("file", stored_events), ("plates", plate_events))
        if other_events
    }


def nearest_foot(plate: ForcePlate, reference: ReferenceWalk) -> Side | None:
    """Return the foot nearest to the centre of pressure of a plate on average; None if the plate was never loaded."""
    loaded = np.flatnonzero(plate.force[:, 2] > 0.0)
    if not len(loaded):
        return None
    distances = {}
    for side in SIDES:
        middle = (reference.foot_point("heel")[side] + reference.foot_point("first_metatarsal")[side]) / 2.0
        distances[side] = float(np.mean(np.linalg.norm((plate.center_of_pressure - middle)[loaded, :2], axis=1)))
    return min(SIDES, key=lambda side: distances[side])


def _event_differences(
    own_events: Iterable[Any], other_events: Iterable[Any], kind: str
) -> dict[str, float | int | None]:
    same_kind = [event for event in own_events if event[2] == kind]
    differences = []
    for time, side, what in other_events:
        near = [event[0] - time for event in same_kind if event[1] == side and what == kind]
        if near and abs(best := min(near, key=abs)) < SAME_EVENT_TIME:
            differences.append(1e3 * best)
    if not differences:
        return {"mean": None, "deviation": None, "count": 0}
    return {"mean": float(np.mean(differences)), "deviation": float(np.std(differences)), "count": len(differences)}
