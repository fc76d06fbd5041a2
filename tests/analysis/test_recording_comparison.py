"""Two recordings of one task, phase by phase."""

from __future__ import annotations

import numpy as np
import pytest

import poise
from poise.analysis import compare_recordings
from poise.analysis.recording_comparison import limb_torques
from poise.errors import RecordingError
from poise.recording import Channel, CoordinateLabels, Recording
from poise.robots import Robot


@pytest.fixture(scope="module")
def robot() -> Robot:
    return poise.load_robot("human")


def motion(robot: Robot, seconds: float, knee: float = 0.6, torque: float | None = None) -> Recording:
    """Lifts the left foot by bending hip and knee, then turns head and trunk, in two phases of equal length."""
    n = round(seconds / 0.01)
    share = np.linspace(0.0, 1.0, n)
    q = np.tile(robot.stance("standing").q, (n, 1))
    up, turn = np.clip(2.0 * share, 0.0, 1.0), np.clip(2.0 * share - 1.0, 0.0, 1.0)
    q[:, robot.joint("left_knee_flexion").q] += knee * up
    q[:, robot.joint("left_hip_flexion").q] += 0.5 * knee * up
    q[:, robot.joint("neck_rotation").q] += 0.7 * turn
    q[:, robot.joint("lumbar_extension").q] -= 0.3 * turn
    body = CoordinateLabels.of(robot)
    words = np.array(["lift" if s < 0.5 else "turn" for s in share], dtype=object)
    channels = [
        Channel("time", "s", 0.01 * np.arange(n)),
        Channel("q", body.q_units, q, body.q_labels),
        Channel("v", body.rate_units("/s"), np.zeros((n, robot.model.nv)), body.v_labels),
        Channel("phase", "", words),
    ]
    if torque is not None:
        names, units = body.effort_labels(len(robot.joints))
        values = torque * np.sin(4.0 * np.pi * share)[:, np.newaxis] * np.ones(len(names))
        channels.append(Channel("command/torque", units, values, names))
    return Recording(channels, robot=robot)


def test_a_motion_equals_itself_played_at_another_speed(robot: Robot) -> None:
    found = compare_recordings(motion(robot, 2.0), motion(robot, 5.0))
    assert [phase.name for phase in found.phases] == ["lift", "turn"]
    assert found.distance.max() < 0.02
    for ending in found.phase_ends:
        assert ending.first == pytest.approx(ending.second, abs=0.02 if ending.unit == "m" else 1.0)


def test_differences_appear_in_heights_knee_angles_and_ranges_at_the_end_of_a_phase(robot: Robot) -> None:
    found = compare_recordings(motion(robot, 3.0, knee=0.9), motion(robot, 3.0, knee=0.6))
    ends = {(row.phase, row.quantity): row for row in found.phase_ends}
    knee = ends["lift", "left knee flexion"]
    assert knee.first - knee.second == pytest.approx(np.degrees(0.3), abs=1.0)
    assert ends["lift", "left foot height"].first > ends["lift", "left foot height"].second + 0.02
    assert ends["lift", "right foot height"].first == pytest.approx(0.0, abs=1e-9)
    assert ends["turn", "head turn"].first == pytest.approx(np.degrees(0.7), abs=1.0)
    assert ends["turn", "trunk forward"].first - ends["lift", "trunk forward"].first == pytest.approx(17.2, abs=1.0)
    assert found.ranges["left_knee_flexion"] == pytest.approx((np.degrees(0.9), np.degrees(0.6)), abs=0.1)
    joints = len(robot.joints)
    assert found.distance[-1] == pytest.approx(np.sqrt((0.3**2 + 0.15**2) / joints), rel=0.02)
    assert set(found.distances()) == {"1 lift", "2 turn"}


def test_torques_are_compared_by_limb_and_phase_where_there_are_any(robot: Robot) -> None:
    one, two = motion(robot, 2.0), motion(robot, 2.0, torque=robot.mass)
    found = compare_recordings(one, two)
    assert found.torques[0] == ()
    legs = {own.limb: own for own in found.torques[1]}
    assert legs["left leg"].peak == pytest.approx(1.0, abs=0.01)
    assert legs["left leg"].effort == pytest.approx(np.sqrt(7 / 2), rel=0.02)  # seven joints, a sine
    assert legs["left leg"].peak_rate == pytest.approx(4.0 * np.pi / 2.0, rel=0.02)
    lift = [row for row in found.efforts if (row.phase, row.limb) == ("lift", "left leg")]
    assert np.isnan(lift[0].first)
    assert lift[0].second == pytest.approx(np.sqrt(7 / 2), rel=0.03)
    assert limb_torques(one, robot) == ()


def test_bodies_that_differ_are_compared_by_their_anatomy(robot: Robot) -> None:
    tall = poise.load_robot("human", height=1.9)
    same = compare_recordings(motion(robot, 2.0), motion(tall, 2.0))
    assert same.distance.max() < 0.02
    assert same.curve("left hand height").second[0] > same.curve("left hand height").first[0]


def test_a_recording_of_an_unknown_robot_is_refused(robot: Robot) -> None:
    channels = motion(robot, 1.0).channels.values()
    with pytest.raises(RecordingError, match="pass the robot"):
        compare_recordings(Recording(channels), motion(robot, 1.0))


def test_an_unknown_curve_is_refused_with_the_available_names(robot: Robot) -> None:
    found = compare_recordings(motion(robot, 1.0), motion(robot, 1.0))
    with pytest.raises(RecordingError, match="left foot height"):
        found.curve("left ear height")
