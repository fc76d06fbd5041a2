"""Configuration: all of a posture, the place and the orientation of the base included."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pinocchio
from numpy.typing import ArrayLike, NDArray

from poise.errors import TaskError
from poise.robots import Robot, State
from poise.state import Snapshot
from poise.tasks.axes import shown
from poise.tasks.layout import Layout, Memory
from poise.tasks.motion import MotionTask, Within
from poise.tasks.posture import BASE
from poise.tasks.reference import Decay, Reference
from poise.tasks.target import moving
from poise.tasks.task import Writer

Array = NDArray[np.float64]


class Configuration(MotionTask):
    """The whole body takes a configuration, in the world: ``e = q ⊖ q*``, nv rows, m and rad.

    The first six are those of the base, ``log(M*⁻¹ M)`` in its own axes, with M its pose and M* the one wanted; the
    others ``q_i - q_i*``. The rows are ``v``, the velocity itself: ``v = -g e`` lets e decay, since
    ``M exp(-s e) = M* exp((1 - s) e)``. A target that moves with ``v*`` and ``a*``, in the axes of M*, is followed by::

        r = Ad v*,   ṙ = Ad a* - (v - r) x r,   Ad that from M* to M

    Args:
        target: a State, a configuration q (nq), or something with ``sample(time) -> (q, v, a)``.
        weight: a number, or one per row.
        reference: as slow as `Posture` by default (2/s).

    >>> tasks.Configuration(start)
    """

    unit = "m, rad"
    curvature = 0.0

    def __init__(
        self,
        target: Any,
        within: Within = None,
        weight: ArrayLike = 1.0,
        reference: Reference | None = None,
        name: str = "configuration",
    ) -> None:
        super().__init__(name, weight, within, reference or Decay(2.0))
        self.robot = target.robot if isinstance(target, State) else None
        if moving(target):
            self.target: Any = target
            q = np.asarray(target.sample(0.0)[0])
        else:
            try:
                q = self.target = np.array(target.q if isinstance(target, State) else target, dtype=np.float64)
            except (TypeError, ValueError):
                q = np.zeros(0)
        if q.ndim != 1 or len(q) < 7 or not np.isfinite(q).all():
            given = shown(target)
            raise TaskError(f"{name}: target is {given}; expected a State, a whole q, or what samples q, v, a", name)
        self._size = len(q)

    def labels(self, robot: Robot) -> tuple[str, ...]:
        if self._size != robot.model.nq:
            wanted = f"{robot.name} has {robot.model.nq}; give one for this robot"
            raise TaskError(f"{self.name}: a configuration of {self._size} numbers, {wanted}", self.name)
        return BASE + tuple(joint.name for joint in robot.joints)

    def unknowns(self, robot: Robot, layout: Layout) -> Sequence[int] | None:
        return range(robot.model.nv)

    def bind_error(self, snapshot: Snapshot, memory: Memory, layout: Layout) -> Sequence[Writer]:
        model, target = snapshot.model, self.target

        def write() -> None:
            memory.error[:] = pinocchio.difference(model, target, snapshot.q)

        def write_moving() -> None:
            q, v, a = target.sample(snapshot.time)
            memory.error[:] = e = pinocchio.difference(model, q, snapshot.q)
            memory.target_rate[:], memory.target_acceleration[:] = v, a
            # Seen from the base as it is, which is not where it should be.
            here_from_there = pinocchio.exp6(-e[:6])
            rate = here_from_there.act(pinocchio.Motion(v[:6]))
            ahead = pinocchio.Motion(snapshot.v[:6]) - rate
            memory.target_rate[:6] = rate.vector
            memory.target_acceleration[:6] = (here_from_there.act(pinocchio.Motion(a[:6])) - ahead.cross(rate)).vector

        return [write_moving] if moving(target) else [write]
