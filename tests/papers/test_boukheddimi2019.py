"""[Boukheddimi2019]: both sides of the equations of the controller, and properties of its gaits.

The body is the human of the library on a sample walk, in the middle of single support, where everything moves.
"""

import numpy as np
import pinocchio
import pytest

from poise import tasks
from poise.analysis import TABLE_I_JOINTS
from poise.control import Command, KinematicController
from poise.hierarchy import Hierarchy, Level
from poise.human import PAPER, TWO_PHASES
from poise.human.gait.key_postures import find_key_postures
from poise.human.gait.reproduction import gait_hierarchy
from poise.robots import State
from poise.state import Snapshot
from poise.tasks import ACCELERATION, VELOCITY
from robot_states import not_none
from sample_walks import sample_quality, sample_walk

ROBOT, CYCLE = sample_walk().robot, sample_walk().cycle()
MODEL = ROBOT.model
STEP = 1e-5
#: A quarter of a second after initial contact, with errors of a few degrees and millimeters.
TIME = CYCLE.initial_contact + 0.25
#: Pseudo-inverses take singular values below this part of the largest as zero.
RANK = 1e-9


def state(seed: int = 0) -> State:
    random = np.random.default_rng(seed)
    q, v, _ = sample_walk().sample(TIME)
    q = pinocchio.integrate(MODEL, q, random.normal(0.0, 0.02, MODEL.nv))
    return State(ROBOT, q, v + random.normal(0.0, 0.1, MODEL.nv), TIME)


def levels() -> dict[str, list[tasks.MotionTask]]:
    """Heels, center of mass, posture: the equality tasks of the paper, without the inequalities above them."""
    found = gait_hierarchy(sample_walk(), CYCLE, PAPER)
    return {level.name: list(level.tasks) for level in found.levels}  # type: ignore[arg-type]


def solve_command(names: tuple[str, ...], order: int, at: State) -> Command:
    chosen = Hierarchy(levels=[Level(name, levels()[name]) for name in names])
    command = KinematicController(chosen, period=0.005, order=order, ramp=0.0).step(at)
    assert command.fallback == ""
    return command


def stacked(name: str, at: State) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """e, J and J̇ q̇ of a level."""
    snapshot = Snapshot(ROBOT).at(at)
    parts = [(task.value(snapshot), task.jacobian(snapshot), task.drift(snapshot)) for task in levels()[name]]
    return tuple(np.concatenate([np.array(part[k]) for part in parts]) for k in range(3))  # type: ignore[return-value]


def target_rate(name: str, order: int, at: State) -> np.ndarray:
    """Target of ė or of ë - J̇ q̇ of the tasks of a level, from their rows."""
    snapshot = Snapshot(ROBOT).at(at)
    layout = tasks.VariableLayout(order, 0.005, MODEL.nv, MODEL.nv)
    return np.concatenate([task.rows(snapshot, layout).lower for task in levels()[name]])


def pseudo_inverse(J: np.ndarray) -> np.ndarray:
    return np.linalg.pinv(J, rcond=RANK)


@pytest.mark.parametrize("name", ["heels", "center of mass", "posture"])
def test_equation_2_the_rate_of_a_task_is_its_jacobian_times_the_velocity(name: str) -> None:
    at = state()
    _, J, _ = stacked(name, at)
    there, back = (at.replace(q=pinocchio.integrate(MODEL, at.q, dt * at.v)) for dt in (STEP, -STEP))
    slope = (stacked(name, there)[0] - stacked(name, back)[0]) / (2 * STEP)
    # The six coordinates of the base are a logarithm, whose slope is v only at the target.
    assert slope == pytest.approx(J @ at.v, abs=0.05 if name == "posture" else 1e-7)


@pytest.mark.parametrize("name", ["heels", "center of mass"])
def test_equations_3_and_4_one_task_alone_is_met_with_the_least_velocity(name: str) -> None:
    at = state()
    _, J, _ = stacked(name, at)
    rate = target_rate(name, VELOCITY, at)
    v = solve_command((name,), VELOCITY, at).velocity
    assert v == pytest.approx(pseudo_inverse(J) @ rate, abs=1e-8)
    assert pseudo_inverse(J) == pytest.approx(J.T @ np.linalg.inv(J @ J.T), abs=1e-8)
    assert J @ v == pytest.approx(rate, abs=1e-9)


def test_equations_5_to_8_two_tasks_in_strict_order() -> None:
    at = state()
    (_, J, _), (_, Js, _) = stacked("heels", at), stacked("center of mass", at)
    e, es = target_rate("heels", VELOCITY, at), target_rate("center of mass", VELOCITY, at)
    P = np.eye(MODEL.nv) - pseudo_inverse(J) @ J
    g = pseudo_inverse(Js @ P) @ (es - Js @ pseudo_inverse(J) @ e)  # (7)
    assert Js @ (pseudo_inverse(J) @ e + P @ g) == pytest.approx(Js @ pseudo_inverse(J) @ e + Js @ P @ g)  # (6)
    expected = pseudo_inverse(J) @ e + P @ pseudo_inverse(Js @ P) @ (es - Js @ pseudo_inverse(J) @ e)  # (8)
    assert solve_command(("heels", "center of mass"), VELOCITY, at).velocity == pytest.approx(expected, abs=1e-8)


@pytest.mark.parametrize("seed", range(4))
def test_equation_8_for_all_three_tasks_at_the_order_of_equation_9(seed: int) -> None:
    """The recursion of [Siciliano1991], which the paper names as the extension of (8) to any number of tasks."""
    at, x, N = state(seed), np.zeros(MODEL.nv), np.eye(MODEL.nv)
    for name in ("heels", "center of mass", "posture"):
        _, J, _ = stacked(name, at)
        x = x + pseudo_inverse(J @ N) @ (target_rate(name, ACCELERATION, at) - J @ x)
        N = N - pseudo_inverse(J @ N) @ (J @ N)
    found = solve_command(("heels", "center of mass", "posture"), ACCELERATION, at).acceleration
    assert found == pytest.approx(x, abs=1e-6 * np.abs(x).max())
    assert np.abs(N).max() < 1e-6, "the posture determines all remaining freedom"


def test_equation_9_the_tasks_above_the_posture_have_their_target_second_derivative() -> None:
    """ë = J q̈ + J̇ q̇, with both sides by finite differences along the motion."""
    at = state()
    a = not_none(solve_command(("heels", "center of mass", "posture"), ACCELERATION, at).acceleration)
    for name in ("heels", "center of mass"):
        rates = []
        for dt in (STEP, -STEP):
            q = pinocchio.integrate(MODEL, at.q, dt * at.v + 0.5 * dt**2 * a)
            moved = State(ROBOT, q, at.v + dt * a, at.time)
            rates.append(stacked(name, moved)[1] @ moved.v)
        _, J, drift = stacked(name, at)
        assert (rates[0] - rates[1]) / (2 * STEP) == pytest.approx(J @ a + drift, abs=1e-5)
        assert J @ a == pytest.approx(target_rate(name, ACCELERATION, at), abs=1e-7)


def test_the_second_order_dynamics_of_every_task() -> None:
    """ë = -λ_p e - λ_d ė with λ_p = w² and λ_d = 2 w; moving targets add their own derivatives."""
    at, w = state(), 25.0
    moment, later = sample_walk().at(TIME), sample_walk().at(TIME + 0.0025)
    e, J, drift = stacked("center of mass", at)
    rate = J @ at.v - moment.center_of_mass[1]
    assert target_rate("center of mass", ACCELERATION, at) + drift == pytest.approx(
        later.center_of_mass[2] - w**2 * e - 2 * w * rate
    )
    # The posture: to a fixed vector of 42 numbers, w = c / T with the duration of the phase.
    e, _, drift = stacked("posture", at)
    phase = next(each for each in CYCLE.phases if each.begin <= TIME < each.end)
    w = 6.0 / (phase.end - phase.begin)
    assert target_rate("posture", ACCELERATION, at) + drift == pytest.approx(-(w**2) * e - 2 * w * at.v)
    target = next(key for key in find_key_postures(sample_walk(), CYCLE, "four") if key.time == phase.end)
    assert e == pytest.approx(pinocchio.difference(MODEL, target.q, at.q))


def test_section_iv_the_third_task_is_a_vector_of_42_and_the_others_are_four_and_three() -> None:
    assert {name: len(stacked(name, state())[0]) for name in levels()} == {
        "heels": 4,
        "center of mass": 3,
        "posture": 42,
    }


def test_section_v_ranges_are_equal_or_lower_and_the_knee_loses_most() -> None:
    """ "The ROM remain always equal or at lower value compared to the reference": its own table has no exception."""
    differences = sample_quality(PAPER).differences
    assert differences.max() < 1.0
    assert TABLE_I_JOINTS[int(np.argmin(differences))].endswith("knee_flexion")
    assert np.sum(np.abs(differences) < 5.0) >= 6, "often below 5 degrees"


def test_section_vi_two_phases_give_a_straight_knee_in_swing() -> None:
    for side in ("right", "left"):
        knee = TABLE_I_JOINTS.index(f"{side}_knee_flexion")
        assert sample_quality(TWO_PHASES).ranges[knee] < 20.0 < 45.0 < sample_quality(PAPER).ranges[knee]
