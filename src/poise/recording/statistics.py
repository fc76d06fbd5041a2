"""Statistics of a recording: residuals of levels, saturated rows, computing times, and a summary as text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from poise.arrays import Array
from poise.parsing import is_number
from poise.recording.channel import Channel, join_units
from poise.solvers import LOWER, UPPER, negligible

if TYPE_CHECKING:
    from poise.recording.recording import Recording


class Residual(NamedTuple):
    """Residual of a task: root mean square, maximum and last value of the error |e(t)|; None if it was never active.

    At time t, e(t) stacks the errors of the rows; rms is ``sqrt(mean_t |e(t)|^2)`` over the samples in which the task
    was part of the hierarchy.
    """

    name: str
    unit: str
    rms: float | None
    max: float | None
    final: float | None


class LevelResidual(NamedTuple):
    """Residual of all tasks of a level together, and of each task. If no task errors are recorded, it is the slack.

    Tasks of different units are stacked without scaling; the unit then lists all of them: ``"m, rad"``. The channels of
    the level are ``slack/KEY``, ``active/KEY`` and ``error/KEY/...``.
    """

    name: str
    unit: str
    rms: float | None
    max: float | None
    final: float | None
    slack: float | None
    tasks: tuple[Residual, ...]
    key: str


class Saturation(NamedTuple):
    """A row at one of its bounds: ``side`` is "lower" or "upper", ``share`` the fraction of samples from 0 to 1,
    ``longest`` the longest uninterrupted time (s).
    """

    level: str
    row: str
    side: str
    share: float
    longest: float


class Overruns(NamedTuple):
    """Control steps that took longer than the control period.

    Attributes:
        ticks: their number.
        steps: number of recorded control steps.
        period_ms: control period (ms).
        worst_ms, worst_time_s: computing time (ms) of the slowest of them, and when it was (s); None if there are none.
    """

    ticks: int
    steps: int
    period_ms: float
    worst_ms: float | None
    worst_time_s: float | None

    def __str__(self) -> str:
        """Return a sentence without a full stop."""
        period = f"the control period of {self.period_ms:.4g} ms"
        if self.worst_ms is None:
            return f"all {_count(self.steps, 'control step')} took less than {period}"
        return (
            f"{self.ticks} of {_count(self.steps, 'control step')} took longer than {period}, "
            f"the slowest {self.worst_ms:.3g} ms at {self.worst_time_s:.3f} s"
        )


def level_residuals(recording: Recording) -> list[LevelResidual]:
    """Return the residuals of the levels in the order of the hierarchy, each with its tasks."""
    tasks: dict[str, list[Channel]] = {
        key.removeprefix("slack/"): [] for key in recording.channels if key.startswith("slack/")
    }
    for key, channel in recording.channels.items():
        kind, *names = key.split("/")
        if kind == "error" and len(names) > 1 and channel.labels:
            tasks.setdefault(names[0], []).append(channel)
    return [_level(recording, key, channels) for key, channels in tasks.items()]


def _level(recording: Recording, key: str, channels: list[Channel]) -> LevelResidual:
    slack_channel = recording.channels.get(f"slack/{key}")
    slack = np.zeros(0) if slack_channel is None else slack_channel.values
    max_slack = _residual("", "", np.abs(slack)).max
    name = label_part(channels[0] if slack_channel is None else slack_channel, 1)
    if not channels:
        total = _residual(name, "" if slack_channel is None else slack_channel.unit, slack)
        return LevelResidual(*total, slack=max_slack, tasks=(), key=key)
    parts = [np.sum(channel.values**2, axis=1) for channel in channels]
    present = ~np.all(np.isnan(parts), axis=0)
    size = np.where(present, np.sqrt(np.nansum(parts, axis=0)), np.nan)
    total = _residual(name, join_units(channel.unit for channel in channels), size)
    task_residuals = [
        _residual(label_part(channel, 2), channel.unit, np.sqrt(part))
        for channel, part in zip(channels, parts, strict=True)
    ]
    return LevelResidual(*total, slack=max_slack, tasks=tuple(task_residuals), key=key)


def label_part(channel: Channel, index: int) -> str:
    """Return the level (index 1) or the task (2) from the label of a channel: ``"error/reach/position of hand"``.

    If the label does not have this form, the name is taken from the key.
    """
    for text in (channel.label, channel.key):
        parts = text.split("/", 2)
        if len(parts) > index and parts[0] == channel.key.split("/")[0]:
            return parts[index]
    return channel.label


def _residual(name: str, unit: str, size: Array) -> Residual:
    known = size[~np.isnan(size)]
    if not len(known):
        return Residual(name, unit, None, None, None)
    return Residual(name, unit, float(np.sqrt(np.mean(known**2))), float(known.max()), float(known[-1]))


def saturations(recording: Recording) -> list[Saturation]:
    """Return the rows at a bound, the largest share of samples first."""
    period = recording.period if recording.samples > 1 else 0.0
    entries = []
    for key, channel in recording.channels.items():
        if key.startswith("active/"):
            for code, side in ((LOWER, "lower"), (UPPER, "upper")):
                saturated = channel.values == code
                for k in np.flatnonzero(saturated.any(axis=0)):
                    level, row = label_part(channel, 1), channel.labels[k]
                    longest = _longest_run(saturated[:, k]) * period
                    entries.append(Saturation(level, row, side, float(saturated[:, k].mean()), longest))
    return sorted(entries, key=lambda saturation: -saturation.share)


def _longest_run(saturated: NDArray[np.bool_]) -> int:
    """Return the length of the longest run of True."""
    edges = np.flatnonzero(np.diff(np.concatenate(([False], saturated, [False]))))
    return int((edges[1::2] - edges[::2]).max(initial=0))


def percentiles(recording: Recording, name: str) -> dict[str, float | None]:
    """Return median, 99th percentile and maximum of a channel; None if it has no values."""
    values = recording[name] if name in recording else np.zeros(0)
    values = values[np.isfinite(values)]
    if not len(values):
        return {"median": None, "p99": None, "max": None}
    median, high = np.percentile(values, [50, 99])
    return {"median": float(median), "p99": float(high), "max": float(values.max())}


def overruns(recording: Recording) -> Overruns | None:
    """Return the control steps that took longer than the control period; None without computing times or period.

    The period is that of the controller, which may be shorter than that of the samples.
    """
    controller = recording.provenance.get("controller")
    period = controller.get("period") if isinstance(controller, Mapping) else None
    period_ms = 1e3 * (period if is_number(period) and period > 0.0 else recording.period)
    times = recording["control/milliseconds"] if "control/milliseconds" in recording else np.zeros(0)
    known = np.isfinite(times)
    if not known.any() or not period_ms > 0.0:
        return None
    slow = np.flatnonzero(known & (times > period_ms))
    if not len(slow):
        return Overruns(0, int(known.sum()), period_ms, None, None)
    worst = slow[np.argmax(times[slow])]
    return Overruns(len(slow), int(known.sum()), period_ms, float(times[worst]), float(recording.time[worst]))


def count_texts(recording: Recording, name: str) -> dict[str, int]:
    """Count how often each text of a channel occurs, the most frequent first.

    Empty texts are skipped, and text after a colon is ignored: ``"hold: the state has NaN"`` counts as ``"hold"``.
    """
    if name not in recording:
        return {}
    return dict(Counter(str(text).partition(":")[0] for text in recording[name] if text).most_common())


# -- Summary as text -------------------------------------------------------------------------------------------------


#: Largest number of rows at a bound listed in a summary.
MAX_ROWS_SHOWN = 8


def summary(recording: Recording) -> str:
    """Summarize a recording: fall, residuals of levels and tasks, tightest limit, rows at a bound, times, fallbacks."""
    lines = [_title(recording)]
    if not recording.complete:
        lines.append("incomplete: the file is truncated; this is its intact part")
    elif recording.provenance.get("outcome", "finished") != "finished":
        lines.append(f"ended early: {recording.provenance['outcome']}")
    lines += _plant_incidents(recording)
    if recording.samples:
        lines += [*_levels(recording), *_limits(recording), *_times(recording), *_incidents(recording)]
    return "\n".join(lines)


def _title(recording: Recording) -> str:
    facts = recording.provenance
    controller = facts.get("controller")
    by = f", {controller['name']}" if isinstance(controller, Mapping) and controller.get("name") else ""
    every = f" every {1e3 * recording.period:.4g} ms" if recording.samples > 1 else ""
    origin = ", ".join(
        str(word) for word in (facts.get("poise") and f"poise {facts['poise']}", facts.get("date")) if word
    )
    samples = _count(recording.samples, "sample")
    title = f"{facts.get('robot', 'recording')}{by}: {recording.duration:.2f} s, {samples}{every}"
    return title + (f" ({origin})" if origin else "")


def _plant_incidents(recording: Recording) -> list[str]:
    """Return the fall and the notes of the plant, one line each."""
    fall, notes = recording.provenance.get("fall"), recording.provenance.get("plant_notes")
    lines = [str(fall["reason"])] if isinstance(fall, Mapping) and fall.get("reason") else []
    return lines + [f"plant: {note}" for note in notes or () if isinstance(notes, list)]


def _levels(recording: Recording) -> list[str]:
    table: list[tuple[str, ...]] = [("level, task", "rms", "max", "final", "unit", "slack")]
    for level in level_residuals(recording):
        table.append((level.name, *_numbers(level), level.unit, _slack(recording, level)))
        table += [(f"  {task.name}", *_numbers(task), task.unit, "") for task in level.tasks]
    if len(table) == 1:
        return []
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    align = (str.ljust, str.rjust, str.rjust, str.rjust, str.ljust, str.ljust)
    return [
        "  ".join(to(word, width) for to, word, width in zip(align, line, widths, strict=True)).rstrip()
        for line in table
    ]


def _limits(recording: Recording) -> list[str]:
    lines = []
    if "joint_limit/margin" in recording:
        margin = recording["joint_limit/margin"]
        if not np.isnan(margin).all():
            at = int(np.nanargmin(margin))
            joint, _, side = str(recording["joint_limit/nearest"][at]).rpartition(" ")
            reach = f"{abs(margin[at]):.3g} {recording.units.get(f'q/{joint}', '')}".rstrip()
            where = f"comes within {reach} of" if margin[at] >= 0.0 else f"goes {reach} beyond"
            lines.append(f"tightest limit: {joint} {where} its {side} limit, at {recording.time[at]:.3f} s")
    saturated = saturations(recording)
    if saturated:
        lines.append("at a bound:")
        for saturation in saturated[:MAX_ROWS_SHOWN]:
            longest = f", for {saturation.longest:.3g} s at longest" if saturation.longest else ""
            lines.append(
                f"  {saturation.row} ({saturation.level}): {saturation.side} bound "
                f"{100 * saturation.share:.3g} % of the time{longest}"
            )
        if len(saturated) > MAX_ROWS_SHOWN:
            lines.append(f"  ... and {len(saturated) - MAX_ROWS_SHOWN} more")
    else:
        lines.append("at a bound: no row")
    return lines


def _times(recording: Recording) -> list[str]:
    lines = []
    for what in ("control", "solver"):
        spread = recording.milliseconds(what)
        if spread["max"] is not None:
            values = recording[f"{what}/milliseconds"]
            at = recording.time[int(np.nanargmax(values))]
            lines.append(
                f"{what}: median {spread['median']:.3g} ms, p99 {spread['p99']:.3g} ms, "
                f"slowest {spread['max']:.3g} ms (at {at:.3f} s)"
            )
    late = overruns(recording)
    if late is not None:
        lines.append(f"real time: {late}")
    steps = percentiles(recording, "solver/iterations")
    if steps["max"] is not None:
        statuses = ", ".join(f"{name} {number}" for name, number in count_texts(recording, "solver/status").items())
        lines.append(f"iterations: median {steps['median']:g}, p99 {steps['p99']:g}, most {steps['max']:g}; {statuses}")
    return lines


def _incidents(recording: Recording) -> list[str]:
    used = ", ".join(f"{name} {_count(number, 'time')}" for name, number in recording.fallbacks().items())
    if used:
        texts = recording["control/fallback"]
        at = int(np.flatnonzero(texts != "")[0])
        used += f" (first at {recording.time[at]:.3f} s: {texts[at]})"
    return [f"fallbacks: {used or 'none'}", f"non-finite commands: {recording.nonfinite_commands()}"]


def _count(number: int, what: str) -> str:
    return f"{number} {what}" + ("" if number == 1 else "s")


def _slack(recording: Recording, level: LevelResidual) -> str:
    """Format the largest slack of a level, in the unit of its rows, which differs from that of its errors."""
    if level.slack is None:
        return "-"
    unit = recording.units[f"slack/{level.key}"]
    return "met" if level.slack <= negligible(unit) else f"{level.slack:.3g} {unit}".rstrip()


def _numbers(residual: Residual | LevelResidual) -> list[str]:
    """Format rms, maximum and final value of an error; one that is negligible in its unit is only said to be below."""
    threshold = negligible(residual.unit)
    return [
        "-" if value is None else f"<{threshold:g}" if 0.0 < value <= threshold else f"{value:.3g}"
        for value in (residual.rms, residual.max, residual.final)
    ]
