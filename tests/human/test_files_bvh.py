"""BVH: joint positions agree with those of an independent reader."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import bvhsdk
import numpy as np
import pytest
from marker_files import mocap
from scipy.spatial.transform import Rotation

from poise import human

SKELETON = """HIERARCHY
ROOT Hips
{
  OFFSET 0.0 0.0 0.0
  CHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation
  JOINT Leg
  {
    OFFSET 0.1 -0.5 0.0
    CHANNELS 3 Yrotation Zrotation Xrotation
    End Site
    {
      OFFSET 0.0 -0.4 0.0
    }
  }
  JOINT Spine
  {
    OFFSET 0.0 0.6 0.0
    CHANNELS 1 Xrotation
    End Site
    {
      OFFSET 0.0 0.2 0.0
    }
  }
}
"""
ROWS = ["1.0 2.0 3.0 10.0 20.0 30.0 40.0 50.0 60.0 70.0", "1.1 2.0 3.0 11.0 21.0 31.0 41.0 51.0 61.0 71.0"]


def write_bvh(
    tmp_path: Path, rows: list[str] = ROWS, frames: int = 2, period: str = "0.01", top: str = SKELETON
) -> Path:
    text = top + f"MOTION\nFrames: {frames}\nFrame Time: {period}\n" + "\n".join(rows) + "\n"
    (tmp_path / "t.bvh").write_text(text)
    return tmp_path / "t.bvh"


def z_up(points: np.ndarray) -> np.ndarray:
    return points[..., [0, 2, 1]] * np.array([1.0, -1.0, 1.0])


def test_joints_are_where_the_rotations_in_the_order_of_the_channels_put_them(tmp_path: Path) -> None:
    motion = human.read_bvh(write_bvh(tmp_path))
    assert motion.joints == ("Hips", "Leg", "Leg_end", "Spine", "Spine_end")
    assert motion.parents == (-1, 0, 1, 0, 3)
    hips, leg = (Rotation.from_euler(*e, degrees=True) for e in (("ZXY", [10, 20, 30]), ("YZX", [40, 50, 60])))
    spine = Rotation.from_euler("X", 70, degrees=True)
    root = np.array([1.0, 2.0, 3.0])
    knee, neck = root + hips.apply([0.1, -0.5, 0.0]), root + hips.apply([0.0, 0.6, 0.0])
    foot, head = knee + (hips * leg).apply([0.0, -0.4, 0.0]), neck + (hips * spine).apply([0.0, 0.2, 0.0])
    np.testing.assert_allclose(motion.positions()[0], z_up(np.stack([root, knee, foot, neck, head])), atol=1e-12)


@pytest.mark.parametrize("name", ["07_01.bvh", "35_01.bvh"])
def test_another_reader_finds_recorded_joints_in_the_same_places(name: str) -> None:
    path = mocap(f"cmu_bvh/{name}")
    motion, other = human.read_bvh(path), bvhsdk.ReadFile(str(path))
    positions = motion.positions()
    for frame in (0, 1, 150, len(positions) - 1):
        for joint in other.getlistofjoints():
            meant = z_up(np.asarray(joint.getPosition(frame)))
            np.testing.assert_allclose(positions[frame, motion.joints.index(joint.name)], meant, atol=1e-4)


@pytest.mark.parametrize("name", ["07_01.bvh", "35_01.bvh"])
def test_a_recorded_walk_has_human_size_and_is_upright(name: str) -> None:
    motion = human.read_bvh(mocap(f"cmu_bvh/{name}"), scale=0.0254 / 0.45, skip=1)
    trial = motion.to_trial()
    assert trial.rate == pytest.approx(120.0, rel=1e-3)
    assert trial.labels == motion.joints
    height = trial.marker("Head_end")[:, 2] - trial.positions[..., 2].min(axis=1)
    assert height.min() > 1.2
    assert height.max() < 1.9
    displacement = trial.marker("Hips")[-1] - trial.marker("Hips")[0]
    assert np.linalg.norm(displacement[:2]) > 1.0
    assert abs(displacement[2]) < 0.15


def test_an_added_first_pose_is_noted_and_can_be_left_out() -> None:
    path = mocap("cmu_bvh/07_01.bvh")
    all_frames, rest = human.read_bvh(path), human.read_bvh(path, skip=1)
    assert any("skip=1" in note for note in all_frames.notes)
    np.testing.assert_allclose(rest.positions(), all_frames.positions()[1:])
    assert rest.time[0] == 0.0
    assert len(rest.time) == len(all_frames.time) - 1


def test_lengths_are_scaled_and_another_axis_may_be_up(tmp_path: Path) -> None:
    plain, large = human.read_bvh(write_bvh(tmp_path)), human.read_bvh(write_bvh(tmp_path), scale=2.0)
    np.testing.assert_allclose(large.positions(), 2.0 * plain.positions())
    x = human.read_bvh(write_bvh(tmp_path), up="z").positions()
    np.testing.assert_allclose(z_up(x), plain.positions())


def test_a_wrong_number_of_frames_is_only_noted(tmp_path: Path) -> None:
    motion = human.read_bvh(write_bvh(tmp_path, frames=2_000_000_000))
    assert len(motion.time) == 2
    assert "says 2000000000 frames, the file has 2" in motion.notes[0]


def test_names_that_are_there_twice_get_numbers(tmp_path: Path) -> None:
    motion = human.read_bvh(write_bvh(tmp_path, top=SKELETON.replace("Spine", "Leg")))
    assert motion.joints == ("Hips", "Leg", "Leg_end", "Leg_2", "Leg_end_2")
    assert motion.to_trial().labels == motion.joints


def test_a_skeleton_nested_a_thousand_deep_is_read(tmp_path: Path) -> None:
    deep = "JOINT j\n{\nOFFSET 0 1 0\nCHANNELS 1 Xrotation\n"
    top = "HIERARCHY\nROOT r\n{\nOFFSET 0 0 0\nCHANNELS 1 Xrotation\n" + deep * 1000 + "}\n" * 1001
    positions = human.read_bvh(write_bvh(tmp_path, [" ".join(["0"] * 1001)], 1, top=top)).positions()
    np.testing.assert_allclose(positions[0, -1], [0.0, 0.0, 1000.0])


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"top": "nonsense\n"}, "does not begin with HIERARCHY"),
        ({"top": SKELETON.replace("}\n}\n", "}\n")}, "before the last closing brace"),
        ({"top": SKELETON + "}\n"}, "unexpected closing brace"),
        ({"top": SKELETON.replace("OFFSET 0.1 -0.5 0.0", "OFFSET 0.1 0.0")}, "line 8: OFFSET"),
        ({"top": SKELETON.replace("CHANNELS 1", "CHANNELS 2")}, "expected their number"),
        ({"top": SKELETON.replace("1 Xrotation", "1 Wrotation")}, "expected their number"),
        ({"top": SKELETON.replace("JOINT Spine", "BONE Spine")}, "'BONE' is not a keyword of a BVH hierarchy"),
        ({"period": "0"}, "frame time of 0 s"),
        ({"period": "soon"}, "'soon' is not a number"),
        ({"rows": []}, "no row of numbers"),
        ({"rows": [ROWS[0], "1 2 3"]}, "3 of 10 numbers"),
        ({"rows": [ROWS[0] + " 1"]}, "11 numbers for 10 columns"),
    ],
)
def test_an_invalid_skeleton_is_refused_in_one_line(changes: dict[str, Any], words: str, tmp_path: Path) -> None:
    with pytest.raises(human.TrialError, match=words) as caught:
        human.read_bvh(write_bvh(tmp_path, **changes))
    assert "\n" not in str(caught.value)


def test_invalid_arguments_are_refused(tmp_path: Path) -> None:
    for argument, words in (({"scale": 0.0}, "scale is 0.0"), ({"up": "w"}, "up is 'w'"), ({"skip": 2}, "skip is 2")):
        with pytest.raises(human.TrialError, match=words):
            human.read_bvh(write_bvh(tmp_path), **argument)
