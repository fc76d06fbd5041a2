"""ZMP balance on position servos: the regulator of the force cells, and the hierarchy of the reference trajectory."""

import numpy as np
import pinocchio
import pytest

from poise.behaviors import SoleLoad, ZmpBalance, ZmpBalanceSettings, regulation_settings, zmp_error
from poise.behaviors import standing_reference as standing_on
from poise.behaviors.zmp_regulation import LARGEST_LEARNT_ERROR, LARGEST_TRIM, ZmpRegulator, sole_load
from poise.control import PositionController
from poise.errors import PoiseError
from poise.plans import ReferenceTrajectory, SquatReference
from poise.robots import Robot
from poise.solvers import NullSpace
from poise.state import Snapshot, sole_pressure
from robot_states import installed_robot, not_none
from zmp_balance_runs import (
    PERIOD,
    cell_forces,
    follow_reference,
    neutral_walk,
    observe_cells,
    sensor_readings,
    sole_poses,
)

HOAP3 = installed_robot("hoap3")
WEIGHT = 9.81 * HOAP3.mass
#: Robots with and without an offset between the middle of a sole and the origin of its frame.
ROBOTS = pytest.mark.parametrize("name", ["hoap3", "nao", "g1"])
CLOSED = pytest.mark.parametrize("closed_form", [False, True], ids=["strict", "closed form"])
SOLE = 0.05


def plain_settings(**gains: float) -> ZmpBalanceSettings:
    """Settings whose other gains are zero."""
    plain = {"proportional": 0.0, "derivative": 0.0, "lateral_scale": 1.0, "integral": 0.0, "filter_time": 0.02}
    return ZmpBalanceSettings(**{**plain, **gains})  # type: ignore[arg-type]


def solver_of(closed_form: bool) -> NullSpace | None:
    return NullSpace() if closed_form else None


def deviations(body: ZmpBalance, controller: PositionController, time: float) -> tuple[float, float, float]:
    """Deviations from the reference trajectory: other sole (m), its rotation (rad), center of mass (m)."""
    reference = controller.reference
    assert reference is not None
    left, right = sole_poses(reference)
    sample, other = body.trajectory.sample(time), left.actInv(right)
    turn = pinocchio.log3(sample.other_sole.rotation.T @ other.rotation)
    away = other.translation - sample.other_sole.translation, left.actInv(reference.center_of_mass) - sample.center
    return float(np.abs(away[0]).max()), float(np.abs(turn).max()), float(np.abs(away[1]).max())


def beyond_ranges(robot: Robot, q: np.ndarray) -> float:
    """Largest distance of a joint outside its range (rad)."""
    return float(max((q - robot.limits.upper).max(), (robot.limits.lower - q).max(), 0.0))


# -- force cells -------------------------------------------------------------------------------------------------------


def test_a_lifted_foot_does_not_count() -> None:
    stands, lifted = SoleLoad(80.0, 0.01 + 0.02j), SoleLoad(0.0, 0.04 - 0.03j)
    assert zmp_error(stands, lifted) == -(0.01 + 0.02j)
    assert zmp_error(lifted, stands) == -(0.01 + 0.02j)


def test_without_any_force_there_is_no_error() -> None:
    assert zmp_error(SoleLoad(0.0, 1j), SoleLoad(0.0, 1.0 + 0j)) == 0j


@pytest.mark.parametrize("seed", range(5))
def test_the_error_lies_between_those_of_the_feet(seed: int) -> None:
    x = np.random.default_rng(seed).uniform(0.0, 1.0, 6)
    left, right = SoleLoad(x[0], complex(x[1], x[2])), SoleLoad(x[3], complex(x[4], x[5]))
    error = -zmp_error(left, right)
    difference = right.zmp - left.zmp
    share = ((error - left.zmp) * difference.conjugate()).real / abs(difference) ** 2
    assert abs(error - left.zmp - share * difference) < 1e-12
    assert share == pytest.approx(right.force / (left.force + right.force))


@ROBOTS
@pytest.mark.parametrize("seed", range(3))
def test_the_load_of_a_sole_equals_its_pressure(name: str, seed: int) -> None:
    forces = np.random.default_rng(seed).normal(5.0, 10.0, 4)
    for foot in installed_robot(name).feet:
        force, zmp = sole_pressure(foot, forces)
        load = sole_load(foot, list(forces))
        assert load.force == pytest.approx(force)
        assert [load.zmp.real, load.zmp.imag] == pytest.approx(zmp)


# -- regulator ---------------------------------------------------------------------------------------------------------


def test_at_rest_the_regulator_adds_its_share_of_the_error() -> None:
    regulator = ZmpRegulator(plain_settings(proportional=0.3, derivative=0.1, lateral_scale=0.5), SOLE)
    for _ in range(500):
        regulator.step(0.01 + 0.02j, PERIOD)
    assert regulator.shift == pytest.approx(0.3 * 0.01 + 0.5 * 0.3 * 0.02j)


def test_the_filter_reaches_63_per_cent_after_its_time_constant() -> None:
    regulator = ZmpRegulator(plain_settings(proportional=1.0, filter_time=0.1), SOLE)
    for _ in range(100):
        regulator.step(0.01 + 0j, PERIOD)
    assert regulator.shift.real == pytest.approx(0.01 * (1.0 - np.exp(-1.0)), rel=0.01)


def test_the_trim_grows_with_the_error_and_stops_before_the_edge() -> None:
    regulator, small = (
        ZmpRegulator(plain_settings(integral=0.5, filter_time=0.0), SOLE),
        0.5 * LARGEST_LEARNT_ERROR * SOLE,
    )
    for _ in range(1000):
        regulator.step(complex(small), PERIOD)
    assert regulator.shift == pytest.approx(0.5 * small)
    for _ in range(60_000):
        regulator.step(0.03 + 0.04j, PERIOD)
    assert abs(regulator.shift) == pytest.approx(LARGEST_TRIM * SOLE)
    assert regulator.shift == pytest.approx(LARGEST_TRIM * SOLE * (0.6 + 0.8j), rel=0.1)


def test_a_large_error_changes_the_trim_no_faster_than_a_small_one() -> None:
    learnt = []
    for error in (LARGEST_LEARNT_ERROR * SOLE, 10.0 * LARGEST_LEARNT_ERROR * SOLE):
        regulator = ZmpRegulator(plain_settings(integral=0.5, filter_time=0.0), SOLE)
        for _ in range(200):
            regulator.step(complex(error), PERIOD)
        learnt.append(regulator.shift)
    assert learnt[1] == pytest.approx(learnt[0])


def test_without_trust_only_the_trim_remains_and_it_does_not_change() -> None:
    regulator = ZmpRegulator(plain_settings(proportional=0.3, derivative=0.1, integral=0.5), SOLE)
    for _ in range(1000):
        regulator.step(0.01 + 0j, PERIOD)
    learnt = regulator.shift - 0.3 * regulator.error
    for _ in range(1000):
        regulator.step(0.04j, PERIOD, trust=0.0)
    assert regulator.shift == pytest.approx(learnt, abs=1e-12)


# -- the body ----------------------------------------------------------------------------------------------------------


def forward_load(time: float) -> dict[str, np.ndarray]:
    """The weight is 1 cm too far ahead under both soles."""
    return {foot.side: cell_forces(foot, 0.5 * WEIGHT, (0.01, 0.0)) for foot in HOAP3.feet}


def test_a_forward_zmp_error_shifts_the_center_of_mass_target_back() -> None:
    body = ZmpBalance(HOAP3)
    observe_cells(body, forward_load, 1.0)
    assert body.fallback == ""
    assert body.regulator.error == pytest.approx(-0.01, abs=1e-4)
    assert body.regulator.shift.real < 0.0
    center = body.trajectory.sample(0.0).center
    body(Snapshot(HOAP3).at(body.start))
    shift = body.regulator.shift
    assert body.task_set.center.value == pytest.approx(center + np.array([shift.real, shift.imag, 0.0]))


def test_the_error_of_a_turned_foot_is_expressed_in_the_axes_of_the_reference() -> None:
    """Turned by a right angle to the left, the toes of the right foot point to the left."""
    center, other = standing_on(HOAP3.stance("standing"))
    quarter = pinocchio.SE3(pinocchio.exp3(np.array([0.0, 0.0, 0.5 * np.pi])), other.translation)
    body = ZmpBalance(HOAP3, trajectory=SquatReference(center, quarter, 0.01, 1.0, 1))
    cells = {"left": np.zeros(4), "right": cell_forces(HOAP3.foot("right"), WEIGHT, (0.01, 0.0))}
    observe_cells(body, lambda time: cells, 0.6)
    assert body.regulator.error.imag < -0.005
    assert body.regulator.error.real == pytest.approx(0.0, abs=1e-12)


def test_without_regulation_the_trim_stays_and_the_rest_of_the_shift_fades() -> None:
    settings = regulation_settings(HOAP3, momentum_recovery_gain=0.0, integral=0.3)
    body = ZmpBalance(HOAP3, settings=settings)
    observe_cells(body, forward_load, 2.0)
    learnt = body.regulator.shift - settings.proportional * body.regulator.error
    assert learnt.real < -1e-3
    body.regulating = False
    before = body.regulator.shift
    observe_cells(body, forward_load, 0.001, body.start.replace(time=2.0))
    assert abs(body.regulator.shift - before) < 1e-4, "it does not jump"
    observe_cells(body, forward_load, 1.5, body.start.replace(time=2.001))
    # While trust fades, in 0.2 s, the trim still changes: by less than K_i ε in that time.
    assert abs(body.regulator.shift - learnt) < 0.2 * 0.3 * 0.01
    rested = body.regulator.shift
    observe_cells(body, forward_load, 1.0, body.start.replace(time=3.501))
    assert body.regulator.shift == pytest.approx(rested, abs=1e-6)
    assert body.fallback == "", "switching the regulation off is no fault"


def test_a_fault_ends_the_regulation_and_the_command_carries_the_reason() -> None:
    body = ZmpBalance(HOAP3)
    controller = PositionController(body, period=PERIOD)
    cells = forward_load(0.0)
    cells["left"][2] = np.nan
    for i in range(5):
        state = body.start.replace(time=i * PERIOD)
        controller.update_sensors(sensor_readings(state, cells))
        command = controller.step(state)
    words = "no ZMP regulation: the back right force cell of the left sole gives invalid readings"
    assert command.fallback == body.fallback == words
    assert np.isfinite(not_none(command.position)).all()


def test_without_sensor_readings_the_body_follows_its_reference_trajectory() -> None:
    body = ZmpBalance(HOAP3)
    follow_reference(body, 0.05)
    assert body.regulator.shift == 0j
    assert body.fallback == ""


# -- one hierarchy -----------------------------------------------------------------------------------------------------


def test_there_is_one_hierarchy_for_the_whole_walk() -> None:
    """Neither the plan nor the cells change the hierarchy."""
    trajectory = neutral_walk(HOAP3, 4)
    body = ZmpBalance(HOAP3, trajectory=trajectory)
    snapshot, hierarchies, kinds = Snapshot(HOAP3), set(), set()
    for time in np.arange(0.0, trajectory.seconds, 0.01):
        snapshot.at(body.start.replace(time=float(time)))
        hierarchies.add(id(body(snapshot)))
        kinds.add(trajectory.phase(time).kind)
    assert len(hierarchies) == 1
    assert kinds >= {"single", "double", "starting", "stopping", "standing"}


def test_the_levels_are_those_of_the_paper_with_the_hands_before_the_last() -> None:
    plain = regulation_settings(HOAP3, momentum_recovery_gain=0.0)
    for carries, names in (
        (False, ["feet", "balance", "joint comfort"]),
        (True, ["feet", "balance", "hands", "joint comfort"]),
    ):
        body = ZmpBalance(HOAP3, settings=plain, carries=carries)
        assert [level.name for level in body.hierarchy.levels] == names
        assert [task.name for task in body.hierarchy.always] != []
        assert ZmpBalance(HOAP3, settings=plain, carries=carries, closed_form=True).hierarchy.always == ()


@pytest.mark.parametrize("name", ["hoap3", "nao"])
def test_carrying_hands_keep_their_grasp_and_move_with_the_center_of_mass(name: str) -> None:
    robot = installed_robot(name)
    start = robot.stance("carrying")
    center, other = standing_on(start)
    body = ZmpBalance(
        robot,
        SquatReference(center, other, 0.02, 0.5, 1),
        regulation_settings(robot, momentum_recovery_gain=0.0),
        start,
        carries=True,
    )
    reference = follow_reference(body, 1.0).reference  # at the lowest
    assert reference is not None
    left, right = robot.hand("left"), robot.hand("right")
    grasps = [state.pose(left).actInv(state.pose(right)) for state in (start, reference)]
    assert grasps[1].translation == pytest.approx(grasps[0].translation, abs=1e-3)
    assert grasps[1].rotation == pytest.approx(grasps[0].rotation, abs=1e-3)
    sank = sole_poses(start)[0].actInv(start.pose(left)).translation[2]
    sank -= sole_poses(reference)[0].actInv(reference.pose(left)).translation[2]
    assert sank == pytest.approx(0.02, abs=2e-3)


# -- motion of the reference -------------------------------------------------------------------------------------------


@ROBOTS
@CLOSED
def test_a_body_at_rest_is_on_its_reference_trajectory(name: str, closed_form: bool) -> None:
    """Also where the middle of the sole is not the origin of its frame."""
    robot = installed_robot(name)
    body = ZmpBalance(robot, closed_form=closed_form)
    controller = follow_reference(body, 1.0, solver_of(closed_form))
    assert max(deviations(body, controller, 1.0)) < 1e-6


@pytest.mark.parametrize("turn", [0.0, 0.2], ids=["ahead", "in a bow"])
@ROBOTS
@CLOSED
def test_a_walking_body_stays_within_a_millimetre_of_its_reference_trajectory(
    name: str, closed_form: bool, turn: float
) -> None:
    """The deviation is the lag of one period: it is proportional to speed and period, which is 1 ms in a run."""
    robot, period = installed_robot(name), 0.0025
    trajectory = neutral_walk(robot, 6, speed=(0.03, 0.0, turn)) if turn else neutral_walk(robot, 6)
    body = ZmpBalance(robot, trajectory=trajectory, closed_form=closed_form)
    controller = PositionController(body, solver_of(closed_form), period=period)
    for i in range(round(trajectory.seconds / period)):
        command = controller.step(body.start.replace(time=i * period))
        assert command.fallback == ""
        if i * period > 0.4:  # it stands on its reference trajectory before the first step
            assert max(deviations(body, controller, (i + 1) * period)) < 1e-3


# -- strict and closed form --------------------------------------------------------------------------------------------


def limit_violation(trajectory: ReferenceTrajectory, closed_form: bool) -> tuple[float, float]:
    """Largest range violation of a joint (rad), and the drop of the center of mass (m)."""
    body = ZmpBalance(
        HOAP3,
        trajectory=trajectory,
        settings=regulation_settings(HOAP3, momentum_recovery_gain=0.0),
        closed_form=closed_form,
    )
    controller = PositionController(body, solver_of(closed_form), period=0.002)
    worst, lowest = 0.0, np.inf
    for i in range(round(trajectory.seconds / 0.002)):
        assert controller.step(body.start.replace(time=i * 0.002)).fallback == ""
        assert controller.reference is not None
        worst = max(worst, beyond_ranges(HOAP3, controller.reference.q[7:]))
        left, _ = sole_poses(controller.reference)
        lowest = min(lowest, left.actInv(controller.reference.center_of_mass)[2])
    return worst, trajectory.sample(0.0).center[2] - lowest


@pytest.mark.parametrize("depth", [0.12, 0.2])
def test_in_a_too_deep_squat_strict_limits_hold_and_a_potential_fails(depth: float) -> None:
    """In the closed form, joint ranges are the task of lowest priority, not a limit."""
    trajectory = SquatReference(*standing_on(HOAP3.stance("standing")), depth, 0.5, 1)
    strict, strict_sank = limit_violation(trajectory, closed_form=False)
    potential, potential_sank = limit_violation(trajectory, closed_form=True)
    assert strict < 1e-9
    assert potential > 0.1
    assert strict_sank < depth - 0.01, "it goes as far as it can"
    assert potential_sank > strict_sank, "it goes beyond the joint ranges"


def test_in_a_squat_inside_all_limits_both_give_the_same_motion() -> None:
    trajectory = SquatReference(*standing_on(HOAP3.stance("standing")), 0.02, 0.5, 1)
    bodies = [
        ZmpBalance(HOAP3, trajectory, regulation_settings(HOAP3, momentum_recovery_gain=0.0), closed_form=closed_form)
        for closed_form in (False, True)
    ]
    ends = [follow_reference(body, 1.0, solver_of(body is bodies[1]), 0.002).reference for body in bodies]
    assert ends[0] is not None
    assert ends[1] is not None
    assert ends[0].q == pytest.approx(ends[1].q, abs=1e-6)


# -- bad input ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"proportional": -0.1}, "ZMP balance: proportional is -0.1; expected zero or a positive number"),
        ({"derivative": float("nan")}, "ZMP balance: derivative is nan"),
        ({"filter_time": float("inf")}, "ZMP balance: filter_time is inf"),
        ({"stiffness": 0.0}, "ZMP balance: stiffness is 0.0"),
        ({"feet_gain": "fast"}, "ZMP balance: feet_gain is 'fast'"),
        ({"comfort_gain": 1e6}, "ZMP balance: comfort_gain is 1000000.0"),
        ({"comfort_posture": "sofa"}, "ZMP balance: comfort_posture is 'sofa'; expected middle or stance"),
        ({"stifness": 1.0}, "hoap3.*stifness.*expected proportional, derivative"),
    ],
)
def test_bad_settings_are_refused_in_one_line(settings: dict[str, float], message: str) -> None:
    with pytest.raises(PoiseError, match=message) as caught:
        regulation_settings(HOAP3, **settings)
    assert "\n" not in str(caught.value)


def test_settings_of_the_data_file_may_be_replaced_one_by_one() -> None:
    own = regulation_settings(HOAP3)
    assert own.proportional == HOAP3.servos.zmp_balance["proportional"]
    changed = regulation_settings(HOAP3, integral=0.07)
    assert (changed.integral, changed.proportional) == (0.07, own.proportional)
