"""A recording as a pandas DataFrame has the same values under readable names."""

import numpy as np
import pandas
import pytest
from recorded_steps import JOINTS, ROBOT, Motion, forces

from poise.errors import RecordingError
from poise.recording import Channel, Recording, record_steps


@pytest.fixture(scope="module")
def recording() -> Recording:
    return record_steps([Motion(torque=True).step(i, forces=forces(i, "left sole")) for i in range(40)], ROBOT)


def test_a_row_is_a_sample_and_the_index_the_time(recording: Recording) -> None:
    frame = recording.to_dataframe()
    assert isinstance(frame, pandas.DataFrame)
    assert frame.index.name == "time"
    assert np.array_equal(frame.index.to_numpy(), recording.time)
    assert "time" not in frame.columns


def test_every_number_of_every_channel_is_in_a_column_named_after_it(recording: Recording) -> None:
    frame = recording.to_dataframe()
    found = 0
    for key, channel in recording.channels.items():
        if key != "time":
            for k, name in enumerate([f"{key}/{label}" for label in channel.labels] or [key]):
                values = channel.values[:, k] if channel.labels else channel.values
                assert frame[name].dtype == values.dtype or channel.header.kind == "text"
                assert np.array_equal(frame[name].to_numpy(), values)
                assert frame.attrs["units"][name] == recording.units[name]
                found += 1
    assert len(frame.columns) == found
    assert {"q/left_knee_joint", "center_of_mass/x", "force/left_sole/fz", "solver/status"} <= set(frame.columns)


def test_channels_are_chosen_by_key_column_or_label_in_their_order(recording: Recording) -> None:
    frame = recording.to_dataframe(channels=["v/left_knee_joint", "center_of_mass", "contact_point/left sole"])
    expected = ["v/left_knee_joint", *(f"center_of_mass/{axis}" for axis in "xyz")]
    assert list(frame.columns) == [*expected, *(f"contact_point/left_sole/{axis}" for axis in "xyz")]
    assert recording.to_dataframe(["q"]).shape == (40, 7 + len(JOINTS))
    assert recording.to_dataframe([]).shape == (40, 0)


def test_a_channel_that_does_not_exist_is_refused_with_those_that_resemble_it(recording: Recording) -> None:
    with pytest.raises(RecordingError, match="did you mean 'center_of_mass'"):
        recording.to_dataframe(["center_of_mas"])
    with pytest.raises(RecordingError, match="expected a list of keys"):
        recording.to_dataframe("q")


def test_columns_of_the_same_name_are_numbered() -> None:
    channels = [Channel("a/b", "m", [1.0]), Channel("a", "m", [[2.0]], ("b",))]
    frame = Recording([Channel("time", "s", [0.0]), *channels]).to_dataframe()
    assert frame.iloc[0].to_dict() == {"a/b": 1.0, "a/b (2)": 2.0}


def test_changing_a_frame_does_not_change_the_recording(recording: Recording) -> None:
    frame, before = recording.to_dataframe(), recording["q/left_knee_joint"].copy()
    frame["q/left_knee_joint"] = 7.0
    frame.loc[:, "q/right_knee_joint"] += 1.0
    assert np.array_equal(recording["q/left_knee_joint"], before)
    assert recording["q/right_knee_joint"].max() == 0.0
