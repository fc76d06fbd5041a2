"""solve_pose: the posture that a hierarchy describes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pinocchio
from numpy.typing import NDArray

from poise.constraints import JointRange
from poise.control.command import task_labels
from poise.errors import PoiseError
from poise.hierarchy import Hierarchy, Level
from poise.solvers import Lexicographic, Solution
from poise.state import Snapshot, State
from poise.tasks import VELOCITY, Assembly, Layout, Task
from poise.tasks.layout import COLUMNS

Array = NDArray[np.float64]

#: A task is met when no row misses by more: a tenth of a millimetre or milliradian.
MET = 1e-4
#: Longest step of one iteration, rad or m: what linearised tasks can be trusted for.
TRUST = 0.3


@dataclass(frozen=True, eq=False)
class Posed:
    """A posture and how well it meets its hierarchy.

    Attributes:
        state: the posture, at rest.
        errors: per level its largest error beyond what it allows, in the unit of the task at fault.
        unmet: names of levels that could not be met, the most important first.
        iterations: how many were made.
        converged: whether the last one still moved anything.
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
        lines = [f"  {name:<16} {error:.2e}{'   not met' if name in self.unmet else ''}" for name, error in self.errors.items()]
        return "\n".join([head, *lines])


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
        raise PoiseError(f"solve_pose takes a Hierarchy and a State; given {hierarchy!r} and {start!r}")
    robot = start.robot
    levels = [Level(level.name, [t for t in level.tasks if _has_part(t)]) for level in hierarchy.levels]
    still = Hierarchy([t for t in hierarchy.always if _has_part(t)], levels)
    snapshot = Snapshot(robot).at(start)
    layout = Layout(VELOCITY, 1.0, robot.model.nv, robot.model.nv)
    groups = still.groups()
    assembly = Assembly(snapshot, groups, layout)
    solver = Lexicographic(damping=1e-6)
    state, trust, last = start.replace(v=np.zeros(robot.model.nv)), TRUST, np.inf
    for count in range(1, iterations + 1):
        solution = _newton_step(snapshot.at(state), assembly, solver)
        length = float(np.abs(solution.x).max(initial=0.0))
        # Steps that do not shrink circle around a target out of reach; shorter ones settle.
        trust = max(0.5 * trust, 1e-3) if length > 0.9 * last and count > 10 else trust
        last = length
        step = solution.x * min(1.0, trust / max(length, 1e-12))
        state = state.replace(q=pinocchio.integrate(robot.model, state.q, step))
        if length < tolerance:
            break
    solution = _newton_step(snapshot.at(state), assembly, solver)
    pairs = list(zip(_misses(assembly), task_labels(assembly, groups), strict=True))
    worst = {name: max((miss for miss, label in pairs if label.level == name), default=0.0) for name, _ in groups}
    unmet = tuple(name for name, error in worst.items() if error > MET)
    return Posed(state, worst, unmet, count, length < tolerance, solution)


def _has_part(task: Task) -> bool:
    """Whether a task has a say in a posture."""
    return isinstance(task, JointRange) or not task.wants_rate


def _newton_step(snapshot: Snapshot, assembly: Assembly, solver: Lexicographic) -> Solution:
    assembly.column("gain")[assembly.column("coupling") > 0.0] = 1.0
    assembly.write()
    return solver.solve(assembly.stack.program())


def _misses(assembly: Assembly) -> list[float]:
    error, low, high = (assembly.columns[COLUMNS.index(name)] for name in ("error", "low", "high"))
    miss = np.abs(error - np.clip(error, low, high))
    return [float(miss[block.rows].max(initial=0.0)) for block in assembly.stack.blocks]
