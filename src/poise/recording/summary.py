"""A recording in a page of text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from poise.recording import digest

if TYPE_CHECKING:
    from poise.recording.recording import Recording

#: How many rows at a bound are told.
SHOWN = 8


def summary(recording: Recording) -> str:
    """Residual of each level and its tasks, tightest limit, rows at a bound, times, fallbacks."""
    lines = [_title(recording)]
    if not recording.complete:
        lines.append("incomplete: the file was cut off; this is its intact part")
    elif recording.provenance.get("ended", "finished") != "finished":
        lines.append(f"ended early: {recording.provenance['ended']}")
    if len(recording):
        lines += [*_levels(recording), *_limits(recording), *_times(recording), *_incidents(recording)]
    return "\n".join(lines)


def _title(recording: Recording) -> str:
    facts = recording.provenance
    controller = facts.get("controller")
    by = f", {controller['name']}" if isinstance(controller, Mapping) and controller.get("name") else ""
    every = f" every {1e3 * recording.period:.4g} ms" if len(recording) > 1 else ""
    made = ", ".join(
        str(word) for word in (facts.get("poise") and f"poise {facts['poise']}", facts.get("date")) if word
    )
    title = (
        f"{facts.get('robot', 'recording')}{by}: {recording.duration:.2f} s, {_count(len(recording), 'sample')}{every}"
    )
    return title + (f" ({made})" if made else "")


def _levels(recording: Recording) -> list[str]:
    table: list[tuple[str, ...]] = [("level, task", "rms", "max", "final", "unit", "slack")]
    for level in digest.levels(recording):
        table.append((level.name, *map(_number, level[2:5]), level.unit, _slack(recording, level)))
        table += [(f"  {task.name}", *map(_number, task[2:5]), task.unit, "") for task in level.tasks]
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
    held = digest.saturations(recording)
    if held:
        lines.append("at a bound:")
        for each in held[:SHOWN]:
            longest = f", for {each.longest:.3g} s at longest" if each.longest else ""
            lines.append(
                f"  {each.row} ({each.level}): {each.side} bound {100 * each.share:.3g} % of the time{longest}"
            )
        if len(held) > SHOWN:
            lines.append(f"  ... and {len(held) - SHOWN} more")
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
    steps = digest.spread(recording, "solver/iterations")
    if steps["max"] is not None:
        statuses = ", ".join(f"{name} {number}" for name, number in digest.counts(recording, "solver/status").items())
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


def _slack(recording: Recording, level: digest.Level) -> str:
    """The largest slack of a level, in the unit of its rows, which is not that of its errors."""
    if level.slack is None:
        return "-"
    return f"{_number(level.slack)} {recording.units[f'slack/{level.name}']}".rstrip()


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.3g}"
