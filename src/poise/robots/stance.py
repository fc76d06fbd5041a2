"""Stances: from joint angles to a configuration that stands on the ground.

The middle between the soles comes to the world origin, with x forward and z up. A balanced stance is then corrected by
moving the base and the joints that carry the feet, and only those, until

    both soles lie flat at z = 0, side by side at the distance they had,
    the base has the orientation it had,
    the center of mass stands above the middle of the soles.

Each step is the shortest change d of base and legs that solves the linearised equations ``J d = e``: Newton's method,
``d = pinv(J) e``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pinocchio
from numpy.typing import NDArray

from poise.errors import RobotError
from poise.robots.description import Description
from poise.robots.limits import Limits
from poise.robots.names import unknown
from poise.robots.parts import Foot, Joint

Array = NDArray[np.float64]

#: Newton's method on these smooth equations ends within ten steps or never; the tolerance (m, rad) is that of rounding.
STEPS, TOLERANCE = 20, 1e-10


def solve_stance(
    model: pinocchio.Model,
    joints: Sequence[Joint],
    limits: Limits,
    feet: Sequence[Foot],
    description: Description,
    name: str,
) -> Array:
    """The configuration of a named stance, or one line on why there is none."""
    stance = description.stances[name]
    names = [joint.name for joint in joints]
    for joint_name in stance.joints:
        if joint_name not in names and joint_name not in description.locked:
            raise unknown(f"[stances.{name}.joints] names no joint:", joint_name, names, description.file)
    q = posture(model, joints, limits, stance.joints)
    _check_range(q, joints, limits, description, name)
    if not feet:
        return q
    q = grounded(model, q, feet)
    if stance.balanced:
        q, error = balanced(model, q, feet)
        if not error <= TOLERANCE:
            message = (
                f"[stances.{name}] cannot be balanced ({error:.2g} m or rad left); bend the knees of its joints more"
            )
            raise RobotError(f"{description.file}: {message}", file=description.file, element=name)
        _check_range(q, joints, limits, description, name)
    return q


def posture(model: pinocchio.Model, joints: Sequence[Joint], limits: Limits, angles: Mapping[str, float]) -> Array:
    """Base at the origin, the given angles, and for all other joints zero or the nearest angle in range."""
    q = pinocchio.neutral(model)
    for joint, low, high in zip(joints, limits.lower, limits.upper, strict=True):
        q[joint.q] = angles.get(joint.name, min(max(0.0, low), high))
    return q


def grounded(model: pinocchio.Model, q: Array, feet: Sequence[Foot]) -> Array:
    """The same posture with the middle of the soles at the world origin, x forward, z up."""
    data = model.createData()
    pinocchio.framesForwardKinematics(model, data, q)
    world_from_middle = pinocchio.SE3.Interpolate(data.oMf[feet[0].index], data.oMf[feet[-1].index], 0.5)
    world_from_base = world_from_middle.inverse() * pinocchio.XYZQUATToSE3(q[:7])
    return np.concatenate([pinocchio.SE3ToXYZQUAT(world_from_base), q[7:]])


def balanced(model: pinocchio.Model, q: Array, feet: Sequence[Foot]) -> tuple[Array, float]:
    """The balanced neighbour of a grounded posture, and what is left of the equations (m and rad, largest)."""
    data = model.createData()
    pinocchio.framesForwardKinematics(model, data, q)
    sides = [float(data.oMf[foot.index].translation[1]) for foot in feet]
    goals = [pinocchio.SE3(np.eye(3), np.array([0.0, side, 0.0])) for side in sides]
    above = np.mean([goal.act(foot.sole.center) for goal, foot in zip(goals, feet, strict=True)], axis=0)
    upright = data.oMi[1].rotation.copy()
    moving = _moving(model, feet)
    for _ in range(STEPS):
        J, e = _equations(model, data, q, feet, goals, upright, above)
        error = float(np.abs(e).max())
        if error < TOLERANCE or not (np.isfinite(error) and np.isfinite(J).all()):
            break
        step = np.zeros(model.nv)
        step[moving] = np.linalg.pinv(J[:, moving]) @ e
        q = pinocchio.integrate(model, q, step)
    return q, error


def _equations(
    model: pinocchio.Model,
    data: pinocchio.Data,
    q: Array,
    feet: Sequence[Foot],
    goals: Sequence[pinocchio.SE3],
    upright: Array,
    above: Array,
) -> tuple[Array, Array]:
    pinocchio.computeJointJacobians(model, data, q)
    pinocchio.updateFramePlacements(model, data)
    J, e = [], []
    for foot, goal in zip(feet, goals, strict=True):
        J.append(pinocchio.getFrameJacobian(model, data, foot.index, pinocchio.LOCAL))
        e.append(pinocchio.log6(data.oMf[foot.index].actInv(goal)).vector)
    J.append(pinocchio.getJointJacobian(model, data, 1, pinocchio.LOCAL)[3:])
    e.append(pinocchio.log3(data.oMi[1].rotation.T @ upright))
    J.append(pinocchio.jacobianCenterOfMass(model, data, q)[:2])
    e.append((above - data.com[0])[:2])
    return np.vstack(J), np.concatenate(e)


def _moving(model: pinocchio.Model, feet: Sequence[Foot]) -> list[int]:
    """Indices in v of the base and of all joints that carry a foot."""
    joints = sorted({int(joint) for foot in feet for joint in model.supports[foot.joint] if joint > 0})
    return [model.idx_vs[joint] + i for joint in joints for i in range(model.nvs[joint])]


def _check_range(q: Array, joints: Sequence[Joint], limits: Limits, description: Description, name: str) -> None:
    for joint, low, high in zip(joints, limits.lower, limits.upper, strict=True):
        if not low <= q[joint.q] <= high:
            outside = f"puts '{joint.name}' at {q[joint.q]:.4g}, outside its range {low:.4g} to {high:.4g}"
            message = f"{description.file}: [stances.{name}] {outside}; choose its joints so that this one stays inside"
            raise RobotError(message, file=description.file, element=joint.name)
