"""Base class of the controllers that solve a hierarchy: binding of hierarchies, smooth transitions and holds."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from poise.arrays import Array
from poise.control.command import Command, Controller
from poise.errors import PoiseError, SolverError
from poise.hierarchy import Behavior, BehaviorLike, Hierarchy
from poise.parsing import format_value
from poise.robots import Robot, State
from poise.solvers import UNBOUNDED, Lexicographic, NullSpace, Program, Solution, Solver, Stack
from poise.state import Snapshot
from poise.tasks import VELOCITY, Assembly, Task, TaskRows, VariableLayout, Writer

#: Slack up to which rows count as met, in their unit: the rounding error of a solve.
SLACK_TOLERANCE = 1e-9


class Ramp:
    """Linear transition of the command, within `seconds`, from its last value to the solution of a new hierarchy.

    With x₋ the last command, x the new solution, T the period and r the remaining time, the command is::

        x₋' + (T / r) (x - x₋')

    where x₋' is the point nearest to x₋ that meets the levels common to both hierarchies: `always`, and the first
    levels with the same tasks. These levels are therefore not degraded by the transition. A change during a ramp
    restarts it from the present command; a restart at every tick makes it a low-pass filter with time constant
    `seconds`.

    Args:
        snapshot: snapshot of the control loop.
        common: names and tasks of the common levels, `always` first.
        damping: damping of each of them.
        layout: layout of the unknowns.
        begin, seconds: start time and duration (s).
        exact_levels: number of levels of the hierarchy among the common ones.
        budget: processor time for computing the nearest point (s); None: no limit.
    """

    def __init__(
        self,
        snapshot: Snapshot,
        common: Sequence[tuple[str, Sequence[Task]]],
        damping: Sequence[float],
        layout: VariableLayout,
        begin: float,
        seconds: float,
        exact_levels: int,
        budget: float | None = None,
    ) -> None:
        self.begin, self.seconds, self.period = begin, seconds, layout.period
        self.exact_levels = exact_levels
        self._last = LastCommandTask(layout.variables)
        self._assembly = Assembly(snapshot, [*common, ("last command", [self._last])], layout, (*damping, 0.0))
        self._solver = Lexicographic(budget=budget, required_levels=1)

    def time_left(self, time: float) -> float:
        """Return the seconds until the end; at most `seconds`, even if the clock is set back."""
        return min(self.begin + self.seconds - time, self.seconds)

    def blend(self, last: Array, solution_x: Array, time: float) -> Array | None:
        """Return the command at a time; None after the end of the ramp."""
        remaining = self.time_left(time)
        if remaining <= self.period:
            return None
        self._last.value[:] = last
        self._assembly.write()
        common = self._project_last(solution_x)
        return common + (self.period / remaining) * (solution_x - common)

    def _project_last(self, solution_x: Array) -> Array:
        """Return the point nearest to the last command that meets the common levels as well as the solution does.

        Singularity damping may relax `always`, including the limits in it. If the solution meets these, the nearest
        point can meet them, too: it is computed without damping, and is no farther from the last command than the
        solution.
        """
        stack = self._assembly.stack
        solution = self._solver.solve(stack.program())
        program = solution.program
        if (
            solution.first_damped_level == 0
            and np.abs(program.slack(solution_x)[program.slice(0)]).max(initial=0.0) < SLACK_TOLERANCE
        ):
            stack.singularity_damping[0] = 0.0
            solution = self._solver.solve(stack.program())
        return solution.x


class LastCommandTask(Task):
    """Task that keeps all unknowns at the last command: ``x = x₋``."""

    unit = "as commanded"
    name = "last command"

    def __init__(self, variables: int) -> None:
        self.value = np.zeros(variables)

    def labels(self, robot: Robot) -> tuple[str, ...]:
        return tuple(str(i) for i in range(len(self.value)))

    def unknowns(self, robot: Robot, layout: VariableLayout) -> range:
        return range(len(self.value))

    def bind(self, snapshot: Snapshot, task_rows: TaskRows, layout: VariableLayout) -> list[Writer]:
        def write() -> None:
            task_rows.lower[:] = task_rows.upper[:] = self.value

        return [write]


# -- HierarchyController ---------------------------------------------------------------------------------------------


Groups = list[tuple[str, Sequence[Task]]]


#: Largest sampling period (s). A longer one is a mistake of units: 5 for 5 ms.
MAX_PERIOD = 1.0
#: Number of hierarchies that stay bound, some megabytes each: more than those of a walk.
MAX_BINDINGS = 8
#: Largest sum of absolute values of q and v. Beyond it the state is invalid: squares of larger speeds would hide every
#: limit in rounding errors.
MAX_MAGNITUDE = 1e6


class BoundHierarchy:
    """A hierarchy bound to a snapshot.

    Attributes:
        assembly, layout: the tasks in the memory of one stack, and the layout of the unknowns.
        groups, damping: names and tasks of all levels of the program, and their damping.
        tasks: labels of the tasks, and slices of their rows.
    """

    def __init__(self, assembly: Assembly, layout: VariableLayout, groups: Groups, damping: tuple[float, ...]) -> None:
        self.assembly, self.layout, self.groups, self.damping = assembly, layout, groups, damping
        self.tasks = (assembly.labels(), tuple(block.rows for block in assembly.stack.blocks))


#: Default budget of the solver, relative to the period: the other half is for sensing, tasks and the plant.
BUDGET_SHARE = 0.5
#: Budget of the solve for a transition, relative to that of the hierarchy: together three quarters of a period.
TRANSITION_SHARE = 0.5


class HierarchyController(Controller):
    """Base of `KinematicController` and `TorqueController`: one solve of the behavior's hierarchy per period.

    Every call of `step` returns a finite command. Subclasses define the layout of the unknowns (`_layout_for`), levels
    above those of the hierarchy (`_groups`), the command for a solution (`_command_from`), and the command without a
    solution (`_hold`).

    Args:
        behavior: a Hierarchy, or a function of the snapshot that returns one.
        solver: the solver; None: `Lexicographic` with a budget of half a period. A solver that is given keeps its own
            budget, or none.
        period: sampling period (s), at most `MAX_PERIOD`.
        ramp: transition time of the command between hierarchies (s); None: that of the behavior.
    """

    def __init__(self, behavior: BehaviorLike, solver: Solver | None, period: float, ramp: float | None) -> None:
        self._behavior = Behavior.adapt(behavior)
        if not (isinstance(period, (int, float)) and math.isfinite(period) and 0.0 < period <= MAX_PERIOD):
            raise PoiseError(f"period is {period!r}; expected positive seconds, at most {MAX_PERIOD:g}")
        for value in (ramp, self._behavior.ramp):
            if value is not None and not (isinstance(value, (int, float)) and 0.0 <= value < math.inf):
                raise PoiseError(f"ramp is {value!r}; expected seconds, zero or more")
        self.solver: Solver = Lexicographic(BUDGET_SHARE * period) if solver is None else _check_solver(solver)
        self._budget = None
        if isinstance(self.solver, Lexicographic):
            # Physics or the limits, without which a point is useless, are solved even if that takes longer.
            self.solver.required_levels = max(self.solver.required_levels, 1)
            self._budget = self.solver.budget
        self._solve: Callable[[Program], Solution] = self.solver.solve
        self._always_finite = type(self.solver) in (Lexicographic, NullSpace)  # solutions of other solvers are checked
        self.period = float(period)
        self._fixed_ramp = ramp
        self.reset()

    @property
    def behavior(self) -> Behavior:
        """Behavior that is followed; if another one, or a function, is assigned, the command passes over to it."""
        return self._behavior

    @behavior.setter  # type: ignore[override]  # None is not allowed here
    def behavior(self, behavior: BehaviorLike) -> None:
        self._behavior = Behavior.adapt(behavior)

    @property
    def ramp(self) -> float:
        """Transition time of the command between hierarchies (s)."""
        return float(self._behavior.ramp if self._fixed_ramp is None else self._fixed_ramp)

    def __repr__(self) -> str:
        order = "velocity" if self.order == VELOCITY else "acceleration"
        return f"{type(self).__name__}(period {self.period:g} s, {order} order)"

    def reset(self) -> None:
        """Discard the robot, the last command and the hierarchy: return to the state after construction."""
        self.solver.reset()
        self.robot: Robot | None = None
        self.hierarchy: Hierarchy | None = None
        self.command: Command | None = None
        self._bindings: dict[Hierarchy, Any] = {}

    def prepare(self, state: State) -> None:
        """Bind all hierarchies that the behavior announces, so that no tick has to: each takes about a millisecond."""
        if not isinstance(state, State) or self.hierarchy is not None:
            return
        if state.robot is not self.robot:
            self._start(state.robot)
        for hierarchy in self._behavior.hierarchies:
            try:
                self._snapshot.at(state)
                assembly = self._binding(hierarchy, state).assembly
                assembly.write()
                Lexicographic().solve(assembly.stack.program())
            except Exception:  # the first step reports what is wrong, if it uses this hierarchy
                continue

    def snapshot_at(self, state: State) -> Snapshot:
        """Return the controller's snapshot at this state; a following `step` of the same state reuses its results."""
        if state.robot is not self.robot:
            self._start(state.robot)
        return self._snapshot.at(state)

    def step(self, state: State | None) -> Command:
        """Return the command for a state, or a hold for None, if no state was measured.

        The command is always finite. After the first successful step, `step` never raises.
        """
        if not isinstance(state, State):
            return self._command_without_state(state)
        if state.robot is not self.robot:
            self._start(state.robot)
        try:
            command = self._solve_state(state)
        except Exception as error:  # tasks and behaviors written by users may raise anything
            if self.command is None:  # the first step fails: the hierarchy does not fit this robot
                raise
            command = self._hold(f"hold: {type(error).__name__}: {error}", self._snapshot)
        phase = self._behavior.phase(state.time)
        if phase is not None:
            command.phase = phase.name
        self.command = command
        return command

    # -- one tick --------------------------------------------------------------------------------------------------

    def _start(self, robot: Robot) -> None:
        self.reset()
        self.robot = robot
        self._snapshot = Snapshot(robot)
        self._transition: Ramp | None = None
        self._holding = False

    def _solve_state(self, state: State) -> Command:
        snapshot = self._snapshot.at(state)
        if not snapshot.is_finite:
            return self._hold("hold: the state has NaN or infinite entries", None)
        if snapshot.magnitude > MAX_MAGNITUDE:
            return self._hold(f"hold: the state has entries beyond {MAX_MAGNITUDE:g}", None)
        hierarchy = self._behavior(snapshot)
        if hierarchy is not self.hierarchy or hierarchy is None:
            self._change_hierarchy(hierarchy, state)
        if self._holding:
            self._resume(state)
        bounded, stack = self._assembly.write(), self._assembly.stack
        if not bounded:
            return self._hold(f"hold: the bounds of '{_nonfinite_task(stack)}' are not finite", snapshot)
        return self._command_from(self._solve(stack.program()), state)

    def _blend(self, x: Array, state: State) -> Array:
        """Return the solution, or during a transition the blend of the last command and the solution."""
        if self._transition is None:
            return x
        blended_x = self._transition.blend(self._last, x, state.time)
        if blended_x is None:
            self._transition = None
            return x
        return blended_x

    def _change_hierarchy(self, hierarchy: Hierarchy, state: State) -> None:
        """Bind another hierarchy and start the transition to it."""
        snapshot, old = self._snapshot, self.hierarchy
        if not isinstance(hierarchy, Hierarchy):
            raise PoiseError(f"the behavior returned {hierarchy!r}; expected a Hierarchy")
        common = -1
        if old is not None:
            if old.common_levels(hierarchy) == len(old.levels) == len(hierarchy.levels):
                self.hierarchy = hierarchy  # the same tasks in another object
                return
            common = old.replace(always=hierarchy.always).common_levels(hierarchy)
        if hierarchy.robot_name not in (None, snapshot.robot.name):
            raise PoiseError(
                f"the hierarchy is made for {hierarchy.robot_name}, the state is of {snapshot.robot.name}; "
                "build both from one robot"
            )
        if old is None:  # bind all hierarchies that the behavior announces, before the first tick
            for coming in self._behavior.hierarchies:
                self._binding(coming, state)
        seconds = self.ramp
        if old is not None and self._fixed_ramp is None:
            seconds, common = self._behavior.transition(old, hierarchy)
        if self._transition is not None:  # it goes on: levels that it has not reached yet are not exact
            common = min(common if seconds > 0.0 else len(hierarchy.levels), self._transition.exact_levels)
            seconds = max(seconds, self._transition.time_left(state.time))
        self._activate(self._binding(hierarchy, state))
        self.hierarchy = hierarchy
        self._transition = None
        if seconds > 0.0:
            self._start_transition(common, state, seconds)

    def _binding(self, hierarchy: Hierarchy, state: State) -> Any:
        """Return a hierarchy bound to the snapshot. The last bindings are cached: a walk returns to each of them."""
        bound = self._bindings.pop(hierarchy, None) or self._bind(hierarchy, state)
        self._bindings[hierarchy] = bound
        if len(self._bindings) > MAX_BINDINGS:
            del self._bindings[next(iter(self._bindings))]
        return bound

    def _bind(self, hierarchy: Hierarchy, state: State) -> Any:
        layout = self._layout_for(hierarchy, state)
        groups, damping = self._groups(hierarchy, layout)
        return BoundHierarchy(Assembly(self._snapshot, groups, layout, damping), layout, groups, damping)

    def _activate(self, bound: Any) -> None:
        """Make a bound hierarchy the one that is written and solved."""
        self._bound: BoundHierarchy = bound
        self._assembly, self._tasks = bound.assembly, bound.tasks

    def _start_transition(self, common: int, state: State, seconds: float) -> None:
        """Start the transition (s) to a hierarchy that has its first `common` levels in common with the old one.

        -1: there was no hierarchy before.
        """
        self._transition = self._ramp(max(common, 0), state.time, seconds)

    def _ramp(self, common: int, begin: float, seconds: float) -> Ramp:
        """Return a transition that keeps the levels above the hierarchy, `always` and its first `common` levels."""
        assert self.hierarchy is not None
        groups, damping = self._bound.groups, self._bound.damping
        count = len(groups) - len(self.hierarchy.levels) + common
        budget = None if self._budget is None else TRANSITION_SHARE * self._budget
        return Ramp(self._snapshot, groups[:count], damping[:count], self._bound.layout, begin, seconds, common, budget)

    def _resume(self, state: State) -> None:
        """End a hold: pass over to the hierarchy as to a new one."""
        self._holding = False
        if self.ramp > 0.0:
            self._transition = self._ramp(0, state.time, self.ramp)

    # -- defined by subclasses -------------------------------------------------------------------------------------

    _last: Array

    @abstractmethod
    def _layout_for(self, hierarchy: Hierarchy, state: State) -> VariableLayout:
        """Return the layout of the unknowns."""

    def _groups(self, hierarchy: Hierarchy, layout: VariableLayout) -> tuple[Groups, tuple[float, ...]]:
        """Return names and tasks of all levels of the program, and their damping."""
        return list(hierarchy.groups()), hierarchy.damping()

    @abstractmethod
    def _command_from(self, solution: Solution, state: State) -> Command:
        """Return the command for a solution."""

    @abstractmethod
    def _hold(self, reason: str, snapshot: Snapshot | None) -> Command:
        """Return a finite command without a solution; the snapshot is None if the state is unknown or invalid."""

    def _command_without_state(self, state: object) -> Command:
        """Return the command if no state was measured."""
        if self.command is None:
            raise PoiseError(f"the first state is {format_value(state)}; expected a State, e.g. plant.state()")
        self.command = self._hold("hold: no state was measured", None)
        return self.command


def _check_solver(candidate: Any) -> Solver:
    try:
        return Solver.adapt(candidate)
    except PoiseError as error:
        raise SolverError(
            f"solver is {candidate!r}; expected one of poise.solvers, e.g. Lexicographic(): {error}"
        ) from None


def _nonfinite_task(stack: Stack) -> str:
    """Return the name of the first task with bounds that no x can meet: NaN, or infinite on the wrong side."""
    for block in stack.blocks:
        if not ((block.lower < UNBOUNDED).all() and (block.upper > -UNBOUNDED).all()):
            return block.name
    return "a task"
