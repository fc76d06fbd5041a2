"""Base class of tasks, the layout of the unknowns, the assembly of tasks into one program, and argument checks."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pinocchio
from numpy.typing import ArrayLike

from poise.arrays import Array
from poise.errors import TaskError
from poise.parsing import check_number, check_positive, check_vector, format_value
from poise.robots import Frame, Robot
from poise.solvers import Block, BlockShape, Rows, Stack
from poise.state import DRIFT, DYNAMICS, Contact, Snapshot, _motion

if TYPE_CHECKING:
    from poise.tasks.forces import ForceUnknowns

#: Orders of a layout: the unknowns are velocities or accelerations.
VELOCITY, ACCELERATION = 1, 2


@dataclass(frozen=True)
class VariableLayout:
    """Layout of the unknowns x: velocities v or accelerations v̇ of the robot, then further unknowns of a controller.

    Args:
        order: VELOCITY or ACCELERATION.
        period: control period, for which a command is valid (s).
        nv: size of v.
        variables: size of x, nv or more.
        forces: the contact forces among the unknowns; None in kinematics, where tasks on forces or torques have no
            effect.
    """

    order: int
    period: float
    nv: int
    variables: int
    forces: ForceUnknowns | None = None


@dataclass(frozen=True, eq=False)
class TaskRows:
    """Memory that one task writes to: its rows and, for motion tasks, the columns from which bounds are computed.

    All are views with one entry per row. `A` has the columns of the motion, `A_full` those of all unknowns; a task
    whose rows are single unknowns (`Task.unknowns`) does not write them. `lower` and `upper` follow from the columns
    below, or are written by the task itself (`native/motion/task_bounds.hpp`)::

        velocity order      J v  = r* - g (e - b)                                          b in [low, high]
        acceleration order  J v̇ = a* - ġ (e - b) - c (J v - r*) - k (J v - r* + g (e - b)) - J̇ v

    with error e, gain g (1/s) and its derivative, coupling c (1/s; equal to g, or zero for tasks on velocities only),
    damping k (1/s), rate r* and acceleration a* of the target, and drift J̇ v. `curvature` is that of `Task`, in m.
    """

    A_full: Array
    A: Array
    lower: Array
    upper: Array
    weight: Array
    error: Array
    low: Array
    high: Array
    gain: Array
    gain_rate: Array
    coupling: Array
    damping: Array
    target_rate: Array
    target_acceleration: Array
    drift: Array
    curvature: Array


#: Columns of `TaskRows` that are not part of a program.
COLUMNS = tuple(field.name for field in fields(TaskRows))[5:]


def view_task_rows(block: Block, columns: Sequence[Array], nv: int) -> TaskRows:
    """Return the memory of a task: its block of the stack and its part of the columns (in the order of COLUMNS)."""
    A = block.A[:, :nv]
    return TaskRows(block.A, A, block.lower, block.upper, block.weight, *(column[block.rows] for column in columns))


# -- Task ------------------------------------------------------------------------------------------------------------


#: Function that writes rows or columns of a task from the memory of the snapshot; called at every tick.
Writer = Callable[[], None]


class TunableWeight:
    """A weight that can be changed while the robot moves, e.g. by a slider; it takes effect at the next tick.

    >>> weight = tasks.TunableWeight(1.0)
    >>> task = tasks.AngularMomentum(weight=weight)
    >>> weight.set(20.0)
    """

    def __init__(self, value: ArrayLike) -> None:
        self.value: Array = np.array(check_weight(value, "TunableWeight"), dtype=np.float64)

    def set(self, value: ArrayLike) -> None:
        """Set the weight: one number, or as many as before."""
        new = np.asarray(check_weight(value, "TunableWeight"), dtype=np.float64)
        if new.ndim and new.shape != self.value.shape:
            raise TaskError(
                f"TunableWeight: set to {format_value(value)}; expected a number, or as many as before", "TunableWeight"
            )
        self.value[...] = new

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        return np.array(self.value, dtype=dtype)

    def __repr__(self) -> str:
        return f"TunableWeight({self.value})"


class Task(ABC):
    """Rows ``lower <= A x <= upper`` as a function of the snapshot, with a name, a unit and a weight.

    The same task works in kinematics and dynamics: the layout says whether x are velocities or accelerations. A task
    is immutable, has no state, and may be used in several hierarchies. A constraint is a task in `always`.

    Attributes:
        name: name in tables, explanations and recordings.
        unit: unit of the error, or of the velocity for tasks on velocities only; "" if it has none.
        weight: weight inside its level, 1/unit²; a number, one per row, or a `TunableWeight` of these.
        required_terms: terms of the snapshot that its writers read from memory (`poise.state.FRAMES`, ...); terms that
            they read with methods of the snapshot need not be listed.
        curvature: size of the second derivative of the error by the joint angles, divided by the height of the robot:
            about 1 for points and directions, 0 if the error is linear in q. It determines the singularity damping.
        whole_body: whether the task moves the whole body. Such a task has no singularity damping in torque control,
            because damping would reduce the largest push that can be balanced by a quarter.
        velocity_only: the task is on velocities only and has no error in position.
        robot: robot that the task is made for; None if it is not specified, or given by its frames.
    """

    name: str
    unit: str = ""
    weight: Any = 1.0
    required_terms: int = 0
    velocity_only = False
    curvature = 0.0
    whole_body = False
    robot: Robot | None = None

    @abstractmethod
    def labels(self, robot: Robot) -> tuple[str, ...]:
        """Return one label per row; their number is the size of the task on this robot."""

    @abstractmethod
    def bind(self, snapshot: Snapshot, task_rows: TaskRows, layout: VariableLayout) -> Sequence[Writer]:
        """Return the writers that fill the memory from the snapshot, which are called in order at every tick.

        Values that never change are written here, once.
        """

    def unknowns(self, robot: Robot, layout: VariableLayout) -> Sequence[int] | None:
        """Return the index of the unknown of each row if all rows are single unknowns (joint limits, a posture).

        None for general rows.
        """
        return None

    def contacts(self) -> tuple[Contact, ...]:
        """Return the contacts that the task refers to; a torque controller adds force unknowns for each."""
        return ()

    def row_unit(self, order: int) -> str:
        """Return the unit of the rows and of their slack: unit/s at velocity order, unit/s² at acceleration order."""
        per = "/s" if order == VELOCITY else "/s²"
        if self.velocity_only:
            per = "" if order == VELOCITY else "/s"
        if not self.unit:
            return f"1{per}" if per else ""
        return ", ".join((unit + per).replace("/s/s", "/s²") for unit in self.unit.split(", "))

    def groups(self, robot: Robot) -> Sequence[tuple[int, float, float]]:
        """Return groups of consecutive rows, as (count, largest speed, largest acceleration).

        The rows of a group are limited together, as a vector. Their bounds are computed from the errors; tasks that
        write their bounds themselves have no groups.
        """
        return ()

    def frames(self) -> tuple[Frame, ...]:
        """Return the frames that the task refers to; a hierarchy checks that all belong to one robot."""
        return ()

    def rows(self, snapshot: Snapshot, layout: VariableLayout) -> Rows:
        """Return the rows at this snapshot as a copy, for inspection, tests or other solvers."""
        assembly = Assembly(snapshot, [(self.name, [self])], layout)
        assembly.write()
        (rows,) = assembly.stack.program().levels[0]
        return Rows(rows.A, rows.lower, rows.upper, rows.weight, rows.name, rows.unit, rows.labels)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r})"


def check_weight(weight: ArrayLike | TunableWeight, task: str, rows: int | None = None) -> Any:
    """Return the weight as an array or TunableWeight; raise a TaskError if it is invalid or of the wrong size."""
    if isinstance(weight, TunableWeight):
        check_weight(weight.value, task, rows)
        return weight
    try:
        values = np.asarray(weight, dtype=np.float64)
    except (TypeError, ValueError):
        values = np.array(np.nan)
    if values.ndim > 1 or not (np.isfinite(values).all() and (values >= 0.0).all()):
        raise TaskError(
            f"{task}: weight is {format_value(weight)}; expected a number, or one per row, not negative", task
        )
    if values.ndim and rows not in (None, len(values)):
        raise TaskError(f"{task}: {len(values)} weights for {rows} rows; give one, or one per row", task)
    return values


# -- Assembly --------------------------------------------------------------------------------------------------------


#: Number of columns stored with each program: error, low and high, from which the remaining task error is computed.
STORED_COLUMNS = 3
#: K of [Saab2012] eq. 7, v̇ = -K v, 1/s: motion that no task determines comes to rest within half a second.
REST_DAMPING = 10.0


class TaskLabel(NamedTuple):
    """Level, name, unit of the error and row labels of a task."""

    level: str
    name: str
    unit: str
    labels: tuple[str, ...]


class Assembly:
    """Tasks bound to the memory of one stack; `write` fills it for the current state of the snapshot.

    Args:
        snapshot: snapshot that the writers read at every tick.
        levels: per level its name and tasks, the most important first.
        layout: layout of the unknowns.
        damping: damping of each level, see `Program`.
    """

    def __init__(
        self,
        snapshot: Snapshot,
        levels: Sequence[tuple[str, Sequence[Task]]],
        layout: VariableLayout,
        damping: Sequence[float] = (),
    ) -> None:
        robot = snapshot.robot
        self.snapshot, self.layout = snapshot, layout
        self.tasks = [task for _, tasks in levels for task in tasks]
        order = layout.order
        shapes = [(name, [_block_shape(task, robot, layout) for task in tasks]) for name, tasks in levels]
        self.stack = Stack(shapes, layout.variables, extra_columns=STORED_COLUMNS)
        forces = layout.forces
        self.required_terms = DYNAMICS if forces is not None else DRIFT if order == ACCELERATION else 0
        other_columns = np.zeros((len(COLUMNS) - STORED_COLUMNS, len(self.stack.weight)))
        self.columns: list[Array] = [*self.stack.extra_columns, *other_columns]
        writers: list[Writer] = [] if forces is None else [forces.write]
        groups: list[tuple[int, int, float, float]] = []
        for task, block in zip(self.tasks, self.stack.blocks, strict=True):
            self.required_terms |= task.required_terms
            task_rows = view_task_rows(block, self.columns, layout.nv)
            task_rows.weight[:] = _weights(task, len(block.labels))
            if isinstance(task.weight, TunableWeight):
                writers.append(partial(task_rows.weight.__setitem__, slice(None), task.weight.value))
            task_rows.curvature[:] = 0.0 if forces is not None and task.whole_body else task.curvature * robot.height
            writers += task.bind(snapshot, task_rows, layout)
            begin = block.rows.start
            for count, speed, acceleration in task.groups(robot):
                groups.append((begin, begin + count, speed, acceleration))
                begin += count
            if begin not in (block.rows.start, block.rows.stop):
                parts, rows = begin - block.rows.start, len(block.labels)
                raise TaskError(
                    f"{task.name}: part_sizes sum to {parts}, but there are {rows} rows; correct them", task.name
                )
        self.stack.damping[:] = damping if len(damping) else 0.0
        bounds = self._compiled_bounds(groups)
        self._write_bounds: Callable[[], bool] = bounds.acceleration if order == ACCELERATION else bounds.velocity
        if forces is not None:
            self.stack.center[layout.nv :] = forces.even_share()
        self._writers = tuple(writers)

    def write(self) -> bool:
        """Fill the stack for the current state of the snapshot.

        Returns:
            Whether all rows can be met by a finite x; False if a bound is NaN or requires an infinite value.
        """
        self.snapshot.compute(self.required_terms)
        for writer in self._writers:
            writer()
        return self._write_bounds()

    def column(self, name: str) -> Array:
        """Return one of COLUMNS, e.g. ``"error"``: one value per row."""
        return self.columns[COLUMNS.index(name)]

    def labels(self) -> tuple[TaskLabel, ...]:
        """Return level, name, unit of the error and labels of each task."""
        names = self.stack.names
        pairs = zip(self.tasks, self.stack.blocks, strict=True)
        return tuple(TaskLabel(names[b.level], b.name, task.unit, b.labels) for task, b in pairs)

    def _compiled_bounds(self, groups: list[tuple[int, int, float, float]]) -> _motion.TaskBounds:
        begin, end, speed, acceleration = zip(*groups, strict=True) if groups else ((), (), (), ())
        columns = {name: self.column(name) for name in COLUMNS}
        return _motion.TaskBounds(
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
            singularity_damping=self.stack.singularity_damping,
            period=self.layout.period,
            center=self.stack.center,
            rest_damping=REST_DAMPING,
        )


def _block_shape(task: Task, robot: Robot, layout: VariableLayout) -> BlockShape:
    labels = tuple(task.labels(robot))
    return BlockShape(task.name, task.row_unit(layout.order), labels, task.unknowns(robot, layout))


def _weights(task: Task, rows: int) -> Array:
    weight = np.asarray(check_weight(task.weight, task.name, rows), dtype=np.float64)
    return np.broadcast_to(weight, (rows,))


# -- Checks of task arguments ----------------------------------------------------------------------------------------


def axis_indices(axes: str, task: str) -> tuple[int, ...]:
    """Return the indices of axes, (0, 1) for ``"xy"``."""
    if not isinstance(axes, str) or not axes or len(set(axes)) != len(axes) or set(axes) - set("xyz"):
        raise TaskError(f"{task}: axes is {axes!r}; expected some of the letters x, y, z, each once, like 'xy'", task)
    return tuple("xyz".index(axis) for axis in axes)


def component_indices(axes: str, rotation_axes: str, task: str) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return components of a pose: (0, 1) and (5,) for ``"xy"`` and rotation about ``"z"``. One may be empty."""
    if axes == "" == rotation_axes:
        raise TaskError(
            f"{task}: neither axes nor rotation_axes; expected some letters of x, y, z in one of them", task
        )
    linear = () if axes == "" else axis_indices(axes, task)
    return linear, () if rotation_axes == "" else tuple(3 + i for i in axis_indices(rotation_axes, task))


def selection_matrix(indices: tuple[int, ...], components: int) -> Array:
    """Return the matrix that selects these components of a vector."""
    return np.ascontiguousarray(np.eye(components)[list(indices)])


def check_task_vector(values: ArrayLike, size: int, label: str, task: str) -> Array:
    """Return a vector of `size` finite numbers or raise a TaskError; a single number is repeated."""
    return check_vector(values, size, f"{task}: {label}", lambda message: TaskError(message, task), broadcast=True)


def check_task_number(value: Any, label: str, task: str) -> float:
    """Return a finite number or raise a TaskError."""
    return check_number(value, f"{task}: {label}", lambda message: TaskError(message, task))


def check_task_positive(value: Any, label: str, task: str) -> float:
    """Return a positive finite number or raise a TaskError."""
    return check_positive(value, f"{task}: {label}", lambda message: TaskError(message, task))


def error_bounds(
    tolerance: ArrayLike | tuple[ArrayLike, ArrayLike] | None, size: int | None, task: str
) -> tuple[Array, Array]:
    """Return lower and upper bounds of an error: None means zero, a number or array e means [-e, e], a pair its bounds.

    With size None there are as many bounds as were given.
    """
    if tolerance is None:
        return np.zeros(size or 1), np.zeros(size or 1)
    pair = tolerance if isinstance(tolerance, tuple) and len(tolerance) == 2 else None
    try:
        low, high = (np.asarray(b, dtype=np.float64) for b in pair or (tolerance, tolerance))
        low = low if pair else -low
        shape = np.broadcast_shapes(low.shape, high.shape, (1,)) if size is None else (size,)
        lower, upper = (np.broadcast_to(b, shape).copy() for b in (low, high))
    except (TypeError, ValueError):
        count = "one number per row" if size is None else f"{size} numbers"
        raise TaskError(
            f"{task}: tolerance is {format_value(tolerance)}; expected a number, {count}, or a pair", task
        ) from None
    if not (lower <= upper).all() or (lower == np.inf).any() or (upper == -np.inf).any():
        expected = "expected a number of at least 0, or a pair with lower bounds below upper bounds"
        raise TaskError(f"{task}: tolerance is {format_value(tolerance)}; {expected}", task)
    return lower, upper


# -- Rotations and poses as targets ----------------------------------------------------------------------------------


def rotation_of(value: Any, task: str) -> Array:
    """Return a 3 x 3 rotation from a matrix or a pose, or raise a TaskError."""
    try:
        matrix = np.array(value.rotation if isinstance(value, pinocchio.SE3) else value, dtype=np.float64)
    except (TypeError, ValueError):
        matrix = np.zeros(0)
    if matrix.shape != (3, 3) or not np.allclose(matrix @ matrix.T, np.eye(3), atol=1e-6) or np.linalg.det(matrix) < 0:
        raise TaskError(
            f"{task}: target {format_value(value)} is not a rotation; "
            "expected an orthonormal 3 x 3 matrix world_from_frame",
            task,
        )
    return np.ascontiguousarray(matrix)


def pose_of(value: Any, task: str) -> pinocchio.SE3:
    """Return a new SE3 from a pose or a 4 x 4 matrix, or raise a TaskError."""
    if isinstance(value, pinocchio.SE3):
        value = value.homogeneous
    if np.shape(value) != (4, 4):
        raise TaskError(f"{task}: target is {format_value(value)}; expected a pinocchio.SE3 or a 4 x 4 matrix", task)
    matrix = np.asarray(value)
    return pinocchio.SE3(rotation_of(matrix[:3, :3], task), check_task_vector(matrix[:3, 3], 3, "target", task))
