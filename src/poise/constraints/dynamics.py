"""What physics allows: the equation of motion, and what motors can give."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from poise.errors import TaskError
from poise.robots import Robot
from poise.state import DYNAMICS, Contact, Snapshot
from poise.tasks.axes import positive, shown
from poise.tasks.forces import ForceTask, ForceUnknowns
from poise.tasks.layout import Layout, Memory
from poise.tasks.posture import Joints, checked_joints
from poise.tasks.task import Writer, checked_weight
from poise.tasks.torque import bind_generalised


class EquationOfMotion(ForceTask):
    """``M v̇ + h = Sᵀ τ + Σ J_cᵀ φ_c`` ([Saab2012] eq. 3 and 9, [Dalibard2012] eq. 3).

    The torques are not among the unknowns: the rows of the joints define them, so only the six of the base, which no
    motor drives, are left to hold, divided by the robot's mass (m/s² and rad m²/s²)::

        M_b v̇ + h_b - Σ (J_cᵀ φ_c)_b = 0

    A `TorqueController` adds it where a hierarchy does not name it; name it to give it another place or contacts.

    Args:
        contacts: further contacts whose forces act; those that other tasks speak of need not be repeated.
    """

    name = "equation of motion"
    unit = "m/s², m²/s²"
    needs = DYNAMICS

    def __init__(self, contacts: Sequence[Contact] = (), weight: ArrayLike = 1.0) -> None:
        self._contacts = tuple(contacts)
        self.weight = checked_weight(weight, self.name, 6)

    def labels(self, robot: Robot) -> tuple[str, ...]:
        return ("x", "y", "z", "about x", "about y", "about z")

    def contacts(self) -> tuple[Contact, ...]:
        return self._contacts

    def bind_forces(
        self, snapshot: Snapshot, memory: Memory, layout: Layout, forces: ForceUnknowns
    ) -> Sequence[Writer]:
        scale = np.full(6, 1.0 / snapshot.robot.mass)
        return bind_generalised(snapshot, memory, forces, range(6), scale, np.zeros(6), np.zeros(6))


class TorqueLimit(ForceTask):
    """Motors give no more than they can: ``|τ_i| <= scale τ_max,i``, in N m ([Dalibard2012] eq. 6).

    Args:
        robot: whose limits.
        joints: which; None: all.
        scale: share of the limits that may be used.

    >>> constraints.TorqueLimit(robot, scale=0.9)
    """

    unit = "N m"
    needs = DYNAMICS

    def __init__(
        self,
        robot: Robot,
        joints: Joints = None,
        scale: float = 1.0,
        weight: ArrayLike = 1.0,
        name: str = "torque limit",
    ) -> None:
        self.name = name
        if not isinstance(robot, Robot):
            raise TaskError(f"{name}: {shown(robot)} is not a robot; give what load_robot returned", name)
        self.robot = robot
        self.joints = checked_joints(joints, name, robot) or robot.joints
        self.weight = checked_weight(weight, name, len(self.joints))
        self.limit = positive(scale, "scale", name) * robot.limits.torque[[joint.v - 6 for joint in self.joints]]

    def labels(self, robot: Robot) -> tuple[str, ...]:
        if robot.name != self.robot.name:
            raise TaskError(f"{self.name}: limits of {self.robot.name} on a {robot.name}; build them for it", self.name)
        return tuple(joint.name for joint in self.joints)

    def bind_forces(
        self, snapshot: Snapshot, memory: Memory, layout: Layout, forces: ForceUnknowns
    ) -> Sequence[Writer]:
        rows = [joint.v for joint in self.joints]
        return bind_generalised(snapshot, memory, forces, rows, np.ones(len(rows)), -self.limit, self.limit)
