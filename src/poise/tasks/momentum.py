"""Momentum of the whole body: a task that speaks of velocities only."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from poise.robots import Robot
from poise.state import MOMENTUM, Snapshot
from poise.tasks.axes import axis_indices, numbers
from poise.tasks.motion import MotionTask, Within
from poise.tasks.reference import Reference
from poise.tasks.target import Live, Target, checked_target, moving

Array = NDArray[np.float64]


class Momentum(MotionTask):
    """``A_g v`` takes a value, which may be `Live`, or move as a `Target` whose value is the momentum h*.

    At acceleration order ``A_g v̇ + Ȧ_g v = ḣ* - k (A_g v - h*)`` ([Dalibard2012])."""

    needs = MOMENTUM
    wants_rate = True
    curvature = 0.0
    first = 0

    def __init__(
        self,
        target: ArrayLike | Target = 0.0,
        axes: str = "xyz",
        within: Within = None,
        weight: ArrayLike = 1.0,
        reference: Reference | None = None,
        name: str = "",
    ) -> None:
        name = name or self.default_name
        self.axes = axes
        self.indices = [self.first + i for i in axis_indices(axes, name)]
        super().__init__(name, weight, within, reference, len(self.indices))
        if isinstance(target, Live):
            self.target: Any = target.value  # read where it stands, at every tick
        elif moving(target):
            self.target = checked_target(target, (len(axes),), name)  # type: ignore[arg-type]
        else:
            self.target = numbers(target, len(axes), "target", name)  # type: ignore[arg-type]

    default_name = "momentum"

    def labels(self, robot: Robot) -> tuple[str, ...]:
        return tuple(self.axes)

    def value(self, snapshot: Snapshot) -> Array:
        """Zero: a rate has no error in position. What is missing in rate is the slack of the rows."""
        return np.zeros(len(self.indices))

    def jacobian(self, snapshot: Snapshot) -> Array:
        return snapshot.momentum_matrix[self.indices]

    def drift(self, snapshot: Snapshot) -> Array:
        return snapshot.momentum_drift[self.indices]

    def target_rate(self, time: float) -> Array | None:
        return self.target.sample(time)[0] if moving(self.target) else self.target

    def target_acceleration(self, time: float) -> Array | None:
        return self.target.sample(time)[1] if moving(self.target) else None


class LinearMomentum(Momentum):
    """The body's linear momentum, kg m/s, in world axes.

    >>> tasks.LinearMomentum(target=(1.0, 0.0, 0.0))
    """

    unit = "kg m/s"
    default_name = "linear momentum"


class AngularMomentum(Momentum):
    """The body's angular momentum about its centre of mass, kg m²/s, in world axes.

    >>> tasks.AngularMomentum(axes="z")  # arms swing against the legs
    """

    unit = "kg m²/s"
    default_name = "angular momentum"
    first = 3
