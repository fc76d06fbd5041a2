"""JointTorque: what the motors do, as a task."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from poise.robots import Robot
from poise.state import DYNAMICS, Snapshot, _motion  # type: ignore[attr-defined]
from poise.tasks.axes import numbers
from poise.tasks.forces import ForceTask, ForceUnknowns
from poise.tasks.layout import Layout, Memory
from poise.tasks.posture import Joints, checked_joints
from poise.tasks.task import Writer, checked_weight

Array = NDArray[np.float64]


def bind_generalised(
    snapshot: Snapshot,
    memory: Memory,
    forces: ForceUnknowns,
    rows: Sequence[int],
    scale: Array,
    low: Array,
    high: Array,
) -> Sequence[Writer]:
    """Writer of ``low <= (M v̇ + h - Σ J_cᵀ φ_c)_rows <= high``, each row times its scale."""
    data = snapshot.data
    writer = _motion.DynamicsWriter(
        data.M,
        data.nle,
        forces.lines,
        np.array(rows, dtype=np.int32),
        np.ascontiguousarray(scale, dtype=np.float64),
        np.ascontiguousarray(low, dtype=np.float64),
        np.ascontiguousarray(high, dtype=np.float64),
        memory.whole,
        memory.lower,
        memory.upper,
    )
    return [writer.write]


class JointTorque(ForceTask):
    """Torques of chosen joints take values, by default zero ([Dalibard2012] eq. 15): ``τ = τ*``, in N m.

    Arms and head that want no torque sway like a relaxed body's.

    Args:
        joints: which, as for `Posture`; None: all.
        target: τ*, one number or one per joint (N m).

    >>> tasks.JointTorque(joints=[robot.joint("left_elbow_joint"), robot.joint("right_elbow_joint")])
    """

    unit = "N m"
    needs = DYNAMICS

    def __init__(
        self, joints: Joints = None, target: ArrayLike = 0.0, weight: ArrayLike = 1.0, name: str = "joint torque"
    ) -> None:
        self.name = name
        self.joints = checked_joints(joints, name)
        self.given = target
        self.weight = checked_weight(weight, name, None if self.joints is None else len(self.joints))
        if np.ndim(target) == 0 or self.joints is not None:
            numbers(target, 1 if self.joints is None else len(self.joints), "target", name)

    def labels(self, robot: Robot) -> tuple[str, ...]:
        return tuple(joint.name for joint in self.joints or robot.joints)

    def bind_forces(
        self, snapshot: Snapshot, memory: Memory, layout: Layout, forces: ForceUnknowns
    ) -> Sequence[Writer]:
        joints = self.joints or snapshot.robot.joints
        target = numbers(self.given, len(joints), "target", self.name)
        rows = [joint.v for joint in joints]
        return bind_generalised(snapshot, memory, forces, rows, np.ones(len(rows)), target, target)
