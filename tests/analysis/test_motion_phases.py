"""Motions are segmented into the phases of their behavior and aligned on one scale."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import pytest

from poise.analysis import MotionPhase, align_recordings, find_phases, normalize_recording
from poise.errors import RecordingError
from poise.recording import Channel, Recording, channel_key


def progress_recording(seconds: float, period: float = 0.01, start: float = 0.0, **channels: Any) -> Recording:
    """A motion whose progress (0 to 1) is recorded, with further channels as functions of it."""
    time = start + np.arange(round(seconds / period) + 1) * period
    progress = (time - start) / seconds
    labeled = {name.replace("__", "/"): value(progress) for name, value in channels.items()}
    more = [Channel(channel_key(label), "", values, label=label) for label, values in labeled.items()]
    return Recording([Channel("time", "s", time), Channel("progress", "", progress), *more])


def phase_names(*ends: tuple[str, float]) -> Callable[[Iterable[float]], list[str]]:
    """Names of phases by the share at which they end."""

    def named(progress: Iterable[float]) -> list[str]:
        return [next(name for name, end in ends if p < end or end == 1.0) for p in progress]

    return named


def test_the_phases_are_those_that_the_behavior_names() -> None:
    recording = progress_recording(2.0, start=1.0, phase=phase_names(("lift", 0.25), ("swing", 0.75), ("land", 1.0)))
    found = find_phases(recording)
    assert [phase.name for phase in found] == ["lift", "swing", "land"]
    assert [phase.begin for phase in found] == pytest.approx([1.0, 1.5, 2.5])
    assert [phase.end for phase in found] == pytest.approx([1.5, 2.5, 3.01])  # the last sample lasts for a period


def test_without_names_a_phase_is_an_interval_with_the_same_tasks() -> None:
    recording = progress_recording(
        1.0,
        error_norm__posture__posture=lambda p: np.ones_like(p),
        error_norm__hand__to_A=lambda p: np.where(p < 0.5, 1.0, np.nan),
        error_norm__hand__to_B=lambda p: np.where(p >= 0.5, 1.0, np.nan),
        error_norm__gaze__at_B=lambda p: np.where(p >= 0.75, 1.0, np.nan),
    )
    assert [phase.name for phase in find_phases(recording)] == ["to_A", "to_B", "to_B, at_B"]


def test_a_fallback_does_not_begin_a_phase() -> None:
    recording = progress_recording(
        1.0,
        error_norm__a__a=lambda p: np.where((p > 0.2) & (p < 0.3), np.nan, 1.0),
        error_norm__b__b=lambda p: np.where(p < 0.5, np.where((p > 0.2) & (p < 0.3), np.nan, 1.0), np.nan),
    )
    assert [phase.name for phase in find_phases(recording)] == ["b", ""]


def test_without_names_or_changes_there_are_no_phases() -> None:
    assert find_phases(progress_recording(1.0)) == ()
    assert find_phases(progress_recording(1.0, phase=lambda p: [""] * len(p))) == ()
    assert find_phases(Recording([Channel("time", "s", [])])) == ()
    assert (
        find_phases(progress_recording(1.0, phase=lambda p: [str(i) for i in range(len(p))])) == ()
    )  # too many to be phases


@pytest.mark.parametrize(("seconds", "period", "start"), [(1.0, 0.01, 0.0), (3.7, 0.002, 5.0), (0.02, 0.01, 0.0)])
def test_the_whole_of_a_motion_goes_from_0_to_100_per_cent(seconds: float, period: float, start: float) -> None:
    scaled = normalize_recording(progress_recording(seconds, period, start), 101)
    assert scaled.percent.tolist() == pytest.approx(list(range(101)))
    assert 100.0 * scaled["progress"] == pytest.approx(scaled.percent, abs=1e-6)
    assert (scaled.time[0], scaled.time[-1]) == pytest.approx((start, start + seconds))


def test_phases_are_scaled_to_the_given_ends() -> None:
    recording = progress_recording(2.0, phase=phase_names(("lift", 0.25), ("land", 1.0)))
    scaled = normalize_recording(recording, 101, find_phases(recording), [50.0, 100.0])
    assert scaled["progress"][[0, 50, 100]] == pytest.approx([0.0, 0.25, 1.0])
    assert scaled["progress"][[25, 75]] == pytest.approx([0.125, 0.625])
    assert scaled.phases == (MotionPhase("lift", 0.0, 50.0), MotionPhase("land", 50.0, 100.0))
    assert scaled["phase"].tolist() == ["lift"] * 50 + ["land"] * 51


def test_motions_with_the_same_phases_are_aligned_phase_by_phase() -> None:
    fast = progress_recording(1.0, phase=phase_names(("lift", 0.2), ("land", 1.0)))
    slow = progress_recording(4.0, phase=phase_names(("lift", 0.6), ("land", 1.0)))
    one, other = align_recordings([fast, slow])
    assert one.phases == other.phases
    assert one.phases[0].end == pytest.approx(40.0, abs=0.5)
    assert one["phase"].tolist() == other["phase"].tolist()


def test_motions_with_different_phases_are_compared_as_a_whole() -> None:
    named, other = progress_recording(1.0, phase=phase_names(("lift", 0.2), ("land", 1.0))), progress_recording(2.0)
    assert [scaled.phases for scaled in align_recordings([named, other])] == [(), ()]


def test_missing_values_stay_missing_and_no_others_become_missing() -> None:
    recording = progress_recording(1.0, 0.1, value=lambda p: np.where(p > 0.55, np.nan, p))
    scaled = normalize_recording(recording, 21)
    assert np.isnan(scaled["value"]).tolist() == [share > 50.0 for share in scaled.percent]
    assert scaled["value"][:11] == pytest.approx(scaled.percent[:11] / 100.0)


def test_matrices_and_other_values_can_be_resampled_too() -> None:
    recording = progress_recording(1.0)
    scaled = normalize_recording(recording, 11)
    matrix = np.outer(recording["progress"], [1.0, 2.0])
    assert scaled.at(matrix) == pytest.approx(np.outer(scaled.percent / 100.0, [1.0, 2.0]))
    assert scaled.at(np.zeros((101, 2, 3))).shape == (11, 2, 3)
    with pytest.raises(RecordingError, match="7 values for a recording of 101 samples"):
        scaled.at(np.zeros(7))


def test_a_recording_without_duration_and_invalid_phase_ends_are_refused() -> None:
    for time in ([], [0.0], [1.0, 1.0]):
        with pytest.raises(RecordingError, match="no duration"):
            normalize_recording(Recording([Channel("time", "s", time)]))
    recording = progress_recording(1.0, phase=phase_names(("lift", 0.5), ("land", 1.0)))
    for ends in ([50.0], [50.0, 90.0], [60.0, 50.0, 100.0], [0.0, 100.0]):
        with pytest.raises(RecordingError, match="expected 2 increasing values up to 100"):
            normalize_recording(recording, 11, find_phases(recording), ends)
