"""Request: which behavior to run, on which robot, how."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
from typing import Any, TypeVar

from poise.errors import UsageError, suggestion
from poise.robots import takes_angles

#: What each behavior can run on today, as (mode, plant); the first is what it runs on unless asked otherwise.
AVAILABLE: dict[str, tuple[tuple[str, str], ...]] = {
    "reach": (("kinematic", "ideal"), ("torque", "ideal"), ("torque", "mujoco")),
    "stand": (("torque", "mujoco"), ("position", "mujoco"), ("torque", "ideal")),
    "squat": (("torque", "mujoco"), ("position", "mujoco"), ("torque", "ideal"), ("kinematic", "ideal")),
    "walk": (("torque", "mujoco"), ("position", "mujoco"), ("torque", "ideal")),
    "navigate": (("torque", "mujoco"), ("position", "mujoco"), ("torque", "ideal"), ("kinematic", "ideal")),
}
SOLVERS = ("strict", "weighted", "null-space")
#: Level of the noise of good sensors, see `poise.plants.Sensors`: perfect force cells would make regulation too easy.
NOISE = 0.01
#: Behaviors that later parts of Poise bring.
LATER: tuple[str, ...] = ()

Settings = TypeVar("Settings")


@dataclass(frozen=True)
class Request:
    """One run, as the command line and campaigns ask for it.

    Attributes:
        behavior: ``"reach"``, ``"stand"``, ``"squat"``, ``"walk"`` or ``"navigate"``.
        robot: name of a library robot, or a file.
        mode: ``"kinematic"``, ``"torque"`` or ``"position"``; "": what the behavior usually runs in on this robot.
        plant: ``"ideal"`` or ``"mujoco"``; "": likewise.
        seconds: of motion; None: as long as the behavior takes.
        profile: of the reach: ``"exponential"`` or ``"minimum-jerk"``.
        solver: ``"strict"``, ``"weighted"``, or, for bodies on servos, ``"null-space"``, the closed form.
        settings: numbers of the behavior, by name.
        seed: of all that is random in the plant; kept with the recording.
        pushes: ``"FX,FY,FZ,DURATION@TIME"`` each, in N and s.
        terrain: ``"flat"``, ``"slope:DEG"``, ``"rough:METRES"`` or ``"stairs:RISE,RUN,COUNT"``.
        friction: of the ground; None: 0.8.
        mass_error: by how many percent the robot is heavier than its controller believes.
        delay: of the measured state, ms.
        noise: of the sensors, see `poise.plants.Sensors`; None: that of good ones for bodies on servos, which live by
            their force cells, and zero for others.
        breakdowns: what breaks, each as `poise.plants.Breakdown.parsed` reads it.
        carry: weight of a box in both hands, in percent of the robot's; only on servos.
        style, steps, speed: of a walk, see `poise.behaviors.Walk`.
        script: file with what guides a navigation, see `poise.devices.Script`; "": a random stick, of the seed.
        scenario: whether it is guided down the stairs and to the door of [Sugihara2008], figure 9, in that world.
        remote: address of the plant, if it moves in another process, see `poise.plants.remote`.
    """

    behavior: str
    robot: str = "g1"
    mode: str = ""
    plant: str = ""
    seconds: float | None = None
    profile: str = "exponential"
    solver: str = "strict"
    settings: Mapping[str, float] = field(default_factory=dict)
    seed: int = 0
    pushes: Sequence[str] = ()
    terrain: str = "flat"
    friction: float | None = None
    mass_error: float = 0.0
    delay: float = 0.0
    noise: float | None = None
    breakdowns: Sequence[str] = ()
    carry: float = 0.0
    style: str = "neutral"
    steps: float = 20
    speed: tuple[float, float, float] | None = None
    script: str = ""
    scenario: bool = False
    remote: str = ""

    def __post_init__(self) -> None:
        known_behavior(self.behavior)
        possible = possible_on(self.robot, self.behavior)
        fitting = [(mode, plant) for mode, plant in possible if self.mode in ("", mode) and self.plant in ("", plant)]
        if not fitting:
            known = " or ".join(f"--mode {mode} --plant {plant}" for mode, plant in possible)
            asked = " ".join(f"--{name} {given}" for name in ("mode", "plant") if (given := getattr(self, name)))
            raise UsageError(
                f"'{self.behavior}' with {asked} arrives with a later part of Poise; today it runs with {known}"
            )
        object.__setattr__(self, "mode", fitting[0][0])
        object.__setattr__(self, "plant", fitting[0][1])
        if self.noise is None:
            object.__setattr__(self, "noise", NOISE if self.regulated else 0.0)
        self._check_solver()
        if self.plant == "ideal" and self.disturbances:
            raise UsageError(f"an ideal plant knows no {self.disturbances[0]}; give --plant mujoco --mode torque")
        self._check_guided()

    @property
    def regulated(self) -> bool:
        """Whether a body on servos balances by its force cells ([Galdeano2014])."""
        return self.mode == "position" and self.behavior != "navigate"

    def _check_solver(self) -> None:
        if self.solver not in SOLVERS:
            raise UsageError(f"there is no solver '{self.solver}'; expected {', '.join(SOLVERS)}")
        fitting = ("strict", "null-space") if self.regulated else ("strict", "weighted")
        if self.solver not in fitting:
            what = f"'{self.behavior}' with --mode {self.mode}"
            raise UsageError(f"{what} does not run with --solver {self.solver}; expected {' or '.join(fitting)}")
        if self.carry and not self.regulated:
            raise UsageError("a box is carried on position servos; give --mode position to stand, squat or walk")
        if self.regulated and (self.style != "neutral" or self.terrain != "flat"):
            what = "--style" if self.style != "neutral" else "--terrain"
            raise UsageError(f"on servos there is flat ground and one manner to walk; leave {what} out")

    def _check_guided(self) -> None:
        """What only a navigation takes, and what does not go together."""
        given = {"script": bool(self.script), "scenario": self.scenario, "remote": bool(self.remote)}
        asked = [name for name, there in given.items() if there]
        if asked and self.behavior != "navigate":
            raise UsageError(f"--{asked[0]} is for guided robots; give it to 'poise run navigate'")
        if self.script and self.scenario:
            raise UsageError("--script and --scenario both guide the robot; give one of them")
        if self.remote and self.plant == "ideal":
            raise UsageError("a remote plant is not ideal; leave --plant out, or --remote")
        if self.remote and (self.scenario or self.disturbances):
            what = "--scenario" if self.scenario else f"--{self.disturbances[0].replace(' ', '-')}"
            raise UsageError(f"the world of a remote plant is the server's; leave {what} out, or --remote")
        if self.scenario and self.terrain != "flat":
            raise UsageError("the scenario has ground of its own; leave --terrain out")
        if self.behavior == "navigate" and self.terrain.partition(":")[0] not in ("flat", "stairs"):
            raise UsageError(f"a guided robot knows flat ground and stairs, not '{self.terrain}'; choose one of these")

    @property
    def disturbances(self) -> list[str]:
        """What was asked for that only a plant with physics has, in words."""
        given = {
            "push": bool(self.pushes),
            "terrain": self.terrain != "flat",
            "friction": self.friction is not None,
            "mass error": self.mass_error != 0.0,
            "delay": self.delay != 0.0,
            "noise": bool(self.noise),
            "breakdown": bool(self.breakdowns),
            "carry": self.carry != 0.0,
        }
        return [name for name, asked in given.items() if asked]


def possible_on(robot: str, behavior: str) -> tuple[tuple[str, str], ...]:
    """What a behavior can run on, the usual first: guided robots that take angles are given those."""
    possible = AVAILABLE[behavior]
    if behavior == "navigate" and takes_angles(robot):
        possible = tuple(sorted(possible, key=lambda pair: pair[0] != "position"))
    return possible


def known_behavior(name: str) -> str:
    """The name, if a behavior is called so today."""
    if name in LATER:
        raise UsageError(f"'{name}' arrives with a later part of Poise; today there is {', '.join(AVAILABLE)}")
    if name not in AVAILABLE:
        raise UsageError(f"there is no behavior '{name}'; {suggestion(name, [*AVAILABLE, *LATER])}")
    return name


def lasting(seconds: float, period: float) -> float:
    """How long a run lasts: whole periods, one or more."""
    steps = round(seconds / period) if math.isfinite(seconds) else 0
    if steps < 1:
        raise UsageError(f"a run of {seconds:g} s has no control step; give {period:g} s or more")
    return steps * period


def filled(kind: type[Settings], given: Mapping[str, Any]) -> Settings:
    """Settings of a behavior from names and numbers; UsageError for a name that it does not have.

    Names of settings that stand within others, such as gains of a stabilizer, are given like all names.
    """
    usual = {f.name: f.default_factory() if callable(f.default_factory) else f.default for f in fields(kind)}  # type: ignore[arg-type]
    parts = {name: part for name, part in usual.items() if is_dataclass(part)}
    inner = {f.name: name for name, part in parts.items() for f in fields(part)}
    names = [name for name in usual if name not in parts] + list(inner)
    for name in given:
        if name not in names:
            raise UsageError(f"no setting '{name}'; {suggestion(name, names)}")
    outer = {name: value for name, value in given.items() if name not in inner}
    for name, part in parts.items():
        own = {key: value for key, value in given.items() if inner.get(key) == name}
        outer[name] = replace(part, **own)  # type: ignore[type-var]
    return kind(**outer)
