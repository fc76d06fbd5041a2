"""Task: anything that a level of a hierarchy, or its `always`, can hold."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from poise.errors import TaskError
from poise.robots import Frame, Robot
from poise.solvers import Rows
from poise.state import Contact, Snapshot
from poise.tasks.axes import shown
from poise.tasks.layout import VELOCITY, Layout, Memory

Array = NDArray[np.float64]

#: Writes rows or columns of a task from the snapshot's memory; called at every tick, without arguments.
Writer = Callable[[], None]


class Dial:
    """A weight that somebody turns while the robot moves, like a slider: the tasks that it is given to follow at once.

    >>> dial = tasks.Dial(1.0)
    >>> task = tasks.AngularMomentum(weight=dial)
    >>> dial.turn(20.0)
    """

    def __init__(self, value: ArrayLike) -> None:
        self.value: Array = np.array(checked_weight(value, "Dial"), dtype=np.float64)

    def turn(self, value: ArrayLike) -> None:
        """To another weight, or weights of as many rows as before."""
        new = np.asarray(checked_weight(value, "Dial"), dtype=np.float64)
        if new.ndim and new.shape != self.value.shape:
            raise TaskError(f"Dial: turned to {shown(value)}; expected a number, or as many as before", "Dial")
        self.value[...] = new

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        return np.array(self.value, dtype=dtype)

    def __repr__(self) -> str:
        return f"Dial({self.value})"


class Task(ABC):
    """Rows ``lower <= A x <= upper`` as a function of the snapshot, with a name, a unit and a weight.

    The same task serves kinematics and dynamics: the layout says whether x holds velocities or accelerations. A task
    is frozen, has no memory, and may stand in several hierarchies. A constraint is a task that stands in `always`.

    Attributes:
        name: what a reader sees in tables, explanations and recordings.
        unit: of its error; of its rate for tasks that want one.
        weight: importance inside its level, 1/unit²; a number, one per row, or a `Dial` of these.
        needs: which parts of the snapshot its writers read (`poise.state.FRAMES`, ...).
        curvature: size of the second derivative of its error in q, per rad² and m of the robot's height: about 1 for
            points and directions, 0 where the error is linear; it decides how carefully an error that can hardly
            vanish is approached.
        massive: it moves all of the body. Under torques it is then followed without care: it cannot whip, and a balance
            that is held back survives a quarter less of a push.
        wants_rate: the task speaks of velocities only and has no error in position.
    """

    name: str
    unit: str
    weight: Any = 1.0
    needs: int = 0
    wants_rate = False
    curvature = 0.0
    massive = False

    @abstractmethod
    def labels(self, robot: Robot) -> tuple[str, ...]:
        """One word per row; their number is the size of the task on this robot."""

    @abstractmethod
    def bind(self, snapshot: Snapshot, memory: Memory, layout: Layout) -> Sequence[Writer]:
        """Writers that fill the memory from the snapshot, called in order at every tick. What never changes is
        written here, once."""

    def unknowns(self, robot: Robot, layout: Layout) -> Sequence[int] | None:
        """For rows that are single unknowns, which ones: limits of joints, a posture. None for all others."""
        return None

    def contacts(self) -> tuple[Contact, ...]:
        """The contacts that it speaks of; a controller with forces gives each of them unknowns."""
        return ()

    def row_unit(self, order: int) -> str:
        """Unit of its rows, and of their slack: a rate of its unit at velocity order, an acceleration at the other."""
        per = "/s" if order == VELOCITY else "/s²"
        if self.wants_rate:
            per = "" if order == VELOCITY else "/s"
        return ", ".join((unit + per).replace("/s/s", "/s²") for unit in self.unit.split(", "))

    def groups(self, robot: Robot) -> Sequence[tuple[int, float, float]]:
        """Groups of rows with (count, greatest speed, greatest acceleration) whose bounds follow from their errors.

        Empty for tasks that write their bounds themselves.
        """
        return ()

    def frames(self) -> tuple[Frame, ...]:
        """The frames that it speaks of, so that a hierarchy can see that all are of one robot."""
        return ()

    def rows(self, snapshot: Snapshot, layout: Layout) -> Rows:
        """The rows at this snapshot, as a value: for a look, a test, or another solver."""
        from poise.tasks.assembly import Assembly

        assembly = Assembly(snapshot, [(self.name, [self])], layout)
        assembly.write()
        (rows,) = assembly.stack.program().levels[0]
        return Rows(rows.A, rows.lower, rows.upper, rows.weight, rows.name, rows.unit, rows.labels)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r})"


def checked_weight(weight: ArrayLike | Dial, task: str, rows: int | None = None) -> Any:
    """The weight, if it is one; where the number of rows is known, of that many."""
    if isinstance(weight, Dial):
        checked_weight(weight.value, task, rows)
        return weight
    try:
        values = np.asarray(weight, dtype=np.float64)
    except (TypeError, ValueError):
        values = np.array(np.nan)
    if values.ndim > 1 or not (np.isfinite(values).all() and (values >= 0.0).all()):
        raise TaskError(f"{task}: weight is {shown(weight)}; expected a number, or one per row, not negative", task)
    if values.ndim and rows not in (None, len(values)):
        raise TaskError(f"{task}: {len(values)} weights for {rows} rows; give one, or one per row", task)
    return values
