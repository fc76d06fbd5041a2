"""Moved: what inverse dynamics needs to know of a person: a body, its motion, and the trial with the force plates."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from poise.human.trial import Trial
from poise.robots import Robot

Array = NDArray[np.float64]
Marks = NDArray[np.bool_]


class Moved(Protocol):
    """A body in motion, such as a `poise.human.fitting.Fit`: n frames, those of the trial.

    Attributes:
        robot: a human of the library.
        trial: with force plates.
        time: n, s.
        q, v, a: configurations, velocities, accelerations, n x nq, n x nv, n x nv.
        notes: what was decided on the way, one sentence each.
    """

    @property
    def robot(self) -> Robot: ...
    @property
    def trial(self) -> Trial: ...
    @property
    def time(self) -> Array: ...
    @property
    def q(self) -> Array: ...
    @property
    def v(self) -> Array: ...
    @property
    def a(self) -> Array: ...
    @property
    def notes(self) -> tuple[str, ...]: ...
