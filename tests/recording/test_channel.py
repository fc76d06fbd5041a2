"""A channel is a named quantity with a unit, and says at once what is wrong with it."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some

from poise.errors import PoiseError, RecordingError
from poise.recording import ABSENT, Channel, different
from poise.recording.channel import Header, joined, joined_units


def message(*arguments: object, **keywords: object) -> str:
    with pytest.raises(RecordingError) as caught:
        Channel(*arguments, **keywords)  # type: ignore[arg-type]
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_a_channel_of_columns_answers_to_its_labels() -> None:
    channel = Channel("center_of_mass", "m", [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], labels=("x", "y", "z"))
    assert channel.column("y").tolist() == [2.0, 5.0]
    assert (channel.unit, channel.units, len(channel)) == ("m", ("m", "m", "m"), 2)


def test_columns_without_labels_are_numbered() -> None:
    assert Channel("force", "N", np.zeros((1, 3))).labels == ("0", "1", "2")


def test_the_unit_of_columns_that_differ_names_each_once() -> None:
    assert Channel("q", ("m", "", "rad", "rad"), np.zeros((1, 4))).unit == "m, rad"
    assert joined_units(["m, rad", "rad", "N"]) == "m, rad, N"


def test_numbers_are_floats_small_codes_stay_and_words_are_texts() -> None:
    assert Channel("iterations", "", [1, 2]).values.dtype == np.float64
    assert Channel("side", "", np.array([1, -1], dtype=np.int8)).values.dtype == np.int8
    assert Channel("status", "", ["optimal", ""]).values.tolist() == ["optimal", ""]


def test_a_channel_cannot_be_written_to_and_keeps_no_alias() -> None:
    given = np.zeros(2)
    channel = Channel("time", "s", given)
    given[:] = 7.0
    assert channel.values.tolist() == [0.0, 0.0]
    with pytest.raises(ValueError, match="read-only"):
        channel.values[0] = 1.0


def test_what_is_wrong_with_a_channel_is_said_with_its_name() -> None:
    assert "'q' has 2 columns" in message("q", "rad", np.zeros((3, 2)), labels=("a",))
    assert "labels ('a', 'a')" in message("q", "rad", np.zeros((3, 2)), labels=("a", "a"))
    assert "2 columns and 1 units" in message("q", ["rad"], np.zeros((3, 2)))
    assert "shape (1, 1, 1)" in message("q", "rad", np.zeros((1, 1, 1)))
    assert "shape (3, 0)" in message("q", "rad", np.zeros((3, 0)))
    assert "complex" in message("q", "rad", [1j])
    assert "texts" in message("q", "rad", [None])
    assert "not text" in message("", "rad", [1.0])
    assert issubclass(RecordingError, PoiseError)


def test_words_that_were_there_before_are_numbered() -> None:
    assert different(["a", "b", "a", "a", "a (2)"]) == ("a", "b", "a (2)", "a (3)", "a (2) (2)")


def test_what_a_part_does_not_have_is_absent_in_the_whole() -> None:
    first = [Channel("time", "s", [0.0, 1.0]), Channel("error", "m", [[1.0], [2.0]], labels=("x",))]
    second = [
        Channel("time", "s", [2.0]),
        Channel("error", "m", [[3.0, 4.0]], labels=("y", "x")),
        Channel("side", "", np.array([1], dtype=np.int8)),
        Channel("status", "", ["optimal"]),
    ]
    whole = {channel.name: channel for channel in joined([first, second])}
    assert whole["time"].values.tolist() == [0.0, 1.0, 2.0]
    assert whole["error"].labels == ("x", "y")
    assert np.array_equal(whole["error"].values, [[1.0, np.nan], [2.0, np.nan], [4.0, 3.0]], equal_nan=True)
    assert whole["side"].values.tolist() == [ABSENT, ABSENT, 1]
    assert whole["status"].values.tolist() == ["", "", "optimal"]


def test_a_channel_that_returns_with_another_unit_is_another_channel() -> None:
    parts = [
        [Channel("time", "s", [0.0]), Channel("gap", "m", [1.0])],
        [Channel("time", "s", [1.0]), Channel("gap", "rad", [2.0]), Channel("gap (2)", "rad", [3.0])],
    ]
    whole = {channel.name: channel for channel in joined(parts)}
    assert list(whole) == ["time", "gap", "gap (2)", "gap (2) (2)"]
    assert (whole["gap"].unit, whole["gap (2)"].unit) == ("m", "rad")
    assert [whole[name].values[1] for name in ("gap (2)", "gap (2) (2)")] == [2.0, 3.0]


@given(
    some.lists(some.dictionaries(some.sampled_from("abc"), some.sets(some.sampled_from("xyz"), min_size=1)), min_size=2)
)
def test_every_value_of_every_part_stands_at_its_place_in_the_whole(parts: list[dict[str, set[str]]]) -> None:
    channels = []
    for i, part in enumerate(parts):
        named = [
            Channel._of(
                Header(name, "number", tuple(labels), ("m",) * len(labels)),
                np.array([[100.0 * i + ord(label) for label in labels]]),
            )
            for name, labels in part.items()
        ]
        channels.append([Channel("time", "s", [float(i)]), *named])
    whole = {channel.name: channel for channel in joined(channels)}
    for name, channel in whole.items():
        for label in channel.labels:
            expected = [
                100.0 * i + ord(label) if label in part.get(name, ()) else np.nan for i, part in enumerate(parts)
            ]
            assert np.array_equal(channel.column(label), expected, equal_nan=True)
