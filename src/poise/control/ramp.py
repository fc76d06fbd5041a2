"""Ramp: passing from one hierarchy to another without a jump."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from poise.robots import Robot
from poise.solvers import Lexicographic
from poise.state import Snapshot
from poise.tasks import Assembly, Layout, Memory, Task
from poise.tasks.task import Writer

Array = NDArray[np.float64]

#: Slack up to which rows count as met, in their unit: rounding of a solve.
MET = 1e-9


class Ramp:
    """The command moves in a straight line, within `seconds`, from what it was to what a new hierarchy wants.

    With x₋ the last command, x the new wish, T the period and r the time left, the command is::

        x₋' + (T / r) (x - x₋')

    where x₋' is the nearest to x₋ that keeps what both hierarchies have in common: `always`, and the first levels
    that are the same task for task. These therefore lose nothing while the rest passes over. A change during a ramp
    starts it anew from the present command; one at every tick makes it a low-pass filter with time constant `seconds`.

    Args:
        kept: names and tasks of the levels that both have in common, `always` first.
        damping: of each of them.
        begin, seconds: when it starts and how long it takes.
    """

    def __init__(
        self,
        snapshot: Snapshot,
        kept: Sequence[tuple[str, Sequence[Task]]],
        damping: Sequence[float],
        layout: Layout,
        begin: float,
        seconds: float,
    ) -> None:
        self.begin, self.seconds, self.period = begin, seconds, layout.period
        self._last = KeepCommand(layout.variables)
        self._assembly = Assembly(snapshot, [*kept, ("last command", [self._last])], layout, (*damping, 0.0))
        self._solver = Lexicographic()

    def left(self, time: float) -> float:
        """Seconds until it is over; a clock that is set back does not lengthen it."""
        return min(self.begin + self.seconds - time, self.seconds)

    def blend(self, last: Array, wish: Array, time: float) -> Array | None:
        """The command at a time; None when the ramp is over."""
        left = self.left(time)
        if left <= self.period:
            return None
        self._last.value[:] = last
        self._assembly.write()
        kept = self._kept(wish)
        return kept + (self.period / left) * (wish - kept)

    def _kept(self, wish: Array) -> Array:
        """The nearest to the last command that keeps what is to be kept.

        Caution near a singularity may soften `always`, and with it the limits in it. Where the wish meets these, so can
        the nearest: it is no farther from the last command than the wish, and there is nothing to be cautious about.
        """
        stack = self._assembly.stack
        solution = self._solver.solve(stack.program())
        program = solution.program
        if solution.careful == 0 and np.abs(program.slack(wish)[program.slice(0)]).max(initial=0.0) < MET:
            stack.caution[0] = 0.0
            solution = self._solver.solve(stack.program())
        return solution.x


class KeepCommand(Task):
    """``x = x₋`` for all unknowns."""

    unit = "as commanded"
    name = "last command"

    def __init__(self, variables: int) -> None:
        self.value = np.zeros(variables)

    def labels(self, robot: Robot) -> tuple[str, ...]:
        return tuple(str(i) for i in range(len(self.value)))

    def unknowns(self, robot: Robot, layout: Layout) -> range:
        return range(len(self.value))

    def bind(self, snapshot: Snapshot, memory: Memory, layout: Layout) -> list[Writer]:
        def write() -> None:
            memory.lower[:] = memory.upper[:] = self.value

        return [write]
