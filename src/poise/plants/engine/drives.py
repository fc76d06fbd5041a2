"""Motors and servos as actuators of MuJoCo."""

from __future__ import annotations

import mujoco
import numpy as np
import pinocchio
from numpy.typing import NDArray

from poise.plants.actuators import PositionServos
from poise.plants.errors import PlantError
from poise.robots import Robot, State

Array = NDArray[np.float64]


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
    K = _each(servos.stiffness, count, "stiffness", servos.share * robot.limits.torque / robot.servos.full_torque)
    M = pinocchio.crba(robot.model, robot.model.createData(), start.q)
    return K, _each(servos.damping, count, "damping", 2.0 * np.sqrt(K * np.diag(M)[6:]))


def _each(given: object, count: int, name: str, usual: Array) -> Array:
    if given is None:
        return np.array(usual)
    values = np.asarray(given, dtype=np.float64)
    if values.shape not in ((), (count,)):
        raise PlantError(f"PositionServos.{name} has shape {values.shape}; expected one number or {count}", name)
    return np.broadcast_to(values, count).copy()
