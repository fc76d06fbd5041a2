"""One example of every task, as a function of a state, for the conformance tests."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pinocchio

from contact_states import example_contacts
from poise import constraints, tasks
from poise.robots import Frame, Robot, State
from poise.state import Snapshot
from robot_states import not_none

TaskFactory = Callable[[Robot, State], Any]


class ValueAndJacobianTask(tasks.MotionTask):
    """Copy of a task from its value and Jacobian alone, without an analytic drift, as a user would write it."""

    def __init__(self, task: tasks.MotionTask) -> None:
        self.task, self.velocity_only = task, task.velocity_only

    def value(self, snapshot: Snapshot) -> np.ndarray:
        return self.task.value(snapshot)

    def jacobian(self, snapshot: Snapshot) -> np.ndarray:
        return self.task.jacobian(snapshot)


def _relative(robot: Robot, at: State) -> pinocchio.SE3:
    return at.pose(robot.foot("left")).actInv(at.pose(robot.foot("right")))


def _from_foot(robot: Robot, at: State) -> np.ndarray:
    return at.pose(robot.foot("left")).actInv(at.center_of_mass)


def _looking_at(at: State, frame: Frame, axis: Any) -> np.ndarray:
    return at.pose(frame).act(0.8 * np.asarray(axis))


#: Tasks whose error is zero in the given state.
TASKS_AT_TARGET: dict[str, TaskFactory] = {
    "position": lambda r, s: tasks.Position(r.hand("left"), s.pose(r.hand("left")).translation),
    "position xz": lambda r, s: tasks.Position(r.hand("left"), s.pose(r.hand("left")).translation, axes="xz"),
    "orientation": lambda r, s: tasks.Orientation(not_none(r.chest), s.pose(not_none(r.chest))),
    "orientation y": lambda r, s: tasks.Orientation(not_none(r.chest), s.pose(not_none(r.chest)), axes="y"),
    "pose": lambda r, s: tasks.Pose(r.hand("right"), s.pose(r.hand("right"))),
    "pose parts": lambda r, s: tasks.Pose(r.hand("right"), s.pose(r.hand("right")), axes="z", rotation_axes="xy"),
    "hold pose": lambda r, s: tasks.HoldPose(r.foot("right"), at=s),
    "relative pose": lambda r, s: tasks.RelativePose(r.foot("right"), r.foot("left"), _relative(r, s)),
    "relative pose parts": lambda r, s: tasks.RelativePose(
        r.foot("right"), r.foot("left"), _relative(r, s), axes="xy", rotation_axes="z"
    ),
    "direction": lambda r, s: tasks.Direction(not_none(r.chest), (0, 0, 1), s.pose(not_none(r.chest)).rotation[:, 2]),
    "gaze": lambda r, s: tasks.Gaze(r.gaze, _looking_at(s, r.gaze, r.gaze.axis)),
    "gaze of a hand": lambda r, s: tasks.Gaze(
        r.hand("left"), _looking_at(s, r.hand("left"), (0.6, 0, 0.8)), axis=(0.6, 0, 0.8)
    ),
    "center of mass": lambda r, s: tasks.CenterOfMass(s.center_of_mass),
    "center of mass xy": lambda r, s: tasks.CenterOfMass(s.center_of_mass[:2], axes="xy"),
    "center of mass from a foot": lambda r, s: tasks.CenterOfMass(_from_foot(r, s), frame=r.foot("left")),
    "linear momentum": lambda r, s: tasks.LinearMomentum((1.0, 0.0, -1.0)),
    "angular momentum": lambda r, s: tasks.AngularMomentum(0.5, axes="zx"),
    "posture": lambda r, s: tasks.Posture(s),
    "posture of some": lambda r, s: tasks.Posture(s, joints=[r.joints[7], r.joints[2]]),
    "configuration": lambda r, s: tasks.Configuration(s),
    "joint comfort": lambda r, s: tasks.JointComfort(r),
    "least velocity": lambda r, s: tasks.LeastVelocity(),
    "least velocity of some": lambda r, s: tasks.LeastVelocity(joints=r.joints[3:5]),
    "box": lambda r, s: constraints.Box(r.hand("left"), (0.1, -0.2, 0.3), (0.2, 0.3, 0.5)),
    "polyhedron": lambda r, s: constraints.Polyhedron(
        r.hand("left"), np.array([[1, 1, 0], [-1, 0, 2], [0, -1, -1.0]]), np.array([0.1, 0.2, 0.3])
    ),
    "half space": lambda r, s: constraints.HalfSpace(r.hand("left"), normal=(1, 2, -2), offset=0.3),
    "half space of the center of mass": lambda r, s: constraints.HalfSpace(None, normal=(1, 2, -2), offset=0.3),
    "center of mass inside": lambda r, s: constraints.CenterOfMassInside(polygon=s.support_polygon),
    "self-collision": lambda r, s: constraints.SelfCollision(
        r, pairs=[(r.hand("left"), r.chest), (r.hand("left"), r.hand("right")), (r.foot("left"), r.foot("right"))]
    ),
    "obstacle distance": lambda r, s: constraints.ObstacleDistance(
        r, [constraints.Obstacle.ball(0.05, s.pose(r.hand("left")).translation + np.array([0.3, 0.1, 0.2]))], rows=4
    ),
    "static torque limit": lambda r, s: constraints.StaticTorqueLimit(r, r.foot("right"), r.joints[:8], scale=0.9),
    "pinned contact": lambda r, s: constraints.PinnedContact(r.foot("left")),
    "rigid contact": lambda r, s: constraints.RigidContact(r.foot("right"), at=s),
    "rigid contact of a point": lambda r, s: constraints.RigidContact(example_contacts(r)["point"], at=s),
    "rigid contact of a triangle": lambda r, s: constraints.RigidContact(example_contacts(r)["triangle"], at=s),
    "no penetration": lambda r, s: constraints.NonPenetration(r.foot("left")),
    "no penetration of a slope": lambda r, s: constraints.NonPenetration(
        example_contacts(r)["triangle"], (0.3, -0.2, 1)
    ),
}

#: Limits that compute their own bounds.
LIMIT_TASKS: dict[str, TaskFactory] = {
    "joint range": lambda r, s: constraints.JointRange(r),
    "joint speed": lambda r, s: constraints.JointSpeed(r),
    "joint acceleration": lambda r, s: constraints.JointAcceleration(r),
    "joint range of some": lambda r, s: constraints.JointRange(r, joints=r.joints[4:9]),
}

#: Tasks on forces and torques, which have no rows without forces; `conformance/test_force_tasks.py` has the definition
#: of each.
FORCE_TASKS: dict[str, TaskFactory] = {
    "equation of motion": lambda r, s: constraints.EquationOfMotion(tuple(example_contacts(r).values())),
    "torque limit": lambda r, s: constraints.TorqueLimit(r, scale=0.8),
    "torque limit of some": lambda r, s: constraints.TorqueLimit(r, joints=[r.joints[9], r.joints[3]]),
    "joint torque": lambda r, s: tasks.JointTorque(),
    "joint torque of some": lambda r, s: tasks.JointTorque([r.joints[9], r.joints[3]], target=(2.0, -1.0)),
    "contact force": lambda r, s: tasks.ContactForce(example_contacts(r)["wrench"], (3.0, -4.0, 50.0)),
    "contact force of a point": lambda r, s: tasks.ContactForce(
        example_contacts(r)["point"], (3.0, 4.0, 5.0), axes="zx"
    ),
    "contact wrench": lambda r, s: tasks.ContactForce(example_contacts(r)["vertices"], (1.0, 2.0, 3.0, 4.0, 5.0, 6.0)),
    "center of pressure": lambda r, s: tasks.CenterOfPressure(example_contacts(r)["wrench"], (0.02, -0.01)),
    "center of pressure of vertices": lambda r, s: tasks.CenterOfPressure(example_contacts(r)["vertices"], (0.02, 0.0)),
    "force distribution": lambda r, s: tasks.ForceDistribution(
        [example_contacts(r)[name] for name in ("wrench", "vertices", "point")], shares=(3, 1, 1)
    ),
    "normal force": lambda r, s: constraints.NormalForces(example_contacts(r)["wrench"]),
    "normal forces of vertices": lambda r, s: constraints.NormalForces(example_contacts(r)["vertices"]),
    "normal forces of normals": lambda r, s: constraints.NormalForces(example_contacts(r)["normals"]),
    "planar contact": lambda r, s: constraints.PlanarContact(example_contacts(r)["normals"]),
    "friction": lambda r, s: constraints.FrictionCone(example_contacts(r)["wrench"]),
    "friction of normals": lambda r, s: constraints.FrictionCone(example_contacts(r)["normals"]),
    "friction of vertices": lambda r, s: constraints.FrictionCone(example_contacts(r)["triangle"]),
    "friction of a point": lambda r, s: constraints.FrictionCone(example_contacts(r)["point"]),
    "wrench cone": lambda r, s: constraints.WrenchCone(example_contacts(r)["wrench"]),
    "wrench cone of normals": lambda r, s: constraints.WrenchCone(example_contacts(r)["normals"]),
    "wrench cone of vertices": lambda r, s: constraints.WrenchCone(example_contacts(r)["vertices"]),
}
