"""Results of the human pipeline: fits, studies, torques and comparisons as values, text and files."""

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import poise
from example_fits import sample_fit
from poise import human
from poise.errors import GaitError, PoiseError
from poise.human import BEST, PAPER, Fit, GaitTrial, TrialFiles, gait, sample_trial, write_sample


@pytest.fixture(scope="module")
def trial_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A sample walk as C3D with its static trial, and a second file with a standing person."""
    place = tmp_path_factory.mktemp("lab")
    walk, static = sample_trial(cycles=2, seed=3)
    write_sample(place, walk, static)
    (place / "walk.trc").unlink()
    return place


@pytest.fixture(scope="module")
def fit(trial_folder: Path) -> Fit:
    return human.fit_trial(trial_folder / "walk.c3d")


@pytest.fixture(scope="module")
def study(trial_folder: Path, fit: Fit) -> human.GaitStudy:
    return human.study_gait([fit, trial_folder / "static.c3d"], variants=[PAPER, BEST])


def through_strict_json(summary: dict[str, Any]) -> Any:
    """Convert to strict JSON and back; NaN and other types are errors."""
    return json.loads(json.dumps(summary, allow_nan=False))


def test_a_trial_is_fitted_with_the_static_trial_beside_it(trial_folder: Path, fit: Fit) -> None:
    same = human.fit(human.read_trial(trial_folder / "walk.c3d"), human.read_trial(trial_folder / "static.c3d"))
    assert np.array_equal(fit.q, same.q)
    assert (fit.name, Path(fit.static).name) == ("walk.c3d", "static.c3d")
    shares: list[float] = []
    alone = human.fit_trial(TrialFiles(trial_folder / "walk.c3d"), mass=70.0, progress=shares.append)
    assert (alone.static, alone.summary()["static"], alone.shape.mass) == ("", None, 70.0)
    assert shares == sorted(shares)
    assert (shares[0], shares[-1]) == (0.0, 1.0)


def test_a_file_that_is_no_trial_is_an_error_of_one_line(tmp_path: Path) -> None:
    (tmp_path / "walk.trc").write_text("nothing of the kind")
    with pytest.raises(PoiseError, match=r"walk\.trc") as failure:
        human.fit_trial(tmp_path / "walk.trc")
    assert "\n" not in str(failure.value)


def test_the_summary_of_a_fit_follows_from_its_motion_and_markers(fit: Fit) -> None:
    facts = through_strict_json(fit.summary())
    assert facts["marker_rms_mm"] == pytest.approx(1e3 * np.sqrt(np.nanmean(fit.errors**2)))
    assert facts["worst_marker_mm"] == pytest.approx(1e3 * np.nanmax(fit.errors))
    knee = fit.q[:, fit.robot.joint("left_knee_flexion").q]
    assert facts["range_of_motion_deg"]["left_knee_flexion"] == pytest.approx(np.degrees(knee.max() - knee.min()))
    assert facts["frames"] == len(fit.trial.time)
    assert str(fit) == fit.text()
    assert f"{facts['marker_rms_mm']:.1f} mm rms" in fit.text()


def test_an_angle_offset_of_three_degrees_is_reported() -> None:
    fit = sample_fit()
    hip, knee = (np.degrees(fit.angles()[f"left_{name}"]) for name in ("hip_flexion", "knee_flexion"))
    other = human.OpenSimMotion(("hip_flexion_l", "knee_angle_l"), fit.time, np.column_stack([hip + 3.0, -knee]))
    rows = {row.joint: row for row in human.compare_angles(fit, other)}
    assert set(rows) == {"left_hip_flexion", "left_knee_flexion"}
    assert rows["left_hip_flexion"].offset == pytest.approx(-3.0)
    assert rows["left_hip_flexion"].rms == pytest.approx(0.0, abs=1e-9)
    assert rows["left_knee_flexion"].offset == pytest.approx(0.0, abs=1e-9)  # bent knees are negative in OpenSim
    assert rows["left_knee_flexion"].range == pytest.approx(np.ptp(knee))
    assert [row["joint"] for row in fit.summary(other)["reference_angles"]] == list(rows)
    assert "compared with the angles of the reference" in fit.text(other)
    assert "compared with the angles of the reference" not in fit.text()


def test_a_batch_is_a_table_with_the_reasons_of_failures(trial_folder: Path, tmp_path: Path) -> None:
    (tmp_path / "bad.trc").write_text("nothing of the kind")
    batch = human.fit_trials([tmp_path / "bad.trc", trial_folder])
    assert len(batch) == 2
    (fit,), (failure,) = batch.fits, batch.failures
    rows = through_strict_json(batch.summary())["trials"]
    assert rows == [through_strict_json(failure.summary()), through_strict_json(fit.summary())]
    with batch.save(tmp_path / "table.csv").open(newline="") as stream:
        written = list(csv.DictReader(stream))
    assert [row["trial"] for row in written] == ["bad.trc", "walk.c3d"]
    assert written[0]["reason"] == failure.reason
    assert float(written[1]["marker_rms_mm"]) == pytest.approx(1e3 * fit.rms, rel=1e-5)
    assert "bad.trc" in str(batch)
    assert str(batch).endswith("1 of 2 trials fitted")


def test_a_study_lists_every_walk_and_the_reason_of_a_missing_one(study: human.GaitStudy, fit: Fit) -> None:
    (trial,), (failure,) = study.trials, study.failures
    assert [type(each) for each in study.results] == [GaitTrial, human.TrialFailure]
    assert failure.trial == "static.c3d"
    reference = gait.ReferenceWalk.from_fit(fit)
    expected = [gait.measure_reproduction(gait.reproduce(reference, variant=variant)) for variant in (PAPER, BEST)]
    for found, same in zip(trial.qualities, expected, strict=True):
        assert found.differences == pytest.approx(same.differences, abs=1e-9)
    assert trial.best_quality.reproduction.variant == BEST
    facts = through_strict_json(study.summary())
    assert facts["trials"][0]["worst_difference_deg"] == pytest.approx(expected[1].worst_joint[1], abs=1e-9)
    assert facts["trials"][1] == failure.summary()
    assert facts["variants"]["paper"]["worst_difference"] == pytest.approx(expected[0].worst_joint[1], abs=1e-9)
    assert [line.split("  ")[0] for line in study.table().splitlines()[1:]] == ["paper", "best", "measured"]
    assert study.table() in study.text()
    assert f"static.c3d: failed: {failure.reason}" in str(study)


def test_a_study_is_the_same_from_a_file_and_from_its_fit(trial_folder: Path, study: human.GaitStudy) -> None:
    done: list[float] = []
    again = human.study_gait([trial_folder], variants=[PAPER, BEST], progress=done.append)
    assert done == [1.0]
    assert again.trials[0].best_quality.curves == pytest.approx(study.trials[0].best_quality.curves, abs=1e-9)


def test_a_saved_study_is_read_back(study: human.GaitStudy, tmp_path: Path) -> None:
    folder = tmp_path / "new" / "study"
    files = study.save(folder)
    assert [path.name for path in files] == ["study.json", "trials.csv", "walk_measured.poise", "walk_reproduced.poise"]
    assert json.loads(files[0].read_text()) == through_strict_json(study.summary())
    with files[1].open(newline="") as stream:
        assert [row["trial"] for row in csv.DictReader(stream)] == ["walk.c3d", "static.c3d"]
    (trial,) = study.trials
    assert poise.load_recording(files[2])["q"] == pytest.approx(trial.fit.q)
    assert poise.load_recording(files[3])["q"] == pytest.approx(trial.best_quality.reproduction.q)


def test_walks_are_reproduced_by_the_requested_variants(fit: Fit) -> None:
    done: list[float] = []
    trial = human.reproduce_walk(fit, variants=[PAPER], progress=done.append)
    assert done == [0.0]
    assert trial.best_quality.reproduction.variant == PAPER
    assert trial.spatiotemporal_parameters["cadence"] == pytest.approx(120.0 / trial.cycle.duration, rel=1e-6)
    with pytest.raises(GaitError, match="no variant"):
        human.reproduce_walk(fit, variants=[])
    assert gait.find_variant("paper") == PAPER
    with pytest.raises(GaitError, match="no variant 'papre'; available: paper, two phases"):
        gait.find_variant("papre")


def test_a_study_without_a_walk_reports_the_reason_and_is_not_saved(trial_folder: Path, tmp_path: Path) -> None:
    nothing = human.study_gait([trial_folder / "static.c3d"])
    assert through_strict_json(nothing.summary())["variants"] == {}
    assert nothing.text().startswith("no walk could be reproduced\nstatic.c3d: failed: no complete gait cycle")
    with pytest.raises(GaitError, match="no walk could be reproduced"):
        nothing.save(tmp_path / "study")
    assert not (tmp_path / "study").exists()


def test_the_summary_of_torques_follows_from_the_moments(fit: Fit) -> None:
    torques = human.compute_torques(fit)
    facts = through_strict_json(torques.summary())
    ankle = human.internal_joint_moments(torques)["left ankle plantarflexor"]
    assert facts["moments_per_kg"]["left ankle plantarflexor"]["largest"] == pytest.approx(np.nanmax(ankle))
    assert facts["moments_per_kg"]["left ankle plantarflexor"]["samples"] == np.isfinite(ankle).sum()
    assert facts["residual_rms"]["force_n"] == pytest.approx(torques.residual_rms[:3])
    assert (facts["trial"], facts["stored"]) == ("walk.c3d", [])
    assert f"{np.nanmax(ankle):>8.2f}" in str(torques)


def test_a_walk_compared_with_itself_agrees_in_every_number(fit: Fit) -> None:
    torques = human.compute_torques(fit)
    comparison = human.compare_walks(torques, torques.recording())
    facts = through_strict_json(comparison.summary())
    assert facts["effort_overlap"] == pytest.approx(1.0, abs=0.1)
    assert facts["rows"]["ankle dorsiflexion"]["correlation"] == pytest.approx(1.0, abs=0.02)
    assert set(facts["rows"]) == {row.degree_of_freedom for row in comparison.rows}
    assert comparison.names[0] in str(comparison).splitlines()[0]


def test_a_recording_compared_with_itself_has_no_difference(fit: Fit) -> None:
    recording = fit.recording()
    comparison = human.compare_recordings(recording, recording, names=("walk", "again"))
    facts = through_strict_json(comparison.summary())
    assert facts["names"] == ["walk", "again"]
    assert all(row["first"] == row["second"] for row in facts["phase_ends"])
    assert facts["torques"] == [{}, {}]
    lines = str(comparison).splitlines()
    assert len(lines) == 2 + len(facts["phase_ends"])
    assert "+0.000" in lines[1]
    assert all(value == 0.0 for value in facts["posture_distance_rad"].values())
