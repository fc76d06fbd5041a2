"""Telemetry of a running scene: numbers for the pages and frames for the 3D view."""

from __future__ import annotations

from typing import Any

import numpy as np
import pinocchio

from poise.arrays import Array
from poise.control import ControlStep
from poise.rendering import floor_height
from poise.robots import Robot, State, limbs
from poise.solvers import LOWER, UPPER, negligible, negligible_slack
from poise.state import capture_point
from poise.studio.scene_runner import SceneRunner, late_steps
from poise.viewer import ViewFrame, contact_force_arrows, joint_poses, pressure_point

#: Line of an explanation without violated rows.
NOTHING_VIOLATED = "nothing gives way"
#: Levels whose tasks are listed only if they have an error.
HARD_LEVELS = ("physics", "always")
#: Error of a task without a known unit up to which it counts as rounding.
ERROR_TOLERANCE = 1e-6
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
            timing = late_steps(runner.durations, runner.period)
            return {"time": state.time, "phase": "", "fallback": "", "levels": [], "plots": plots, "timing": timing}
        return {
            "time": round(step.state.time, 3),
            "phase": step.command.phase,
            "fallback": step.command.fallback,
            "levels": _level_table(step),
            "timing": late_steps(runner.durations, runner.period),
            "plots": {
                **self._balance_data(step.state, step),
                **self._load_data(step, limb),
                "sole_pressure": None if sole_pressure is None else sole_pressure.as_json(),
            },
        }

    def _balance_data(self, state: State, step: ControlStep | None) -> dict[str, Any]:
        pressure = None if step is None else pressure_point(step, floor_height(state))
        return balance_points(self.robot, self._data, state, pressure)

    def _load_data(self, step: ControlStep, limb: str) -> dict[str, Any]:
        torque, limits = step.command.torque, self.robot.limits.torque
        if torque is None:  # position servos: no torque is commanded, but the plant may know it
            torque = step.servo_torques
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
    if NOTHING_VIOLATED in lines:  # the most important line follows the status of the solver
        lines.remove(NOTHING_VIOLATED)
        lines.insert(1, NOTHING_VIOLATED)
    begin = lines.index("saturated:") + 1 if "saturated:" in lines else len(lines)
    return [line.strip() for line in lines[begin:]][:MAX_LINES], lines[:MAX_LINES]


def _level_table(step: ControlStep) -> list[dict[str, Any]]:
    """Return one row per level of the hierarchy: largest slack, number of active limits, and errors of its tasks."""
    solution, errors = step.command.solution, step.command.errors
    if solution is None or errors is None:
        return []
    program, sides = solution.program, solution.sides
    slack = np.where(program.weight > 0.0, np.abs(program.slack(solution.x)), 0.0)
    slack[slack <= negligible_slack(program)] = 0.0
    bound = (sides == LOWER) | (sides == UPPER)
    tasks: dict[str, list[dict[str, Any]]] = {}
    for i, (level, task, unit, _) in enumerate(errors.tasks):
        tasks.setdefault(level, []).append(
            {"name": task, "error": float(np.linalg.norm(errors.values(i))), "unit": unit}
        )
    table = []
    for k, name in enumerate(program.names):
        span = program.slice(k)
        worst = span.start + int(np.argmax(slack[span])) if span.stop > span.start else None
        amount, unit = (0.0, "") if worst is None else (float(slack[worst]), program.block(worst)[1].unit)
        table.append(level_row(name, amount, unit, int(bound[span].sum()), tasks.get(name, [])))
    return table


def level_row(name: str, slack: float, unit: str, saturated: int, tasks: list[dict[str, Any]]) -> dict[str, Any]:
    """Return a row of the table of levels; amounts that are negligible in their unit become 0.

    Args:
        name: name of the level.
        slack, unit: largest violation of its rows.
        saturated: number of rows at one of their bounds.
        tasks: "name", "error" and "unit" of each task.
    """
    shown_tasks = []
    for task in tasks:
        is_small = task["error"] <= negligible(task["unit"], ERROR_TOLERANCE)
        if not (is_small and name in HARD_LEVELS):
            shown_tasks.append({**task, "error": 0.0 if is_small else round_digits(task["error"])})
    is_met = slack <= negligible(unit, ERROR_TOLERANCE)
    return {
        "name": name,
        "slack": 0.0 if is_met else round_digits(slack),
        "unit": unit,
        "saturated": saturated,
        "tasks": shown_tasks,
    }


def balance_points(robot: Robot, data: pinocchio.Data, state: State, pressure: Array | None) -> dict[str, Any]:
    """Return center of mass, capture point, center of pressure and support polygon (m, x and y) for the plot.

    Args:
        robot, data: the robot and a workspace of its model.
        state: current state.
        pressure: center of pressure; None: no contact forces.
    """
    floor, center = floor_height(state), state.center_of_mass
    pinocchio.centerOfMass(robot.model, data, state.q, state.v, False)
    capture = capture_point(center, data.vcom[0], max(float(center[2]) - floor, 0.05))
    return {
        "center_of_mass": _round_point(center[:2]),
        "capture_point": _round_point(capture),
        "center_of_pressure": None if pressure is None else _round_point(pressure),
        "support": [_round_point(corner) for corner in state.support_polygon],
    }


def _round_point(point: Array) -> list[float]:
    return [round(float(value), 4) for value in point]


def round_digits(value: float) -> float:
    """Round to three significant digits; values that are not finite become 0."""
    return float(f"{value:.3g}") if np.isfinite(value) else 0.0
