"""[Saab2012] sections 3 and 4: one stack of tasks, without physics, with torques, and in physics; torque peaks."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from poise import Recording, runs
from poise.behaviors import Reach
from robot_states import installed_robot

pytestmark = pytest.mark.needs_models

MODES = [("kinematic", "ideal"), ("torque", "ideal"), ("torque", "mujoco")]


@cache
def run_reach(
    robot: str, mode: str, plant: str, profile: str, targets: str = "middle"
) -> tuple[Recording, runs.Result]:
    return runs.Reach(robot=robot, mode=mode, plant=plant, profile=profile, targets=targets).run()


@pytest.mark.parametrize(
    ("robot", "mode", "plant"),
    [("g1", *each) for each in MODES]
    + [pytest.param("talos", *each, marks=[pytest.mark.slow] * ("ideal" in each)) for each in MODES],
)
def test_one_stack_reaches_all_targets_in_every_mode(robot: str, mode: str, plant: str) -> None:
    recording, result = run_reach(robot, mode, plant, "minimum-jerk")
    assert (result["fell"], result["reason"]) == (False, None)
    assert max(result["reach_errors_m"]) < 0.01
    assert sum(result["fallbacks"].values()) == 0
    tasks = {level.name for level in recording.residuals()} - {"physics"}
    assert tasks == {"always", "contact", "balance", "left foot", "left hand", "right hand", "gaze", "posture"}


@pytest.mark.parametrize(
    ("robot", "profile"),
    [
        ("g1", "exponential"),
        ("g1", "minimum-jerk"),
        ("talos", "minimum-jerk"),
        pytest.param("talos", "exponential", marks=pytest.mark.slow),
    ],
)
def test_in_physics_it_keeps_balance_boxes_sole_and_torque_limits(robot: str, profile: str) -> None:
    recording, result = run_reach(robot, "torque", "mujoco", profile)
    body = installed_robot(robot)
    reach, states = Reach(body, targets="middle"), list(recording.states(body))
    assert not result["fell"]
    assert max(result["reach_errors_m"]) < 0.01
    off = max(np.linalg.norm(state.center_of_mass[:2] - reach.start.support_center) for state in states)
    assert off < 0.01
    assert max(reach.box_violation(part, states) for part in ("hand", "foot")) < 0.005
    sole = [state.pose(body.foot("right")).rotation[2, 2] for state in states]
    assert np.degrees(np.arccos(min(min(sole), 1.0))) < 1.0
    assert (np.abs(recording["command/torque"]) <= body.limits.torque + 1e-9).all()
    assert result["zmp_margin_m"] > 0.0


@pytest.mark.parametrize(
    ("robot", "mode", "plant"),
    [("talos", "torque", "mujoco")]  # the heaviest one, whose hip and trunk motors saturate first
    + [
        pytest.param(name, *each, marks=pytest.mark.slow)
        for name in ("g1", "human", "talos")
        for each in (("kinematic", "ideal"), ("torque", "ideal"), ("torque", "mujoco"))
        if (name, *each) != ("talos", "torque", "mujoco")
    ],
)
def test_the_targets_of_the_paper_near_the_floor_are_the_default_and_reached(robot: str, mode: str, plant: str) -> None:
    """With torques in MuJoCo the base sinks far below its height at the start, and the robot rises again."""
    recording, result = run_reach(robot, mode, plant, "exponential", targets="")
    assert (result["targets"], result["fell"], result["reason"]) == ("floor", False, None)
    assert sum(result["fallbacks"].values()) == 0
    body = installed_robot(robot)
    reach, states = Reach(body), list(recording.states(body))
    hand = body.hand("right")
    for phase in (phase for phase in reach.phases if phase.is_target):
        at_end = states[round(phase.end / recording.period) - 1]
        assert np.linalg.norm(at_end.pose(hand).translation - phase.point) < 0.005, phase.name
    lowest = min(state.pose(hand).translation[2] for state in states)
    assert 0.0 < lowest < 0.16 * body.height
    assert max(reach.box_violation(part, states) for part in ("hand", "foot")) < 0.005
    if mode == "torque":
        assert (np.abs(recording["command/torque"]) <= body.limits.torque + 1e-9).all()


@pytest.mark.parametrize(
    ("robot", "plant"),
    [("g1", "mujoco")]
    + [
        pytest.param(*each, marks=pytest.mark.slow)
        for each in [("g1", "ideal"), ("talos", "ideal"), ("talos", "mujoco")]
    ],
)
def test_minimum_jerk_and_ramped_insertion_remove_the_torque_peaks(robot: str, plant: str) -> None:
    """Section 4.2: "sudden peaks appear in the case of the robot". A third at most, at no more effort."""
    rates, efforts = {}, {}
    for profile in ("exponential", "minimum-jerk"):
        recording, _ = run_reach(robot, "torque", plant, profile)
        torque = recording["command/torque"]
        rates[profile] = np.abs(np.diff(torque, axis=0)).max() / recording.period
        efforts[profile] = np.sqrt(np.mean(torque**2))
    assert rates["exponential"] > 3.0 * rates["minimum-jerk"]
    assert efforts["minimum-jerk"] <= efforts["exponential"]


def test_the_kinematic_motion_would_need_more_ground_than_there_is_and_the_dynamic_one_does_not() -> None:
    """Why dynamics matter: on one foot, the ZMP of the kinematic motion leaves the sole."""
    kinematic = run_reach("g1", "kinematic", "ideal", "minimum-jerk")[1]["zmp_margin_m"]
    dynamic = run_reach("g1", "torque", "ideal", "minimum-jerk")[1]["zmp_margin_m"]
    assert kinematic < 0.0 < dynamic
