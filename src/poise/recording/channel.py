"""Channels (one quantity over time with key, label and unit), keys made from labels, and concatenation in time."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Hashable, Iterable, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from poise.errors import RecordingError

ChannelKind = Literal["number", "code", "text"]
Values = NDArray[Any]

#: Value of an absent code; an absent number is NaN and an absent text is empty.
ABSENT_CODE = -128

#: numpy type and absent value of each kind. Texts are objects, because numpy's string type drops trailing null bytes.
KIND_TYPES: dict[ChannelKind, tuple[type, Any]] = {
    "number": (np.float64, np.nan),
    "code": (np.int8, ABSENT_CODE),
    "text": (object, ""),
}


class ChannelHeader(NamedTuple):
    """Description of a channel without its values.

    Attributes:
        key: identifier, for example ``"center_of_mass"`` or ``"error/reach/left_palm"``.
        kind: ``"number"`` (float64), ``"code"`` (int8, e.g. the active side of a row) or ``"text"``.
        labels: one label per column; empty for a channel with a single value per sample.
        units: one unit per column, exactly one if there are no labels.
        label: readable name: ``"error/reach/position of left_palm"``.
    """

    key: str
    kind: ChannelKind
    labels: tuple[str, ...]
    units: tuple[str, ...]
    label: str

    @classmethod
    def of(
        cls, key: str, kind: ChannelKind, labels: tuple[str, ...] = (), units: tuple[str, ...] = ("",)
    ) -> ChannelHeader:
        """Return a header whose label is its key."""
        return cls(key, kind, labels, units, key)

    @property
    def unit(self) -> str:
        """The unit of all columns, or the list of different units: ``"m, rad"``."""
        return join_units(self.units)

    def absent_values(self, samples: int) -> Values:
        """Return an array of absent values for a number of samples."""
        dtype, absent = KIND_TYPES[self.kind]
        return np.full((samples, len(self.labels)) if self.labels else samples, absent, dtype=dtype)


class Channel:
    """One quantity over time: one value, or one row of labeled values, per sample. It is read-only.

    Args:
        key: identifier; ``key/column`` is one of its columns. It consists of words of a-z, 0-9 and _, separated by
            slashes; `channel_key` makes one from a label.
        unit: unit of all columns, or a sequence with one unit per column; "" if there is none.
        values: n values, or n x k with k labels. Numbers become float64; int8 and booleans become int8 codes; strings
            become text.
        labels: one label per column, all different; by default the columns are numbered.
        label: readable name for summaries, reports and exports; the key by default.

    >>> Channel("center_of_mass", "m", [[0.0, 0.0, 0.7]], labels=("x", "y", "z")).column("z")
    array([0.7])
    """

    __slots__ = ("header", "values")

    header: ChannelHeader
    values: Values

    def __init__(
        self,
        key: str,
        unit: str | Sequence[str],
        values: ArrayLike,
        labels: Sequence[str] | None = None,
        label: str = "",
    ) -> None:
        kind, array = _check_values(key, values)
        columns = array.shape[1] if array.ndim == 2 else 0
        column_labels = tuple(str(i) for i in range(columns)) if labels is None else tuple(labels)
        if len(column_labels) != columns or len(set(column_labels)) != len(column_labels):
            shape = f"{columns} columns" if array.ndim == 2 else "one value per sample"
            raise RecordingError(
                f"channel {key!r} has {shape} and the labels {column_labels!r}; give one unique label per column"
            )
        units = (unit,) * max(columns, 1) if isinstance(unit, str) else tuple(unit)
        if len(units) != max(columns, 1):
            raise RecordingError(
                f"channel {key!r} has {max(columns, 1)} columns and {len(units)} units; give one unit per column"
            )
        if not key or any(printable(word) != word for word in (key, *column_labels, *units, label)):
            raise RecordingError(f"channel {key!r} has an empty key, or a key, label or unit that is not valid text")
        if not is_channel_key(key):
            raise RecordingError(
                f"channel {key!r}: a key consists of words of a-z, 0-9 and _, separated by slashes; "
                f"give the key {channel_key(key)!r} and label={key!r}"
            )
        self.header = ChannelHeader(key, kind, column_labels, units, label or key)
        self.values = array
        array.flags.writeable = False

    @classmethod
    def _unchecked(cls, header: ChannelHeader, values: Values) -> Channel:
        """Build a channel from values known to fit the header; they are not copied and become read-only."""
        channel = object.__new__(cls)
        channel.header, channel.values = header, values
        values.flags.writeable = False
        return channel

    @property
    def key(self) -> str:
        """Identifier: ``"error/reach/left_palm"``."""
        return self.header.key

    @property
    def label(self) -> str:
        """Readable name: ``"error/reach/position of left_palm"``."""
        return self.header.label

    @property
    def unit(self) -> str:
        """The unit of all columns, or the list of different units: ``"m, rad"``."""
        return self.header.unit

    @property
    def labels(self) -> tuple[str, ...]:
        """One label per column; empty if there is a single value per sample."""
        return self.header.labels

    @property
    def units(self) -> tuple[str, ...]:
        """One unit per column."""
        return self.header.units

    def column(self, label: str) -> Values:
        """Return the n values of one column."""
        return self.values[:, self.labels.index(label)]

    def __len__(self) -> int:
        return len(self.values)

    def __repr__(self) -> str:
        columns = f" x {len(self.labels)}" if self.labels else ""
        return f"Channel({self.key!r}, {len(self)}{columns} {self.header.kind}s, unit {self.unit!r})"


def join_units(units: Iterable[str]) -> str:
    """Join the different units in their order: ``"m, rad"``."""
    return ", ".join(dict.fromkeys(word for unit in units for word in unit.split(", ") if word))


def printable(word: str) -> str:
    """Replace characters that cannot be encoded as UTF-8 (lone surrogates) by question marks."""
    return str(word).encode("utf-8", "replace").decode()


def make_unique(words: Iterable[str]) -> tuple[str, ...]:
    """Number repeated words: a, b, a becomes a, b, a (2)."""
    unique: dict[str, None] = {}
    for word in words:
        name, count = word, 1
        while name in unique:
            count += 1
            name = f"{word} ({count})"
        unique[name] = None
    return tuple(unique)


def _check_values(key: str, values: ArrayLike) -> tuple[ChannelKind, Values]:
    array = np.array(values)
    kind: ChannelKind
    if array.dtype in (np.int8, np.bool_):
        kind = "code"
    elif array.dtype.kind in "iuf":
        kind = "number"
    elif array.dtype.kind in "UO" and all(isinstance(word, str) and printable(word) == word for word in array.flat):
        kind = "text"
        array = np.array(values, dtype=object)
    else:
        raise RecordingError(f"channel {key!r} has type {array.dtype}; expected numbers or texts")
    if array.ndim not in (1, 2) or (array.ndim == 2 and array.shape[1] == 0):
        raise RecordingError(f"channel {key!r} has shape {array.shape}; expected n values or n x k, k > 0")
    return kind, np.ascontiguousarray(array, dtype=KIND_TYPES[kind][0])


# -- Keys ------------------------------------------------------------------------------------------------------------


#: A key: words separated by slashes.
_KEY_PATTERN = re.compile(r"[a-z0-9_]+(/[a-z0-9_]+)*", re.ASCII)

#: Task names of the form "quantity of part". In the key the part comes first; "position" is left out.
_PART_PATTERN = re.compile(
    r"(position|orientation|pose|direction|gaze|contact|planar contact|force|normal forces|friction|wrench cone"
    r"|center of pressure|box|polyhedron|half space|height) (?:of|at) (?:the )?(.+)"
)
#: Task names with a usual abbreviation.
_ABBREVIATIONS = {"divergent component": "dcm"}

#: Prefixes of labels that are followed by names: of a level and one of its tasks, or of a contact. Each name becomes
#: one word of the key, even if it contains slashes. The same name gives the same word in all labels.
NAMED_PREFIXES: dict[str, tuple[str, int]] = {
    **dict.fromkeys(("error", "error_norm"), ("level", 2)),
    **dict.fromkeys(("slack", "active", "active_count"), ("level", 1)),
    **dict.fromkeys(("force", "contact_point", "measured/force", "measured/contact_point"), ("contact", 1)),
    **dict.fromkeys(("measured/cells", "plate/force", "plate/contact_point"), ("contact", 1)),
}


class ChannelKeys:
    """Map from labels to keys for the channels of one recording; ``keys[label]`` always returns the same key.

    A name becomes a word of lower-case letters, digits and underscores. If another name of the same kind has the same
    word, a number is added: ``left_palm``, ``left_palm_2``. The same labels in the same order give the same keys.

    >>> ChannelKeys()["error/balance/divergent component"]
    'error/balance/dcm'
    """

    def __init__(self) -> None:
        self._keys: dict[str, str] = {}
        self._words: dict[Hashable, dict[str, str]] = {}  # kind of name -> name -> word

    def __getitem__(self, label: str) -> str:
        key = self._keys.get(label)
        if key is None:
            key = self._keys[label] = _unique_word(self._make_key(label), self._keys.values())
        return key

    def _make_key(self, label: str) -> str:
        prefixes = [label[:at] for at, letter in enumerate(label) if letter == "/" and label[:at] in NAMED_PREFIXES]
        if not prefixes:
            return "/".join(map(_key_word, label.split("/")))
        kind: Hashable
        kind, depth = NAMED_PREFIXES[prefixes[-1]]
        words = []
        for name in label[len(prefixes[-1]) + 1 :].split("/", depth - 1):
            known = self._words.setdefault(kind, {})
            if name not in known:
                known[name] = _unique_word(_key_word(name), known.values())
            words.append(known[name])
            kind = (kind, name)
        return "/".join((prefixes[-1], *words))


def channel_key(label: str) -> str:
    """Return the key of one label, ignoring other channels that could have the same key (see `ChannelKeys`).

    >>> channel_key("error/reach/position of left_palm")
    'error/reach/left_palm'
    """
    return ChannelKeys()[label]


def is_channel_key(text: str) -> bool:
    """Return whether a text is a valid channel key."""
    return _KEY_PATTERN.fullmatch(text) is not None


def _key_word(name: str) -> str:
    """Convert a name to one word of a key; a name that already is one is not changed."""
    part = _PART_PATTERN.fullmatch(name)
    if part is not None:
        name = part[2] if part[1] == "position" else f"{part[2]} {part[1]}"
    name = _ABBREVIATIONS.get(name, name)
    letters = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
    word = re.sub(r"[^a-z0-9_]+", "_", letters)
    return (word if word == name else word.strip("_")) or "unnamed"


def _unique_word(word: str, others: Iterable[str]) -> str:
    """Append a number to a word if it is one of the others."""
    taken, candidate, count = set(others), word, 1
    while candidate in taken:
        count += 1
        candidate = f"{word}_{count}"
    return candidate


# -- Concatenation in time -------------------------------------------------------------------------------------------


#: Channels that cover the same samples.
ChannelGroup = Sequence[Channel]


def concatenate(parts: Sequence[ChannelGroup]) -> tuple[Channel, ...]:
    """Concatenate parts of a recording in time; each channel of the result covers all samples.

    Tasks are added and removed during a motion, so a part may lack channels or columns of another part: their values
    are absent (NaN) there. A channel with the same key but another unit or kind becomes a separate channel, ``key_2``.
    """
    if len(parts) == 1:
        return tuple(parts[0])
    union = _ChannelUnion()
    for part in parts:
        for channel in part:
            union.assign(channel.header)
    samples = [len(part[0]) if part else 0 for part in parts]
    headers = union.headers()
    values = {key: header.absent_values(sum(samples)) for key, header in headers.items()}
    start = 0
    for part, count in zip(parts, samples, strict=True):
        for channel in part:
            key, columns = union.assign(channel.header)
            if columns is None:
                values[key][start : start + count] = channel.values
            else:
                values[key][start : start + count, columns] = channel.values
        start += count
    return tuple(Channel._unchecked(header, values[key]) for key, header in headers.items())


class _ChannelUnion:
    """Union of the channels of all parts: assigns each channel of a part to a channel of the result and its columns."""

    def __init__(self) -> None:
        self._first: dict[str, ChannelHeader] = {}
        self._labels: dict[str, str] = {}
        self._columns: dict[str, dict[str, str]] = {}  # key -> label of a column -> unit
        self._assigned: dict[ChannelHeader, tuple[str, NDArray[np.intp] | None]] = {}

    def assign(self, header: ChannelHeader) -> tuple[str, NDArray[np.intp] | None]:
        known = self._assigned.get(header)
        if known is None:
            key, label, count = header.key, header.label, 1
            while not self._accepts(key, header):
                count += 1
                key, label = f"{header.key}_{count}", f"{header.label} ({count})"
            self._first.setdefault(key, header)
            self._labels.setdefault(key, label)
            columns = self._columns.setdefault(key, {})
            for column, unit in zip(header.labels or ("",), header.units, strict=True):
                columns.setdefault(column, unit)
            order = {column: i for i, column in enumerate(columns)}
            where = np.array([order[column] for column in header.labels], dtype=np.intp) if header.labels else None
            known = self._assigned[header] = (key, where)
        return known

    def _accepts(self, key: str, header: ChannelHeader) -> bool:
        first = self._first.get(key)
        if first is None:
            return True
        units = self._columns[key]
        columns = zip(header.labels or ("",), header.units, strict=True)
        same_header = (first.key, first.label, first.kind, bool(first.labels)) == (
            header.key,
            header.label,
            header.kind,
            bool(header.labels),
        )
        return same_header and all(units.get(label, unit) == unit for label, unit in columns)

    def headers(self) -> dict[str, ChannelHeader]:
        return {
            key: ChannelHeader(
                key,
                first.kind,
                tuple(self._columns[key]) if first.labels else (),
                tuple(self._columns[key].values()),
                self._labels[key],
            )
            for key, first in self._first.items()
        }
