"""Direction and Gaze: the error is the angle, also near the opposite direction."""

import numpy as np
import pinocchio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from poise import tasks
from poise.hierarchy import Hierarchy, Level
from poise.robots import State
from poise.state import Snapshot
from poise.tasks import ACCELERATION, VELOCITY
from robot_states import installed_robot, not_none, random_state, run_closed_loop

ROBOT = installed_robot("g1")
FREE = random_state(ROBOT, 1, speed=0.0).replace(time=0.0)


def at_angle(state: State, angle: float, around: float) -> np.ndarray:
    """A world direction at an angle to the z axis of the chest, to a random side."""
    side = np.array([np.cos(around), np.sin(around), 0.0])
    return state.pose(not_none(ROBOT.chest)).rotation @ (
        np.cos(angle) * np.array([0.0, 0.0, 1.0]) + np.sin(angle) * side
    )


@given(angle=st.floats(0.0, np.pi), around=st.floats(0.0, 6.28))
def test_the_length_of_the_error_is_the_angle(angle: float, around: float) -> None:
    task = tasks.Direction(not_none(ROBOT.chest), (0.0, 0.0, 1.0), at_angle(FREE, angle, around))
    error = task.value(Snapshot(ROBOT).at(FREE))
    assert np.linalg.norm(error) == pytest.approx(angle, abs=1e-7)


@given(angle=st.floats(0.0, 3.1), around=st.floats(0.0, 6.28))
def test_turning_about_the_axis_itself_is_free(angle: float, around: float) -> None:
    task = tasks.Direction(not_none(ROBOT.chest), (0.0, 0.0, 1.0), at_angle(FREE, angle, around))
    snapshot = Snapshot(ROBOT).at(FREE)
    target = task.target
    body = np.zeros(ROBOT.model.nv)
    body[3:6] = pinocchio.XYZQUATToSE3(FREE.q[:7]).rotation.T @ target  # the whole body turns about the target
    assert task.jacobian(snapshot) @ body == pytest.approx(0.0, abs=1e-6)


@pytest.mark.parametrize("order", [VELOCITY, ACCELERATION])
@pytest.mark.parametrize("angle", [np.pi, np.pi - 1e-10, np.pi - 1e-5, np.pi - 0.01, 2.0])
def test_an_axis_that_points_away_turns_round(angle: float, order: int) -> None:
    task = tasks.Direction(not_none(ROBOT.chest), (0.0, 0.0, 1.0), at_angle(FREE, angle, 0.3))
    steps = run_closed_loop(Hierarchy(levels=[Level("up", [task])]), FREE, 4.0, order=order)
    assert np.linalg.norm(not_none(steps[0].command.errors).values(0)) == pytest.approx(angle)
    assert np.linalg.norm(not_none(steps[-1].command.errors).values(0)) < 1e-3
    assert np.abs([step.command.velocity for step in steps]).max() < 20.0


def test_a_gaze_straight_at_its_target_has_no_error_and_behind_it_half_a_turn() -> None:
    eye = FREE.pose(ROBOT.gaze)
    snapshot = Snapshot(ROBOT).at(FREE)
    ahead, behind = (eye.act(s * np.array(ROBOT.gaze.axis)) for s in (2.0, -2.0))
    assert tasks.Gaze(ROBOT.gaze, ahead).value(snapshot) == pytest.approx(0.0, abs=1e-12)
    assert np.linalg.norm(tasks.Gaze(ROBOT.gaze, behind).value(snapshot)) == pytest.approx(np.pi)


@pytest.mark.parametrize("order", [VELOCITY, ACCELERATION])
def test_a_target_at_the_eye_itself_gives_finite_rows(order: int) -> None:
    task = tasks.Gaze(ROBOT.gaze, FREE.pose(ROBOT.gaze).translation)
    steps = run_closed_loop(
        Hierarchy(levels=[Level("look", [task]), Level("still", [tasks.Posture(FREE)])]), FREE, 0.05, order=order
    )
    for step in steps:
        assert np.isfinite(step.command.velocity).all()
        assert np.isfinite(not_none(step.command.solution).program.A).all()


def test_a_gaze_does_not_depend_on_the_distance_of_its_target() -> None:
    eye, snapshot = FREE.pose(ROBOT.gaze), Snapshot(ROBOT).at(FREE)
    direction = np.array([0.6, 0.5, -0.2])
    near, far = (tasks.Gaze(ROBOT.gaze, eye.translation + s * direction).value(snapshot).copy() for s in (0.5, 50.0))
    assert near == pytest.approx(far)
