"""MotionTask: value, Jacobian and drift; everything else follows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from numpy.typing import ArrayLike

from poise.arrays import Array
from poise.errors import TaskError
from poise.robots import Robot
from poise.state import DRIFT, Snapshot
from poise.tasks.arguments import interval, shown
from poise.tasks.reference import Decay, Reference, limits
from poise.tasks.task import ACCELERATION, Layout, Memory, Task, Writer, checked_weight

Within = ArrayLike | tuple[ArrayLike, ArrayLike] | None


class MotionTask(Task):
    """A task given by its error e(q, t), the Jacobian J with ``ė = J v - target rate``, and the drift ``J̇ v``.

    To write one, set `needs` and define `labels`, `value`, `jacobian` and `drift`; it then works at both orders, as an
    equality or as an interval, with any reference behaviour. J may be the derivative of e only up to a map that
    leaves e itself unchanged, as for rotations, where J gives angular velocities: what is asked is that
    ``J v = -g e`` makes the error decay as ``ė = -g e``.

    Args:
        name, weight: see `Task`.
        within: None wants e = 0; a number, an array or a pair of bounds wants e inside that interval.
        reference: how the error vanishes.
        rows: how many there are, where that does not depend on the robot; weight and within are then checked at once.
    """

    curvature = 1.0

    #: What the task wants to be the case: a value in its unit, or a `Target` over time; None where it has none.
    target: Any = None

    #: Sizes of the parts of the error that share a limit on speed: (3, 0) for a position, (0, 3) for an orientation,
    #: (3, 3) for a pose; None: one.
    parts: tuple[int, ...] | None = None

    def __init__(
        self, name: str, weight: ArrayLike, within: Within, reference: Reference | None, rows: int | None = None
    ) -> None:
        self.name = name
        self.weight = checked_weight(weight, name, rows)
        self.within = within
        self.reference = Decay() if reference is None else reference
        if not isinstance(self.reference, Reference):
            raise TaskError(f"{name}: reference is {shown(reference)}; expected Decay(...) or MinimumJerk(...)", name)
        interval(within, rows, name)

    # -- what a task gives -----------------------------------------------------------------------------------------

    def value(self, snapshot: Snapshot) -> Array:
        """The error e."""
        return self._alone(snapshot)[0]

    def jacobian(self, snapshot: Snapshot) -> Array:
        """J, one line per row."""
        return self._alone(snapshot)[1]

    def drift(self, snapshot: Snapshot) -> Array:
        """J̇ v."""
        return self._alone(snapshot)[2]

    def target_rate(self, time: float) -> Array | None:
        """Rate of the target in the task's components; None for a target at rest."""
        return None

    def target_acceleration(self, time: float) -> Array | None:
        return None

    # -- what follows ----------------------------------------------------------------------------------------------

    def groups(self, robot: Robot) -> Sequence[tuple[int, float, float]]:
        parts = self.parts or (len(self.labels(robot)),)
        speeds, accelerations = (limits(v, len(parts)) for v in (self.reference.speed, self.reference.acceleration))
        return [group for group in zip(parts, speeds, accelerations, strict=True) if group[0]]

    def bind(self, snapshot: Snapshot, memory: Memory, layout: Layout) -> Sequence[Writer]:
        memory.low[:], memory.high[:] = interval(self.within, len(memory.low), self.name)
        return [*self.bind_error(snapshot, memory, layout), *self._bind_gains(snapshot, memory)]

    def bind_error(self, snapshot: Snapshot, memory: Memory, layout: Layout) -> Sequence[Writer]:
        """Writers of error, rows and drift; compiled tasks replace this one."""

        def write() -> None:
            memory.error[:] = self.value(snapshot)
            memory.A[:] = self.jacobian(snapshot)

        def write_drift() -> None:
            memory.drift[:] = self.drift(snapshot)

        def write_target() -> None:
            rate, acceleration = self.target_rate(snapshot.time), self.target_acceleration(snapshot.time)
            memory.target_rate[:] = 0.0 if rate is None else rate
            memory.target_acceleration[:] = 0.0 if acceleration is None else acceleration

        writers = [write] if self.target_rate(snapshot.time) is None else [write, write_target]
        return [*writers, write_drift] if layout.order == ACCELERATION else writers

    def gain_factors(self, robot: Robot) -> Array | float:
        """Multiplies the gain, per row; a task whose rows want different gains says so here."""
        return 1.0

    def _bind_gains(self, snapshot: Snapshot, memory: Memory) -> Sequence[Writer]:
        factors = self.gain_factors(snapshot.robot)

        def write() -> None:
            gain, gain_rate, damping = self.reference.gains(snapshot.time)
            memory.gain[:] = memory.coupling[:] = gain * factors
            memory.gain_rate[:] = gain_rate * factors
            memory.damping[:] = damping

        if self.wants_rate:
            _, _, damping = self.reference.gains(snapshot.time)
            memory.gain[:], memory.damping[:] = 1.0, damping
            return ()
        write()
        return [write] if self.reference.varies else ()

    def _alone(self, snapshot: Snapshot) -> tuple[Array, Array, Array]:
        from poise.tasks.task import Assembly

        nv = snapshot.model.nv
        assembly = Assembly(snapshot, [(self.name, [self])], Layout(ACCELERATION, 1.0, nv, nv))
        snapshot.fill(DRIFT)
        assembly.write()
        return assembly.column("error"), assembly.stack.program().A, assembly.column("drift")
