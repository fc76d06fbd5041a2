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
from poise.files import json_ready, write_csv
from poise.human.dynamic import Simulated, simulate
from poise.human.fitting.body_fit import Fit
from poise.human.gait.population_study import Study, comparison, study
from poise.human.gait.reference_walk import Reference
from poise.human.gait.reproduction import BEST, VARIANTS, Variant, reproduce
from poise.human.gait.reproduction_quality import Measures, measured
from poise.human.trial import Plate
from poise.human.trial_fitting import COLUMNS, FitOptions, TrialFailure, TrialFiles, find_trials, fit_trials
from poise.recording import Recording
from poise.robots import SIDES, Side

#: Events further apart (s) are not of the same step.
SAME = 0.15
#: Columns of the table of trials, in this order.
TRIAL_COLUMNS = (*COLUMNS[:-1], "worst_difference_deg", "worst_rotation", "zmp_inside", "reason")


@dataclass(frozen=True, eq=False)
class GaitTrial:
    """One gait cycle of a fitted walk, reproduced by one variant or several.

    Attributes:
        fit: body and motion.
        reference: the walk that the tasks follow.
        cycle: the gait cycle that was reproduced.
        measures: quality of each reproduction, in the order of the variants.
        simulated: the cycle with dynamics; None if that was not asked for.
    """

    fit: Fit
    reference: Reference
    cycle: GaitCycle
    measures: tuple[Measures, ...]
    simulated: Simulated | None = None

    def __str__(self) -> str:
        return self.text()

    @property
    def best(self) -> Measures:
        """Of the variant `BEST`, or of the first variant if that was not reproduced."""
        return next((each for each in self.measures if each.reproduction.variant == BEST), self.measures[0])

    @cached_property
    def spatiotemporal(self) -> dict[str, float]:
        """Speed, lengths and times of the measured cycle, see `spatiotemporal`."""
        return spatiotemporal(self.reference, self.cycle)

    def recordings(self) -> dict[str, Recording]:
        """Measured and reproduced motion; with dynamics also under torques, and in physics."""
        found = {"measured": self.fit.recording(), "reproduced": self.best.reproduction.recording}
        if self.simulated is not None:
            found["torques"] = self.simulated.ideal
            if self.simulated.physics is not None:
                found["physics"] = self.simulated.physics
        return found

    def summary(self) -> dict[str, Any]:
        """Plain values for JSON: those of `Fit.summary`, the cycle, its walk, events, and the best reproduction."""
        joint, difference = self.best.worst
        row = {
            **{key: value for key, value in self.fit.summary().items() if key not in ("shape", "by_marker_mm")},
            "cycle": {"side": self.cycle.side, "begin_s": self.cycle.initial_contact, "end_s": self.cycle.end},
            "walk": self.spatiotemporal,
            "events_ms": compare_events(self.fit, self.reference),
            "worst_difference_deg": difference,
            "worst_rotation": joint,
            "zmp_inside": self.best.inside,
            "belt_speed_m_s": self.reference.belt,
        }
        if self.simulated is not None:
            row["dynamics"] = self.simulated.summary()
        return json_ready(row)

    def text(self) -> str:
        """The best reproduction in one line, dynamics in another."""
        joint, difference = self.best.worst
        line = (
            f"{self.fit.name}: best variant differs by {difference:+.1f} degrees at most "
            f"({joint}), ZMP inside the support {100 * self.best.inside:.0f} % of the time"
        )
        return line if self.simulated is None else f"{line}\n  {self.simulated.text()}"


@dataclass(frozen=True, eq=False)
class GaitStudy:
    """Reproduced walks of one or more people.

    Attributes:
        results: a reproduction for each trial, or the reason why there is none, in the order of the trials.
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
    def statistics(self) -> Study:
        """Variants compared over all walks: ranges of motion, equivalence tests; GaitError without any walk."""
        return study(each for trial in self.trials for each in trial.measures)

    def table(self) -> str:
        """One line for each variant, over all walks: joint angles, feet, center of mass, ZMP."""
        return comparison(self.statistics)

    def summary(self) -> dict[str, Any]:
        """Plain values for JSON: ``"trials"`` with a summary of each, then those of `Study.summary`."""
        statistics = self.statistics.summary() if self.trials else {"variants": {}, "people": [], "notes": []}
        return json_ready({"trials": [each.summary() for each in self.results], **statistics})

    def text(self) -> str:
        """All tables, then a line for each trial."""
        if not self.trials:
            return "\n".join(["no walk could be reproduced", *(f"{f.trial}: {f.reason}" for f in self.failures)])
        lines = [
            each.text() if isinstance(each, GaitTrial) else f"{each.trial}: failed: {each.reason}"
            for each in self.results
        ]
        return f"{self.statistics}\n\n" + "\n".join(lines)

    def save(self, folder: str | PathLike[str]) -> list[Path]:
        """Write summary, table of trials and recordings into a folder, and return the paths of the files.

        The files are ``study.json``, ``trials.csv`` and ``NAME_measured.poise``, ``NAME_reproduced.poise``, ... of each
        trial. `poise.report.save_study_page` writes a page with figures about the same study.
        """
        if not self.trials:
            raise GaitError(self.text())
        place, facts = Path(folder), self.summary()
        place.mkdir(parents=True, exist_ok=True)
        written = [place / "study.json", place / "trials.csv"]
        written[0].write_text(json.dumps(facts, indent=1), encoding="utf-8")
        write_csv(written[1], facts["trials"], TRIAL_COLUMNS)
        for trial in self.trials:
            for name, recording in trial.recordings().items():
                written.append(place / f"{Path(trial.fit.trial.path).stem}_{name}.poise")
                recording.save(written[-1])
        return written


def study_gait(
    walks: Iterable[str | PathLike[str] | TrialFiles | Fit | TrialFailure],
    static: str | PathLike[str] | None = None,
    *,
    variants: Sequence[Variant] = VARIANTS,
    dynamics: bool = False,
    progress: Callable[[float], object] | None = None,
    **options: Unpack[FitOptions],
) -> GaitStudy:
    """Fit walks where needed, reproduce a gait cycle of each, and compare (`poise human gait`).

    Args:
        walks: files, folders of files, fits, or a `FitBatch`; what cannot be used becomes a `TrialFailure`.
        static: static trial of all files; None: found beside each, see `find_trials`.
        variants: ways to reproduce a gait.
        dynamics: whether to simulate each cycle with torques and contact forces, and in MuJoCo, as well.
        progress: called with the number of walks that are done.
        **options: of the fits of files, see `FitOptions`.

    >>> study = study_gait(["a.c3d", "b.c3d"])
    >>> study.statistics.outcome("best").worst
    """
    report = progress or (lambda done: None)
    queue: list[TrialFiles | Fit | TrialFailure] = []
    for walk in walks:
        queue += [walk] if isinstance(walk, (Fit, TrialFailure)) else find_trials([walk], static)
    results: list[GaitTrial | TrialFailure] = []
    for k, each in enumerate(queue):
        (found,) = fit_trials([each], **options) if isinstance(each, TrialFiles) else (each,)
        results.append(found if isinstance(found, TrialFailure) else _reproduction(found, variants, dynamics))
        report(k + 1.0)
    return GaitStudy(tuple(results))


def _reproduction(fit: Fit, variants: Sequence[Variant], dynamics: bool) -> GaitTrial | TrialFailure:
    try:
        return reproduce_walk(fit, variants=variants, dynamics=dynamics)
    except GaitError as error:
        return TrialFailure(fit.name, Path(fit.static).name if fit.static else None, f"{fit.name}: {error}")


def reproduce_walk(
    fit: Fit,
    *,
    variants: Sequence[Variant] = VARIANTS,
    dynamics: bool = False,
    reference: Reference | None = None,
    progress: Callable[[float], object] | None = None,
) -> GaitTrial:
    """Reproduce the gait cycle in the middle of a fitted walk.

    Args:
        fit: body and motion.
        variants: ways to reproduce a gait, one or more.
        dynamics: whether to simulate the cycle with torques and contact forces, and in MuJoCo, as well.
        reference: of this fit, if it is at hand.
        progress: called with the number of variants that are done.

    Raises:
        GaitError: the motion has no complete gait cycle.

    >>> trial = reproduce_walk(fit_trial("walk.c3d"), variants=[BEST])
    >>> trial.best.worst, trial.spatiotemporal["speed"]
    """
    if not variants:
        raise GaitError("no variant to reproduce the walk by; give one or more of poise.human.gait.VARIANTS")
    reference = reference or Reference.of(fit)
    cycle = reference.cycle()
    measures = []
    for k, variant in enumerate(variants):
        if progress is not None:
            progress(float(k))
        measures.append(measured(reproduce(reference, cycle, variant)))
    return GaitTrial(fit, reference, cycle, tuple(measures), simulate(reference, cycle) if dynamics else None)


# -- Spatiotemporal parameters ---------------------------------------------------------------------------------------


def spatiotemporal(reference: Reference, cycle: GaitCycle) -> dict[str, float]:
    """Speed (m/s), stride and step length and width (m), cadence (steps/min), stance and double support (%)."""
    heels = reference.track("heel")
    direction = walking_direction(reference.q[:, :3], heels, reference.track("first_metatarsal"))
    found = stride_lengths(cycle, reference.time, heels, direction)
    return {
        **{name: float(value) for name, value in found._asdict().items()},
        "cadence": float(cycle.cadence),
        "stance": float(cycle.stance),
        "double_support": float(cycle.double_support),
    }


def compare_events(fit: Fit, reference: Reference) -> dict[str, Any]:
    """Compare gait events with those that the file stores and with those of its force plates.

    By source ("file", "plates") and kind, for events that both have: mean and standard deviation of ours less theirs
    (ms), and their number.
    """
    ours = [(event.time, event.side, event.kind) for event in reference.events]
    stored = [(event.time, event.side, event.kind) for event in fit.trial.events]
    felt = [
        (event.time, side, event.kind)
        for plate in fit.trial.plates
        if (side := nearest_foot(plate, reference)) is not None
        for event in events_from_plates(fit.time, {side: plate.force[:, 2]})
    ]
    return {
        source: {kind: _spread(ours, others, kind) for kind in ("strike", "off")}
        for source, others in (("file", stored), ("plates", felt))
        if others
    }


def nearest_foot(plate: Plate, reference: Reference) -> Side | None:
    """The foot that is nearest to the centre of pressure of a plate on average; None if nothing was on it."""
    loaded = np.flatnonzero(plate.force[:, 2] > 0.0)
    if not len(loaded):
        return None
    far = {}
    for side in SIDES:
        middle = (reference.track("heel")[side] + reference.track("first_metatarsal")[side]) / 2.0
        far[side] = float(np.mean(np.linalg.norm((plate.center - middle)[loaded, :2], axis=1)))
    return min(SIDES, key=lambda side: far[side])


def _spread(ours: Iterable[Any], others: Iterable[Any], kind: str) -> dict[str, float | int | None]:
    mine = [event for event in ours if event[2] == kind]
    found = []
    for time, side, what in others:
        near = [event[0] - time for event in mine if event[1] == side and what == kind]
        if near and abs(best := min(near, key=abs)) < SAME:
            found.append(1e3 * best)
    if not found:
        return {"mean": None, "deviation": None, "count": 0}
    return {"mean": float(np.mean(found)), "deviation": float(np.std(found)), "count": len(found)}
