"""[Sugihara2008] section V, figures 9 to 11: down three steps foot by foot, across the room, a hand to the door."""

from __future__ import annotations

from functools import cache
from itertools import groupby, pairwise

import numpy as np
import pytest

from poise import Recording, runs
from poise.report.guided_motion import actual_paths, planned_paths
from poise.report.recording_view import recording_views
from poise.runs import Scenario
from robot_states import installed_robot

RUNS = [
    pytest.param("mighty", "kinematic", id="mighty, kinematics"),
    pytest.param("mighty", "position", id="mighty, servos", marks=pytest.mark.slow),
    pytest.param("g1", "torque", id="g1, torques", marks=[pytest.mark.needs_models, pytest.mark.slow]),
]
scenarios = pytest.mark.parametrize(("name", "mode"), RUNS)


@cache
def run_scenario(name: str, mode: str) -> tuple[Recording, runs.Result]:
    return runs.Navigate(robot=name, mode=mode, scenario=True).run()


@scenarios
def test_the_scenario_ends_with_both_feet_in_the_room_and_the_left_hand_at_the_door(name: str, mode: str) -> None:
    recording, result = run_scenario(name, mode)
    assert (result["fell"], result["reason"]) == (False, None)
    robot = installed_robot(name)
    stage = Scenario.of(robot).stage
    last = recording.state(recording.samples - 1, robot)
    hand = last.pose(robot.hand("left")).translation
    assert np.linalg.norm(hand - stage.target) <= 0.01
    assert hand[0] < stage.door_x
    for foot in robot.feet:
        corners = foot.corners @ last.pose(foot).rotation.T + last.pose(foot).translation
        assert corners[:, 0].min() > stage.edges[-1]
        assert np.abs(corners[:, 2] - stage.floor).max() < 0.01


@scenarios
def test_feet_then_trunk_then_hand_are_guided(name: str, mode: str) -> None:
    found = run_scenario(name, mode)[0].provenance["segments"]
    order = [point for point, _ in groupby(each["mode"].split()[-1] for each in found)]
    assert order == ["foot", "trunk", "hand"]


@scenarios
def test_on_the_stairs_each_foot_is_lifted_moved_in_the_air_and_put_down(name: str, mode: str) -> None:
    found = [each for each in run_scenario(name, mode)[0].provenance["segments"] if each["mode"].endswith("foot")]
    airborne = [each["foot_in_air"] is not None for each in found]
    runs_of_air = [len(list(group)) for lifted, group in groupby(airborne) if lifted]
    assert len(runs_of_air) >= 7  # to the edge, and both feet down three steps
    assert min(runs_of_air) >= 2  # lifted, and moved at least once
    assert not airborne[-1]


@scenarios
def test_the_hand_pulls_the_body_and_the_robot_decides_on_a_step(name: str, mode: str) -> None:
    found = [each for each in run_scenario(name, mode)[0].provenance["segments"] if each["mode"] == "left hand"]
    centers = np.array([each["goal"]["center"] for each in found])
    assert centers[-1, 0] > centers[0, 0] + 0.02
    assert any(each["swing_foot"] for each in found)


@scenarios
def test_the_zero_moment_point_is_planned_inside_the_support(name: str, mode: str) -> None:
    found = run_scenario(name, mode)[0].provenance["segments"]
    assert {each["outcome"] for each in found} == {"commanded"}
    assert min(each["margin"] for each in found) >= 0.0


@scenarios
def test_feet_never_stand_on_an_edge(name: str, mode: str) -> None:
    """All four corners of each sole are planned onto one tread."""
    robot = installed_robot(name)
    stage = Scenario.of(robot).stage
    footsteps = [
        each
        for each in run_scenario(name, mode)[0].provenance["segments"]
        if each["swing_foot"] and each["foot_in_air"] is None
    ]
    assert len(footsteps) >= stage.count
    for each in footsteps:
        x, y, z = each["goal"][f"{each['swing_foot']} foot"]
        ends = {stage.elevation(x - stage.sole_half_size[0], y), stage.elevation(x + stage.sole_half_size[0], y)}
        assert len(ends) == 1
        assert z == pytest.approx(ends.pop(), abs=1e-3)


@scenarios
def test_actual_loci_follow_the_planned_ones(name: str, mode: str) -> None:
    """Figures 10 and 11: feet land as planned, with about a centimeter of slip."""
    recording, _ = run_scenario(name, mode)
    (view,) = recording_views({name: recording})
    found = recording.provenance["segments"]
    planned = planned_paths(found)
    actual_points = actual_paths(view, list(planned))
    assert actual_points is not None
    assert set(actual_points) == set(planned) == {"center", "left foot", "right foot", "left hand", "right hand"}
    feet = [f"{side} foot" for side in ("left", "right")]
    for each, after in pairwise(found):
        now = min(int(np.searchsorted(recording.time, after["time"] - 1e-6)), recording.samples - 1)
        for name_of_point in feet:
            goal = np.array(each["goal"][name_of_point])
            assert np.linalg.norm(actual_points[name_of_point][now] - goal) < 0.012
        assert np.linalg.norm(actual_points["center"][now] - np.array(each["goal"]["center"])) < 0.03
