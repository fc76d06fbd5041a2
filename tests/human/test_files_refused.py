"""Files without a trial are refused with a one-line reason, quickly and in little memory."""

from __future__ import annotations

import random
import re
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from marker_files import PERSON, mocap, patched, standing, value_start, write_c3d

from poise import human
from poise.errors import PoiseError
from poise.human.files import c3d_layout
from poise.human.files import trial_reader as reading


def trial_error(path: Path, words: str) -> human.TrialError:
    with pytest.raises(human.TrialError, match=words) as caught:
        human.read_trial(path)
    message = str(caught.value)
    assert "\n" not in message
    assert path.name in message
    assert caught.value.path == str(path)
    return caught.value


@pytest.mark.parametrize(
    ("name", "words"),
    [("Empty.c3d", "empty"), ("badParameterOffset.c3d", "damaged C3D file"), ("Eb015si.c3d", "MIPS byte order")],
)
def test_malformed_real_files_are_refused(name: str, words: str) -> None:
    trial_error(mocap(f"malformed/{name}"), words)


@pytest.mark.parametrize("suffix", [".c3d", ".trc", ".dat"])
@pytest.mark.parametrize("seed", range(3))
def test_random_bytes_are_refused(suffix: str, seed: int, tmp_path: Path) -> None:
    path = tmp_path / f"noise{suffix}"
    path.write_bytes(random.Random(seed).randbytes(5000))
    trial_error(path, "not a|neither|damaged|no line")


def test_random_bytes_that_begin_like_a_c3d_file_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "noise.c3d"
    for seed in range(30):
        noise = random.Random(seed).randbytes(4000)
        path.write_bytes(bytes([2, c3d_layout.C3D_KEY]) + noise[:513] + bytes([c3d_layout.INTEL]) + noise)
        with pytest.raises(human.TrialError):
            human.read_trial(path)


def test_a_path_that_is_not_a_file_is_refused(tmp_path: Path) -> None:
    trial_error(tmp_path / "none.c3d", "no such file")
    (tmp_path / "folder.c3d").mkdir()
    trial_error(tmp_path / "folder.c3d", "not a file")
    (tmp_path / "empty.trc").touch()
    trial_error(tmp_path / "empty.trc", "is empty")


@pytest.mark.parametrize(("suffix", "reader"), [("mot", "read_motion"), ("sto", "read_motion")])
def test_joint_motion_files_are_refused_with_the_name_of_their_reader(suffix: str, reader: str, tmp_path: Path) -> None:
    path = tmp_path / f"walk.{suffix}"
    path.write_text("anything")
    trial_error(path, reader)


def test_a_file_that_is_too_large_is_not_even_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "MAX_FILE_BYTES", 100)
    trial_error(write_c3d(tmp_path / "t.c3d", standing()), "GB; expected at most")


def test_the_content_decides_the_format_and_not_the_file_name(tmp_path: Path) -> None:
    path = write_c3d(tmp_path / "t.c3d", standing()).rename(tmp_path / "t.trc")
    assert human.read_trial(path).labels == tuple(PERSON)


def test_a_point_rate_of_zero_is_refused(tmp_path: Path) -> None:
    path = write_c3d(tmp_path / "t.c3d", standing())
    rate = value_start(path.read_bytes(), "POINT", "RATE")
    assert trial_error(patched(path, (rate, "<f", 0.0), (20, "<f", 0.0)), "point rate of 0 Hz").element == "POINT:RATE"


def test_a_file_that_claims_more_frames_than_it_has_room_for_is_refused_before_it_is_read(tmp_path: Path) -> None:
    path = write_c3d(tmp_path / "t.c3d", standing())
    frames = value_start(path.read_bytes(), "POINT", "FRAMES")
    patched(path, (frames, "<H", 65000), (8, "<H", 65000))
    tracemalloc.start()
    trial_error(path, "says 65000 frames of 35 points .* truncated or damaged")
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 5e6


def test_a_truncated_file_is_refused(tmp_path: Path) -> None:
    path = write_c3d(tmp_path / "t.c3d", standing(200))
    data = path.read_bytes()
    for share in (0.99, 0.7, 0.3, 0.05):
        path.write_bytes(data[: int(share * len(data))])
        with pytest.raises(human.TrialError):
            human.read_trial(path)


@pytest.mark.parametrize("seed", range(40))
def test_no_damaged_byte_of_the_parameters_makes_it_claim_memory_or_crash(seed: int, tmp_path: Path) -> None:
    path, rng = write_c3d(tmp_path / "t.c3d", standing()), random.Random(seed)
    data = bytearray(path.read_bytes())
    parameters = range(512, 512 * (1 + data[514]))
    for _ in range(3):
        data[rng.choice(parameters)] = rng.randrange(256)
    path.write_bytes(data)
    try:
        size, message = human.read_trial(path).positions.size, ""
    except PoiseError as error:
        size, message = 0, str(error)
    assert size <= standing().size
    assert "\n" not in message


def test_a_file_without_a_marker_is_refused(tmp_path: Path) -> None:
    trial_error(write_c3d(tmp_path / "t.c3d", np.ones((3, 2, 3)), ["*1", "*2"]), "no marker with a name and samples")


def test_an_invalid_axis_is_refused(tmp_path: Path) -> None:
    with pytest.raises(human.TrialError, match="up is 'w'; expected one of x, y, z"):
        human.read_trial(write_c3d(tmp_path / "t.c3d", standing()), up="w")


@pytest.mark.parametrize("name", ["SCALE", "OFFSET"])
def test_channels_without_scale_or_offset_are_refused_before_the_reader_crashes(name: str, tmp_path: Path) -> None:
    path = write_c3d(tmp_path / "t.c3d", standing(), analogs={"Fx1": np.ones(50)})
    data = bytearray(path.read_bytes())
    found = re.search(rf"(?<!_){name}".encode(), data[(start := data.index(b"ANALOG", 512)) :])  # not GEN_SCALE
    assert found
    data[start + found.start()] = ord("X")
    path.write_bytes(data)
    trial_error(path, f"ANALOG:{name} does not have a number for each of 1 channels")


def test_a_parameter_that_does_not_end_with_its_parts_is_refused(tmp_path: Path) -> None:
    path = write_c3d(tmp_path / "t.c3d", standing())
    at = value_start(path.read_bytes(), "POINT", "UNITS") - 2
    trial_error(patched(path, (at, "<B", 255)), "damaged C3D file: parameter 'UNITS'")
