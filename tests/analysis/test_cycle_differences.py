"""Periodicity: the difference of equal cycles is zero, and that of other cycles is the constructed one."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

from poise import runs
from poise.analysis import CyclePeriod, cycle_difference, cycle_period, joint_angles
from poise.behaviors import SquatSettings
from poise.errors import RecordingError
from poise.recording import Channel, Recording

PERIOD = 1.6
LABELS = ("x", "y", "z", "qx", "qy", "qz", "qw", "knee", "slide", "hip")
UNITS = ("m", "m", "m", "", "", "", "", "rad", "m", "rad")


def sample_times(seconds: float, step: float = 0.005) -> np.ndarray:
    return np.arange(round(seconds / step)) * step


def periodic_angles(time: np.ndarray, period: float = PERIOD) -> np.ndarray:
    """Periodic angles of two joints (n, 2), rad."""
    turn = 2.0 * np.pi * time / period
    return np.stack([0.4 * np.sin(turn) + 0.1 * np.cos(3.0 * turn), 0.7 - 0.2 * np.cos(turn)], axis=1)


def knee_and_hip_recording(
    angles: np.ndarray, time: np.ndarray, truth: np.ndarray | None = None, **facts: Any
) -> Recording:
    """A recording of a knee and a hip, with a prismatic joint between them."""

    def q(values: np.ndarray) -> np.ndarray:
        return np.column_stack([np.zeros((len(values), 7)), values[:, 0], 50.0 * time**2, values[:, 1]])

    channels = [Channel("time", "s", time), Channel("q", UNITS, q(angles), LABELS)]
    if truth is not None:
        channels.append(Channel("true/q", UNITS, q(truth), LABELS))
    return Recording(channels, facts)


@cache
def squat() -> Recording:
    request = runs.Squat(robot="hoap3", mode="kinematic", plant="ideal", settings={"cycles": 4.0})
    return request.run()[0]


def test_a_periodic_motion_differs_by_nothing_from_cycle_to_cycle() -> None:
    time = sample_times(5 * PERIOD)
    assert cycle_difference(periodic_angles(time), PERIOD, time) == pytest.approx(np.zeros((4, 2)), abs=1e-12)


def test_a_period_between_two_samples_is_interpolated() -> None:
    time, period = sample_times(10.0), 1.2345
    found = cycle_difference(periodic_angles(time, period), period, time)
    assert found.shape == (7, 2)  # the ninth cycle is incomplete
    step, fastest = 0.005, 0.4 * (2 * np.pi / period) ** 2 + 0.1 * (6 * np.pi / period) ** 2
    assert found.max() < step**2 / 8 * fastest * 2  # twice the error of linear interpolation between two samples


def test_the_difference_is_the_root_mean_square_between_two_cycles() -> None:
    """d_kj² T = ∫ (q_j(t + T) - q_j(t))² dt, with a motion whose integral is known."""
    time, drift, rising = sample_times(4 * PERIOD), 0.03, 0.002
    angles = periodic_angles(time)
    angles[:, 0] += drift * time / PERIOD  # the knee drifts: cycles are `drift` apart
    angles[:, 1] += rising * (time / PERIOD) ** 2 * np.sqrt(3.0)  # u = t / T: apart by √3 rising (2 u + 1)
    k = np.arange(3)
    integral = rising**2 * ((2 * k + 3) ** 3 - (2 * k + 1) ** 3) / 2.0  # of 3 rising² (2 u + 1)² from k to k + 1
    found = cycle_difference(angles, PERIOD, time)
    assert found[:, 0] == pytest.approx(np.full(3, drift))
    assert found[:, 1] == pytest.approx(np.sqrt(integral), rel=5e-3)


def test_differences_of_a_converging_motion_decrease() -> None:
    time = sample_times(6 * PERIOD)
    angles = periodic_angles(time) + 0.2 * np.exp(-time / PERIOD)[:, np.newaxis]
    found = cycle_difference(angles, PERIOD, time)
    assert found[1:] / found[:-1] == pytest.approx(np.exp(-1.0), rel=1e-6)


@pytest.mark.parametrize("seconds", [0.0, 0.5 * PERIOD, 1.9 * PERIOD])
def test_fewer_than_two_complete_cycles_give_no_differences(seconds: float) -> None:
    time = sample_times(seconds)
    assert cycle_difference(periodic_angles(time), PERIOD, time).shape == (0, 2)


def test_cycles_shorter_than_a_sample_and_constant_times_give_no_differences() -> None:
    time = sample_times(1.0)
    assert cycle_difference(periodic_angles(time), 1e-4, time).shape == (0, 2)
    assert cycle_difference(periodic_angles(time), PERIOD, np.zeros(len(time))).shape == (0, 2)


def test_a_recording_is_compared_by_its_revolute_joints() -> None:
    time = sample_times(3 * PERIOD)
    recording = knee_and_hip_recording(periodic_angles(time), time)
    names, angles = joint_angles(recording)
    assert names == ("knee", "hip")
    assert np.array_equal(angles, periodic_angles(time))
    assert cycle_difference(recording, PERIOD) == pytest.approx(np.zeros((2, 2)), abs=1e-12)


def test_sensor_noise_is_ignored_if_the_true_state_was_recorded() -> None:
    time = sample_times(3 * PERIOD)
    noisy = periodic_angles(time) + np.random.default_rng(0).normal(0.0, 0.05, (len(time), 2))
    assert cycle_difference(knee_and_hip_recording(noisy, time), PERIOD).min() > 0.05
    assert cycle_difference(knee_and_hip_recording(noisy, time, periodic_angles(time)), PERIOD).max() < 1e-12


def test_an_unknown_angle_makes_only_its_own_cycles_unknown() -> None:
    time = sample_times(5 * PERIOD)
    angles = periodic_angles(time)
    angles[round(2.5 * PERIOD / 0.005), 0] = np.nan  # in the third cycle
    assert np.isnan(cycle_difference(angles, PERIOD, time)).tolist() == [
        [False, False], [True, False], [True, False], [False, False],
    ]  # fmt: skip


def test_a_recording_without_angles_has_no_joints_to_compare() -> None:
    bare = Recording([Channel("time", "s", sample_times(5 * PERIOD))])
    assert cycle_difference(bare, PERIOD).shape == (4, 0)


def test_the_cycle_period_is_that_of_the_settings_or_of_their_defaults() -> None:
    time = sample_times(0.1)
    usual = CyclePeriod(1.0 / SquatSettings().frequency, int(SquatSettings().cycles))
    assert cycle_period(knee_and_hip_recording(periodic_angles(time), time, behavior="squat", settings={})) == usual
    assert cycle_period(knee_and_hip_recording(periodic_angles(time), time, behavior="squat")) == usual
    found = cycle_period(
        knee_and_hip_recording(periodic_angles(time), time, behavior="squat", settings={"frequency": 0.8, "depth": 0.1})
    )
    assert found == (pytest.approx(1.25), usual.cycles, 0.0)  # type: ignore[comparison-overlap]
    few = cycle_period(knee_and_hip_recording(periodic_angles(time), time, behavior="squat", settings={"cycles": 2.5}))  # type: ignore[unreachable]
    assert few == (usual.period, 2, 0.0)
    late = knee_and_hip_recording(periodic_angles(time), time, behavior="squat", squat_begin=4.0)
    assert cycle_period(late) == (*usual[:2], 4.0)


@pytest.mark.parametrize(
    "facts",
    [{}, {"behavior": "stand"}, {"behavior": "squat", "settings": {"frequency": 0.0}},
     {"behavior": "squat", "settings": {"frequency": "often"}}],
)  # fmt: skip
def test_a_recording_without_a_valid_squat_frequency_has_no_cycle_period(facts: dict[str, Any]) -> None:
    time = sample_times(0.1)
    assert cycle_period(knee_and_hip_recording(periodic_angles(time), time, **facts)) is None


@pytest.mark.parametrize("period", [0.0, -1.0, np.nan, np.inf, "two"])
def test_an_invalid_period_is_refused(period: object) -> None:
    with pytest.raises(RecordingError, match="expected a positive number of seconds"):
        cycle_difference(periodic_angles(sample_times(1.0)), period, sample_times(1.0))  # type: ignore[arg-type]


def test_angles_need_their_times() -> None:
    for time in (None, sample_times(0.5)):
        with pytest.raises(RecordingError, match=r"expected \(n, joints\) with time="):
            cycle_difference(periodic_angles(sample_times(1.0)), PERIOD, time)


def test_a_squat_converges_to_a_periodic_motion() -> None:
    """[Galdeano2014], figure 9."""
    settings = cycle_period(squat())
    assert settings == (2.0, 4, 0.0)
    found = cycle_difference(squat(), settings.period)
    assert found.shape == (3, 28)
    assert np.sqrt(np.mean(found**2, axis=1)).max() < 0.01
    assert found[-1].max() < found[0].max()
