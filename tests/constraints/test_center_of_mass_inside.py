"""CenterOfMassInside: the center of mass stays above the support polygon, for any contacts."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from poise import constraints, tasks
from poise.control import KinematicController
from poise.geometry import convex_hull, half_planes, margin
from poise.geometry.polygon import centroid
from poise.hierarchy import Hierarchy, Level
from poise.plants import IdealPlant, steps
from poise.robots import Robot, State
from poise.solvers import Rows
from poise.state import Snapshot
from poise.tasks import ACCELERATION, VELOCITY
from robot_states import installed_robot, layout, random_state, run_closed_loop

ORDERS = pytest.mark.parametrize("order", [VELOCITY, ACCELERATION])


@pytest.fixture(scope="module")
def robot() -> Robot:
    return installed_robot("g1")


@pytest.fixture(scope="module")
def start(robot: Robot) -> State:
    return robot.stance("standing")


def rows_at(state: State, task: tasks.Task) -> Rows:
    return task.rows(Snapshot(state.robot).at(state), layout(state.robot, VELOCITY))


def feasible_margin(rows: Rows) -> float:
    """Distance (m) of the center of mass to the nearest edge: velocity rows allow no more than 5/s times that."""
    return float(rows.upper.min()) / 5.0


def leaning_hierarchy(robot: Robot, start: State, constraint: tasks.Task, by: np.ndarray) -> Hierarchy:
    feet = Level("feet", [tasks.HoldPose(foot, at=start) for foot in robot.feet])
    lean = Level("lean", [tasks.CenterOfMass(start.center_of_mass[:2] + by, axes="xy")])
    return Hierarchy([constraint], [feet, lean, Level("posture", [tasks.Posture(start)])])


@ORDERS
@pytest.mark.parametrize("direction", [0.0, 0.8, 1.6, 3.0, 4.7])
def test_a_robot_that_leans_too_far_is_held_at_the_margin(
    robot: Robot, start: State, direction: float, order: int
) -> None:
    by = 0.3 * np.array([np.cos(direction), np.sin(direction)])
    hierarchy = leaning_hierarchy(robot, start, constraints.CenterOfMassInside(margin=0.02), by)
    found = run_closed_loop(hierarchy, start, 2.0, order=order)
    margins = [margin(start.support_polygon, step.state.center_of_mass[:2]) for step in found]
    assert min(margins) > 0.02 - 2e-4
    assert margins[-1] == pytest.approx(0.02, abs=2e-3)
    assert not any(step.command.fallback for step in found)


@given(seed=st.integers(0, 1000), keep=st.floats(-0.05, 0.0))
def test_the_rows_are_the_edges_of_the_support_polygon_for_any_feet(seed: int, keep: float) -> None:
    state = random_state(installed_robot("g1"), seed)
    rows = rows_at(state, constraints.CenterOfMassInside(margin=keep))
    A, b = half_planes(state.support_polygon)
    assert feasible_margin(rows) == pytest.approx(float(min(b - A @ state.center_of_mass[:2])) - keep, abs=1e-9)
    edges = np.isfinite(rows.upper)
    assert edges.sum() == len(b)
    assert not rows.A[~edges].any()
    assert np.isneginf(rows.lower).all()


@given(seed=st.integers(0, 1000))
def test_an_explicit_polygon_gives_the_rows_of_the_contacts(seed: int) -> None:
    state = random_state(installed_robot("g1"), seed)
    moving, fixed = (
        rows_at(state, constraints.CenterOfMassInside(margin=0.005, polygon=polygon))
        for polygon in (None, state.support_polygon)
    )
    count = len(fixed.upper)
    assert moving.A[:count] == pytest.approx(fixed.A)
    assert moving.upper[:count] == pytest.approx(fixed.upper)


def test_with_one_contact_the_polygon_is_the_sole_of_that_foot(robot: Robot, start: State) -> None:
    left = start.replace(contacts=(robot.foot("left"),))
    rows = rows_at(left, constraints.CenterOfMassInside())
    assert np.isfinite(rows.upper).sum() == 4
    assert feasible_margin(rows) < 0.0, "a point between the feet is outside the left sole"
    assert rows_at(start, constraints.CenterOfMassInside()).upper.min() > 0.0


@ORDERS
def test_when_a_foot_is_lifted_the_center_of_mass_moves_over_the_other(robot: Robot, start: State, order: int) -> None:
    left = robot.foot("left")
    feet = Level("feet", [tasks.HoldPose(foot, at=start) for foot in robot.feet])
    hierarchy = Hierarchy([constraints.CenterOfMassInside(margin=0.01)], [feet, Level("rest", [tasks.Posture(start)])])
    plant = IdealPlant(start)
    controller = KinematicController(hierarchy, order=order)
    for _ in steps(controller, plant, 0.2):
        pass
    plant.stand_on((left,))
    polygon = plant.state().support_polygon
    margins = [margin(polygon, step.state.center_of_mass[:2]) for step in steps(controller, plant, 2.0)]
    assert margins[0] < -0.01
    assert margins[-1] == pytest.approx(0.01, abs=1e-3)
    assert (np.diff(margins) > -1e-6).all(), "it comes nearer all the time"  # type: ignore[arg-type]


@ORDERS
def test_without_contacts_the_rows_are_inactive(robot: Robot, start: State, order: int) -> None:
    flying = start.replace(contacts=())
    task = constraints.CenterOfMassInside(margin=0.02)
    rows = task.rows(Snapshot(robot).at(flying), layout(robot, order))
    assert not rows.A.any()
    assert np.isposinf(rows.upper).all()
    assert np.isneginf(rows.lower).all()
    found = run_closed_loop(leaning_hierarchy(robot, flying, task, np.array([0.2, 0.0])), flying, 2.0, order=order)
    assert found[-1].state.center_of_mass[0] == pytest.approx(start.center_of_mass[0] + 0.2, abs=5e-3)


def test_the_rows_follow_changing_contacts(robot: Robot, start: State) -> None:
    """One task bound once: two feet, one, none, the other, both again."""
    from poise.tasks import Assembly

    snapshot = Snapshot(robot).at(start)
    task = constraints.CenterOfMassInside(margin=0.005)
    assembly = Assembly(snapshot, [("always", [task])], layout(robot, VELOCITY))
    left, right = robot.feet
    for contacts in ((left, right), (left,), (), (right,), (left, right)):
        state = start.replace(contacts=contacts)
        snapshot.at(state)
        assembly.write()
        fresh = rows_at(state, task)
        assert pytest.approx(fresh.A) == assembly.stack.A
        assert np.array_equal(assembly.stack.upper, fresh.upper)


def test_only_as_many_contacts_count_as_there_are_rows_for(robot: Robot, start: State) -> None:
    """Two by default; with three contacts a hand counts as a supporting point."""
    hand = robot.hand("left")
    far = start.replace(contacts=(*robot.feet, hand))
    two, three = (rows_at(far, constraints.CenterOfMassInside(contacts=n)) for n in (2, 3))
    assert np.isfinite(two.upper).sum() == len(start.support_polygon)
    assert feasible_margin(two) == pytest.approx(margin(start.support_polygon, start.center_of_mass[:2]))
    assert np.isfinite(three.upper).sum() == len(half_planes(far.support_polygon)[1])
    assert len(three.upper) > len(two.upper)
    on_hand = rows_at(start.replace(contacts=(hand,)), constraints.CenterOfMassInside())
    assert np.isfinite(on_hand.upper).sum() == 4, "a point has two pairs of sides"


@given(seed=st.integers(0, 200) | st.just(36), keep=st.floats(0.0, 1.0))
def test_a_margin_too_large_for_the_polygon_leaves_its_middle(seed: int, keep: float) -> None:
    corners = convex_hull(np.random.default_rng(seed).normal(0, 0.1, (6, 2)))
    robot = installed_robot("g1")
    state = robot.stance("standing")
    task = constraints.CenterOfMassInside(margin=keep, polygon=corners)
    rows = rows_at(state, task)
    J = Snapshot(robot).at(state).center_of_mass_jacobian
    # N c <= b as velocity rows: N J v <= -5 (N c - b).
    N = rows.A @ np.linalg.pinv(J)
    b = rows.upper / 5.0 + N @ state.center_of_mass
    middle = corners.mean(axis=0)
    assert (N[:, :2] @ middle <= b + 1e-9).all()
    assert margin(corners, centroid(corners)) > 0.0
