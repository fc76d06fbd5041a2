"""Ramps between hierarchies: commands do not jump, and common levels stay exact.

At 200 Hz an added, removed or moved level makes the velocity jump by 0.7 to 1.0 rad/s without a ramp, and by 0.02 to
0.03 rad/s with a ramp of 0.2 s. No change may need more than the acceleration limits allow within a tick (1 rad/s): a
level that they block is damped, and the controller filters damped levels, also without a ramp.
"""

from collections.abc import Callable

import numpy as np
import pinocchio
import pytest
from example_hierarchies import SwitchBehavior, point_near_hand, reach_hierarchy

from poise import constraints, tasks
from poise.control import ControlStep
from poise.hierarchy import Hierarchy, Level
from poise.state import Snapshot
from poise.tasks import ACCELERATION, VELOCITY
from robot_states import PERIOD, commanded_velocities, installed_robot, not_none, run_closed_loop

ROBOT = installed_robot("g1")
START = ROBOT.stance("standing")
AT, RAMP = 0.3, 0.2
TICK = round(AT / PERIOD)
ORDERS = pytest.mark.parametrize("order", [VELOCITY, ACCELERATION])

BASE = reach_hierarchy(START)
CHANGES: dict[str, Callable[[], Hierarchy]] = {
    "insert": lambda: BASE.with_level(
        Level("chest", [tasks.Orientation(not_none(ROBOT.chest), pinocchio.rpy.rpyToMatrix(0.0, 0.08, 0.16))]),
        before="posture",
    ),
    "remove": lambda: BASE.without_level("reach"),
    "reorder": lambda: BASE.reorder(["feet", "balance", "posture", "reach"]),
    "target": lambda: BASE.with_tasks(
        "reach", tasks.Position(ROBOT.hand("left"), point_near_hand(START) + np.array([0.05, 0.2, 0.1]))
    ),
}


def commands(found: list[ControlStep], order: int) -> np.ndarray:
    """Unknowns of the solver: velocities or accelerations."""
    return np.array([s.command.velocity if order == VELOCITY else s.command.acceleration for s in found])


def jump(found: list[ControlStep], order: int) -> float:
    """Largest change of the command at the tick at which the hierarchy changes."""
    x = commands(found, order)
    return float(np.abs(x[TICK] - x[TICK - 1]).max())


def run_with_change(name: str, order: int, ramp: float = RAMP, seconds: float = 0.6) -> list[ControlStep]:
    return run_closed_loop(SwitchBehavior(BASE, CHANGES[name](), AT), START, seconds, order=order, ramp=ramp)


@ORDERS
@pytest.mark.parametrize("name", CHANGES)
def test_a_change_jumps_without_a_ramp_and_hardly_with_one(name: str, order: int) -> None:
    sharp, soft = jump(run_with_change(name, order, ramp=0.0), order), jump(run_with_change(name, order), order)
    assert sharp > (0.5 if order == VELOCITY else 1.5)
    assert soft < 0.06 * sharp


@ORDERS
@pytest.mark.parametrize("name", CHANGES)
def test_no_tick_of_a_ramp_changes_the_command_much(name: str, order: int) -> None:
    sharp = jump(run_with_change(name, order, ramp=0.0), order)
    x = commands(run_with_change(name, order), order)
    passing = np.abs(np.diff(x[TICK - 1 : TICK + round(RAMP / PERIOD) + 2], axis=0)).max()
    assert passing < 0.12 * sharp


@ORDERS
@pytest.mark.parametrize("name", CHANGES)
def test_levels_common_to_both_hierarchies_stay_exact_during_a_ramp(name: str, order: int) -> None:
    found = run_with_change(name, order)[TICK : TICK + round(RAMP / PERIOD)]
    for step in found:
        program = not_none(step.command.solution).program
        x = step.command.velocity if order == VELOCITY else step.command.acceleration
        assert program.names[:3] == ("always", "feet", "balance")
        for rows in (rows for group in program.levels[:3] for rows in group):
            value = not_none(rows.A) @ not_none(x)
            assert value == pytest.approx(np.clip(value, rows.lower, rows.upper), abs=1e-9), rows.name


@ORDERS
def test_the_feet_do_not_move_while_the_hand_task_is_ramped(order: int) -> None:
    """Apart from the drift without any change: half of J̇ v T² per tick, some microns here."""
    for name in ("remove", "reorder"):
        for step in run_with_change(name, order)[TICK:]:
            for foot in ROBOT.feet:
                assert step.state.pose(foot).translation == pytest.approx(START.pose(foot).translation, abs=1e-6)


@ORDERS
@pytest.mark.parametrize("name", CHANGES)
def test_after_the_ramp_the_new_hierarchy_is_solved_exactly(name: str, order: int) -> None:
    found = run_with_change(name, order)
    for step in found[TICK + round(RAMP / PERIOD) :]:
        x = step.command.velocity if order == VELOCITY else step.command.acceleration
        assert np.array_equal(not_none(x), not_none(step.command.solution).x)
    assert not_none(found[TICK].command.solution).program.names == (
        "always",
        *(level.name for level in CHANGES[name]().levels),
    )


@ORDERS
def test_limits_hold_during_every_ramp(order: int) -> None:
    for name in CHANGES:
        found = run_with_change(name, order)
        v = np.array([step.state.v[6:] for step in found])
        assert (np.abs(v) <= ROBOT.limits.velocity + 1e-9).all()
        assert (np.abs(np.diff(v, axis=0)) <= ROBOT.limits.acceleration * PERIOD + 1e-9).all()


def test_a_ramp_is_a_straight_line_between_two_commands_that_do_not_change() -> None:
    """x₋ + (T / r) (x - x₋) at each tick, r the time left, is the straight line from the old command to the new."""
    old, new = (_rate(speed) for speed in (0.2, 1.0))
    found = run_closed_loop(SwitchBehavior(Hierarchy(levels=[old]), Hierarchy(levels=[new]), AT), START, 0.6, ramp=RAMP)
    joint = ROBOT.joints[3].v
    v = commanded_velocities(found)[:, joint]
    assert v[TICK - 1] == pytest.approx(0.2)
    count = round(RAMP / PERIOD)
    expected = 0.2 + 0.8 * np.arange(1, count + 1) / count
    assert v[TICK : TICK + count] == pytest.approx(expected, abs=1e-9)
    assert v[TICK + count :] == pytest.approx(1.0)


def _rate(speed: float) -> Level:
    """A level with a target speed of one joint."""
    far = START.q[ROBOT.joints[3].q] + 1e6
    task = tasks.Posture([far], joints=ROBOT.joints[3:4], dynamics=tasks.Decay(1.0, speed=speed))
    return Level("turn", [task])


@ORDERS
def test_the_first_hierarchy_is_ramped_from_rest(order: int) -> None:
    found = run_closed_loop(reach_hierarchy(START), START, 0.3, order=order, ramp=RAMP)
    target = np.abs(not_none(found[0].command.solution).x).max()
    assert np.abs(commands(found, order)[0]).max() == pytest.approx(target * PERIOD / RAMP, rel=0.05)


@ORDERS
def test_changes_during_a_ramp_restart_it_from_the_current_command(order: int) -> None:
    first, second = CHANGES["target"](), CHANGES["remove"]()

    def behavior(snapshot: Snapshot) -> Hierarchy:
        return BASE if snapshot.time < AT - 1e-9 else first if snapshot.time < AT + 0.1 - 1e-9 else second

    found = run_closed_loop(behavior, START, 0.9, order=order, ramp=RAMP)
    x = commands(found, order)
    sharp = jump(run_with_change("target", order, ramp=0.0), order)
    assert np.abs(np.diff(x[TICK - 1 :], axis=0)).max() < 0.12 * sharp
    late = TICK + round((0.1 + RAMP) / PERIOD)
    assert np.array_equal(x[late], not_none(found[late].command.solution).x)


@ORDERS
def test_a_hierarchy_that_changes_at_every_tick_is_followed_as_through_a_filter(order: int) -> None:
    """Two targets in alternating ticks: the command settles between them instead of oscillating."""
    hand = ROBOT.hand("left")
    left, right = (
        BASE.with_tasks("reach", tasks.Position(hand, point_near_hand(START) + np.array([0.0, y, 0.1])))
        for y in (0.15, -0.05)
    )

    def behavior(snapshot: Snapshot) -> Hierarchy:
        return (left, right)[round(snapshot.time / PERIOD) % 2]

    soft, sharp = (run_closed_loop(behavior, START, 1.0, order=order, ramp=ramp) for ramp in (RAMP, 0.0))
    rough = [np.abs(np.diff(commands(found, order)[100:], axis=0)).max() for found in (soft, sharp)]
    assert rough[0] < 0.1 * rough[1]


def test_a_new_constraint_holds_from_the_first_tick() -> None:
    """A change of `always` itself is not ramped: limits hold from the first tick."""
    free = reach_hierarchy(START, always=False)
    slow = free.replace(always=[constraints.JointSpeed(ROBOT, scale=0.01, acceleration=1e6)])
    found = run_closed_loop(SwitchBehavior(free, slow, AT), START, 0.6, ramp=RAMP)
    v = commanded_velocities(found)[TICK:, 6:]
    assert (np.abs(v) <= 0.01 * ROBOT.limits.velocity + 1e-9).all()


def test_a_ramp_needs_no_levels_in_common() -> None:
    still = Hierarchy(levels=[Level("still", [tasks.Posture(START)])])
    found = run_closed_loop(SwitchBehavior(BASE, still, AT), START, 0.6, ramp=RAMP)
    assert jump(found, VELOCITY) < 0.1
    assert not any(step.command.fallback for step in found)
