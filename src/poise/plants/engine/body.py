"""The robot's bodies, joints and motors in MuJoCo, from the pinocchio model that controllers use.

Every joint of the model becomes a body that stands where the joint stands and carries the same inertia: mass, center
and the six entries of its tensor. No URDF is read again, so nothing can be understood in two ways: mass matrix, bias
forces and center of mass agree with pinocchio's to rounding (`tests/conformance/test_mujoco_twin.py`).
"""

from __future__ import annotations

import mujoco
import numpy as np
import pinocchio
from numpy.typing import NDArray

from poise.plants.model_error import ModelError
from poise.robots import Robot

Array = NDArray[np.float64]

#: Impedance of dry friction in joints: MuJoCo lets a joint creep that friction should hold, and with these values ten
#: times less than with its own.
HOLDING = (0.99, 0.999, 0.001, 0.5, 2.0)


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
            solimp_friction=HOLDING,
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
