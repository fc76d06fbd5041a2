"""Constraints on the motion of contacts: fixed (PinnedContact, RigidContact), or free to lift (NonPenetration)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from poise.arrays import Array
from poise.robots import Frame, Robot, State
from poise.state import FRAMES, Contact, Snapshot, _motion, contact_of, frame_rows
from poise.tasks import (
    ACCELERATION,
    Decay,
    FeedForwardTarget,
    MotionTask,
    TaskDynamics,
    TaskRows,
    VariableLayout,
    Writer,
    check_task_positive,
    component_indices,
    frame_name,
    selection_matrix,
    unit_vector,
)

#: Default damping k of a contact, 1/s: sliding or rocking stops within a tenth of a second.
CONTACT_DAMPING = 40.0
#: Speed at which a missing contact seeks the surface, m/s: a millimeter in two hundredths of a second, and still a soft
#: landing; and largest distance below its planned position, m.
SEEKING_SPEED, MAX_SEEKING_DEPTH = 0.2, 0.05


class PinnedContact(MotionTask):
    """Keep a frame at rest ([Saab2012] eq. 4), without a target pose.

    The rows are ``J v = 0`` at velocity order and ``J v̇ = -J̇ v - k J v`` at acceleration order, where k damps remaining
    motion. Position drift is not corrected; `tasks.HoldPose` does so.

    Args:
        frame: e.g. ``robot.foot("right")``.
        axes, rotation_axes: directions of translation and rotation that are blocked, in world axes.
        damping: k, 1/s.

    >>> constraints.PinnedContact(robot.foot("right"))
    """

    unit = "m/s, rad/s"
    required_terms = FRAMES
    velocity_only = True
    curvature = 0.0

    def __init__(
        self,
        frame: Frame,
        axes: str = "xyz",
        rotation_axes: str = "xyz",
        damping: float = CONTACT_DAMPING,
        weight: ArrayLike = 1.0,
        name: str = "",
    ) -> None:
        name = name or f"contact of {frame_name(frame)}"
        linear, angular = component_indices(axes, rotation_axes, name)
        super().__init__(
            name, weight, None, Decay(check_task_positive(damping, "damping", name)), len(linear + angular)
        )
        self.frame = frame
        self.S = selection_matrix(linear + angular, 6)
        self.row_labels = (*axes, *(f"about {a}" for a in rotation_axes))

    def labels(self, robot: Robot) -> tuple[str, ...]:
        return self.row_labels

    def frames(self) -> tuple[Frame, ...]:
        return (self.frame,)

    def bind_error(self, snapshot: Snapshot, task_rows: TaskRows, layout: VariableLayout) -> Sequence[Writer]:
        rows = snapshot.frame(self.frame)
        unused = np.zeros(len(self.S))  # output for the position error, which this constraint does not use
        writer = _motion.FrameWriter(rows, self.S, np.zeros(3), np.eye(3), unused, task_rows.A, task_rows.drift)
        return [writer.write, writer.write_drift] if layout.order == ACCELERATION else [writer.write]


class RigidContact(MotionTask):
    """Keep a contact fixed ([Saab2012] eq. 4): no translation, and no rotation about the chosen axes.

    In torque control the rows are ``J v̇ = -J̇ v - k J v``, without feedback of the position, which the ground
    determines; the error of the task is the distance that the contact has slipped. If a force is planned but no contact
    is measured, the contact moves against its normal at `SEEKING_SPEED` until it meets the surface, by at most
    `MAX_SEEKING_DEPTH`. In kinematics, where nothing else holds the contact, the task corrects drift like
    `tasks.HoldPose`.

    Args:
        contact: a `Contact`, or a frame for a contact with default arguments.
        at: state with the contact at its desired pose, or a `tasks.FeedForwardTarget` of the pose of its frame
            (world_from_frame), which the caller sets while the contact bears no force; None: the pose at the time when
            a controller binds the task. With rate and acceleration of the target, the contact rolls: in torque control
            its frame moves with that twist.
        damping: k, 1/s, in torque control.
        dynamics: task dynamics of the correction of drift in kinematics.
        rotation_axes: world axes about which the contact does not rotate; none if it is a point. ``"z"`` lets a foot
            tip over its edges.

    >>> Level("contact", [constraints.RigidContact(foot, at=start) for foot in robot.feet])
    """

    unit = "m, rad"
    required_terms = FRAMES
    curvature = 0.0

    def __init__(
        self,
        contact: Contact | Frame,
        at: State | FeedForwardTarget | None = None,
        damping: float = CONTACT_DAMPING,
        weight: ArrayLike = 1.0,
        dynamics: TaskDynamics | None = None,
        name: str = "",
        rotation_axes: str = "xyz",
    ) -> None:
        self.contact = contact_of(contact)
        name = name or f"contact of {self.contact.name}"
        self.rotation_axes = "" if self.contact.point_like else rotation_axes
        self._components = tuple(i for part in component_indices("xyz", self.rotation_axes, name) for i in part)
        super().__init__(name, weight, None, dynamics or Decay(10.0), len(self._components))
        self.at = at
        self.damping = check_task_positive(damping, "damping", name)
        self.part_sizes = (3, len(self.rotation_axes)) if self.rotation_axes else (3,)

    def labels(self, robot: Robot) -> tuple[str, ...]:
        return ("x", "y", "z", *(f"about {axis}" for axis in self.rotation_axes))

    def contacts(self) -> tuple[Contact, ...]:
        return (self.contact,)

    def frames(self) -> tuple[Frame, ...]:
        return (self.contact.frame,)

    def bind(self, snapshot: Snapshot, task_rows: TaskRows, layout: VariableLayout) -> Sequence[Writer]:
        forces = layout.forces
        if forces is None:
            return super().bind(snapshot, task_rows, layout)
        task_rows.damping[:] = self.damping  # the gain stays zero
        normal = (snapshot.pose(self.contact.frame) * self.contact.frame_from_contact).rotation[:, 2].copy()
        index = forces.contacts.index(self.contact)
        moving_pose = self.at if isinstance(self.at, FeedForwardTarget) else None
        rolling = [False]

        def move() -> None:
            lost = forces.seeking[index] and normal @ task_rows.error[:3] > -MAX_SEEKING_DEPTH
            task_rows.target_rate[:3] = -SEEKING_SPEED * normal if lost else 0.0
            if moving_pose is None:
                return
            if moving_pose.rate.any():
                arm = moving_pose.value.rotation @ self.contact.frame_from_contact.translation
                rate, acceleration = _motion_at(arm, moving_pose.rate, moving_pose.acceleration)
                task_rows.target_rate[:3] += rate[:3]
                task_rows.target_rate[3:] = rate[3 : len(task_rows.error)]
                task_rows.target_acceleration[:] = acceleration[: len(task_rows.error)]
                rolling[0] = True
            elif rolling[0]:
                task_rows.target_rate[3:], task_rows.target_acceleration[:] = 0.0, 0.0
                rolling[0] = False

        return [*self.bind_error(snapshot, task_rows, layout), move]

    def bind_error(self, snapshot: Snapshot, task_rows: TaskRows, layout: VariableLayout) -> Sequence[Writer]:
        contact = self.contact
        reader = frame_rows(snapshot.robot, snapshot.data, contact.frame, contact.frame_from_contact)
        at = self.at
        moving_pose = at if isinstance(at, FeedForwardTarget) else None
        world_from_frame = at.pose(contact.frame) if isinstance(at, State) else snapshot.pose(contact.frame)
        world_from_contact = world_from_frame * contact.frame_from_contact
        p, R = np.array(world_from_contact.translation), np.array(world_from_contact.rotation, order="C")
        writer = _motion.FrameWriter(
            reader, selection_matrix(self._components, 6), p, R, task_rows.error, task_rows.A, task_rows.drift
        )
        writers: list[Writer] = [writer.write]
        if layout.order == ACCELERATION:
            writers.append(writer.write_drift)
        if moving_pose is None:
            return writers
        last_pose: list[object] = [None]

        def follow() -> None:
            if moving_pose.value is not last_pose[0]:
                last_pose[0] = moving_pose.value
                world_from_contact = moving_pose.value * contact.frame_from_contact
                p[:], R[:] = world_from_contact.translation, world_from_contact.rotation

        return [follow, *writers]


def _motion_at(arm: Array, twist: Array, rate: Array) -> tuple[Array, Array]:
    """Return twist and its rate at a point of a frame, `arm` from its origin, in world axes (m/s, rad/s and rates)."""
    w = twist[3:]
    turn = np.cross(w, arm)
    moved, faster = twist.copy(), rate.copy()
    moved[:3] += turn
    faster[:3] += np.cross(rate[3:], arm) + np.cross(w, turn)
    return moved, faster


class NonPenetration(MotionTask):
    """Let the corners of a contact lift off the surface but not sink into it ([Dalibard2012] eq. 4).

    The row of corner i is ``nᵀJ_i v >= 0`` at velocity order and ``nᵀ(J_i v̇ + J̇_i v) >= -k nᵀJ_i v`` at acceleration
    order, where the damping k brings a sinking corner to rest gradually instead of within one period. Weaker than
    `RigidContact`: the contact may slide, roll and lift off.

    Args:
        contact: a `Contact`, or a frame for a contact with default arguments.
        normal: n, outward normal of the surface in world axes, of any length.
        damping: k, 1/s.

    >>> poise.Hierarchy(always=[constraints.NonPenetration(foot) for foot in robot.feet], levels=[...])
    """

    unit = "m/s"
    required_terms = FRAMES
    curvature = 0.0
    velocity_only = True

    def __init__(
        self,
        contact: Contact | Frame,
        normal: ArrayLike = (0.0, 0.0, 1.0),
        damping: float = CONTACT_DAMPING,
        weight: ArrayLike = 1.0,
        name: str = "",
    ) -> None:
        self.contact = contact_of(contact)
        name = name or f"no penetration at {self.contact.name}"
        self.normal = unit_vector(normal, "normal", name)
        dynamics = Decay(check_task_positive(damping, "damping", name))
        super().__init__(name, weight, (0.0, np.inf), dynamics, len(self.contact.corners))

    def labels(self, robot: Robot) -> tuple[str, ...]:
        return tuple(f"corner {i + 1}" for i in range(len(self.contact.corners)))

    def contacts(self) -> tuple[Contact, ...]:
        return (self.contact,)

    def frames(self) -> tuple[Frame, ...]:
        return (self.contact.frame,)

    def value(self, snapshot: Snapshot) -> Array:
        return np.zeros(len(self.contact.corners))

    def jacobian(self, snapshot: Snapshot) -> Array:
        return self._selection(snapshot) @ snapshot.jacobian(self.contact.frame)

    def drift(self, snapshot: Snapshot) -> Array:
        frame = self.contact.frame
        w, arms = snapshot.velocity(frame)[3:], self.contact.corners @ snapshot.rotation(frame).T
        centripetal = np.cross(w, np.cross(w, arms))
        return self._selection(snapshot) @ snapshot.drift(frame) + centripetal @ self.normal

    def _selection(self, snapshot: Snapshot) -> Array:
        """Return the rows that select the motion of each corner along the normal: nᵀ(v + ω x r) = nᵀv + (r x n)ᵀω."""
        arms = self.contact.corners @ snapshot.rotation(self.contact.frame).T
        return np.hstack([np.tile(self.normal, (len(arms), 1)), np.cross(arms, self.normal)])
