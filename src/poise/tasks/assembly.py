"""Assembly: many tasks, one stack, written at every tick."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from poise.errors import TaskError
from poise.robots import Robot
from poise.solvers import BlockShape, Stack
from poise.state import DRIFT, DYNAMICS, Snapshot, _motion  # type: ignore[attr-defined]
from poise.tasks.layout import ACCELERATION, COLUMNS, Layout, memory_of
from poise.tasks.task import Dial, Task, Writer

Array = NDArray[np.float64]

#: The first columns, error, low and high, are kept with each program: what every task still misses.
KEPT = 3
#: K of [Saab2012] eq. 7, v̇ = -K v, 1/s: what no task decides comes to rest within half a second.
DRAG = 10.0


class TaskLabel(NamedTuple):
    """Which task an error belongs to."""

    level: str
    name: str
    unit: str
    labels: tuple[str, ...]


class Assembly:
    """Binds tasks to the memory of one stack; `write` then fills it for the state that the snapshot is at.

    Args:
        snapshot: what the writers read, at every tick.
        levels: per level its name and tasks, the most important first.
        layout: what the unknowns are.
        damping: of each level, see `Program`.
    """

    def __init__(
        self,
        snapshot: Snapshot,
        levels: Sequence[tuple[str, Sequence[Task]]],
        layout: Layout,
        damping: Sequence[float] = (),
    ) -> None:
        robot = snapshot.robot
        self.snapshot, self.layout = snapshot, layout
        self.tasks = [task for _, tasks in levels for task in tasks]
        order = layout.order
        shapes = [(name, [_shape(task, robot, layout) for task in tasks]) for name, tasks in levels]
        self.stack = Stack(shapes, layout.variables, notes=KEPT)
        forces = layout.forces
        self.needs = DYNAMICS if forces is not None else DRIFT if order == ACCELERATION else 0
        rest = np.zeros((len(COLUMNS) - KEPT, len(self.stack.weight)))
        self.columns: list[Array] = [*self.stack.notes, *rest]
        writers: list[Writer] = [] if forces is None else [forces.write]
        groups: list[tuple[int, int, float, float]] = []
        for task, block in zip(self.tasks, self.stack.blocks, strict=True):
            self.needs |= task.needs
            memory = memory_of(block, self.columns, layout.motion)
            memory.weight[:] = _weights(task, len(block.labels))
            if isinstance(task.weight, Dial):
                writers.append(partial(memory.weight.__setitem__, slice(None), task.weight.value))
            memory.curvature[:] = 0.0 if forces is not None and task.massive else task.curvature * robot.height
            writers += task.bind(snapshot, memory, layout)
            begin = block.rows.start
            for count, speed, acceleration in task.groups(robot):
                groups.append((begin, begin + count, speed, acceleration))
                begin += count
        self.stack.damping[:] = damping if len(damping) else 0.0
        references = self._references(groups)
        self._bounds: Callable[[], bool] = references.acceleration if order == ACCELERATION else references.velocity
        if forces is not None:
            self.stack.center[layout.motion :] = forces.even_share()
        self._writers = tuple(writers)

    def write(self) -> bool:
        """Fills the stack for the state that the snapshot is at; whether all that is asked for is finite."""
        self.snapshot.fill(self.needs)
        for writer in self._writers:
            writer()
        return self._bounds()

    def column(self, name: str) -> Array:
        """One value per row, e.g. ``"error"``."""
        return self.columns[COLUMNS.index(name)]

    def labels(self) -> tuple[TaskLabel, ...]:
        """Level, name, unit of the error and labels of each task."""
        names = self.stack.names
        pairs = zip(self.tasks, self.stack.blocks, strict=True)
        return tuple(TaskLabel(names[b.level], b.name, task.unit, b.labels) for task, b in pairs)

    def _references(self, groups: list[tuple[int, int, float, float]]) -> _motion.References:
        begin, end, speed, acceleration = zip(*groups, strict=True) if groups else ((), (), (), ())
        columns = {name: self.column(name) for name in COLUMNS}
        return _motion.References(
            **columns,
            group_begin=np.array(begin, dtype=np.int32),
            group_end=np.array(end, dtype=np.int32),
            group_speed=np.array(speed, dtype=np.float64),
            group_acceleration=np.array(acceleration, dtype=np.float64),
            lower=self.stack.lower,
            upper=self.stack.upper,
            A=self.stack.A,
            unknowns=np.array(self.stack.unknowns, dtype=np.int32),
            v=self.snapshot.v,
            weight=self.stack.weight,
            level_begin=np.array(self.stack.level_begin, dtype=np.int32),
            caution=self.stack.caution,
            period=self.layout.period,
            center=self.stack.center,
            drag=DRAG,
        )


def _shape(task: Task, robot: Robot, layout: Layout) -> BlockShape:
    labels = tuple(task.labels(robot))
    return BlockShape(task.name, task.row_unit(layout.order), labels, task.unknowns(robot, layout))


def _weights(task: Task, rows: int) -> Array:
    weight = np.asarray(task.weight, dtype=np.float64)
    if weight.ndim and len(weight) != rows:
        raise TaskError(f"{task.name}: {len(weight)} weights for {rows} rows; give one, or one per row", task.name)
    return np.broadcast_to(weight, (rows,))
