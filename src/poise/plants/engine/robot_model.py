"""The robot in MuJoCo, built from its pinocchio model: bodies, joints, actuators, and the conversion of coordinates.

Every joint of the pinocchio model becomes a body at the same position with the same inertia: mass, center and the six
entries of its tensor. The URDF is not parsed again, so the two models cannot differ: mass matrix, bias forces and
center of mass agree with pinocchio's to rounding (`tests/conformance/test_mujoco_twin.py`).

    pinocchio   q = (p, x y z w, angles)   v = (Rᵀ ṗ, ω, rates)
    MuJoCo      q = (p, w x y z, angles)   v = (ṗ, ω, rates)

with p the base's position, R its rotation and ω its angular velocity in its own axes. Joints are looked up by name,
because a swinging load adds joints to the model.
"""

from __future__ import annotations

import numpy as np
import pinocchio

from poise.arrays import Array
from poise.extras import mujoco
from poise.plants.disturbances import ModelError
from poise.plants.plant_errors import PlantError
from poise.plants.simulation_setup import PositionServos
from poise.robots import Robot, State

#: Impedance of dry friction in joints: MuJoCo lets a joint creep although friction should hold it; with these values it
#: creeps ten times less than with MuJoCo's defaults.
FRICTION_IMPEDANCE = (0.99, 0.999, 0.001, 0.5, 2.0)


def add_bodies(spec: mujoco.MjSpec, robot: Robot, error: ModelError) -> list[mujoco.MjsBody]:
    """Add the robot to a spec; return its bodies in the order of pinocchio's joints, with the world body first."""
    model = robot.model
    axes = _axes(model)
    bodies = [spec.worldbody]
    for joint in range(1, model.njoints):
        place, inertia = model.jointPlacements[joint], model.inertias[joint]
        body = bodies[model.parents[joint]].add_body(
            name=model.names[joint], pos=place.translation, quat=quaternion(place.rotation)
        )
        scale = 1.0 + error.mass
        I = scale * inertia.inertia  # noqa: E741  about its center, in the joint's axes
        body.mass, body.ipos, body.explicitinertial = scale * inertia.mass, inertia.lever, True
        body.fullinertia = [I[0, 0], I[1, 1], I[2, 2], I[0, 1], I[0, 2], I[1, 2]]
        bodies.append(body)
        if joint == 1:
            body.add_freejoint(name=model.names[joint])
            continue
        i, (kind, axis) = model.idx_vs[joint], axes[joint]
        body.add_joint(
            name=model.names[joint],
            type=kind,
            axis=axis,
            range=[robot.limits.lower[i - 6], robot.limits.upper[i - 6]],
            limited=mujoco.mjtLimited.mjLIMITED_TRUE,
            armature=model.armature[i] + error.armature,
            damping=error.damping,
            frictionloss=error.dry_friction,
            solimp_friction=FRICTION_IMPEDANCE,
        )
    return bodies


def quaternion(rotation: Array) -> Array:
    """Convert a rotation matrix to a quaternion (w, x, y, z), in MuJoCo's order."""
    x, y, z, w = pinocchio.Quaternion(np.asarray(rotation)).coeffs()
    return np.array([w, x, y, z])


def _axes(model: pinocchio.Model) -> dict[int, tuple[mujoco.mjtJoint, Array]]:
    """Return type and axis of every joint except the base's, from the joint Jacobian in the joint's frame."""
    data, axes = model.createData(), {}
    pinocchio.computeJointJacobians(model, data, pinocchio.neutral(model))
    for joint in range(2, model.njoints):
        column = pinocchio.getJointJacobian(model, data, joint, pinocchio.LOCAL)[:, model.idx_vs[joint]]
        is_revolute = bool(np.abs(column[3:]).max() > 0.5)
        kind = mujoco.mjtJoint.mjJNT_HINGE if is_revolute else mujoco.mjtJoint.mjJNT_SLIDE
        axes[joint] = kind, column[3:] if is_revolute else column[:3]
    return axes


# -- Motors and servos as MuJoCo actuators ---------------------------------------------------------------------------


def add_motors(spec: mujoco.MjSpec, robot: Robot, limits_force: bool = False) -> None:
    """Add a torque motor per joint, whose torque MuJoCo limits; `limits_force`: by a range that may change."""
    for joint, limit in zip(robot.joints, robot.limits.torque, strict=True):
        motor = spec.add_actuator(
            name=joint.name,
            target=joint.name,
            trntype=mujoco.mjtTrn.mjTRN_JOINT,
            ctrllimited=mujoco.mjtLimited.mjLIMITED_TRUE,
            ctrlrange=[-limit, limit],
            forcelimited=mujoco.mjtLimited.mjLIMITED_TRUE if limits_force else mujoco.mjtLimited.mjLIMITED_FALSE,
            forcerange=[-limit, limit],
        )
        motor.set_to_motor()


def add_servos(spec: mujoco.MjSpec, robot: Robot, stiffness: Array, damping: Array) -> None:
    """Add a servo per joint: torque ``K c - K q - D v``, limited by MuJoCo, with the control c = target + D/K rate."""
    for joint, limit, K, D in zip(robot.joints, robot.limits.torque, stiffness, damping, strict=True):
        spec.add_actuator(
            name=joint.name,
            target=joint.name,
            trntype=mujoco.mjtTrn.mjTRN_JOINT,
            gaintype=mujoco.mjtGain.mjGAIN_FIXED,
            biastype=mujoco.mjtBias.mjBIAS_AFFINE,
            gainprm=[K, *[0.0] * 9],
            biasprm=[0.0, -K, -D, *[0.0] * 7],
            forcelimited=mujoco.mjtLimited.mjLIMITED_TRUE,
            forcerange=[-limit, limit],
        )


def servo_gains(servos: PositionServos, start: State) -> tuple[Array, Array]:
    """Return stiffness (N m/rad) and damping (N m s/rad) of every joint, see `PositionServos`."""
    robot = start.robot
    count = len(robot.joints)
    K = _per_joint(
        servos.stiffness,
        count,
        "stiffness",
        servos.stiffness_scale * robot.limits.torque / robot.servos.saturation_error,
    )
    M = pinocchio.crba(robot.model, robot.model.createData(), start.q)
    return K, _per_joint(servos.damping, count, "damping", 2.0 * np.sqrt(K * np.diag(M)[6:]))


def _per_joint(value: object, count: int, name: str, default: Array) -> Array:
    if value is None:
        return np.array(default)
    values = np.asarray(value, dtype=np.float64)
    if values.shape not in ((), (count,)):
        raise PlantError(f"PositionServos.{name} has shape {values.shape}; expected one number or {count}", name)
    return np.broadcast_to(values, count).copy()


# -- Conversion between MuJoCo's and pinocchio's coordinates ---------------------------------------------------------


class CoordinateMap:
    """Indices of the robot's coordinates in a MuJoCo model, and conversion to and from pinocchio's convention."""

    def __init__(self, robot: Robot, model: mujoco.MjModel) -> None:
        joints = [model.joint(robot.model.names[j]) for j in range(2, robot.model.njoints)]
        self.angles = np.array([int(joint.qposadr[0]) for joint in joints])
        self.rates = np.array([int(joint.dofadr[0]) for joint in joints])
        base = model.joint(robot.model.names[1])
        self._qpos_indices = np.concatenate([base.qposadr[0] + np.array([0, 1, 2, 4, 5, 6, 3]), self.angles])
        self.dofs = np.concatenate([base.dofadr[0] + np.arange(6), self.rates])
        self._rotated, self._inverse = np.zeros(3), np.zeros(4)

    def configuration(self, qpos: Array) -> Array:
        """Return q in pinocchio's convention, as a new array."""
        return qpos.take(self._qpos_indices)

    def velocity(self, qpos: Array, qvel: Array) -> Array:
        """Return v in pinocchio's convention, as a new array."""
        v = qvel.take(self.dofs)
        mujoco.mju_negQuat(self._inverse, qpos[3:7])
        mujoco.mju_rotVecQuat(self._rotated, v[:3], self._inverse)
        v[:3] = self._rotated
        return v

    def write(self, q: Array, v: Array, data: mujoco.MjData) -> None:
        """Set configuration and velocity of the robot; swinging loads are not changed."""
        data.qpos[self._qpos_indices] = q
        data.qvel[self.dofs] = v
        mujoco.mju_rotVecQuat(self._rotated, v[:3], data.qpos[3:7])
        data.qvel[self.dofs[:3]] = self._rotated
