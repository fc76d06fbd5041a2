"""C3D: written values are read back in m with z up; wrong or unusual contents are corrected with a note."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from marker_files import PERSON, patched, standing, value_start, write_c3d

from poise import human
from poise.errors import MissingPackageError

MM = 1e-6  # m: C3D values have 24 bits, some 0.1 micrometres at these sizes


def with_points(path: Path, more: dict[str, np.ndarray], **options: Any) -> human.Trial:
    """The standing person and further points, frames x 3 in m."""
    X = standing()
    positions = np.concatenate([X, *(values[:, None] for values in more.values())], axis=1)
    return human.read_trial(write_c3d(path / "t.c3d", positions, [*PERSON, *more], **options))


def test_markers_come_back_where_they_were(tmp_path: Path) -> None:
    trial = human.read_trial(write_c3d(tmp_path / "t.c3d", standing(), rate=120.0))
    assert trial.labels == tuple(PERSON)
    np.testing.assert_allclose(trial.positions, standing(), atol=MM)
    np.testing.assert_allclose(trial.time, np.arange(5) / 120.0)
    assert (trial.rate, trial.duration) == (120.0, pytest.approx(4 / 120))  # type: ignore[comparison-overlap]


@pytest.mark.parametrize(("units", "scale"), [("mm", 1e3), ("cm", 1e2), ("m", 1.0), ("M", 1.0), ("meters", 1.0)])
def test_units_are_those_of_the_file(units: str, scale: float, tmp_path: Path) -> None:
    trial = human.read_trial(write_c3d(tmp_path / "t.c3d", standing(), units=units, scale=scale))
    np.testing.assert_allclose(trial.positions, standing(), atol=MM)
    assert not [note for note in trial.notes if "taken as" in note]


@pytest.mark.parametrize(("units", "scale"), [("mm", 1.0), ("m", 1e3), ("", 1e3), ("", 1e2), ("furlong", 1.0)])
def test_units_that_are_wrong_or_missing_are_decided_by_the_size_of_a_person(
    units: str, scale: float, tmp_path: Path
) -> None:
    trial = human.read_trial(write_c3d(tmp_path / "t.c3d", standing(), units=units, scale=scale))
    np.testing.assert_allclose(trial.positions, standing(), atol=MM)
    assert [note for note in trial.notes if "taken as" in note]


def test_invisible_points_and_points_at_the_origin_are_gaps(tmp_path: Path) -> None:
    X = standing()
    X[1, 3], X[2, 4] = np.nan, 0.0
    trial = human.read_trial(write_c3d(tmp_path / "t.c3d", X))
    gaps = np.isnan(trial.positions)
    assert gaps[1, 3].all()
    assert gaps[2, 4].all()
    assert gaps.sum() == 6


def test_a_file_with_more_labels_than_points_gives_the_points_their_names(tmp_path: Path) -> None:
    path, count = write_c3d(tmp_path / "t.c3d", standing(1)), len(PERSON)
    used = value_start(path.read_bytes(), "POINT", "USED")
    trial = human.read_trial(patched(path, (2, "<H", count - 2), (used, "<H", count - 2)))
    assert trial.labels == tuple(PERSON)[:-2]
    np.testing.assert_allclose(trial.positions, standing(1)[:, :-2], atol=MM)
    assert any("the last 2 have no data" in note for note in trial.notes)


def test_subjects_in_front_of_labels_are_taken_off(tmp_path: Path) -> None:
    trial = human.read_trial(write_c3d(tmp_path / "t.c3d", standing(), [f"Anna:{name}" for name in PERSON]))
    assert trial.labels == tuple(PERSON)
    assert "Prefixes removed from the labels: Anna:." in trial.notes


def test_of_two_subjects_the_one_with_more_samples_is_read(tmp_path: Path) -> None:
    X = np.concatenate([standing(), standing() + 1.0], axis=1)
    X[:3, : len(PERSON)] = np.nan
    labels = [f"{subject}:{name}" for subject in ("Anna", "Bert") for name in PERSON]
    trial = human.read_trial(write_c3d(tmp_path / "t.c3d", X, labels))
    np.testing.assert_allclose(trial.positions, standing() + 1.0, atol=MM)
    assert any("'Bert' kept, 'Anna' left out" in note for note in trial.notes)


def test_of_two_equal_labels_the_first_with_samples_is_read(tmp_path: Path) -> None:
    never, twin = np.full((5, 1, 3), np.nan), standing()[:, :1] + 0.5
    labels = ["LASI", *PERSON, "C7"]
    trial = human.read_trial(write_c3d(tmp_path / "t.c3d", np.concatenate([never, standing(), twin], axis=1), labels))
    np.testing.assert_allclose(trial.marker("LASI"), standing()[:, list(PERSON).index("LASI")], atol=MM)
    np.testing.assert_allclose(trial.marker("C7"), standing()[:, 0], atol=MM)
    assert any("more than once" in note and "C7" in note for note in trial.notes)
    assert any("Never visible" in note and "LASI" in note for note in trial.notes)


def test_points_without_a_name_are_left_out_and_counted(tmp_path: Path) -> None:
    stray = np.ones((5, 3))
    trial = with_points(tmp_path, {"*1": stray, "*27": stray, "Unlabeled 3": stray})
    assert trial.labels == tuple(PERSON)
    assert "Points without a name left out: 3." in trial.notes


def test_angles_moments_forces_and_powers_stored_as_points_are_no_markers(tmp_path: Path) -> None:
    degrees = np.arange(15.0).reshape(5, 3)
    names = [
        "LKneeAngles",
        "RHipAnglesV",
        "Anna:LAbsAnkleAngle",
        "LKneeMoment",
        "RKneeForce",
        "LHipPower",
        "RNormalisedGRF",
    ]
    trial = with_points(tmp_path, dict.fromkeys(names, degrees / 1000.0))
    assert trial.labels == tuple(PERSON)
    assert set(trial.angles) == {"LKneeAngles", "RHipAngles", "LAbsAnkleAngle"}
    np.testing.assert_allclose(trial.angles["RHipAngles"], degrees, atol=1e-4)
    np.testing.assert_allclose(trial.moments["LKneeMoment"], degrees, atol=1e-4)
    assert any(note.startswith("3 channels of forces and powers") for note in trial.notes)


def test_angles_with_names_of_their_own_are_found_by_the_group_that_lists_them(tmp_path: Path) -> None:
    radians = np.full((5, 3), 0.5)
    listed = {"POINT": {"ANGLES": ["LKNEE_X"], "ANGLE_UNITS": ["rad"]}}
    trial = with_points(tmp_path, {"LKNEE_X": radians / 1000.0}, parameters=listed)
    assert trial.labels == tuple(PERSON)
    np.testing.assert_allclose(trial.angles["LKNEE_X"], np.degrees(0.5), atol=1e-4)


def test_computed_points_are_stored_separately_in_metres(tmp_path: Path) -> None:
    place = np.full((5, 3), 0.9)
    trial = with_points(tmp_path, dict.fromkeys(("CentreOfMass", "PELO", "PELA", "PELL", "PELP", "LFEO"), place))
    assert set(trial.computed_points) == {"CentreOfMass", "PELO", "PELA", "PELL", "PELP"}
    assert trial.labels == (*PERSON, "LFEO")  # one of four points of a segment may be an ordinary marker
    np.testing.assert_allclose(trial.computed_points["CentreOfMass"], 0.9, atol=MM)


@pytest.mark.parametrize(
    ("mass", "height", "found"),
    [(66.5, 1790.0, (66.5, 1.79)), (70.0, 1.8, (70.0, 1.8)), (70.0, 180.0, (70.0, 1.8)), (0.0, 0.0, (None, None))],
)
def test_mass_and_height_are_read_in_any_unit_and_zero_is_unknown(
    mass: float, height: float, found: tuple[float | None, float | None], tmp_path: Path
) -> None:
    processing = {"PROCESSING": {"Bodymass": mass, "Height": height}, "SUBJECTS": {"NAMES": ["Anna"]}}
    subject = human.read_trial(write_c3d(tmp_path / "t.c3d", standing(), parameters=processing)).subject  # type: ignore[arg-type]
    assert subject.name == "Anna"
    assert (subject.mass, subject.height) == (pytest.approx(found[0]), pytest.approx(found[1]))  # type: ignore[comparison-overlap]


def test_without_the_reader_the_error_names_the_package_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write_c3d(tmp_path / "t.c3d", standing())
    monkeypatch.setitem(sys.modules, "ezc3d", None)
    with pytest.raises(MissingPackageError, match=r"C3D files needs the package ezc3d; .*pip install 'poise\[human\]'"):
        human.read_trial(path)
