"""Frames without markers are not invented."""

from functools import cache

import numpy as np
import pytest
from marker_files import mocap

from poise import human
from poise.human import Trial, TrialError, fit, sample_trial


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
    assert np.degrees(np.abs(found.q - same)[10:-10, 7:19]).max() < 2.0
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


def test_markers_on_wands_are_placed_by_the_motion() -> None:
    """A wand holds the marker 8 cm outside and 7 cm in front of its place: the angles stay."""
    walk, _ = trials()
    positions = walk.positions.copy()
    points = whole().marker_placement
    k = points.labels.index("LTHI")
    moved = points.locations.copy()
    moved[k] += [0.07, 0.08, 0.0]
    body = type(points)(points.labels, points.links, moved, points.weights).body_points(whole().robot)
    wand = np.array([body.positions(q)[k] for q in whole().tracking.q])
    positions[:, walk.labels.index("LTHI")] = wand
    found = fit(walk.replace(positions=positions))
    assert any("taken as anywhere on the segment: LTHI" in note for note in found.notes)
    assert found.rms < 0.006
    for joint in ("left_hip_flexion", "left_hip_adduction", "left_knee_flexion"):
        assert np.degrees(np.std(found.angles()[joint] - whole().angles()[joint])) < 1.5, joint


@pytest.mark.parametrize("name", ["crouch/sub_labels.c3d"])
def test_a_crouch_gait_agrees_with_the_angles_in_its_file(name: str) -> None:
    found = fit(human.read_trial(mocap(name)))
    assert found.quality.usable
    rows = {row.joint: row for row in human.compare_stored_angles(found)}
    for side in ("left", "right"):
        for joint in ("hip_flexion", "knee_flexion"):
            assert rows[f"{side}_{joint}"].rms < 3.0
            assert abs(rows[f"{side}_{joint}"].offset) < 5.0
