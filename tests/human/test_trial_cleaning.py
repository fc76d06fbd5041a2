"""Gap filling and low-pass filter of trials."""

from __future__ import annotations

import numpy as np
import pytest
from marker_files import mocap

from poise import human
from poise.analysis.signals import DOUBLE_PASS

RATE = 100.0


def circling_markers(frames: int = 300, hertz: float = 1.0, labels: tuple[str, ...] = ("A", "B")) -> human.Trial:
    """Markers that move on circles of 10 cm."""
    time = np.arange(frames) / RATE
    phase = 2.0 * np.pi * hertz * time[:, None] + np.arange(len(labels))
    positions = 0.1 * np.stack([np.cos(phase), np.sin(phase), np.sin(phase + 1.0)], axis=-1)
    return human.Trial("made", RATE, time, labels, positions)


def remove_samples(trial: human.Trial, *gaps: tuple[int, int, int]) -> human.Trial:
    """Remove samples of markers: (marker, first frame, frames)."""
    positions = trial.positions.copy()
    for marker, first, count in gaps:
        positions[first : first + count, marker] = np.nan
    return trial.replace(positions=positions)


def test_gaps_up_to_a_tenth_of_a_second_are_filled_with_the_true_positions() -> None:
    trial = circling_markers()
    cleaned = human.fill_gaps(remove_samples(trial, (0, 50, 10), (0, 100, 1), (1, 200, 4)))
    np.testing.assert_allclose(cleaned.positions, trial.positions, atol=5e-4)
    assert cleaned.notes == ("Gaps up to 0.1 s filled: 2 in A, 1 in B.",)


def test_longer_gaps_and_gaps_at_the_ends_stay_and_are_named() -> None:
    broken = remove_samples(circling_markers(), (0, 50, 11), (1, 0, 3), (1, 298, 2))
    cleaned = human.fill_gaps(broken)
    np.testing.assert_array_equal(cleaned.positions, broken.positions)
    assert cleaned.notes == ("Gaps not filled, too long or at an end: A (0.11 s), B (0.03 s).",)


def test_measured_samples_are_not_changed() -> None:
    broken = remove_samples(circling_markers(), (0, 50, 10))
    measured = np.isfinite(broken.positions)
    np.testing.assert_array_equal(human.fill_gaps(broken).positions[measured], broken.positions[measured])


def test_how_long_a_gap_may_be_is_the_users_choice() -> None:
    broken = remove_samples(circling_markers(), (0, 50, 20))
    assert np.isnan(human.fill_gaps(broken, longest=0.19).positions).any()
    np.testing.assert_allclose(human.fill_gaps(broken, longest=0.2).positions, circling_markers().positions, atol=2e-3)
    assert np.isnan(human.fill_gaps(remove_samples(circling_markers(), (0, 50, 1)), longest=0.0).positions).any()


def test_a_gap_with_few_samples_around_it_is_filled_linearly() -> None:
    trial = remove_samples(circling_markers(5), (0, 1, 3))
    middle = human.fill_gaps(trial).positions[2, 0]
    np.testing.assert_allclose(middle, (trial.positions[0, 0] + trial.positions[4, 0]) / 2.0)


def test_gaps_cut_into_a_recorded_walk_are_filled_to_millimetres() -> None:
    trial = human.read_trial(mocap("pig_one/PiG_Motion-FlatFoot-One.c3d"))
    rng = np.random.default_rng(0)
    gaps = [(marker, int(rng.integers(20, 220)), 5) for marker in range(len(trial.labels))]
    error = np.linalg.norm(human.fill_gaps(remove_samples(trial, *gaps)).positions - trial.positions, axis=2)
    cut = np.concatenate([error[first : first + count, marker] for marker, first, count in gaps])
    assert np.sqrt(np.nanmean(cut**2)) < 0.5e-3
    assert np.nanmax(cut) < 5e-3


@pytest.mark.parametrize("cutoff", [3.0, 6.0, 12.0, 30.0])
def test_at_the_cutoff_the_amplitude_falls_to_one_over_root_two_without_delay(cutoff: float) -> None:
    trial = circling_markers(1000, cutoff)
    smooth = human.low_pass_markers(trial, cutoff).positions[200:800]
    raw = trial.positions[200:800]
    gain = (smooth * raw).sum() / (raw * raw).sum()  # the component in phase
    assert gain == pytest.approx(1.0 / np.sqrt(2.0), rel=1e-3)
    np.testing.assert_allclose(smooth, gain * raw, atol=2e-4)


def test_the_correction_for_two_passes_is_that_of_the_filter() -> None:
    # |H(f)|² of one pass is 1 / (1 + (f / f_c)⁴), which is the gain of two passes
    assert pytest.approx(1.0 / np.sqrt(2.0)) == 1.0 / (1.0 + DOUBLE_PASS**4)
    assert pytest.approx(0.802, abs=5e-4) == DOUBLE_PASS


def test_slow_motion_passes_and_fast_noise_does_not() -> None:
    trial = circling_markers(hertz=0.5)
    noise = 0.002 * np.sin(2.0 * np.pi * 30.0 * trial.time)[:, None, None]
    smooth = human.low_pass_markers(trial.replace(positions=trial.positions + noise))
    inner = slice(20, -20)  # at the ends there are no samples beyond to average the noise with
    np.testing.assert_allclose(smooth.positions[inner], trial.positions[inner], atol=2e-4)
    assert smooth.notes == ("Markers low-pass filtered at 6 Hz (second-order Butterworth, zero-phase).",)


def test_each_stretch_between_gaps_is_filtered_by_itself() -> None:
    broken = remove_samples(circling_markers(), (0, 100, 30))
    smooth = human.low_pass_markers(broken)
    np.testing.assert_array_equal(np.isnan(smooth.positions), np.isnan(broken.positions))
    alone = human.low_pass_markers(broken.replace(time=broken.time[:100], positions=broken.positions[:100]))
    np.testing.assert_allclose(smooth.positions[:100, 0], alone.positions[:, 0])


@pytest.mark.parametrize("frames", [1, 2, 3, 4, 5, 8])
def test_short_stretches_neither_fail_nor_become_nan(frames: int) -> None:
    assert np.isfinite(human.low_pass_markers(circling_markers(frames)).positions).all()


@pytest.mark.parametrize("cutoff", [0.0, -1.0, 50.0, float("nan")])
def test_a_cutoff_that_the_rate_does_not_allow_is_refused(cutoff: float) -> None:
    with pytest.raises(human.TrialError, match="expected above 0 and below 50"):
        human.low_pass_markers(circling_markers(), cutoff)


@pytest.mark.parametrize("longest", [-0.1, float("nan")])
def test_an_invalid_longest_gap_is_refused(longest: float) -> None:
    with pytest.raises(human.TrialError, match="longest is"):
        human.fill_gaps(circling_markers(), longest)
