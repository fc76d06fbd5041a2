"""Torques, accelerations and contact forces of a command satisfy the equations of motion of MuJoCo and pinocchio."""

from collections.abc import Sequence

import mujoco
import numpy as np
import pinocchio
import pytest

from contact_states import example_contacts, forward_dynamics, inverse_dynamics
from poise import constraints, tasks
from poise.control import Command, TorqueController
from poise.hierarchy import Hierarchy, Level
from poise.plants import MujocoPlant
from poise.plants.engine.robot_model import CoordinateMap
from poise.robots import State
from poise.state import Contact
from robot_states import installed_robot, not_none, random_state

ROBOTS = pytest.mark.parametrize("name", ["g1", "talos"])
SEEDS = pytest.mark.parametrize("seed", range(4))
UP = np.array([0.0, 0.0, 3.0])


def floating(name: str, seed: int, contacts: Sequence[Contact] = ()) -> State:
    """A random state high above the ground, with joints inside their ranges and all moving."""
    robot = installed_robot(name)
    state = random_state(robot, seed)
    q = state.q.copy()
    q[:3] += UP
    q[7:] = np.clip(q[7:], robot.limits.lower + 1e-3, robot.limits.upper - 1e-3)
    return state.replace(q=q, v=0.5 * state.v, contacts=[contact.frame for contact in contacts])


def unmet_hierarchy(state: State, contacts: Sequence[Contact] = ()) -> Hierarchy:
    """Contacts at rest, another hand position, the body upright: no task is met at the start."""
    robot = state.robot
    hand = robot.hand("right")
    levels = [
        Level("reach", [tasks.Position(hand, state.pose(hand).translation + 0.1)]),
        Level("chest", [tasks.Orientation(not_none(robot.chest), np.eye(3))]),
        Level("posture", [tasks.Posture(robot.stance("standing"))]),
    ]
    if contacts:
        levels.insert(0, Level("contact", [constraints.RigidContact(contact) for contact in contacts]))
    return Hierarchy([constraints.JointRange(robot)], levels)


def command_for(state: State, contacts: Sequence[Contact] = ()) -> Command:
    command = TorqueController(unmet_hierarchy(state, contacts)).step(state)
    assert command.fallback == ""
    assert (np.abs(not_none(command.torque)) <= state.robot.limits.torque).all()
    assert np.abs(not_none(command.acceleration)).max() > 1.0, "the robot moves"
    return command


class ReferenceDynamics:
    """The robot in MuJoCo, high up, at one state, with the forces of a command."""

    def __init__(self, state: State, command: Command) -> None:
        plant = MujocoPlant(state)
        self.model, self.data, self.state = plant.model, plant.data, state
        self.coordinates = CoordinateMap(state.robot, self.model)
        self.coordinates.write(state.q, state.v, self.data)
        mujoco.mj_forward(self.model, self.data)
        assert self.data.ncon == 0
        assert self.data.nefc == 0, "neither ground nor joint stops are in contact"
        self.data.qfrc_applied[:] = 0.0
        forces = command.forces
        for name, wrench, point in zip(
            not_none(forces).names, not_none(forces).wrenches, not_none(forces).points, strict=True
        ):
            body = self.model.body(state.robot.model.names[state.robot.frames[name].joint]).id
            mujoco.mj_applyFT(self.model, self.data, wrench[:3], wrench[3:], point, body, self.data.qfrc_applied)

    def acceleration(self, torque: np.ndarray) -> np.ndarray:
        """v̇ in pinocchio's coordinates, by MuJoCo's forward dynamics."""
        self.data.ctrl[:] = torque
        mujoco.mj_forward(self.model, self.data)
        a = self.data.qacc[self.coordinates.dofs].copy()
        R, v, w = self._base()
        a[:3] = R.T @ a[:3] - np.cross(w, v)
        return a

    def generalised_forces(self, acceleration: np.ndarray) -> np.ndarray:
        """Forces that pinocchio's accelerations need beyond the applied ones, by MuJoCo's inverse dynamics."""
        a = acceleration.copy()
        R, v, w = self._base()
        a[:3] = R @ (a[:3] + np.cross(w, v))
        self.data.qacc[self.coordinates.dofs] = a
        mujoco.mj_inverse(self.model, self.data)
        return (self.data.qfrc_inverse - self.data.qfrc_applied)[self.coordinates.dofs]

    def _base(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        return pinocchio.Quaternion(self.state.q[3:7]).matrix(), self.state.v[:3], self.state.v[3:6]


@ROBOTS
@SEEDS
def test_without_contact_the_torques_make_the_accelerations_in_mujoco(name: str, seed: int) -> None:
    state = floating(name, seed)
    command = command_for(state)
    assert len(not_none(command.forces).names) == 0
    found = ReferenceDynamics(state, command).acceleration(not_none(command.torque))
    assert found == pytest.approx(command.acceleration, abs=1e-6)


@ROBOTS
@SEEDS
def test_without_contact_the_accelerations_take_the_torques_in_mujoco(name: str, seed: int) -> None:
    state = floating(name, seed)
    command = command_for(state)
    found = ReferenceDynamics(state, command).generalised_forces(not_none(command.acceleration))
    assert found[:6] == pytest.approx(0.0, abs=1e-6)
    assert found[6:] == pytest.approx(command.torque, abs=1e-6)


KINDS = {
    "both feet": ("wrench", "vertices"),
    "feet by normals": ("wrench", "normals"),
    "one foot and a hand": ("wrench", "point"),
    "feet, hand and chest": ("wrench", "vertices", "point", "triangle"),
}


@ROBOTS
@SEEDS
@pytest.mark.parametrize("kinds", KINDS)
def test_torques_and_contact_forces_make_the_accelerations(name: str, seed: int, kinds: str) -> None:
    """In MuJoCo and in pinocchio, with the forces applied from outside instead of by a ground."""
    contacts = [example_contacts(installed_robot(name))[kind] for kind in KINDS[kinds]]
    state = floating(name, seed, contacts)
    contacts = [Contact(c.frame, c.corners, c.frame_from_contact.rotation[:, 2], forces=c.forces) for c in contacts]
    command = command_for(state, contacts)
    assert np.abs(not_none(command.forces).wrenches).max() > 1.0, "contacts push"
    assert ReferenceDynamics(state, command).acceleration(not_none(command.torque)) == pytest.approx(
        command.acceleration, abs=1e-6
    )
    wrenches = {
        contact: in_contact_axes(state, contact, not_none(command.forces)[contact.name]) for contact in contacts
    }
    assert forward_dynamics(state, not_none(command.torque), wrenches) == pytest.approx(command.acceleration, abs=1e-6)
    tau = inverse_dynamics(state, not_none(command.acceleration), wrenches)
    assert tau == pytest.approx(np.concatenate([np.zeros(6), command.torque]), abs=1e-7)


def in_contact_axes(state: State, contact: Contact, wrench: np.ndarray) -> np.ndarray:
    """A wrench of the world, about the same point, in the axes of its contact."""
    R = (state.pose(contact.frame) * contact.frame_from_contact).rotation
    return np.concatenate([R.T @ wrench[:3], R.T @ wrench[3:]])


@ROBOTS
def test_motors_do_the_work_that_the_energy_gains(name: str) -> None:
    """Over a motion in the air in MuJoCo: the change of kinetic and potential energy is the integral of τᵀ q̇."""
    start = floating(name, 5)
    start = start.replace(v=np.zeros_like(start.v))
    plant, controller = MujocoPlant(start, period=2e-4), TorqueController(unmet_hierarchy(start), period=2e-4)
    plant.model.opt.integrator = mujoco.mjtIntegrator.mjINT_RK4  # error of the Euler integration: g T t / 2
    work = exchanged = 0.0
    for _ in range(500):
        before = plant.state()
        command = controller.step(before)
        plant.apply(command)
        plant.advance()
        done = float(controller.period * not_none(command.torque) @ (0.5 * (before.v + plant.state().v))[6:])
        work, exchanged = work + done, exchanged + abs(done)
    assert work == pytest.approx(energy(plant.state()) - energy(start), abs=0.01 * exchanged)
    assert exchanged > 0.1, "motors work"


def energy(state: State) -> float:
    """Kinetic and potential, in J."""
    model, data = state.robot.model, state.robot.model.createData()
    kinetic = pinocchio.computeKineticEnergy(model, data, state.q, state.v)
    return kinetic + pinocchio.computePotentialEnergy(model, data, state.q)
