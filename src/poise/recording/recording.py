"""Recording: what happened, as named channels with units on one clock."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from os import PathLike
from types import MappingProxyType
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from poise.errors import RecordingError
from poise.recording import digest
from poise.recording.body import Body
from poise.recording.channel import Channel, Values
from poise.recording.provenance import written
from poise.recording.summary import summary
from poise.robots import Robot, State
from poise.robots.names import near_misses

Value = TypeVar("Value")


class Recording:
    """The frozen result of a motion: channels, and where they come from.

    ``recording["center_of_mass"]`` is an array, n x 3; ``recording["center_of_mass/x"]`` one of its columns, n.
    ``recording.units`` and ``recording.labels`` answer to the same names. Where a channel did not exist, because its
    task was not part of the hierarchy, numbers are NaN, codes -128 and texts empty.

    Args:
        channels: all of the same length, one of them ``"time"`` (s).
        provenance: what made them; anything that can be written as JSON.
        robot: whose motion it is, for `state`.
        complete: False for what is left of a file that was cut off.

    >>> recording = poise.load_recording("walk.poise")
    >>> recording["q/left_knee_joint"].max(), recording.units["q/left_knee_joint"]
    >>> print(recording.summary())
    """

    channels: Mapping[str, Channel]
    provenance: dict[str, Any]
    robot: Robot | None
    complete: bool

    def __init__(
        self,
        channels: Iterable[Channel],
        provenance: Mapping[str, Any] = MappingProxyType({}),
        robot: Robot | None = None,
        complete: bool = True,
    ) -> None:
        named: dict[str, Channel] = {}
        for channel in channels:
            if channel.name in named:
                raise RecordingError(f"two channels are called {channel.name!r}; give each its own name")
            named[channel.name] = channel
        clock = named.get("time")
        if clock is None or clock.labels or clock.header.kind != "number":
            raise RecordingError("a recording needs a channel 'time' with one number (s) per sample")
        for channel in named.values():
            if len(channel) != len(clock):
                raise RecordingError(
                    f"channel {channel.name!r} has {len(channel)} samples and time {len(clock)}; give all the same"
                )
        self.__dict__.update(channels=MappingProxyType(named), provenance=written(provenance))
        self.__dict__.update(robot=robot, complete=complete)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{name} cannot be set: a recording does not change; make another from its channels")

    @property
    def time(self) -> NDArray[np.float64]:
        """The clock (s), n."""
        return self.channels["time"].values

    @property
    def period(self) -> float:
        """The usual time between two samples (s); NaN for fewer than two."""
        return float(np.median(np.diff(self.time))) if len(self) > 1 else np.nan

    @property
    def duration(self) -> float:
        """How long the motion lasts (s): a sample stands for the period that follows it."""
        return float(self.time[-1] - self.time[0]) + self.period if len(self) > 1 else 0.0

    def __len__(self) -> int:
        return len(self.time)

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and self._found(name) is not None

    def __getitem__(self, name: str) -> Values:
        channel, label = self._of(name)
        return channel.values if label is None else channel.column(label)

    @property
    def units(self) -> Mapping[str, str]:
        """Unit of each channel, or of one column: ``recording.units["q/left_knee_joint"]``."""
        return _Facts(
            self, lambda channel, label: channel.unit if label is None else channel.units[channel.labels.index(label)]
        )

    @property
    def labels(self) -> Mapping[str, tuple[str, ...]]:
        """Labels of the columns of each channel; empty for one with a single value per sample."""
        return _Facts(self, lambda channel, label: channel.labels if label is None else ())

    def _found(self, name: str) -> tuple[Channel, str | None] | None:
        """A channel of that name, or the channel and label of a column."""
        if name in self.channels:
            return self.channels[name], None
        at = name.find("/")
        while at >= 0:
            channel, label = self.channels.get(name[:at]), name[at + 1 :]
            if channel is not None and label in channel.labels:
                return channel, label
            at = name.find("/", at + 1)
        return None

    def _of(self, name: str) -> tuple[Channel, str | None]:
        found = self._found(name) if isinstance(name, str) else None
        if found is None:
            columns = [f"{channel.name}/{label}" for channel in self.channels.values() for label in channel.labels]
            near = near_misses(str(name), [*self.channels, *columns])
            hint = f"did you mean {' or '.join(map(repr, near))}?" if near else f"there are {', '.join(self.channels)}"
            raise RecordingError(f"the recording has no channel {name!r}; {hint}", near=near)
        return found

    def state(self, index: int, robot: Robot | None = None) -> State:
        """The state of one sample, for the robot that was recorded (or given, if the recording was loaded)."""
        robot = self._owner(robot)
        parts = {part.name: part for part in (*robot.feet, *robot.hands)}
        names = str(self["contacts"][index]) if "contacts" in self else ""
        contacts = tuple(parts.get(name) or robot.frame(name) for name in names.split(", ") if name)
        return State(robot, self["q"][index], self["v"][index], float(self.time[index]), contacts)

    def states(self, robot: Robot | None = None) -> Iterator[State]:
        """The states of all samples, one after the other."""
        return (self.state(i, robot) for i in range(len(self)))

    def _owner(self, robot: Robot | None) -> Robot:
        robot = self.robot if robot is None else robot
        name = self.provenance.get("robot", "?")
        if robot is None:
            raise RecordingError(f"a state needs its robot; give robot=poise.load_robot({name!r})")
        if self.labels["q"] != Body.of(robot).q_labels:
            raise RecordingError(f"the recording is of {name!r}, whose joints are not those of {robot.name!r}; give it")
        return robot

    def levels(self) -> dict[str, dict[str, float | str | None]]:
        """Residual of each level: ``{name: {"rms", "max", "unit"}}``, None where a level was never asked for."""
        return {level.name: {"rms": level.rms, "max": level.max, "unit": level.unit} for level in self.residuals()}

    def residuals(self) -> list[digest.Level]:
        """Residual of each level and of its tasks, in order of importance."""
        return digest.levels(self)

    def saturations(self) -> list[digest.Saturation]:
        """Rows that were at a bound, the one that was there longest first."""
        return digest.saturations(self)

    def milliseconds(self, of: str = "control") -> dict[str, float | None]:
        """Median, p99 and max of the time that a whole control call took, or the solver alone (``of="solver"``)."""
        return digest.spread(self, f"{of}/milliseconds")

    def fallbacks(self) -> dict[str, int]:
        """How often each fallback was used; empty if none was."""
        return digest.counts(self, "control/fallback")

    def nonfinite_commands(self) -> int:
        """How many commands held a NaN or an infinite number; a controller promises none."""
        return int(np.sum(self["command/nonfinite"] > 0)) if "command/nonfinite" in self else 0

    def summary(self) -> str:
        """Residual of each level and task, tightest limit, slowest solve, fallbacks: a text to read."""
        return summary(self)

    def save(self, path: str | PathLike[str]) -> None:
        """Writes a ``.poise`` file; it appears whole or not at all."""
        from poise.recording.writing import save

        save(self, path)

    def __repr__(self) -> str:
        cut = "" if self.complete else ", cut off"
        return f"Recording({len(self)} samples, {self.duration:.3f} s, {len(self.channels)} channels{cut})"


class _Facts(Mapping[str, Value], Generic[Value]):
    """One fact of each channel, under the names that the recording answers to."""

    def __init__(self, recording: Recording, fact: Callable[[Channel, str | None], Value]) -> None:
        self._recording, self._fact = recording, fact

    def __getitem__(self, name: str) -> Value:
        return self._fact(*self._recording._of(name))

    def __contains__(self, name: object) -> bool:
        return name in self._recording

    def __iter__(self) -> Iterator[str]:
        return iter(self._recording.channels)

    def __len__(self) -> int:
        return len(self._recording.channels)
