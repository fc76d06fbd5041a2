"""Motion-capture files found by fuzzing, which formerly gave a traceback or took gigabytes or minutes."""

import time
from pathlib import Path

import numpy as np
import pytest

from poise.human import Trial, TrialError, read_bvh, read_trial
from poise.human.files.file_conventions import select_markers


def skeleton(channels: str, joints: int = 0, rows: int = 1) -> str:
    still = "JOINT j\n{\nOFFSET 0 1 0\nCHANNELS 0\n}\n" * joints
    return (
        f"HIERARCHY\nROOT r\n{{\nOFFSET 0 0 0\nCHANNELS {channels}\n{still}}}\n"
        f"MOTION\nFrames: {rows}\nFrame Time: 0.01\n" + "1\n" * rows
    )


@pytest.mark.parametrize("data", [b"\xef\xbb\xbf", b"\xef\xbb\xbf\n", b" \n\t", b"\xc2\x85"])
def test_a_file_of_blanks_is_empty(data: bytes, tmp_path: Path) -> None:
    (tmp_path / "blank.bvh").write_bytes(data)
    with pytest.raises(TrialError, match="is empty; expected"):
        read_bvh(tmp_path / "blank.bvh")


@pytest.mark.parametrize("count", ["9" * 5000, "²", "-1", "1.0", ""])
def test_an_invalid_number_of_channels_is_refused(count: str, tmp_path: Path) -> None:
    (tmp_path / "odd.bvh").write_text(skeleton(f"{count} Xposition"))
    with pytest.raises(TrialError, match="line 5: CHANNELS"):
        read_bvh(tmp_path / "odd.bvh")
    (tmp_path / "sound.bvh").write_text(skeleton("01 Xposition"))
    assert read_bvh(tmp_path / "sound.bvh").joints == ("r",)


def test_a_skeleton_with_mostly_fixed_joints_is_refused_before_memory_is_allocated(tmp_path: Path) -> None:
    (tmp_path / "still.bvh").write_text(skeleton("1 Xposition", joints=5000, rows=20_000))
    with pytest.raises(TrialError, match="20000 rows for 5001 joints, of which very few have channels"):
        read_bvh(tmp_path / "still.bvh")
    (tmp_path / "some.bvh").write_text(skeleton("1 Xposition", joints=50, rows=200))
    assert read_trial(tmp_path / "some.bvh").positions.shape == (200, 51, 3)


def test_many_columns_without_a_name_take_no_time() -> None:
    start = time.process_time()
    assert select_markers([""] * 40_000 + ["LASI"], [1] * 40_001).labels == ["LASI"]
    assert time.process_time() - start < 5.0


def test_an_implausible_frame_rate_is_refused() -> None:
    with pytest.raises(TrialError, match=r"a rate of 1e\+20 Hz; expected"):
        Trial("made", 1e20, np.zeros(1), ("A",), np.zeros((1, 1, 3)))
