"""Motors and servos that execute commands, and faults of motors and sensors as they occur."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from poise.arrays import Array
from poise.control import Command
from poise.extras import mujoco
from poise.plants.disturbances import Breakdown, BrokenCell, WeakMotor
from poise.plants.engine.contact_sensors import Measured, Sample, Sensing
from poise.plants.engine.simulation import Built, Simulation
from poise.robots import Robot, State
from poise.state import ContactForces


class Faults:
    """What went wrong in a loop that must not raise: counted by name, and told once."""

    def __init__(self, notes: list[str]) -> None:
        self.counts: Counter[str] = Counter()
        self._notes = notes

    def add(self, name: str, sentence: str) -> None:
        """One more; the sentence is noted the first time."""
        if not self.counts[name]:
            self._notes.append(f"{name}: {sentence}")
        self.counts[name] += 1

    def finite(self, values: Any, count: int, name: str, without: str) -> Array:
        """The values, with zeros for what is not a finite number; all zeros if they are missing or of another size."""
        try:
            array = np.asarray(values, dtype=np.float64)
        except (TypeError, ValueError):
            array = np.zeros(0)
        if array.shape != (count,):
            self.add(f"no {name}", f"a command had no {name} of {count} numbers; {without}")
            return np.zeros(count)
        good = np.isfinite(array)
        if good.all():
            return array
        self.add(f"{name} not finite", f"a command had a {name} that is no number; {without}, in these joints")
        return np.where(good, array, 0.0)


class Motors:
    """Torques of commands go to the motors, which cut them off at their limits.

    Attributes:
        cut_off: per joint, in how many commands its torque was beyond its limit.
    """

    def __init__(self, robot: Robot, data: mujoco.MjData, faults: Faults) -> None:
        self.cut_off = np.zeros(len(robot.joints), dtype=np.int64)
        self._limits = robot.limits.torque * (1.0 + 1e-9)  # a controller may use a limit to the last bit
        self._control, self._faults = data.ctrl, faults

    def take(self, command: Command) -> None:
        """What to do until the next command."""
        advice = "zero is used (give PositionServos() to follow velocities)"
        torque = self._faults.finite(command.torque, len(self._limits), "torque", advice)
        beyond = np.abs(torque) > self._limits
        if beyond.any():
            self.cut_off += beyond
            self._faults.add("torque cut off", "a torque beyond its limit was cut off; plant.cut_off counts by joint")
        self._control[:] = torque

    def limit(self, joint: int, torque: float) -> None:
        """From now on a joint has no more than this torque (N m), which the engine cuts off; it is counted so."""
        self._limits[joint] = torque * (1.0 + 1e-9)

    def move(self, period: float) -> None:
        """Nothing changes between commands."""


class Servos:
    """Velocities of commands move the targets of the servos, see `PositionServos`.

    Args:
        built: the simulated robot in its start.
        torque: that holds it there, where the targets begin.
        gains: stiffness and damping.

    Attributes:
        cut_off: per joint, in how many commands its servo gave its largest torque at the end.
    """

    def __init__(self, robot: Robot, built: Built, faults: Faults, torque: Array, gains: tuple[Array, Array]) -> None:
        stiffness, damping = gains
        data, self._angles = built.data, built.coordinates.angles
        self.cut_off = np.zeros(len(robot.joints), dtype=np.int64)
        self._control, self._force, self._faults = data.ctrl, data.actuator_force, faults
        self._limits, self._reach = robot.limits.torque.copy(), robot.limits.torque / stiffness
        self._lead = damping / stiffness
        self._qpos = data.qpos
        self._target, self._rate = self._qpos.take(self._angles) + torque / stiffness, np.zeros(len(torque))
        self._control[:] = self._target
        self._force[:] = 0.0  # nothing was asked so far

    def take(self, command: Command) -> None:
        """What to do until the next command."""
        beyond = np.abs(self._force) >= self._limits * (1.0 - 1e-9)
        if beyond.any():
            self.cut_off += beyond
            self._faults.add("torque cut off", "a servo gave its largest torque; plant.cut_off counts by joint")
        velocity = self._faults.finite(command.velocity, len(self._rate) + 6, "velocity", "zero is used")
        self._rate = velocity[6:]
        if command.position is not None:  # angles that are to be reached when the period is over
            angles = self._faults.finite(command.position, len(self._rate), "position", "the velocity is followed")
            if np.isfinite(command.position).all() and len(command.position) == len(self._rate):
                self._target = angles - command.period * self._rate

    def limit(self, joint: int, torque: float) -> None:
        """From now on a joint has no more than this torque (N m). Its target moves as before: no servo knows of it."""
        self._limits[joint] = torque

    def move(self, period: float) -> None:
        """Lets the targets move for one step of the simulation."""
        q, target = self._qpos.take(self._angles), self._target + period * self._rate
        self._target = np.clip(target, q - self._reach, q + self._reach)
        self._control[:] = self._target + self._lead * self._rate


# -- Breakdowns as they happen ---------------------------------------------------------------------------------------


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
    def forces(self) -> ContactForces:
        return self._damage.spoilt_forces(super().forces, self._sample.touch.rotations)

    @property
    def cells(self) -> Mapping[str, Array]:
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
