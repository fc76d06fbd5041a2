"""Reading ``.poise`` files, whole or cut off; `writing` describes the format."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow  # type: ignore[import-untyped]

from poise.errors import RecordingError
from poise.recording.channel import TYPES, Channel, Header, Kind, Values
from poise.recording.writing import VERSION, checksum, headers_checksum

_KINDS: dict[pyarrow.DataType, Kind] = {
    pyarrow.float64(): "number",
    pyarrow.int8(): "code",
    pyarrow.string(): "text",
}

#: The bytes that end an Arrow stream.
_END = b"\xff\xff\xff\xff\0\0\0\0"


class Contents:
    """What is intact of a file, from its beginning to the first thing that is wrong.

    Attributes:
        provenance: from the head; how the recording ended is added from the end.
        parts: channels of each batch.
        finished: whether the end is there and agrees with the rest.
        ending: what the end says.

    Raises:
        RecordingError: for bytes that are no recording at all, or of a later format; the message lacks the file.
    """

    def __init__(self, data: bytes) -> None:
        source = pyarrow.BufferReader(data)
        self.provenance, head = _head(source)
        self.parts: list[Sequence[Channel]] = []
        self.samples = 0
        self.finished = False
        self.ending: dict[str, Any] = {}
        try:
            head.read_all()
            while not self.finished:
                self._stream(source)
        except Exception:  # what Arrow, JSON and numpy raise on bytes that are missing or wrong has no common class
            return

    def _stream(self, source: pyarrow.BufferReader) -> None:
        _skip_repeated_ends(source)
        reader = pyarrow.ipc.open_stream(source)
        end = (reader.schema.metadata or {}).get(b"poise.end")
        if end is not None:
            self.ending = dict(json.loads(end))
            if self.ending["samples"] != self.samples:
                raise ValueError("the end does not belong to what stands before it")
            self.provenance.update(self.ending.get("provenance", {}))
            self.finished = True
            return
        headers = tuple(_header(field) for field in reader.schema)
        fields = headers_checksum(headers)
        while True:
            try:
                batch, facts = reader.read_next_batch_with_custom_metadata()
            except StopIteration:
                return
            batch.validate(full=True)
            channels = [_channel(header, column) for header, column in zip(headers, batch.columns, strict=True)]
            if int(facts["crc32"]) != checksum(channels, fields):
                raise ValueError("the numbers are not those that were written")
            first = int(facts["first"])
            if first > self.samples:
                raise ValueError("samples are missing")
            if first == self.samples:  # otherwise it repeats what was read
                self.parts.append(channels)
                self.samples += batch.num_rows


def _skip_repeated_ends(source: pyarrow.BufferReader) -> None:
    at = source.tell()
    while source.read(len(_END)) == _END:
        at += len(_END)
    source.seek(at)


def _head(source: pyarrow.BufferReader) -> tuple[dict[str, Any], pyarrow.ipc.RecordBatchStreamReader]:
    """The provenance, and the stream that must be read to its end before the next begins."""
    try:
        reader = pyarrow.ipc.open_stream(source)
        head = {key.decode(): value.decode() for key, value in (reader.schema.metadata or {}).items()}
        version = int(head["poise.recording"])
    except Exception:  # as above
        raise RecordingError("is not a Poise recording, or was cut off at its very beginning; record it anew") from None
    if version > VERSION:
        raise RecordingError(
            f"was written in format {version}; this version of Poise reads formats up to {VERSION}: update Poise"
        )
    try:
        return dict(json.loads(head["poise.provenance"])), reader
    except Exception:  # as above
        raise RecordingError("is damaged at its very beginning; record it anew") from None


def _header(field: pyarrow.Field) -> Header:
    labels, units = (tuple(map(str, json.loads(field.metadata[key]))) for key in (b"labels", b"units"))
    columns = field.type.list_size if labels else 1
    if columns != max(len(labels), 1) or columns != len(units):
        raise ValueError("columns without label or unit")
    return Header(field.name, _KINDS[field.type.value_type if labels else field.type], labels, units)


def _channel(header: Header, column: pyarrow.Array) -> Channel:
    if column.null_count:
        raise ValueError("values are missing")
    flat = column.flatten() if header.labels else column
    values: Values = np.array(flat.to_numpy(zero_copy_only=False), dtype=TYPES[header.kind][0])
    return Channel._of(header, values.reshape(len(column), len(header.labels)) if header.labels else values)
