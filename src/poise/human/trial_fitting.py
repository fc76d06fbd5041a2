"""Fit body models to trial files: pair each walk with its static trial, fit one trial or a batch of them.

>>> from poise import human
>>> fit = human.fit_trial("lab/walk.c3d")
>>> print(fit.text())
>>> batch = human.fit_trials(["lab"], cutoff=8.0)
>>> batch.save("lab.csv")
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Any, TypedDict, Unpack

from poise.errors import MissingPackageError, PoiseError
from poise.files import write_csv
from poise.human.files.trial_reader import read_trial
from poise.human.fitting.body_fit import Fit, fit
from poise.human.fitting.calibrated_subject import CalibratedSubject, hide_raised_arms
from poise.human.markers import MarkerSet, match_markers
from poise.human.trial import Trial, TrialError

SUFFIXES = (".c3d", ".trc", ".bvh")
#: File names that laboratories use for static trials.
STATIC_NAME = re.compile(r"static|calib|(^|[^a-z])(cal|stand|standing|neutral|t-?pose)([^a-z]|$)", re.IGNORECASE)
#: Columns of the CSV table of a batch.
FIT_COLUMNS = (
    "trial", "static", "marker_set", "frames", "seconds", "height_m", "mass_kg", "sex", "markers", "verdict",
    "marker_rms_mm", "worst_marker_mm", "worst_marker", "reason",
)  # fmt: skip


class FitOptions(TypedDict, total=False):
    """Options of a fit, with the same meaning and defaults as in `poise.human.fit`.

    Attributes:
        height: of the subject, m.
        mass: of the subject, kg.
        sex: "male" or "female".
        marker_set: a marker set, its name or its file.
        cutoff: cut-off of the low-pass filter on the motion, Hz.
        fix: correction of the files: "labels", "mirror" or "unit".
        subject: calibrated person, or its TOML file; static trials are then not used.
    """

    height: float | None
    mass: float | None
    sex: str | None
    marker_set: MarkerSet | str | Path | None
    cutoff: float
    fix: str | None
    subject: CalibratedSubject | str | Path | None


@dataclass(frozen=True)
class TrialFiles:
    """The files of one trial.

    Attributes:
        path: file of the motion.
        static: static trial of the same subject; None without one.
        forces: file with ground forces; None: see `poise.human.read_trial`.
    """

    path: Path
    static: Path | None = None
    forces: Path | None = None

    @property
    def name(self) -> str:
        """File name of the motion."""
        return self.path.name


@dataclass(frozen=True, eq=False)
class TrialFailure:
    """A trial that could not be fitted or reproduced.

    Attributes:
        trial: file name of the trial.
        static: file name of its static trial; None without one.
        reason: one line.
    """

    trial: str
    static: str | None
    reason: str

    def text(self) -> str:
        """Return the trial and the reason in one line; the path of the file is not repeated."""
        _, name, rest = self.reason.partition(f"{self.trial}: ")
        return f"{self.trial}: failed: {rest if name else self.reason}"

    def summary(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return {"trial": self.trial, "static": self.static, "reason": self.reason}


@dataclass(frozen=True, eq=False)
class FitBatch:
    """Fits of several trials, in the order of their files. Iterating over a batch gives each `Fit` or `TrialFailure`.

    Attributes:
        results: one entry per trial: its fit, or the reason of the failure.
    """

    results: tuple[Fit | TrialFailure, ...]

    def __iter__(self) -> Iterator[Fit | TrialFailure]:
        return iter(self.results)

    def __len__(self) -> int:
        return len(self.results)

    def __str__(self) -> str:
        return self.text()

    @property
    def fits(self) -> tuple[Fit, ...]:
        """The trials that were fitted."""
        return tuple(each for each in self.results if isinstance(each, Fit))

    @property
    def usable_fits(self) -> tuple[Fit, ...]:
        """The fits whose verdict is not "unusable"."""
        return tuple(each for each in self.fits if each.quality.usable)

    @property
    def failures(self) -> tuple[TrialFailure, ...]:
        """The trials that could not be fitted."""
        return tuple(each for each in self.results if isinstance(each, TrialFailure))

    def summary(self) -> dict[str, Any]:
        """Return plain values for JSON: ``"trials"``, with `Fit.summary` or `TrialFailure.summary` of each."""
        return {"trials": [each.summary() for each in self.results]}

    def text(self) -> str:
        """Return a table with one line per trial."""
        lines = [f"{'trial':<40} {'frames':>6} {'height':>7} {'mass':>7} {'rms mm':>7}  {'verdict':<9} worst"]
        for each in self.results:
            if isinstance(each, TrialFailure):
                lines.append(f"{each.trial[:40]:<40} failed: {each.reason}")
                continue
            size, label, _ = each.largest_error
            numbers = (
                f"{len(each.time):>6} {each.shape.height:>5.2f} m {each.shape.mass:>4.0f} kg {1e3 * each.rms:>7.1f}"
            )
            lines.append(f"{each.name[:40]:<40} {numbers}  {each.quality.verdict:<9} {label} {1e3 * size:.0f} mm")
            lines += [f"    {message}" for message in each.quality.failures]
        unusable = len(self.fits) - len(self.usable_fits)
        doubt = f", {unusable} of them unusable" if unusable else ""
        return "\n".join([*lines, f"{len(self.fits)} of {len(self)} trials fitted{doubt}"])

    def save(self, path: str | PathLike[str]) -> Path:
        """Write the table as a CSV file, with the columns `FIT_COLUMNS`, and return its path."""
        return write_csv(path, self.summary()["trials"], FIT_COLUMNS)


def is_static(path: Path) -> bool:
    """Return whether a file is named like a static trial."""
    return STATIC_NAME.search(path.stem) is not None


def find_trials(
    trials: Iterable[str | PathLike[str] | TrialFiles], static: str | PathLike[str] | None = None
) -> list[TrialFiles]:
    """Find the walks among files and folders, each with a static trial.

    Args:
        trials: files, or folders that are searched recursively for C3D, TRC and BVH files. A file given by name is
            taken as a walk, whatever its name. Pairs (`TrialFiles`) are returned unchanged.
        static: static trial of all walks; None: the file in the same folder named static, calibration, ...; among
            several the one whose name is most similar to that of the walk.
    """
    pairs: list[TrialFiles] = []
    for each in trials:
        if isinstance(each, TrialFiles):
            pairs.append(each)
            continue
        path = Path(each)
        if not path.is_dir():
            pairs.append(_trial_files(path, static))
            continue
        inside = sorted(file for file in path.rglob("*") if file.suffix.lower() in SUFFIXES and file.is_file())
        walks = [file for file in inside if not is_static(file)]
        if not walks:
            raise TrialError(f"{path}: no walks in this folder; expected .c3d, .trc or .bvh files", path=str(path))
        pairs += [_trial_files(file, static) for file in walks]
    return pairs


def _trial_files(path: Path, static: str | PathLike[str] | None) -> TrialFiles:
    return TrialFiles(path, Path(static) if static else _find_static(path))


def _find_static(path: Path) -> Path | None:
    if is_static(path) or not path.parent.is_dir():
        return None
    candidates = [each for each in path.parent.iterdir() if each.suffix.lower() in SUFFIXES and is_static(each)]
    return max(sorted(candidates), key=lambda each: SequenceMatcher(None, each.stem, path.stem).ratio(), default=None)


def fit_trial(
    trial: str | PathLike[str] | TrialFiles,
    static: str | PathLike[str] | None = None,
    *,
    forces: str | PathLike[str] | None = None,
    progress: Callable[[float], object] | None = None,
    **options: Unpack[FitOptions],
) -> Fit:
    """Read a trial and its static trial, and fit a body model to them (`poise human fit`).

    Args:
        trial: a C3D, TRC or BVH file, or both files of a trial.
        static: static trial of the same subject; None: found next to the trial by its name, see `find_trials`. To fit
            without a static trial, pass ``TrialFiles(path)``.
        forces: MOT or STO file with the ground forces; None: those in the trial or beside it, see `read_trial`.
        progress: called with the completed share, 0 to 1.
        **options: see `FitOptions`.

    Raises:
        PoiseError: a file cannot be read, or no body model can be fitted to it; the message is one line.

    >>> fit = fit_trial("lab/walk.c3d", mass=64.0)
    >>> fit.summary()["marker_rms_mm"]
    """
    files = trial if isinstance(trial, TrialFiles) else _trial_files(Path(trial), static)
    report = progress or (lambda completed: None)

    def advance(stage: str, share: float) -> None:
        report(0.5 * share if stage == "body" else 0.5 + 0.5 * share)

    if options.get("subject") is not None and static is None:
        files = replace(files, static=None)
    standing = None if files.static is None else read_trial(files.static)
    moving = read_trial(files.path, forces=files.forces if forces is None else Path(forces))
    result = fit(moving, standing, progress=advance, **options)
    report(1.0)
    return result


def calibrate_subject(
    static: str | PathLike[str] | Trial,
    *,
    progress: Callable[[float], object] | None = None,
    **options: Unpack[FitOptions],
) -> CalibratedSubject:
    """Calibrate a person with a static trial (`poise human subject`).

    Args:
        static: the person standing upright, feet flat, arms hanging if possible.
        progress: called with the completed share, 0 to 1.
        **options: see `FitOptions`.

    Raises:
        PoiseError: the trial cannot be read, or its fit is unusable; the message is one line.

    >>> calibrate_subject("static.c3d", mass=64.0).save("anna.toml")
    """
    trial = static if isinstance(static, Trial) else read_trial(Path(static))
    markers = match_markers(trial, options.get("marker_set")).markers
    trial = hide_raised_arms(trial, markers)
    report = progress or (lambda completed: None)
    stages = {"body": 0.0, "frames": 0.5}
    found = fit(trial, trial, progress=lambda stage, share: report(stages.get(stage, 0.0) + 0.5 * share), **options)
    report(1.0)
    if not found.quality.usable:
        raise TrialError(f"{trial.path}: cannot calibrate a person: {found.quality.failures[0]}", path=trial.path)
    return replace(CalibratedSubject.of(found), markers={marker.label: marker for marker in markers.values()})


def fit_trials(
    trials: Iterable[str | PathLike[str] | TrialFiles],
    static: str | PathLike[str] | None = None,
    *,
    progress: Callable[[float], object] | None = None,
    **options: Unpack[FitOptions],
) -> FitBatch:
    """Fit several trials one after another; a trial that cannot be fitted becomes a `TrialFailure`.

    Args:
        trials: files, folders of files, or pairs of files from `find_trials`.
        static: static trial of all trials; None: found next to each, see `find_trials`.
        progress: called with the number of completed trials, with a fraction for the current one.
        **options: options of all fits, see `FitOptions`.

    >>> batch = fit_trials(["lab"])
    >>> [fit.rms for fit in batch.fits], [failure.reason for failure in batch.failures]
    """
    report = progress or (lambda completed: None)
    results: list[Fit | TrialFailure] = []
    for k, files in enumerate(find_trials(trials, static)):
        try:
            results.append(fit_trial(files, progress=partial(_report_offset, report, k), **options))
        except MissingPackageError:  # not a failure of this trial
            raise
        except PoiseError as error:
            results.append(TrialFailure(files.name, files.static.name if files.static else None, str(error)))
            report(k + 1.0)
    return FitBatch(tuple(results))


def _report_offset(report: Callable[[float], object], before: int, share: float) -> None:
    report(before + share)
