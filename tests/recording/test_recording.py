"""Recording: access by names of channels and columns; it is immutable."""

from collections.abc import Mapping

import numpy as np
import pytest

from poise.errors import RecordingError
from poise.recording import Channel, Recording
from poise.recording.former_keys import FORMER_LEVELS, FORMER_TASKS


@pytest.fixture
def recording() -> Recording:
    time = np.arange(4) * 0.5
    return Recording(
        [
            Channel("time", "s", time),
            Channel("center_of_mass", "m", np.outer(time, [1.0, 2.0, 3.0]), labels=("x", "y", "z")),
            Channel("q", ("m", "rad"), np.zeros((4, 2)), labels=("base_x", "left_knee_joint")),
            Channel("error/reach/left/hand", "m", np.ones((4, 2)), labels=("x", "y/z")),
        ],
        {"robot": "figure", "seed": np.int64(3), "weights": np.array([1.0, 2.0])},
    )


def test_a_name_gives_an_array_and_a_label_one_of_its_columns(recording: Recording) -> None:
    assert recording["center_of_mass"].shape == (4, 3)
    assert recording["center_of_mass/y"].tolist() == [0.0, 1.0, 2.0, 3.0]
    assert recording["error/reach/left/hand/y/z"].tolist() == [1.0] * 4


def test_units_and_labels_are_indexed_by_the_same_names(recording: Recording) -> None:
    assert recording.units["q"] == "m, rad"
    assert recording.units["q/left_knee_joint"] == "rad"
    assert recording.labels["center_of_mass"] == ("x", "y", "z")
    assert recording.labels["time"] == ()
    assert list(recording.units) == list(recording.channels)


def test_a_recording_is_a_mapping_of_its_channels(recording: Recording) -> None:
    keys = ["time", "center_of_mass", "q", "error/reach/left/hand"]
    assert isinstance(recording, Mapping)
    assert list(recording) == list(recording.keys()) == keys
    assert len(recording) == len(keys)
    for (key, values), again in zip(recording.items(), recording.values(), strict=True):
        assert values is again is recording[key] is recording.channels[key].values
    assert set(dict(recording)) == set({**recording}) == set(keys)
    assert recording.get("center_of_mas") is None
    with pytest.raises(KeyError):
        recording["center_of_mas"]
    assert recording == recording
    assert recording != Recording(recording.channels.values())
    assert {recording: 1}[recording] == 1


def test_the_label_of_a_channel_is_taken_for_its_key() -> None:
    label = "error/reach/position of left_palm"
    channel = Channel("error/reach/left_palm", "m", [[1.0, 2.0]], ("x", "y"), label)
    recording = Recording([Channel("time", "s", [0.0]), channel])
    assert recording[label].tolist() == [[1.0, 2.0]]
    assert (recording[f"{label}/y"].tolist(), recording.units[f"{label}/y"]) == ([2.0], "m")
    assert label in recording
    assert list(recording.channels) == ["time", "error/reach/left_palm"]


def test_the_clock_gives_period_and_duration(recording: Recording) -> None:
    assert (recording.period, recording.duration, recording.samples) == (0.5, 2.0, 4)


def test_an_unknown_name_is_refused_with_similar_names(recording: Recording) -> None:
    with pytest.raises(RecordingError) as caught:
        recording["q/left_kne_joint"]
    assert "did you mean 'q/left_knee_joint'" in str(caught.value)
    assert caught.value.near[0] == "q/left_knee_joint"
    with pytest.raises(RecordingError, match="center_of_mass"):
        recording.units["center_of_mas"]
    with pytest.raises(RecordingError, match="there are time, center_of_mass"):
        recording["zzzzzzzz"]
    assert "q" in recording
    assert "q/left_knee_joint" in recording
    assert "q/left_kne_joint" not in recording


def test_a_recording_cannot_change(recording: Recording) -> None:
    with pytest.raises(AttributeError, match="is immutable"):
        recording.complete = False
    with pytest.raises(TypeError):
        recording.channels["more"] = recording.channels["q"]  # type: ignore[index]
    with pytest.raises(ValueError, match="read-only"):
        recording["q"][0, 0] = 1.0


def test_the_provenance_holds_plain_values(recording: Recording) -> None:
    assert recording.provenance == {"robot": "figure", "seed": 3, "weights": [1.0, 2.0]}
    with pytest.raises(RecordingError, match="object is not supported"):
        Recording([Channel("time", "s", [0.0])], {"robot": object()})


def test_channels_share_one_clock_and_have_their_own_names() -> None:
    clock = Channel("time", "s", [0.0, 1.0])
    with pytest.raises(RecordingError, match="needs a channel 'time'"):
        Recording([Channel("q", "rad", [0.0])])
    with pytest.raises(RecordingError, match="'q' has 3 samples and time 2"):
        Recording([clock, Channel("q", "rad", [0.0, 1.0, 2.0])])
    with pytest.raises(RecordingError, match="two channels have the key 'time'"):
        Recording([clock, clock])


def test_a_recording_without_samples_has_no_duration_and_a_summary() -> None:
    empty = Recording([Channel("time", "s", [])])
    assert (empty.samples, empty.duration, empty.levels()) == (0, 0.0, {})
    assert np.isnan(empty.period)
    assert "0 samples" in empty.summary()


def test_a_state_needs_a_robot_with_the_recorded_joints(recording: Recording) -> None:
    with pytest.raises(RecordingError, match=r"load_robot\('figure'\)"):
        recording.state(0)


# -- channels of earlier versions --------------------------------------------------------------------------------------


@pytest.mark.parametrize(("former", "name"), FORMER_LEVELS.items())
@pytest.mark.parametrize("prefix", ["slack", "active_count"])
def test_the_level_of_a_former_recording_is_found_by_its_current_name(prefix: str, former: str, name: str) -> None:
    recording = Recording([Channel("time", "s", [0.0]), Channel(f"{prefix}/{former}", "m", [2.0])])
    assert recording[f"{prefix}/{name}"] is recording[f"{prefix}/{former}"]
    assert list(recording.channels) == ["time", f"{prefix}/{former}"]


@pytest.mark.parametrize(("former", "name"), FORMER_TASKS.items())
@pytest.mark.parametrize(("former_level", "level"), [*FORMER_LEVELS.items(), ("style", "style")])
def test_the_task_of_a_former_recording_is_found_by_its_current_name(
    former_level: str, level: str, former: str, name: str
) -> None:
    channel = Channel(f"error/{former_level}/{former}", "m", [[2.0, 3.0]], ("x", "y"))
    recording = Recording([Channel("time", "s", [0.0]), channel])
    assert recording[f"error/{level}/{name}"] is channel.values
    assert recording[f"error/{level}/{name}/y"].tolist() == [3.0]
    assert recording.units[f"error/{level}/{name}"] == "m"


def test_a_current_channel_takes_precedence_over_a_former_one() -> None:
    former, now = Channel("slack/center", "m", [1.0]), Channel("slack/balance", "m", [2.0])
    recording = Recording([Channel("time", "s", [0.0]), former, now])
    assert (recording["slack/center"].tolist(), recording["slack/balance"].tolist()) == ([1.0], [2.0])
    assert "slack/joint_comfort" not in recording
    assert "force/contact" not in recording
