"""Phases of reaches: known motions of a hand, and a recorded person."""

import numpy as np
import pytest

import poise
from poise.analysis import compare_recordings, find_reaches, reach_phases
from poise.errors import RecordingError
from poise.recording import Channel, CoordinateLabels, Recording, environment_facts
from poise.robots import Robot

RATE = 100.0
#: A minimum-jerk motion is faster than a twentieth of its largest speed from this share of its duration on: the root of
#: 30 s^2 (1 - s)^2 = 0.05 * 1.875.
ONSET = 0.0597


def minimum_jerk(share: np.ndarray) -> np.ndarray:
    s = np.clip(share, 0.0, 1.0)
    return s**3 * (10.0 - 15.0 * s + 6.0 * s**2)


def hand_path(moves: list[tuple[float, float, float]], seconds: float) -> tuple[np.ndarray, np.ndarray]:
    """Return times and positions of a hand that moves along x; begin (s), duration (s), distance (m) of each move."""
    time = np.arange(round(seconds * RATE) + 1) / RATE
    x = sum(distance * minimum_jerk((time - begin) / duration) for begin, duration, distance in moves)
    return time, np.stack([np.asarray(x), np.zeros_like(time), np.ones_like(time)], axis=1)


def test_reaches_begin_and_end_where_the_hand_passes_a_twentieth_of_its_speed() -> None:
    moves = [(0.5, 1.0, 0.4), (2.5, 0.8, -0.4), (4.2, 1.2, 0.3)]
    time, position = hand_path(moves, 6.0)
    fastest = max(1.875 * abs(distance) / duration for _, duration, distance in moves)
    found = find_reaches(time, position)
    assert len(found) == 3
    for (begin, end), (start, duration, distance) in zip(found, moves, strict=True):
        share = 0.05 * fastest / (1.875 * abs(distance) / duration)  # of its own largest speed
        s = np.roots([30.0, -60.0, 30.0, 0.0, -1.875 * share])
        onset = min(each.real for each in s if abs(each.imag) < 1e-9 and 0.0 < each.real < 1.0)
        assert onset == pytest.approx(ONSET, abs=0.03)
        assert begin == pytest.approx(start + onset * duration, abs=0.035)  # the filter widens it
        assert end == pytest.approx(start + (1.0 - onset) * duration, abs=0.035)


def test_a_hand_that_only_slows_down_between_two_targets_makes_two_reaches() -> None:
    time, position = hand_path([(0.5, 1.0, 0.4), (1.4, 1.0, 0.4)], 3.0)
    assert len(find_reaches(time, position)) == 2
    time, position = hand_path([(0.5, 1.0, 0.4), (1.1, 1.0, 0.4)], 3.0)  # it hardly slows down
    assert len(find_reaches(time, position)) == 1


def test_small_movements_are_no_reaches_and_unknown_hands_are_refused() -> None:
    time, position = hand_path([(0.5, 0.6, 0.05), (2.0, 1.0, 0.3)], 4.0)
    assert len(find_reaches(time, position)) == 1
    position[50] = np.nan
    with pytest.raises(RecordingError, match="not known in all frames"):
        find_reaches(time, position)


def recording_of(robot: Robot, moves: list[tuple[float, float]], seconds: float) -> Recording:
    """Return a standing body that swings its right shoulder: begin and duration of each half of the swing (s)."""
    time = np.arange(round(seconds * RATE) + 1) / RATE
    q = np.tile(robot.stance("standing").q, (len(time), 1))
    for k, (begin, duration) in enumerate(moves):
        q[:, robot.joint("right_shoulder_flexion").q] += (-1.0) ** k * 1.2 * minimum_jerk((time - begin) / duration)
    labels = CoordinateLabels.of(robot)
    channels = [
        Channel("time", "s", time),
        Channel("q", labels.q_units, q, labels.q_labels),
        Channel("v", labels.rate_units("/s"), np.zeros((len(time), robot.model.nv)), labels.v_labels),
    ]
    return Recording(channels, environment_facts(robot), robot)


def test_two_motions_are_compared_reach_by_reach_whatever_their_durations() -> None:
    robot = poise.load_robot("human")
    slow = recording_of(robot, [(0.5, 2.0), (4.0, 2.0)], 8.0)
    fast = recording_of(robot, [(0.8, 0.7), (2.0, 0.8)], 3.5)
    names = ["rest", "reach 1", "hold 1", "reach 2", "hold 2"]
    assert [phase.name for phase in reach_phases(slow)] == names
    compared = compare_recordings(slow, fast, hand="right")
    assert [phase.name for phase in compared.phases] == names
    ends = [row for row in compared.phase_ends if row.quantity == "right hand height"]
    assert [row.first for row in ends] == pytest.approx([row.second for row in ends], abs=0.01)
    assert ends[1].first - ends[0].first > 0.2
    once = recording_of(robot, [(0.8, 0.7)], 3.0)
    with pytest.raises(RecordingError, match="2 reaches of the right hand in first, 1 in second"):
        compare_recordings(slow, once, hand="right")
    with pytest.raises(RecordingError, match="the left hand makes no reach"):
        reach_phases(slow, hand="left")
