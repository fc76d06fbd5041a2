"""Reference behaviours: how the error of a task should vanish. They know no task, tasks know no gains."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np

from poise.errors import TaskError
from poise.geometry import minimum_jerk
from poise.parsing import brief
from poise.tasks.arguments import number, positive


@dataclass(frozen=True)
class Decay:
    """The error decays exponentially; at acceleration order with critical damping.

    With gain g and damping k (both 1/s) the task asks for a rate ``-g e`` at velocity order, and for the
    acceleration ``-g k e - (g + k) ė`` at acceleration order, whose poles are -g and -k.

    Args:
        rate: g. The error falls to 5 % in 3/g seconds.
        damping: k; None: equal to the rate, critical damping.
        speed: greatest rate of change that the task may ask for, m/s or rad/s. A pair (m/s, rad/s) limits position
            and orientation apart.
        acceleration: greatest acceleration that it may ask for, m/s² or rad/s², likewise.

    >>> tasks.Position(hand, target=goal, reference=tasks.Decay(rate=3.0, speed=0.5))
    """

    rate: float = 5.0
    damping: float | None = None
    speed: float | tuple[float, float] = np.inf
    acceleration: float | tuple[float, float] = np.inf

    def __post_init__(self) -> None:
        _check(self, ("rate",) if self.damping is None else ("rate", "damping"))

    @property
    def varies(self) -> bool:
        """Whether the gains change with time."""
        return False

    def gains(self, time: float) -> tuple[float, float, float]:
        """(g, its derivative, k) at a time."""
        return self.rate, 0.0, self.rate if self.damping is None else self.damping


@dataclass(frozen=True)
class MinimumJerk:
    """The error vanishes along a minimum-jerk curve, in a given time: no peak of velocity or torque at the start.

    [Saab2012] names such a curve as the cure for the torque peaks of an exponential decay. With s(t) the
    minimum-jerk curve from 0 to 1, the error ``e(t) = e(begin) (1 - s)`` obeys ``ė = -g(t) e`` with
    ``g = ṡ / (1 - s)``: a decay whose gain grows from zero, without memory of how the motion began. The gain is cut
    at `rate`, with which the error decays from then on.

    Args:
        duration: seconds.
        begin: when it starts; before, the task asks for nothing to change.
        rate: largest gain, 1/s.
        damping: how fast deviations from the curve vanish at acceleration order, 1/s.
        speed, acceleration: as for `Decay`.

    >>> tasks.Position(hand, target=goal, reference=tasks.MinimumJerk(duration=1.5, begin=0.5))
    """

    duration: float
    begin: float = 0.0
    rate: float = 20.0
    damping: float = 20.0
    speed: float | tuple[float, float] = np.inf
    acceleration: float | tuple[float, float] = np.inf

    def __post_init__(self) -> None:
        number(self.begin, "begin", "MinimumJerk")
        _check(self, ("duration", "rate", "damping"))

    @property
    def varies(self) -> bool:
        return True

    def gains(self, time: float) -> tuple[float, float, float]:
        """(g, its derivative, k) at a time."""
        s, rate, acceleration = (float(x) for x in minimum_jerk((time - self.begin) / self.duration))
        rate, acceleration = rate / self.duration, acceleration / self.duration**2
        left = 1.0 - s
        if left <= 0.0 or rate >= self.rate * left:
            return self.rate, 0.0, self.damping
        gain = rate / left
        return gain, acceleration / left + gain**2, self.damping


@dataclass(frozen=True)
class Given:
    """The task does exactly what its target says, without feedback: its rate, or its acceleration.

    For plans that bring their own feedback, such as that of the divergent component of motion.

    >>> tasks.CenterOfMass(plan, axes="xy", reference=tasks.Given())
    """

    speed: float = np.inf
    acceleration: float = np.inf

    @property
    def varies(self) -> bool:
        return False

    def gains(self, time: float) -> tuple[float, float, float]:
        """(g, its derivative, k): all zero."""
        return 0.0, 0.0, 0.0


@runtime_checkable
class Reference(Protocol):
    """What a task asks: `gains`, whether they change with time, and limits; those above, or one of your own."""

    @property
    def speed(self) -> float | tuple[float, float]: ...
    @property
    def acceleration(self) -> float | tuple[float, float]: ...
    @property
    def varies(self) -> bool: ...
    def gains(self, time: float) -> tuple[float, float, float]: ...


def limits(value: float | tuple[float, float], parts: int) -> list[float]:
    """One limit for each part of a task: position and orientation may differ, a single number serves all."""
    values = [float(v) for v in np.atleast_1d(value)]
    return values[:parts] if len(values) >= parts else values * parts


def _check(reference: Decay | MinimumJerk, finite: tuple[str, ...]) -> None:
    """A TaskError unless these are positive numbers, and the limits one or two, which may be infinite."""
    kind = type(reference).__name__
    for name in finite:
        positive(getattr(reference, name), name, kind)
    for name in ("speed", "acceleration"):
        value = getattr(reference, name)
        try:
            values = np.atleast_1d(np.asarray(value, dtype=np.float64))
        except (TypeError, ValueError):
            values = np.zeros(0)
        if values.shape not in ((1,), (2,)) or not (values > 0.0).all():
            raise TaskError(f"{kind}: {name} is {brief(value)}; expected a positive number, or two for a pose")
