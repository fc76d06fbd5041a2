"""`Recording`, the immutable result of a motion as channels on one time axis, and `load_recording`."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from os import PathLike
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from poise.errors import ChannelError, RecordingError, near_misses
from poise.extras import pandas
from poise.recording import statistics as digest
from poise.recording.channel import Channel, ChannelKind, Values, concatenate, make_unique
from poise.recording.former_keys import former_keys
from poise.recording.provenance import CoordinateLabels, json_round_trip
from poise.recording.statistics import summary
from poise.robots import Robot, State

if TYPE_CHECKING:
    from poise.recording.file_format import FileContents

Value = TypeVar("Value")


class Recording(Mapping[str, Values]):
    """Immutable result of a motion: a mapping of channels, and their provenance.

    ``recording["center_of_mass"]`` is an array, n x 3; ``recording["center_of_mass/x"]`` is one of its columns, n.
    ``recording.units`` and ``recording.labels`` take the same keys. The readable label of a channel
    (``"error/reach/position of left_palm"``) is accepted in place of its key (``"error/reach/left_palm"``). In samples
    in which a channel did not exist, because its task was not part of the hierarchy, numbers are NaN, codes -128 and
    texts empty. `len`, ``in``, `keys`, `values`, `items` and iteration are those of a mapping from keys to arrays.

    Args:
        channels: channels of the same length, one of them ``"time"`` (s).
        provenance: facts on the origin of the data; anything that can be written as JSON.
        robot: the robot that moved, for `state`.
        complete: False for the intact part of a truncated file.

    >>> recording = poise.load_recording("walk.poise")
    >>> recording["q/left_knee_joint"].max(), recording.units["q/left_knee_joint"]
    >>> print(recording.summary())
    """

    channels: Mapping[str, Channel]
    provenance: dict[str, Any]
    robot: Robot | None
    complete: bool
    _by_label: Mapping[str, Channel]

    def __init__(
        self,
        channels: Iterable[Channel],
        provenance: Mapping[str, Any] = MappingProxyType({}),
        robot: Robot | None = None,
        complete: bool = True,
    ) -> None:
        by_key: dict[str, Channel] = {}
        for channel in channels:
            if channel.key in by_key:
                raise RecordingError(f"two channels have the key {channel.key!r}; give each channel a unique key")
            by_key[channel.key] = channel
        time_channel = by_key.get("time")
        if time_channel is None or time_channel.labels or time_channel.header.kind != "number":
            raise RecordingError("a recording needs a channel 'time' with one number (s) per sample")
        for channel in by_key.values():
            if len(channel) != len(time_channel):
                raise RecordingError(
                    f"channel {channel.key!r} has {len(channel)} samples and time "
                    f"{len(time_channel)}; give all channels the same length"
                )
        self.__dict__.update(channels=MappingProxyType(by_key), provenance=json_round_trip(provenance))
        self.__dict__.update(robot=robot, complete=complete)
        self.__dict__.update(_by_label={channel.label: channel for channel in reversed(by_key.values())})

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{name} cannot be set: a recording is immutable; create a new one from its channels")

    @property
    def time(self) -> NDArray[np.float64]:
        """Times of the n samples (s)."""
        return self.channels["time"].values

    @property
    def period(self) -> float:
        """Sampling period: the median time between two samples (s); NaN for fewer than two samples."""
        return float(np.median(np.diff(self.time))) if self.samples > 1 else np.nan

    @property
    def duration(self) -> float:
        """Duration of the motion (s), including one sampling period after the last sample."""
        return float(self.time[-1] - self.time[0]) + self.period if self.samples > 1 else 0.0

    @property
    def samples(self) -> int:
        """Number of samples."""
        return len(self.time)

    def __iter__(self) -> Iterator[str]:
        """Iterate over the keys of the channels."""
        return iter(self.channels)

    def __len__(self) -> int:
        """Return the number of channels; `samples` is the number of samples."""
        return len(self.channels)

    # Two recordings are equal if they are the same object: arrays of numbers have no single truth value.
    __eq__, __hash__ = object.__eq__, object.__hash__

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and self._find(name) is not None

    def __getitem__(self, name: str) -> Values:
        channel, label = self._lookup(name)
        return channel.values if label is None else channel.column(label)

    @property
    def units(self) -> Mapping[str, str]:
        """Unit of each channel, or of one column: ``recording.units["q/left_knee_joint"]``."""
        return _ChannelProperty(
            self, lambda channel, label: channel.unit if label is None else channel.units[channel.labels.index(label)]
        )

    @property
    def labels(self) -> Mapping[str, tuple[str, ...]]:
        """Labels of the columns of each channel; empty for one with a single value per sample."""
        return _ChannelProperty(self, lambda channel, label: channel.labels if label is None else ())

    def _find(self, name: str) -> tuple[Channel, str | None] | None:
        """Find a channel by key or label, or a column: return the channel and the label of the column or None.

        A file of an earlier version has former keys, which are tried last.
        """
        match = _search(self.channels, name) or _search(self._by_label, name)
        former = (_search(self.channels, key) for key in former_keys(name))
        return match or next(filter(None, former), None)

    def _lookup(self, name: str) -> tuple[Channel, str | None]:
        match = self._find(name) if isinstance(name, str) else None
        if match is None:
            columns = [f"{channel.key}/{label}" for channel in self.channels.values() for label in channel.labels]
            near = near_misses(str(name), [*self.channels, *columns])
            hint = f"did you mean {' or '.join(map(repr, near))}?" if near else f"there are {', '.join(self.channels)}"
            raise ChannelError(f"the recording has no channel {name!r}; {hint}", near=near)
        return match

    def state(self, index: int, robot: Robot | None = None) -> State:
        """Return the state of one sample; give the robot if the recording was loaded without it."""
        robot = self._check_robot(robot)
        parts = {part.name: part for part in (*robot.feet, *robot.hands)}
        names = str(self["contacts"][index]) if "contacts" in self else ""
        contacts = tuple(parts.get(name) or robot.frame(name) for name in names.split(", ") if name)
        return State(robot, self["q"][index], self["v"][index], float(self.time[index]), contacts)

    def states(self, robot: Robot | None = None) -> Iterator[State]:
        """Iterate over the states of all samples."""
        return (self.state(i, robot) for i in range(self.samples))

    def _check_robot(self, robot: Robot | None) -> Robot:
        robot = self.robot if robot is None else robot
        name = self.provenance.get("robot", "?")
        if robot is None:
            raise RecordingError(f"a state needs its robot; give robot=poise.load_robot({name!r})")
        if self.labels["q"] != CoordinateLabels.of(robot).q_labels:
            raise RecordingError(
                f"the recording is of {name!r}, whose joints are not those of {robot.name!r}; give the recorded robot"
            )
        return robot

    def levels(self) -> dict[str, dict[str, float | str | None]]:
        """Return the residual of each level: ``{name: {"rms", "max", "unit"}}``; None if a level was never active."""
        return {level.name: {"rms": level.rms, "max": level.max, "unit": level.unit} for level in self.residuals()}

    def residuals(self) -> list[digest.LevelResidual]:
        """Return the residual of each level and of its tasks, in order of priority."""
        return digest.level_residuals(self)

    def saturations(self) -> list[digest.Saturation]:
        """Return the rows that were at a bound, the largest share of samples first."""
        return digest.saturations(self)

    def milliseconds(self, of: str = "control") -> dict[str, float | None]:
        """Return median, p99 and max computing time (ms) of a control step, or of the solver (``of="solver"``)."""
        return digest.percentiles(self, f"{of}/milliseconds")

    def overruns(self) -> digest.Overruns | None:
        """Return how many control steps took longer than the control period, the slowest, and when it was."""
        return digest.overruns(self)

    def fallbacks(self) -> dict[str, int]:
        """Return how often each fallback was used; empty if none was used."""
        return digest.count_texts(self, "control/fallback")

    def nonfinite_commands(self) -> int:
        """Return the number of commands with a NaN or infinite value; a correct controller never sends one."""
        return int(np.sum(self["command/nonfinite"] > 0)) if "command/nonfinite" in self else 0

    def summary(self) -> str:
        """Return a text: a fall, residuals of levels and tasks, the tightest limit, computing times, fallbacks."""
        return summary(self)

    def to_dataframe(self, channels: Iterable[str] | None = None) -> pandas.DataFrame:
        """Return the samples as a pandas DataFrame: one row per sample, index ``time`` (s), one column per value.

        The columns of a channel are named ``center_of_mass/x`` or ``q/left_knee_joint``; a channel without columns has
        its key as name. Numbers are float64, codes int8 and texts objects. ``frame.attrs["units"]`` has the unit of
        each column.

        Args:
            channels: keys of channels or of single columns, in the order of the frame; default all channels.

        >>> recording.to_dataframe(["center_of_mass", "q/left_knee_joint"]).describe()
        """
        if isinstance(channels, str):
            raise RecordingError(f"channels is the text {channels!r}; expected a list of keys: [{channels!r}]")
        chosen = [self._lookup(name) for name in (self.channels if channels is None else channels)]
        columns: list[tuple[str, str, Values]] = []
        for channel, label in chosen:
            if channel.key == "time":
                continue
            if not channel.labels:
                columns.append((channel.key, channel.unit, channel.values))
            for word, unit in zip(channel.labels, channel.units, strict=False):
                if label in (None, word):
                    columns.append((f"{channel.key}/{word}", unit, channel.column(word)))
        names = make_unique(name for name, _, _ in columns)
        values = {name: column for name, (_, _, column) in zip(names, columns, strict=True)}
        frame = pandas.DataFrame(values, index=pandas.Index(self.time, name="time"))
        frame.attrs["units"] = {name: unit for name, (_, unit, _) in zip(names, columns, strict=True)}
        return frame

    def save(self, path: str | PathLike[str]) -> None:
        """Write a ``.poise`` file; the file is never left incomplete."""
        from poise.recording.file_format import save

        save(self, path)

    def __repr__(self) -> str:
        cut = "" if self.complete else ", cut off"
        return f"Recording({self.samples} samples, {self.duration:.3f} s, {len(self.channels)} channels{cut})"


def _search(channels: Mapping[str, Channel], name: str) -> tuple[Channel, str | None] | None:
    """Return the channel of a name, or the channel and column of it; None if there is none."""
    if name in channels:
        return channels[name], None
    at = name.find("/")
    while at >= 0:
        channel, label = channels.get(name[:at]), name[at + 1 :]
        if channel is not None and label in channel.labels:
            return channel, label
        at = name.find("/", at + 1)
    return None


class _ChannelProperty(Mapping[str, Value], Generic[Value]):
    """Mapping from the keys of a recording to one property of each channel or column."""

    def __init__(self, recording: Recording, fact: Callable[[Channel, str | None], Value]) -> None:
        self._recording, self._property = recording, fact

    def __getitem__(self, name: str) -> Value:
        return self._property(*self._recording._lookup(name))

    def __contains__(self, name: object) -> bool:
        return name in self._recording

    def __iter__(self) -> Iterator[str]:
        return iter(self._recording.channels)

    def __len__(self) -> int:
        return len(self._recording.channels)


# -- Reserved channels -----------------------------------------------------------------------------------------------


#: Kind of each channel that Poise writes, and whether it has columns; a key that ends with a slash is a prefix.
_RESERVED_CHANNELS: dict[str, tuple[ChannelKind, bool]] = {
    **dict.fromkeys(("q", "v", "center_of_mass", "error/", "force/", "contact_point/", "true/"), ("number", True)),
    **dict.fromkeys(("command/velocity", "command/acceleration", "command/torque"), ("number", True)),
    **dict.fromkeys(("control/milliseconds", "solver/milliseconds", "solver/iterations"), ("number", False)),
    **dict.fromkeys(("error_norm/", "slack/", "active_count/", "command/nonfinite"), ("number", False)),
    "joint_limit/margin": ("number", False),
    "active/": ("code", True),
    **dict.fromkeys(("solver/status", "control/fallback", "contacts", "phase", "joint_limit/nearest"), ("text", False)),
}
#: Channels that require another channel.
_REQUIRED_WITH = {"joint_limit/margin": "joint_limit/nearest"}


def check_reserved_channels(channels: Iterable[Channel]) -> None:
    """Raise `RecordingError` if a channel with a reserved key has the wrong kind or the wrong columns."""
    keys = []
    for channel in channels:
        keys.append(channel.key)
        first = channel.key.partition("/")[0] + "/"
        kind, columns = (
            _RESERVED_CHANNELS.get(channel.key)
            or _RESERVED_CHANNELS.get(first)
            or (channel.header.kind, bool(channel.labels))
        )
        if (channel.header.kind, bool(channel.labels)) != (kind, columns):
            expected = f"{kind}s {'in labeled columns' if columns else 'one per sample'}"
            raise RecordingError(f"channel {channel.key!r} contains {channel.header.kind}s; expected {expected}")
    for key, other in _REQUIRED_WITH.items():
        if key in keys and other not in keys:
            raise RecordingError(f"channel {key!r} is present without {other!r}; expected both")


# -- Loading a recording from its file -------------------------------------------------------------------------------


def load_recording(path: str | PathLike[str], robot: Robot | None = None, partial: bool = False) -> Recording:
    """Load a recording from a ``.poise`` file; the values are bit-identical to those recorded.

    Args:
        path: the file.
        robot: the recorded robot, needed for `Recording.state`.
        partial: accept a truncated file (for example, the process that wrote it was killed) and load its intact part;
            ``recording.complete`` is then False.

    Raises:
        RecordingError: if the file cannot be read, is not a recording, or is truncated and `partial` is False.

    >>> poise.load_recording("walk.poise").duration
    3.0
    """
    file = Path(os.path.expanduser(path))
    data = _read_bytes(file)
    from poise.recording.file_format import FileContents  # Arrow takes a tenth of a second to import

    try:
        contents = FileContents(data)
    except RecordingError as error:
        raise _error(file, str(error)) from None
    if not contents.finished and not partial:
        raise _error(file, f"is truncated or damaged; {_describe_intact(contents)}")
    try:
        channels = concatenate(contents.parts) if contents.parts else (Channel("time", "s", np.zeros(0)),)
        check_reserved_channels(channels)
        complete = contents.finished and bool(contents.ending.get("complete", True))
        return Recording(channels, contents.provenance, robot, complete)
    except RecordingError as error:
        raise _error(file, f"is not a valid recording: {error}") from None


def _describe_intact(contents: FileContents) -> str:
    """Describe the intact part of a truncated file and how to open it."""
    if not contents.samples:
        return "no sample is intact"
    until = [f" up to {channel.values[-1]:.3f} s" for channel in contents.parts[-1] if channel.key == "time"]
    which = f"{contents.samples} samples" if contents.samples > 1 else "1 sample"
    return f"{which}{''.join(until)} intact: open with load_recording(path, partial=True)"


def _read_bytes(path: Path) -> bytes:
    if os.path.isdir(path):
        raise _error(path, "is a directory; give the name of a file in it")
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        raise _error(path, "does not exist; give the name of a .poise file") from None
    except (OSError, ValueError) as error:
        raise _error(
            path, f"cannot be read: {error.strerror if isinstance(error, OSError) else error}; give a readable file"
        ) from None
    if not data:
        raise _error(path, "is empty; give a complete .poise file")
    return data


def _error(path: Path, message: str) -> RecordingError:
    return RecordingError(f"{path} {message}", path=str(path))
