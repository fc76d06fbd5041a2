"""Constraints of the dynamics: equation of motion, torque limits, and limits of contact forces."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import ArrayLike

from poise.arrays import Array
from poise.errors import TaskError
from poise.parsing import format_value
from poise.robots import Frame, Robot
from poise.state import DYNAMICS, Contact, LoadedPatch, Snapshot
from poise.tasks import (
    ForceTask,
    ForceUnknowns,
    JointSelection,
    Task,
    TaskRows,
    VariableLayout,
    WrenchTask,
    Writer,
    bind_generalised_forces,
    check_joints,
    check_task_positive,
    check_weight,
)


class EquationOfMotion(ForceTask):
    """Equation of motion ``M v̇ + h = Sᵀ τ + Σ J_cᵀ φ_c`` ([Saab2012] eq. 3 and 9, [Dalibard2012] eq. 3).

    The torques are not among the unknowns: the rows of the joints define them. Only the six rows of the base (b), which
    no motor drives, are constraints, in base axes and divided by the mass of the robot (m/s² and m²/s²)::

        M_b v̇ + h_b - Σ (J_cᵀ φ_c)_b = 0

    with M the mass matrix, h the bias forces (gravity, Coriolis), φ_c the wrench of contact c and J_c its Jacobian.

    A `TorqueController` adds it to hierarchies that do not contain it; add it yourself to put it on another level or to
    give it more contacts.

    Args:
        contacts: further contacts with forces; contacts of other tasks need not be repeated.
    """

    name = "equation of motion"
    unit = "m/s², m²/s²"
    required_terms = DYNAMICS

    def __init__(self, contacts: Sequence[Contact] = (), weight: ArrayLike = 1.0) -> None:
        self._contacts = tuple(contacts)
        self.weight = check_weight(weight, self.name, 6)

    def labels(self, robot: Robot) -> tuple[str, ...]:
        return ("x", "y", "z", "about x", "about y", "about z")

    def contacts(self) -> tuple[Contact, ...]:
        return self._contacts

    def bind_forces(
        self, snapshot: Snapshot, task_rows: TaskRows, layout: VariableLayout, forces: ForceUnknowns
    ) -> Sequence[Writer]:
        scale = np.full(6, 1.0 / snapshot.robot.mass)
        return bind_generalised_forces(snapshot, task_rows, forces, range(6), scale, np.zeros(6), np.zeros(6))


class TorqueLimit(ForceTask):
    """Limit joint torques: ``|τ_i| <= scale τ_max,i``, in N m ([Dalibard2012] eq. 6).

    Args:
        robot: robot with the torque limits.
        joints: chosen joints; None: all.
        scale: factor of the limits.

    >>> constraints.TorqueLimit(robot, scale=0.9)
    """

    unit = "N m"
    required_terms = DYNAMICS

    def __init__(
        self,
        robot: Robot,
        joints: JointSelection = None,
        scale: float = 1.0,
        weight: ArrayLike = 1.0,
        name: str = "torque limit",
    ) -> None:
        self.name = name
        if not isinstance(robot, Robot):
            raise TaskError(f"{name}: {format_value(robot)} is not a robot; give a Robot, e.g. from load_robot()", name)
        self.robot: Robot = robot
        self.joints = check_joints(joints, name, robot) or robot.joints
        self.weight = check_weight(weight, name, len(self.joints))
        self.limit = (
            check_task_positive(scale, "scale", name) * robot.limits.torque[[joint.v - 6 for joint in self.joints]]
        )

    def labels(self, robot: Robot) -> tuple[str, ...]:
        if robot.name != self.robot.name:
            raise TaskError(
                f"{self.name}: made for {self.robot.name}, not for {robot.name}; build a new one", self.name
            )
        return tuple(joint.name for joint in self.joints)

    def bind_forces(
        self, snapshot: Snapshot, task_rows: TaskRows, layout: VariableLayout, forces: ForceUnknowns
    ) -> Sequence[Writer]:
        rows = [joint.v for joint in self.joints]
        return bind_generalised_forces(snapshot, task_rows, forces, rows, np.ones(len(rows)), -self.limit, self.limit)


# -- Limits of contact forces ----------------------------------------------------------------------------------------


#: Factor of μ of a friction pyramid that lies inside the round cone.
INSCRIBED_PYRAMID = 1.0 / np.sqrt(2.0)


class NormalForces(WrenchTask):
    """Limit normal forces: ``0 <= f⊥_i <= f_max / k`` ([Saab2012] eq. 8, second line).

    There is one row per corner if forces at the k corners are unknowns, else one for the whole contact (k = 1). f_max
    is ``contact.largest_force`` (N), or zero for a contact that is lost. The rows are single unknowns, forces divided
    by the mass of the robot (N/kg).
    """

    def __init__(self, contact: Contact | Frame, weight: ArrayLike = 1.0, name: str = "") -> None:
        super().__init__(contact, weight, name)
        self.name = name or f"normal forces of {self.contact.name}"

    def row_unit(self, order: int) -> str:
        return "N/kg"

    def labels(self, robot: Robot) -> tuple[str, ...]:
        return ("normal",) if self.contact.forces == "wrench" else _corner_labels(self.contact)

    def unknowns(self, robot: Robot, layout: VariableLayout) -> Sequence[int] | None:
        if layout.forces is None:
            return None
        first = layout.forces.slices[self.contact].start
        if self.contact.forces == "wrench":
            return [first + 2]
        if self.contact.forces == "vertices":
            return [first + 3 * i + 2 for i in range(len(self.contact.outline))]
        return [first + 6 + i for i in range(len(self.contact.outline))]

    def bind_forces(
        self, snapshot: Snapshot, task_rows: TaskRows, layout: VariableLayout, forces: ForceUnknowns
    ) -> Sequence[Writer]:
        # The largest force is divided evenly among the corners; the unknowns are in units of the robot's mass.
        max_force = self.contact.largest_force / (forces.unit * len(task_rows.lower))
        index = forces.contacts.index(self.contact)
        task_rows.lower[:] = 0.0

        def write() -> None:
            task_rows.upper[:] = max_force if forces.in_contact[index] else 0.0

        return [write]


class PlanarContact(WrenchTask):
    """Relate the wrench of a planar contact to normal forces at its corners: ``Q_c (φ, f⊥) = 0`` ([Saab2012] eq. 8).

    With corners (x_i, y_i) in the plane of the contact there are three rows, ``f_z = Σ f⊥_i``, ``m_x = Σ y_i f⊥_i`` and
    ``m_y = -Σ x_i f⊥_i``, in N and N m. For contacts with ``forces="normals"``; together with `NormalForces` it is the
    condition for the contact to stay flat.
    """

    unit = "N, N m"

    def __init__(self, contact: Contact | Frame, weight: ArrayLike = 1.0, name: str = "") -> None:
        super().__init__(contact, weight, name, 3)
        self.name = name or f"planar contact of {self.contact.name}"
        if self.contact.forces != "normals":
            raise TaskError(
                f"{self.name}: the contact has forces='{self.contact.forces}'; give Contact(..., forces='normals')",
                self.name,
            )

    def labels(self, robot: Robot) -> tuple[str, ...]:
        return ("z", "about x", "about y")

    def normal_force_matrix(self) -> Array:
        """Return Q_c, 3 x (6 + corners)."""
        x, y = self.contact.outline.T
        return np.hstack([-np.eye(6)[[2, 3, 4]], np.vstack([np.ones(len(x)), y, -x])])

    def bind_forces(
        self, snapshot: Snapshot, task_rows: TaskRows, layout: VariableLayout, forces: ForceUnknowns
    ) -> Sequence[Writer]:
        task_rows.A_full[:, forces.slices[self.contact]] = self.normal_force_matrix() * forces.unit
        return ()


class FrictionCone(WrenchTask):
    """Limit tangential forces by friction: ``|f_x|, |f_y| <= (μ/√2) f_z``, a pyramid inside the round cone, in N.

    The rows apply to the force at each corner if these are unknowns, else to the force of the whole contact.
    """

    def __init__(self, contact: Contact | Frame, weight: ArrayLike = 1.0, name: str = "") -> None:
        super().__init__(contact, weight, name)
        self.name = name or f"friction of {self.contact.name}"

    def labels(self, robot: Robot) -> tuple[str, ...]:
        sides = ("-x", "+x", "-y", "+y")
        if self.contact.forces != "vertices":
            return sides
        return tuple(f"{corner} {side}" for corner in _corner_labels(self.contact) for side in sides)

    def bind_forces(
        self, snapshot: Snapshot, task_rows: TaskRows, layout: VariableLayout, forces: ForceUnknowns
    ) -> Sequence[Writer]:
        first = forces.slices[self.contact].start
        task_rows.upper[:] = np.inf

        def write_rows(friction: float) -> None:
            pyramid = forces.unit * _friction_pyramid(INSCRIBED_PYRAMID * friction)
            for i in range(len(task_rows.lower) // 4):
                task_rows.A_full[4 * i : 4 * i + 4, first + 3 * i : first + 3 * i + 3] = pyramid

        return [_friction_writer(self.contact, forces, write_rows)]


class WrenchCone(WrenchTask):
    """Limit the wrench of a rectangular contact to those of forces inside friction pyramids at its corners, N and N m.

    With half lengths X, Y and ``μ' = μ/√2``, sixteen rows (Caron 2015): friction ``|f_x|, |f_y| <= μ' f_z``; center of
    pressure inside, ``|m_x| <= Y f_z``, ``|m_y| <= X f_z``; and limits of the yaw moment ::

        m_z >= -μ'(X+Y) f_z + |Y f_x - μ' m_x| + |X f_y - μ' m_y|
        m_z <=  μ'(X+Y) f_z - |Y f_x + μ' m_x| - |X f_y + μ' m_y|
    """

    unit = "N, N m"

    def __init__(self, contact: Contact | Frame, weight: ArrayLike = 1.0, name: str = "") -> None:
        super().__init__(contact, weight, name, 16)
        self.name = name or f"wrench cone of {self.contact.name}"
        if self.contact.rectangle is None:
            raise TaskError(
                f"{self.name}: the corners are not a rectangle along the axes of the contact; "
                "give Contact(..., forces='vertices') and FrictionCone",
                self.name,
            )

    def labels(self, robot: Robot) -> tuple[str, ...]:
        yaw = tuple(f"yaw {side}{a}{b}" for side in "-+" for a in "-+" for b in "-+")
        return ("-x", "+x", "-y", "+y", "left", "right", "front", "back", *yaw)

    def coefficients(self, robot: Robot) -> tuple[Array, Array, Array]:
        assert self.contact.rectangle is not None
        C = wrench_cone(*self.contact.rectangle, INSCRIBED_PYRAMID * self.contact.friction)
        return C, np.zeros(16), np.full(16, np.inf)

    def bind_forces(
        self, snapshot: Snapshot, task_rows: TaskRows, layout: VariableLayout, forces: ForceUnknowns
    ) -> Sequence[Writer]:
        super().bind_forces(snapshot, task_rows, layout, forces)
        assert self.contact.rectangle is not None
        X, Y = self.contact.rectangle
        columns, basis, patch = forces.slices[self.contact], self.contact.basis, self.contact.patch
        written = [math.nan, math.nan]

        def write_rows(friction: float) -> None:
            half, middle = (X, 0.0) if patch is None else _patch_lengths(X, patch)
            C = wrench_cone(half, Y, INSCRIBED_PYRAMID * friction) @ _moment_about(middle)
            task_rows.A_full[:, columns] = forces.unit * C @ basis

        write_friction = _friction_writer(self.contact, forces, write_rows)
        if patch is None:
            return [write_friction]
        index = forces.contacts.index(self.contact)

        def write_patch() -> None:
            if written != [patch.begin, patch.end]:
                written[:] = patch.begin, patch.end
                write_rows(float(forces.friction[index]))

        return [write_friction, write_patch]


def _patch_lengths(half_length: float, patch: LoadedPatch) -> tuple[float, float]:
    """Return half the length of the loaded patch of a contact, and the distance of its middle ahead of that (m)."""
    return 0.5 * (patch.end - patch.begin) * half_length, 0.5 * (patch.end + patch.begin) * half_length


def _moment_about(ahead: float) -> Array:
    """Return the matrix (6, 6) from a wrench to that about a point ahead on the x axis (m): ``m' = m - r x f``."""
    T = np.eye(6)
    T[4, 2], T[5, 1] = ahead, -ahead
    return T


def wrench_cone(X: float, Y: float, mu: float) -> Array:
    """Return C (16 x 6) of the wrench cone ``C (f, m) >= 0`` of a rectangle of half lengths X, Y (m), with μ' = mu."""
    rows = [[s * a, s * b, mu, 0.0, 0.0, 0.0] for a, b in ((1.0, 0.0), (0.0, 1.0)) for s in (1.0, -1.0)]
    rows += [[0.0, 0.0, Y, -1.0, 0.0, 0.0], [0.0, 0.0, Y, 1.0, 0.0, 0.0]]
    rows += [[0.0, 0.0, X, 0.0, 1.0, 0.0], [0.0, 0.0, X, 0.0, -1.0, 0.0]]
    for side in (1.0, -1.0):  # m_z above its lower, then below its upper bound
        for a in (1.0, -1.0):
            for b in (1.0, -1.0):
                rows.append([-a * Y, -b * X, mu * (X + Y), side * a * mu, side * b * mu, side])
    return np.array(rows)


def contact_constraints(contact: Contact) -> list[Task]:
    """Return the constraints that make the forces of a contact feasible, depending on its parametrization."""
    if contact.forces == "vertices":
        return [FrictionCone(contact), NormalForces(contact)]
    if contact.forces == "normals":  # only a wrench cone limits the yaw moment, too
        friction = FrictionCone(contact) if contact.rectangle is None else WrenchCone(contact)
        return [PlanarContact(contact), friction, NormalForces(contact)]
    if contact.rectangle is None:
        raise TaskError(
            f"contact of {contact.name}: the corners are not a rectangle; give forces='vertices'", contact.name
        )
    return [WrenchCone(contact), NormalForces(contact)]


def _friction_writer(contact: Contact, forces: ForceUnknowns, write_rows: Callable[[float], None]) -> Writer:
    """Return a writer that writes rows for the friction coefficient of a contact, again whenever it changes."""
    index, written = forces.contacts.index(contact), contact.friction
    write_rows(written)

    def write() -> None:
        nonlocal written
        if forces.friction[index] != written:
            written = float(forces.friction[index])
            write_rows(written)

    return write


def _friction_pyramid(mu: float) -> Array:
    """Return four rows on a force (f_x, f_y, f_z) that are positive inside a pyramid of slope mu."""
    return np.array([[1.0, 0.0, mu], [-1.0, 0.0, mu], [0.0, 1.0, mu], [0.0, -1.0, mu]])


def _corner_labels(contact: Contact) -> tuple[str, ...]:
    return tuple(f"corner {i + 1}" for i in range(len(contact.outline)))
