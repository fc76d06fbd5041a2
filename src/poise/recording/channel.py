"""Channel: one named quantity over time, with its unit; joining the channels of several parts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from poise.errors import RecordingError

Kind = Literal["number", "code", "text"]
Values = NDArray[Any]

#: What stands where a code did not exist; a number is NaN there and a text empty.
ABSENT = -128

#: How each kind is kept, and what stands where there is no value. Texts are objects, as numpy's own cut trailing zeros.
TYPES: dict[Kind, tuple[type, Any]] = {"number": (np.float64, np.nan), "code": (np.int8, ABSENT), "text": (object, "")}


class Header(NamedTuple):
    """What a channel is, without its values.

    Attributes:
        name: such as ``"center_of_mass"`` or ``"error/reach/left_hand"``.
        kind: ``"number"`` (float64), ``"code"`` (int8, such as the sides of rows) or ``"text"``.
        labels: one word per column; empty for a channel with a single value per sample.
        units: one per column, exactly one if there are no labels.
    """

    name: str
    kind: Kind
    labels: tuple[str, ...]
    units: tuple[str, ...]

    @property
    def unit(self) -> str:
        """The unit of all columns, or the different ones in a row: ``"m, rad"``."""
        return joined_units(self.units)

    def blank(self, samples: int) -> Values:
        """Values for so many samples, all absent."""
        dtype, absent = TYPES[self.kind]
        return np.full((samples, len(self.labels)) if self.labels else samples, absent, dtype=dtype)


class Channel:
    """One named quantity over time: a value, or a row of labelled values, per sample. It cannot be written to.

    Args:
        name: how it is asked for; ``name/label`` is one of its columns.
        unit: of all columns, or one for each; "" where there is none.
        values: n values, or n x k with k labels. Numbers become float64; int8 and booleans stay small integers
            (codes); words become text.
        labels: one word per column, all different; columns are numbered otherwise.

    >>> Channel("center_of_mass", "m", [[0.0, 0.0, 0.7]], labels=("x", "y", "z")).column("z")
    array([0.7])
    """

    __slots__ = ("header", "values")

    header: Header
    values: Values

    def __init__(
        self, name: str, unit: str | Sequence[str], values: ArrayLike, labels: Sequence[str] | None = None
    ) -> None:
        kind, array = _checked_values(name, values)
        columns = array.shape[1] if array.ndim == 2 else 0
        words = tuple(str(i) for i in range(columns)) if labels is None else tuple(labels)
        if len(words) != columns or len(set(words)) != len(words):
            shape = f"{columns} columns" if array.ndim == 2 else "one value per sample"
            raise RecordingError(f"channel {name!r} has {shape} and the labels {words!r}; give each column its own")
        units = (unit,) * max(columns, 1) if isinstance(unit, str) else tuple(unit)
        if len(units) != max(columns, 1):
            raise RecordingError(
                f"channel {name!r} has {max(columns, 1)} columns and {len(units)} units; give one each"
            )
        if not name or any(plain(word) != word for word in (name, *words, *units)):
            raise RecordingError(f"channel {name!r} has a name, label or unit that is not text; give each as words")
        self.header = Header(name, kind, words, units)
        self.values = array
        array.flags.writeable = False

    @classmethod
    def _of(cls, header: Header, values: Values) -> Channel:
        """A channel from values known to fit the header; they are taken over, not copied."""
        channel = object.__new__(cls)
        channel.header, channel.values = header, values
        values.flags.writeable = False
        return channel

    @property
    def name(self) -> str:
        return self.header.name

    @property
    def unit(self) -> str:
        """The unit of all columns, or the different ones in a row: ``"m, rad"``."""
        return self.header.unit

    @property
    def labels(self) -> tuple[str, ...]:
        """One word per column; empty if there is a single value per sample."""
        return self.header.labels

    @property
    def units(self) -> tuple[str, ...]:
        """One per column."""
        return self.header.units

    def column(self, label: str) -> Values:
        """The values of one column, n."""
        return self.values[:, self.labels.index(label)]

    def __len__(self) -> int:
        return len(self.values)

    def __repr__(self) -> str:
        columns = f" x {len(self.labels)}" if self.labels else ""
        return f"Channel({self.name!r}, {len(self)}{columns} {self.header.kind}s, unit {self.unit!r})"


def joined_units(units: Iterable[str]) -> str:
    """The different units among those given, in their order: ``"m, rad"``."""
    return ", ".join(dict.fromkeys(word for unit in units for word in unit.split(", ") if word))


def plain(word: str) -> str:
    """The word with what cannot be written to a file (half a character) replaced by question marks."""
    return str(word).encode("utf-8", "replace").decode()


def different(words: Iterable[str]) -> tuple[str, ...]:
    """The same words, those that were there before numbered: a, b, a becomes a, b, a (2)."""
    seen: dict[str, None] = {}
    for word in words:
        name, count = word, 1
        while name in seen:
            count += 1
            name = f"{word} ({count})"
        seen[name] = None
    return tuple(seen)


def _checked_values(name: str, values: ArrayLike) -> tuple[Kind, Values]:
    array = np.array(values)
    kind: Kind
    if array.dtype in (np.int8, np.bool_):
        kind = "code"
    elif array.dtype.kind in "iuf":
        kind = "number"
    elif array.dtype.kind in "UO" and all(isinstance(word, str) and plain(word) == word for word in array.flat):
        kind = "text"
        array = np.array(values, dtype=object)
    else:
        raise RecordingError(f"channel {name!r} holds {array.dtype}; expected numbers or texts")
    if array.ndim not in (1, 2) or (array.ndim == 2 and array.shape[1] == 0):
        raise RecordingError(f"channel {name!r} has shape {array.shape}; expected n values or n x k, k > 0")
    return kind, np.ascontiguousarray(array, dtype=TYPES[kind][0])


# -- Parts of a recording, one after the other, joined into channels of equal length ---------------------------------


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
