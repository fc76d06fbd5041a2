"""Scene: all that a plant simulates, checked once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from poise.plants.actuators import PositionServos, TorqueMotors
from poise.plants.breakdowns import Breakdown
from poise.plants.carried import Carried
from poise.plants.disturbances import Load, Push
from poise.plants.errors import PlantError, members, number, positive
from poise.plants.ground import Ground
from poise.plants.model_error import ModelError
from poise.plants.placing import placed
from poise.plants.sensors import Sensors
from poise.plants.things import Box, Plate, Thing
from poise.robots import Frame, Robot, State
from poise.tasks.axes import shown

#: The longest step of a simulation (s): half the time constant of a contact, the least that keeps it stable.
LONGEST = 0.005


@dataclass(frozen=True, eq=False)
class Scene:
    """What is to be simulated; `MujocoPlant` says what each of these is."""

    start: State
    parts: tuple[Frame, ...]
    ground: Ground
    things: tuple[Thing, ...]
    friction: float
    pushes: tuple[Push, ...]
    loads: tuple[Load, ...]
    carried: Carried | None
    actuators: TorqueMotors | PositionServos
    sensors: Sensors
    breakdowns: tuple[Breakdown, ...]
    model_error: ModelError
    period: float
    seed: int
    self_collision: bool
    visuals: bool

    @property
    def robot(self) -> Robot:
        return self.start.robot

    @property
    def delay(self) -> int:
        """Of the sensors, in steps of the simulation."""
        return round(self.sensors.delay / self.period)


def scene(start: Any, touching: Sequence[Frame], **given: Any) -> Scene:
    """A scene from what a user gave; a PlantError says what is wrong with it."""
    if isinstance(start, Robot):
        start = start.stance("standing")
    if not isinstance(start, State):
        raise PlantError(f"MujocoPlant starts from {shown(start)}; expected a Robot or a State", "start")
    kinds: dict[str, tuple[Any, str]] = {
        "actuators": ((TorqueMotors, PositionServos), "TorqueMotors() or PositionServos()"),
        "sensors": (Sensors, "Sensors(noise=0.01)"),
        "carried": ((Carried, type(None)), "Carried.share(robot, 0.10)"),
        "model_error": (ModelError, "ModelError(mass=0.1)"),
        "self_collision": (bool, "True or False"),
        "visuals": (bool, "True or False"),
    }
    for name, (kind, example) in kinds.items():
        if not isinstance(given[name], kind):
            raise PlantError(f"{name} is {shown(given[name])}; expected {example}", name)
    if not hasattr(given["ground"], "elevation"):
        raise PlantError(
            f"ground is {shown(given['ground'])}; expected Flat(), Slope(5), Stairs(...), Rough(...)", "ground"
        )
    number(given["friction"], "friction", low=0.0)
    period, seed, delay = positive(given["period"], "period", "s"), given["seed"], given["sensors"].delay
    if period > LONGEST:
        raise PlantError(f"period is {period:g} s; expected at most {LONGEST:g} s, since contacts are fast", "period")
    if not isinstance(seed, int) or isinstance(seed, bool) or seed < 0:
        raise PlantError(f"seed is {seed!r}; expected a whole number, zero or more", "seed")
    if abs(round(delay / period) * period - delay) > 1e-6 * period:
        advice = f"expected a multiple of the period of the simulation, {period:g} s"
        raise PlantError(f"Sensors.delay is {delay:g} s; {advice}", "delay")
    given["things"] = members(given["things"], (Box, Plate), "things", "[Wall(...), Table(...)]")
    given["pushes"] = members(given["pushes"], Push, "pushes", "[Push((100, 0, 0), 0.1, time=1.0)]")
    given["loads"] = members(given["loads"], Load, "loads", "[Load(robot.hand('left'), mass=1.0)]")
    given["breakdowns"] = members(given["breakdowns"], Breakdown, "breakdowns", "[BrokenCell(1.0, 'left', corner=2)]")
    robot, parts = start.robot, members(touching, Frame, "touching", "[robot.frame('left_knee_link')]")
    parts = tuple(dict.fromkeys((*robot.feet, *robot.hands, *parts)))
    for what, frames in (
        ("touching", parts),
        ("pushes", [push.frame for push in given["pushes"] if push.frame is not None]),
        ("loads", [load.frame for load in given["loads"]]),
    ):
        for frame in frames:
            if frame.robot_name != robot.name:
                raise PlantError(f"{what}: '{frame.name}' is of {frame.robot_name}; give parts of {robot.name}", what)
    for breakdown in given["breakdowns"]:
        breakdown.check(robot)
    if given["carried"] is not None:
        given["carried"].check(robot)
    return Scene(start=placed(start, given["ground"]), parts=parts, **given)
