"""Static torques, which hold a robot at rest on one contact: their values, and a constraint on the posture."""

from __future__ import annotations

import numpy as np
import pinocchio
from numpy.typing import ArrayLike

from poise.arrays import Array
from poise.errors import TaskError
from poise.parsing import format_value
from poise.robots import Frame, Robot, State
from poise.state import Snapshot
from poise.tasks import JointSelection, MotionTask, TaskDynamics, check_joints, check_task_vector


def static_torques(state: State) -> Array:
    """Return the joint torques that hold a robot at rest on one contact (nv - 6; N m).

    With the gravity torques g(q), the wrench w of the contact and its Jacobian J, whose first six columns are those of
    the base: ``J_baseᵀ w = g_base`` and ``τ = g - Jᵀ w``.
    """
    model, (contact,) = state.robot.model, state.contacts
    data = model.createData()
    g = pinocchio.computeGeneralizedGravity(model, data, state.q)
    pinocchio.computeJointJacobians(model, data, state.q)
    pinocchio.updateFramePlacements(model, data)
    J = pinocchio.getFrameJacobian(model, data, contact.index, pinocchio.ReferenceFrame.LOCAL_WORLD_ALIGNED)
    wrench = np.linalg.solve(J[:, :6].T, g[:6])
    return np.asarray((g - J.T @ wrench)[6:])


class StaticTorqueLimit(MotionTask):
    """Keep to postures that the motors can hold at rest on one foot: ``|τ_i(q)| <= scale τ_max,i``.

    Unlike `TorqueLimit`, which limits the torques of the present motion, it limits the posture, also in kinematics: a
    robot that bends down bends its knee before its hip is overloaded. The error is τ_i / τ_max,i, without a unit. The
    foot bears the whole weight W at the center of mass c; with its Jacobian J at its joint p, both in joint axes::

        τ = g(q) - Jᵀ F,    F = (R_pᵀ W e_z, R_pᵀ ((c - p) x W e_z))

    Args:
        robot: robot with the torque limits.
        contact: the foot that bears the weight.
        joints: chosen joints; None: all with a finite limit.
        scale: fraction of the limits, one number or one per joint.

    >>> constraints.StaticTorqueLimit(robot, robot.foot("right"), scale=0.9)
    """

    unit = "1"

    def __init__(
        self,
        robot: Robot,
        contact: Frame,
        joints: JointSelection = None,
        scale: ArrayLike = 1.0,
        weight: ArrayLike = 1.0,
        dynamics: TaskDynamics | None = None,
        name: str = "static torque limit",
    ) -> None:
        if not isinstance(robot, Robot):
            raise TaskError(f"{name}: {format_value(robot)} is not a robot; give a Robot, e.g. from load_robot()", name)
        if not isinstance(contact, Frame):
            raise TaskError(f"{name}: {format_value(contact)} is not a frame; give one, e.g. robot.foot('right')", name)
        limited = [joint for joint in robot.joints if np.isfinite(robot.limits.torque[joint.v - 6])]
        self.robot: Robot = robot
        self.contact = contact
        self.joints = check_joints(joints, name, robot) or tuple(limited)
        bound = check_task_vector(scale, len(self.joints), "scale", name)
        if not (bound > 0.0).all():
            raise TaskError(f"{name}: scale is {format_value(scale)}; expected positive numbers", name)
        super().__init__(name, weight, (-bound, bound), dynamics, len(self.joints))
        self._rows = [joint.v for joint in self.joints]
        self._limit = robot.limits.torque[[row - 6 for row in self._rows]]
        self._joint = robot.model.frames[contact.index].parentJoint
        self._data = robot.model.createData()
        self._forces = pinocchio.StdVec_Force([pinocchio.Force.Zero() for _ in range(robot.model.njoints)])

    def labels(self, robot: Robot) -> tuple[str, ...]:
        if robot.name != self.robot.name:
            raise TaskError(
                f"{self.name}: made for {self.robot.name}, not for {robot.name}; build a new one", self.name
            )
        return tuple(joint.name for joint in self.joints)

    def value(self, snapshot: Snapshot) -> Array:
        model, data = self.robot.model, self._data
        pinocchio.centerOfMass(model, data, snapshot.q)
        self._write_contact_force()
        torques = pinocchio.computeStaticTorque(model, data, snapshot.q, self._forces)
        return np.asarray(torques[self._rows] / self._limit)

    def jacobian(self, snapshot: Snapshot) -> Array:
        """Return the derivative of `value`: of g and J at a constant F, and of F."""
        model, data = self.robot.model, self._data
        center_jacobian = pinocchio.jacobianCenterOfMass(model, data, snapshot.q)
        J = pinocchio.getJointJacobian(model, data, self._joint, pinocchio.ReferenceFrame.LOCAL)
        R_t, linear, angular = data.oMi[self._joint].rotation.T, J[:3], J[3:]
        force, arm = self._write_contact_force()
        force_cross, arm_cross = pinocchio.skew(force), pinocchio.skew(arm)
        force_rate = force_cross @ angular
        arm_rate = R_t @ center_jacobian - linear + arm_cross @ angular
        F_rate = np.vstack([force_rate, arm_cross @ force_rate - force_cross @ arm_rate])
        S = pinocchio.computeStaticTorqueDerivatives(model, data, snapshot.q, self._forces)
        return np.asarray((S - J.T @ F_rate)[self._rows] / self._limit[:, None])

    def _write_contact_force(self) -> tuple[Array, Array]:
        """Write F for the center of mass in `_data`; return force and lever arm in the axes of the joint (N, m)."""
        placement = self._data.oMi[self._joint]
        force = placement.rotation.T @ np.array([0.0, 0.0, self.robot.weight])
        arm = placement.rotation.T @ (self._data.com[0] - placement.translation)
        self._forces[self._joint] = pinocchio.Force(force, np.cross(arm, force))
        return force, arm
