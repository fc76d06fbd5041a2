"""[Galdeano2014] equations (1) to (20), both sides of each, on HOAP-3.

Three things differ in form from the paper, without an effect on the motion:

- the paper's errors are desired minus present, ours present minus desired: ``ε = -e``;
- the paper leaves the rate at which an error is to vanish to the drives, ours is in the task: ``ė = -g e``;
- we have six more unknowns, the velocity of the base. Their columns are zero, since all tasks are relative to a foot.
"""

import numpy as np
import pinocchio
import pytest

from poise import tasks
from poise.behaviors import SoleLoad, ZmpBalance, ZmpBalanceSettings, regulation_settings, zmp_error
from poise.behaviors.zmp_balance import ZmpBalanceTasks
from poise.behaviors.zmp_regulation import ZmpRegulator
from poise.control import KinematicController
from poise.geometry import so3
from poise.hierarchy import Hierarchy, Level
from poise.robots import State
from poise.solvers import NullSpace
from poise.state import Snapshot, sole_pressure
from robot_states import installed_robot
from zmp_balance_runs import PERIOD, cell_forces, observe_cells

HOAP3 = installed_robot("hoap3")
LEFT, RIGHT = HOAP3.foot("left"), HOAP3.foot("right")
SEEDS = pytest.mark.parametrize("seed", range(6))
#: As NullSpace has it; the projectors of (18) and (20) have singular values of exactly zero and one.
RANK = 1e-9


def posture(seed: int) -> State:
    """Random joint angles in the inner four fifths of their ranges, with a random base pose."""
    random = np.random.default_rng(seed)
    low, high = HOAP3.limits.lower, HOAP3.limits.upper
    base = pinocchio.SE3(so3.exp(random.normal(0.0, 0.5, 3)), random.normal(0.0, 1.0, 3))
    joints = low + (high - low) * random.uniform(0.1, 0.9, len(low))
    return State(HOAP3, np.concatenate([pinocchio.SE3ToXYZQUAT(base), joints]))


def with_angle_change(state: State, change: np.ndarray) -> State:
    """The state with changed joint angles."""
    return state.replace(q=np.concatenate([state.q[:7], state.q[7:] + change]))


def left_from_right(state: State) -> pinocchio.SE3:
    """By pinocchio alone."""
    model, data = HOAP3.model, HOAP3.model.createData()
    pinocchio.framesForwardKinematics(model, data, state.q)
    return data.oMf[LEFT.index].actInv(data.oMf[RIGHT.index])


def center_from_left_foot(state: State) -> np.ndarray:
    """CoM in the coordinates of the reference foot, by pinocchio alone."""
    model, data = HOAP3.model, HOAP3.model.createData()
    c = pinocchio.centerOfMass(model, data, state.q)
    pinocchio.framesForwardKinematics(model, data, state.q)
    return data.oMf[LEFT.index].actInv(c)


def logarithm(R: np.ndarray) -> np.ndarray:
    """ω = (ln R)ˇ, equations (4) and (5)."""
    theta = np.arccos((R[0, 0] + R[1, 1] + R[2, 2] - 1.0) / 2.0)
    if theta == 0.0:
        return np.zeros(3)
    return theta / (2.0 * np.sin(theta)) * np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]])


def paper_error(present: pinocchio.SE3, desired: pinocchio.SE3) -> np.ndarray:
    """ε_r, equations (1) to (3), with "the reference foot orientation as common reference coordinates": R_lf = I."""
    E_pos = desired.translation - present.translation
    R_rf, R_lf, R_rd = present.rotation, np.eye(3), desired.rotation
    return np.concatenate([E_pos, R_rf @ logarithm(R_rf.T @ R_lf @ R_rd)])


def feet_task(desired: pinocchio.SE3) -> tasks.RelativePose:
    return tasks.RelativePose(RIGHT, reference_frame=LEFT, target=desired)


# -- first task: relative feet pose ------------------------------------------------------------------------------------


@SEEDS
def test_equations_1_and_2_the_error_of_the_relative_feet_pose(seed: int) -> None:
    """ε_r = (E_pos, E_ori) with E_pos = P_rd - P_r and P_r = P_rf - P_lf, in the axes of the reference foot."""
    state, target = posture(seed), left_from_right(posture(seed + 100))
    e = feet_task(target).value(Snapshot(HOAP3).at(state))
    P_lf, P_rf, R_lf = state.pose(LEFT).translation, state.pose(RIGHT).translation, state.pose(LEFT).rotation
    P_r = R_lf.T @ (P_rf - P_lf)
    assert e.shape == (6,)
    assert -e[:3] == pytest.approx(target.translation - P_r, abs=1e-12)
    assert -e == pytest.approx(paper_error(left_from_right(state), target), abs=1e-7)


@SEEDS
def test_equation_3_the_error_of_orientation(seed: int) -> None:
    """E_ori = R_rf (ln(R_rf⁻¹ R_lf R_rd))ˇ: in the axes in which R_rf and R_lf are given."""
    state, target = posture(seed), left_from_right(posture(seed + 100))
    e = feet_task(target).value(Snapshot(HOAP3).at(state))[3:]
    R_lf, R_rf = state.pose(LEFT).rotation, state.pose(RIGHT).rotation
    in_the_world = R_rf @ logarithm(np.linalg.inv(R_rf) @ R_lf @ target.rotation)
    assert R_lf @ -e == pytest.approx(in_the_world, abs=1e-7)


@pytest.mark.parametrize("angle", [0.0, 1e-3, 0.1, 1.0, 2.0, 3.0])
@SEEDS
def test_equations_4_and_5_the_logarithm(angle: float, seed: int) -> None:
    """Against the paper's formula, whose cos⁻¹ loses half of its digits near zero, and the original rotation."""
    axis = np.random.default_rng(seed).normal(size=3)
    w = angle * axis / np.linalg.norm(axis)
    R = so3.exp(w) if angle else np.eye(3)
    assert so3.log(R) == pytest.approx(logarithm(R), abs=1e-6)
    assert so3.log(R) == pytest.approx(w, abs=1e-9)


@SEEDS
def test_equation_6_the_jacobian_of_the_relative_feet_pose(seed: int) -> None:
    """ε_r = J_r ε_q, for errors of the joints that are small: by finite differences of (1) to (3)."""
    state, step = posture(seed), 1e-5
    eps_q = np.random.default_rng(seed).normal(size=28)
    before, after = (left_from_right(with_angle_change(state, s * step * eps_q)) for s in (-0.5, 0.5))
    J = feet_task(left_from_right(state)).jacobian(Snapshot(HOAP3).at(state))
    assert J.shape == (6, 6 + 28)
    assert J[:, :6] == pytest.approx(0.0, abs=1e-12)
    assert J[:, 6:] @ eps_q == pytest.approx(paper_error(before, after) / step, abs=1e-5)


# -- second task: center of mass ---------------------------------------------------------------------------------------


@SEEDS
def test_equation_7_the_error_of_the_center_of_mass(seed: int) -> None:
    """ε_CoM = CoM_d - CoM, "both expressed in the reference foot coordinates"."""
    state, target = posture(seed), center_from_left_foot(posture(seed + 100))
    e = tasks.CenterOfMass(target, frame=LEFT).value(Snapshot(HOAP3).at(state))
    assert -e == pytest.approx(target - center_from_left_foot(state), abs=1e-12)


@SEEDS
def test_equation_8_the_jacobian_of_the_center_of_mass(seed: int) -> None:
    """ε_CoM = J_CoM ε_q, by finite differences."""
    state, step = posture(seed), 1e-5
    eps_q = np.random.default_rng(seed).normal(size=28)
    before, after = (center_from_left_foot(with_angle_change(state, s * step * eps_q)) for s in (-0.5, 0.5))
    J = tasks.CenterOfMass(np.zeros(3), frame=LEFT).jacobian(Snapshot(HOAP3).at(state))
    assert J.shape == (3, 6 + 28)
    assert J[:, :6] == pytest.approx(0.0, abs=1e-12)
    assert J[:, 6:] @ eps_q == pytest.approx((after - before) / step, abs=1e-7)


# -- regulation of the ZMP ---------------------------------------------------------------------------------------------


@SEEDS
def test_equations_9_to_12_the_error_of_the_zmp(seed: int) -> None:
    """ε_ZMP = a dZMP_left + (1 - a) dZMP_right with a = A_left / (A_left + A_right) (a: alpha), of eight cells."""
    random = np.random.default_rng(seed)
    cells = {foot.side: random.uniform(0.0, 20.0, 4) for foot in (LEFT, RIGHT)}
    A, measured, loads = {}, {}, {}
    for foot in (LEFT, RIGHT):
        f = cells[foot.side]
        A[foot.side] = f.sum()
        measured[foot.side] = sum(f[i] * foot.corners[i, :2] for i in range(4)) / f.sum()
        force, zmp = sole_pressure(foot, f)
        loads[foot.side] = SoleLoad(float(force), complex(*zmp))
    desired = np.zeros(2)  # "kept constant at the center of each foot", where HOAP-3 has the frames of its soles
    alpha = A["left"] / (A["left"] + A["right"])
    error = alpha * (desired - measured["left"]) + (1.0 - alpha) * (desired - measured["right"])
    ours = zmp_error(loads["left"], loads["right"])
    assert [ours.real, ours.imag] == pytest.approx(error, abs=1e-15)


@pytest.mark.parametrize("smooth", [0.0, 0.05])
@SEEDS
def test_equation_13_the_proportional_derivative_law(smooth: float, seed: int) -> None:
    """K_p ε + K_d dε/dt, of any history of ε; optionally with a first-order filter, T dε/dt = raw - ε."""
    K_p, K_d = 0.2, 0.03
    numbers = ZmpBalanceSettings(proportional=K_p, derivative=K_d, lateral_scale=1.0, integral=0.0, filter_time=smooth)
    regulator, random = ZmpRegulator(numbers, 0.05), np.random.default_rng(seed)
    before = 0.0
    for raw in random.normal(0.0, 0.02, (50, 2)) @ (1, 1j):
        eps = (smooth * before + PERIOD * raw) / (smooth + PERIOD)  # backward Euler
        assert regulator.step(raw, PERIOD) == pytest.approx(K_p * eps + K_d * (eps - before) / PERIOD, abs=1e-14)
        before = eps


@SEEDS
def test_equation_13_is_the_error_of_the_second_task(seed: int) -> None:
    """ε_CoM&ZMP = ε_CoM + K_p ε_ZMP + K_d dε_ZMP/dt: at rest, after the trust in the cells has risen."""
    random = np.random.default_rng(seed)
    numbers = regulation_settings(
        HOAP3,
        proportional=0.2,
        derivative=0.03,
        lateral_scale=1.0,
        integral=0.0,
        filter_time=0.01,
        momentum_recovery_gain=0.0,
    )
    body = ZmpBalance(HOAP3, settings=numbers, closed_form=True)
    weights, places = 9.81 * HOAP3.mass * np.array([0.6, 0.4]), random.uniform(-0.02, 0.02, (2, 2))
    feet = (LEFT, RIGHT)
    cells = {foot.side: cell_forces(foot, w, z) for foot, w, z in zip(feet, weights, places, strict=True)}
    observe_cells(body, lambda time: cells, 1.0)
    snapshot = Snapshot(HOAP3).at(posture(seed))
    hierarchy = body(snapshot)
    eps_zmp = 0.6 * -places[0] + 0.4 * -places[1]
    eps_com = body.trajectory.sample(0.0).center - center_from_left_foot(posture(seed))
    both = eps_com + np.append(numbers.proportional * eps_zmp, 0.0)  # dε/dt has decayed
    (center,) = hierarchy.levels[1].tasks
    assert -center.value(snapshot) == pytest.approx(both, abs=1e-9)  # type: ignore[attr-defined]


# -- third task: limits of the joints ----------------------------------------------------------------------------------


def comfort_error(q: np.ndarray) -> np.ndarray:
    """ε_q of every joint, equation (15)."""
    high, low = HOAP3.limits.upper, HOAP3.limits.lower
    return 2.0 * (q - 0.5 * (high + low)) / (high - low) ** 2


@SEEDS
def test_equations_14_and_15_the_rate_of_the_remaining_joints(seed: int) -> None:
    """β (ε_q1, ..., ε_qn), downhill: (15) is the gradient of an attractive potential, whose descent is the motion."""
    beta, state = 4.0, posture(seed)
    alone = Hierarchy(levels=[Level("comfort", [tasks.JointComfort(HOAP3, beta)])])
    velocity = KinematicController(alone, NullSpace(), period=PERIOD, ramp=0.0).step(state).velocity
    assert velocity[:6] == pytest.approx(0.0)
    assert velocity[6:] == pytest.approx(-beta * comfort_error(state.q[7:]), abs=1e-12)


@SEEDS
def test_equation_15_is_the_gradient_of_the_potential(seed: int) -> None:
    """U = Σ ((q_i - q_imed) / (q_imax - q_imin))², by finite differences."""
    q, step = posture(seed).q[7:], 1e-6
    high, low = HOAP3.limits.upper, HOAP3.limits.lower

    def U(q: np.ndarray) -> float:
        return float((((q - 0.5 * (high + low)) / (high - low)) ** 2).sum())

    slopes = [(U(q + step * axis) - U(q - step * axis)) / (2.0 * step) for axis in np.eye(28)]
    assert comfort_error(q) == pytest.approx(slopes, abs=1e-7)


# -- control law -------------------------------------------------------------------------------------------------------


def pseudo_inverse(A: np.ndarray) -> np.ndarray:
    return np.linalg.pinv(A, rcond=RANK)


def paper_law(levels: ZmpBalanceTasks, state: State, numbers: ZmpBalanceSettings) -> list[np.ndarray]:
    """ε_q1, ε_q2 and ε_q3 of equations (16) to (20), written out; errors as above, times the rates of our tasks."""
    snapshot = Snapshot(HOAP3).at(state)
    (feet,), (center,) = (level.tasks for level in levels.equalities.levels[:2])
    J_r, J_com = feet.jacobian(snapshot)[:, 6:], center.jacobian(snapshot)[:, 6:]  # type: ignore[attr-defined]
    eps_r = numbers.feet_gain * paper_error(left_from_right(state), levels.feet.value)
    eps_com = numbers.com_gain * (levels.center.value - center_from_left_foot(state))
    eps_joints = -numbers.comfort_gain * comfort_error(state.q[7:])
    identity = np.eye(28)

    eps_q1 = pseudo_inverse(J_r) @ eps_r  # (16)
    P_r = identity - pseudo_inverse(J_r) @ J_r  # (18)
    J_tilde = J_com @ P_r  # (18)
    eps_q2 = eps_q1 + pseudo_inverse(J_tilde) @ (eps_com - J_com @ eps_q1)  # (17)
    P_joints = P_r - pseudo_inverse(J_tilde) @ J_tilde  # (20)
    eps_q3 = eps_q2 + pseudo_inverse(P_joints) @ (eps_joints - eps_q2)  # (19)
    return [eps_q1, eps_q2, eps_q3]


@pytest.fixture(scope="module")
def example_tasks() -> tuple[ZmpBalanceTasks, ZmpBalanceSettings]:
    """The three levels, with references far from a random posture."""
    numbers = regulation_settings(HOAP3, momentum_recovery_gain=0.0, comfort_posture="middle")
    return ZmpBalanceTasks(HOAP3, HOAP3.stance("standing"), numbers, carries=False), numbers


@pytest.mark.parametrize("count", [1, 2, 3], ids=["equation 16", "equations 17 and 18", "equations 19 and 20"])
@SEEDS
def test_the_recursive_law_is_the_answer_of_null_space(
    example_tasks: tuple[ZmpBalanceTasks, ZmpBalanceSettings], seed: int, count: int
) -> None:
    levels, numbers = example_tasks
    state = posture(seed)
    first = Hierarchy(levels=levels.equalities.levels[:count])
    command = KinematicController(first, NullSpace(), period=PERIOD, ramp=0.0).step(state)
    expected = paper_law(levels, state, numbers)[count - 1]
    assert command.fallback == ""
    assert command.velocity[:6] == pytest.approx(0.0, abs=1e-9)
    assert command.velocity[6:] == pytest.approx(expected, abs=1e-6 * np.abs(expected).max())


@SEEDS
def test_each_equation_of_the_law_changes_nothing_of_those_before(
    example_tasks: tuple[ZmpBalanceTasks, ZmpBalanceSettings], seed: int
) -> None:
    """The term added by (17) moves no foot, and that added by (19) moves neither feet nor center of mass."""
    levels, numbers = example_tasks
    state = posture(seed)
    snapshot = Snapshot(HOAP3).at(state)
    (feet,), (center,) = (level.tasks for level in levels.equalities.levels[:2])
    J_r, J_com = feet.jacobian(snapshot)[:, 6:], center.jacobian(snapshot)[:, 6:]  # type: ignore[attr-defined]
    q1, q2, q3 = paper_law(levels, state, numbers)
    size = 1e-9 * max(1.0, np.abs(q3).max())
    assert J_r @ q2 == pytest.approx(J_r @ q1, abs=size)
    assert J_r @ q3 == pytest.approx(J_r @ q1, abs=size)
    assert J_com @ q3 == pytest.approx(J_com @ q2, abs=size)


def test_the_whole_law_is_that_of_the_body_which_poise_runs() -> None:
    """ZmpBalance with a closed-form solver is (16) to (20) on its own references."""
    numbers = regulation_settings(HOAP3, momentum_recovery_gain=0.0)
    body = ZmpBalance(HOAP3, settings=numbers, closed_form=True)
    state = posture(3)
    command = KinematicController(body, NullSpace(), period=PERIOD, ramp=0.0).step(state)
    assert [level.name for level in body.hierarchy.levels] == ["feet", "balance", "joint comfort"]
    expected = paper_law(body.task_set, state, numbers)[-1]
    assert command.velocity[6:] == pytest.approx(expected, abs=1e-6 * np.abs(expected).max())
