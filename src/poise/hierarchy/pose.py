"""solve_pose: the posture that a hierarchy describes."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np
import pinocchio
from numpy.typing import NDArray

from poise.constraints import JointRange
from poise.errors import PoiseError
from poise.hierarchy.level import Hierarchy, Level
from poise.solvers import Lexicographic, Solution
from poise.state import Snapshot, State
from poise.tasks import VELOCITY, Assembly, Decay, Layout, MotionTask, Target, Task
from poise.tasks.axes import shown
from poise.tasks.target import moving

Array = NDArray[np.float64]

#: A task is met when no row misses by more: a tenth of a millimetre or milliradian.
MET = 1e-4
#: Longest step of one iteration, rad or m: what linearised tasks can be trusted for.
TRUST = 0.3
#: How much of a controller's caution near singularities is left here, where short steps see to it that linearised tasks
#: do not mislead: in full it would take far more of them,
#: with a twentieth a target out of reach shook the feet.
CAUTION = 0.35


@dataclass(frozen=True, eq=False)
class Posed:
    """A posture and how well it meets its hierarchy.

    Attributes:
        state: the posture, at rest.
        errors: per level its largest error beyond what it allows, in the unit of the task at fault.
        unmet: names of levels that could not be met, the most important first.
        iterations: how many were made.
        converged: whether the last one moved nothing any more.
        solution: of the last iteration; `solution.explain()` tells what stands in the way.
    """

    state: State
    errors: dict[str, float]
    unmet: tuple[str, ...]
    iterations: int
    converged: bool
    solution: Solution

    def __str__(self) -> str:
        head = f"{'converged' if self.converged else 'stopped'} after {self.iterations} iterations"
        words = {name: "   not met" if name in self.unmet else "" for name in self.errors}
        return "\n".join([head, *(f"  {name:<16} {error:.2e}{words[name]}" for name, error in self.errors.items())])


def solve_pose(hierarchy: Hierarchy, start: State, iterations: int = 200, tolerance: float = 1e-8) -> Posed:
    """Iterates a hierarchy to a posture: each step solves its linearised tasks in full, as a Newton step does.

    Targets are taken at the time of `start`; reference behaviours, speeds and tasks that want a rate have no part in a
    posture and are left out, but for the range of joints.

    Args:
        hierarchy: e.g. for a stance: feet, centre of mass, posture.
        start: where to begin; it decides which of several postures is found.
        iterations: at most how many.
        tolerance: the posture is found when a step is shorter (rad, m).

    >>> standing = solve_pose(hierarchy, start).state
    """
    if not isinstance(hierarchy, Hierarchy) or not isinstance(start, State):
        raise PoiseError(f"solve_pose takes a Hierarchy and a State; given {shown(hierarchy)} and {shown(start)}")
    if not isinstance(iterations, int) or iterations < 1:
        raise PoiseError(f"iterations is {iterations!r}; expected a number, one or more")
    robot = start.robot
    if hierarchy.robot_name not in (None, robot.name):
        raise PoiseError(f"the hierarchy is made for {hierarchy.robot_name}, the state is of {robot.name}")
    levels = [Level(level.name, _at_rest(level.tasks, start.time), level.damping) for level in hierarchy.levels]
    still = Hierarchy(_at_rest(hierarchy.always, start.time), levels)
    snapshot = Snapshot(robot).at(start)
    layout = Layout(VELOCITY, 1.0, robot.model.nv, robot.model.nv)
    groups = still.groups()
    assembly = Assembly(snapshot, groups, layout, still.damping())
    solver = Lexicographic(damping=1e-6)
    state, trust, last = start.replace(v=np.zeros(robot.model.nv)), TRUST, np.zeros(robot.model.nv)
    count, length = 0, np.inf
    while count < iterations and length >= tolerance:
        count += 1
        step = _newton_step(snapshot.at(state), assembly, solver).x
        # Steps that turn back circle around a target out of reach; shorter ones settle.
        trust = 0.5 * trust if step @ last < 0.0 else min(1.5 * trust, TRUST)
        step = step * min(1.0, trust / max(float(np.abs(step).max(initial=0.0)), 1e-12))
        state, last = state.replace(q=pinocchio.integrate(robot.model, state.q, step)), step
        length = float(np.abs(step).max(initial=0.0))
    solution = _newton_step(snapshot.at(state), assembly, solver)
    pairs = list(zip(_misses(assembly), assembly.labels(), strict=True))
    worst = {name: max((miss for miss, label in pairs if label.level == name), default=0.0) for name, _ in groups}
    unmet = tuple(name for name, error in worst.items() if error > MET)
    return Posed(state, worst, unmet, count, length < tolerance, solution)


def _at_rest(tasks: Sequence[Task], time: float) -> list[Task]:
    """What the tasks that have a say in a posture want at a time, without how and how fast they want it."""
    found: list[Task] = []
    for task in tasks:
        if isinstance(task, MotionTask) and not task.wants_rate:
            task = copy(task)
            task.reference = Decay(1.0)
            if moving(getattr(task, "target", None)):
                vars(task)["target"] = Halted(vars(task)["target"], time)
            found.append(task)
        elif isinstance(task, JointRange) or not task.wants_rate:
            found.append(task)
    return found


class Halted:
    """What a target is at one time, for good."""

    def __init__(self, target: Target, time: float) -> None:
        value, rate, acceleration = target.sample(time)
        self._sample = value, np.zeros_like(rate), np.zeros_like(acceleration)

    def sample(self, time: float) -> tuple[Any, Array, Array]:
        return self._sample


def _newton_step(snapshot: Snapshot, assembly: Assembly, solver: Lexicographic) -> Solution:
    assembly.column("gain")[assembly.column("coupling") > 0.0] = 1.0
    assembly.write()
    assembly.stack.caution[:] *= CAUTION
    return solver.solve(assembly.stack.program())


def _misses(assembly: Assembly) -> list[float]:
    error, low, high = (assembly.column(name) for name in ("error", "low", "high"))
    miss = np.abs(error - np.clip(error, low, high))
    return [float(miss[block.rows].max(initial=0.0)) for block in assembly.stack.blocks]
