"""Bodies and motions of people from their markers: synthetic ones that are known, and recorded ones."""

from functools import cache

import numpy as np
import pytest

import poise
from example_fits import each_trial, recorded_fit, sample_fit
from poise import human
from poise.human import Fit, TrialFailure, find_trials, fit, fit_trials, sample_trial, write_sample
from poise.human.sample_trials import sample_motion
from poise.human.trial_fitting import is_static
from poise.robots import BodyShape

SETS = pytest.mark.parametrize("marker_set", ["skin49", "plug_in_gait", "opensim41"])


@SETS
def test_a_known_body_and_its_walk_are_found_from_noisy_markers(marker_set: str) -> None:
    found = sample_fit(marker_set)
    robot = poise.load_robot("human", height=1.77, mass=75.0, sex="male")
    _, q = sample_motion(robot)
    true = BodyShape.of(1.77, 75.0)
    assert found.rms < 0.006
    for name in ("thigh", "shank"):
        assert getattr(found.shape, name) == pytest.approx(getattr(true, name), abs=0.025)
    for joint in ("hip_flexion", "knee_flexion"):
        for side in ("left", "right"):
            k = robot.joint(f"{side}_{joint}").q
            apart = np.degrees(found.q[:, k] - q[:, k])
            assert np.std(apart) < 2.0, (side, joint)


@each_trial
def test_markers_of_recorded_people_are_met_within_twelve_millimetres(name: str) -> None:
    found = recorded_fit(name)
    assert found.rms < 0.012
    assert np.isfinite(found.motion.q).all()


@pytest.mark.parametrize("name", ["one", "hole"])
@pytest.mark.parametrize(("channel", "joint"), [("Hip", "hip_flexion"), ("Knee", "knee_flexion")])
def test_hips_and_knees_follow_the_angles_that_the_laboratory_stored(name: str, channel: str, joint: str) -> None:
    """Within 5 degrees, root mean square, after removal of the mean difference."""
    found = recorded_fit(name)
    for side in ("left", "right"):
        stored = found.trial.angles[f"{side[0].upper()}{channel}Angles"][:, 0]
        there = np.isfinite(stored) & (stored != 0.0)
        apart = np.degrees(found.angles()[f"{side}_{joint}"])[there] - stored[there]
        assert np.std(apart) < 3.0, side
        assert abs(np.mean(apart)) < 6.0, side


def test_a_walk_alone_gives_a_body_too() -> None:
    walk, _ = sample_trial()
    found = fit(walk)
    assert found.rms < 0.006
    assert found.shape.height == pytest.approx(1.77, abs=0.01)  # stored with the subject


def test_an_unknown_height_is_estimated_from_the_markers() -> None:
    walk, static = sample_trial()
    unknown = human.Subject()
    found = fit(walk.replace(subject=unknown), static.replace(subject=unknown))
    assert found.shape.height == pytest.approx(1.77, abs=0.05)
    assert any("height was not given" in note for note in found.notes)


def test_a_static_trial_with_raised_arms_does_not_raise_the_shoulders() -> None:
    """Raised arms raise the shoulders: trunk and arms are fitted to the walk alone."""
    walk, static = sample_trial(cycles=1)
    raised = static.positions.copy()
    arms = [k for k, label in enumerate(static.labels) if label in ("LA", "RA", "LLHE", "RLHE", "LMHE", "RMHE")]
    raised[:, arms, 2] += 0.08
    assert fit(walk, static.replace(positions=raised)).rms == pytest.approx(_undisturbed_fit().rms, rel=0.05)


def test_the_notes_describe_the_processing() -> None:
    walk, static = sample_trial(cycles=1)
    positions = walk.positions.copy()
    positions[50:54, 3] = np.nan
    positions[100:104, 30] += [0.1, 0.0, 0.0]
    labels = ("LASI_X", *walk.labels[1:])
    notes = fit(walk.replace(positions=positions, labels=labels), static).notes
    assert any("6 Hz" in note for note in notes)
    assert any("filled" in note.lower() for note in notes)
    assert any("jumped and was ignored in 4" in note for note in notes)
    assert any("LASI_X" in note for note in notes)
    assert "height 1.770 m, from the file" in notes


def test_a_height_that_does_not_agree_with_the_markers_is_said() -> None:
    walk, static = sample_trial(cycles=1)
    small = fit(walk, static, height=1.3)
    assert "height 1.300 m, as given" in small.notes
    assert any("height of 1.30 m does not agree" in check.message for check in small.quality.checks)


@pytest.mark.parametrize(
    ("label", "frames"),
    [("RTT2", 1), ("LLM", 10)]
    + [
        pytest.param(label, frames, marks=pytest.mark.slow)
        for label in ("RTT2", "LCAL", "RLFE", "LRS", "RASIS", "LLM")
        for frames in (1, 10)
        if (label, frames) not in (("RTT2", 1), ("LLM", 10))
    ],
)
def test_a_marker_that_jumps_by_ten_centimetres_hardly_moves_the_fit(label: str, frames: int) -> None:
    walk, static = sample_trial(cycles=1)
    positions = walk.positions.copy()
    positions[60 : 60 + frames, walk.labels.index(label)] += [0.06, -0.048, 0.064]
    found, undisturbed = fit(walk.replace(positions=positions), static), _undisturbed_fit()
    assert found.tracking.ignored[:, walk.labels.index(label)].sum() == frames
    apart = np.degrees(found.q[:, 7:] - undisturbed.q[:, 7:])
    assert np.abs(np.diff(apart, axis=0)).max() < 5.0
    assert np.abs(apart).max() < (3.0 if frames == 1 else 12.0)  # a toe has one marker, 6 cm from its joint
    legs = [k for k, joint in enumerate(found.robot.joints) if "hip" in joint.name or "knee" in joint.name]
    assert np.abs(apart[:, legs]).max() < 4.0  # a marker of the pelvis affects both thighs


@cache
def _undisturbed_fit() -> Fit:
    return fit(*sample_trial(cycles=1))


def test_a_saved_fit_restores_its_body_model(tmp_path) -> None:  # type: ignore[no-untyped-def]
    found = sample_fit()
    found.recording().save(tmp_path / "fit.poise")
    loaded = poise.load_recording(tmp_path / "fit.poise")
    assert loaded["q"] == pytest.approx(found.q, nan_ok=True)
    assert loaded["markers/distance"] == pytest.approx(found.errors, nan_ok=True)
    from poise.recording import robot_from_provenance

    again = robot_from_provenance(loaded.provenance)
    assert again.mass == found.robot.mass  # type: ignore[union-attr]
    assert loaded.provenance["markers"]["C7"]["link"] == "torso"


def test_each_trial_of_a_folder_has_a_row_also_if_its_file_is_invalid(tmp_path) -> None:  # type: ignore[no-untyped-def]
    walk, static = sample_trial(cycles=1)
    write_sample(tmp_path / "anna", walk, static)
    (tmp_path / "anna" / "walk.trc").unlink()
    (tmp_path / "broken.c3d").write_bytes(b"no such thing")
    trials = find_trials([tmp_path])
    assert [files.name for files in trials] == ["walk.c3d", "broken.c3d"]
    assert trials[0].static is not None
    assert trials[0].static.parent.name == "anna"
    done: list[float] = []
    batch = fit_trials(trials, progress=done.append)
    walked, broken = batch
    assert isinstance(walked, Fit)
    assert (walked.name, walked.static) == ("walk.c3d", str(trials[0].static))
    assert isinstance(broken, TrialFailure)
    assert (broken.trial, broken.static) == ("broken.c3d", None)
    assert "broken.c3d" in broken.reason
    assert (batch.fits, batch.failures) == ((walked,), (broken,))
    assert batch.text().endswith("1 of 2 trials fitted")
    assert done == sorted(done)
    assert done[-1] == 2.0


@pytest.mark.parametrize(
    ("name", "static"),
    [("static.c3d", True), ("S01_Calibration.c3d", True), ("cal 02.trc", True), ("T-pose.c3d", True),
     ("walk.c3d", False), ("vertical_jump.c3d", False), ("understanding.c3d", False), ("calf_raise.c3d", False)],
)  # fmt: skip
def test_static_trials_are_recognised_by_their_names(name: str, static: bool) -> None:
    from pathlib import Path

    assert is_static(Path(name)) == static


def test_a_trial_that_never_shows_the_pelvis_is_refused() -> None:
    walk, _ = sample_trial(cycles=1)
    positions = walk.positions.copy()
    for k, label in enumerate(walk.labels):
        if "ASIS" in label or "PSIS" in label:
            positions[:, k] = np.nan
    with pytest.raises(human.TrialError, match=r"pelvis|ASIS|asis"):
        fit(walk.replace(positions=positions))
