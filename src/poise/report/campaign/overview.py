"""Overview: what was run, where, and how it ended."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from poise.campaign.table import COSTS, OUTCOMES
from poise.report.campaign.interval import share
from poise.report.campaign.kept import Kept
from poise.report.campaign.runs import Runs
from poise.report.campaign.words import named, several, titled, valued
from poise.report.page.html import NONE, note, number, percent, table, wordy
from poise.report.page.section import Section

ENDED = {
    "succeeded": "the motion did what was asked",
    "failed": "it ran, and the motion failed: it fell, or a target was missed; or its input was refused",
    "error": "an exception that nobody expected: a defect of Poise",
    "crashed": "its process died",
    "timeout": "it took longer than a run may, and was stopped",
    "memory": "it took more memory than a run may, and was stopped",
}
#: Costs that are no measurements, or that are told elsewhere.
TOLD = ("run", "attempts", "worker", "memory_mb")


def overview(runs: Runs, kept: Mapping[int, Kept]) -> Section:
    """Facts, outcomes and costs."""
    return Section("Overview", "".join([_notes(runs), _facts(runs), _outcomes(runs), _costs(runs)]))


def _notes(runs: Runs) -> str:
    results = runs.results
    if not len(runs):
        return note(f"No run is done yet, of {results.planned} planned: there is nothing to show but the plan.")
    if not results.finished:
        rest = results.planned - len(runs)
        return note(
            f"The campaign is not finished: {rest} of {several(results.planned, 'run')} "
            f"{'is' if rest == 1 else 'are'} still to come. The same command again does the rest."
        )
    return ""


def _facts(runs: Runs) -> str:
    results, facts = runs.results, runs.results.facts
    good = int(runs.succeeded.sum())
    memory = _numbers(facts.get("worker_memory_mb"))
    rate = facts.get("runs_per_second")
    fixed = [name for name in runs.parameters if name not in runs.varied]
    first = {name: results[name][0] for name in fixed} if len(runs) else {}
    known = {name: value for name, value in first.items() if value is not None}
    alike = [f"{titled(name)} {valued(value, runs.parameters[name])}" for name, value in known.items()]
    rows = {
        "behavior": _said(facts.get("behavior")),
        "runs": f"{len(runs)} of {results.planned} planned",
        "succeeded (95 % interval)": share(good, len(runs)),
        "floor": _floor(facts.get("floor")),
        "varied": ", ".join(titled(name) for name in runs.varied) or ("nothing but the seed" if len(runs) else NONE),
        "the same in all": ", ".join(alike) or NONE,
        "size": _said(facts.get("size")),
        "started": _said(facts.get("started")).partition("+")[0].replace("T", " "),
        "engine": _said(facts.get("engine")),
        "workers": _said(facts.get("workers")),
        "took": _duration(facts.get("seconds")),
        "throughput": f"{number(float(rate))} runs/s" if isinstance(rate, int | float) else NONE,
        "largest memory of a worker": ", ".join(f"{value:.0f} MB" for value in memory) or NONE,
        "Poise": _said(facts.get("poise")),
        "Python": _said(facts.get("python")),
        "machine": _said(facts.get("machine")),
    }
    return wordy(["", ""], [(name, text) for name, text in rows.items() if text != NONE])


def _outcomes(runs: Runs) -> str:
    if not len(runs):
        return ""
    found = runs.results.outcomes
    counts = {name: found.get(name, 0) for name in OUTCOMES}
    rows = [(name, str(count), percent(count / len(runs)), ENDED.get(name, "")) for name, count in counts.items()]
    whole = table(["outcome", "runs", "share", "meaning"], rows, "How the runs ended.")
    return whole.replace('class="table"', 'class="table words"', 1)


def _costs(runs: Runs) -> str:
    costs = runs.results.costs
    rows = []
    for name in costs.column_names:
        kind = str(costs.schema.field(name).type)
        if name in TOLD or kind not in ("double", "float", "int64"):
            continue
        values = costs.column(name).cast("double").to_numpy()
        values = values[np.isfinite(values)]
        if len(values):
            unit = (costs.schema.field(name).metadata or {}).get(b"unit", b"").decode()
            label = "a run (s)" if name == "seconds" else named(name, COSTS["run"]._replace(unit=unit))
            rows.append((label, *(number(float(q)) for q in np.quantile(values, (0.5, 0.95, 1.0))), str(len(values))))
    head = ["what it took", "median", "95th percentile", "largest", "runs"]
    return table(head, rows, "What the runs took; this differs from one time to the next.") if rows else ""


def _said(fact: Any) -> str:
    """A fact in words, whatever it is."""
    if fact is None or fact == "":
        return NONE
    if isinstance(fact, Mapping):
        return ", ".join(f"{key} {_said(value)}" for key, value in fact.items()) or NONE
    if isinstance(fact, list | tuple):
        return ", ".join(map(_said, fact)) or NONE
    return number(fact) if isinstance(fact, float) else str(fact)


def _floor(fact: Any) -> str:
    return percent(fact) if isinstance(fact, int | float) and not isinstance(fact, bool) else _said(fact)


def _numbers(fact: Any) -> list[float]:
    given: Iterable[Any] = fact.values() if isinstance(fact, Mapping) else [fact]
    if isinstance(fact, list | tuple):
        given = fact
    return [float(each) for each in given if isinstance(each, int | float)]


def _duration(seconds: Any) -> str:
    if not isinstance(seconds, int | float):
        return NONE
    if seconds < 120:
        return f"{number(float(seconds))} s"
    hours, minutes = divmod(round(seconds / 60), 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min"
