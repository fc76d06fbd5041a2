"""The result of a run of inverse dynamics as text of fixed width."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_HEAD = (
    f"  {'':16}{'microseconds':^24}  {'x tsid':^27}  {'quiet':^12}  {'tasks':>7}  {'from ours':^14}\n"
    f"  {'contender':16}{'median':>7}{'p99':>8}{'max':>9}  {'median':>6}{'rounds':>14}{'p99':>7}"
    f"  {'median':>6}{'p99':>6}  {'met to':>7}  {'rad/s2':>7}{'N m':>7}"
)


def table(result: Mapping[str, Any]) -> str:
    """A block per robot: one line per contender, where its time goes, the bars, and who was skipped.

    "x tsid" is how many times longer than TSID a whole step takes; "rounds" is where nine of ten and one of ten rounds
    lie; "quiet" takes of each step the fastest pass. "Tasks met to" is the worst that balance, hand and torso miss of
    the acceleration they ask for; "from ours" is the root mean square of the difference to our strict answer.
    """
    return "\n\n".join(_robot(name, robot) for name, robot in result["robots"].items())


def _robot(name: str, robot: Mapping[str, Any]) -> str:
    contenders = robot["contenders"]
    lines = [f"whole steps of inverse dynamics on {name}: {robot['rounds']} rounds of {robot['steps']} steps", _HEAD]
    lines += [_contender(who, entry) for who, entry in contenders.items()]
    lines += _parts(contenders)
    lines += [f"  {who} is {entry['version']}" for who, entry in contenders.items()]
    lines += [f"  {who} does NOT do the job: {_reason(entry)}" for who, entry in _failing(contenders)]
    lines += [f"  skipped: {who} ({why})" for who, why in robot["skipped"].items()]
    lines += [f"  bar: strict {key} {_bar(bar)}" for key, bar in robot["bars"].items()]
    lines.append("  all bars are met" if robot["met"] else "  not all bars are met")
    return "\n".join(lines)


def _contender(name: str, entry: Mapping[str, Any]) -> str:
    times = entry["microseconds"]
    numbers = f"{times['median']:7.1f}{times['p99']:8.1f}{times['max']:9.1f}"
    ratio, quiet = entry["ratio"], entry["quiet_ratio"]
    if ratio is None:
        ratios = f"{'-':>6}{'-':>14}{'-':>7}  {'-':>6}{'-':>6}"
    else:
        spread = f"{ratio['low']:.2f}..{ratio['high']:.2f}"
        ratios = f"{ratio['median']:6.2f}{spread:>14}{ratio['p99']:7.2f}  {quiet['median']:6.2f}{quiet['p99']:6.2f}"
    missed = [entry["errors"].get(task) for task in ("balance", "hand", "torso")]
    met = "-" if None in missed else f"{max(missed):.1g}"
    apart = entry["from_ours"]
    difference = f"{'-':>7}{'-':>7}" if apart is None else f"{apart['acceleration']:7.2g}{apart['torque']:7.2g}"
    return f"  {name:16}{numbers}  {ratios}  {met:>7}  {difference}"


def _parts(contenders: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Where the time goes: microseconds and share of each part."""
    lines = []
    for name, entry in contenders.items():
        told = [f"{part} {value['microseconds']:.1f} ({value['share']:.0%})" for part, value in entry["parts"].items()]
        if told:
            lines.append(f"  {name}: {', '.join(told)}")
    return lines


def _failing(contenders: Mapping[str, Mapping[str, Any]]) -> list[tuple[str, Mapping[str, Any]]]:
    return [(name, entry) for name, entry in contenders.items() if not entry["does_the_job"]]


def _reason(entry: Mapping[str, Any]) -> str:
    return ", ".join(f"{key} {'not finite' if v is None else format(v, '.1e')}" for key, v in entry["errors"].items())


def _bar(bar: Mapping[str, Any]) -> str:
    if bar["met"] is None:
        return f"at most {bar['bar']:g} times tsid (goal {bar['goal']:g}): not measured"
    reached = ", goal too" if bar["met"] and bar["seen"] <= bar["goal"] else ""
    met = f"met{reached}" if bar["met"] else "NOT met"
    return f"at most {bar['bar']:g} times tsid (goal {bar['goal']:g}): {bar['seen']:.2f}, {met}"
