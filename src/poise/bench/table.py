"""The result of a benchmark as text of fixed width."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from poise.bench.peers.table import table as peers_table

_HEAD = (
    f"  {'':18}{'microseconds':^35}  {'x daqp weighted':^15}  {'quiet passes':^15}\n"
    f"  {'contender':18}{'median':>8}{'p99':>9}{'max':>9}{'first':>9}  {'median':>7}{'p99':>8}  {'median':>7}{'p99':>8}"
    f"{'failures':>11}"
)


def table(result: Mapping[str, Any]) -> str:
    """A readable table: one block per workload, one line per contender, then the bars.

    Times are microseconds of this run on this machine; only the ratios mean something elsewhere. "First" is the cold
    start of a pass. "Quiet" takes of each step the fastest pass, which leaves out what other processes did.
    """
    blocks = [_workload(workload) for workload in result["workloads"]]
    closing = [f"missing: {name} ({why})" for name, why in result["missing"].items()]
    closing.append(f"{result['repeat']} passes; failures are solves that went wrong, of all in these passes")
    closing.append("all bars are met" if result["met"] else "not all bars are met")
    whole = [peers_table(result["peers"])] if result["peers"] is not None else []
    return "\n\n".join([*blocks, "\n".join(closing), *whole])


def _workload(workload: Mapping[str, Any]) -> str:
    title = (
        f"{workload['name']}: {workload['variables']} variables, {workload['rows']} rows, "
        f"{workload['levels']} levels, {workload['steps']} steps, {workload['source']}"
    )
    lines = [title, _HEAD]
    lines += [_contender(name, entry) for name, entry in workload["contenders"].items()]
    for name, entry in workload["contenders"].items():
        if "counters" in entry and name == "strict":
            counted = ", ".join(f"{key} {n['median']:g} ({n['max']:g})" for key, n in entry["counters"].items())
            lines.append(f"  strict, median (max) per solve: {counted}")
            lines.append(f"  strict, largest residual of the certificate of optimality: {entry['certificate']:.1e}")
        if "agreement" in entry:
            agreement = entry["agreement"]
            lines.append(
                f"  {name} agrees with strict on {agreement['steps']} of {agreement['of']} steps; "
                f"costs differ by {_size(agreement['median_difference'])} at the median"
            )
    bars = workload["bars"].items()
    lines.append("  bars: " + "; ".join(f"strict {key} {_bar(bar)}" for key, bar in bars))
    return "\n".join(lines)


def _contender(name: str, entry: Mapping[str, Any]) -> str:
    times = entry["microseconds"]
    numbers = f"{times['median']:8.1f}" + "".join(f"{times[key]:9.1f}" for key in ("p99", "max", "first"))
    ratios = "".join(_ratios(entry[key]) for key in ("ratio", "quiet_ratio"))
    return f"  {name:18}{numbers}{ratios}{entry['failures']['total']:6d}/{entry['solves']:<5d}".rstrip()


def _ratios(ratio: Mapping[str, float] | None) -> str:
    return f"  {'-':>7}{'-':>8}" if ratio is None else f"  {ratio['median']:7.2f}{ratio['p99']:8.2f}"


def _size(number: float | None) -> str:
    return "any number" if number is None else f"{number:.1e}"


def _bar(bar: Mapping[str, Any]) -> str:
    seen = "not measured" if bar["seen"] is None else f"{bar['seen']:.2f}"
    return f"{seen} of {bar['bar']:g} allowed, {'met' if bar['met'] else 'NOT met'}"
