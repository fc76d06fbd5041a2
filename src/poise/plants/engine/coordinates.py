"""Configurations and velocities in MuJoCo's coordinates and in pinocchio's.

    pinocchio   q = (p, x y z w, angles)   v = (Rᵀ ṗ, ω, rates)
    MuJoCo      q = (p, w x y z, angles)   v = (ṗ, ω, rates)

with p the base's place, R its rotation and ω its angular velocity in its own axes. Joints are found by their names,
for a load that swings has joints of its own among them.
"""

from __future__ import annotations

import mujoco
import numpy as np
from numpy.typing import NDArray

from poise.robots import Robot

Array = NDArray[np.float64]


class Coordinates:
    """Where the robot's coordinates stand in a model of MuJoCo."""

    def __init__(self, robot: Robot, model: mujoco.MjModel) -> None:
        joints = [model.joint(robot.model.names[j]) for j in range(2, robot.model.njoints)]
        self.angles = np.array([int(joint.qposadr[0]) for joint in joints])
        self.rates = np.array([int(joint.dofadr[0]) for joint in joints])
        base = model.joint(robot.model.names[1])
        self._places = np.concatenate([base.qposadr[0] + np.array([0, 1, 2, 4, 5, 6, 3]), self.angles])
        self.dofs = np.concatenate([base.dofadr[0] + np.arange(6), self.rates])
        self._turned, self._back = np.zeros(3), np.zeros(4)

    def configuration(self, qpos: Array) -> Array:
        """q as pinocchio has it, in new memory."""
        return qpos.take(self._places)

    def velocity(self, qpos: Array, qvel: Array) -> Array:
        """v as pinocchio has it, in new memory."""
        v = qvel.take(self.dofs)
        mujoco.mju_negQuat(self._back, qpos[3:7])
        mujoco.mju_rotVecQuat(self._turned, v[:3], self._back)
        v[:3] = self._turned
        return v

    def write(self, q: Array, v: Array, data: mujoco.MjData) -> None:
        """Puts the robot where q and v say; loads that swing stay as they are."""
        data.qpos[self._places] = q
        data.qvel[self.dofs] = v
        mujoco.mju_rotVecQuat(self._turned, v[:3], data.qpos[3:7])
        data.qvel[self.dofs[:3]] = self._turned
