"""The verdict of a fit: what is wrong with labels, units, body or joints is said, and offered corrections work."""

from functools import cache
from pathlib import Path

import numpy as np
import pytest
from marker_files import mocap

from example_fits import each_trial, recorded_fit, sample_fit
from poise import human
from poise.human import Trial, TrialError, fit, fit_trials, sample_trial, write_sample
from poise.human.fitting.calibration import MarkerTrajectories
from poise.human.fitting.label_order import (
    LabelOrder,
    check_labels,
    fix_labels,
    mirror_trial,
    scale_trial,
    unit_factor,
)


@cache
def trials(marker_set: str = "skin49") -> tuple[Trial, Trial]:
    return sample_trial(cycles=1, marker_set=marker_set)


def other_side(label: str) -> str:
    return {"L": "R", "R": "L"}.get(label[0], label[0]) + label[1:]


def exchange(trial: Trial, *labels: str) -> Trial:
    """Exchange labels with those of the other side; all if none is named."""
    chosen = [label for label in trial.labels if not labels or label in labels or other_side(label) in labels]
    return trial.replace(
        labels=tuple(
            other_side(label) if label in chosen and other_side(label) in trial.labels else label
            for label in trial.labels
        )
    )


def mirrored(trial: Trial) -> Trial:
    """The trial in left-handed axes: markers and forces at the mirror image, as from a file with a wrong axis."""
    across = np.array([1.0, -1.0, 1.0])
    plates = tuple(
        human.ForcePlate(
            p.name, p.corners * across, p.force * across, p.center_of_pressure * across, -p.free_moment * across
        )
        for p in trial.plates
    )
    return trial.replace(positions=trial.positions * across, plates=plates)


def messages(found: human.Fit) -> str:
    return " | ".join(check.message for check in found.quality.checks)


@pytest.mark.parametrize("marker_set", ["skin49", "plug_in_gait", "opensim41"])
def test_good_synthetic_trials_have_a_good_verdict(marker_set: str) -> None:
    assert sample_fit(marker_set).quality.verdict == "good", str(sample_fit(marker_set).quality)


@each_trial
def test_good_recorded_trials_have_a_good_verdict(name: str) -> None:
    assert recorded_fit(name).quality.verdict == "good", str(recorded_fit(name).quality)


def order_of(trial: Trial) -> LabelOrder:
    return check_labels(MarkerTrajectories.of(trial, human.match_markers(trial).markers))


@pytest.mark.parametrize("marker_set", ["skin49", "plug_in_gait", "opensim41"])
@pytest.mark.parametrize("cause", ["exchanged", "mirrored"])
def test_exchanged_labels_and_mirrored_axes_of_a_whole_body_are_found_and_corrected(
    marker_set: str, cause: str
) -> None:
    for trial in trials(marker_set):
        assert order_of(trial) == LabelOrder()
        wrong = mirrored(trial) if cause == "mirrored" else exchange(trial)
        order = order_of(wrong)
        assert order.whole_body
        assert "exchanged on the whole body, or the axes of the file are mirrored" in order.message
        right = mirror_trial(wrong) if cause == "mirrored" else fix_labels(wrong, order)
        columns = [right.labels.index(label) for label in trial.labels]
        assert np.array_equal(right.positions[:, columns], trial.positions)


@pytest.mark.parametrize("cause", ["exchanged", "mirrored"])
def test_a_fit_with_exchanged_sides_is_unusable_and_good_when_corrected(cause: str) -> None:
    walk, static = trials("plug_in_gait")
    spoil = mirrored if cause == "mirrored" else exchange
    wrong = fit(spoil(walk), spoil(static))
    assert not wrong.quality.usable
    assert wrong.quality.failures[0].startswith("left and right labels are exchanged on the whole body")
    assert wrong.summary()["verdict"] == wrong.recording().provenance["quality"]["verdict"] == "unusable"
    assert "verdict: unusable" in wrong.text()
    right = fit(spoil(walk), spoil(static), fix="mirror" if cause == "mirrored" else "labels")
    assert right.quality.verdict == "good"
    assert right.rms < 0.006


@pytest.mark.parametrize("labels", [("LKNE",), ("LANK", "LHEE", "LTOE"), ("LASI",), ("LPSI",), ("LSHO",)])
def test_exchanged_labels_of_some_markers_are_named_and_corrected(labels: tuple[str, ...]) -> None:
    walk, _ = trials("plug_in_gait")
    wrong = exchange(walk, *labels)
    order = order_of(wrong)
    assert set(order.exchanged) == {(label, other_side(label)) for label in labels}
    assert not order.whole_body
    assert all(f"{label} and {other_side(label)}" in order.message for label in labels)
    assert order_of(fix_labels(wrong, order)) == LabelOrder()


def test_exchanged_labels_of_the_static_trial_are_said_to_be_there() -> None:
    walk, static = trials("plug_in_gait")
    assert "static trial: labels of left and right are exchanged: LKNE" in messages(fit(walk, exchange(static, "LKNE")))


def test_the_front_of_the_pelvis_behind_its_back_is_said() -> None:
    walk, _ = trials("plug_in_gait")
    names = {"LASI": "LPSI", "LPSI": "LASI", "RASI": "RPSI", "RPSI": "RASI"}
    assert (
        "front of the pelvis"
        in order_of(walk.replace(labels=tuple(names.get(label, label) for label in walk.labels))).message
    )


@pytest.mark.parametrize("quarter", range(4))
def test_walking_in_any_direction_and_backwards_is_no_exchange(quarter: int) -> None:
    walk, _ = trials()
    angle = quarter * np.pi / 2.0 + 0.3
    turn = np.array([[np.cos(angle), -np.sin(angle), 0.0], [np.sin(angle), np.cos(angle), 0.0], [0.0, 0.0, 1.0]])
    assert order_of(walk.replace(positions=walk.positions[::-1] @ turn.T)) == LabelOrder()


@pytest.mark.parametrize(
    "name",
    ["crouch/sub_labels.c3d", "leg_difference/PlugInC3D.c3d", "gait2354/subject01_walk1.trc", "cmu_bvh/13_02.bvh",
     "cmu_bvh/16_17.bvh", "cmu_bvh/49_18.bvh", "cmu_bvh/91_13.bvh", "cmu_bvh/91_19.bvh"],
)  # fmt: skip
def test_labels_of_recorded_people_are_not_taken_as_exchanged(name: str) -> None:
    assert order_of(human.read_trial(mocap(name))) == LabelOrder()


@pytest.mark.parametrize("factor", [1000.0, 100.0, 10.0, 0.1, 0.01, 0.001, 2.54, 1 / 2.54])
def test_a_wrong_unit_is_one_clear_line_and_corrected_on_request(factor: float) -> None:
    walk, _ = trials()
    wrong = walk.replace(positions=walk.positions * factor)
    with pytest.raises(TrialError, match=r"times too (large|small) for a person; is the unit in the file wrong\?"):
        fit(wrong)
    markers = human.match_markers(wrong).markers
    right = scale_trial(wrong, unit_factor(MarkerTrajectories.of(wrong, markers)))
    assert np.allclose(right.positions, walk.positions, atol=1e-9)


def test_markers_of_another_place_make_a_fit_unusable() -> None:
    walk, _ = trials()
    exchanged = list(walk.labels)
    for side in "LR":
        knee, ankle = exchanged.index(f"{side}LFE"), exchanged.index(f"{side}LM")
        exchanged[knee], exchanged[ankle] = exchanged[ankle], exchanged[knee]
    wrong = fit(walk.replace(labels=tuple(exchanged)))
    assert not wrong.quality.usable
    assert "their labels or the marker set are wrong" in messages(wrong)


def test_a_wrong_height_and_a_mass_in_pounds_are_said() -> None:
    walk, static = trials()
    assert "the height of 1.50 m does not agree" in messages(fit(walk, static, height=1.5))
    pounds = fit(walk, static, mass=165.0)
    assert pounds.quality.verdict == "doubtful"
    assert "did you mean 74.8 kg (165 lb)?" in messages(pounds)


def test_a_crouch_gait_keeps_the_height_of_the_person() -> None:
    """The height is not that of the pelvis of a moving trial."""
    trial = human.read_trial(mocap("crouch/sub_labels.c3d"))
    assert 1.5 < fit(trial).shape.height < 1.9


def test_legs_of_different_length_are_fitted_and_said() -> None:
    found = fit(human.read_trial(mocap("leg_difference/PlugInC3D.c3d")))
    legs = [thigh + shank for thigh, shank in zip(found.shape.thigh, found.shape.shank, strict=True)]
    assert legs[1] - legs[0] > 0.05
    assert "the right leg is" in messages(found)


def test_a_batch_counts_unusable_fits(tmp_path: Path) -> None:
    walk, static = trials()
    write_sample(tmp_path / "one", walk, static)
    write_sample(tmp_path / "two", exchange(walk), static)
    batch = fit_trials([tmp_path / "one" / "walk.c3d", tmp_path / "two" / "walk.c3d"])
    assert [each.quality.usable for each in batch.fits] == [True, False]
    assert "2 of 2 trials fitted, 1 of them unusable" in batch.text()
    assert "left and right labels are exchanged" in batch.text()


def test_a_text_file_with_the_suffix_of_c3d_is_said_to_be_text(tmp_path: Path) -> None:
    path = tmp_path / "walk.c3d"
    path.write_text("Frame\tTime\n1\t0.00\n")
    with pytest.raises(TrialError, match="not a C3D file: it contains text"):
        human.read_trial(path)


def test_a_study_leaves_out_unusable_fits_and_says_why() -> None:
    walk, static = trials("plug_in_gait")
    study = human.study_gait([fit(exchange(walk), exchange(static))])
    assert not study.trials
    assert "left and right labels are exchanged" in study.failures[0].reason


def test_a_mass_in_pounds_is_told_by_the_plates() -> None:
    walk, static = trials()
    torques = human.compute_torques(fit(walk, static, mass=165.0))
    assert not torques.quality.usable
    assert "did you mean 74.8 kg (165 lb)?" in torques.quality.failures[0]
    assert torques.recording().provenance["quality"]["verdict"] == torques.summary()["verdict"] == "unusable"
