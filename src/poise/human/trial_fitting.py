"""From trial files to fitted bodies: pair each walk with its static trial, fit one trial or a batch of them.

>>> from poise import human
>>> fit = human.fit_trial("lab/walk.c3d")
>>> print(fit.text())
>>> batch = human.fit_trials(["lab"], cutoff=8.0)
>>> batch.save("lab.csv")
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Any, TypedDict, Unpack

from poise.errors import MissingPackageError, PoiseError
from poise.files import write_csv
from poise.human.files.trial_reader import read_trial
from poise.human.fitting.body_fit import Fit, fit
from poise.human.markers import MarkerSet
from poise.human.trial import TrialError

SUFFIXES = (".c3d", ".trc", ".bvh")
#: How laboratories call a trial in which somebody stands still.
STATIC_NAME = re.compile(r"static|calib|(^|[^a-z])(cal|stand|standing|neutral|t-?pose)([^a-z]|$)", re.IGNORECASE)
#: Columns of the table of a batch, in this order.
FIT_COLUMNS = (
    "trial", "static", "marker_set", "frames", "seconds", "height_m", "mass_kg", "sex", "markers", "marker_rms_mm",
    "worst_marker_mm", "worst_marker", "reason",
)  # fmt: skip


class FitOptions(TypedDict, total=False):
    """Options of a fit, with the same meaning and defaults as in `poise.human.fit`.

    Attributes:
        height: of the person, m.
        mass: of the person, kg.
        sex: "male" or "female".
        marker_set: a set, its name or its file.
        cutoff: of the low-pass filter on the motion, Hz.
    """

    height: float | None
    mass: float | None
    sex: str | None
    marker_set: MarkerSet | str | Path | None
    cutoff: float


@dataclass(frozen=True)
class TrialFiles:
    """The files of one trial.

    Attributes:
        path: of the motion.
        static: of the same person standing; None without one.
    """

    path: Path
    static: Path | None = None

    @property
    def name(self) -> str:
        """The name of the file of the motion."""
        return self.path.name


@dataclass(frozen=True, eq=False)
class TrialFailure:
    """A trial that could not be fitted or reproduced.

    Attributes:
        trial: name of its file.
        static: name of the file of its static trial; None without one.
        reason: one line.
    """

    trial: str
    static: str | None
    reason: str

    def summary(self) -> dict[str, Any]:
        """The same as plain values for JSON."""
        return {"trial": self.trial, "static": self.static, "reason": self.reason}


@dataclass(frozen=True, eq=False)
class FitBatch:
    """Fits of several trials, in the order of their files. Iterate over it to get every `Fit` and `TrialFailure`.

    Attributes:
        results: a fit for each trial, or the reason why there is none.
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
    def failures(self) -> tuple[TrialFailure, ...]:
        """The trials that were not."""
        return tuple(each for each in self.results if isinstance(each, TrialFailure))

    def summary(self) -> dict[str, Any]:
        """Plain values for JSON: ``"trials"``, with `Fit.summary` or `TrialFailure.summary` of each."""
        return {"trials": [each.summary() for each in self.results]}

    def text(self) -> str:
        """A table with one line per trial."""
        lines = [f"{'trial':<40} {'frames':>6} {'height':>7} {'mass':>7} {'rms mm':>7}  worst"]
        for each in self.results:
            if isinstance(each, TrialFailure):
                lines.append(f"{each.trial[:40]:<40} failed: {each.reason}")
                continue
            size, label, _ = each.largest_error
            numbers = (
                f"{len(each.time):>6} {each.shape.height:>5.2f} m {each.shape.mass:>4.0f} kg {1e3 * each.rms:>7.1f}"
            )
            lines.append(f"{each.name[:40]:<40} {numbers}  {label} {1e3 * size:.0f} mm")
        return "\n".join([*lines, f"{len(self.fits)} of {len(self)} trials fitted"])

    def save(self, path: str | PathLike[str]) -> Path:
        """Write the table as a CSV file, with the columns `FIT_COLUMNS`, and return its path."""
        return write_csv(path, self.summary()["trials"], FIT_COLUMNS)


def is_static(path: Path) -> bool:
    """Whether a file is called as that of a person who stands."""
    return STATIC_NAME.search(path.stem) is not None


def find_trials(
    trials: Iterable[str | PathLike[str] | TrialFiles], static: str | PathLike[str] | None = None
) -> list[TrialFiles]:
    """Find the walks among files and folders, each with a static trial.

    Args:
        trials: files, or folders, whose C3D, TRC and BVH files are taken, with those of folders inside. A file that is
            named is taken for a walk whatever it is called. Pairs of files stay as they are.
        static: of all walks; None: the file of the same folder that is called static, calibration, ...; of several the
            one whose name resembles that of the walk most.
    """
    found: list[TrialFiles] = []
    for each in trials:
        if isinstance(each, TrialFiles):
            found.append(each)
            continue
        path = Path(each)
        if not path.is_dir():
            found.append(_trial_files(path, static))
            continue
        inside = sorted(file for file in path.rglob("*") if file.suffix.lower() in SUFFIXES and file.is_file())
        walks = [file for file in inside if not is_static(file)]
        if not walks:
            raise TrialError(f"{path}: no walks in this folder; expected .c3d, .trc or .bvh files", path=str(path))
        found += [_trial_files(file, static) for file in walks]
    return found


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
    progress: Callable[[float], object] | None = None,
    **options: Unpack[FitOptions],
) -> Fit:
    """Read a trial and its static trial, and fit a body to them (`poise human fit`).

    Args:
        trial: a C3D, TRC or BVH file, or both files of a trial.
        static: file of the same person standing; None: found beside the trial by its name, see `find_trials`. For a
            fit without any, give ``TrialFiles(path)``.
        progress: called with the part that is done, 0 to 1.
        **options: see `FitOptions`.

    Raises:
        PoiseError: a file cannot be read, or no body can be fitted to it; one line.

    >>> fit = fit_trial("lab/walk.c3d", mass=64.0)
    >>> fit.summary()["marker_rms_mm"]
    """
    files = trial if isinstance(trial, TrialFiles) else _trial_files(Path(trial), static)
    report = progress or (lambda done: None)

    def advance(stage: str, share: float) -> None:
        report(0.5 * share if stage == "body" else 0.5 + 0.5 * share)

    standing = None if files.static is None else read_trial(files.static)
    found = fit(read_trial(files.path), standing, progress=advance, **options)
    report(1.0)
    return found


def fit_trials(
    trials: Iterable[str | PathLike[str] | TrialFiles],
    static: str | PathLike[str] | None = None,
    *,
    progress: Callable[[float], object] | None = None,
    **options: Unpack[FitOptions],
) -> FitBatch:
    """Fit several trials one after another; a trial that cannot be used becomes a `TrialFailure`.

    Args:
        trials: files, folders of files, or pairs of files from `find_trials`.
        static: of all trials; None: found beside each, see `find_trials`.
        progress: called with the number of trials that are done, with a fraction for the one at work.
        **options: of all trials, see `FitOptions`.

    >>> batch = fit_trials(["lab"])
    >>> [fit.rms for fit in batch.fits], [failure.reason for failure in batch.failures]
    """
    report = progress or (lambda done: None)
    results: list[Fit | TrialFailure] = []
    for k, files in enumerate(find_trials(trials, static)):
        try:
            results.append(fit_trial(files, progress=partial(_report_offset, report, k), **options))
        except MissingPackageError:  # no fault of the trial
            raise
        except PoiseError as error:
            results.append(TrialFailure(files.name, files.static.name if files.static else None, str(error)))
            report(k + 1.0)
    return FitBatch(tuple(results))


def _report_offset(report: Callable[[float], object], before: int, share: float) -> None:
    report(before + share)
