"""PinnedContact: blocked directions do not move, the others are free."""

from typing import Any

import numpy as np
import pytest

from poise import constraints, tasks
from poise.hierarchy import Hierarchy, Level
from poise.robots import Robot, State
from poise.state import Snapshot
from poise.tasks import ACCELERATION, VELOCITY
from robot_states import installed_robot, random_state, run_closed_loop

ORDERS = pytest.mark.parametrize("order", [VELOCITY, ACCELERATION])


@pytest.fixture(scope="module")
def robot() -> Robot:
    return installed_robot("g1")


@pytest.fixture(scope="module")
def start(robot: Robot) -> State:
    return robot.stance("standing")


def swaying_hierarchy(robot: Robot, start: State, **settings: Any) -> Hierarchy:
    """Both feet pinned, the center of mass sways and sinks."""
    path = start.center_of_mass + np.array([[0, 0, 0], [0.03, 0.03, -0.03], [0, -0.03, -0.05], [0, 0, 0.0]])
    pinned = [constraints.PinnedContact(foot, **settings) for foot in robot.feet]
    sway = Level("sway", [tasks.CenterOfMass(tasks.SplineTarget([0.0, 0.7, 1.4, 2.0], path))])
    return Hierarchy(pinned, [sway, Level("posture", [tasks.Posture(start)])])


@ORDERS
def test_a_pinned_foot_stays_where_it_is_while_the_body_moves(robot: Robot, start: State, order: int) -> None:
    steps = run_closed_loop(swaying_hierarchy(robot, start), start, 2.0, order=order)
    assert not any(step.command.fallback for step in steps)
    moved = max(np.abs(step.state.center_of_mass - start.center_of_mass).max() for step in steps)
    assert moved > 0.04, "the body moves"
    for foot in robot.feet:
        # Without position feedback it drifts by the integration error, half of J̇ v T² per tick.
        creep = [start.pose(foot).actInv(step.state.pose(foot)) for step in steps]
        assert max(np.abs(pose.translation).max() for pose in creep) < 1e-3
        assert max(np.abs(pose.rotation - np.eye(3)).max() for pose in creep) < 3e-3


@ORDERS
def test_shorter_ticks_creep_less(robot: Robot, start: State, order: int) -> None:
    creep = []
    for period in (0.008, 0.002):
        end = run_closed_loop(swaying_hierarchy(robot, start), start, 1.0, order=order, period=period)[-1].state
        creep.append(max(np.abs(end.pose(f).translation - start.pose(f).translation).max() for f in robot.feet))
    assert creep[1] < 0.4 * creep[0]


def test_a_moving_contact_stops_at_the_rate_of_the_damping(robot: Robot) -> None:
    """J v̇ = -J̇ v - k J v, so the velocity of the contact falls as exp(-k t)."""
    state = random_state(robot, 3, speed=0.3)
    foot = robot.foot("left")
    hierarchy = Hierarchy([constraints.PinnedContact(foot, damping=20.0)])
    steps = run_closed_loop(hierarchy, state, 0.2, order=ACCELERATION, period=0.0005, ramp=0.0)
    snapshot = Snapshot(robot)
    before = snapshot.at(state).velocity(foot).copy()
    after = snapshot.at(steps[-1].state).velocity(foot)
    times = steps[-1].state.time - state.time
    assert after == pytest.approx(before * np.exp(-20.0 * times), abs=0.02 * np.abs(before).max())


@ORDERS
def test_only_the_chosen_motions_are_blocked(robot: Robot, start: State, order: int) -> None:
    foot = robot.foot("left")
    hinge = constraints.PinnedContact(foot, axes="xyz", rotation_axes="xz")
    steps = run_closed_loop(
        Hierarchy([hinge], [Level("tip", [tasks.Orientation(foot, _turned(start, foot, 0.3))])]),
        start,
        1.0,
        order=order,
    )
    end = start.pose(foot).actInv(steps[-1].state.pose(foot))
    assert end.translation == pytest.approx(0.0, abs=1e-4)
    pitch = np.arctan2(-end.rotation[2, 0], end.rotation[0, 0])
    assert pitch == pytest.approx(0.3, abs=0.02)
    assert hinge.labels(robot) == ("x", "y", "z", "about x", "about z")


def test_a_contact_has_rate_units_and_is_velocity_only(robot: Robot) -> None:
    contact = constraints.PinnedContact(robot.foot("left"))
    assert contact.row_unit(VELOCITY) == "m/s, rad/s"
    assert contact.row_unit(ACCELERATION) == "m/s², rad/s²"
    assert contact.velocity_only


def _turned(state: State, foot: object, angle: float) -> np.ndarray:
    c, s = np.cos(angle), np.sin(angle)
    return state.pose(foot).rotation @ np.array([[c, 0, s], [0, 1, 0], [-s, 0, c]])  # type: ignore[arg-type]
