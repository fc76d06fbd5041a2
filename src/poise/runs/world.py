"""Environment and disturbances of a simulated robot: `World`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from poise.control import MAX_DELAY
from poise.errors import UsageError
from poise.parameters import check_parameters, parameter, parameters
from poise.parsing import parse_nonnegative, parse_percent, parse_positive
from poise.plants import (
    CarriedBox,
    EnvironmentObject,
    HardwareFault,
    ModelError,
    MujocoPlant,
    PositionServos,
    Push,
    Sensors,
    Terrain,
    TorqueMotors,
    parse_terrain,
)
from poise.robots import Frame, Robot, State

#: Default friction coefficient of the ground, that of dry floors.
FRICTION = 0.8
#: Noise level of good sensors, see `poise.plants.Sensors`: perfect force cells would make ZMP regulation too easy.
NOISE = 0.01


def validated_text(reader: Callable[[str], object]) -> Callable[[str], str]:
    """Return a parser that checks a text with `reader` and returns it unchanged."""

    def read(text: str) -> str:
        reader(text)
        return text

    return read


#: What a torque controller knows of a carried box.
KNOWLEDGE = ("announced", "estimated", "unknown")


@dataclass(frozen=True, kw_only=True)
class World:
    """Environment and disturbances of a simulated robot. An ideal plant supports none of them.

    >>> World(push="100,0,0,0.1@1.0", terrain="slope:5")
    """

    push: tuple[str, ...] = parameter(
        (),
        "push at the base, in N and s; repeatable",
        metavar="FX,FY,FZ,DURATION@TIME",
        parser=validated_text(Push.parse),
    )
    terrain: str = parameter(
        "flat",
        "terrain: flat, slope:DEG, rough:METERS or stairs:RISE,RUN,COUNT",
        metavar="KIND",
        parser=validated_text(parse_terrain),
        suggestions=("flat", "slope:5", "slope:-5", "rough:0.02", "stairs:0.05,0.3,4", "stairs:-0.05,0.3,4"),
    )
    friction: float = parameter(
        FRICTION,
        "friction coefficient of the ground",
        above=0.0,
        high=2.0,
        typical_range=(0.1, 1.2),
        metavar="MU",
        parser=parse_positive,
    )
    mass_error: float = parameter(
        0.0,
        "mass of the robot above that of the controller's model",
        unit="percent",
        low=-90.0,
        high=1000.0,
        typical_range=(-30.0, 30.0),
        metavar="PERCENT",
        parser=parse_percent,
    )
    delay: float = parameter(
        0.0,
        "delay of the measured state",
        unit="ms",
        low=0.0,
        high=1000.0,
        typical_range=(0.0, 40.0),
        metavar="MS",
        parser=parse_nonnegative,
    )
    assumed_delay: float | None = parameter(
        None,
        "delay that the torque controller compensates, by default that of the measured state",
        unit="ms",
        kind="number",
        low=0.0,
        high=1e3 * MAX_DELAY,
        typical_range=(0.0, 40.0),
        metavar="MS",
        parser=parse_nonnegative,
    )
    noise: float | None = parameter(
        None,
        f"sensor noise level; good sensors have {NOISE:g} (default {NOISE:g} on servos, otherwise 0)",
        kind="number",
        low=0.0,
        high=1.0,
        typical_range=(0.0, 0.05),
        metavar="LEVEL",
        parser=parse_nonnegative,
    )
    faults: tuple[str, ...] = parameter(
        (),
        "hardware fault: cell:left:2:dead (or stuck, nan), swapped, or weak:JOINT:SHARE, at a time in s; repeatable",
        metavar="WHAT@TIME",
        option="fault",
        parser=validated_text(HardwareFault.parse),
    )
    self_collision: bool = parameter(False, "bodies of the robot collide with each other")
    speed_limits: bool = parameter(False, "motors lose their torque at their speed limits")
    carried_mass: float = parameter(
        0.0,
        "mass of a box in both hands, relative to the robot's mass",
        unit="percent",
        low=0.0,
        high=1000.0,
        metavar="PERCENT",
        parser=parse_nonnegative,
    )
    carried_knowledge: str = parameter(
        "announced",
        "what a torque controller knows of the box: its mass, nothing, or what it estimates from forces and torques",
        choices=KNOWLEDGE,
    )

    def __post_init__(self) -> None:
        object.__setattr__(self, "push", tuple(_push_text(each) for each in _as_tuple(self.push)))
        object.__setattr__(self, "faults", _as_tuple(self.faults))
        check_parameters(self, "world", UsageError)
        for text in self.push:
            Push.parse(text)
        for text in self.faults:
            HardwareFault.parse(text)
        parse_terrain(self.terrain)

    @property
    def disturbances(self) -> dict[str, Any]:
        """Values that differ from the default and need a simulated plant, by name; recordings store them."""
        defaults = {name: each.default for name, each in parameters(type(self)).items()}
        values = {name: getattr(self, name) for name in defaults}
        return {name: value for name, value in values.items() if value and value != defaults[name]}

    @property
    def first_disturbance(self) -> str:
        """Option of the first disturbance, without dashes; empty if there is none."""
        return next((parameters(type(self))[name].option for name in self.disturbances), "")

    @property
    def assumed_delay_seconds(self) -> float:
        """Delay that the torque controller compensates (s)."""
        return 1e-3 * (min(self.delay, 1e3 * MAX_DELAY) if self.assumed_delay is None else self.assumed_delay)

    @property
    def ground(self) -> Terrain:
        """Terrain under the robot."""
        return parse_terrain(self.terrain)

    def announced_loads(self, robot: Robot) -> dict[Frame, float]:
        """Return the masses that a torque controller is told of (kg): each hand carries half of the box."""
        if not self.carried_mass or self.carried_knowledge != "announced":
            return {}
        return {hand: 0.01 * self.carried_mass * robot.mass / len(robot.hands) for hand in robot.hands}

    def plant(
        self,
        start: State,
        *,
        seed: int = 0,
        servos: bool = False,
        stiffness: float = 1.0,
        ground: Terrain | None = None,
        objects: Sequence[EnvironmentObject] = (),
    ) -> MujocoPlant:
        """Return a simulated robot in this world. On uneven ground its start differs from `start`: read `state()`.

        Args:
            start: state of the robot at the start.
            seed: random seed.
            servos: whether joints are driven by position servos instead of torques.
            stiffness: stiffness of the servos, relative to the value in the robot's data file.
            ground: terrain to use instead of `terrain`.
            objects: objects in the environment.
        """
        return MujocoPlant(
            start,
            ground=self.ground if ground is None else ground,
            objects=objects,
            actuators=PositionServos(stiffness_scale=stiffness) if servos else TorqueMotors(),
            friction=self.friction,
            pushes=[Push.parse(text) for text in self.push],
            sensors=Sensors(noise=self.noise or 0.0, delay=1e-3 * self.delay),
            faults=[HardwareFault.parse(text) for text in self.faults],
            carried_box=CarriedBox.of_mass_fraction(start.robot, 0.01 * self.carried_mass)
            if self.carried_mass
            else None,
            model_error=ModelError(mass=0.01 * self.mass_error),
            seed=seed,
            self_collision=self.self_collision,
            speed_limits=self.speed_limits,
        )


def _as_tuple(value: Any) -> tuple[Any, ...]:
    """Return one or several entries as a tuple."""
    return tuple(value) if isinstance(value, (list, tuple)) else (value,)


def _push_text(push: str | Push) -> str:
    """Return a push as command line text."""
    if isinstance(push, str):
        return push
    if push.frame is not None:
        raise UsageError(
            "the pushes of a motion act at the base; pass pushes at other frames to MujocoPlant(pushes=...)"
        )
    x, y, z = np.asarray(push.force, dtype=float).tolist()
    return f"{x!r},{y!r},{z!r},{push.duration!r}@{push.time!r}"
