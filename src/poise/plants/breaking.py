"""Breakdowns as they happen: what broken sensors say, and motors that lose their strength."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from poise.plants.breakdowns import Breakdown, BrokenCell, WeakMotor
from poise.plants.driving import Motors, Servos
from poise.plants.engine.simulation import Simulation
from poise.plants.measured import Measured
from poise.plants.measuring import Sample, Sensing
from poise.robots import Robot, State
from poise.state import ContactForces

Array = NDArray[np.float64]

#: Times are the same to this (s): rounding of a clock that counts, and a millionth of a step of any simulation.
ROUNDING = 1e-9


@dataclass(frozen=True, eq=False)
class Damage:
    """What is broken at one instant.

    Attributes:
        cells: what broken cells say (N), by the name of the foot and the number of the corner.
        soles: names of the feet whose cables are swapped; empty if none are.
    """

    cells: Mapping[tuple[str, int], float]
    soles: tuple[str, ...] = ()

    def spoilt_cells(self, cells: Mapping[str, Array]) -> Mapping[str, Array]:
        """What is told of cells that feel this."""
        told = {foot: values.copy() for foot, values in cells.items()}
        for (foot, corner), value in self.cells.items():
            told[foot][corner] = value
        if self.soles:
            one, other = self.soles
            told[one], told[other] = told[other], told[one]
        return told

    def spoilt_forces(self, forces: ContactForces, rotations: Array) -> ContactForces:
        """What is told of forces on parts whose rotations are world_from_part (k, 3, 3)."""
        if not self.soles:
            return forces
        one, other = (forces.names.index(foot) for foot in self.soles)
        wrenches, turn = forces.wrenches.copy(), rotations[other] @ rotations[one].T
        wrenches[other] = (forces.wrenches[one].reshape(2, 3) @ turn.T).ravel()
        wrenches[one] = (forces.wrenches[other].reshape(2, 3) @ turn).ravel()
        return ContactForces(forces.names, wrenches, forces.points)


class Spoilt(Measured):
    """What sensors said of which some are broken."""

    __slots__ = ("_damage",)
    _damage: Damage

    def __init__(
        self, damage: Damage, sensing: Sensing, sample: Sample, noise: Array | None, seen: State, true: State
    ) -> None:
        super().__init__(sensing, sample, noise, seen, true)
        object.__setattr__(self, "_damage", damage)

    @property
    def forces(self) -> ContactForces:  # type: ignore[override]
        return self._damage.spoilt_forces(super().forces, self._sample.touch.rotations)

    @property
    def cells(self) -> Mapping[str, Array]:  # type: ignore[override]
        return self._damage.spoilt_cells(super().cells)


class BreakingSensors:
    """Watches the sensors of a robot break, one look at every tick of its controller.

    A sensor that breaks at a time spoils what is measured from then on; with a delay that is seen so much later.
    """

    def __init__(self, sensing: Sensing, simulation: Simulation, breakdowns: Sequence[Breakdown]) -> None:
        self._sensing, self._simulation = sensing, simulation
        self._feet: dict[str, str] = {foot.side: foot.name for foot in sensing.robot.feet}
        self._coming = sorted((b for b in breakdowns if not isinstance(b, WeakMotor)), key=lambda b: b.time)
        self._said: Mapping[str, Array] = {}
        self._damage: Damage | None = None

    def measured(self, noise: Array | None, seen: State, true: State) -> Measured:
        """What the sensors say now, broken or not."""
        sample = self._simulation.late_sample()
        if self._damage is None:
            return Measured(self._sensing, sample, noise, seen, true)
        return Spoilt(self._damage, self._sensing, sample, noise, seen, true)

    def look(self, noise: Array | None) -> None:
        """Lets break what is due; what cells say before that is kept for those that get stuck."""
        if not self._coming:
            return
        clock = self._simulation.clock
        measured = max(clock.time - self._sensing.sensors.delay, clock.begin)
        says = self._sensing.cells(self._simulation.late_sample(), noise)
        self._said = self._said or says  # one that is broken from the beginning never said anything else
        while self._coming and self._coming[0].time <= measured + ROUNDING:
            self._damage = self._worse(self._coming.pop(0))
        self._said = says

    def _worse(self, breakdown: Breakdown) -> Damage:
        cells, soles = (self._damage.cells, self._damage.soles) if self._damage else ({}, ())
        if not isinstance(breakdown, BrokenCell):  # cables that are swapped once more are right again
            return Damage(cells, () if soles else (self._feet["left"], self._feet["right"]))
        foot, corner = self._feet[breakdown.side], breakdown.corner
        last = cells.get((foot, corner), float(self._said[foot][corner]))
        value = {"dead": 0.0, "nan": np.nan, "stuck": last}[breakdown.says]
        return Damage({**cells, (foot, corner): value}, soles)


class WeakeningDrive:
    """A drive of which some motors lose their strength, each before the first step of the simulation at its time."""

    def __init__(
        self, drive: Motors | Servos, robot: Robot, simulation: Simulation, breakdowns: Sequence[WeakMotor]
    ) -> None:
        self._drive, self._model, self._clock = drive, simulation.model, simulation.clock
        self._torque = {
            joint.name: float(torque) for joint, torque in zip(robot.joints, robot.limits.torque, strict=True)
        }
        self._coming = sorted(breakdowns, key=lambda b: b.time)

    def move(self, period: float) -> None:
        """Gets ready for one step of the simulation."""
        while self._coming and self._coming[0].time <= self._clock.time + ROUNDING:
            weak = self._coming.pop(0)
            motor, limit = self._model.actuator(weak.joint), weak.share * self._torque[weak.joint]
            limited = motor.forcerange if motor.forcelimited[0] else motor.ctrlrange
            limited[:] = -limit, limit
            self._drive.limit(list(self._torque).index(weak.joint), limit)
        self._drive.move(period)


def weakening(
    drive: Motors | Servos, robot: Robot, simulation: Simulation, breakdowns: Sequence[Breakdown]
) -> Motors | Servos | WeakeningDrive:
    """A drive whose motors become as weak as they are told to; the same drive if none does."""
    weak = [breakdown for breakdown in breakdowns if isinstance(breakdown, WeakMotor)]
    return WeakeningDrive(drive, robot, simulation, weak) if weak else drive
