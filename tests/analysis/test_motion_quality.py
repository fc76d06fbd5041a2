"""Measures of a motion as a whole are those of motions whose formulas are known."""

from __future__ import annotations

import math

import numpy as np
import pinocchio
import pytest

from poise.analysis import (
    base_displacement,
    largest_foot_slip,
    largest_sole_tilt,
    largest_trunk_tilt,
    torque_saturation,
    true_state,
    zmp_margin,
)
from poise.recording import Channel, CoordinateLabels, Recording
from poise.robots import Robot, State
from robot_states import installed_robot

PERIOD = 0.01


@pytest.fixture(scope="module")
def robot() -> Robot:
    return installed_robot("g1")


def placed_configuration(
    robot: Robot, x: float = 0.0, y: float = 0.0, yaw: float = 0.0, pitch: float = 0.0
) -> np.ndarray:
    """The stance, moved and turned as a whole about the origin of the world."""
    q = robot.stance("standing").q.copy()
    turn = pinocchio.SE3(pinocchio.rpy.rpyToMatrix(0.0, pitch, yaw), np.array([x, y, 0.0]))
    q[:7] = pinocchio.SE3ToXYZQUAT(turn * pinocchio.XYZQUATToSE3(q[:7]))
    return q


def make_recording(robot: Robot, q: np.ndarray, *more: Channel) -> Recording:
    body = CoordinateLabels.of(robot)
    channels = [
        Channel("time", "s", PERIOD * np.arange(len(q))),
        Channel("q", "", q, body.q_labels),
        Channel("v", "", np.zeros((len(q), robot.model.nv)), body.v_labels),
    ]
    return Recording([*channels, *more], {"robot": robot.name}, robot)


def test_slip_counts_from_the_begin_of_each_single_support(robot: Robot) -> None:
    names = ["standing"] * 10 + ["left support"] * 20 + ["double support"] * 10 + ["right support"] * 20
    x = np.zeros(60)
    x[20:30] = 0.004  # the left foot jumps by 4 mm in single support
    x[30:] = 0.5  # displacements in double support do not count as slip
    x[50:] = 0.5 - 0.007
    recording = make_recording(
        robot, np.array([placed_configuration(robot, value) for value in x]), Channel("phase", "", names)
    )
    states = list(recording.states(robot))
    assert largest_foot_slip(recording, states, robot) == pytest.approx(0.007)
    assert largest_foot_slip(recording, states[:45], robot) == pytest.approx(0.004)
    assert largest_foot_slip(recording, states[:10], robot) == 0.0


def test_the_base_is_displaced_over_the_ground_and_about_the_vertical(robot: Robot) -> None:
    first, last = (State(robot, placed_configuration(robot, *where)) for where in ((0.0, 0.0, 0.0), (3.0, 4.0, 0.7)))
    base = robot.frame("root_joint")
    displacement = (last.pose(base).translation - first.pose(base).translation)[:2]
    found = base_displacement([first, State(robot, placed_configuration(robot, -9.0)), last])
    assert found.distance == pytest.approx(math.hypot(*displacement))
    assert found.heading == pytest.approx(0.7)


def test_tilts_are_the_largest_of_all_states(robot: Robot) -> None:
    states = [
        State(robot, placed_configuration(robot, yaw=1.0, pitch=angle), contacts=robot.feet)
        for angle in (0.0, 0.3, -0.1)
    ]
    assert largest_trunk_tilt(states, robot) == pytest.approx(0.3)
    assert largest_sole_tilt(states, robot) == pytest.approx(0.3)
    in_the_air = [State(robot, state.q) for state in states]
    assert largest_sole_tilt(in_the_air, robot) == 0.0


def test_a_saturated_motor_is_listed_with_its_duration(robot: Robot) -> None:
    limits = robot.limits.torque
    torque = np.zeros((100, len(limits)))
    torque[10:35, 3] = -limits[3]
    torque[:, 5] = 0.99 * limits[5]
    q = np.tile(placed_configuration(robot), (100, 1))
    recording = make_recording(robot, q, Channel("command/torque", "N m", torque, CoordinateLabels.of(robot).joints))
    found = torque_saturation(recording, robot)
    assert found == {robot.joints[3].name: {"seconds": pytest.approx(0.25), "limit_Nm": pytest.approx(limits[3])}}  # type: ignore[comparison-overlap]
    assert torque_saturation(make_recording(robot, q), robot) is None


def test_the_margin_of_a_sensed_center_of_pressure_is_its_distance_from_the_edge(robot: Robot) -> None:
    q = np.tile(placed_configuration(robot), (5, 1))
    polygon = State(robot, q[0], contacts=robot.feet).support_polygon
    edge = float(polygon[:, 0].max())
    pressure = np.tile([edge - 0.02, 0.0], (5, 1))
    pressure[2, 0] = edge - 0.005
    pressure[0, 0] = edge + 1.0  # the first and the last sample do not count
    feet = ", ".join(foot.name for foot in robot.feet)
    recording = make_recording(
        robot, q, Channel("contacts", "", [feet] * 5), Channel("center_of_pressure", "m", pressure, ("x", "y"))
    )
    assert zmp_margin(recording, robot) == pytest.approx(0.005, abs=1e-9)
    assert zmp_margin(make_recording(robot, q), robot) is None


def test_true_states_replace_measured_ones_where_they_are_numbers(robot: Robot) -> None:
    q = np.tile(placed_configuration(robot), (3, 1))
    truth = q + 1.0
    truth[1] = np.nan
    found = true_state(make_recording(robot, q, Channel("true/q", "", truth, CoordinateLabels.of(robot).q_labels)), "q")
    np.testing.assert_array_equal(found, [q[0] + 1.0, q[1], q[2] + 1.0])
