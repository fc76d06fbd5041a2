"""Recorded trials: the results agree with those of the laboratory's software."""

from __future__ import annotations

import ezc3d
import numpy as np
import pytest
from marker_files import mocap

from poise import human

ONE, HOLE = "pig_one/PiG_Motion-FlatFoot-One.c3d", "pig_hole/PiG_Motion-FlatFoot-Hole.c3d"
STATICS = "pig_one/PiG_Calibration-FlatFoot-One.c3d", "pig_hole/PiG_Calibration-FlatFoot-Hole.c3d"


def side_of(plate: human.ForcePlate, trial: human.Trial) -> tuple[str, np.ndarray]:
    """The foot nearest to the centre of pressure, and the frames in which the plate is loaded."""
    on = plate.force[:, 2] > 0.0
    feet = {
        side: trial.marker(f"{side[0].upper()}HEE") / 2 + trial.marker(f"{side[0].upper()}TOE") / 2
        for side in ("left", "right")
    }
    return min(
        feet, key=lambda side: np.median(np.linalg.norm((feet[side] - plate.center_of_pressure)[on, :2], axis=1))
    ), on


def foot_inside(plate: human.ForcePlate, trial: human.Trial) -> bool:
    """Whether heel and toe are both above the plate in mid-stance, so that it measures the complete step."""
    side, on = side_of(plate, trial)
    frame = int(np.median(np.flatnonzero(on)))
    low, high = plate.corners[:, :2].min(axis=0) - 0.03, plate.corners[:, :2].max(axis=0) + 0.03  # shoes
    ends = [trial.marker(f"{side[0].upper()}{end}")[frame, :2] for end in ("HEE", "TOE")]
    return all((low < end).all() and (end < high).all() for end in ends)


@pytest.mark.parametrize("name", [ONE, HOLE, *STATICS])
def test_plug_in_gait_files_have_their_35_markers_and_nothing_else(name: str) -> None:
    trial = human.read_trial(mocap(name))
    matched = human.match_markers(trial)
    assert (matched.marker_set.name, len(matched.markers), matched.unknown_labels, matched.missing_markers) == (
        "plug_in_gait",
        35,
        {},
        (),
    )
    assert len(trial.angles) == 26
    assert trial.rate == 100.0


@pytest.mark.parametrize("name", [ONE, HOLE])
def test_mass_and_height_are_those_of_the_motion_file(name: str) -> None:
    assert human.read_trial(mocap(name)).subject == human.Subject("ANTO_M", 66.5, 1.79, None)


@pytest.mark.parametrize("name", STATICS)
def test_a_mass_or_height_of_zero_is_unknown(name: str) -> None:
    assert human.read_trial(mocap(name)).subject == human.Subject("ANTO_M", None, None, None)


@pytest.mark.parametrize(("name", "count"), [(ONE, 8), (HOLE, 10)])
def test_stored_initial_contacts_agree_with_the_load_of_the_plates(name: str, count: int) -> None:
    trial = human.read_trial(mocap(name))
    assert len(trial.events) == count
    for plate in trial.plates:
        side, on = side_of(plate, trial)
        first = trial.time[np.flatnonzero(on)[0]]
        strikes = [event.time for event in trial.events if (event.side, event.kind) == (side, "initial_contact")]
        # in one of the four the foot first lands beside the plate
        assert min(abs(first - strike) for strike in strikes) < 0.1


def test_initial_contacts_on_the_plates_are_stored_to_the_frame() -> None:
    trial = human.read_trial(mocap(ONE))
    for plate in trial.plates:
        side, on = side_of(plate, trial)
        first = trial.time[np.flatnonzero(on)[0]]
        assert min(abs(first - e.time) for e in trial.events if (e.side, e.kind) == (side, "initial_contact")) <= 0.0151


@pytest.mark.parametrize("name", [ONE, HOLE])
def test_ground_forces_act_upwards_and_first_brake_then_propel(name: str) -> None:
    trial = human.read_trial(mocap(name))
    displacement = np.nanmean(np.diff(trial.marker("LASI"), axis=0), axis=0)
    ahead = displacement / np.linalg.norm(displacement)
    whole = [plate for plate in trial.plates if foot_inside(plate, trial)]
    assert whole
    for plate in whole:
        _, on = side_of(plate, trial)
        along, frames = plate.force @ ahead, np.flatnonzero(on)
        third = len(frames) // 3
        assert along[frames[:third]].mean() < 0.0 < along[frames[-third:]].mean()
        assert plate.force[on, 2].min() > 20.0
        low, high = plate.corners.min(axis=0), plate.corners.max(axis=0)
        assert (plate.center_of_pressure[on] >= low - 0.02).all()
        assert (plate.center_of_pressure[on] <= high + 0.02).all()


@pytest.mark.parametrize("name", STATICS)
def test_the_plate_force_in_standing_is_the_weight_in_the_file(name: str) -> None:
    trial = human.read_trial(mocap(name))
    weight = sum(plate.force[:, 2] for plate in trial.plates)
    assert np.mean(weight) / 9.81 == pytest.approx(66.5, rel=0.05)


@pytest.mark.parametrize("name", [ONE, HOLE])
def test_centres_of_pressure_and_free_moments_are_those_of_the_reader(name: str) -> None:
    path = mocap(name)
    trial, other = human.read_trial(path), ezc3d.c3d(str(path), extract_forceplat_data=True)
    for plate, raw in zip(trial.plates, other["data"]["platform"], strict=True):
        half = raw["force"].shape[1] // len(trial.time) // 2
        # samples around each frame but the first, which has none before it
        around = (raw[key].T[half:-half].reshape(-1, 2 * half, 3) for key in ("force", "center_of_pressure", "Tz"))
        force, center, free = around
        steady = np.flatnonzero((force[..., 2] > 300.0).all(axis=1))  # where consecutive samples are similar
        np.testing.assert_allclose(
            plate.center_of_pressure[1:][steady], center[steady].mean(axis=1) / 1000.0, atol=1e-3
        )
        np.testing.assert_allclose(plate.free_moment[1:][steady], free[steady].mean(axis=1) / 1000.0, atol=0.2)


def test_the_computed_centre_of_mass_is_inside_the_pelvis() -> None:
    trial = human.read_trial(mocap(ONE))
    pelvis = np.mean([trial.marker(label) for label in ("LASI", "RASI", "LPSI", "RPSI")], axis=0)
    apart = np.linalg.norm(trial.computed_points["CentreOfMass"] - pelvis, axis=1)
    assert np.nanmedian(apart) < 0.12


@pytest.mark.parametrize(("name", "frames"), [("walk_free_01", 73), ("walk_free_02", 75)])
def test_opensim_walks_have_41_markers_in_the_frames_that_are_there(name: str, frames: int) -> None:
    trial = human.read_trial(mocap(f"opensim_subject01/{name}.trc"))
    matched = human.match_markers(trial)
    assert (matched.marker_set.name, len(matched.markers), matched.unknown_labels, matched.missing_markers) == (
        "opensim41",
        41,
        {},
        (),
    )
    assert (len(trial.time), trial.rate) == (frames, 60.0)
    assert f"The header says 900 frames, the file has {frames}." in trial.notes
    assert "y is up in the file, from the positions of pelvis, feet and head." in trial.notes
    assert 1.7 < np.nanmedian(trial.marker("Top.Head")[:, 2]) < 1.9
    # x is forward, so left is +y
    assert (trial.marker("L.ASIS") - trial.marker("R.ASIS"))[:, 1].min() > 0.2


def test_the_static_trial_has_its_49_markers_on_the_bones_they_are_named_after() -> None:
    trial = human.read_trial(mocap("static49/static.c3d"))
    matched = human.match_markers(trial)
    assert (matched.marker_set.name, len(matched.markers), matched.unknown_labels, matched.missing_markers) == (
        "skin49",
        49,
        {},
        (),
    )
    height = {marker.landmark: trial.marker(label)[:, 2].mean() for label, marker in matched.markers.items()}
    order = ["vertex", "c7", "left_acromion", "t10", "left_asis", "left_greater_trochanter", "left_lateral_knee"]
    tall = [height[word] for word in [*order, "left_tibial_tuberosity", "left_lateral_ankle"]]
    assert tall == sorted(tall, reverse=True)
