"""What the measurements mean: times, ratios, failures, and whether the bars are met. All of it is plain data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from poise.bench.contender import KERNEL, REFERENCE, STRICT, Answer
from poise.bench.measure import Track
from poise.bench.workloads import Workload
from poise.solvers import Array, Program, certificate

#: Strict against `daqp weighted`: how many times its median and its 99th percentile are allowed.
BARS = {"median": 1.2, "p99": 6.0}
#: Violating level 0 by more than this, in the unit of the rows, is a failure.
VIOLATION = 1e-6
#: A strict answer whose certificate leaves more than this is a failure.
CERTIFIED = 1e-8
#: Relative difference of the cost of a level, with one unit of cost for scale, up to which strict answers agree.
AGREEMENT = 1e-6
#: What the kernel counts that is worth telling.
COUNTERS = ("iterations", "factorizations", "updates", "fits")


def judged(workload: Workload, tracks: Sequence[Track]) -> dict[str, Any]:
    """The results of one workload."""
    programs = workload.programs
    by_name = {track.contender.name: track for track in tracks}
    reference = by_name.get(REFERENCE)
    optimum = by_name[STRICT].answers[-1] if STRICT in by_name else None
    results = {name: _contender(programs, track, reference, optimum) for name, track in by_name.items()}
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


def _contender(
    programs: Sequence[Program], track: Track, reference: Track | None, optimum: Sequence[Answer] | None
) -> dict[str, Any]:
    residuals = _residuals(programs, track) if track.contender.name in (STRICT, KERNEL) else None
    result: dict[str, Any] = {
        "microseconds": {**_statistics(track.nanoseconds), "first": float(np.median(track.nanoseconds[:, 0]) / 1e3)},
        "ratio": _ratio(track.nanoseconds, reference),
        "quiet_ratio": _ratio(track.nanoseconds, reference, quiet=True),
        "solves": int(track.nanoseconds.size),
        "failures": _failures(programs, track, residuals),
    }
    if residuals is not None:
        result["counters"] = _counters(track)
        result["certificate"] = max(residuals)
    elif track.contender.strict and optimum is not None:
        result["agreement"] = _agreement(programs, track.answers[-1], optimum)
    return result


def _statistics(nanoseconds: Array) -> dict[str, float]:
    values = nanoseconds.ravel() / 1e3
    return {
        "median": float(np.median(values)),
        "p99": float(np.percentile(values, 99)),
        "max": float(values.max()),
    }


def _ratio(nanoseconds: Array, reference: Track | None, quiet: bool = False) -> dict[str, float] | None:
    """Median, p99 and max over those of the reference.

    Quiet: of each step only the fastest pass, which leaves out what other processes did meanwhile.
    """
    if reference is None:
        return None
    own, other = nanoseconds, reference.nanoseconds
    if quiet:
        own, other = own.min(axis=0), other.min(axis=0)
    ours, theirs = _statistics(own), _statistics(other)
    return {key: ours[key] / theirs[key] for key in ours}


def _failures(programs: Sequence[Program], track: Track, residuals: Sequence[float] | None) -> dict[str, int]:
    """Solves that went wrong, and in which ways; one solve can go wrong in several."""
    failures = {"total": 0, "flag": 0, "nonfinite": 0, "violation": 0}
    if residuals is not None:
        failures["certificate"] = 0
    for at, (program, answer) in enumerate(_solves(programs, track)):
        wrong = {"flag": not answer.ok, "nonfinite": not np.isfinite(answer.x).all()}
        slack = np.zeros(0) if wrong["nonfinite"] else program.slack(answer.x)[program.slice(0)]
        wrong["violation"] = np.abs(slack).max(initial=0.0) > VIOLATION
        if residuals is not None:
            wrong["certificate"] = not residuals[at] <= CERTIFIED
        for way, happened in wrong.items():
            failures[way] += bool(happened)
        failures["total"] += any(wrong.values())
    return failures


def _solves(programs: Sequence[Program], track: Track) -> Iterator[tuple[Program, Answer]]:
    for answers in track.answers:
        yield from zip(programs, answers, strict=True)


def _residuals(programs: Sequence[Program], track: Track) -> list[float]:
    """Residual of the certificate for every solve; most passes repeat the answers of the first to the last bit."""
    known: dict[tuple[int, bytes], float] = {}
    for program, answer in _solves(programs, track):
        key = id(program), answer.x.tobytes()
        if key not in known:
            known[key] = certificate(program, answer.x).residual
    return [known[id(program), answer.x.tobytes()] for program, answer in _solves(programs, track)]


def _counters(track: Track) -> dict[str, dict[str, float]]:
    counted: dict[str, dict[str, float]] = {}
    for key in COUNTERS:
        values = [answer.counters[key] for answers in track.answers for answer in answers if key in answer.counters]
        if values:
            counted[key] = {"median": float(np.median(values)), "max": int(max(values))}
    return counted


def _agreement(programs: Sequence[Program], answers: Sequence[Answer], optimum: Sequence[Answer]) -> dict[str, Any]:
    """On how many steps the cost of every level is that of the strict optimum, and by how much it differs."""
    differences = []
    for program, answer, best in zip(programs, answers, optimum, strict=True):
        costs, least = program.costs(answer.x), program.costs(best.x)
        differences.append(float(np.max(np.abs(costs - least) / (1.0 + least), initial=0.0)))
    finite = [difference for difference in differences if np.isfinite(difference)]
    return {
        "steps": sum(difference <= AGREEMENT for difference in finite),
        "of": len(differences),
        "median_difference": float(np.median(finite)) if finite else None,
        "largest_difference": max(finite, default=None),
    }


def _bars(strict: Mapping[str, Any] | None) -> dict[str, dict[str, Any]]:
    """The bars, what was seen, what was seen in quiet passes (for information), and whether each is met."""
    seen, quiet = ((strict or {}).get(key) or {} for key in ("ratio", "quiet_ratio"))
    return {
        key: {"bar": bar, "seen": seen.get(key), "quiet": quiet.get(key), "met": bool(seen.get(key, np.inf) <= bar)}
        for key, bar in BARS.items()
    }
