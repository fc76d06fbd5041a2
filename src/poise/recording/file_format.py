"""File format of recordings: writing and reading .poise files, complete or truncated.

A file is a sequence of Arrow IPC streams and is only ever appended to:

1. A header stream without fields. The metadata of its schema contain ``poise.recording`` (the version of this format)
   and ``poise.provenance`` (JSON).
2. For each time interval with the same channels, a stream with one field per channel, named by its key: float64, int8
   or text, in lists of fixed size if the channel has columns. The metadata of a field contain ``label``, the readable
   name of the channel, and ``labels`` and ``units`` of its columns (JSON). The metadata of each record batch contain
   ``first`` (index of its first sample) and ``crc32``. A batch that begins before the end of the previous batch repeats
   it. If the writer was interrupted, the eight bytes that end a stream may occur twice.
3. An end stream without fields: ``poise.end`` (JSON: number of samples, how the recording ended).
4. Any number of streams without fields with facts that became known later: ``poise.facts`` (JSON), added to the
   provenance. A reader that does not know them, or finds one that is truncated, ignores them.

In format 1 a field was named by its label and had no key: the key is made from the label on reading. In formats 1 and 2
some channels and facts of the provenance had other keys, which are replaced on reading (`poise.recording.former_keys`).

Each batch is flushed to the operating system: a process that is killed loses at most the last batch.
"""

from __future__ import annotations

import contextlib
import json
import os
import zlib
from collections.abc import Mapping, Sequence
from functools import cache
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from poise.errors import RecordingError
from poise.extras import pyarrow
from poise.files import atomic_write, failure_reason, writable_path
from poise.recording.channel import KIND_TYPES, Channel, ChannelHeader, ChannelKeys, ChannelKind, Values, is_channel_key
from poise.recording.former_keys import rename_channels, rename_provenance
from poise.recording.provenance import to_json

if TYPE_CHECKING:
    from poise.recording.recording import Recording

#: Version of the format; increase it if an older Poise cannot read new files.
FORMAT_VERSION = 3

#: Suffixes of files that `poise export` writes, and of other tables.
OTHER_SUFFIXES = frozenset((".csv", ".npz", ".bvh", ".mot", ".trc", ".mcap", ".html", ".mp4", ".json", ".parquet"))

#: Samples per batch if a whole recording is saved: about 10 MB for a humanoid.
BATCH_SIZE = 4096


@cache
def _arrow_types() -> dict[ChannelKind, pyarrow.DataType]:
    return {"number": pyarrow.float64(), "code": pyarrow.int8(), "text": pyarrow.string()}


class _OpenStream(NamedTuple):
    """A stream being written, with the headers of its channels."""

    headers: tuple[ChannelHeader, ...]
    checksum: int
    schema: pyarrow.Schema
    stream: pyarrow.ipc.RecordBatchStreamWriter


class FileWriter:
    """Writer of a .poise file, batch by batch.

    Args:
        path: the file; it is overwritten if it exists.
        provenance: facts for the header, which is written immediately.

    Raises:
        OSError: from any method, if the file cannot be written.
    """

    def __init__(self, path: Path, provenance: Mapping[str, Any]) -> None:
        self.path = path
        self.samples = 0
        self._open_stream: _OpenStream | None = None
        # Not a Python file, because Ctrl-C must not interrupt the writing of a batch.
        self._file = pyarrow.OSFile(str(path), "wb")
        self._sink = pyarrow.BufferedOutputStream(self._file, 1 << 20)
        self._write_metadata({"poise.recording": str(FORMAT_VERSION), "poise.provenance": to_json(provenance)})

    def write(self, first: int, channels: Sequence[Channel]) -> None:
        """Append samples, of which the first has index `first`, and flush them to the operating system.

        It is safe to repeat a write after an interruption: duplicate samples are skipped on reading.
        """
        headers = tuple(channel.header for channel in channels)
        open_stream = self._open_stream
        if open_stream is None or open_stream.headers != headers:
            if open_stream is not None:
                open_stream.stream.close()
            schema = _schema(headers)
            stream = pyarrow.ipc.new_stream(self._sink, schema)
            self._open_stream = open_stream = _OpenStream(headers, headers_checksum(headers), schema, stream)
        batch = pyarrow.record_batch([_column(channel) for channel in channels], schema=open_stream.schema)
        metadata = {"first": str(first), "crc32": str(checksum(channels, open_stream.checksum))}
        open_stream.stream.write_batch(batch, custom_metadata=metadata)
        self._sink.flush()
        self.samples = first + len(channels[0])

    def close(self, ending: Mapping[str, Any]) -> None:
        """Write the end stream, without which a file counts as truncated, and close the file."""
        if self._sink.closed:
            return
        if self._open_stream is not None:
            self._open_stream.stream.close()
        self._write_metadata({"poise.end": to_json({"samples": self.samples, **ending})})
        self._sink.close()
        self._file.close()

    def abandon(self) -> None:
        """Close the file without an end stream."""
        with contextlib.suppress(OSError):
            self._sink.close()
        with contextlib.suppress(OSError):
            self._file.close()

    def _write_metadata(self, metadata: Mapping[str, str]) -> None:
        pyarrow.ipc.new_stream(self._sink, pyarrow.schema([], metadata=dict(metadata))).close()
        self._sink.flush()


def append_facts(path: str | PathLike[str], facts: Mapping[str, Any]) -> None:
    """Append facts to the provenance of a complete file, for example the result of the run.

    Raises:
        RecordingError: if the file cannot be written.
    """
    try:
        with pyarrow.OSFile(os.path.expanduser(path), "ab") as file:
            pyarrow.ipc.new_stream(file, pyarrow.schema([], metadata={"poise.facts": to_json(facts)})).close()
    except OSError as error:
        raise write_error(Path(path), error) from None


def save(recording: Recording, path: str | PathLike[str]) -> None:
    """Write a whole recording to a temporary file and rename it, so that `path` is never incomplete."""
    target = check_output_path(path)
    channels = tuple(recording.channels.values())
    try:
        with atomic_write(target) as file:
            writer = FileWriter(file, recording.provenance)
            try:
                for first in range(0, recording.samples, BATCH_SIZE):
                    writer.write(first, [_slice_channel(channel, first, first + BATCH_SIZE) for channel in channels])
                if not recording.samples:
                    writer.write(0, channels)
                writer.close({"complete": recording.complete})
            finally:
                writer.abandon()
    except OSError as error:
        raise write_error(Path(path), error) from None


def check_output_path(path: str | PathLike[str]) -> Path:
    """Return the output path with links resolved; raise `RecordingError` if it cannot be written to.

    A suffix of another format is an error: the file would not be what its name says.
    """
    if Path(path).suffix.lower() in OTHER_SUFFIXES:
        raise RecordingError(
            f"'{path}': a recording is a .poise file; save it as one, then: poise export RECORDING --out {path}",
            path=str(path),
        )
    return writable_path(path, lambda message: RecordingError(message, path=str(path)))


def write_error(path: Path, error: OSError) -> RecordingError:
    """Return the `RecordingError` for a failed write."""
    message = f"{path} cannot be written: {failure_reason(error)}; give another path or free disk space"
    return RecordingError(message, path=str(path))


def headers_checksum(headers: Sequence[ChannelHeader], version: int = FORMAT_VERSION) -> int:
    """Return the CRC-32 of channel headers; in format 1 they have no keys and the label comes first."""
    fields: Sequence[Sequence[Any]] = headers
    if version == 1:
        fields = [(header.label, header.kind, header.labels, header.units) for header in headers]
    return zlib.crc32(json.dumps(fields).encode())


def checksum(channels: Sequence[Channel], start: int) -> int:
    """Return the CRC-32 of the values of channels, continued from that of their headers (`start`)."""
    for channel in channels:
        text = channel.header.kind == "text"
        start = zlib.crc32("\n".join(channel.values.flat).encode() if text else channel.values.tobytes(), start)
    return start


def _slice_channel(channel: Channel, start: int, stop: int) -> Channel:
    return Channel._unchecked(channel.header, channel.values[start:stop])


def _schema(headers: Sequence[ChannelHeader]) -> pyarrow.Schema:
    fields = []
    for header in headers:
        kind = _arrow_types()[header.kind]
        columns = {"labels": json.dumps(header.labels), "units": json.dumps(header.units)}
        field_type = pyarrow.list_(kind, len(header.labels)) if header.labels else kind
        fields.append(pyarrow.field(header.key, field_type, metadata={"label": header.label, **columns}))
    return pyarrow.schema(fields)


def _column(channel: Channel) -> pyarrow.Array:
    kind = _arrow_types()[channel.header.kind]
    flat = pyarrow.array(channel.values.reshape(-1), type=kind)
    return pyarrow.FixedSizeListArray.from_arrays(flat, len(channel.labels)) if channel.labels else flat


# -- Reading ---------------------------------------------------------------------------------------------------------


#: The bytes at the end of an Arrow stream.
_END_OF_STREAM = b"\xff\xff\xff\xff\0\0\0\0"


class FileContents:
    """Intact contents of a file, from its beginning to the first error.

    Attributes:
        provenance: facts of the header, updated by those of the end stream.
        parts: channels of each batch.
        finished: whether the end stream exists and agrees with the samples.
        ending: contents of the end stream.

    Raises:
        RecordingError: if the bytes are not a recording, or have a newer format; the message lacks the file name.
    """

    def __init__(self, data: bytes) -> None:
        source = pyarrow.BufferReader(data)
        self.version, facts, head = _read_head(source)
        self.provenance = self._current_facts(facts)
        self._keys = ChannelKeys()
        self.parts: list[Sequence[Channel]] = []
        self.samples = 0
        self.finished = False
        self.ending: dict[str, Any] = {}
        try:
            head.read_all()
            while not self.finished or source.tell() < len(data):
                self._read_stream(source)
        except Exception:  # the errors of Arrow, JSON and numpy for missing or wrong bytes have no common class
            return

    def _read_stream(self, source: pyarrow.BufferReader) -> None:
        _skip_repeated_ends(source)
        reader = pyarrow.ipc.open_stream(source)
        schema_metadata = reader.schema.metadata or {}
        end, facts = schema_metadata.get(b"poise.end"), schema_metadata.get(b"poise.facts")
        if self.finished:
            if facts is None:
                raise ValueError("samples after the end")
            self.provenance.update(json.loads(facts))
            reader.read_all()  # up to the next stream
            return
        if end is not None:
            self.ending = dict(json.loads(end))
            if self.ending["samples"] != self.samples:
                raise ValueError("the end stream does not match the samples")
            self.provenance.update(self._current_facts(self.ending.get("provenance", {})))
            self.finished = True
            reader.read_all()
            return
        headers = self._headers(reader.schema)
        fields = headers_checksum(headers, self.version)
        if self.version < 3:
            headers = rename_channels(headers)
        while True:
            try:
                batch, metadata = reader.read_next_batch_with_custom_metadata()
            except StopIteration:
                return
            batch.validate(full=True)
            channels = [_channel(header, column) for header, column in zip(headers, batch.columns, strict=True)]
            if int(metadata["crc32"]) != checksum(channels, fields):
                raise ValueError("the checksum does not match")
            first = int(metadata["first"])
            if first > self.samples:
                raise ValueError("samples are missing")
            if first == self.samples:  # otherwise the batch repeats samples already read
                self.parts.append(channels)
                self.samples += batch.num_rows

    def _current_facts(self, facts: Mapping[str, Any]) -> dict[str, Any]:
        return rename_provenance(facts) if self.version < 3 else dict(facts)

    def _headers(self, schema: pyarrow.Schema) -> tuple[ChannelHeader, ...]:
        if self.version > 1:
            return tuple(_header(field, field.name, field.metadata[b"label"].decode()) for field in schema)
        # Labels that are valid keys come first, so that they are not changed.
        keys = {label: self._keys[label] for label in sorted(schema.names, key=is_channel_key, reverse=True)}
        return tuple(_header(field, keys[field.name], field.name) for field in schema)


def _skip_repeated_ends(source: pyarrow.BufferReader) -> None:
    at = source.tell()
    while source.read(len(_END_OF_STREAM)) == _END_OF_STREAM:
        at += len(_END_OF_STREAM)
    source.seek(at)


def _read_head(source: pyarrow.BufferReader) -> tuple[int, dict[str, Any], pyarrow.ipc.RecordBatchStreamReader]:
    """Return format version, provenance and header stream, which must be read to its end before the next stream."""
    try:
        reader = pyarrow.ipc.open_stream(source)
        head = {key.decode(): value.decode() for key, value in (reader.schema.metadata or {}).items()}
        version = int(head["poise.recording"])
    except Exception:  # as above
        raise RecordingError(
            "is not a Poise recording (a .poise file), or is truncated in its header; record it again"
        ) from None
    if version > FORMAT_VERSION:
        raise RecordingError(
            f"was written in format {version}; this version of Poise reads formats up to {FORMAT_VERSION}: update Poise"
        )
    try:
        return version, dict(json.loads(head["poise.provenance"])), reader
    except Exception:  # as above
        raise RecordingError("has a damaged header; record it again") from None


def _header(field: pyarrow.Field, key: str, label: str) -> ChannelHeader:
    labels, units = (tuple(map(str, json.loads(field.metadata[key]))) for key in (b"labels", b"units"))
    columns = field.type.list_size if labels else 1
    if columns != max(len(labels), 1) or columns != len(units):
        raise ValueError("columns without label or unit")
    if not is_channel_key(key):
        raise ValueError("invalid key")
    kinds = {each: kind for kind, each in _arrow_types().items()}
    return ChannelHeader(key, kinds[field.type.value_type if labels else field.type], labels, units, label)


def _channel(header: ChannelHeader, column: pyarrow.Array) -> Channel:
    if column.null_count:
        raise ValueError("values are missing")
    flat = column.flatten() if header.labels else column
    values: Values = np.array(flat.to_numpy(zero_copy_only=False), dtype=KIND_TYPES[header.kind][0])
    return Channel._unchecked(header, values.reshape(len(column), len(header.labels)) if header.labels else values)
