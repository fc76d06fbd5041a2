"""Inverse kinematics: `solve_pose` iterates a hierarchy to the posture that meets it."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np
import pinocchio

from poise.arrays import Array
from poise.constraints import JointRange
from poise.errors import PoiseError
from poise.hierarchy.hierarchy import Hierarchy, Level
from poise.parsing import format_value
from poise.robots import State
from poise.solvers import Lexicographic, Solution
from poise.state import Snapshot
from poise.tasks import VELOCITY, Assembly, Decay, MotionTask, Target, Task, VariableLayout, is_moving

#: Largest error of a row at which a level counts as met: a tenth of a millimeter or milliradian.
POSE_TOLERANCE = 1e-4
#: Largest change of a coordinate in one iteration (rad or m), within which the linearized tasks are accurate enough.
MAX_STEP = 0.3
#: Factor on the singularity damping that controllers use. Here the limited steps already keep the linearization valid:
#: full damping takes far more iterations; with a twentieth of it, a target out of reach made the feet oscillate.
DAMPING_SHARE = 0.35


@dataclass(frozen=True, eq=False)
class PoseSolution:
    """A posture and how well it meets its hierarchy.

    Attributes:
        state: the posture, at rest.
        errors: largest error of each level beyond the tolerances of its tasks, by name; in the unit of the task with
            that error.
        unmet: names of levels that could not be met, the most important first.
        iterations: number of iterations.
        converged: whether the last step was shorter than the tolerance.
        solution: solution at the final posture; `solution.explain()` tells which rows prevent a level from being met.
    """

    state: State
    errors: dict[str, float]
    unmet: tuple[str, ...]
    iterations: int
    converged: bool
    solution: Solution

    def __str__(self) -> str:
        head = f"{'converged' if self.converged else 'stopped'} after {self.iterations} iterations"
        notes = {name: "   not met" if name in self.unmet else "" for name in self.errors}
        return "\n".join([head, *(f"  {name:<16} {error:.2e}{notes[name]}" for name, error in self.errors.items())])


def solve_pose(hierarchy: Hierarchy, start: State, iterations: int = 200, tolerance: float = 1e-8) -> PoseSolution:
    """Find the posture that meets a hierarchy, by Newton steps that solve all linearized tasks.

    Targets are sampled at the time of `start`. Task dynamics and target velocities are ignored. Tasks and constraints
    on velocities only are left out, except `JointRange`, which keeps the joints inside their ranges.

    Args:
        hierarchy: e.g. for a stance: feet, center of mass, posture.
        start: initial posture; it decides which of several solutions is found.
        iterations: largest number of iterations.
        tolerance: converged when no coordinate changes by more in one step (rad, m).

    >>> standing = solve_pose(hierarchy, start).state
    """
    if not isinstance(hierarchy, Hierarchy) or not isinstance(start, State):
        raise PoiseError(
            f"solve_pose takes a Hierarchy and a State; given {format_value(hierarchy)} and {format_value(start)}"
        )
    if not isinstance(iterations, int) or iterations < 1:
        raise PoiseError(f"iterations is {iterations!r}; expected a whole number, 1 or more")
    robot = start.robot
    if hierarchy.robot_name not in (None, robot.name):
        raise PoiseError(f"the hierarchy is made for {hierarchy.robot_name}, the state is of {robot.name}")
    levels = [Level(level.name, _static_tasks(level.tasks, start.time), level.damping) for level in hierarchy.levels]
    static_hierarchy = Hierarchy(_static_tasks(hierarchy.always, start.time), levels)
    snapshot = Snapshot(robot).at(start)
    layout = VariableLayout(VELOCITY, 1.0, robot.model.nv, robot.model.nv)
    groups = static_hierarchy.groups()
    assembly = Assembly(snapshot, groups, layout, static_hierarchy.damping())
    solver = Lexicographic(damping=1e-6)
    state, trust, last = start.replace(v=np.zeros(robot.model.nv)), MAX_STEP, np.zeros(robot.model.nv)
    count, length = 0, np.inf
    while count < iterations and length >= tolerance:
        count += 1
        step = _newton_step(snapshot.at(state), assembly, solver).x
        # A step that reverses the last one indicates a cycle around a target out of reach; shorter steps converge.
        trust = 0.5 * trust if step @ last < 0.0 else min(1.5 * trust, MAX_STEP)
        step = step * min(1.0, trust / max(float(np.abs(step).max(initial=0.0)), 1e-12))
        state, last = state.replace(q=pinocchio.integrate(robot.model, state.q, step)), step
        length = float(np.abs(step).max(initial=0.0))
    solution = _newton_step(snapshot.at(state), assembly, solver)
    pairs = list(zip(_block_errors(assembly), assembly.labels(), strict=True))
    worst = {
        name: max((block_error for block_error, label in pairs if label.level == name), default=0.0)
        for name, _ in groups
    }
    unmet = tuple(name for name, error in worst.items() if error > POSE_TOLERANCE)
    return PoseSolution(state, worst, unmet, count, length < tolerance, solution)


def _static_tasks(tasks: Sequence[Task], time: float) -> list[Task]:
    """Return the tasks that constrain a posture, with targets frozen at a time and unit gain.

    Tasks and constraints on velocity are left out, except `JointRange`.
    """
    static: list[Task] = []
    for task in tasks:
        if isinstance(task, MotionTask) and not task.velocity_only:
            task = copy(task)
            task.dynamics = Decay(1.0)
            if is_moving(task.target):
                vars(task)["target"] = FrozenTarget(vars(task)["target"], time)
            static.append(task)
        elif isinstance(task, JointRange) or not task.velocity_only:
            static.append(task)
    return static


class FrozenTarget:
    """The value of a target at one time, as a constant target at rest."""

    def __init__(self, target: Target, time: float) -> None:
        value, rate, acceleration = target.sample(time)
        self._sample = value, np.zeros_like(rate), np.zeros_like(acceleration)

    def sample(self, time: float) -> tuple[Any, Array, Array]:
        return self._sample


def _newton_step(snapshot: Snapshot, assembly: Assembly, solver: Lexicographic) -> Solution:
    assembly.column("gain")[assembly.column("coupling") > 0.0] = 1.0
    assembly.write()
    assembly.stack.singularity_damping[:] *= DAMPING_SHARE
    return solver.solve(assembly.stack.program())


def _block_errors(assembly: Assembly) -> list[float]:
    error, low, high = (assembly.column(name) for name in ("error", "low", "high"))
    block_error = np.abs(error - np.clip(error, low, high))
    return [float(block_error[block.rows].max(initial=0.0)) for block in assembly.stack.blocks]
