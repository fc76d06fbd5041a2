"""Request: which behavior to run, on which robot, how."""

from __future__ import annotations

import difflib
import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, TypeVar

from poise.errors import UsageError

#: What each behavior can run on today, as (mode, plant).
AVAILABLE: dict[str, tuple[tuple[str, str], ...]] = {"reach": (("kinematic", "ideal"),)}
#: Behaviors that later parts of Poise bring.
LATER = ("stand", "squat", "walk", "navigate")

Settings = TypeVar("Settings")


@dataclass(frozen=True)
class Request:
    """One run, as the command line and campaigns ask for it.

    Attributes:
        behavior: ``"reach"``.
        robot: name of a library robot, or a file.
        mode: ``"kinematic"``.
        plant: ``"ideal"``.
        seconds: of motion; None: as long as the behavior takes.
        profile: of the reach: ``"exponential"`` or ``"minimum-jerk"``.
        settings: numbers of the behavior, by name.
        seed: kept with the recording.
    """

    behavior: str
    robot: str = "g1"
    mode: str = "kinematic"
    plant: str = "ideal"
    seconds: float | None = None
    profile: str = "exponential"
    settings: Mapping[str, float] = field(default_factory=dict)
    seed: int = 0

    def __post_init__(self) -> None:
        known_behavior(self.behavior)
        if (self.mode, self.plant) not in AVAILABLE[self.behavior]:
            known = " or ".join(f"--mode {mode} --plant {plant}" for mode, plant in AVAILABLE[self.behavior])
            raise UsageError(
                f"'{self.behavior}' with --mode {self.mode} --plant {self.plant} arrives with a later part of Poise; "
                f"today it runs with {known}"
            )


def known_behavior(name: str) -> str:
    """The name, if a behavior is called so today."""
    if name in LATER:
        raise UsageError(f"'{name}' arrives with a later part of Poise; today there is {', '.join(AVAILABLE)}")
    if name not in AVAILABLE:
        near = difflib.get_close_matches(name, [*AVAILABLE, *LATER], n=1)
        hint = f"did you mean '{near[0]}'?" if near else f"there are {', '.join((*AVAILABLE, *LATER))}"
        raise UsageError(f"there is no behavior '{name}'; {hint}")
    return name


def lasting(seconds: float, period: float) -> float:
    """How long a run lasts: whole periods, one or more."""
    steps = round(seconds / period) if math.isfinite(seconds) else 0
    if steps < 1:
        raise UsageError(f"a run of {seconds:g} s has no control step; give {period:g} s or more")
    return steps * period


def filled(kind: type[Settings], given: Mapping[str, Any]) -> Settings:
    """Settings of a behavior from names and numbers; UsageError for a name that it does not have."""
    names = [f.name for f in fields(kind)]  # type: ignore[arg-type]
    for name in given:
        if name not in names:
            near = difflib.get_close_matches(name, names, n=1)
            hint = f"did you mean '{near[0]}'?" if near else f"there are {', '.join(names)}"
            raise UsageError(f"no setting '{name}'; {hint}")
    return kind(**given)
