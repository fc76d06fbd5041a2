"""KinematicController: prioritized motion without forces."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from poise.control.command import Command
from poise.control.ramp import Ramp
from poise.errors import PoiseError, SolverError
from poise.hierarchy import Behavior, Hierarchy
from poise.robots import Robot
from poise.solvers import Lexicographic, Program, Solution
from poise.state import Snapshot, State
from poise.tasks import ACCELERATION, VELOCITY, Assembly, Layout

Array = NDArray[np.float64]

#: Time constant in which a command fades during a hold, s: all but stopped after a tenth of a second.
HOLD = 0.022
#: Time constant of the filter near singularities, s: four ticks at 200 Hz, and short beside the decay of any task.
CALM = 0.02


class KinematicController:
    """Moves a robot by the levels of a hierarchy, one solve per period, without looking at forces.

    At velocity order the unknowns are velocities, at acceleration order accelerations (commands are then smoother, and
    limits on acceleration are kept exactly). Every call returns a finite command; when no solution is to be had it is
    a hold (the last command, fading), and `Command.fallback` says why.

    Args:
        behavior: a Hierarchy, or a function of the snapshot that returns one.
        solver: `Lexicographic()` if None; `Weighted` or `NullSpace` by choice.
        period: seconds between two calls.
        order: VELOCITY or ACCELERATION.
        ramp: seconds in which the command passes from one hierarchy to the next, and from rest to the first; with 0 it
            does so at once.

    >>> controller = poise.KinematicController(hierarchy, period=0.005)
    >>> command = controller.step(state)
    """

    def __init__(
        self,
        behavior: Behavior,
        solver: object = None,
        period: float = 0.005,
        order: int = VELOCITY,
        ramp: float = 0.2,
    ) -> None:
        if not callable(behavior):
            raise PoiseError(f"behavior is {behavior!r}; expected a Hierarchy or a function that returns one")
        if not (isinstance(period, (int, float)) and math.isfinite(period) and period > 0.0):
            raise PoiseError(f"period is {period!r}; expected positive seconds")
        if order not in (VELOCITY, ACCELERATION):
            raise PoiseError(f"order is {order!r}; expected poise.VELOCITY or poise.ACCELERATION")
        if not (isinstance(ramp, (int, float)) and math.isfinite(ramp) and ramp >= 0.0):
            raise PoiseError(f"ramp is {ramp!r}; expected seconds, zero or more")
        self.behavior = behavior
        self.solver = Lexicographic() if solver is None else solver
        solve = getattr(self.solver, "solve", None)
        if solve is None:
            raise SolverError(f"solver is {solver!r}; expected one of poise.solvers, e.g. Lexicographic()")
        self._solve: Callable[[Program], Solution] = solve
        self._always_finite = type(self.solver) is Lexicographic  # others are looked at
        self.period = float(period)
        self.order = order
        self.ramp = float(ramp)
        self.reset()

    def reset(self) -> None:
        """Forgets the robot, the last command and the hierarchy, as if newly built."""
        if hasattr(self.solver, "reset"):
            self.solver.reset()
        self.robot: Robot | None = None
        self.hierarchy: Hierarchy | None = None
        self.command: Command | None = None

    def step(self, state: State) -> Command:
        """The command for a state; never raises once the hierarchy fits the robot, always finite."""
        if state.robot is not self.robot:
            self._start(state.robot)
        try:
            command = self._solved(state)
        except Exception as error:  # a task or behavior of the user's may raise anything
            if self.command is None:  # nothing ever worked: the hierarchy does not fit this robot
                raise
            command = self._hold(f"hold: {type(error).__name__}: {error}")
        self.command = command
        return command

    # -- one tick --------------------------------------------------------------------------------------------------

    def _start(self, robot: Robot) -> None:
        self.reset()
        self.robot = robot
        self._snapshot = Snapshot(robot)
        nv = robot.model.nv
        self._layout = Layout(self.order, self.period, nv, nv)
        self._last: Array = np.zeros(nv)
        self._velocity: Array = np.zeros(nv)
        self._transition: Ramp | None = None
        self._holding = False

    def _solved(self, state: State) -> Command:
        snapshot = self._snapshot.at(state)
        if not snapshot.finite:
            return self._hold("hold: the state has NaN or infinite entries")
        hierarchy = self.behavior(snapshot)
        if hierarchy is not self.hierarchy or hierarchy is None:
            self._change(hierarchy, state)
        if self._holding:
            self._recover(hierarchy, state)
        assembly = self._assembly
        assembly.write()
        solution = self._solve(assembly.stack.program())
        x = solution.x
        if solution.careful >= 0 and self.order == VELOCITY:
            self._calm(hierarchy, solution.careful, state)
        if self._transition is not None:
            blended = self._transition.blend(self._last, x, state.time)
            if blended is None:
                self._transition = None
            else:
                x = blended
        if not self._always_finite and not math.isfinite(x.dot(x)):
            return self._hold("hold: the solution is not finite")
        self._last = x
        fallback = "" if solution.status == "optimal" else f"{solution.status}: {solution.solver}"
        if self.order == VELOCITY:
            self._velocity = x
            return Command(x, None, None, self.period, solution, fallback, self._tasks)
        self._velocity = state.v + self.period * x
        return Command(self._velocity, x, None, self.period, solution, fallback, self._tasks)

    def _change(self, hierarchy: Hierarchy, state: State) -> None:
        """Binds another hierarchy, and starts to pass over to it."""
        snapshot, layout, old = self._snapshot, self._layout, self.hierarchy
        if not isinstance(hierarchy, Hierarchy):
            raise PoiseError(f"the behavior returned {hierarchy!r}; expected a Hierarchy")
        common = 0
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
        groups = hierarchy.groups()
        self._assembly = Assembly(snapshot, groups, layout, hierarchy.damping())
        blocks = self._assembly.stack.blocks
        self._tasks = (self._assembly.labels(), tuple(block.rows for block in blocks))
        if old is None and self.order == VELOCITY:
            self._last = np.array(state.v)
        if self.ramp > 0.0:
            self._transition = self._ramp(hierarchy, common, state.time, self.ramp)
        self.hierarchy = hierarchy
        self._calmers: dict[int, Ramp] = {}

    def _calm(self, hierarchy: Hierarchy, level: int, state: State) -> None:
        """Near a singularity, passes over to each new solution in `CALM` seconds: a low-pass filter on that level and
        those below it, which would else chase a direction that turns from tick to tick; those above stay exact."""
        if self._transition is not None and self._transition.left(state.time) > CALM:
            return
        common = max(level - 1, 0)
        if common not in self._calmers:
            self._calmers[common] = self._ramp(hierarchy, common, state.time, CALM)
        self._transition = self._calmers[common]
        self._transition.begin = state.time

    def _ramp(self, hierarchy: Hierarchy, common: int, begin: float, seconds: float) -> Ramp:
        return Ramp(self._snapshot, hierarchy, common, self._layout, begin, seconds)

    def _hold(self, reason: str) -> Command:
        """The last command, fading: finite whatever happens."""
        self._holding = True
        slower = math.exp(-self.period / HOLD) * self._velocity
        if self.order == VELOCITY:
            self._last = self._velocity = slower
            return Command(slower, None, None, self.period, None, reason)
        self._last = (slower - self._velocity) / self.period
        self._velocity = slower
        return Command(slower, self._last, None, self.period, None, reason)

    def _recover(self, hierarchy: Hierarchy, state: State) -> None:
        """After a hold, passes back to the hierarchy as to a new one."""
        self._holding = False
        if self.ramp > 0.0:
            self._transition = self._ramp(hierarchy, 0, state.time, self.ramp)
