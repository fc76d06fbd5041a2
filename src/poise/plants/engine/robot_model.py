"""The robot in MuJoCo, built from its pinocchio model: bodies, joints, actuators, and the conversion of coordinates.

Every joint of the model becomes a body that stands where the joint stands and carries the same inertia: mass, center
and the six entries of its tensor. No URDF is read again, so nothing can be understood in two ways: mass matrix, bias
forces and center of mass agree with pinocchio's to rounding (`tests/conformance/test_mujoco_twin.py`).

    pinocchio   q = (p, x y z w, angles)   v = (Rᵀ ṗ, ω, rates)
    MuJoCo      q = (p, w x y z, angles)   v = (ṗ, ω, rates)

with p the base's place, R its rotation and ω its angular velocity in its own axes. Joints are found by their names,
for a load that swings has joints of its own among them.
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

#: Impedance of dry friction in joints: MuJoCo lets a joint creep that friction should hold, and with these values ten
#: times less than with its own.
FRICTION_IMPEDANCE = (0.99, 0.999, 0.001, 0.5, 2.0)


def add_bodies(spec: mujoco.MjSpec, robot: Robot, error: ModelError) -> list[mujoco.MjsBody]:
    """Adds the robot to a world; returns its bodies by the number of their joint, the world first."""
    model = robot.model
    axes = _axes(model)
    bodies = [spec.worldbody]
    for joint in range(1, model.njoints):
        place, inertia = model.jointPlacements[joint], model.inertias[joint]
        body = bodies[model.parents[joint]].add_body(
            name=model.names[joint], pos=place.translation, quat=quaternion(place.rotation)
        )
        scale = 1.0 + error.mass
        I = scale * inertia.inertia  # noqa: E741  about its center, in axes of the joint
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
    """(w, x, y, z), as MuJoCo has it."""
    x, y, z, w = pinocchio.Quaternion(np.asarray(rotation)).coeffs()
    return np.array([w, x, y, z])


def _axes(model: pinocchio.Model) -> dict[int, tuple[mujoco.mjtJoint, Array]]:
    """Kind and axis of every joint but the base's: what its rate does to its own body."""
    data, found = model.createData(), {}
    pinocchio.computeJointJacobians(model, data, pinocchio.neutral(model))
    for joint in range(2, model.njoints):
        column = pinocchio.getJointJacobian(model, data, joint, pinocchio.LOCAL)[:, model.idx_vs[joint]]
        turns = bool(np.abs(column[3:]).max() > 0.5)
        kind = mujoco.mjtJoint.mjJNT_HINGE if turns else mujoco.mjtJoint.mjJNT_SLIDE
        found[joint] = kind, column[3:] if turns else column[:3]
    return found


# -- Motors and servos as actuators of MuJoCo ------------------------------------------------------------------------


def add_motors(spec: mujoco.MjSpec, robot: Robot) -> None:
    """A torque motor per joint, limited by the engine itself."""
    for joint, limit in zip(robot.joints, robot.limits.torque, strict=True):
        motor = spec.add_actuator(
            name=joint.name,
            target=joint.name,
            trntype=mujoco.mjtTrn.mjTRN_JOINT,
            ctrllimited=mujoco.mjtLimited.mjLIMITED_TRUE,
            ctrlrange=[-limit, limit],
        )
        motor.set_to_motor()


def add_servos(spec: mujoco.MjSpec, robot: Robot, stiffness: Array, damping: Array) -> None:
    """A servo per joint: a force ``K c - K q - D v``, limited by the engine; c is ``target + D/K rate``."""
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
    """Stiffness and damping of every joint, see `PositionServos`."""
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


def _per_joint(given: object, count: int, name: str, default: Array) -> Array:
    if given is None:
        return np.array(default)
    values = np.asarray(given, dtype=np.float64)
    if values.shape not in ((), (count,)):
        raise PlantError(f"PositionServos.{name} has shape {values.shape}; expected one number or {count}", name)
    return np.broadcast_to(values, count).copy()


# -- Configurations and velocities in MuJoCo's coordinates and in pinocchio's ----------------------------------------


class CoordinateMap:
    """Where the robot's coordinates stand in a model of MuJoCo."""

    def __init__(self, robot: Robot, model: mujoco.MjModel) -> None:
        joints = [model.joint(robot.model.names[j]) for j in range(2, robot.model.njoints)]
        self.angles = np.array([int(joint.qposadr[0]) for joint in joints])
        self.rates = np.array([int(joint.dofadr[0]) for joint in joints])
        base = model.joint(robot.model.names[1])
        self._qpos_indices = np.concatenate([base.qposadr[0] + np.array([0, 1, 2, 4, 5, 6, 3]), self.angles])
        self.dofs = np.concatenate([base.dofadr[0] + np.arange(6), self.rates])
        self._rotated, self._inverse = np.zeros(3), np.zeros(4)

    def configuration(self, qpos: Array) -> Array:
        """q as pinocchio has it, in new memory."""
        return qpos.take(self._qpos_indices)

    def velocity(self, qpos: Array, qvel: Array) -> Array:
        """v as pinocchio has it, in new memory."""
        v = qvel.take(self.dofs)
        mujoco.mju_negQuat(self._inverse, qpos[3:7])
        mujoco.mju_rotVecQuat(self._rotated, v[:3], self._inverse)
        v[:3] = self._rotated
        return v

    def write(self, q: Array, v: Array, data: mujoco.MjData) -> None:
        """Puts the robot where q and v say; loads that swing stay as they are."""
        data.qpos[self._qpos_indices] = q
        data.qvel[self.dofs] = v
        mujoco.mju_rotVecQuat(self._rotated, v[:3], data.qpos[3:7])
        data.qvel[self.dofs[:3]] = self._rotated
