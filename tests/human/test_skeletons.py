"""BVH skeletons as trials: the length unit is detected, and a body is fitted to the joint centres."""

from pathlib import Path

import numpy as np
import pytest
from marker_files import mocap

import poise
from poise import exports, human
from poise.human import sample_trial
from poise.human.files.bvh_reader import UNIT_LENGTHS
from poise.human.sample_trials import sample_motion

#: A person in two bones; heights in metres.
STICK = """HIERARCHY
ROOT Hips
{{
  OFFSET 0 0 0
  CHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation
  JOINT LeftFoot
  {{
    OFFSET 0 {low} 0
    CHANNELS 3 Zrotation Xrotation Yrotation
    End Site
    {{
      OFFSET 0 0 0
    }}
  }}
  JOINT Head
  {{
    OFFSET 0 {high} 0
    CHANNELS 3 Zrotation Xrotation Yrotation
    End Site
    {{
      OFFSET 0 0 0
    }}
  }}
}}
MOTION
Frames: 3
Frame Time: 0.01
"""


@pytest.mark.parametrize("unit", UNIT_LENGTHS)
def test_the_length_unit_gives_a_skeleton_the_height_of_a_person(tmp_path: Path, unit: str) -> None:
    size = 1.0 / UNIT_LENGTHS[unit]
    row = f"0 {0.9 * size} 0 0 0 0 0 0 0 0 0 0\n"
    file = tmp_path / "stick.bvh"
    file.write_text(STICK.format(low=-0.85 * size, high=0.75 * size) + 3 * row)
    trial = human.read_trial(file)
    assert trial.marker("Hips")[0] == pytest.approx([0.0, 0.0, 0.9], abs=1e-9)
    assert any(f"taken as {unit}," in note for note in trial.notes)


def test_a_body_is_found_from_joint_centres_alone() -> None:
    walk, _ = sample_trial(marker_set="skeleton", noise=0.001, cycles=1)
    found = human.fit(walk)
    robot = poise.load_robot("human", height=1.77, mass=75.0, sex="male")
    _, q = sample_motion(robot, cycles=1)
    assert found.rms < 0.004
    assert found.shape.thigh == pytest.approx((0.432, 0.432), abs=0.008)
    assert found.shape.forearm == pytest.approx((0.283, 0.283), abs=0.008)
    for joint in ("left_knee_flexion", "right_hip_flexion", "left_elbow_flexion"):
        k = robot.joint(joint).q
        assert np.degrees(np.std(found.q[5:-5, k] - q[5:-5, k])) < 2.0, joint


@pytest.mark.parametrize("name", ["07_01", "35_01"])
def test_skeletons_of_the_cmu_library_are_met_within_a_centimetre(name: str) -> None:
    trial = human.read_trial(mocap(f"cmu_bvh/{name}.bvh"))
    assert any("0.45 inch" in note for note in trial.notes)
    found = human.fit(trial)
    assert found.rms < 0.010
    assert found.marker_set == "skeleton"
    assert np.degrees(np.ptp(found.angles()["left_knee_flexion"])) > 45.0


def test_a_skeleton_without_legs_is_refused_in_one_line(tmp_path: Path) -> None:
    file = tmp_path / "stick.bvh"
    file.write_text(STICK.format(low=-0.85, high=0.75) + 3 * "0 0.9 0 0 0 0 0 0 0 0 0 0\n")
    with pytest.raises(human.TrialError, match="leg") as caught:
        human.fit(human.read_trial(file))
    assert "\n" not in str(caught.value)


def test_an_exported_skeleton_is_read_in_its_original_size(tmp_path: Path) -> None:
    robot = poise.load_robot("human")
    start = robot.stance("standing")
    hold = poise.Hierarchy(levels=[poise.Level("posture", [poise.tasks.Posture(start)])])
    recording = poise.record(poise.KinematicController(hold), poise.IdealPlant(start), 0.1)
    trial = human.read_trial(exports.save(recording, tmp_path / "stand.bvh"))
    heights = trial.positions[0, :, 2]
    assert 1.3 < heights.max() - heights.min() < 1.8
