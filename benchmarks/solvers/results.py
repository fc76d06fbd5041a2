"""Evaluation of the measurements: times, ratios, failures and bars, as plain data and as a table of fixed width."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.solvers.contenders import KERNEL, REFERENCE, STRICT, SolverAnswer, SolverContender
from benchmarks.solvers.workloads import Workload
from poise.arrays import Array
from poise.solvers import Program, certificate

#: Largest ratios of median and 99th percentile of `strict` to those of `daqp weighted`.
BARS = {"median": 1.2, "p99": 6.0}
#: Largest violation of level 0 that is not a failure, in the unit of the rows.
VIOLATION_TOLERANCE = 1e-6
#: Largest residual of the certificate of a strict answer that is not a failure.
CERTIFICATE_TOLERANCE = 1e-8
#: Relative difference of the cost of a level, with one unit of cost for scale, up to which strict answers agree.
AGREEMENT_TOLERANCE = 1e-6
#: Counters of the kernel that are reported.
COUNTERS = ("iterations", "factorizations", "updates", "fits")
#: Figures of each contender that are stored because they are comparable between machines.
_STORED = ("ratio", "quiet_ratio", "solves", "failures", "counters", "agreement")
_HEAD = (
    f"  {'':18}{'microseconds':^35}  {'x daqp weighted':^15}  {'quiet passes':^15}\n"
    f"  {'contender':18}{'median':>8}{'p99':>9}{'max':>9}{'first':>9}  {'median':>7}{'p99':>8}  {'median':>7}{'p99':>8}"
    f"{'failures':>11}"
)


@dataclass
class Measurement:
    """Times and answers of one contender on one workload.

    Attributes:
        contender: the solver.
        nanoseconds: time of each solve (passes x steps).
        answers: answer of each solve, in the same arrangement.
    """

    contender: SolverContender
    nanoseconds: Array
    answers: list[list[SolverAnswer]] = field(default_factory=list)


def evaluate(workload: Workload, measurements: Sequence[Measurement]) -> dict[str, Any]:
    """Return the results of one workload as plain data."""
    programs = workload.programs
    by_name = {each.contender.name: each for each in measurements}
    reference = by_name.get(REFERENCE)
    optimum = by_name[STRICT].answers[-1] if STRICT in by_name else None
    results = {name: _contender_result(programs, measured, reference, optimum) for name, measured in by_name.items()}
    return {
        "name": workload.name,
        "source": workload.source,
        "variables": programs[0].variables,
        "rows": programs[0].rows,
        "levels": len(programs[0]),
        "steps": len(programs),
        "contenders": results,
        "bars": _bars(results.get(STRICT)),
    }


def _contender_result(
    programs: Sequence[Program],
    measured: Measurement,
    reference: Measurement | None,
    optimum: Sequence[SolverAnswer] | None,
) -> dict[str, Any]:
    residuals = _residuals(programs, measured) if measured.contender.name in (STRICT, KERNEL) else None
    result: dict[str, Any] = {
        "microseconds": {
            **_statistics(measured.nanoseconds),
            "first": float(np.median(measured.nanoseconds[:, 0]) / 1e3),
        },
        "ratio": _ratio(measured.nanoseconds, reference),
        "quiet_ratio": _ratio(measured.nanoseconds, reference, quiet=True),
        "solves": int(measured.nanoseconds.size),
        "failures": _failures(programs, measured, residuals),
    }
    if residuals is not None:
        result["counters"] = _counters(measured)
        result["certificate"] = max(residuals)
    elif measured.contender.strict and optimum is not None:
        result["agreement"] = _agreement(programs, measured.answers[-1], optimum)
    return result


def _statistics(nanoseconds: Array) -> dict[str, float]:
    values = nanoseconds.ravel() / 1e3
    return {
        "median": float(np.median(values)),
        "p99": float(np.percentile(values, 99)),
        "max": float(values.max()),
    }


def _ratio(nanoseconds: Array, reference: Measurement | None, quiet: bool = False) -> dict[str, float] | None:
    """Return median, p99 and maximum of times, each divided by that of the reference.

    With `quiet` only the fastest pass of each step counts, which excludes interruptions by other processes.
    """
    if reference is None:
        return None
    times, reference_times = nanoseconds, reference.nanoseconds
    if quiet:
        times, reference_times = times.min(axis=0), reference_times.min(axis=0)
    statistics, reference_statistics = _statistics(times), _statistics(reference_times)
    return {key: statistics[key] / reference_statistics[key] for key in statistics}


def _failures(programs: Sequence[Program], measured: Measurement, residuals: Sequence[float] | None) -> dict[str, int]:
    """Return the number of failed solves, by kind of failure; a solve can fail in several ways."""
    failures = {"total": 0, "flag": 0, "nonfinite": 0, "violation": 0}
    if residuals is not None:
        failures["certificate"] = 0
    for at, (program, answer) in enumerate(_programs_and_answers(programs, measured)):
        wrong = {"flag": not answer.ok, "nonfinite": not np.isfinite(answer.x).all()}
        slack = np.zeros(0) if wrong["nonfinite"] else program.slack(answer.x)[program.slice(0)]
        wrong["violation"] = np.abs(slack).max(initial=0.0) > VIOLATION_TOLERANCE
        if residuals is not None:
            wrong["certificate"] = not residuals[at] <= CERTIFICATE_TOLERANCE
        for failure, is_wrong in wrong.items():
            failures[failure] += bool(is_wrong)
        failures["total"] += any(wrong.values())
    return failures


def _programs_and_answers(programs: Sequence[Program], measured: Measurement) -> Iterator[tuple[Program, SolverAnswer]]:
    for answers in measured.answers:
        yield from zip(programs, answers, strict=True)


def _residuals(programs: Sequence[Program], measured: Measurement) -> list[float]:
    """Return the residual of the optimality certificate of every solve.

    Answers that are equal to the last bit, as in most passes, are evaluated once.
    """
    known: dict[tuple[int, bytes], float] = {}
    for program, answer in _programs_and_answers(programs, measured):
        key = id(program), answer.x.tobytes()
        if key not in known:
            known[key] = certificate(program, answer.x).residual
    return [known[id(program), answer.x.tobytes()] for program, answer in _programs_and_answers(programs, measured)]


def _counters(measured: Measurement) -> dict[str, dict[str, float]]:
    counted: dict[str, dict[str, float]] = {}
    for key in COUNTERS:
        values = [answer.counters[key] for answers in measured.answers for answer in answers if key in answer.counters]
        if values:
            counted[key] = {"median": float(np.median(values)), "max": int(max(values))}
    return counted


def _agreement(
    programs: Sequence[Program], answers: Sequence[SolverAnswer], optimum: Sequence[SolverAnswer]
) -> dict[str, Any]:
    """Return the number of steps on which the cost of every level is optimal, and the differences of the costs."""
    differences = []
    for program, answer, best in zip(programs, answers, optimum, strict=True):
        costs, optimal_costs = program.costs(answer.x), program.costs(best.x)
        differences.append(float(np.max(np.abs(costs - optimal_costs) / (1.0 + optimal_costs), initial=0.0)))
    finite = [difference for difference in differences if np.isfinite(difference)]
    return {
        "steps": sum(difference <= AGREEMENT_TOLERANCE for difference in finite),
        "of": len(differences),
        "median_difference": float(np.median(finite)) if finite else None,
        "largest_difference": max(finite, default=None),
    }


def _bars(strict: Mapping[str, Any] | None) -> dict[str, dict[str, Any]]:
    """Return the bars, the measured ratios, ratios in quiet passes (for information), and whether each bar is met."""
    measured, quiet = ((strict or {}).get(key) or {} for key in ("ratio", "quiet_ratio"))
    return {
        key: {
            "bar": bar,
            "measured": measured.get(key),
            "quiet": quiet.get(key),
            "passed": bool(measured.get(key, np.inf) <= bar),
        }
        for key, bar in BARS.items()
    }


def format_table(result: Mapping[str, Any]) -> str:
    """Return a text table: one block per workload, one line per contender, then the bars.

    Times (µs) depend on the machine; compare only ratios between machines. "First" is the cold start of a pass. "Quiet"
    is over the fastest pass of each step, which excludes interruptions by other processes.
    """
    blocks = [_workload_block(workload) for workload in result["workloads"]]
    closing = [f"missing: {name} ({why})" for name, why in result["missing"].items()]
    closing.append(f"{result['repeat']} passes; failures are solves that went wrong, of all in these passes")
    closing.append("all bars are met" if result["passed"] else "not all bars are met")
    return "\n\n".join([*blocks, "\n".join(closing)])


def _workload_block(workload: Mapping[str, Any]) -> str:
    title = (
        f"{workload['name']}: {workload['variables']} variables, {workload['rows']} rows, "
        f"{workload['levels']} levels, {workload['steps']} steps, {workload['source']}"
    )
    lines = [title, _HEAD]
    lines += [_contender_line(name, entry) for name, entry in workload["contenders"].items()]
    for name, entry in workload["contenders"].items():
        if "counters" in entry and name == "strict":
            counted = ", ".join(f"{key} {n['median']:g} ({n['max']:g})" for key, n in entry["counters"].items())
            lines.append(f"  strict, median (max) per solve: {counted}")
            lines.append(f"  strict, largest residual of the certificate of optimality: {entry['certificate']:.1e}")
        if "agreement" in entry:
            agreement = entry["agreement"]
            lines.append(
                f"  {name} agrees with strict on {agreement['steps']} of {agreement['of']} steps; "
                f"costs differ by {_format_difference(agreement['median_difference'])} at the median"
            )
    bars = workload["bars"].items()
    lines.append("  bars: " + "; ".join(f"strict {key} {_format_bar(bar)}" for key, bar in bars))
    return "\n".join(lines)


def _contender_line(name: str, entry: Mapping[str, Any]) -> str:
    times = entry["microseconds"]
    numbers = f"{times['median']:8.1f}" + "".join(f"{times[key]:9.1f}" for key in ("p99", "max", "first"))
    ratios = "".join(_ratios(entry[key]) for key in ("ratio", "quiet_ratio"))
    return f"  {name:18}{numbers}{ratios}{entry['failures']['total']:6d}/{entry['solves']:<5d}".rstrip()


def _ratios(ratio: Mapping[str, float] | None) -> str:
    return f"  {'-':>7}{'-':>8}" if ratio is None else f"  {ratio['median']:7.2f}{ratio['p99']:8.2f}"


def _format_difference(number: float | None) -> str:
    return "any number" if number is None else f"{number:.1e}"


def _format_bar(bar: Mapping[str, Any]) -> str:
    measured = "not measured" if bar["measured"] is None else f"{bar['measured']:.2f}"
    return f"{measured} of {bar['bar']:g} allowed, {'met' if bar['passed'] else 'NOT met'}"


def save_results(result: Mapping[str, Any], figures: Path | None, baseline: Path | None) -> None:
    """Write a result to one file and its `ratios_and_counts` to another; None: do not write."""
    if figures is not None:
        figures.write_text(json.dumps(result) + "\n", encoding="utf-8")
    if baseline is not None:
        baseline.write_text(json.dumps(ratios_and_counts(result), indent=1) + "\n", encoding="utf-8")


def ratios_and_counts(result: Mapping[str, Any]) -> dict[str, Any]:
    """Return the result without times and without facts about the machine, with ratios to three digits."""
    workloads = []
    for workload in result["workloads"]:
        contenders = {
            name: {key: _round_numbers(entry[key]) for key in _STORED if key in entry}
            for name, entry in workload["contenders"].items()
        }
        workloads.append({**workload, "contenders": contenders, "bars": _round_numbers(workload["bars"])})
    stored = ("benchmark", "repeat", "versions", "missing", "passed")
    return {**{key: result[key] for key in stored}, "workloads": workloads, "peers": _peer_ratios(result["peers"])}


def _peer_ratios(measured: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """Return ratios and versions of `benchmarks.peers`, by robot for dynamics; None if not measured."""
    if measured is None:
        return None
    stored_keys = ("ratio", "quiet_ratio", "errors", "difference_to_poise")
    contenders = {
        name: {"version": entry["version"], **{key: _round_numbers(entry[key]) for key in stored_keys if key in entry}}
        for name, entry in measured["contenders"].items()
    }
    dynamics = measured.get("dynamics")
    robots = {} if dynamics is None else {name: _peer_ratios(robot) for name, robot in dynamics["robots"].items()}
    stored = {"contenders": contenders, "bars": _round_numbers(measured["bars"]), "passed": measured["passed"]}
    return {**stored, "dynamics": robots} if robots else stored


def _round_numbers(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _round_numbers(inner) for key, inner in value.items()}
    return float(f"{value:.3g}") if isinstance(value, float) else value
