"""KinematicController: prioritized motion without forces."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from poise.control.command import Command
from poise.control.controller import Bound, HierarchyController
from poise.control.ramp import Ramp
from poise.errors import PoiseError
from poise.hierarchy import Behavior, Hierarchy
from poise.robots import Robot
from poise.solvers import Solution
from poise.state import Snapshot, State
from poise.tasks import ACCELERATION, VELOCITY, Layout

Array = NDArray[np.float64]

#: Time constant in which a command fades during a hold, s: all but stopped after a tenth of a second.
HOLD = 0.022
#: Time constant of the filter near singularities, s: four ticks at 200 Hz, and short beside the decay of any task.
CALM = 0.02


class KinematicController(HierarchyController):
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
        if order not in (VELOCITY, ACCELERATION):
            raise PoiseError(f"order is {order!r}; expected poise.VELOCITY or poise.ACCELERATION")
        self.order = order
        super().__init__(behavior, solver, period, ramp)

    def _start(self, robot: Robot) -> None:
        super()._start(robot)
        nv = robot.model.nv
        self._last = np.zeros(nv)
        self._velocity: Array = np.zeros(nv)

    def _layout_for(self, hierarchy: Hierarchy, state: State) -> Layout:
        nv = state.robot.model.nv
        if self.hierarchy is None and self.order == VELOCITY:
            self._last = np.array(state.v)
        return Layout(self.order, self.period, nv, nv)

    def _enter(self, bound: Bound) -> None:
        super()._enter(bound)
        self._calmers: dict[int, Ramp] = {}

    def _decided(self, solution: Solution, state: State) -> Command:
        x = solution.x
        if solution.careful >= 0 and self.order == VELOCITY:
            self._calm(solution.careful, state)
        x = self._blended(x, state)
        if not self._always_finite and not math.isfinite(x.dot(x)):
            return self._hold("hold: the solution is not finite", self._snapshot)
        self._last = x
        fallback = "" if solution.status == "optimal" else f"{solution.status}: {solution.solver}"
        if self.order == VELOCITY:
            self._velocity = x
            return Command(x, None, None, self.period, solution, fallback, self._tasks)
        self._velocity = state.v + self.period * x
        return Command(self._velocity, x, None, self.period, solution, fallback, self._tasks)

    def _calm(self, level: int, state: State) -> None:
        """Near a singularity, passes over to each new solution in `CALM` seconds: a low-pass filter on that level and
        those below it, which would else chase a direction that turns from tick to tick; those above stay exact."""
        if self._transition is not None and self._transition.left(state.time) > CALM:
            return
        common = max(level - 1, 0)
        if common not in self._calmers:
            self._calmers[common] = self._ramp(common, state.time, CALM)
        self._transition = self._calmers[common]
        self._transition.begin = state.time

    def _hold(self, reason: str, snapshot: Snapshot | None) -> Command:
        """The last command, fading: finite whatever happens."""
        self._holding = True
        slower = math.exp(-self.period / HOLD) * self._velocity
        if self.order == VELOCITY:
            self._last = self._velocity = slower
            return Command(slower, None, None, self.period, None, reason)
        self._last = (slower - self._velocity) / self.period
        self._velocity = slower
        return Command(slower, self._last, None, self.period, None, reason)
