"""RigidContact: it damps motion without position feedback in torque control, and corrects drift in kinematics."""

import numpy as np
import pytest

from contact_states import force_layout
from poise import constraints, tasks
from poise.hierarchy import Hierarchy, Level
from poise.robots import State
from poise.state import Contact, Snapshot
from poise.tasks import ACCELERATION, VELOCITY, Assembly
from robot_states import installed_robot, integrate_state, layout, not_none, random_state, run_closed_loop

ROBOT = installed_robot("g1")
START = ROBOT.stance("standing")
FOOT = ROBOT.foot("left")
ORDERS = pytest.mark.parametrize("order", [VELOCITY, ACCELERATION])


def shifted_state(by: float) -> State:
    """The stance, moved forward (m)."""
    q = START.q.copy()
    q[0] += by
    return START.replace(q=q)


@pytest.mark.parametrize("seed", range(3))
def test_with_forces_it_stops_the_contact_without_a_position_reference(seed: int) -> None:
    """J v̇ = -J̇ v - k J v, for the point in the middle of the corners, however far it is from where it began."""
    state = random_state(ROBOT, seed)
    contact = Contact(FOOT)
    snapshot = Snapshot(ROBOT).at(state)
    task = constraints.RigidContact(contact, at=START, damping=30.0)
    rows = task.rows(snapshot, force_layout(snapshot, [contact]))
    nv = ROBOT.model.nv
    assert not rows.A[:, nv:].any(), "its rows constrain the motion only"
    step, J = 1e-5, rows.A[:, :nv]
    ahead, behind = (
        task.rows(Snapshot(ROBOT).at(integrate_state(state, state.v, s)), layout(ROBOT, ACCELERATION)).A @ state.v
        for s in (step, -step)
    )
    drift = (ahead - behind) / (2 * step)
    assert rows.lower == pytest.approx(rows.upper)
    assert rows.lower == pytest.approx(-drift - 30.0 * (J @ state.v), abs=1e-5)


def test_its_rows_are_those_of_the_middle_of_the_sole() -> None:
    """The velocity of the point, by differences of its place."""
    state, step = random_state(ROBOT, 4), 1e-6
    snapshot = Snapshot(ROBOT).at(state)
    rows = constraints.RigidContact(FOOT).rows(snapshot, layout(ROBOT, VELOCITY))
    middle = FOOT.corners.mean(axis=0)
    after, before = (integrate_state(state, state.v, s).pose(FOOT).act(middle) for s in (step, -step))
    assert rows.A[:3] @ state.v == pytest.approx((after - before) / (2 * step), abs=1e-6)
    assert rows.A[3:] @ state.v == pytest.approx(snapshot.velocity(FOOT)[3:], abs=1e-9)


def test_a_point_may_turn() -> None:
    hand = constraints.RigidContact(ROBOT.hand("left"))
    assert hand.labels(ROBOT) == ("x", "y", "z")
    assert len(constraints.RigidContact(FOOT).labels(ROBOT)) == 6


@ORDERS
def test_in_kinematics_it_holds_the_place(order: int) -> None:
    path = START.center_of_mass + np.array([[0, 0, 0], [0.03, 0.03, -0.03], [0, 0, 0.0]])
    hierarchy = Hierarchy(
        levels=[
            Level("contact", [constraints.RigidContact(foot) for foot in ROBOT.feet]),
            Level("sway", [tasks.CenterOfMass(tasks.SplineTarget([0.0, 0.5, 1.0], path))]),
            Level("posture", [tasks.Posture(START)]),
        ]
    )
    end = run_closed_loop(hierarchy, START, 1.5, order=order)[-1].state
    for foot in ROBOT.feet:
        assert end.pose(foot).translation == pytest.approx(START.pose(foot).translation, abs=1e-4)


@ORDERS
def test_in_kinematics_it_corrects_an_initial_error(order: int) -> None:
    contacts = [constraints.RigidContact(foot, at=START, dynamics=tasks.Decay(20.0)) for foot in ROBOT.feet]
    end = run_closed_loop(Hierarchy(contacts), shifted_state(0.02), 1.0, order=order)[-1].state
    for foot in ROBOT.feet:
        assert end.pose(foot).translation == pytest.approx(START.pose(foot).translation, abs=1e-5)


@ORDERS
def test_in_kinematics_its_reference_may_change_with_time(order: int) -> None:
    """A minimum-jerk reference: half of the way at half of the time, all of it at the end."""
    dynamics = tasks.MinimumJerk(duration=1.0)
    contacts = [constraints.RigidContact(foot, at=START, dynamics=dynamics) for foot in ROBOT.feet]
    found = run_closed_loop(Hierarchy(contacts), shifted_state(0.04), 1.6, order=order, ramp=0.0)
    off = [step.state.pose(FOOT).translation[0] - START.pose(FOOT).translation[0] for step in found]
    assert off[20] > 0.039, "it begins gently"
    assert off[100] == pytest.approx(0.02, abs=1e-3)
    assert off[-1] == pytest.approx(0.0, abs=1e-3)


def test_a_searching_contact_moves_slowly_towards_the_surface() -> None:
    snapshot = Snapshot(ROBOT).at(START)
    contact = Contact(FOOT)
    forces = force_layout(snapshot, [contact])
    not_none(forces.forces).seeking[:] = 1.0
    rows = constraints.RigidContact(contact, damping=40.0).rows(snapshot, forces)
    assert rows.lower[:2] == pytest.approx(0.0, abs=1e-9)
    assert rows.lower[2] == pytest.approx(-40.0 * constraints.contact.SEEKING_SPEED)
    assert rows.lower[3:] == pytest.approx(0.0, abs=1e-9)


def test_the_error_of_a_contact_with_a_feed_forward_target_is_its_slip() -> None:
    """The error of a contact that is bound once counts from the target set at landing."""
    place, contact, snapshot = tasks.FeedForwardTarget(START.pose(FOOT)), Contact(FOOT), Snapshot(ROBOT).at(START)
    task = constraints.RigidContact(contact, at=place)
    assembly = Assembly(snapshot, [("contact", [task])], force_layout(snapshot, [contact]))

    def slip(state: State) -> np.ndarray:
        snapshot.at(state)
        assembly.write()
        return assembly.column("error").copy()

    assert slip(START) == pytest.approx(0.0, abs=1e-12)
    assert slip(shifted_state(0.3))[0] == pytest.approx(0.3)
    place.set(shifted_state(0.3).pose(FOOT))
    assert slip(shifted_state(0.3)) == pytest.approx(0.0, abs=1e-12)
    assert slip(shifted_state(0.31)) == pytest.approx([0.01, 0.0, 0.0, 0.0, 0.0, 0.0], abs=1e-12)


def test_a_feed_forward_target_does_not_change_the_rows_of_a_contact_with_forces() -> None:
    """With forces there is no position feedback: another target changes no row."""
    state = random_state(ROBOT, 2)
    snapshot, contact = Snapshot(ROBOT).at(state), Contact(FOOT)
    forces = force_layout(snapshot, [contact])
    still, moved = (
        constraints.RigidContact(contact, at=at).rows(snapshot, forces)
        for at in (START, tasks.FeedForwardTarget(state.pose(FOOT)))
    )
    np.testing.assert_allclose(moved.A, still.A)
    assert moved.lower == pytest.approx(still.lower)


@ORDERS
def test_in_kinematics_a_contact_follows_its_feed_forward_target(order: int) -> None:
    places = {foot: tasks.FeedForwardTarget(START.pose(foot)) for foot in ROBOT.feet}
    contacts = [constraints.RigidContact(foot, at=place, dynamics=tasks.Decay(20.0)) for foot, place in places.items()]
    for foot, place in places.items():
        place.set(shifted_state(0.02).pose(foot))
    end = run_closed_loop(Hierarchy(contacts), START, 1.0, order=order)[-1].state
    for foot in ROBOT.feet:
        assert end.pose(foot).translation == pytest.approx(shifted_state(0.02).pose(foot).translation, abs=1e-5)


@pytest.mark.parametrize("seed", range(3))
def test_a_contact_that_rolls_moves_with_the_twist_of_its_target(seed: int) -> None:
    """The target is the motion of the frame; the rows are those of the middle of the sole, k above its acceleration."""
    random = np.random.default_rng(seed)
    state = random_state(ROBOT, seed)
    contact, k = Contact(FOOT), 20.0
    snapshot = Snapshot(ROBOT).at(state)
    still, rolling = (tasks.FeedForwardTarget(state.pose(FOOT)) for _ in range(2))
    twist, change = random.normal(size=6), random.normal(size=6)
    rolling.set(state.pose(FOOT), twist, change)
    rows, moving = (
        constraints.RigidContact(contact, at=at, damping=k).rows(snapshot, force_layout(snapshot, [contact]))
        for at in (still, rolling)
    )
    arm = state.pose(FOOT).rotation @ FOOT.corners.mean(axis=0)
    w, alpha = twist[3:], change[3:]
    rate = np.concatenate([twist[:3] + np.cross(w, arm), w])
    acceleration = np.concatenate([change[:3] + np.cross(alpha, arm) + np.cross(w, np.cross(w, arm)), alpha])
    assert moving.lower - rows.lower == pytest.approx(acceleration + k * rate)


def test_a_contact_that_has_rolled_rests_again() -> None:
    snapshot, contact = Snapshot(ROBOT).at(START), Contact(FOOT)
    target = tasks.FeedForwardTarget(START.pose(FOOT))
    task = constraints.RigidContact(contact, at=target)
    assembly = Assembly(snapshot, [("contact", [task])], force_layout(snapshot, [contact]))

    def bounds() -> np.ndarray:
        assembly.write()
        return np.array(assembly.stack.program().levels[0][0].lower)

    before = bounds()
    for _ in range(3):
        target.set(START.pose(FOOT), np.ones(6), np.ones(6))
        rolled = bounds()
    assert np.abs(rolled - before).min() > 1.0
    assert rolled == pytest.approx(bounds()), "the rate of the target does not add up from tick to tick"
    target.set(START.pose(FOOT))
    assert bounds() == pytest.approx(before)
