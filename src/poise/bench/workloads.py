"""Workloads: sequences of programs as a controller would ask them, step after step."""

from __future__ import annotations

import os
import zipfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from poise.bench import generated
from poise.errors import UsageError
from poise.solvers import Program, Rows

#: Where recorded sequences are looked for, above the current directory and above the source tree.
PLACE = Path("shared/data/hqp")


@dataclass(frozen=True)
class Workload:
    """A sequence of programs of one shape.

    Attributes:
        name: what the table calls it.
        source: ``"recorded"`` on a robot or ``"generated"`` from a seed.
        programs: one per control step, in order of time.
    """

    name: str
    source: str
    programs: tuple[Program, ...]

    def first(self, steps: int) -> Workload:
        """The same workload, cut after some steps."""
        return Workload(self.name, self.source, self.programs[:steps])


def stacked_program(A: ArrayLike, lower: ArrayLike, upper: ArrayLike, level: ArrayLike) -> Program:
    """A program from stacked rows, of which `level` says where each belongs."""
    matrix, low, high = (np.asarray(part, dtype=float) for part in (A, lower, upper))
    levels = np.asarray(level, dtype=int)
    members = [levels == k for k in range(int(levels.max(initial=-1)) + 1)]
    return Program([Rows(matrix[own], low[own], high[own]) for own in members], variables=matrix.shape[1])


def recorded_workloads(folder: Path) -> list[Workload]:
    """All sequences ``*.npz`` of a folder: ``A[t]``, ``lb[t]``, ``ub[t]``, and ``lev``, the level of each row."""
    return [_recorded(path) for path in sorted(folder.glob("*.npz"))]


def generated_workloads(steps: int = 100, seed: int = 0) -> list[Workload]:
    """Sequences that are always at hand; the same seed gives the same numbers."""
    kinds = {"kinematics": generated.inverse_kinematics, "dynamics": generated.inverse_dynamics}
    return [
        Workload(f"generated_{name}", "generated", tuple(stacked_program(*rows) for rows in make(steps, seed)))
        for name, make in kinds.items()
    ]


def workloads(data: Path | None = None) -> list[Workload]:
    """Recorded sequences, if there are any, and the generated ones.

    Args:
        data: folder with recorded sequences. None: the folder that the environment variable POISE_DATA names, or
            else ``shared/data/hqp`` beside or above the current directory or the source tree, if it is there.
    """
    given = data or (Path(os.environ["POISE_DATA"]) if os.environ.get("POISE_DATA") else None)
    folder = given or _nearest(Path.cwd(), Path(__file__).resolve().parent)
    recorded = recorded_workloads(folder) if folder is not None else []
    if given is not None and not recorded:
        raise UsageError(f"there are no recorded sequences (*.npz) in '{given}'; name the folder that holds them")
    return [*recorded, *generated_workloads()]


def _nearest(*starts: Path) -> Path | None:
    places: Iterable[Path] = (parent / PLACE for start in starts for parent in (start, *start.parents))
    return next((place for place in places if any(place.glob("*.npz"))), None)


def _recorded(path: Path) -> Workload:
    try:
        with np.load(path) as data:
            A, lower, upper, level = (data[key] for key in ("A", "lb", "ub", "lev"))
    except (OSError, KeyError, ValueError, zipfile.BadZipFile) as error:
        raise UsageError(f"'{path}' is not a recorded sequence with A, lb, ub and lev: {error}") from None
    if (
        A.ndim != 3
        or not A.size
        or lower.shape != A.shape[:2]
        or upper.shape != A.shape[:2]
        or level.shape != (A.shape[1],)
    ):
        raise UsageError(
            f"'{path}' has A {A.shape}, lb {lower.shape}, ub {upper.shape}, lev {level.shape}; "
            "expected steps x rows x variables, twice steps x rows, and rows"
        )
    if (level < 0).any() or (level != level.astype(int)).any():
        raise UsageError(f"'{path}' has levels {sorted(set(level.tolist()))[:8]}; expected whole numbers from 0 on")
    programs = tuple(stacked_program(A[t], lower[t], upper[t], level) for t in range(len(A)))
    return Workload(path.stem, "recorded", programs)
