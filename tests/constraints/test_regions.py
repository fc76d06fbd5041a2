"""Regions in a closed loop: a point stays inside, or moves inside if it starts outside, without jumps."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from poise import constraints, tasks
from poise.control import ControlStep
from poise.hierarchy import Hierarchy, Level
from poise.robots import Robot, State
from poise.state import Snapshot
from poise.tasks import ACCELERATION, VELOCITY
from robot_states import installed_robot, layout, run_closed_loop

ORDERS = pytest.mark.parametrize("order", [VELOCITY, ACCELERATION])
#: Error of a linearized side within one period: half an acceleration times the period squared (m).
BEND = 2e-4

Make = Callable[[Robot, np.ndarray], tasks.Task]
#: Regions around a point p, all with sides 5 cm away, and how far outside a point is.
REGIONS: dict[str, tuple[Make, Callable[[np.ndarray], float]]] = {
    "box": (
        lambda r, p: constraints.Box(r.hand("left"), p - 0.05, p + 0.05),
        lambda d: float(np.abs(d).max()) - 0.05,
    ),
    "box without ceiling": (
        lambda r, p: constraints.Box(r.hand("left"), p - 0.05, p + np.array([0.05, 0.05, np.inf])),
        lambda d: float(max(np.abs(d[:2]).max(), -d[2])) - 0.05,
    ),
    "octahedron": (
        lambda r, p: constraints.Polyhedron(r.hand("left"), SIDES, SIDES @ p + 0.05 * np.sqrt(3.0)),
        lambda d: float((SIDES @ d).max()) / np.sqrt(3.0) - 0.05,
    ),
    "half space": (
        lambda r, p: constraints.HalfSpace(r.hand("left"), (0, 0, 2), 2.0 * (p[2] + 0.05)),
        lambda d: float(d[2]) - 0.05,
    ),
}
SIDES: np.ndarray = np.array([[x, y, z] for x in (-1.0, 1.0) for y in (-1.0, 1.0) for z in (-1.0, 1.0)])


@pytest.fixture(scope="module")
def robot() -> Robot:
    return installed_robot("g1")


@pytest.fixture(scope="module")
def start(robot: Robot) -> State:
    return robot.stance("standing")


def push_against(
    region: tasks.Task, robot: Robot, start: State, goal: np.ndarray, **settings: Any
) -> list[ControlStep]:
    """Steps of a standing robot whose left hand moves to a goal, with a region as a constraint."""
    feet = Level("feet", [tasks.HoldPose(foot, at=start) for foot in robot.feet])
    reach = Level("reach", [tasks.Position(robot.hand("left"), goal)])
    rest = Level("posture", [tasks.Posture(start)])
    return run_closed_loop(Hierarchy([region], [feet, reach, rest]), start, 1.5, **settings)


def displacements(steps: list[ControlStep], robot: Robot, place: np.ndarray) -> np.ndarray:
    return np.array([step.state.pose(robot.hand("left")).translation for step in steps]) - place


@ORDERS
@pytest.mark.parametrize("name", REGIONS)
def test_a_hand_that_is_sent_out_of_a_region_stays_in_it(robot: Robot, start: State, name: str, order: int) -> None:
    make, outside = REGIONS[name]
    place = start.pose(robot.hand("left")).translation
    for seed in range(3):
        direction = np.random.default_rng(seed).normal(size=3)
        goal = place + 0.2 * direction / np.linalg.norm(direction) + [0.0, 0.0, 0.2]
        steps = push_against(make(robot, place), robot, start, goal, order=order)
        found = [outside(displacement) for displacement in displacements(steps, robot, place)]
        assert max(found) < BEND
        assert not any(step.command.fallback for step in steps)
        if outside(goal - place) > 0.02:
            assert found[-1] == pytest.approx(0.0, abs=2e-3), "it leans against a side"


@ORDERS
@pytest.mark.parametrize("name", REGIONS)
def test_a_hand_that_starts_outside_comes_in(robot: Robot, start: State, name: str, order: int) -> None:
    make, outside = REGIONS[name]
    place = start.pose(robot.hand("left")).translation
    center = place + np.array([0.02, 0.1, -0.1])
    steps = push_against(make(robot, center), robot, start, place, order=order)
    found = np.array([outside(displacement) for displacement in displacements(steps, robot, center)])
    assert found[0] > 0.03
    assert found[-1] < 1e-3
    assert (np.diff(found) < 1e-6).all(), "it comes nearer all the time"


def test_a_region_in_a_level_yields_to_higher_levels(robot: Robot, start: State) -> None:
    place = start.pose(robot.hand("left")).translation
    goal = place + np.array([0.1, 0.1, 0.1])
    reach = Level("reach", [tasks.Position(robot.hand("left"), goal)])
    box = Level("box", [constraints.Box(robot.hand("left"), place - 0.05, place + 0.05)])
    end = run_closed_loop(Hierarchy(levels=[reach, box]), start, 1.5)[-1].state
    assert end.pose(robot.hand("left")).translation == pytest.approx(goal, abs=1e-3)
    end = run_closed_loop(Hierarchy(levels=[box, reach]), start, 1.5)[-1].state
    assert end.pose(robot.hand("left")).translation == pytest.approx(place + 0.05, abs=1e-3)


@pytest.mark.parametrize("length", [1.0, 0.01, 100.0])
def test_the_length_of_a_normal_does_not_matter(robot: Robot, start: State, length: float) -> None:
    snapshot = Snapshot(robot).at(start)
    unit = np.array([0.6, 0.0, 0.8])
    one = constraints.HalfSpace(robot.hand("left"), unit, 0.7)
    other = constraints.HalfSpace(robot.hand("left"), length * unit, length * 0.7)
    for order in (VELOCITY, ACCELERATION):
        a, b = one.rows(snapshot, layout(robot, order)), other.rows(snapshot, layout(robot, order))
        assert pytest.approx(b.A) == a.A
        assert a.upper == pytest.approx(b.upper)
        assert np.isneginf(a.lower).all()


@ORDERS
def test_a_half_space_bounds_the_center_of_mass(robot: Robot, start: State, order: int) -> None:
    x = start.center_of_mass[0]
    wall = constraints.HalfSpace(None, (1.0, 0.0, 0.0), x + 0.02)
    lean = Level("lean", [tasks.CenterOfMass((x + 0.1,), axes="x")])
    feet = Level("feet", [tasks.HoldPose(foot, at=start) for foot in robot.feet])
    steps = run_closed_loop(Hierarchy([wall], [feet, lean]), start, 1.5, order=order)
    xs = np.array([step.state.center_of_mass[0] for step in steps]) - x
    assert xs.max() < 0.02 + BEND
    assert xs[-1] == pytest.approx(0.02, abs=1e-3)


def test_a_box_of_no_size_is_a_point(robot: Robot, start: State) -> None:
    place = start.pose(robot.hand("left")).translation + np.array([0.05, 0.0, 0.05])
    box = constraints.Box(robot.hand("left"), place, place)
    end = run_closed_loop(Hierarchy([box]), start, 1.5)[-1].state
    assert end.pose(robot.hand("left")).translation == pytest.approx(place, abs=1e-3)
