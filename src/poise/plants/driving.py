"""From commands to the motors or servos of a simulated robot, whatever the commands are."""

from __future__ import annotations

from collections import Counter
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from poise.control import Command
from poise.plants.engine.build import Built
from poise.robots import Robot

Array = NDArray[np.float64]


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
