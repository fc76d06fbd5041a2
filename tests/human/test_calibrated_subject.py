"""A person calibrated once: the same body in every trial, whatever the person does."""

from functools import cache
from pathlib import Path

import numpy as np
import pytest

from poise import human
from poise.human import CalibratedSubject, Trial, TrialError, calibrate_subject, fit, load_subject, sample_trial
from poise.human.sample_trials import marker_locations, marker_positions, worn_markers
from poise.robots import BodyShape, load_robot


@cache
def trials(marker_set: str = "skin49") -> tuple[Trial, Trial]:
    return sample_trial(cycles=1, marker_set=marker_set)


@cache
def anna() -> CalibratedSubject:
    return calibrate_subject(trials()[1])


def sitting_down() -> tuple[Trial, np.ndarray]:
    """Markers of the sample person who bends hips and knees to 95 degrees, and these angles (n, rad)."""
    markers = human.load_marker_set("skin49")
    shape, robot = BodyShape.of(1.77, 75.0), load_robot("human", height=1.77, mass=75.0, sex="male")
    worn = worn_markers(markers, static=False)
    bend = np.radians(95.0) * np.sin(np.linspace(0.0, np.pi / 2.0, 80))
    q = np.tile(robot.stance("standing").q, (80, 1))
    for side in ("left", "right"):
        q[:, robot.joint(f"{side}_hip_flexion").q] = bend
        q[:, robot.joint(f"{side}_knee_flexion").q] = bend
        q[:, robot.joint(f"{side}_ankle_dorsiflexion").q] = 0.0
    q[:, 2] -= 0.4 * (1.0 - np.cos(bend))
    positions = marker_positions(robot, q, marker_locations(worn, shape))
    time = np.arange(80) / 100.0
    return Trial("chair", 100.0, time, tuple(marker.label for marker in worn), positions), bend


def test_the_calibration_finds_the_known_person() -> None:
    true = BodyShape.of(1.77, 75.0)
    for name in ("thigh", "shank", "upper_arm"):
        assert getattr(anna().shape, name) == pytest.approx(getattr(true, name), abs=0.02)
    assert anna().shape.height == pytest.approx(1.77)
    assert (anna().shape.mass, anna().mass_known) == (75.0, True)


def test_every_trial_has_the_body_and_leg_markers_of_the_person() -> None:
    found = fit(trials()[0], subject=anna())
    assert found.shape == anna().shape
    assert found.quality.verdict == "good", str(found.quality)
    for label, at in zip(found.marker_placement.labels, found.marker_placement.locations, strict=True):
        if found.markers[label].segment.endswith(("pelvis", "_thigh", "_shank", "_foot")):
            assert at == pytest.approx(anna().locations[label], abs=1e-3)


def test_a_person_who_sits_down_keeps_height_and_angles() -> None:
    trial, bend = sitting_down()
    found = fit(trial, subject=anna())
    assert found.shape.height == pytest.approx(1.77)
    for joint in ("left_hip_flexion", "right_hip_flexion", "left_knee_flexion", "right_knee_flexion"):
        assert np.degrees(np.abs(found.tracking.q[:, found.robot.joint(joint).q] - bend)).max() < 6.0, joint


def test_without_a_subject_the_height_of_a_sitting_person_is_not_that_of_the_pelvis() -> None:
    trial, _ = sitting_down()
    assert fit(trial.cut(0.4, 0.7)).shape.height == pytest.approx(1.77, abs=0.10)


def test_a_saved_person_is_loaded_unchanged(tmp_path: Path) -> None:
    again = load_subject(anna().save(tmp_path / "anna.toml"))
    assert again.summary() == anna().summary()
    for name, value in anna().shape.parameters().items():
        assert again.shape.parameters()[name] == pytest.approx(value, abs=1e-6), name


def test_raised_arms_do_not_enter_the_calibration() -> None:
    """In a T-pose the shoulders are higher: a trial with hanging arms then still has a good fit."""
    walk, static = trials("plug_in_gait")
    positions = static.positions.copy()
    for side, y in (("L", 1.0), ("R", -1.0)):
        shoulder = static.labels.index(f"{side}SHO")
        for label in ("ELB", "WRA", "WRB", "FIN"):
            k = static.labels.index(f"{side}{label}")
            down = positions[:, k] - positions[:, shoulder]
            positions[:, k] = positions[:, shoulder] + np.stack([down[:, 0], -y * down[:, 2], y * down[:, 1]], axis=1)
            positions[:, k, 2] += 0.06
        positions[:, shoulder, 2] += 0.06
    person = calibrate_subject(static.replace(positions=positions))
    assert not {"LSHO", "RSHO", "LELB", "RELB"} & set(person.locations)
    found = fit(walk, subject=person)
    assert found.quality.usable, str(found.quality)
    assert "LELB" in found.marker_placement.labels


def test_a_subject_excludes_what_it_determines() -> None:
    walk, static = trials()
    with pytest.raises(TrialError, match="a subject determines static; give either"):
        fit(walk, static, subject=anna())


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (("height = 1.77", ""), "no height"),
        (("height = 1.77", "height = 17.7"), "the height of a human is 17.7"),
        (("sex = ", "sx = "), "a subject has no key 'sx'"),
        (('"position" = [', '"position" = [9.0, '), "expected three numbers"),
        (('segment = "pelvis"', 'segment = "tail"'), "no segment 'tail'"),
        (("[shape]", "[shape"), "not a TOML file"),
    ],
)
def test_a_damaged_file_is_refused_in_one_line(change: tuple[str, str], expected: str, tmp_path: Path) -> None:
    path = anna().save(tmp_path / "anna.toml")
    text = path.read_text()
    old = change[0].replace('"position"', "position")
    assert old in text
    path.write_text(text.replace(old, change[1].replace('"position"', "position"), 1))
    with pytest.raises(TrialError, match=expected) as caught:
        load_subject(path)
    assert "\n" not in str(caught.value)
