"""Fault detection for force cells and servos, with a trust factor that fades the ZMP regulation out on faults."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from poise.arrays import Array
from poise.robots import Foot, Robot

#: Duration after which a symptom counts as a fault (s): longer than a sole rocks when it lands, shorter than a fall.
FAULT_TIME = 0.1
#: A cell is dead if it reads less than `SILENT_LOAD` of the weight for `SILENT_TIME` seconds in total while its
#: neighbors imply at least `EXPECTED_LOAD` of the weight on it. Only soles with load on the other three corners count,
#: because a rocking sole stands on two.
SILENT_LOAD, EXPECTED_LOAD, SILENT_TIME = 0.01, 0.08, 0.3
#: A cell is stuck if its reading is constant while all others together change by this fraction of the weight.
LEAST_CHANGE = 0.02
#: Quantized cells flicker by one quantum: changes below this multiple of the smallest observed change are ignored.
RESOLUTION_STEPS = 2.5
#: Force readings above this many body weights are rejected.
LARGEST_FORCE = 100.0
#: Feet are swapped if both the planned and the measured load of a foot differ from one half of the weight by more than
#: this fraction of it, in opposite directions.
LEAST_ASYMMETRY = 0.2
#: A servo is saturated at this fraction of the error that gives its largest torque, and recovers at half of that.
SATURATION_SHARE = 0.95
#: Period of the fault checks (s): a tenth of the detection time.
CHECK_PERIOD = 0.01
#: Seconds in which the regulation fades in and out.
FADE_TIME = 0.2
CORNERS = ("front left", "back left", "back right", "front right")


class ForceCell:
    """State of the fault detection of one force cell."""

    __slots__ = ("change_of_others", "fault", "last_force", "name", "silent_time", "unchanged_time")

    def __init__(self, foot: Foot, corner: int) -> None:
        self.name = f"the {CORNERS[corner]} force cell of the {foot.side} sole"
        self.last_force, self.unchanged_time, self.change_of_others, self.silent_time = math.nan, 0.0, 0.0, 0.0
        self.fault = ""

    def mark_broken(self, complaint: str) -> None:
        """Mark the cell as broken; the first complaint is kept."""
        self.fault = self.fault or f"{self.name} {complaint}"


class SensorFaultDetector:
    """Detector of faults of force cells and servos.

    A broken cell stays broken for the lifetime of the detector; a servo recovers when it is no longer saturated. The
    code uses plain numbers instead of arrays, which is faster for eight cells at 1 kHz.

    Args:
        robot: robot with force cells and servos.
        stiffness: stiffness of the servos, as a fraction of that in the data of the robot.

    Attributes:
        faults: current faults, one sentence each; empty if there are none.
        trust: fraction of the regulation that acts, from 0 to 1: it fades out on a fault.
    """

    def __init__(self, robot: Robot, stiffness: float = 1.0) -> None:
        self.robot = robot
        self.faults: list[str] = []
        self.trust = 0.0
        self._weight = robot.weight
        self._limit = SATURATION_SHARE * robot.servos.saturation_error / stiffness
        self._cells = [[ForceCell(foot, corner) for corner in range(len(CORNERS))] for foot in robot.feet]
        self._swapped_time, self._swap_fault, self._resolution, self._time_since_check = 0.0, "", math.inf, 0.0
        self._last_readings: list[list[float]] = []
        legs = {i for foot in robot.feet for i in robot.model.supports[foot.joint]}
        self._legs = np.array([joint.v - 6 for joint in robot.joints if joint.index in legs], dtype=int)
        self._saturated_time, self._saturated = np.zeros(len(self._legs)), np.zeros(len(self._legs), dtype=bool)

    def update(
        self,
        cells: Mapping[str, Array],
        joint_errors: Array | None,
        load_share: float,
        period: float,
        regulating: bool = True,
    ) -> list[list[float]]:
        """Process the readings of one period.

        Args:
            cells: forces by name of the foot (N, 4).
            joint_errors: command minus measured angle of each joint (rad); None: unknown.
            load_share: planned fraction of the weight on the first foot.
            period: sampling period (s).
            regulating: whether the regulation is switched on.

        Returns:
            The forces of each foot (N, 4), with zero for invalid readings.
        """
        cell_forces = [
            self._readings(cells.get(foot.name), foot_cells)
            for foot, foot_cells in zip(self.robot.feet, self._cells, strict=True)
        ]
        for forces, foot_cells in zip(cell_forces, self._cells, strict=True):
            for force, cell in zip(forces, foot_cells, strict=True):
                if force != cell.last_force:
                    cell.last_force, cell.unchanged_time, cell.change_of_others = force, 0.0, 0.0
                else:
                    cell.unchanged_time += period
        self._time_since_check += period
        if self._time_since_check >= CHECK_PERIOD - 1e-9:
            self._detect(cell_forces, joint_errors, load_share, min(self._time_since_check, CHECK_PERIOD + period))
            self._time_since_check = 0.0
        target = 1.0 if regulating and not self.faults else 0.0
        if target != self.trust:
            self.trust += min(max(target - self.trust, -period / FADE_TIME), period / FADE_TIME)
        return cell_forces

    def _detect(
        self, cell_forces: list[list[float]], joint_errors: Array | None, load_share: float, period: float
    ) -> None:
        """Run all checks that need more than one tick."""
        change = 0.0
        for forces, last_readings in zip(cell_forces, self._last_readings, strict=False):  # empty at the first check
            for force, before in zip(forces, last_readings, strict=True):
                step = abs(force - before)
                if step > 0.0:
                    self._resolution = min(self._resolution, step)
                    change += step if step > RESOLUTION_STEPS * self._resolution else 0.0
        self._last_readings = cell_forces
        for forces, foot_cells in zip(cell_forces, self._cells, strict=True):
            for corner, cell in enumerate(foot_cells):
                self._check_stuck(cell, change)
                self._check_dead(cell, forces, corner, period)
        self._check_swapped(cell_forces, load_share, period)
        if joint_errors is not None:
            self._check_servos(joint_errors, period)
        cell_faults = [cell.fault for foot_cells in self._cells for cell in foot_cells if cell.fault]
        self.faults = [*cell_faults, *([self._swap_fault] if self._swap_fault else []), *self._servo_faults()]

    # -- cells -----------------------------------------------------------------------------------------------------

    def _readings(self, forces: Array | None, foot_cells: Sequence[ForceCell]) -> list[float]:
        """Return the four readings of a foot, with zero for invalid or missing ones; their cells are marked broken."""
        values: list[float] = [math.nan] * len(foot_cells) if forces is None else np.asarray(forces).tolist()
        if sum(map(abs, values)) < LARGEST_FORCE * self._weight:  # false for NaN
            return values
        for i, (force, cell) in enumerate(zip(values, foot_cells, strict=True)):
            if not abs(force) < LARGEST_FORCE * self._weight:
                cell.mark_broken("gives invalid readings")
                values[i] = 0.0
                self._time_since_check = math.inf  # check at once
        return values

    def _check_stuck(self, cell: ForceCell, change: float) -> None:
        """Detect a cell whose reading is constant while those of the others change."""
        if cell.unchanged_time <= CHECK_PERIOD or cell.last_force == 0.0:
            return
        cell.change_of_others += change
        if cell.unchanged_time > FAULT_TIME and cell.change_of_others > LEAST_CHANGE * self._weight:
            cell.mark_broken("is stuck at one value")

    def _check_dead(self, cell: ForceCell, forces: Sequence[float], corner: int, period: float) -> None:
        """Detect a cell without load although, on a flat sole, the other three cells imply a load on it."""
        if forces[corner] > SILENT_LOAD * self._weight:
            cell.silent_time = 0.0
            return
        before, after, opposite = forces[corner - 1], forces[corner - 3], forces[corner - 2]
        if opposite > 2.0 * SILENT_LOAD * self._weight and before + after - opposite > EXPECTED_LOAD * self._weight:
            cell.silent_time += period
            if cell.silent_time > SILENT_TIME:
                cell.mark_broken("reads no force, although its neighbors do")

    def _check_swapped(self, cell_forces: Sequence[Sequence[float]], load_share: float, period: float) -> None:
        """Detect swapped feet: the measured load is on the foot opposite to the planned one."""
        loads = [sum(forces) for forces in cell_forces]
        if len(loads) != 2 or not sum(loads) > 0.5 * self._weight:
            return
        felt = loads[0] / sum(loads) - 0.5
        is_swapped = (
            abs(felt) > LEAST_ASYMMETRY and abs(load_share - 0.5) > LEAST_ASYMMETRY and felt * (load_share - 0.5) < 0.0
        )
        self._swapped_time = self._swapped_time + period if is_swapped else 0.0
        if self._swapped_time > FAULT_TIME:
            self._swap_fault = "the force cells measure the weight on the wrong foot: left and right are swapped"

    # -- servos ----------------------------------------------------------------------------------------------------

    def _check_servos(self, joint_errors: Array, period: float) -> None:
        lag = np.abs(joint_errors[self._legs])
        if not self._saturated.any() and float(lag.max()) <= self._limit:
            self._saturated_time[:] = 0.0
            return
        self._saturated_time = np.where(lag > self._limit, self._saturated_time + period, 0.0)
        self._saturated = (self._saturated_time > FAULT_TIME) | (self._saturated & (lag > 0.5 * self._limit))

    def _servo_faults(self) -> list[str]:
        if not self._saturated.any():
            return []
        names = [self.robot.joints[self._legs[k]].name for k in np.nonzero(self._saturated)[0]]
        return [f"the servo of {name} is saturated and does not follow" for name in names]
