"""Contacts and the meaning of their force variables, computed from the definitions without the code under test."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pinocchio

from poise.robots import Robot, State
from poise.state import Contact, Snapshot
from poise.tasks import ACCELERATION, ForceUnknowns, VariableLayout
from robot_states import not_none

TRIANGLE = np.array([[0.05, 0.0, 0.02], [-0.03, 0.04, 0.02], [-0.03, -0.04, 0.02]])


def example_contacts(robot: Robot) -> dict[str, Contact]:
    """Return one contact of every kind: each force model, on feet, a hand and other frames, with various normals."""
    left, right = robot.feet
    return {
        "wrench": Contact(left, friction=0.6),
        "vertices": Contact(right, forces="vertices", largest_force=900.0),
        "normals": Contact(right, forces="normals", name="right by normals"),
        "triangle": Contact(not_none(robot.chest), TRIANGLE, forces="vertices", friction=0.9),
        "point": Contact(robot.hand("left"), normal=(1.0, -2.0, 0.5), friction=0.5),
    }


def force_layout(snapshot: Snapshot, contacts: Sequence[Contact], period: float = 0.002) -> VariableLayout:
    """Return the variable layout of a controller with forces."""
    forces, nv = ForceUnknowns(snapshot, contacts), snapshot.model.nv
    return VariableLayout(ACCELERATION, period, nv, nv + forces.size, forces)


@dataclass(frozen=True)
class DynamicsSample:
    """Accelerations and forces at a state: corner forces if these are variables, else wrenches, in contact axes."""

    state: State
    acceleration: np.ndarray
    contacts: tuple[Contact, ...]
    unknowns: Mapping[Contact, np.ndarray]

    @property
    def robot(self) -> Robot:
        return self.state.robot

    def corner_forces(self, contact: Contact) -> np.ndarray:
        """Return the forces at the corners (l x 3, N), for contacts with force model "vertices"."""
        assert contact.forces == "vertices"
        return self.unknowns[contact].reshape(-1, 3)

    def normals(self, contact: Contact) -> np.ndarray:
        """Return the normal forces at the corners (N), for contacts with force model "normals" or "vertices"."""
        y = self.unknowns[contact]
        return y[6:] if contact.forces == "normals" else y.reshape(-1, 3)[:, 2]

    def wrench(self, contact: Contact) -> np.ndarray:
        """Return force and moment about the middle of the corners, in contact axes (N, N m)."""
        y = self.unknowns[contact]
        if contact.forces == "vertices":
            R, p = contact.frame_from_contact.rotation, contact.corners.mean(axis=0)
            forces = y.reshape(-1, 3)
            arms = (contact.corners - p) @ R
            return np.concatenate([forces.sum(axis=0), np.cross(arms, forces).sum(axis=0)])
        if contact.forces == "normals":
            return y[:6]
        radius = np.linalg.norm(contact.corners - contact.corners.mean(axis=0), axis=1).max()
        return np.concatenate([y[:3], radius * y[3:]])

    @cached_property
    def generalised_forces(self) -> np.ndarray:
        """Return the forces that the motion needs beyond the contact forces, by pinocchio's recursive Newton-Euler."""
        return inverse_dynamics(self.state, self.acceleration, {c: self.wrench(c) for c in self.contacts})

    @property
    def x(self) -> np.ndarray:
        """Vector of the variables, as in the solver: forces per kg of the robot."""
        return np.concatenate([self.acceleration, *(self.unknowns[c] / self.robot.mass for c in self.contacts)])


def random_dynamics_sample(state: State, contacts: Sequence[Contact], seed: int) -> DynamicsSample:
    """Return random accelerations and forces, of the size of the robot's weight; they need not be feasible."""
    random = np.random.default_rng(seed)
    weight = 9.81 * state.robot.mass
    unknowns = {contact: random.normal(0.0, weight, (contact.size,)) for contact in contacts}
    return DynamicsSample(state, random.normal(0.0, 5.0, state.robot.model.nv), tuple(contacts), unknowns)


def joint_forces(state: State, wrenches: Mapping[Contact, np.ndarray]) -> pinocchio.StdVec_Force:
    """Convert wrenches in contact axes to external forces on every body, in the axes of its joint."""
    model = state.robot.model
    forces = [pinocchio.Force.Zero() for _ in range(model.njoints)]
    for contact, wrench in wrenches.items():
        frame = contact.frame
        joint_from_contact = model.frames[frame.index].placement * contact.frame_from_contact
        forces[frame.joint] += joint_from_contact.act(pinocchio.Force(wrench))
    return pinocchio.StdVec_Force(forces)


def inverse_dynamics(state: State, acceleration: np.ndarray, wrenches: Mapping[Contact, np.ndarray]) -> np.ndarray:
    """Return ``M v̇ + h - Σ J_cᵀ φ_c``, computed by pinocchio."""
    model = state.robot.model
    return pinocchio.rnea(model, model.createData(), state.q, state.v, acceleration, joint_forces(state, wrenches))


def forward_dynamics(state: State, torque: np.ndarray, wrenches: Mapping[Contact, np.ndarray]) -> np.ndarray:
    """Return v̇ caused by joint torques and contact wrenches, computed by pinocchio."""
    model = state.robot.model
    tau = np.concatenate([np.zeros(6), torque])
    return pinocchio.aba(model, model.createData(), state.q, state.v, tau, joint_forces(state, wrenches))
