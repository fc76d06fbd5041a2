"""Skeleton: a robot as animation files see it, bones whose frames are all turned alike in the rest pose."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pinocchio
from numpy.typing import NDArray

from poise.exports.trajectory import Trajectory, arranged
from poise.robots import Robot

Array = NDArray[np.float64]

#: From x forward, y left, z up to what animation software has: x left, y up, z forward (towards who looks at it).
Y_UP = np.array([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]])
#: Length of the last bone of a chain that carries no frame further out, per m of the robot's height.
STUB = 0.03


@dataclass(frozen=True)
class Bone:
    """One body that moves.

    Attributes:
        name: of its joint, ``"base"`` for the first.
        joint: number of the joint in the robot's model.
        parent: its place among the bones; -1 for the base.
        offset: of its origin from its parent's in the rest pose, y up (m, 3).
        end: of the end of the last bone of a chain, from its origin (m, 3); None for a bone with others behind it.
        slides: whether it also moves along its parent.
    """

    name: str
    joint: int
    parent: int
    offset: Array
    end: Array | None
    slides: bool


@dataclass(frozen=True, eq=False)
class Skeleton:
    """Bones of a robot, each behind its parent, in the rest pose: all joints at zero, the robot facing forward.

    With R_i(q) the orientation of body i in the world, R_i0 that in the rest pose and C = `Y_UP`, the orientation of
    bone i is ``G_i = C R_i R_i0ᵀ Cᵀ``, the identity in the rest pose, and ``G_parentᵀ G_i`` what a file says of it.
    """

    robot: Robot
    bones: tuple[Bone, ...]
    _rest: Array

    @classmethod
    def of(cls, robot: Robot) -> Skeleton:
        model, data = robot.model, robot.model.createData()
        q = np.concatenate([np.zeros(3), robot.rest[3:7], np.zeros(model.nq - 7)])
        pinocchio.framesForwardKinematics(model, data, q)
        order = _depth_first(model)
        bones = []
        for joint in order:
            above = int(model.parents[joint])
            origin = data.oMi[joint].translation
            offset = Y_UP @ (origin - data.oMi[above].translation) if above else np.zeros(3)
            last = joint not in list(model.parents)
            name = "base" if above == 0 else "_".join(model.names[joint].split())
            slides = above > 0 and model.joints[joint].shortname().startswith("JointModelP")
            end = Y_UP @ _end(robot, data, joint) if last else None
            bones.append(Bone(name, joint, order.index(above) if above else -1, offset, end, slides))
        rest = np.array([data.oMi[bone.joint].rotation for bone in bones])
        return cls(robot, tuple(bones), rest)

    def moved(self, trajectory: Trajectory) -> tuple[Array, Array]:
        """Position and orientation of every bone in its parent at every sample: n x k x 3 and n x k x 3 x 3."""
        model, data = self.robot.model, self.robot.model.createData()
        q, _ = arranged(trajectory, self.robot)
        n, k = len(q), len(self.bones)
        origin, G = np.empty((n, k, 3)), np.empty((n, k, 3, 3))
        for i in range(n):
            pinocchio.forwardKinematics(model, data, q[i])
            for j, bone in enumerate(self.bones):
                pose = data.oMi[bone.joint]
                origin[i, j] = Y_UP @ pose.translation
                G[i, j] = Y_UP @ pose.rotation @ self._rest[j].T @ Y_UP.T
        position, rotation = origin.copy(), G.copy()
        for j, bone in enumerate(self.bones):
            if bone.parent >= 0:
                above = G[:, bone.parent].transpose(0, 2, 1)
                rotation[:, j] = above @ G[:, j]
                position[:, j] = np.einsum("nij,nj->ni", above, origin[:, j] - origin[:, bone.parent])
        return position, rotation


def _depth_first(model: pinocchio.Model) -> list[int]:
    """Joints with each chain in one piece, as files write them."""
    order: list[int] = []
    waiting = [1]
    while waiting:
        joint = waiting.pop()
        order.append(joint)
        waiting += [int(child) for child in reversed(list(model.children[joint]))]
    return order


def _end(robot: Robot, data: pinocchio.Data, joint: int) -> Array:
    """Where the last bone of a chain ends: at the furthest frame that it carries, such as a sole or a palm."""
    origin = data.oMi[joint].translation
    carried = [data.oMf[f.index].translation - origin for f in robot.frames.values() if f.joint == joint]
    longest: Array = max(carried, key=np.linalg.norm, default=np.zeros(3))
    if np.linalg.norm(longest) > 0.5 * STUB * robot.height:
        return longest
    before: Array = origin - data.oMi[int(robot.model.parents[joint])].translation
    length = float(np.linalg.norm(before))
    return STUB * robot.height * (before / length if length > 0.0 else np.array([0.0, 0.0, 1.0]))
