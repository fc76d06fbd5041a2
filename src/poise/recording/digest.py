"""What a recording amounts to, in a few numbers."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from poise.recording.channel import joined_units
from poise.solvers import LOWER, UPPER

if TYPE_CHECKING:
    from poise.recording.recording import Recording

Array = NDArray[np.float64]


class Residual(NamedTuple):
    """How far something was from being met: root mean square, maximum and last value of |e(t)|, None if never asked.

    At time t, e(t) stacks the errors of the rows; rms is ``sqrt(mean_t |e(t)|^2)`` over the samples in which the task
    was part of the hierarchy.
    """

    name: str
    unit: str
    rms: float | None
    max: float | None
    final: float | None


class Level(NamedTuple):
    """Residual of all tasks of a level together, and of each. Where no errors of tasks are known, it is the slack.

    Tasks of different units are stacked as they are; the unit then names them all: ``"m, rad"``.
    """

    name: str
    unit: str
    rms: float | None
    max: float | None
    final: float | None
    slack: float | None
    tasks: tuple[Residual, ...]


class Saturation(NamedTuple):
    """A row that was at one of its bounds: ``side`` is "lower" or "upper", ``share`` of the samples from 0 to 1,
    ``longest`` the longest time without a break (s)."""

    level: str
    row: str
    side: str
    share: float
    longest: float


def levels(recording: Recording) -> list[Level]:
    """Levels in the order of the hierarchy, each with its tasks."""
    names = [name.removeprefix("slack/") for name in recording.channels if name.startswith("slack/")]
    tasks: dict[str, list[str]] = {name: [] for name in names}
    for name, channel in recording.channels.items():
        kind, _, rest = name.partition("/")
        if kind == "error" and "/" in rest and channel.labels:
            tasks.setdefault(rest.split("/")[0], []).append(name)
    return [_level(recording, name, channels) for name, channels in tasks.items()]


def _level(recording: Recording, name: str, channels: list[str]) -> Level:
    slack = recording[f"slack/{name}"] if f"slack/{name}" in recording else np.zeros(0)
    most = _residual("", "", np.abs(slack)).max
    if not channels:
        unit = recording.units.get(f"slack/{name}", "")
        whole = _residual(name, unit, slack)
        return Level(*whole, slack=most, tasks=())
    parts = [np.sum(recording[channel] ** 2, axis=1) for channel in channels]
    present = ~np.all(np.isnan(parts), axis=0)
    size = np.where(present, np.sqrt(np.nansum(parts, axis=0)), np.nan)
    whole = _residual(name, joined_units(recording.units[channel] for channel in channels), size)
    own = [
        _residual(channel.split("/", 2)[2], recording.units[channel], np.sqrt(part))
        for channel, part in zip(channels, parts, strict=True)
    ]
    return Level(*whole, slack=most, tasks=tuple(own))


def _residual(name: str, unit: str, size: Array) -> Residual:
    known = size[~np.isnan(size)]
    if not len(known):
        return Residual(name, unit, None, None, None)
    return Residual(name, unit, float(np.sqrt(np.mean(known**2))), float(known.max()), float(known[-1]))


def saturations(recording: Recording) -> list[Saturation]:
    """Rows at a bound, the one that was longest first."""
    period = recording.period if len(recording) > 1 else 0.0
    found = []
    for name, channel in recording.channels.items():
        if name.startswith("active/"):
            for code, side in ((LOWER, "lower"), (UPPER, "upper")):
                held = channel.values == code
                for k in np.flatnonzero(held.any(axis=0)):
                    level, row = name.removeprefix("active/"), channel.labels[k]
                    longest = _longest(held[:, k]) * period
                    found.append(Saturation(level, row, side, float(held[:, k].mean()), longest))
    return sorted(found, key=lambda each: -each.share)


def _longest(held: NDArray[np.bool_]) -> int:
    """Length of the longest run of True."""
    edges = np.flatnonzero(np.diff(np.concatenate(([False], held, [False]))))
    return int((edges[1::2] - edges[::2]).max(initial=0))


def spread(recording: Recording, name: str) -> dict[str, float | None]:
    """Median, 99th percentile and maximum of a channel; None where it has no values."""
    values = recording[name] if name in recording else np.zeros(0)
    values = values[np.isfinite(values)]
    if not len(values):
        return {"median": None, "p99": None, "max": None}
    median, high = np.percentile(values, [50, 99])
    return {"median": float(median), "p99": float(high), "max": float(values.max())}


def counts(recording: Recording, name: str) -> dict[str, int]:
    """How often each text of a channel occurs, the most frequent first.

    Empty texts do not count, and what follows a colon is no part of a name: ``"hold: the state has NaN"`` is a hold.
    """
    if name not in recording:
        return {}
    return dict(Counter(str(text).partition(":")[0] for text in recording[name] if text).most_common())
