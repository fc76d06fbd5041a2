"""Telemetry of a running scene: numbers for the pages and frames for the 3D view."""

from __future__ import annotations

from typing import Any

import numpy as np
import pinocchio

from poise.arrays import Array
from poise.control import ControlStep
from poise.plants import Plant
from poise.rendering import floor_height
from poise.robots import Robot, State, limbs
from poise.solvers import LOWER, UPPER
from poise.state import capture_point
from poise.studio.scene_runner import SceneRunner
from poise.viewer import ViewFrame, contact_force_arrows, joint_poses, pressure_point

#: Hard levels, and the error above which their tasks are listed: below it is rounding.
HARD_LEVELS, HARD_TOLERANCE = ("physics", "always"), 1e-6
#: Largest number of lines of an explanation, and of limits, on a page.
MAX_LINES = 24


class Telemetry:
    """Converts the last control step of a scene to data for the view and the pages.

    Args:
        robot: robot of the scene.

    Attributes:
        limbs: names of the joints of each limb.
    """

    def __init__(self, robot: Robot) -> None:
        self.robot = robot
        self._data = robot.model.createData()
        self.limbs: dict[str, tuple[str, ...]] = {limb.name: limb.joints for limb in limbs(robot)}
        self._torque_index = {joint.name: joint.v - 6 for joint in robot.joints}

    # -- for the view ----------------------------------------------------------------------------------------------

    def view_frame(self, runner: SceneRunner) -> ViewFrame:
        """Return the frame of the view with contact forces; poses are the true ones, without sensor noise."""
        states = {name: controlled.plant.truth() for name, controlled in runner.controlled_plants.items()}
        state, offsets = next(iter(states.values())), runner.scene.display_offsets()
        step = runner.steps.get(next(iter(runner.controlled_plants)))
        floor = floor_height(state)
        pressure = None if step is None else pressure_point(step, floor)
        poses = {name: joint_poses(each) for name, each in states.items()}
        for name in poses.keys() & offsets.keys():
            poses[name][:, :3] += offsets[name]
        return ViewFrame.from_state(
            state,
            poses=poses,
            forces=contact_force_arrows(step),
            center_of_pressure=None if pressure is None else np.array([*pressure, floor]),
            drag_handles={name: np.array(place) for name, place in runner.scene.drag_handles().items()},
            plans=runner.scene.plans(),
            sole_pressure=None if runner.scene.sole_pressure is None else runner.scene.sole_pressure.to_frame(state),
        )

    # -- for the pages ---------------------------------------------------------------------------------------------

    def page_data(self, runner: SceneRunner, limb: str) -> dict[str, Any]:
        """Return the data of pages for the last step.

        Args:
            runner: runner of the scene.
            limb: limb whose joint torques are included.
        """
        step, sole_pressure = runner.steps.get(next(iter(runner.controlled_plants))), runner.scene.sole_pressure
        if step is None:
            state: State = runner.primary.plant.state()
            no_loads: dict[str, Any] = {
                "torques": {},
                "forces": {},
                "solver_ms": None,
                "control_ms": None,
                "sole_pressure": None,
            }
            plots = {**self._balance_data(state, None), **no_loads}
            return {"time": state.time, "phase": "", "fallback": "", "levels": [], "plots": plots}
        return {
            "time": round(step.state.time, 3),
            "phase": step.command.phase,
            "fallback": step.command.fallback,
            "levels": _level_table(step),
            "plots": {
                **self._balance_data(step.state, step),
                **self._load_data(step, limb, runner.primary.plant),
                "sole_pressure": None if sole_pressure is None else sole_pressure.as_json(),
            },
        }

    def _balance_data(self, state: State, step: ControlStep | None) -> dict[str, Any]:
        """Return centre of mass, capture point, centre of pressure and support polygon (m, x and y)."""
        floor, center = floor_height(state), state.center_of_mass
        pinocchio.centerOfMass(self.robot.model, self._data, state.q, state.v, False)
        capture = capture_point(center, self._data.vcom[0], max(float(center[2]) - floor, 0.05))
        pressure = None if step is None else pressure_point(step, floor)
        return {
            "center_of_mass": _round_point(center[:2]),
            "capture_point": _round_point(capture),
            "center_of_pressure": None if pressure is None else _round_point(pressure),
            "support": [_round_point(corner) for corner in state.support_polygon],
        }

    def _load_data(self, step: ControlStep, limb: str, plant: Plant) -> dict[str, Any]:
        torque, limits = step.command.torque, self.robot.limits.torque
        if torque is None:  # position servos: no torque is commanded, but the plant may measure it
            torque = plant.joint_torques()
        joints = self.limbs.get(limb, ())
        torque_ratios = (
            {}
            if torque is None
            else {
                name: round(float(torque[self._torque_index[name]] / max(limits[self._torque_index[name]], 1e-9)), 3)
                for name in joints
                if name in self._torque_index
            }
        )
        readings, solution = step.readings, step.command.solution
        forces = readings.forces if readings is not None else step.command.forces
        named_wrenches = () if forces is None else zip(forces.names, forces.wrenches, strict=True)
        return {
            "torques": torque_ratios,
            "forces": {name: round(float(wrench[2]), 1) for name, wrench in named_wrenches},
            "solver_ms": None if solution is None else round(solution.milliseconds, 3),
            "control_ms": round(step.milliseconds, 3),
        }


def solver_explanation(step: ControlStep | None) -> tuple[list[str], list[str]]:
    """Return the active limits and the whole explanation of the solution, as lines.

    The computation takes as long as several control periods.
    """
    solution = None if step is None else step.command.solution
    if solution is None:
        return [], []
    lines = solution.explain().splitlines()
    begin = lines.index("saturated:") + 1 if "saturated:" in lines else len(lines)
    return [line.strip() for line in lines[begin:]][:MAX_LINES], lines[:MAX_LINES]


def _level_table(step: ControlStep) -> list[dict[str, Any]]:
    """Return one row per level of the hierarchy: largest slack, number of active limits, and errors of its tasks."""
    solution, errors = step.command.solution, step.command.errors
    if solution is None or errors is None:
        return []
    program = solution.program
    slack, sides = np.abs(program.slack(solution.x)), solution.sides
    bound = (sides == LOWER) | (sides == UPPER)
    tasks: dict[str, list[dict[str, Any]]] = {}
    for i, (level, task, unit, _) in enumerate(errors.tasks):
        error = float(np.linalg.norm(errors.values(i)))
        if level in HARD_LEVELS and error < HARD_TOLERANCE:
            continue
        tasks.setdefault(level, []).append({"name": task, "error": _round_digits(error), "unit": unit})
    table = []
    for k, name in enumerate(program.names):
        span = program.slice(k)
        table.append(
            {
                "name": name,
                "slack": _round_digits(float(slack[span].max(initial=0.0))),
                "saturated": int(bound[span].sum()),
                "tasks": tasks.get(name, []),
            }
        )
    return table


def _round_point(point: Array) -> list[float]:
    return [round(float(value), 4) for value in point]


def _round_digits(value: float) -> float:
    """Round to three significant digits; values that are not finite become 0."""
    return float(f"{value:.3g}") if np.isfinite(value) else 0.0
