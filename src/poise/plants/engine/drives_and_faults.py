"""Motors and servos that execute commands, and simulation of hardware faults of motors and sensors."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from poise.arrays import Array
from poise.control import Command
from poise.extras import mujoco
from poise.plants.disturbances import ForceCellFault, HardwareFault, WeakMotor
from poise.plants.engine.contact_sensors import LazySensorReadings, SensorModel, TrueSample
from poise.plants.engine.simulation import CompiledScene, MujocoSimulation
from poise.robots import Robot, State
from poise.state import ContactForces


class CommandErrors:
    """Errors in commands, counted by name and noted once, because the control loop must not raise."""

    def __init__(self, notes: list[str]) -> None:
        self.counts: Counter[str] = Counter()
        self._notes = notes

    def add(self, name: str, sentence: str) -> None:
        """Count an error; the sentence is added to the notes the first time."""
        if not self.counts[name]:
            self._notes.append(f"{name}: {sentence}")
        self.counts[name] += 1

    def finite_or_zero(self, values: Any, count: int, name: str, fallback: str) -> Array:
        """Return the values with zeros in place of non-finite numbers; all zeros if the size is not `count`."""
        try:
            array = np.asarray(values, dtype=np.float64)
        except (TypeError, ValueError):
            array = np.zeros(0)
        if array.shape != (count,):
            self.add(f"no {name}", f"a command had no {name} of {count} numbers; {fallback}")
            return np.zeros(count)
        is_finite = np.isfinite(array)
        if is_finite.all():
            return array
        self.add(f"{name} not finite", f"a command had a non-finite {name}; {fallback} in these joints")
        return np.where(is_finite, array, 0.0)


class Motors:
    """Torque motors: pass the torques of commands to MuJoCo's motors, which clip them at their limits.

    Attributes:
        saturation_counts: number of commands with a torque beyond its limit, per joint.
    """

    def __init__(self, robot: Robot, data: mujoco.MjData, command_errors: CommandErrors) -> None:
        self.saturation_counts = np.zeros(len(robot.joints), dtype=np.int64)
        self._limits = robot.limits.torque * (1.0 + 1e-9)  # tolerance, since a controller may use the whole limit
        self._control, self._command_errors = data.ctrl, command_errors

    def set_command(self, command: Command) -> None:
        """Set the command, valid until the next one."""
        advice = "zero is used (TorqueController computes torques; PositionServos() follow velocities)"
        torque = self._command_errors.finite_or_zero(command.torque, len(self._limits), "torque", advice)
        beyond = np.abs(torque) > self._limits
        if beyond.any():
            self.saturation_counts += beyond
            self._command_errors.add(
                "torque saturated", "a torque was clipped at its limit; see plant.saturation_counts by joint"
            )
        self._control[:] = torque

    def set_torque_limit(self, joint: int, torque: float) -> None:
        """Set the torque limit of a joint (N m) used for counting; the engine itself clips the torque."""
        self._limits[joint] = torque * (1.0 + 1e-9)

    def update(self, period: float) -> None:
        """Do nothing, since torques are constant between commands."""


class Servos:
    """Position servos: the velocities of commands move the servo targets, see `PositionServos`.

    Args:
        scene: the simulated robot in its start.
        torque: torques that hold the start posture; they set the initial targets (N m).
        gains: stiffness and damping.

    Attributes:
        saturation_counts: number of commands at whose end the servo was at its largest torque, per joint.
    """

    def __init__(
        self,
        robot: Robot,
        scene: CompiledScene,
        command_errors: CommandErrors,
        torque: Array,
        gains: tuple[Array, Array],
    ) -> None:
        stiffness, damping = gains
        data, self._angles = scene.data, scene.coordinates.angles
        self.saturation_counts = np.zeros(len(robot.joints), dtype=np.int64)
        self._control, self._force, self._command_errors = data.ctrl, data.actuator_force, command_errors
        self._limits, self._max_error = robot.limits.torque.copy(), robot.limits.torque / stiffness
        self._rate_gain = damping / stiffness
        self._qpos = data.qpos
        self._target, self._rate = self._qpos.take(self._angles) + torque / stiffness, np.zeros(len(torque))
        self._control[:] = self._target
        self._force[:] = 0.0  # no torque counts as saturated before the first command

    def set_command(self, command: Command) -> None:
        """Set the command, valid until the next one."""
        beyond = np.abs(self._force) >= self._limits * (1.0 - 1e-9)
        if beyond.any():
            self.saturation_counts += beyond
            self._command_errors.add(
                "torque saturated", "a servo was at its torque limit; see plant.saturation_counts by joint"
            )
        velocity = self._command_errors.finite_or_zero(
            command.velocity, len(self._rate) + 6, "velocity", "zero is used"
        )
        self._rate = velocity[6:]
        if command.position is not None:  # joint angles to be reached at the end of the period
            angles = self._command_errors.finite_or_zero(
                command.position, len(self._rate), "position", "the velocity is used"
            )
            if np.isfinite(command.position).all() and len(command.position) == len(self._rate):
                self._target = angles - command.period * self._rate

    def set_torque_limit(self, joint: int, torque: float) -> None:
        """Set the torque limit of a joint (N m) used for counting; the limit of its target stays the same."""
        self._limits[joint] = torque

    def update(self, period: float) -> None:
        """Move the targets by one step of the simulation (s)."""
        q, target = self._qpos.take(self._angles), self._target + period * self._rate
        self._target = np.clip(target, q - self._max_error, q + self._max_error)
        self._control[:] = self._target + self._rate_gain * self._rate


#: Share of the speed limit over which the torque in the direction of motion falls to zero. Data sheets give the two
#: limits, not the curve between them; a sudden loss of torque would make the simulation chatter.
SPEED_MARGIN = 0.1


class SpeedLimitedDrive:
    """A drive whose torque fades out at the speed limits of its joints.

    With the speed limit w, the torque in the direction of the speed v is at most ``limit · (w - |v|) / (m w)``, where m
    is `SPEED_MARGIN`, and zero beyond w; the torque that brakes is not reduced.

    Args:
        drive: motors or servos, whose forces MuJoCo limits by a range.
        robot: robot with the limits.
        scene: the simulated robot.
        command_errors: counter of commands that exceed the torque available at the speed of a motor.
    """

    def __init__(
        self, drive: Motors | Servos, robot: Robot, scene: CompiledScene, command_errors: CommandErrors
    ) -> None:
        self._drive, self._command_errors = drive, command_errors
        self._limits, self._velocity = robot.limits.torque.copy(), robot.limits.velocity
        self._rates, self._qvel = scene.coordinates.rates, scene.data.qvel
        self._range, self._control = scene.model.actuator_forcerange, scene.data.ctrl
        self._counts_commands = isinstance(drive, Motors)  # the controls of servos are angles

    @property
    def saturation_counts(self) -> NDArray[np.int64]:
        """Number of commands with a torque at or beyond its limit, per joint."""
        return self._drive.saturation_counts

    def set_command(self, command: Command) -> None:
        """Set the command, valid until the next one."""
        self._drive.set_command(command)
        if self._counts_commands and ((self._control > self._range[:, 1]) | (self._control < self._range[:, 0])).any():
            self._command_errors.add("speed limited", "a motor had no torque left in the direction of its speed")

    def set_torque_limit(self, joint: int, torque: float) -> None:
        """Set the torque limit of a joint (N m)."""
        self._limits[joint] = torque
        self._drive.set_torque_limit(joint, torque)

    def update(self, period: float) -> None:
        """Prepare one step of the simulation (s)."""
        share = self._qvel.take(self._rates) / self._velocity
        self._range[:, 0] = -self._limits * np.clip((1.0 + share) / SPEED_MARGIN, 0.0, 1.0)
        self._range[:, 1] = self._limits * np.clip((1.0 - share) / SPEED_MARGIN, 0.0, 1.0)
        self._drive.update(period)


# -- Hardware faults -------------------------------------------------------------------------------------------------


#: Tolerance for equal times (s): above the rounding of a counting clock, and a millionth of a simulation step.
TIME_TOLERANCE = 1e-9


@dataclass(frozen=True, eq=False)
class SensorFaults:
    """Sensor faults present at one instant.

    Attributes:
        cells: output of faulty cells (N), by the name of the foot and the index of the corner.
        soles: names of the left and the right foot if their cables are swapped, else empty.
    """

    cells: Mapping[tuple[str, int], float]
    soles: tuple[str, ...] = ()

    def faulty_cells(self, cells: Mapping[str, Array]) -> Mapping[str, Array]:
        """Return the readings of cells after the faults, given the correct readings (N)."""
        output = {foot: values.copy() for foot, values in cells.items()}
        for (foot, corner), value in self.cells.items():
            output[foot][corner] = value
        if self.soles:
            left, right = self.soles
            output[left], output[right] = output[right], output[left]
        return output

    def faulty_forces(self, forces: ContactForces, rotations: Array) -> ContactForces:
        """Return the readings of force sensors after the faults; `rotations` are world_from_part (k, 3, 3)."""
        if not self.soles:
            return forces
        left, right = (forces.names.index(foot) for foot in self.soles)
        wrenches, right_from_left = forces.wrenches.copy(), rotations[right] @ rotations[left].T
        wrenches[right] = (forces.wrenches[left].reshape(2, 3) @ right_from_left.T).ravel()
        wrenches[left] = (forces.wrenches[right].reshape(2, 3) @ right_from_left).ravel()
        return ContactForces(forces.names, wrenches, forces.points)


class FaultyReadings(LazySensorReadings):
    """Sensor readings with faults."""

    __slots__ = ("_sensor_faults",)
    _sensor_faults: SensorFaults

    def __init__(
        self,
        sensor_faults: SensorFaults,
        sensor_model: SensorModel,
        sample: TrueSample,
        noise: Array | None,
        measured_state: State,
        true_state: State,
    ) -> None:
        super().__init__(sensor_model, sample, noise, measured_state, true_state)
        object.__setattr__(self, "_sensor_faults", sensor_faults)

    @property
    def forces(self) -> ContactForces:
        return self._sensor_faults.faulty_forces(super().forces, self._sample.contact_readings.rotations)

    @property
    def cells(self) -> Mapping[str, Array]:
        return self._sensor_faults.faulty_cells(super().cells)


class FaultySensors:
    """Applies sensor faults at their times, checked at every tick of the controller.

    A fault affects the values measured from its time on; with a sensor delay, it appears later by the delay.
    """

    def __init__(
        self, sensor_model: SensorModel, simulation: MujocoSimulation, faults: Sequence[HardwareFault]
    ) -> None:
        self._sensor_model, self._simulation = sensor_model, simulation
        self._feet: dict[str, str] = {foot.side: foot.name for foot in sensor_model.robot.feet}
        self._pending = sorted((fault for fault in faults if not isinstance(fault, WeakMotor)), key=lambda f: f.time)
        self._last_cells: Mapping[str, Array] = {}
        self._sensor_faults: SensorFaults | None = None

    def readings(self, noise: Array | None, measured_state: State, true_state: State) -> LazySensorReadings:
        """Return the current sensor readings, with the faults that have occurred."""
        sample = self._simulation.delayed_sample()
        if self._sensor_faults is None:
            return LazySensorReadings(self._sensor_model, sample, noise, measured_state, true_state)
        return FaultyReadings(self._sensor_faults, self._sensor_model, sample, noise, measured_state, true_state)

    def update(self, noise: Array | None) -> None:
        """Apply all faults that are due, and store the readings of the cells for later "stuck" faults."""
        if not self._pending:
            return
        clock = self._simulation.clock
        measurement_time = max(clock.time - self._sensor_model.sensors.delay, clock.begin)
        current_cells = self._sensor_model.cells(self._simulation.delayed_sample(), noise)
        # A cell that is stuck from the beginning keeps its first value.
        self._last_cells = self._last_cells or current_cells
        while self._pending and self._pending[0].time <= measurement_time + TIME_TOLERANCE:
            self._sensor_faults = self._add_fault(self._pending.pop(0))
        self._last_cells = current_cells

    def _add_fault(self, fault: HardwareFault) -> SensorFaults:
        cells, soles = (self._sensor_faults.cells, self._sensor_faults.soles) if self._sensor_faults else ({}, ())
        if not isinstance(fault, ForceCellFault):  # swapping the cables twice restores the order
            return SensorFaults(cells, () if soles else (self._feet["left"], self._feet["right"]))
        foot, corner = self._feet[fault.side], fault.corner
        last = cells.get((foot, corner), float(self._last_cells[foot][corner]))
        value = {"dead": 0.0, "nan": np.nan, "stuck": last}[fault.output]
        return SensorFaults({**cells, (foot, corner): value}, soles)


class FaultyDrive:
    """A drive with weak motors: each torque limit is reduced before the first step at or after its fault's time."""

    def __init__(
        self,
        drive: Motors | Servos | SpeedLimitedDrive,
        robot: Robot,
        simulation: MujocoSimulation,
        faults: Sequence[WeakMotor],
    ) -> None:
        self._drive, self._model, self._clock = drive, simulation.model, simulation.clock
        self._torque = {
            joint.name: float(torque) for joint, torque in zip(robot.joints, robot.limits.torque, strict=True)
        }
        self._pending = sorted(faults, key=lambda fault: fault.time)

    def update(self, period: float) -> None:
        """Apply faults that are due, then prepare one step of the simulation (s)."""
        while self._pending and self._pending[0].time <= self._clock.time + TIME_TOLERANCE:
            fault = self._pending.pop(0)
            motor, limit = self._model.actuator(fault.joint), fault.torque_fraction * self._torque[fault.joint]
            torque_range = motor.forcerange if motor.forcelimited[0] else motor.ctrlrange
            torque_range[:] = -limit, limit
            self._drive.set_torque_limit(list(self._torque).index(fault.joint), limit)
        self._drive.update(period)


def with_motor_faults(
    drive: Motors | Servos | SpeedLimitedDrive,
    robot: Robot,
    simulation: MujocoSimulation,
    faults: Sequence[HardwareFault],
) -> Motors | Servos | SpeedLimitedDrive | FaultyDrive:
    """Wrap a drive to apply its `WeakMotor` faults; return the same drive if there are none."""
    weak = [fault for fault in faults if isinstance(fault, WeakMotor)]
    return FaultyDrive(drive, robot, simulation, weak) if weak else drive
