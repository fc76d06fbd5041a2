"""Contact forces of a controller: they carry the weight, lie in their cones, and agree with those of MuJoCo."""

from collections.abc import Sequence
from functools import cache

import numpy as np
import pytest
from standing_hierarchies import TILT, AcceleratingTarget, feet, stance_on_two_planes, standing

from contact_states import forward_dynamics
from poise import constraints, tasks
from poise.control import Command, TorqueController
from poise.hierarchy import Hierarchy, Level
from poise.plants import MujocoPlant, Plate, steps
from poise.robots import State
from poise.state import Contact
from robot_states import installed_robot, not_none

ROBOTS = pytest.mark.parametrize("name", ["g1", "talos"])
ALL = pytest.mark.parametrize("name", ["g1", "talos", "romeo", "icub"])


@cache
def two_planes(name: str) -> tuple[State, tuple[Contact, ...]]:
    return stance_on_two_planes(installed_robot(name))


def balance_of_forces(state: State, command: Command) -> np.ndarray:
    """Force and moment about the center of mass of all contacts and the weight (N, N m)."""
    forces, weight = command.forces, state.robot.mass * np.array([0.0, 0.0, -9.81])
    moments = (
        np.cross(not_none(forces).points - state.center_of_mass, not_none(forces).wrenches[:, :3])
        + not_none(forces).wrenches[:, 3:]
    )
    return np.concatenate([not_none(forces).total + weight, moments.sum(axis=0)])


def inside_its_cone(state: State, contact: Contact, command: Command) -> bool:
    """It pushes, friction holds it, and its center of pressure lies in its polygon."""
    R = (state.pose(contact.frame) * contact.frame_from_contact).rotation
    f, m = (R.T @ part for part in np.split(not_none(command.forces)[contact.name], 2))
    if not (f[2] >= -1e-9 and np.hypot(f[0], f[1]) <= contact.friction * f[2] + 1e-9):
        return False
    return contact.point_like or bool(
        (np.abs([-m[1], m[0]]) <= f[2] * np.abs(contact.outline).max(axis=0) + 1e-9).all()
    )


@ALL
def test_at_rest_the_forces_sum_to_the_weight(name: str) -> None:
    start = installed_robot(name).stance("standing")
    command = TorqueController(standing(start)).step(start)
    assert command.fallback == ""
    assert command.acceleration == pytest.approx(0.0, abs=1e-9)
    assert balance_of_forces(start, command) == pytest.approx(0.0, abs=1e-6)
    assert all(inside_its_cone(start, contact, command) for contact in feet(start.robot))
    left, right = not_none(command.forces).wrenches
    assert left[2] == pytest.approx(right[2], rel=1e-3), "no task loads one foot more"


@ALL
def test_at_rest_the_torques_are_those_of_statics(name: str) -> None:
    """τ = g_a - Σ J_caᵀ φ_c: the virtual work of all forces vanishes for every motion of the joints."""
    start = installed_robot(name).stance("standing")
    command = TorqueController(standing(start)).step(start)
    wrenches = {
        contact: not_none(command.forces)[contact.name] for contact in feet(start.robot)
    }  # level soles: axes of the world
    assert forward_dynamics(start, not_none(command.torque), wrenches) == pytest.approx(0.0, abs=1e-6)


@ROBOTS
@pytest.mark.parametrize("count", [1, 2, 3])
def test_any_number_of_contacts_on_different_planes_carries_the_weight(name: str, count: int) -> None:
    start, contacts = two_planes(name)
    chosen = contacts[:count]
    if count == 1:  # above the left foot, otherwise it would fall
        start = installed_robot(name).stance("standing")
    hierarchy = standing(start.replace(contacts=[c.frame for c in chosen]), chosen)
    command = TorqueController(hierarchy).step(start.replace(contacts=[c.frame for c in chosen]))
    assert command.fallback == ""
    assert all(inside_its_cone(start, contact, command) for contact in chosen)
    contact_slack = not_none(command.solution).slack[2]
    assert contact_slack == pytest.approx(0.0, abs=1e-9), "no contact moves"
    if count > 1:
        assert command.acceleration == pytest.approx(0.0, abs=1e-9)
        assert balance_of_forces(start, command) == pytest.approx(0.0, abs=1e-6)


@ROBOTS
def test_plate_and_wall_have_their_given_inclinations(name: str) -> None:
    start, (_, plate, wall) = two_planes(name)
    normals = [(start.pose(c.frame) * c.frame_from_contact).rotation[:, 2] for c in (plate, wall)]
    assert np.arccos(normals[0][2]) == pytest.approx(TILT, abs=1e-4)
    assert normals[1] == pytest.approx([0.0, -1.0, 0.0], abs=1e-9)


@ROBOTS
def test_forces_on_two_planes_and_a_wall_are_those_of_mujoco(name: str) -> None:
    """At rest, after two seconds, within a tenth of the smallest force; commonly within a thirtieth."""
    start, contacts = two_planes(name)
    _, right, hand = start.contacts
    plate = Plate.at_frame(start, right, size=(0.15, 0.35))
    plant = MujocoPlant(start, objects=[plate, Plate.at_frame(start, hand, normal=(0, -1, 0))])
    *_, last = steps(TorqueController(standing(start, contacts)), plant, 2.0)
    assert not plant.fallen
    assert np.abs(plant.truth().v).max() < 0.01
    assert last.state.contacts == start.contacts
    for contact in contacts:
        planned, measured = (
            not_none(last.command.forces)[contact.name][:3],
            not_none(last.readings).forces[contact.name][:3],
        )
        assert np.linalg.norm(measured - planned) < 0.1 * np.linalg.norm(planned)


def same_motion(start: State, models: Sequence[Sequence[Contact]], extra: Sequence[Level] = ()) -> list[Command]:
    """Commands with contacts written in different ways, while something moves."""
    hand, commands = start.robot.hand("right"), []
    sinking = tasks.CenterOfMass(AcceleratingTarget(start.center_of_mass, (0.2, 0.0, -1.0)))
    reach_hierarchy = tasks.Position(hand, AcceleratingTarget(start.pose(hand).translation, (1.0, 1.0, 1.0)))
    for contacts in models:
        hierarchy = standing(start, contacts).with_tasks("balance", sinking)
        hierarchy = hierarchy.with_level(Level("reach", [reach_hierarchy]), before="posture")
        for level in extra:
            hierarchy = hierarchy.with_level(level)
        commands.append(TorqueController(hierarchy).step(start))
        assert commands[-1].fallback == ""
        assert not_none(commands[-1].solution).first_damped_level == -1, (
            "singularity damping would apply, and depends on the force model"
        )
    return commands


def with_force_model(contact: Contact, forces: str) -> Contact:
    return Contact(contact.frame, normal=contact.frame_from_contact.rotation[:, 2], forces=forces)  # type: ignore[arg-type]


@ROBOTS
def test_three_ways_to_write_forces_give_the_same_motion_on_one_foot(name: str) -> None:
    """On one foot the accelerations determine the wrench, and with it the torques."""
    start = installed_robot(name).stance("standing")
    start = start.replace(contacts=start.robot.feet[:1])
    foot = Contact(start.robot.foot("left"))
    first, *others = same_motion(start, [[with_force_model(foot, f)] for f in ("wrench", "vertices", "normals")])
    assert np.abs(not_none(first.acceleration)).max() > 1.0
    for other in others:
        assert other.acceleration == pytest.approx(first.acceleration, abs=1e-6)
        assert other.torque == pytest.approx(first.torque, abs=1e-6)
        assert not_none(other.forces).wrenches == pytest.approx(not_none(first.forces).wrenches, abs=1e-6)


@ROBOTS
def test_three_ways_to_write_forces_give_the_same_accelerations_on_two_feet(name: str) -> None:
    """The load share of two feet is free without a task for it; with one, torques agree as well."""
    start = installed_robot(name).stance("standing")
    models = [[with_force_model(foot, f) for foot in feet(start.robot)] for f in ("wrench", "vertices", "normals")]
    first, *others = same_motion(start, models)
    for other in others:
        assert other.acceleration == pytest.approx(first.acceleration, abs=1e-6)
    decided = []
    for contacts in models:
        wrench = tasks.ContactForce(contacts[0], (0.0, 0.0, 0.6 * 9.81 * start.robot.mass, 0.0, 0.0, 0.0))
        decided += same_motion(start, [contacts], [Level("share", [wrench])])
    first, *others = decided
    for other in others:
        assert other.acceleration == pytest.approx(first.acceleration, abs=1e-6)
        assert other.torque == pytest.approx(first.torque, abs=1e-5)
        assert not_none(other.forces).wrenches == pytest.approx(not_none(first.forces).wrenches, abs=1e-5)


def test_contacts_are_those_of_the_state_where_no_task_names_any() -> None:
    robot = installed_robot("g1")
    start = robot.stance("standing")
    bare = Hierarchy(levels=[Level("posture", [tasks.Posture(start)])])
    for parts in (robot.feet, robot.feet[:1], ()):
        command = TorqueController(bare).step(start.replace(contacts=parts))
        assert not_none(command.forces).names == tuple(part.name for part in parts)
    named = Hierarchy(levels=[Level("contact", [constraints.RigidContact(robot.foot("right"))])])
    assert not_none(TorqueController(named).step(start).forces).names == ("right_sole",)
