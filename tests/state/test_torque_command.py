"""Torque command of a solution: torques by the equation of motion, refused if they are not feasible."""

import numpy as np
import pytest

from poise.constraints import EquationOfMotion
from poise.robots import State
from poise.solvers import Lexicographic
from poise.state import Contact, Snapshot, _motion
from poise.tasks import ACCELERATION, Assembly, ForceUnknowns, VariableLayout
from robot_states import installed_robot, random_state

BASE_TOLERANCE, TORQUE_TOLERANCE, PERIOD = 1e-4, 1e-6, 0.002


class CommandCase:
    """A robot on its feet, a random solution of the equation of motion, and the torque command computed from it."""

    def __init__(self, name: str, seed: int) -> None:
        robot = installed_robot(name)
        self.state: State = random_state(robot, seed)
        self.snapshot = Snapshot(robot).at(self.state)
        self.forces = ForceUnknowns(self.snapshot, [Contact(foot) for foot in robot.feet])
        nv = robot.model.nv
        layout = VariableLayout(ACCELERATION, PERIOD, nv, nv + self.forces.size, self.forces)
        assembly = Assembly(self.snapshot, [("physics", [EquationOfMotion()])], layout)
        assembly.write()
        program = assembly.stack.program()
        target = np.random.default_rng(seed).normal(size=program.variables)
        self.x = target + np.linalg.lstsq(program.A, program.lower - program.A @ target, rcond=None)[0]
        self.torque, self.velocity = np.empty(nv - 6), np.empty(nv)
        self.expected = self.forces.generalised_forces(self.x, np.empty(nv))

    def compute(self, x: np.ndarray, limit: np.ndarray) -> bool:
        data = self.snapshot.data
        work = np.zeros(len(self.velocity))
        matrices = data.M, data.nle, self.forces.force_jacobian, work
        command = _motion.TorqueCommand(*matrices, limit, BASE_TOLERANCE, TORQUE_TOLERANCE, PERIOD)
        return command.compute(x, self.state.v, self.torque, self.velocity)


@pytest.fixture(params=[("g1", 0), ("talos", 1)], ids=lambda param: param[0])
def case(request: pytest.FixtureRequest) -> CommandCase:
    return CommandCase(*request.param)


def test_torques_are_those_of_the_equation_of_motion(case: CommandCase) -> None:
    """``(0, τ) = M v̇ + h - Σ J_cᵀ φ_c``, with the wrenches of the contact forces."""
    snapshot, nv = case.snapshot, len(case.velocity)
    assert case.compute(case.x, np.full(nv - 6, np.inf))
    expected = snapshot.mass_matrix @ case.x[:nv] + snapshot.nonlinear_effects
    found = case.forces.forces(case.x)
    for contact, wrench, point in zip(case.forces.contacts, found.wrenches, found.points, strict=True):
        arm = point - snapshot.position(contact.frame)
        moment = wrench[3:] + np.cross(arm, wrench[:3])
        expected -= snapshot.jacobian(contact.frame).T @ np.append(wrench[:3], moment)
    assert expected[:6] == pytest.approx(np.zeros(6), abs=1e-8)
    assert case.torque == pytest.approx(expected[6:], abs=1e-8)


def test_the_velocity_is_that_after_a_period(case: CommandCase) -> None:
    nv = len(case.velocity)
    case.compute(case.x, np.full(nv - 6, np.inf))
    assert case.velocity == pytest.approx(case.state.v + PERIOD * case.x[:nv])


def test_a_torque_at_its_limit_is_clipped_and_one_beyond_is_refused(case: CommandCase) -> None:
    torque = np.abs(case.expected[6:])
    joint = int(np.argmax(torque))
    limit = 2.0 * torque.max() * np.ones_like(torque)
    limit[joint] = torque[joint] / (1.0 + 0.5 * TORQUE_TOLERANCE)
    assert case.compute(case.x, limit)
    assert abs(case.torque[joint]) == limit[joint]
    limit[joint] = torque[joint] / (1.0 + 2.0 * TORQUE_TOLERANCE)
    assert not case.compute(case.x, limit)


@pytest.mark.parametrize("row", range(6))
def test_a_base_that_nothing_holds_is_refused(case: CommandCase, row: int) -> None:
    push = case.x.copy()
    push[row] += 1.0
    assert not case.compute(push, np.full(len(case.torque), np.inf))


@pytest.mark.parametrize("wrong", [np.nan, np.inf, -np.inf, 1e200])
@pytest.mark.parametrize("at", [0, 20, -1])
def test_a_solution_that_is_not_finite_is_refused(case: CommandCase, at: int, wrong: float) -> None:
    x = case.x.copy()
    x[at] = wrong
    assert not case.compute(x, np.full(len(case.torque), np.inf))


def test_a_solution_of_the_solver_is_feasible(case: CommandCase) -> None:
    """A solution of the equation of motion as rows is feasible."""
    nv = len(case.velocity)
    layout = VariableLayout(ACCELERATION, PERIOD, nv, nv + case.forces.size, case.forces)
    assembly = Assembly(case.snapshot, [("physics", [EquationOfMotion()])], layout)
    assembly.write()
    x = Lexicographic().solve(assembly.stack.program()).x
    assert case.compute(x, np.full(nv - 6, np.inf))
