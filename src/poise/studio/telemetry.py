"""Telemetry of a running scene: numbers for the pages and scenery for the 3D view."""

from __future__ import annotations

from typing import Any

import numpy as np
import pinocchio

from poise.arrays import Array
from poise.control import Step
from poise.plants import Plant
from poise.rendering import floor_height
from poise.robots import Robot, State, limbs
from poise.solvers import LOWER, UPPER
from poise.state import capture_point, center_of_pressure
from poise.studio.scene_runner import Stage
from poise.studio.scenery import Scenery, link_poses

#: A force of the weight is drawn as an arrow of this share of the robot's height.
ARROW = 0.5
#: Forces below this share of the weight are not drawn.
FAINT = 0.02
#: Levels of what must hold; their tasks are named only where they do not, by more than rounding.
MUST, MET = ("physics", "always"), 1e-6
#: Lines of an explanation, and limits, that a page shows.
LINES = 24


class Sketch:
    """Turns the last step of a stage into what is shown of it."""

    def __init__(self, robot: Robot) -> None:
        self.robot = robot
        self._data = robot.model.createData()
        self._weight = robot.weight
        self.limbs: dict[str, tuple[str, ...]] = {limb.name: limb.joints for limb in limbs(robot)}
        self._torques = {joint.name: joint.v - 6 for joint in robot.joints}

    # -- for the view ----------------------------------------------------------------------------------------------

    def scenery(self, stage: Stage) -> Scenery:
        """For the view, with what the ground does: how everything is, not as sensors with their noise see it."""
        states = {name: act.plant.truth() for name, act in stage.acts.items()}
        state, places = next(iter(states.values())), stage.scene.places()
        step = stage.steps.get(next(iter(stage.acts)))
        floor = floor_height(state)
        pressure = None if step is None else self._pressure(step, floor)
        poses = {name: link_poses(each) for name, each in states.items()}
        for name in poses.keys() & places.keys():
            poses[name][:, :3] += places[name]
        return Scenery.of(
            state,
            poses=poses,
            forces=self._arrows(step),
            pressure=None if pressure is None else np.array([*pressure, floor]),
            gizmos={name: np.array(place) for name, place in stage.scene.gizmos().items()},
            plans=stage.scene.plans(),
            underfoot=None if stage.scene.soles is None else stage.scene.soles.under(state),
        )

    def _arrows(self, step: Step | None) -> Array:
        forces = None if step is None else _felt(step)
        if forces is None:
            return np.zeros((0, 2, 3))
        wrenches, points = forces
        felt = np.linalg.norm(wrenches[:, :3], axis=1) > FAINT * self._weight
        ends = points + ARROW * self.robot.height / self._weight * wrenches[:, :3]
        return np.stack([points, ends], axis=1)[felt]

    def _pressure(self, step: Step, floor: float) -> Array | None:
        forces = _felt(step)
        if forces is None:
            return None
        wrenches, points = forces
        if not wrenches[:, 2].sum() > FAINT * self._weight:
            return None
        return center_of_pressure(points, wrenches[:, :3], wrenches[:, 3:], floor)

    # -- for the pages ---------------------------------------------------------------------------------------------

    def numbers(self, stage: Stage, limb: str) -> dict[str, Any]:
        """What a page shows of the last step."""
        step, soles = stage.steps.get(next(iter(stage.acts))), stage.scene.soles
        if step is None:
            state: State = stage.main.plant.state()
            loads: dict[str, Any] = {"torques": {}, "forces": {}, "solver": None, "control": None, "soles": None}
            plots = {**self._over(state, None), **loads}
            return {"time": state.time, "phase": "", "fallback": "", "levels": [], "plots": plots}
        return {
            "time": round(step.state.time, 3),
            "phase": step.command.phase,
            "fallback": step.command.fallback,
            "levels": _levels(step),
            "plots": {
                **self._over(step.state, step),
                **self._loads(step, limb, stage.main.plant),
                "soles": None if soles is None else soles.numbers(),
            },
        }

    def _over(self, state: State, step: Step | None) -> dict[str, Any]:
        """Where the body is over its support."""
        floor, center = floor_height(state), state.center_of_mass
        pinocchio.centerOfMass(self.robot.model, self._data, state.q, state.v, False)
        capture = capture_point(center, self._data.vcom[0], max(float(center[2]) - floor, 0.05))
        pressure = None if step is None else self._pressure(step, floor)
        return {
            "center": _rounded(center[:2]),
            "capture": _rounded(capture),
            "pressure": None if pressure is None else _rounded(pressure),
            "support": [_rounded(corner) for corner in state.support_polygon],
        }

    def _loads(self, step: Step, limb: str, plant: Plant) -> dict[str, Any]:
        torque, limits = step.command.torque, self.robot.limits.torque
        if torque is None:  # servos: nobody commanded it, but the plant may know
            torque = plant.joint_torques()
        joints = self.limbs.get(limb, ())
        shares = (
            {}
            if torque is None
            else {
                name: round(float(torque[self._torques[name]] / max(limits[self._torques[name]], 1e-9)), 3)
                for name in joints
                if name in self._torques
            }
        )
        sensed, solution = step.sensed, step.command.solution
        forces = sensed.forces if sensed is not None else step.command.forces
        named = () if forces is None else zip(forces.names, forces.wrenches, strict=True)
        return {
            "torques": shares,
            "forces": {name: round(float(wrench[2]), 1) for name, wrench in named},
            "solver": None if solution is None else round(solution.milliseconds, 3),
            "control": round(step.milliseconds, 3),
        }


def explained(step: Step | None) -> tuple[list[str], list[str]]:
    """Which limits act, and the whole explanation, in lines; it takes as long as some ticks."""
    solution = None if step is None else step.command.solution
    if solution is None:
        return [], []
    lines = solution.explain().splitlines()
    begin = lines.index("saturated:") + 1 if "saturated:" in lines else len(lines)
    return [line.strip() for line in lines[begin:]][:LINES], lines[:LINES]


def _levels(step: Step) -> list[dict[str, Any]]:
    """The hierarchy with its errors, as a table."""
    solution, errors = step.command.solution, step.command.errors
    if solution is None or errors is None:
        return []
    program = solution.program
    slack, sides = np.abs(program.slack(solution.x)), solution.sides
    bound = (sides == LOWER) | (sides == UPPER)
    tasks: dict[str, list[dict[str, Any]]] = {}
    for i, (level, task, unit, _) in enumerate(errors.tasks):
        error = float(np.linalg.norm(errors.values(i)))
        if level in MUST and error < MET:
            continue
        tasks.setdefault(level, []).append({"name": task, "error": _plain(error), "unit": unit})
    found = []
    for k, name in enumerate(program.names):
        span = program.slice(k)
        found.append(
            {
                "name": name,
                "slack": _plain(float(slack[span].max(initial=0.0))),
                "saturated": int(bound[span].sum()),
                "tasks": tasks.get(name, []),
            }
        )
    return found


def _felt(step: Step) -> tuple[Array, Array] | None:
    """Wrenches and points of what the ground does, as sensed, or else as expected."""
    forces = step.sensed.forces if step.sensed is not None else step.command.forces
    return None if forces is None or not len(forces.names) else (forces.wrenches, forces.points)


def _rounded(point: Array) -> list[float]:
    return [round(float(value), 4) for value in point]


def _plain(value: float) -> float:
    """Three digits are enough for a table."""
    return float(f"{value:.3g}") if np.isfinite(value) else 0.0
