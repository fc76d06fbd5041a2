"""What a solution stands for: torques by the equation of motion, refused where physics does not allow them."""

import numpy as np
import pytest

from poise.constraints import EquationOfMotion
from poise.robots import State
from poise.solvers import Lexicographic
from poise.state import Contact, Snapshot, _motion
from poise.tasks import ACCELERATION, Assembly, ForceUnknowns, VariableLayout
from robot_states import installed_robot, random_state

BASE, SHARE, PERIOD = 1e-4, 1e-6, 0.002


class DecisionCase:
    """A robot on its feet, a random solution that obeys the equation of motion, and what is decided from it."""

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
        wish = np.random.default_rng(seed).normal(size=program.variables)
        self.x = wish + np.linalg.lstsq(program.A, program.lower - program.A @ wish, rcond=None)[0]
        self.torque, self.velocity = np.empty(nv - 6), np.empty(nv)
        self.expected = self.forces.generalised_forces(self.x, np.empty(nv))

    def decide(self, x: np.ndarray, limit: np.ndarray) -> bool:
        data = self.snapshot.data
        work = np.zeros(len(self.velocity))
        decision = _motion.Decision(data.M, data.nle, self.forces.force_jacobian, work, limit, BASE, SHARE, PERIOD)
        return decision.decide(x, self.state.v, self.torque, self.velocity)


@pytest.fixture(params=[("g1", 0), ("talos", 1)], ids=lambda param: param[0])
def decision_case(request: pytest.FixtureRequest) -> DecisionCase:
    return DecisionCase(*request.param)


def test_torques_are_those_of_the_equation_of_motion(decision_case: DecisionCase) -> None:
    """``(0, τ) = M v̇ + h - Σ J_cᵀ φ_c``, with the wrenches that the forces stand for."""
    snapshot, nv = decision_case.snapshot, len(decision_case.velocity)
    assert decision_case.decide(decision_case.x, np.full(nv - 6, np.inf))
    expected = snapshot.mass_matrix @ decision_case.x[:nv] + snapshot.nonlinear_effects
    found = decision_case.forces.forces(decision_case.x)
    for contact, wrench, point in zip(decision_case.forces.contacts, found.wrenches, found.points, strict=True):
        arm = point - snapshot.position(contact.frame)
        moment = wrench[3:] + np.cross(arm, wrench[:3])
        expected -= snapshot.jacobian(contact.frame).T @ np.append(wrench[:3], moment)
    assert expected[:6] == pytest.approx(np.zeros(6), abs=1e-8)
    assert decision_case.torque == pytest.approx(expected[6:], abs=1e-8)


def test_the_velocity_is_that_after_a_period(decision_case: DecisionCase) -> None:
    nv = len(decision_case.velocity)
    decision_case.decide(decision_case.x, np.full(nv - 6, np.inf))
    assert decision_case.velocity == pytest.approx(decision_case.state.v + PERIOD * decision_case.x[:nv])


def test_a_torque_at_its_limit_is_clipped_and_one_beyond_is_refused(decision_case: DecisionCase) -> None:
    torque = np.abs(decision_case.expected[6:])
    joint = int(np.argmax(torque))
    limit = 2.0 * torque.max() * np.ones_like(torque)
    limit[joint] = torque[joint] / (1.0 + 0.5 * SHARE)
    assert decision_case.decide(decision_case.x, limit)
    assert abs(decision_case.torque[joint]) == limit[joint]
    limit[joint] = torque[joint] / (1.0 + 2.0 * SHARE)
    assert not decision_case.decide(decision_case.x, limit)


@pytest.mark.parametrize("row", range(6))
def test_a_base_that_nothing_holds_is_refused(decision_case: DecisionCase, row: int) -> None:
    push = decision_case.x.copy()
    push[row] += 1.0
    assert not decision_case.decide(push, np.full(len(decision_case.torque), np.inf))


@pytest.mark.parametrize("wrong", [np.nan, np.inf, -np.inf, 1e200])
@pytest.mark.parametrize("at", [0, 20, -1])
def test_what_is_not_finite_is_refused(decision_case: DecisionCase, at: int, wrong: float) -> None:
    x = decision_case.x.copy()
    x[at] = wrong
    assert not decision_case.decide(x, np.full(len(decision_case.torque), np.inf))


def test_it_agrees_with_the_solver_about_what_is_possible(decision_case: DecisionCase) -> None:
    """The equation of motion as rows, solved, is one that the decision accepts."""
    nv = len(decision_case.velocity)
    layout = VariableLayout(ACCELERATION, PERIOD, nv, nv + decision_case.forces.size, decision_case.forces)
    assembly = Assembly(decision_case.snapshot, [("physics", [EquationOfMotion()])], layout)
    assembly.write()
    x = Lexicographic().solve(assembly.stack.program()).x
    assert decision_case.decide(x, np.full(nv - 6, np.inf))
