"""Channel: a named quantity with a unit; invalid ones are refused at construction."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some

from poise.errors import PoiseError, RecordingError
from poise.recording import ABSENT_CODE, Channel, channel_key, make_unique
from poise.recording.channel import ChannelHeader, ChannelKeys, concatenate, is_channel_key, join_units


def message(*arguments: object, **keywords: Any) -> str:
    with pytest.raises(RecordingError) as caught:
        Channel(*arguments, **keywords)  # type: ignore[arg-type]
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_a_channel_of_columns_is_indexed_by_its_labels() -> None:
    channel = Channel("center_of_mass", "m", [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], labels=("x", "y", "z"))
    assert channel.column("y").tolist() == [2.0, 5.0]
    assert (channel.unit, channel.units, len(channel)) == ("m", ("m", "m", "m"), 2)


def test_columns_without_labels_are_numbered() -> None:
    assert Channel("force", "N", np.zeros((1, 3))).labels == ("0", "1", "2")


def test_the_unit_of_columns_that_differ_names_each_once() -> None:
    assert Channel("q", ("m", "", "rad", "rad"), np.zeros((1, 4))).unit == "m, rad"
    assert join_units(["m, rad", "rad", "N"]) == "m, rad, N"


def test_numbers_become_floats_codes_stay_integers_and_texts_stay_texts() -> None:
    assert Channel("iterations", "", [1, 2]).values.dtype == np.float64
    assert Channel("side", "", np.array([1, -1], dtype=np.int8)).values.dtype == np.int8
    assert Channel("status", "", ["optimal", ""]).values.tolist() == ["optimal", ""]


def test_a_channel_cannot_be_written_to_and_keeps_no_alias() -> None:
    times = np.zeros(2)
    channel = Channel("time", "s", times)
    times[:] = 7.0
    assert channel.values.tolist() == [0.0, 0.0]
    with pytest.raises(ValueError, match="read-only"):
        channel.values[0] = 1.0


def test_an_invalid_channel_is_refused_with_its_name() -> None:
    assert "'q' has 2 columns" in message("q", "rad", np.zeros((3, 2)), labels=("a",))
    assert "labels ('a', 'a')" in message("q", "rad", np.zeros((3, 2)), labels=("a", "a"))
    assert "2 columns and 1 units" in message("q", ["rad"], np.zeros((3, 2)))
    assert "shape (1, 1, 1)" in message("q", "rad", np.zeros((1, 1, 1)))
    assert "shape (3, 0)" in message("q", "rad", np.zeros((3, 0)))
    assert "complex" in message("q", "rad", [1j])
    assert "texts" in message("q", "rad", [None])
    assert "not valid text" in message("", "rad", [1.0])
    assert "give the key 'left_knee' and label='Left knee'" in message("Left knee", "rad", [1.0])
    assert issubclass(RecordingError, PoiseError)


def test_a_channel_has_a_key_a_label_and_a_unit() -> None:
    channel = Channel("error/reach/left_palm", "m", [[0.1]], label="error/reach/position of left_palm")
    assert (channel.key, channel.unit) == ("error/reach/left_palm", "m")
    assert channel.label == "error/reach/position of left_palm"
    assert Channel("q", "rad", [[0.1]]).label == "q"


@pytest.mark.parametrize(
    ("label", "key"),
    {
        "time": "time",
        "command/torque": "command/torque",
        "error/reach/position of left_hand": "error/reach/left_hand",
        "error/reach/orientation of left_hand": "error/reach/left_hand_orientation",
        "error_norm/balance/divergent component": "error_norm/balance/dcm",
        "error/balance/center of mass": "error/balance/center_of_mass",
        "error/balance/height of the center of mass": "error/balance/center_of_mass_height",
        "error/physics/wrench cone of left_sole": "error/physics/left_sole_wrench_cone",
        "error/free foot/arms, head": "error/free_foot/arms_head",
        "slack/angular momentum": "slack/angular_momentum",
        "error/feet|hands/a/b": "error/feet_hands/a_b",
        "force/left heel 1": "force/left_heel_1",
        "measured/cells/LFoot": "measured/cells/lfoot",
        "Höhe über Grund": "hohe_uber_grund",
        "足": "unnamed",
    }.items(),
)
def test_a_key_is_made_from_the_names_in_a_label(label: str, key: str) -> None:
    assert channel_key(label) == key


def test_names_with_the_same_key_are_numbered_alike_in_all_their_channels() -> None:
    keys = ChannelKeys()
    assert keys["slack/free foot"] == "slack/free_foot"
    assert keys["slack/free_foot"] == "slack/free_foot_2"
    assert keys["error/free_foot/pose"] == "error/free_foot_2/pose"
    assert keys["error_norm/free foot/pose"] == "error_norm/free_foot/pose"
    assert keys["slack/free_foot"] == "slack/free_foot_2"


LETTERS = some.sampled_from("abAB _/é|1")
BEGINNINGS = some.sampled_from(["", "error/", "error_norm/", "slack/", "active/", "force/", "measured/cells/"])


@given(some.lists(some.builds(str.__add__, BEGINNINGS, some.text(LETTERS, min_size=1, max_size=5)), unique=True))
def test_different_labels_have_different_keys_and_the_same_labels_the_same(labels: list[str]) -> None:
    keys, again = ChannelKeys(), ChannelKeys()
    label_keys = [keys[label] for label in labels]
    assert len(set(label_keys)) == len(label_keys)
    assert all(map(is_channel_key, label_keys))
    assert [keys[label] for label in labels] == label_keys == [again[label] for label in labels]


@given(some.from_regex(r"[a-z0-9_]{1,8}(/[a-z0-9_]{1,8}){0,2}", fullmatch=True))
def test_a_key_is_its_own_label(key: str) -> None:
    assert channel_key(key) == key


def test_repeated_names_are_numbered() -> None:
    assert make_unique(["a", "b", "a", "a", "a (2)"]) == ("a", "b", "a (2)", "a (3)", "a (2) (2)")


def test_missing_channels_of_a_part_are_filled_in_the_concatenation() -> None:
    first = [Channel("time", "s", [0.0, 1.0]), Channel("error", "m", [[1.0], [2.0]], labels=("x",))]
    second = [
        Channel("time", "s", [2.0]),
        Channel("error", "m", [[3.0, 4.0]], labels=("y", "x")),
        Channel("side", "", np.array([1], dtype=np.int8)),
        Channel("status", "", ["optimal"]),
    ]
    whole = {channel.key: channel for channel in concatenate([first, second])}
    assert whole["time"].values.tolist() == [0.0, 1.0, 2.0]
    assert whole["error"].labels == ("x", "y")
    assert np.array_equal(whole["error"].values, [[1.0, np.nan], [2.0, np.nan], [4.0, 3.0]], equal_nan=True)
    assert whole["side"].values.tolist() == [ABSENT_CODE, ABSENT_CODE, 1]
    assert whole["status"].values.tolist() == ["", "", "optimal"]


def test_a_channel_that_returns_with_another_unit_is_another_channel() -> None:
    parts = [
        [Channel("time", "s", [0.0]), Channel("gap", "m", [1.0])],
        [Channel("time", "s", [1.0]), Channel("gap", "rad", [2.0]), Channel("gap_2", "rad", [3.0])],
    ]
    whole = {channel.key: channel for channel in concatenate(parts)}
    assert list(whole) == ["time", "gap", "gap_2", "gap_2_2"]
    assert (whole["gap"].unit, whole["gap_2"].unit) == ("m", "rad")
    assert [whole[name].values[1] for name in ("gap_2", "gap_2_2")] == [2.0, 3.0]
    assert [channel.label for channel in whole.values()] == ["time", "gap", "gap (2)", "gap_2 (2)"]


@given(
    some.lists(some.dictionaries(some.sampled_from("abc"), some.sets(some.sampled_from("xyz"), min_size=1)), min_size=2)
)
def test_every_value_of_every_part_stands_at_its_place_in_the_whole(parts: list[dict[str, set[str]]]) -> None:
    channels = []
    for i, part in enumerate(parts):
        named = [
            Channel._unchecked(
                ChannelHeader.of(name, "number", tuple(labels), ("m",) * len(labels)),
                np.array([[100.0 * i + ord(label) for label in labels]]),
            )
            for name, labels in part.items()
        ]
        channels.append([Channel("time", "s", [float(i)]), *named])
    whole = {channel.key: channel for channel in concatenate(channels)}
    for name, channel in whole.items():
        for label in channel.labels:
            expected = [
                100.0 * i + ord(label) if label in part.get(name, ()) else np.nan for i, part in enumerate(parts)
            ]
            assert np.array_equal(channel.column(label), expected, equal_nan=True)
