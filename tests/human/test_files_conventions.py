"""The vertical axis of a file is found from the markers of feet, pelvis and head."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from marker_files import PERSON, in_axes, standing, trc_rows, write_c3d, write_trc

from poise import human
from poise.human.files.file_conventions import ROTATION_TO_Z_UP

AXES = ["x", "y", "z", "-x", "-y", "-z"]


@pytest.mark.parametrize("up", AXES)
def test_rotation_to_z_up_preserves_left_and_right(up: str) -> None:
    R = ROTATION_TO_Z_UP[up]
    np.testing.assert_allclose(R @ R.T, np.eye(3))
    assert np.linalg.det(R) == pytest.approx(1.0)
    axis = np.sign(1.0 if len(up) == 1 else -1.0) * np.eye(3)["xyz".index(up[-1])]
    np.testing.assert_allclose(R @ axis, [0.0, 0.0, 1.0])


@pytest.mark.parametrize("up", AXES)
def test_a_t_pose_as_wide_as_tall_is_stood_on_its_feet_by_its_labels(up: str, tmp_path: Path) -> None:
    assert np.ptp(standing(1)[0], axis=0)[1] >= np.ptp(standing(1)[0], axis=0)[2]
    c3d = human.read_trial(write_c3d(tmp_path / "t.c3d", in_axes(standing(), up)))
    rows = trc_rows(1000.0 * in_axes(standing(), up))
    trc = human.read_trial(write_trc(tmp_path / "t.trc", rows, list(PERSON)))
    for trial in (c3d, trc):
        np.testing.assert_allclose(trial.positions, standing(), atol=1e-6)
        assert f"{up} is up in the file, from the positions of pelvis, feet and head." in trial.notes


def test_unknown_labels_give_the_usual_axis_of_the_format(tmp_path: Path) -> None:
    names = [f"M{i}" for i in range(len(PERSON))]
    c3d = human.read_trial(write_c3d(tmp_path / "t.c3d", standing(), names))
    trc = human.read_trial(write_trc(tmp_path / "t.trc", trc_rows(1000.0 * in_axes(standing(), "y")), names))
    np.testing.assert_allclose(c3d.positions, standing(), atol=1e-6)
    np.testing.assert_allclose(trc.positions, standing(), atol=1e-6)
    assert any(note.startswith("z is taken as up") for note in c3d.notes)
    assert any(note.startswith("y is taken as up") for note in trc.notes)


def test_a_lying_person_does_not_change_the_vertical_axis(tmp_path: Path) -> None:
    lying = standing()[..., [2, 1, 0]] @ np.diag([1.0, 1.0, 0.5]) + np.array([0.0, 0.0, 0.8])
    tilted = lying @ np.array([[0.8, 0.0, 0.6], [0.0, 1.0, 0.0], [-0.6, 0.0, 0.8]])
    trial = human.read_trial(write_c3d(tmp_path / "t.c3d", tilted))
    np.testing.assert_allclose(trial.positions, tilted, atol=1e-6)


@pytest.mark.parametrize("up", AXES)
def test_an_axis_given_by_the_caller_is_used(up: str, tmp_path: Path) -> None:
    names = [f"M{i}" for i in range(len(PERSON))]
    trial = human.read_trial(write_c3d(tmp_path / "t.c3d", in_axes(standing(), up), names), up=up)
    np.testing.assert_allclose(trial.positions, standing(), atol=1e-6)
    assert f"{up} is up, as requested." in trial.notes
