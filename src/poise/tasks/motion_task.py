"""Base class of motion tasks, which are defined by an error and its Jacobian; drift, rows and bounds are derived."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from poise.arrays import Array
from poise.errors import TaskError
from poise.parsing import format_value
from poise.robots import Frame, Robot, State
from poise.state import DRIFT, Snapshot
from poise.tasks.target import Decay, TaskDynamics, part_limits
from poise.tasks.task import ACCELERATION, Assembly, Task, TaskRows, VariableLayout, Writer, check_weight, error_bounds

Tolerance = ArrayLike | tuple[ArrayLike, ArrayLike] | None


class MotionTask(Task):
    """A task given by its error e(q, t) and the Jacobian J with ``ė = J v - target rate``.

    To write a task, derive from this class and define `value` and `jacobian`; it then works at both orders, as an
    equality or as an interval, with any task dynamics. Everything else has a default, which a class or an instance may
    replace: `name` (the class name in words), `unit`, `weight`, `tolerance`, `dynamics`, `labels`, and `drift` (``J̇ v``
    by a central difference of ``J v`` along the motion). The constructor of a subclass need not call this one.

    J may be the derivative of e only up to a map that leaves e itself unchanged, as for rotations, where J gives
    angular velocities: it is enough that ``J v = -g e`` makes the error decay as ``ė = -g e``.

    Args:
        name, weight: see `Task`.
        tolerance: None: e = 0; a number, an array or a pair of bounds: e inside that interval.
        dynamics: task dynamics, which determine how the error vanishes; None: ``Decay()``.
        dimension: number of rows, if it does not depend on the robot; weight and tolerance are then checked at once.
            None: the length of `value`.
    """

    weight: Any = 1.0
    tolerance: Tolerance = None
    dynamics: TaskDynamics = Decay()
    target: Any = None
    dimension: int | None = None
    curvature = 1.0

    #: Sizes of the parts of the error that share a speed limit: (3, 0) for a position, (0, 3) for an orientation,
    #: (3, 3) for a pose; None: a single part.
    part_sizes: tuple[int, ...] | None = None

    def __init_subclass__(cls, **settings: Any) -> None:
        super().__init_subclass__(**settings)
        named = any(vars(base).get("name", _class_words(base)) != _class_words(base) for base in cls.__mro__)
        if not named:
            cls.name = _class_words(cls)

    def __new__(cls, *args: Any, **settings: Any) -> Self:
        if cls.bind_error is MotionTask.bind_error:
            cls._require_methods()
        return super().__new__(cls)

    def __init__(
        self,
        name: str = "",
        weight: ArrayLike = 1.0,
        tolerance: Tolerance = None,
        dynamics: TaskDynamics | None = None,
        dimension: int | None = None,
    ) -> None:
        self.name = name = name or self.name
        self.weight = check_weight(weight, name, dimension)
        self.tolerance = tolerance
        self.dynamics = self._check_dynamics(Decay() if dynamics is None else dynamics)
        self.dimension = dimension
        error_bounds(tolerance, dimension, name)

    # -- methods that a task defines -------------------------------------------------------------------------------

    def value(self, snapshot: Snapshot) -> Array:
        """Return the error e: current minus desired value, in `unit`, an array with one number per row."""
        return self._evaluate(snapshot)[0]

    def jacobian(self, snapshot: Snapshot) -> Array:
        """Return J with ``ė = J v`` for a target at rest, an array with one line per row (rows x nv)."""
        return self._evaluate(snapshot)[1]

    def drift(self, snapshot: Snapshot) -> Array:
        """Return J̇ v, used at acceleration order only; the default is a central difference of ``J v``."""
        if type(self).bind_error is not MotionTask.bind_error:
            return self._evaluate(snapshot)[2]
        later, earlier, seconds = snapshot.stencil()
        difference: Array = self.jacobian(later) @ later.v - self.jacobian(earlier) @ earlier.v
        return difference / seconds

    def target_rate(self, time: float) -> Array | None:
        """Return the rate of the target, one number per row (unit/s); None for a target at rest."""
        return None

    def target_acceleration(self, time: float) -> Array | None:
        """Return the acceleration of the target, one number per row (unit/s²); None for a target at rest."""
        return None

    def labels(self, robot: Robot) -> tuple[str, ...]:
        """Return one label per row; by default "row 1", "row 2", ... (`dimension` labels, or the length of `value`)."""
        rows = self.dimension
        if rows is None:
            self._require_methods()
            at_rest = Snapshot(robot).at(State(robot, robot.rest, contacts=robot.feet))
            rows = len(self._check_array("value", self.value(at_rest), None))
        return tuple(f"row {i + 1}" for i in range(rows))

    def frames(self) -> tuple[Frame, ...]:
        """Return the frames that the task refers to; by default those among its attributes."""
        parts = (
            part for value in vars(self).values() for part in (value if isinstance(value, list | tuple) else [value])
        )
        return tuple(part for part in parts if isinstance(part, Frame))

    # -- derived rows and bounds -----------------------------------------------------------------------------------

    def groups(self, robot: Robot) -> Sequence[tuple[int, float, float]]:
        parts = self.part_sizes or (len(self.labels(robot)),)
        speeds, accelerations = (part_limits(v, len(parts)) for v in (self.dynamics.speed, self.dynamics.acceleration))
        return [group for group in zip(parts, speeds, accelerations, strict=True) if group[0]]

    def bind(self, snapshot: Snapshot, task_rows: TaskRows, layout: VariableLayout) -> Sequence[Writer]:
        task_rows.low[:], task_rows.high[:] = error_bounds(self.tolerance, len(task_rows.low), self.name)
        return [*self.bind_error(snapshot, task_rows, layout), *self.bind_gains(snapshot, task_rows)]

    def bind_error(self, snapshot: Snapshot, task_rows: TaskRows, layout: VariableLayout) -> Sequence[Writer]:
        """Return the writers of error, rows and drift, which call the methods above; compiled tasks override this.

        Each method is called once here, before the robot moves, and invalid results raise a `TaskError`.
        """
        self._require_methods()
        self._check_dynamics(self.dynamics)
        self._check_returns(snapshot, len(task_rows.error), layout)

        def write() -> None:
            task_rows.error[:] = self.value(snapshot)
            task_rows.A[:] = self.jacobian(snapshot)

        def write_drift() -> None:
            task_rows.drift[:] = self.drift(snapshot)

        def write_target() -> None:
            rate, acceleration = self.target_rate(snapshot.time), self.target_acceleration(snapshot.time)
            task_rows.target_rate[:] = 0.0 if rate is None else rate
            task_rows.target_acceleration[:] = 0.0 if acceleration is None else acceleration

        writers = [write] if self.target_rate(snapshot.time) is None else [write, write_target]
        return [*writers, write_drift] if layout.order == ACCELERATION else writers

    def gain_factors(self, robot: Robot) -> Array | float:
        """Return a factor of the gain, one number or one per row, for tasks whose rows have different gains."""
        return 1.0

    def bind_gains(self, snapshot: Snapshot, task_rows: TaskRows) -> Sequence[Writer]:
        factors = self.gain_factors(snapshot.robot)

        def write() -> None:
            gain, gain_rate, damping = self.dynamics.gains(snapshot.time)
            task_rows.gain[:] = task_rows.coupling[:] = gain * factors
            task_rows.gain_rate[:] = gain_rate * factors
            task_rows.damping[:] = damping

        if self.velocity_only:
            _, _, damping = self.dynamics.gains(snapshot.time)
            task_rows.gain[:], task_rows.damping[:] = 1.0, damping
            return ()
        write()
        return [write] if self.dynamics.time_varying else ()

    def _evaluate(self, snapshot: Snapshot) -> tuple[Array, Array, Array]:
        nv = snapshot.model.nv
        assembly = Assembly(snapshot, [(self.name, [self])], VariableLayout(ACCELERATION, 1.0, nv, nv))
        snapshot.compute(DRIFT)
        assembly.write()
        return assembly.column("error"), assembly.stack.program().A, assembly.column("drift")

    # -- checks ----------------------------------------------------------------------------------------------------

    @classmethod
    def _require_methods(cls) -> None:
        """Raise a TaskError if the class does not define `value` or `jacobian`."""
        missing = [name for name in ("value", "jacobian") if getattr(cls, name) is getattr(MotionTask, name)]
        if missing:
            needed = "a motion task is value(snapshot), its error, and jacobian(snapshot)"
            raise TaskError(f"{cls.__name__} does not define {' and '.join(missing)}; {needed}", cls.__name__)

    def _check_dynamics(self, dynamics: Any) -> TaskDynamics:
        if not isinstance(dynamics, TaskDynamics):
            problem = f"{self.name}: dynamics is {format_value(dynamics)}"
            raise TaskError(f"{problem}; expected Decay(...), MinimumJerk(...) or FeedForward()", self.name)
        return dynamics

    def _check_returns(self, snapshot: Snapshot, rows: int, layout: VariableLayout) -> None:
        """Raise a TaskError unless every method returns finite arrays with one line per row."""
        self._check_array("value", self.value(snapshot), (rows,))
        self._check_array("jacobian", self.jacobian(snapshot), (rows, layout.nv))
        if layout.order == ACCELERATION:
            self._check_array("drift", self.drift(snapshot), (rows,))
        for method in (self.target_rate, self.target_acceleration):
            returned = method(snapshot.time)
            if returned is not None and np.ndim(returned):  # a single number applies to all rows
                self._check_array(method.__name__, np.asarray(returned), (rows,))

    def _check_array(self, method: str, returned: Any, shape: tuple[int, ...] | None) -> Array:
        """Return the result of a method; raise a TaskError unless it is an array of this shape with finite entries.

        With shape None it may be any vector, and its entries are not checked.
        """
        array: Array = returned
        if not isinstance(returned, np.ndarray):
            problem = f"{format_value(returned)}, which is a {type(returned).__name__}, not a numpy array"
        elif returned.dtype.kind not in "fiu":
            problem = f"an array of {returned.dtype}"
        elif (shape is None and (returned.ndim != 1 or not len(returned))) or shape not in (None, returned.shape):
            problem = f"an array of shape {returned.shape}"
        elif shape is not None and not np.isfinite(returned).all():
            problem = "NaN or infinite entries"
        else:
            return array
        layout_text = {"jacobian": "one line per row, one column per entry of v"}.get(method, "one number per row")
        size = "a vector" if shape is None else f"finite numbers of shape {shape}"
        raise TaskError(f"{type(self).__name__}.{method} returned {problem}; expected {size}, {layout_text}", self.name)


def _class_words(kind: type) -> str:
    """Return the name of a class in words: "same height" for SameHeight."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", " ", kind.__name__).lower()
