"""Settings that the solvers share."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from poise.errors import SolverError
from poise.solvers.program import Program


def checked_damping(damping: float | Sequence[float]) -> float | Sequence[float]:
    """The damping as given; SolverError unless it is made of finite numbers, zero or more."""
    try:
        values = np.atleast_1d(np.asarray(damping, dtype=float))
    except (TypeError, ValueError):
        values = np.array([np.nan])
    if values.ndim != 1 or not (np.isfinite(values).all() and (values >= 0.0).all()):
        raise SolverError(f"damping is {damping!r}; expected a finite number, zero or more, or one per level")
    return damping


def level_damping(damping: float | Sequence[float], levels: int) -> list[float]:
    """One damping per level; a shorter list leaves the remaining levels undamped."""
    if isinstance(damping, (int, float)):
        return [float(damping)] * levels
    return [float(damping[k]) if k < len(damping) else 0.0 for k in range(levels)]


def program_damping(damping: float | Sequence[float], program: Program) -> list[float]:
    """One damping per level: the program's own where it has one, else the solver's."""
    solvers = level_damping(damping, len(program))
    return [float(own) or value for own, value in zip(program.damping, solvers, strict=True)]
