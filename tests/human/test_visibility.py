"""Frames without markers are not invented."""

from functools import cache

import numpy as np
import pytest
from marker_files import mocap

from poise import human
from poise.human import Trial, TrialError, fit, sample_trial
from poise.human.fitting import MarkerPlacement


@cache
def trials() -> tuple[Trial, Trial]:
    return sample_trial(cycles=1, marker_set="plug_in_gait")


@cache
def whole() -> human.Fit:
    return fit(*trials())


def test_frames_before_and_after_the_person_is_in_view_are_left_out() -> None:
    walk, static = trials()
    positions = walk.positions.copy()
    positions[:40], positions[-25:] = np.nan, np.nan
    positions[40:48, walk.labels.index("LASI")] = np.nan
    found = fit(walk.replace(positions=positions), static)
    first = found.trial.rate * found.start
    assert first == pytest.approx(40 if len(found.time) == len(walk.time) - 65 else 48)
    assert any("in view" in note for note in found.notes)
    k = round(first)
    same = whole().q[k : k + len(found.time)]
    assert np.degrees(np.nanmax(np.abs(found.q - same)[10:-10, 7:19])) < 2.0
    events = [event for event in walk.events if found.start - 1e-6 < event.time < found.start + found.time[-1] + 1e-6]
    assert [event.time for event in found.trial.events] == pytest.approx([event.time - found.start for event in events])


def test_a_trial_that_never_shows_the_whole_person_is_refused() -> None:
    walk, _ = trials()
    positions = walk.positions.copy()
    half = len(walk.time) // 2
    positions[:half, [walk.labels.index(label) for label in ("LKNE", "LANK", "LHEE", "LTOE", "LTIB", "LTHI")]] = np.nan
    positions[half:, [walk.labels.index(label) for label in ("RKNE", "RANK", "RHEE", "RTOE", "RTIB", "RTHI")]] = np.nan
    with pytest.raises(TrialError, match="no frame shows 3 markers on the pelvis and 2 on each leg"):
        fit(walk.replace(positions=positions))


def test_a_person_out_of_view_for_most_of_a_trial_is_fitted_where_seen() -> None:
    found = fit(human.read_trial(mocap("out_of_view/Gait.c3d")))
    assert found.marker_set == "helen_hayes"
    assert len(found.time) == 194
    assert found.start == pytest.approx(1.33)
    assert found.quality.usable, str(found.quality)
    assert found.rms < 0.012


@pytest.mark.parametrize("offset", [(0.14, 0.05, 0.0), (-0.10, 0.05, 0.0)])
def test_markers_on_wands_are_placed_by_the_motion(offset: tuple[float, float, float]) -> None:
    """A wand holds a thigh marker far in front of or behind the plane of the joints: all angles stay."""
    walk, _ = trials()
    placement = whole().marker_placement
    k = placement.labels.index("LTHI")
    moved = placement.locations.copy()
    moved[k] += offset
    points = MarkerPlacement(placement.labels, placement.links, moved, placement.weights).body_points(whole().robot)
    positions = walk.positions.copy()
    positions[:, walk.labels.index("LTHI")] = [points.positions(q)[k] for q in whole().tracking.q]
    found = fit(walk.replace(positions=positions))
    assert any("taken as anywhere on the segment: LTHI" in note for note in found.notes)
    assert found.rms < 0.006
    for joint in ("left_hip_flexion", "left_hip_adduction", "left_hip_rotation", "left_knee_flexion"):
        difference = np.degrees(found.angles()[joint] - whole().angles()[joint])
        assert np.std(difference) < 1.0, joint
        assert abs(np.mean(difference)) < 2.0, joint


@pytest.mark.parametrize("name", ["crouch/sub_labels.c3d"])
def test_a_crouch_gait_agrees_with_the_angles_in_its_file(name: str) -> None:
    found = fit(human.read_trial(mocap(name)))
    assert found.quality.usable
    rows = {row.joint: row for row in human.compare_stored_angles(found)}
    for side in ("left", "right"):
        for joint in ("hip_flexion", "knee_flexion"):
            assert rows[f"{side}_{joint}"].rms < 3.0
            assert abs(rows[f"{side}_{joint}"].offset) < 5.0
