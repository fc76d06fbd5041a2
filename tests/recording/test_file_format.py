"""Recording files: written values are read back bit by bit, and damaged files are refused with a reason."""

import json
import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow
import pytest
from hypothesis import given
from hypothesis import strategies as some
from hypothesis.extra import numpy as arrays
from recorded_steps import POSTURE, REACH, ROBOT, Motion, identical, same_values

from poise.errors import RecordingError
from poise.recording import Channel, Recorder, Recording, load_recording, record_steps
from poise.recording.file_format import FORMAT_VERSION, FileWriter, append_facts

words = some.text(some.characters(exclude_categories=["Cs"]), max_size=6)
#: Channels without prescribed contents.
keys = some.from_regex(r"[a-z0-9_]{1,4}(/[a-z0-9_]{1,2})?", fullmatch=True).filter(
    lambda key: key not in ("time", "q", "v") and not key.startswith("true/")
)
numbers = some.floats(width=64)  # infinities, every NaN and negative zero too
json_values = some.recursive(
    some.none() | some.booleans() | some.integers() | some.floats(allow_nan=False) | words,
    lambda inner: some.lists(inner, max_size=3) | some.dictionaries(words, inner, max_size=3),
    max_leaves=6,
)


@some.composite
def recordings(draw: some.DrawFn) -> Recording:
    samples = draw(some.integers(0, 5))
    channels = [Channel("time", "s", draw(arrays.arrays(np.float64, samples, elements=numbers)))]
    for key in draw(some.sets(keys, max_size=4)):
        kind = draw(some.sampled_from([np.float64, np.int8, object]))
        columns = draw(some.integers(0, 3))
        elements = {np.float64: numbers, np.int8: some.integers(-128, 127), object: words}[kind]
        shape = (samples, columns) if columns else samples
        values = draw(arrays.arrays(kind, shape, elements=elements))
        labels = draw(some.lists(words, min_size=columns, max_size=columns, unique=True)) if columns else None
        units = draw(some.lists(words, min_size=max(columns, 1), max_size=max(columns, 1)))
        channels.append(Channel(key, units, values, labels, draw(words)))
    return Recording(channels, draw(some.dictionaries(words, json_values, max_size=3)), None, draw(some.booleans()))


@given(recordings())
def test_a_saved_recording_comes_back_bit_by_bit(
    tmp_path_factory: pytest.TempPathFactory, recording: Recording
) -> None:
    path = tmp_path_factory.mktemp("saved") / "a.poise"
    recording.save(path)
    assert identical(load_recording(path), recording)


def test_a_recording_longer_than_a_batch_comes_back_too(tmp_path: Path) -> None:
    recording = Recording([Channel("time", "s", np.arange(9000.0)), Channel("q", "rad", np.random.rand(9000, 2))])
    recording.save(tmp_path / "a.poise")
    assert identical(load_recording(tmp_path / "a.poise"), recording)


def test_facts_that_become_known_later_are_appended(tmp_path: Path) -> None:
    path = tmp_path / "a.poise"
    recording = Recording([Channel("time", "s", np.arange(5.0))], {"robot": "g1"})
    recording.save(path)
    whole = path.stat().st_size
    append_facts(path, {"result": {"fell": False, "reason": None}})
    append_facts(path, {"seen": 2})
    loaded = load_recording(path)
    assert identical(loaded, Recording(recording.channels.values(), loaded.provenance))
    assert loaded.provenance == {"robot": "g1", "result": {"fell": False, "reason": None}, "seen": 2}
    data = path.read_bytes()
    for size in range(whole, len(data)):  # an interrupted addition leaves a complete recording
        path.write_bytes(data[:size])
        cut = load_recording(path)
        assert cut.complete
        assert cut.samples == 5


def test_facts_cannot_be_appended_where_nothing_can_be_written(tmp_path: Path) -> None:
    with pytest.raises(RecordingError, match="cannot be written"):
        append_facts(tmp_path / "none" / "a.poise", {})


def test_missing_values_survive_saving(tmp_path: Path) -> None:
    steps = [Motion(tasks=(REACH,)).step(0), Motion(tasks=(POSTURE,)).step(1)]
    recording = record_steps(steps, ROBOT, tmp_path / "a.poise")
    load_recording(tmp_path / "a.poise").save(tmp_path / "b.poise")
    assert identical(load_recording(tmp_path / "b.poise"), recording)


def refusal_message(path: Path, **keywords: bool) -> str:
    with pytest.raises(RecordingError) as caught:
        load_recording(path, **keywords)  # type: ignore[arg-type]
    assert caught.value.path == str(path)
    assert "\n" not in str(caught.value)
    assert str(path) in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize("partial", [False, True])
def test_a_file_that_is_no_recording_is_refused_in_one_line(tmp_path: Path, partial: bool) -> None:
    path = tmp_path / "a.poise"
    assert "does not exist" in refusal_message(path, partial=partial)
    assert "is a directory" in refusal_message(tmp_path, partial=partial)
    path.touch()
    assert "is empty" in refusal_message(path, partial=partial)
    for foreign in (
        b"x",
        b"time,q\n0,1\n",
        b"\x93NUMPY\x01\x00",
        b"\xff" * 4,
        b"\xff" * 400,
        b"\0" * 4000,
        b"ARROW1\0\0",
    ):
        path.write_bytes(foreign)
        assert "is not a Poise recording" in refusal_message(path, partial=partial)
    table = pyarrow.table({"a": [1, 2, 3]})
    with pyarrow.ipc.new_stream(path, table.schema) as stream:
        stream.write_table(table)
    assert "is not a Poise recording" in refusal_message(path, partial=partial)


def test_a_file_that_may_not_be_read_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.poise"
    path.write_bytes(b"x")
    path.chmod(0)
    if os.access(path, os.R_OK):
        pytest.skip("this user may read everything")
    assert "cannot be read: Permission denied" in refusal_message(path)


@pytest.mark.parametrize("partial", [False, True])
def test_a_later_format_is_refused_and_named(tmp_path: Path, partial: bool) -> None:
    head = {"poise.recording": str(FORMAT_VERSION + 1), "poise.something": "new"}
    with pyarrow.ipc.new_stream(tmp_path / "a.poise", pyarrow.schema([], metadata=head)):
        pass
    text = refusal_message(tmp_path / "a.poise", partial=partial)
    assert f"format {FORMAT_VERSION + 1}" in text
    assert "update Poise" in text


def test_the_file_can_be_read_with_arrow_alone(tmp_path: Path) -> None:
    recording = record_steps(Motion().steps(60), ROBOT, tmp_path / "a.poise")
    with pyarrow.OSFile(str(tmp_path / "a.poise")) as file:
        head = pyarrow.ipc.open_stream(file)
        assert head.schema.metadata[b"poise.recording"] == b"3"
        assert head.read_all().num_rows == 0
        table = pyarrow.ipc.open_stream(file).read_all()
    assert table["time"].to_pylist() == recording.time.tolist()
    assert json.loads(table.schema.field("q").metadata[b"labels"]) == list(recording.labels["q"])
    assert np.array_equal(np.stack(table["q"].to_numpy()), recording["q"])


def two_segments(path: Path) -> Recording:
    """A small file whose channels change halfway, with two batches in each half."""
    recorder = Recorder(ROBOT, path)
    for start, tasks in ((0, (REACH,)), (60, (POSTURE,))):
        for step in Motion(tasks=tasks).steps(52, start):
            recorder(step)
    return recorder.finish()


def small_recording(path: Path) -> Recording:
    """A file of some kilobytes: two segments, four batches."""
    writer = FileWriter(path, {"robot": "figure"})
    gap = np.array([[0.5, 1.5]])
    for first in range(4):
        channels = [Channel("time", "s", [0.25 * first]), Channel("status", "", ["optimal"])]
        if first >= 2:
            channels.append(Channel("gap", "m", gap * first, labels=("x", "y")))
        writer.write(first, channels)
    writer.close({"provenance": {"outcome": "finished"}})
    return load_recording(path)


def intact_part(path: Path, whole: Recording, complete: bool = True) -> int | None:
    """Return the samples in the intact part of a damaged file, compared with the original; None if it is refused.

    With ``complete=False`` the file must not be loaded as a complete one.
    """
    try:
        part = load_recording(path, partial=True)
    except RecordingError:
        with pytest.raises(RecordingError):
            load_recording(path)
        return None
    if not (complete and part.complete):
        with pytest.raises(RecordingError, match=rf"({part.samples} sample|no sample)"):
            load_recording(path)
    assert all(same_values(part[name], whole[name][: part.samples]) for name in part.channels)
    part.summary()
    return part.samples


def test_a_file_cut_anywhere_gives_the_samples_before_the_cut_or_is_refused(tmp_path: Path) -> None:
    whole = small_recording(tmp_path / "a.poise")
    data = (tmp_path / "a.poise").read_bytes()
    lengths = []
    for cut in range(len(data)):
        (tmp_path / "b.poise").write_bytes(data[:cut])
        # The last eight bytes only say that nothing follows.
        lengths.append(intact_part(tmp_path / "b.poise", whole, complete=cut >= len(data) - 8))
    readable = [length for length in lengths if length is not None]
    assert readable == sorted(readable)
    assert set(readable) == {0, 1, 2, 3, 4}
    assert lengths.index(0) + len(readable) == len(lengths)  # refused only if the header is missing


def test_a_real_recording_cut_anywhere_keeps_whole_batches(tmp_path: Path) -> None:
    whole = two_segments(tmp_path / "a.poise")
    data = (tmp_path / "a.poise").read_bytes()
    found = set()
    for cut in range(0, len(data), 251):  # a prime, to hit every kind of position
        (tmp_path / "b.poise").write_bytes(data[:cut])
        found.add(intact_part(tmp_path / "b.poise", whole))
    assert found == {None, 0, 50, 52, 102, 104}


@given(some.data())
def test_a_damaged_file_gives_recorded_values_only(
    tmp_path_factory: pytest.TempPathFactory, data: some.DataObject
) -> None:
    folder = tmp_path_factory.mktemp("spoiled")
    whole = small_recording(folder / "a.poise")
    spoiled = bytearray((folder / "a.poise").read_bytes())
    for _ in range(data.draw(some.integers(1, 3))):
        at = data.draw(some.integers(0, len(spoiled) - 1))
        length = data.draw(some.integers(1, 64))
        spoiled[at : at + length] = data.draw(some.sampled_from([bytes(length), os.urandom(length), b""]))
    (folder / "b.poise").write_bytes(spoiled)
    intact_part(folder / "b.poise", whole)


def test_a_block_of_zeros_after_a_power_cut_is_not_read_as_data(tmp_path: Path) -> None:
    whole = two_segments(tmp_path / "a.poise")
    data = bytearray((tmp_path / "a.poise").read_bytes())
    at = bytes(data).index(np.float64(whole.time[20]).tobytes())
    data[at : at + 8] = bytes(8)
    (tmp_path / "b.poise").write_bytes(data)
    assert intact_part(tmp_path / "b.poise", whole) == 0


def test_the_intact_part_can_be_saved_and_stays_incomplete(tmp_path: Path) -> None:
    two_segments(tmp_path / "a.poise")
    data = (tmp_path / "a.poise").read_bytes()
    (tmp_path / "a.poise").write_bytes(data[:-400])
    part = load_recording(tmp_path / "a.poise", partial=True)
    assert not part.complete
    assert "incomplete" in part.summary()
    part.save(tmp_path / "b.poise")
    assert identical(load_recording(tmp_path / "b.poise"), part)


@pytest.mark.parametrize("name", ["a.csv", "a.HTML", "a.mp4"])
def test_a_recording_does_not_take_the_suffix_of_another_format(tmp_path: Path, name: str) -> None:
    with pytest.raises(RecordingError, match=r"a recording is a \.poise file; .* poise export RECORDING --out"):
        record_steps([], ROBOT).save(tmp_path / name)
    with pytest.raises(RecordingError, match=r"a recording is a \.poise file"):
        Recorder(ROBOT, tmp_path / name)
    assert not list(tmp_path.iterdir())


def test_saving_leaves_the_old_file_or_the_new_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.poise"
    whole = small_recording(path)

    def fails(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(FileWriter, "write", fails)
    with pytest.raises(RecordingError, match="No space left on device"):
        Recording([Channel("time", "s", [0.0])]).save(path)
    assert identical(load_recording(path), whole)
    assert [file.name for file in tmp_path.iterdir()] == ["a.poise"]


def test_saving_follows_a_link_and_overwrites(tmp_path: Path) -> None:
    whole = small_recording(tmp_path / "a.poise")
    (tmp_path / "link.poise").symlink_to(tmp_path / "a.poise")
    Recording([Channel("time", "s", [0.0])]).save(tmp_path / "link.poise")
    assert load_recording(tmp_path / "a.poise").samples == 1 != whole.samples
    assert (tmp_path / "link.poise").is_symlink()


@pytest.mark.parametrize("write", [lambda path: Recorder(ROBOT, path), lambda path: record_steps([], ROBOT).save(path)])
def test_a_place_that_cannot_be_written_is_refused_at_once(tmp_path: Path, write: Callable[[Path], object]) -> None:
    with pytest.raises(RecordingError, match="is a folder"):
        write(tmp_path)
    with pytest.raises(RecordingError, match=r"there is no folder .*; create it first"):
        write(tmp_path / "nowhere" / "a.poise")
    with pytest.raises(RecordingError) as caught:
        write(tmp_path / ("long" * 100))
    assert "cannot be written: File name too long" in str(caught.value)
    assert list(tmp_path.iterdir()) == []
