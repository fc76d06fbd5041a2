"""MOT and STO: columns and angle units are correct with complete and with incomplete headers."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from poise import human

TIME = np.arange(4) / 100.0
KNEE, SHIFT = np.array([0.0, 20.0, 40.0, 60.0]), np.array([0.9, 0.91, 0.92, 0.93])
TABLE = "time\tknee_angle_r\tpelvis_ty\n" + "".join(
    f"{t:.3f}\t{k}\t{s}\n" for t, k, s in zip(TIME, KNEE, SHIFT, strict=True)
)


def write_text(tmp_path: Path, text: str, name: str = "walk.mot") -> Path:
    (tmp_path / name).write_text(text)
    return tmp_path / name


@pytest.mark.parametrize(
    "header",
    [
        "Coordinates\nversion=1\nnRows=4\nnColumns=3\ninDegrees=yes\n\nendheader\n",
        "name walk\ndatacolumns 3\ndatarows 4\nrange 0.0 0.03\nendheader\n\n",
        "walk\nnRows = 4\nnColumns = 3\nEndHeader  \n",
        "",
    ],
    ids=["of today", "of old", "with blanks", "none"],
)
def test_headers_of_any_kind_are_read(header: str, tmp_path: Path) -> None:
    motion = human.read_motion(write_text(tmp_path, header + TABLE))
    assert motion.names == ("knee_angle_r", "pelvis_ty")
    assert motion.in_degrees
    np.testing.assert_allclose(motion.time, TIME)
    np.testing.assert_allclose(motion.column("knee_angle_r"), KNEE)


def test_blanks_instead_of_tabs_and_time_in_any_place_are_read(tmp_path: Path) -> None:
    text = "x\nendheader\n  knee_angle_r   time\n 10.0   0.00\n  20.0  0.01 \n"
    motion = human.read_motion(write_text(tmp_path, text, "walk.sto"))
    np.testing.assert_allclose(motion.time, [0.0, 0.01])
    np.testing.assert_allclose(motion.values[:, 0], [10.0, 20.0])


@pytest.mark.parametrize(("word", "meant"), [("yes", True), ("no", False), ("NO", False)])
def test_the_header_decides_between_degrees_and_radians(word: str, meant: bool, tmp_path: Path) -> None:
    motion = human.read_motion(write_text(tmp_path, f"x\ninDegrees={word}\nendheader\n{TABLE}"))
    assert motion.in_degrees is meant
    assert motion.notes == ()


def test_without_a_unit_the_size_of_the_angles_decides_and_translations_are_ignored(tmp_path: Path) -> None:
    degrees = human.read_motion(write_text(tmp_path, f"x\nendheader\n{TABLE}"))
    assert degrees.in_degrees
    assert "taken as degrees" in degrees.notes[0]
    rows = "".join(f"{t}\t{np.radians(k)}\t{100 * s}\n" for t, k, s in zip(TIME, KNEE, SHIFT, strict=True))
    radians = human.read_motion(write_text(tmp_path, "x\nendheader\ntime\tknee_angle_r\tpelvis_ty\n" + rows))
    assert not radians.in_degrees
    assert "taken as rad" in radians.notes[0]
    np.testing.assert_allclose(radians.values_in_degrees, np.stack([KNEE, 100 * SHIFT], axis=1))
    np.testing.assert_allclose(degrees.values_in_degrees, degrees.values)


@pytest.mark.parametrize(
    ("name", "angle"),
    [
        ("knee_angle_r", True), ("pelvis_tilt", True), ("mtp_angle_l", True),
        ("/jointset/hip_r/hip_flexion_r/value", True),
        ("pelvis_tx", False), ("/jointset/ground_pelvis/pelvis_tz/value", False), ("ground_force_vy", False),
        ("1_ground_torque_x", False), ("ground_force_px", False), ("hip_flexion_r_moment", False),
    ],
)  # fmt: skip
def test_angles_are_distinguished_from_lengths_and_forces_by_their_names(name: str, angle: bool) -> None:
    motion = human.OpenSimMotion((name,), TIME, np.full((4, 1), 0.5), in_degrees=False)
    assert motion.values_in_degrees[0, 0] == pytest.approx(np.degrees(0.5) if angle else 0.5)


def test_numbers_of_rows_and_columns_in_the_header_are_only_compared(tmp_path: Path) -> None:
    motion = human.read_motion(
        write_text(tmp_path, f"x\nnRows=900000000\nnColumns=7\ninDegrees=yes\nendheader\n{TABLE}")
    )
    assert len(motion.time) == 4
    assert motion.notes == (
        "The header says 900000000 rows, the file has 4.",
        "The header says 7 columns, the file has 3.",
    )


@pytest.mark.parametrize("in_degrees", [True, False])
@pytest.mark.parametrize("suffix", ["mot", "sto"])
def test_a_written_motion_is_read_back_unchanged(in_degrees: bool, suffix: str, tmp_path: Path) -> None:
    motion = human.OpenSimMotion(("knee_angle_r", "pelvis_ty"), TIME, np.stack([KNEE, SHIFT], axis=1), in_degrees)
    path = human.write_motion(motion, tmp_path / f"walk.{suffix}")
    back = human.read_motion(path)
    assert (back.names, back.in_degrees, back.notes) == (motion.names, in_degrees, ())
    np.testing.assert_allclose(back.values, motion.values, rtol=1e-9)
    np.testing.assert_allclose(back.time, motion.time, rtol=1e-7)
    lines = path.read_text().splitlines()
    end = lines.index("endheader")
    assert {"version=1", "nRows=4", "nColumns=3"} <= set(lines[:end])
    assert lines[end + 1].startswith("time\t")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "is empty"),
        ("x\nendheader\nknee_angle_r\n1\n", "no column 'time'"),
        ("just words\nand more\n", "no line with the column names"),
        ("x\nendheader\ntime\tknee\n", "no row of numbers"),
        ("x\nendheader\ntime\tknee\n0\tfast\n", "line 4: 'fast' is not a number"),
        ("x\nendheader\ntime\tknee\n0\t1\t2\n", "3 numbers for 2 columns"),
        ("x\nendheader\ntime\tknee\n1\t1\n0\t1\n", "time does not increase"),
        ("x\nendheader\ntime\tknee\tknee\n0\t1\t1\n", "'knee' occurs twice"),
    ],
)
def test_a_file_without_a_motion_is_refused_in_one_line(text: str, words: str, tmp_path: Path) -> None:
    with pytest.raises(human.TrialError, match=words) as caught:
        human.read_motion(write_text(tmp_path, text))
    assert "\n" not in str(caught.value)


def test_a_column_that_is_not_there_is_refused_with_near_misses() -> None:
    motion = human.OpenSimMotion(("knee_angle_r",), TIME, KNEE[:, None])
    with pytest.raises(human.TrialError, match="did you mean 'knee_angle_r'") as caught:
        motion.column("knee_angle")
    assert caught.value.near == ("knee_angle_r",)
