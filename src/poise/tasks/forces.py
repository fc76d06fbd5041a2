"""Tasks on contact forces and joint torques, and the force unknowns of a torque controller."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from poise.arrays import Array
from poise.errors import TaskError
from poise.parsing import format_value
from poise.robots import Frame, Robot
from poise.state import DYNAMICS, FRAMES, Contact, ContactForces, Snapshot, _motion, contact_of, frame_rows
from poise.tasks.posture import JointSelection, check_joints
from poise.tasks.task import Task, TaskRows, VariableLayout, Writer, check_task_vector, check_weight


class ForceUnknowns:
    """The force unknowns of all contacts, which follow the accelerations: ``x = (v̇, y_1 / m, ..., y_n / m)``.

    y_c are the force parameters of contact c (N, N m), see `Contact`, and m is the mass of the robot. A force unknown
    of 1 N/kg accelerates the whole body by 1 m/s², so that all unknowns have a similar scale.

    Args:
        snapshot: snapshot of the control loop.
        contacts: contacts with distinct names.
    """

    def __init__(self, snapshot: Snapshot, contacts: Sequence[Contact]) -> None:
        self.snapshot, self.contacts = snapshot, tuple(contacts)
        self.names = tuple(contact.name for contact in self.contacts)
        self.unit = snapshot.robot.mass
        nv = snapshot.model.nv
        ends = [nv, *(nv + np.cumsum([contact.size for contact in self.contacts], dtype=int)).tolist()]
        self.slices = {c: slice(ends[i], ends[i + 1]) for i, c in enumerate(self.contacts)}
        self.size = ends[-1] - nv
        #: Contribution of each unknown to the generalized forces: (J_cᵀ W_c u)ᵀ, size x nv.
        self.force_jacobian: Array = np.zeros((self.size, nv))
        bases = [
            _motion.ForceBasis(
                frame_rows(snapshot.robot, snapshot.data, c.frame, c.frame_from_contact),
                np.ascontiguousarray(self.unit * c.basis),
            )
            for c in self.contacts
        ]
        self._map = _motion.ForceMap(bases, self.force_jacobian)
        self.write: Writer = self._map.write
        #: 1 for each contact that exists, else 0; a lost contact bears no force.
        self.in_contact: Array = np.ones(len(self.contacts))
        #: 1 for each contact that is planned to bear a force but is not measured: it seeks the surface. Else 0.
        self.seeking: Array = np.zeros(len(self.contacts))
        #: Friction coefficient of each contact, at most that of its `Contact`; friction constraints follow it.
        self.friction: Array = np.array([contact.friction for contact in self.contacts])

    def forces(self, x: Array) -> ContactForces:
        """Return the contact wrenches of a solution x (N, N m), from the world on the robot, in world axes."""
        wrenches, points = np.empty((len(self.contacts), 6)), np.empty((len(self.contacts), 3))
        self._map.wrenches(x[len(x) - self.size :], wrenches, points)
        return ContactForces(self.names, wrenches, points)

    def generalised_forces(self, x: Array, out: Array) -> Array:
        """Write ``M v̇ + h - Σ J_cᵀ φ_c`` (six zeros of the base, then the joint torques) to `out` and return it."""
        data = self.snapshot.data
        _motion.generalised_forces(data.M, data.nle, self.force_jacobian, x, out)
        return out

    def even_share(self) -> Array:
        """Return the force unknowns (N/kg) at which the contacts that can bear weight share it evenly.

        A contact can bear weight if a vertical force is inside its friction cone. These values are the default for
        forces that no task determines.
        """
        snapshot, weight = self.snapshot, -self.snapshot.robot.mass * np.array(self.snapshot.model.gravity.linear)
        snapshot.compute(FRAMES)
        gravity_loads = [(snapshot.pose(c.frame) * c.frame_from_contact).rotation.T @ weight for c in self.contacts]
        bears_weight = [
            gravity_load[2] > 0.0 and np.hypot(*gravity_load[:2]) < c.friction * gravity_load[2]
            for c, gravity_load in zip(self.contacts, gravity_loads, strict=True)
        ]
        share = np.zeros(self.size)
        for contact, gravity_load, bears in zip(self.contacts, gravity_loads, bears_weight, strict=True):
            if bears:
                span = self.slices[contact]
                wrench = np.append(gravity_load / sum(bears_weight), np.zeros(3))
                force_slice = slice(span.start - snapshot.model.nv, span.stop - snapshot.model.nv)
                share[force_slice] = _distribute_wrench(contact, wrench) / self.unit
        return share


class ForceTask(Task):
    """Base of tasks on forces or torques. In kinematics, which has no forces, they have no effect (infinite bounds)."""

    def row_unit(self, order: int) -> str:
        return self.unit

    def bind(self, snapshot: Snapshot, task_rows: TaskRows, layout: VariableLayout) -> Sequence[Writer]:
        if layout.forces is None:
            task_rows.lower[:], task_rows.upper[:] = -np.inf, np.inf
            return ()
        return self.bind_forces(snapshot, task_rows, layout, layout.forces)

    def bind_forces(
        self, snapshot: Snapshot, task_rows: TaskRows, layout: VariableLayout, forces: ForceUnknowns
    ) -> Sequence[Writer]:
        """Bind the task as `bind` does, with forces among the unknowns."""
        raise NotImplementedError


class WrenchTask(ForceTask):
    """Base of tasks with constant rows ``lower <= C φ <= upper`` on the wrench φ of a contact, in the contact frame."""

    unit = "N"

    def __init__(self, contact: Contact | Frame, weight: ArrayLike, name: str, rows: int | None = None) -> None:
        self.contact = contact_of(contact)
        self.name = name
        self.weight = check_weight(weight, name, rows)

    def contacts(self) -> tuple[Contact, ...]:
        return (self.contact,)

    def frames(self) -> tuple[Frame, ...]:
        return (self.contact.frame,)

    def coefficients(self, robot: Robot) -> tuple[Array, Array, Array]:
        """Return C (k x 6), lower and upper."""
        raise NotImplementedError

    def bind_forces(
        self, snapshot: Snapshot, task_rows: TaskRows, layout: VariableLayout, forces: ForceUnknowns
    ) -> Sequence[Writer]:
        C, task_rows.lower[:], task_rows.upper[:] = self.coefficients(snapshot.robot)
        task_rows.A_full[:, forces.slices[self.contact]] = forces.unit * C @ self.contact.basis
        return ()


class ContactForce(WrenchTask):
    """Regulate the force of the world on the robot at a contact, in the axes of the contact frame (z: normal).

    Args:
        contact: a `Contact`, or a frame.
        target: force (N, 3), or force and moment about the origin of the contact frame (N and N m, 6).
        axes: components of the force that are controlled; only for a target of three numbers.

    >>> tasks.ContactForce(hand_on_wall, target=(0, 0, 30.0), axes="z")
    """

    unit = "N"

    def __init__(
        self, contact: Contact | Frame, target: ArrayLike, axes: str = "xyz", weight: ArrayLike = 1.0, name: str = ""
    ) -> None:
        name = name or f"force at {contact_of(contact).name}"
        size = 6 if np.size(target) == 6 else 3
        self.target = check_task_vector(target, size, "target", name)
        self.row_labels = ("x", "y", "z", "about x", "about y", "about z") if size == 6 else tuple(axes)
        if size == 3 and not (axes and set(axes) <= set("xyz") and len(set(axes)) == len(axes)):
            raise TaskError(f"{name}: axes is {format_value(axes)}; expected letters of 'xyz'", name)
        self.indices = list(range(6)) if size == 6 else ["xyz".index(axis) for axis in axes]
        if size == 6:
            self.unit = "N, N m"
        super().__init__(contact, weight, name, len(self.row_labels))
        if self.contact.point_like and size == 6:
            raise TaskError(f"{name}: a point contact bears no moment; give a force of three components", name)

    def labels(self, robot: Robot) -> tuple[str, ...]:
        return self.row_labels

    def coefficients(self, robot: Robot) -> tuple[Array, Array, Array]:
        target = self.target[self.indices]
        return np.eye(6)[self.indices], target, target


class CenterOfPressure(WrenchTask):
    """Move the center of pressure of a contact to a point p of its plane, relative to its middle (m).

    ``p f_z = (-m_y, m_x)`` is linear in the wrench (f, m), so the rows are moments, in N m:
    ``-m_y - p_x f_z = 0`` and ``m_x - p_y f_z = 0``.

    >>> tasks.CenterOfPressure(robot.foot("right"), target=(0.02, 0.0))
    """

    unit = "N m"

    def __init__(
        self, contact: Contact | Frame, target: ArrayLike = (0.0, 0.0), weight: ArrayLike = 1.0, name: str = ""
    ) -> None:
        name = name or f"center of pressure of {contact_of(contact).name}"
        super().__init__(contact, weight, name, 2)
        self.target = check_task_vector(target, 2, "target", name)
        if self.contact.point_like:
            raise TaskError(
                f"{name}: the center of pressure of a point contact is fixed; give a contact with corners", name
            )

    def labels(self, robot: Robot) -> tuple[str, ...]:
        return ("x", "y")

    def coefficients(self, robot: Robot) -> tuple[Array, Array, Array]:
        x, y = self.target
        C = np.array([[0.0, 0.0, -x, 0.0, -1.0, 0.0], [0.0, 0.0, -y, 1.0, 0.0, 0.0]])
        return C, np.zeros(2), np.zeros(2)


class ForceDistribution(ForceTask):
    """Distribute the total normal force over contacts: ``f_i - share_i Σ f_j = 0``, in N.

    Args:
        contacts: at least two contacts or frames.
        shares: one number per contact, normalized by their sum. None: equal shares.

    >>> tasks.ForceDistribution(robot.feet, shares=(0.7, 0.3))
    """

    unit = "N"

    def __init__(
        self,
        contacts: Sequence[Contact | Frame],
        shares: ArrayLike | None = None,
        weight: ArrayLike = 1.0,
        name: str = "force distribution",
    ) -> None:
        self.name = name
        self._contacts = tuple(contact_of(contact) for contact in contacts)
        if len(self._contacts) < 2:
            raise TaskError(f"{name}: {len(self._contacts)} contact given; give two or more", name)
        values = (
            np.ones(len(self._contacts))
            if shares is None
            else check_task_vector(shares, len(self._contacts), "shares", name)
        )
        if not ((values >= 0.0).all() and values.sum() > 0.0):
            raise TaskError(
                f"{name}: shares are {format_value(shares)}; expected numbers, none negative, not all zero", name
            )
        self.shares: Array = values / values.sum()
        self.weight = check_weight(weight, name, len(self._contacts))

    def labels(self, robot: Robot) -> tuple[str, ...]:
        return tuple(contact.name for contact in self._contacts)

    def contacts(self) -> tuple[Contact, ...]:
        return self._contacts

    def frames(self) -> tuple[Frame, ...]:
        return tuple(contact.frame for contact in self._contacts)

    def bind_forces(
        self, snapshot: Snapshot, task_rows: TaskRows, layout: VariableLayout, forces: ForceUnknowns
    ) -> Sequence[Writer]:
        for i, share in enumerate(self.shares):
            for k, contact in enumerate(self._contacts):
                task_rows.A_full[i, forces.slices[contact]] = forces.unit * (float(i == k) - share) * contact.normal_row
        return ()


def _distribute_wrench(contact: Contact, wrench: Array) -> Array:
    """Return the force parameters of least norm (N, N m) that give a wrench, with even normal forces at the corners."""
    if contact.forces == "normals":
        corners = len(contact.outline)
        return np.append(wrench, np.full(corners, wrench[2] / corners))
    return np.asarray(np.linalg.lstsq(contact.basis, wrench, rcond=None)[0])


# -- Joint torques ---------------------------------------------------------------------------------------------------


def bind_generalised_forces(
    snapshot: Snapshot,
    task_rows: TaskRows,
    forces: ForceUnknowns,
    rows: Sequence[int],
    scale: Array,
    low: Array,
    high: Array,
) -> Sequence[Writer]:
    """Return the writer of ``low <= (M v̇ + h - Σ J_cᵀ φ_c)_rows <= high``, with each row multiplied by its scale."""
    data = snapshot.data
    writer = _motion.DynamicsWriter(
        data.M,
        data.nle,
        forces.force_jacobian,
        np.array(rows, dtype=np.int32),
        np.ascontiguousarray(scale, dtype=np.float64),
        np.ascontiguousarray(low, dtype=np.float64),
        np.ascontiguousarray(high, dtype=np.float64),
        task_rows.A_full,
        task_rows.lower,
        task_rows.upper,
    )
    return [writer.write]


class JointTorque(ForceTask):
    """Regulate the torques of chosen joints, by default to zero ([Dalibard2012] eq. 15): ``τ = τ*``, in N m.

    Arms and head with zero torque swing passively, like those of a relaxed body.

    Args:
        joints: chosen joints, as for `Posture`; None: all.
        target: τ*, one number or one per joint (N m).

    >>> tasks.JointTorque(joints=[robot.joint("left_elbow_joint"), robot.joint("right_elbow_joint")])
    """

    unit = "N m"
    required_terms = DYNAMICS

    def __init__(
        self,
        joints: JointSelection = None,
        target: ArrayLike = 0.0,
        weight: ArrayLike = 1.0,
        name: str = "joint torque",
    ) -> None:
        self.name = name
        self.joints = check_joints(joints, name)
        self.target = target
        self.weight = check_weight(weight, name, None if self.joints is None else len(self.joints))
        if np.ndim(target) == 0 or self.joints is not None:
            check_task_vector(target, 1 if self.joints is None else len(self.joints), "target", name)

    def labels(self, robot: Robot) -> tuple[str, ...]:
        return tuple(joint.name for joint in self.joints or robot.joints)

    def bind_forces(
        self, snapshot: Snapshot, task_rows: TaskRows, layout: VariableLayout, forces: ForceUnknowns
    ) -> Sequence[Writer]:
        joints = self.joints or snapshot.robot.joints
        target = check_task_vector(self.target, len(joints), "target", self.name)
        rows = [joint.v for joint in joints]
        return bind_generalised_forces(snapshot, task_rows, forces, rows, np.ones(len(rows)), target, target)
