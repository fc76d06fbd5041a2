"""Parts of a recording, one after the other, joined into channels of equal length."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from poise.recording.channel import Channel, Header

#: Channels that cover the same samples.
Part = Sequence[Channel]


def joined(parts: Sequence[Part]) -> tuple[Channel, ...]:
    """The channels of all parts, each over all samples.

    Tasks come and go while a robot moves, so one part may have channels, or columns, that another has not: these are
    absent (NaN) there. A channel that returns with another unit or kind is another channel, ``name (2)``.
    """
    if len(parts) == 1:
        return tuple(parts[0])
    union = _Union()
    for part in parts:
        for channel in part:
            union.place(channel.header)
    samples = [len(part[0]) if part else 0 for part in parts]
    headers = union.headers()
    values = {name: header.blank(sum(samples)) for name, header in headers.items()}
    start = 0
    for part, count in zip(parts, samples, strict=True):
        for channel in part:
            name, columns = union.place(channel.header)
            if columns is None:
                values[name][start : start + count] = channel.values
            else:
                values[name][start : start + count, columns] = channel.values
        start += count
    return tuple(Channel._of(header, values[name]) for name, header in headers.items())


class _Union:
    """Which channel of the whole, and which of its columns, a channel of a part belongs to."""

    def __init__(self) -> None:
        self._first: dict[str, Header] = {}
        self._columns: dict[str, dict[str, str]] = {}  # name -> label -> unit
        self._placed: dict[Header, tuple[str, NDArray[np.intp] | None]] = {}

    def place(self, header: Header) -> tuple[str, NDArray[np.intp] | None]:
        known = self._placed.get(header)
        if known is None:
            name, count = header.name, 1
            while not self._accepts(name, header):
                count += 1
                name = f"{header.name} ({count})"
            self._first.setdefault(name, header)
            columns = self._columns.setdefault(name, {})
            for label, unit in zip(header.labels or ("",), header.units, strict=True):
                columns.setdefault(label, unit)
            order = {label: i for i, label in enumerate(columns)}
            where = np.array([order[label] for label in header.labels], dtype=np.intp) if header.labels else None
            known = self._placed[header] = (name, where)
        return known

    def _accepts(self, name: str, header: Header) -> bool:
        first = self._first.get(name)
        if first is None:
            return True
        units = self._columns[name]
        own = zip(header.labels or ("",), header.units, strict=True)
        alike = (first.name, first.kind, bool(first.labels)) == (header.name, header.kind, bool(header.labels))
        return alike and all(units.get(label, unit) == unit for label, unit in own)

    def headers(self) -> dict[str, Header]:
        return {
            name: Header(name, first.kind, tuple(self._columns[name]) if first.labels else (), tuple(units.values()))
            for (name, first), units in zip(self._first.items(), self._columns.values(), strict=True)
        }
