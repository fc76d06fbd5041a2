"""Batches of trials: pair each walk with its static trial and fit them one after another."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import partial
from pathlib import Path

from poise.errors import MissingPackageError, PoiseError
from poise.human.files.trial_reader import read_trial
from poise.human.fitting.body_fit import Fit, fit
from poise.human.trial import TrialError

SUFFIXES = (".c3d", ".trc", ".bvh")
#: How laboratories call a trial in which somebody stands still.
STANDING = re.compile(r"static|calib|(^|[^a-z])(cal|stand|standing|neutral|t-?pose)([^a-z]|$)", re.IGNORECASE)


@dataclass(frozen=True)
class Job:
    """One walk to look at: its file, and that of the same person standing, if there is one."""

    path: Path
    static: Path | None = None

    @property
    def name(self) -> str:
        return self.path.name


@dataclass(frozen=True, eq=False)
class Failure:
    """A file from which nothing came, and why, in one line."""

    job: Job
    reason: str


def is_static(path: Path) -> bool:
    """Whether a file is called as that of a person who stands."""
    return STANDING.search(path.stem) is not None


def jobs(paths: Iterable[str | Path], static: str | Path | None = None) -> list[Job]:
    """Walks among files and folders, each with a static trial.

    Args:
        paths: files, or folders, whose C3D, TRC and BVH files are taken, with those of folders inside. A file that is
            named is taken for a walk whatever it is called.
        static: of all walks; None: the file of the same folder that is called static, calibration, ...; of several the
            one whose name resembles that of the walk most.
    """
    found: list[Job] = []
    for given in paths:
        path = Path(given)
        if not path.is_dir():
            found.append(Job(path, Path(static) if static else _static_of(path)))
            continue
        inside = sorted(each for each in path.rglob("*") if each.suffix.lower() in SUFFIXES and each.is_file())
        walks = [each for each in inside if not is_static(each)]
        if not walks:
            raise TrialError(f"{path}: no walks in this folder; expected .c3d, .trc or .bvh files", path=str(path))
        found += [Job(each, Path(static) if static else _static_of(each)) for each in walks]
    return found


def _static_of(path: Path) -> Path | None:
    if is_static(path) or not path.parent.is_dir():
        return None
    near = [each for each in path.parent.iterdir() if each.suffix.lower() in SUFFIXES and is_static(each)]
    return max(sorted(near), key=lambda each: SequenceMatcher(None, each.stem, path.stem).ratio(), default=None)


def fits(
    wanted: Sequence[Job],
    *,
    height: float | None = None,
    mass: float | None = None,
    sex: str | None = None,
    marker_set: str | Path | None = None,
    cutoff: float = 6.0,
    progress: Callable[[float], object] | None = None,
) -> Iterator[tuple[Job, Fit | Failure]]:
    """Fits one walk after the other; a file that cannot be used is a `Failure`, and the others go on.

    Args:
        wanted: which.
        height, mass, sex, marker_set, cutoff: of all, as for `fit`.
        progress: told how many are done, with the part of the one at work.
    """
    say = progress or (lambda done: None)
    for k, job in enumerate(wanted):
        try:
            static = None if job.static is None else read_trial(job.static)
            found: Fit | Failure = fit(
                read_trial(job.path),
                static,
                height=height,
                mass=mass,
                sex=sex,
                marker_set=marker_set,
                cutoff=cutoff,
                progress=partial(_told, say, k),
            )
        except MissingPackageError:  # nothing is wrong with the file
            raise
        except PoiseError as error:
            found = Failure(job, str(error))
        say(k + 1.0)
        yield job, found


def _told(say: Callable[[float], object], before: int, what: str, share: float) -> None:
    """How much is done: the body is the first half of a fit, its frames the second."""
    say(before + (0.5 * share if what == "body" else 0.5 + 0.5 * share))
