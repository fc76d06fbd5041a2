"""Short walks in physics: number of steps, phases, and feet side by side at the end."""

from __future__ import annotations

from functools import cache

import numpy as np
import pinocchio
import pytest

from poise.behaviors import Walk, WalkSettings
from poise.behaviors.walk_tasks import WEIGHTS
from poise.plans import NEUTRAL
from poise.solvers import Weighted
from poise.state import Snapshot
from robot_states import installed_robot
from walk_trials import WalkTrial

pytestmark = pytest.mark.needs_models

ROBOTS = pytest.mark.parametrize("name", ["g1", "talos", "nao"])


@cache
def run_walk(name: str, steps: int) -> WalkTrial:
    return WalkTrial(Walk(installed_robot(name), steps=steps)).run_to_stop()


def center_displacement(trial: WalkTrial) -> np.ndarray:
    """Displacement of the center of mass since the start (m)."""
    return np.asarray(trial.plant.truth().center_of_mass - trial.plant.start.center_of_mass)


@ROBOTS
def test_it_makes_its_steps_and_ends_standing_side_by_side(name: str) -> None:
    trial = run_walk(name, 4)
    assert trial.plant.fall == ""
    assert trial.walk.phase().steps == 4
    assert trial.stands
    assert trial.fallbacks == set()
    # Three steps of full length: the fourth only brings the feet side by side.
    expected = 3.0 * NEUTRAL.step_length * trial.walk.body.leg_length
    assert center_displacement(trial)[0] == pytest.approx(expected, rel=0.25)
    assert np.abs(trial.errors).max() < 0.12


@ROBOTS
def test_its_phases_alternate(name: str) -> None:
    assert run_walk(name, 4).phase_names == [
        "standing",
        "starting",
        "right support",
        "double support",
        "left support",
        "double support",
        "right support",
        "double support",
        "left support",
        "stopping",
        "standing",
    ]


@ROBOTS
def test_its_hierarchies_are_bound_before_they_are_needed(name: str) -> None:
    trial = run_walk(name, 4)
    assert trial.bind_count == len(trial.walk.hierarchies) == 6  # three of the walk, three of a recovery
    fresh = WalkTrial(Walk(installed_robot(name), steps=4)).run(0.002)
    assert fresh.bind_count == 6, "at the first tick"


def test_a_walk_of_no_steps_stands_still() -> None:
    trial = WalkTrial(Walk(installed_robot("g1"), steps=0)).run(1.5)
    assert trial.phase_names == ["standing"]
    assert trial.stands
    assert center_displacement(trial) == pytest.approx(0.0, abs=2e-3)
    assert np.abs(trial.errors).max() < 2e-3


def test_a_walk_stopped_before_its_start_keeps_standing() -> None:
    walk = Walk(installed_robot("g1"))
    walk.stop()
    assert WalkTrial(walk).run(1.5).phase_names == ["standing"]


@pytest.mark.parametrize("name", ["g1", "nao"])
def test_it_walks_with_touchdowns_detected_by_force(name: str) -> None:
    trial = WalkTrial(Walk(installed_robot(name), steps=3, settings=WalkSettings(touchdown="force"))).run_to_stop()
    assert trial.plant.fall == ""
    assert trial.walk.phase().steps == 3
    assert trial.stands


def test_it_walks_with_the_weights_of_the_paper() -> None:
    trial = WalkTrial(Walk(installed_robot("g1"), steps=3), solver=Weighted(WEIGHTS)).run_to_stop()
    assert trial.plant.fall == ""
    assert trial.stands


@pytest.mark.parametrize(
    ("speed", "axis"),
    [((-0.2, 0.0, 0.0), (-1.0, 0.0)), ((0.0, 0.1, 0.0), (0.0, 1.0)), ((0.0, -0.1, 0.0), (0.0, -1.0))],
    ids=["backward", "to the left", "to the right"],
)
def test_it_walks_in_the_commanded_direction(speed: tuple[float, float, float], axis: tuple[float, float]) -> None:
    trial = WalkTrial(Walk(installed_robot("g1"), speed=speed, steps=4)).run_to_stop()
    assert trial.stands
    along = center_displacement(trial)[:2] @ np.array(axis)
    assert along > 0.1
    assert np.linalg.norm(center_displacement(trial)[:2]) < 1.3 * along


def test_it_turns() -> None:
    trial = WalkTrial(Walk(installed_robot("g1"), speed=(0.0, 0.0, 0.5), steps=4)).run_to_stop()
    assert trial.stands
    foot = trial.plant.truth().pose(installed_robot("g1").foot("left")).rotation
    expected = 3.0 * 0.5 * trial.walk.footstep_plan.gait.timing.step  # the last step brings the feet side by side
    assert np.arctan2(foot[1, 0], foot[0, 0]) == pytest.approx(expected, abs=0.1)


def test_a_second_evaluation_at_the_same_time_changes_nothing() -> None:
    robot = installed_robot("g1")
    walk, snapshot = Walk(robot, steps=2), Snapshot(robot).at(robot.stance("standing"))
    first = walk(snapshot)
    phase, acceleration = walk.phase(), walk.task_set.center.acceleration.copy()
    assert walk(snapshot) is first
    assert walk.phase() is phase
    assert (walk.task_set.center.acceleration == acceleration).all()


def test_it_starts_from_where_the_robot_stands() -> None:
    """With the robot at another place and heading, all steps are there, too."""
    robot, turn = installed_robot("g1"), 2.0
    start = robot.stance("standing")
    q = start.q.copy()
    heading = np.array([np.cos(turn), np.sin(turn)])
    q[:2] = (1.0, -2.0) + np.array([[heading[0], -heading[1]], [heading[1], heading[0]]]) @ q[:2]
    q[3:7] = (
        pinocchio.Quaternion(np.cos(turn / 2), 0.0, 0.0, np.sin(turn / 2)) * pinocchio.Quaternion(q[3:7])
    ).coeffs()
    trial = WalkTrial(Walk(robot, steps=3, start=start.replace(q=q))).run_to_stop()
    assert trial.stands
    went = center_displacement(trial)[:2]
    assert went @ heading == pytest.approx(2.0 * NEUTRAL.step_length * trial.walk.body.leg_length, rel=0.25)
    assert np.linalg.norm(went) < 1.1 * (went @ heading)
