"""Every task on forces or torques: its rows against its definition, at random states, accelerations and forces."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from contact_states import DynamicsSample, example_contacts, force_layout, random_dynamics_sample
from poise import constraints, tasks
from poise.robots import Robot, load_robot
from poise.state import DYNAMICS, FRAMES, Snapshot
from poise.tasks import ACCELERATION, VELOCITY
from robot_states import layout, not_none, random_state
from task_examples import FORCE_TASKS

#: Value of a row, and its lower and upper bounds.
Values = tuple[np.ndarray, np.ndarray | float, np.ndarray | float]
Definition = Callable[[Any, DynamicsSample], Values]


@pytest.fixture(scope="module", params=["g1", "talos"])
def robot(request: pytest.FixtureRequest) -> Robot:
    return load_robot(request.param)


def equation_of_motion(task: constraints.EquationOfMotion, at: DynamicsSample) -> Values:
    """No motor drives the base."""
    return at.generalised_forces[:6] / at.robot.mass, 0.0, 0.0


def torque_limit(task: constraints.TorqueLimit, at: DynamicsSample) -> Values:
    scale = 0.8 if task.joints == at.robot.joints else 1.0
    limit = np.array([scale * at.robot.limits.torque[joint.v - 6] for joint in task.joints])
    return at.generalised_forces[[joint.v for joint in task.joints]], -limit, limit


def joint_torque(task: tasks.JointTorque, at: DynamicsSample) -> Values:
    joints, target = (at.robot.joints, 0.0) if task.joints is None else (task.joints, np.array([2.0, -1.0]))
    return at.generalised_forces[[joint.v for joint in joints]], target, target


def contact_force(task: tasks.ContactForce, at: DynamicsSample) -> Values:
    targets = {"wrench": (3.0, -4.0, 50.0), "point": (5.0, 3.0), "vertices": (1.0, 2.0, 3.0, 4.0, 5.0, 6.0)}
    (kind,) = (kind for kind, contact in example_contacts(at.robot).items() if contact == task.contact)
    picked = {"wrench": [0, 1, 2], "point": [2, 0], "vertices": list(range(6))}[kind]
    return at.wrench(task.contact)[picked], np.array(targets[kind]), np.array(targets[kind])


def center_of_pressure(task: tasks.CenterOfPressure, at: DynamicsSample) -> Values:
    """Normal force times the deviation of the center of pressure from its target."""
    f, m = np.split(at.wrench(task.contact), 2)
    pressure = np.array([-m[1], m[0]]) / f[2]
    return f[2] * (pressure - task.target), 0.0, 0.0


def force_distribution(task: tasks.ForceDistribution, at: DynamicsSample) -> Values:
    normal = np.array([at.wrench(contact)[2] for contact in task.contacts()])
    return normal - np.array([0.6, 0.2, 0.2]) * normal.sum(), 0.0, 0.0


def normal_forces(task: constraints.NormalForces, at: DynamicsSample) -> Values:
    """Per kg, since the rows are single unknowns; the corners share the maximum force of the contact."""
    whole = task.contact.forces == "wrench"
    normal = at.wrench(task.contact)[2:3] if whole else at.normals(task.contact)
    return normal / at.robot.mass, 0.0, task.contact.largest_force / len(normal) / at.robot.mass


def planar_contact(task: constraints.PlanarContact, at: DynamicsSample) -> Values:
    """The wrench of the normal forces minus the contact wrench, in the components that normal forces can produce."""
    contact = task.contact
    arms = (contact.corners - contact.corners.mean(axis=0)) @ contact.frame_from_contact.rotation
    pushes = at.normals(contact)[:, None] * np.array([0.0, 0.0, 1.0])
    wrench = np.concatenate([pushes.sum(axis=0), np.cross(arms, pushes).sum(axis=0)])
    return (wrench - at.wrench(contact))[[2, 3, 4]], 0.0, 0.0


def friction(task: constraints.FrictionCone, at: DynamicsSample) -> Values:
    contact, slope = task.contact, task.contact.friction / np.sqrt(2.0)
    forces = at.corner_forces(contact) if contact.forces == "vertices" else at.wrench(contact)[None, :3]
    room = [slope * f[2] + side * f[axis] for f in forces for axis in (0, 1) for side in (1.0, -1.0)]
    return np.array(room), 0.0, np.inf


def wrench_cone(task: constraints.WrenchCone, at: DynamicsSample) -> Values:
    """The formulas of the docstring, with every absolute value written out."""
    (fx, fy, fz), (mx, my, mz) = np.split(at.wrench(task.contact), 2)
    corners, mu = task.contact.corners, task.contact.friction / np.sqrt(2.0)
    X, Y = np.ptp(corners[:, 0]) / 2, np.ptp(corners[:, 1]) / 2
    room = [mu * fz + fx, mu * fz - fx, mu * fz + fy, mu * fz - fy, Y * fz - mx, Y * fz + mx, X * fz + my, X * fz - my]
    signs = [(a, b) for a in (1.0, -1.0) for b in (1.0, -1.0)]
    room += [mz - (-mu * (X + Y) * fz + a * (Y * fx - mu * mx) + b * (X * fy - mu * my)) for a, b in signs]
    room += [mu * (X + Y) * fz - a * (Y * fx + mu * mx) - b * (X * fy + mu * my) - mz for a, b in signs]
    return np.array(room), 0.0, np.inf


DEFINITIONS: dict[type, Definition] = {
    constraints.EquationOfMotion: equation_of_motion,
    constraints.TorqueLimit: torque_limit,
    constraints.NormalForces: normal_forces,
    constraints.PlanarContact: planar_contact,
    constraints.FrictionCone: friction,
    constraints.WrenchCone: wrench_cone,
    tasks.JointTorque: joint_torque,
    tasks.ContactForce: contact_force,
    tasks.CenterOfPressure: center_of_pressure,
    tasks.ForceDistribution: force_distribution,
}


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", FORCE_TASKS)
def test_the_rows_are_the_definition_of_the_task(robot: Robot, name: str, seed: int) -> None:
    state = random_state(robot, seed)
    task, contacts = FORCE_TASKS[name](robot, state), tuple(example_contacts(robot).values())
    snapshot = Snapshot(robot).at(state)
    rows = task.rows(snapshot, force_layout(snapshot, contacts))
    at = random_dynamics_sample(state, contacts, seed + 20)
    value, low, high = DEFINITIONS[type(task)](task, at)
    assert len(rows) == len(task.labels(robot)) == len(value)
    size = max(1.0, np.abs(value).max())
    for bound, target in ((rows.lower, low), (rows.upper, high)):
        target = np.broadcast_to(target, value.shape)
        free = np.isinf(target)
        assert (bound[free] == target[free]).all()
        assert (rows.A @ at.x - bound)[~free] / size == pytest.approx((value - target)[~free] / size, abs=1e-11)


@pytest.mark.parametrize("order", [VELOCITY, ACCELERATION])
@pytest.mark.parametrize("name", FORCE_TASKS)
def test_without_forces_its_rows_are_inactive(robot: Robot, name: str, order: int) -> None:
    state = random_state(robot, 4)
    rows = FORCE_TASKS[name](robot, state).rows(Snapshot(robot).at(state), layout(robot, order))
    assert not rows.A.any()
    assert (rows.lower == -np.inf).all()
    assert (rows.upper == np.inf).all()


@pytest.mark.parametrize("name", FORCE_TASKS)
def test_it_reports_its_name_unit_and_contacts(robot: Robot, name: str) -> None:
    task = FORCE_TASKS[name](robot, robot.stance("standing"))
    assert task.name
    assert task.unit
    assert len(set(task.labels(robot))) == len(task.labels(robot))
    assert {contact.frame for contact in task.contacts()} >= set(task.frames())
    assert all(frame.robot_name == robot.name for frame in task.frames())


def test_every_kind_of_force_task_has_a_definition(robot: Robot) -> None:
    assert {type(make(robot, robot.stance("standing"))) for make in FORCE_TASKS.values()} == set(DEFINITIONS)


@pytest.mark.parametrize("seed", range(3))
def test_wrenches_in_the_world_are_those_of_the_unknowns(robot: Robot, seed: int) -> None:
    state, contacts = random_state(robot, seed), tuple(example_contacts(robot).values())
    snapshot = Snapshot(robot).at(state)
    layout = force_layout(snapshot, contacts)
    snapshot.compute(FRAMES)
    at = random_dynamics_sample(state, contacts, seed)
    found = not_none(layout.forces).forces(at.x)
    for contact, wrench, point in zip(contacts, found.wrenches, found.points, strict=True):
        world_from_contact = state.pose(contact.frame) * contact.frame_from_contact
        assert point == pytest.approx(state.pose(contact.frame).act(contact.corners.mean(axis=0)), abs=1e-12)
        turned = world_from_contact.rotation @ at.wrench(contact).reshape(2, 3).T
        assert wrench == pytest.approx(turned.T.ravel(), abs=1e-9)
        assert found[contact.name] == pytest.approx(wrench)
    assert found.total == pytest.approx(found.wrenches[:, :3].sum(axis=0))


@pytest.mark.parametrize("seed", range(3))
def test_generalised_forces_are_those_of_pinocchio(robot: Robot, seed: int) -> None:
    """M v̇ + h - Σ J_cᵀ φ_c, the left side by our mass matrix and Jacobians, the right by recursion."""
    state, contacts = random_state(robot, seed), tuple(example_contacts(robot).values())
    snapshot = Snapshot(robot).at(state)
    forces = force_layout(snapshot, contacts).forces
    at = random_dynamics_sample(state, contacts, seed)
    snapshot.compute(DYNAMICS)
    not_none(forces).write()
    found = not_none(forces).generalised_forces(at.x, np.zeros(robot.model.nv))
    assert found == pytest.approx(at.generalised_forces, abs=1e-9 * np.abs(at.generalised_forces).max())
