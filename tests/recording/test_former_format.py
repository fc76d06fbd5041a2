"""Files of format 1, in which channels had no keys, are read; ``files/`` holds two that Poise wrote then."""

from pathlib import Path

import numpy as np
import pytest
from recorded_steps import identical

from poise.behaviors import Stand
from poise.control import TorqueController
from poise.errors import RecordingError
from poise.plants import MujocoPlant
from poise.recording import Recording, load_recording, record
from poise.recording.channel import is_channel_key
from poise.recording.file_format import FORMAT_VERSION, FileContents
from poise.robots import load_robot

FILES = Path(__file__).parent / "files"
#: Three samples of ``poise run stand --robot hoap3``.
STAND = FILES / "stand_format_1.poise"
#: Channels with unusual names.
NAMES = FILES / "names_format_1.poise"


@pytest.fixture(scope="module")
def stand_recording() -> Recording:
    return load_recording(STAND)


@pytest.fixture(scope="module")
def names_recording() -> Recording:
    return load_recording(NAMES)


@pytest.mark.parametrize("path", [STAND, NAMES])
def test_these_files_are_of_format_1(path: Path) -> None:
    assert FORMAT_VERSION > 1
    assert FileContents(path.read_bytes()).version == 1


def test_its_channels_have_the_current_keys_of_the_same_motion(stand_recording: Recording) -> None:
    now = Stand(load_robot("hoap3"))
    recording = record(TorqueController(now), MujocoPlant(now.start), 0.004)
    assert {channel.label: key for key, channel in stand_recording.channels.items()} == {
        channel.label: key for key, channel in recording.channels.items()
    }
    assert all(map(is_channel_key, stand_recording.channels))


def test_its_channels_are_found_by_new_and_by_former_keys(stand_recording: Recording) -> None:
    assert (stand_recording.samples, stand_recording.provenance["robot"], stand_recording.complete) == (
        3,
        "hoap3",
        True,
    )
    former = "error/balance/height of the center of mass"
    assert np.array_equal(stand_recording["error/balance/center_of_mass_height"], stand_recording[former])
    assert stand_recording[f"{former}/z"].shape == (3,)
    assert stand_recording.channels["error/balance/center_of_mass_height"].label == former
    # The two soles carry the weight of 8.8 kg.
    load = stand_recording["measured/force/left_sole/fz"] + stand_recording["measured/force/right_sole/fz"]
    assert load[-1] == pytest.approx(8.8 * 9.81, rel=0.05)


def test_its_summary_lists_levels_and_tasks_by_their_labels(stand_recording: Recording) -> None:
    lines = [line.split("  ")[0] or line.strip().split("  ")[0] for line in stand_recording.summary().splitlines()]
    assert list(stand_recording.levels()) == ["physics", "always", "contact", "balance", "trunk", "posture"]
    for label in ("balance", "center of mass", "height of the center of mass", "orientation of chest"):
        assert label in lines


def test_unusual_names_become_unique_keys(names_recording: Recording) -> None:
    assert {key: channel.label for key, channel in names_recording.channels.items() if key != channel.label} == {
        "error/balance/dcm": "error/balance/divergent component",
        "error_norm/balance/dcm": "error_norm/balance/divergent component",
        "error/feet_hands/a_b": "error/feet|hands/a/b",
        "slack/feet_hands": "slack/feet|hands",
        "active_count/feet_hands": "active_count/feet|hands",
        "active/feet_hands": "active/feet|hands",
        "error/reach/left_palm": "error/reach/position of left_palm",
        "error/reach/left_palm_2": "error/reach/position of left_palm (2)",
        "error/reach/left_palm_orientation": "error/reach/orientation of left_palm",
        "error/reach_2/left_palm": "error/Reach/left_palm",
        "force/left_heel_1": "force/left heel 1",
        "measured/cells/lfoot": "measured/cells/LFoot",
        "hohe_uber_grund": "Höhe über Grund",
        "unnamed": "足",
    }
    assert names_recording["error/balance/dcm"].tolist() == [[3.0, 4.0]] * 2
    assert names_recording["unnamed"].tolist() == ["a", "b"]
    assert list(names_recording.levels()) == ["balance", "feet|hands", "reach", "Reach"]
    assert names_recording.levels()["Reach"]["max"] == 7.0
    assert names_recording.saturations()[0][:3] == ("feet|hands", "a/b[x]", "upper")


def test_a_name_similar_to_a_former_one_is_refused_with_the_current_key(names_recording: Recording) -> None:
    with pytest.raises(RecordingError, match="did you mean 'error/reach/left_palm_orientation'"):
        names_recording["error/reach/left_palm orientation"]


@pytest.mark.parametrize("path", [STAND, NAMES])
def test_saved_again_it_is_the_same_recording_in_the_current_format(path: Path, tmp_path: Path) -> None:
    former = load_recording(path)
    former.save(tmp_path / "a.poise")
    assert FileContents((tmp_path / "a.poise").read_bytes()).version == FORMAT_VERSION
    assert identical(load_recording(tmp_path / "a.poise"), former)


@pytest.mark.parametrize("letter", [b"left heel 1", b"divergent", b"optimal"])
def test_a_former_file_that_was_changed_is_recognised(tmp_path: Path, letter: bytes) -> None:
    data = next(file.read_bytes() for file in (NAMES, STAND) if letter in file.read_bytes())
    (tmp_path / "a.poise").write_bytes(data.replace(letter, letter[:-1] + b"?"))
    with pytest.raises(RecordingError, match="is truncated or damaged; no sample"):
        load_recording(tmp_path / "a.poise")
