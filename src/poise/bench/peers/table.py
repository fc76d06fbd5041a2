"""The result of a run of whole steps as text of fixed width."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from poise.bench.peers.dynamics.table import table as dynamics_table

_HEAD = (
    f"  {'':18}{'microseconds':^27}  {'x ours':^31}  {'worst error':>22}\n"
    f"  {'contender':18}{'median':>9}{'p99':>9}{'max':>9}  {'median':>8}{'rounds':>14}{'p99':>9}  "
    f"{'hand mm':>11}{'feet mm':>11}"
)


def table(result: Mapping[str, Any]) -> str:
    """One line per contender, where its time goes, the bars, and who was skipped.

    "x ours" is how many times longer than ours a whole step takes; "rounds" is where nine of ten and one of ten rounds
    lie. Times are those of this run on this machine; only the ratios mean something elsewhere. If inverse dynamics were
    measured too, their tables follow.
    """
    contenders = result["contenders"]
    lines = [f"whole steps of inverse kinematics on G1: {result['rounds']} rounds of {result['steps']} steps", _HEAD]
    lines += [_contender(name, entry) for name, entry in contenders.items()]
    lines += [f"  {name}: {_parts(entry['parts'])}" for name, entry in contenders.items() if entry["parts"]]
    lines += [f"  {name} is {entry['version']}" for name, entry in contenders.items()]
    lines += [f"  {name} does NOT do the job: its errors are too large" for name in _failing(contenders)]
    lines += [f"  skipped: {name} ({why})" for name, why in result["skipped"].items()]
    lines += [f"  bar: {_bar(name, bar)}" for name, bar in result["bars"].items()]
    lines.append("  all bars are met" if result["met"] else "  not all bars are met")
    dynamics = [f"\n{dynamics_table(result['dynamics'])}"] if result.get("dynamics") else []
    return "\n".join([*lines, *dynamics])


def _contender(name: str, entry: Mapping[str, Any]) -> str:
    times = "".join(f"{entry['microseconds'][key]:9.1f}" for key in ("median", "p99", "max"))
    ratio = entry["ratio"]
    if ratio is None:
        ratios = f"{'-':>8}{'-':>14}{'-':>9}"
    else:
        ratios = f"{ratio['median']:8.2f}{_interval(ratio):>14}{ratio['p99']:9.2f}"
    errors = "".join(_millimetres(entry["errors"].get(key)) for key in ("hand", "feet"))
    return f"  {name:18}{times}  {ratios}  {errors}"


def _interval(ratio: Mapping[str, float]) -> str:
    return f"{ratio['low']:.2f}..{ratio['high']:.2f}"


def _millimetres(error: float | None) -> str:
    return f"{'-':>11}" if error is None else f"{1e3 * error:11.2g}"


def _parts(parts: Mapping[str, Mapping[str, float]]) -> str:
    return ", ".join(f"{part} {value['share']:.0%} ({value['microseconds']:.1f})" for part, value in parts.items())


def _failing(contenders: Mapping[str, Mapping[str, Any]]) -> list[str]:
    return [name for name, entry in contenders.items() if not entry["does_the_job"]]


def _bar(name: str, bar: Mapping[str, Any]) -> str:
    seen = "not measured" if bar["met"] is None else f"{bar['seen']:.2f}, {'met' if bar['met'] else 'NOT met'}"
    return f"{name} at least {bar['bar']:g} times ours: {seen}"
