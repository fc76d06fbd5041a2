"""Numbers of a walk that do not belong to its style."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Literal

from poise.behaviors.settings import check_settings
from poise.errors import PoiseError


@dataclass(frozen=True)
class WalkSettings:
    """Gains of a walk, the same on all robots and in all styles.

    Args:
        feedback: k of the divergent component, 1/s: its error decays as e^{-kt}.
        start: seconds in which the weight shifts before the first step.
        wait: seconds of standing before a walk begins.
        swing, trunk, posture, height: rates of these tasks, 1/s.
        calm: damping of the chest's level: what the chest may ask of the other limbs.
        spin: angular momentum that is left alone about the horizontal axes, as a share of m h sqrt(g h): with none a
            weak robot lets its trunk fall for the sake of its centre of mass.
        spin_rate: how fast more than that is damped, 1/s.
        friction: μ that contacts are trusted with.
        stopping: rate at which a standing foot that rocks is brought to rest, 1/s: with twice of it, or half, a robot
            whose foot lands on an edge is thrown about by it.
        change: seconds in which a change of style is applied.
        center: ``"divergent"``, or ``"sinusoid"`` as in [Dalibard2012].
        contact: when a swing ends: at its ``"time"``, or as soon as a ``"force"`` is felt.
        adapt: whether steps move where the body needs them: 1, or 0.
    """

    feedback: float = 4.0
    start: float = 0.8
    wait: float = 0.4
    swing: float = 20.0
    trunk: float = 12.0
    posture: float = 6.0
    height: float = 9.0
    calm: float = 0.3
    spin: float = 0.03
    spin_rate: float = 8.0
    friction: float = 0.7
    stopping: float = 20.0
    change: float = 0.3
    center: Literal["divergent", "sinusoid"] = "divergent"
    contact: Literal["time", "force"] = "time"
    adapt: float = 1.0

    def __post_init__(self) -> None:
        words = {"center": ("divergent", "sinusoid"), "contact": ("time", "force")}
        for name, known in words.items():
            if getattr(self, name) not in known:
                raise PoiseError(f"walk: {name} is {getattr(self, name)!r}; expected {' or '.join(known)}")
        check_settings(
            self,
            zero=("calm", "adapt", "wait", "feedback"),
            names=[f.name for f in fields(self) if f.name not in words],
        )
