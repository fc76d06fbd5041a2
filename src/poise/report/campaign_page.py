"""The report on a campaign: overview, failure reasons, worst runs, spec and the whole page."""

from __future__ import annotations

import math
import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

from poise.campaign import COSTS, MOVED, OUTCOMES, RECORDINGS, Results, margin_of, merit
from poise.html import NONE, Section, assembled, note, number, paragraph, percent, saved, table, unbroken, wordy
from poise.report.campaign_measures import measures
from poise.report.campaign_runs import Kept, Runs, named, several, share, titled, valued
from poise.report.campaign_runs import titled as told
from poise.report.campaign_survival import against, maps

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


# -- Reasons: failures that say the same, together -------------------------------------------------------------------


#: Reasons that are listed.
MOST = 15
#: A number, also one that stands in front of its unit; digits within a name, as in ``g1``, are none.
_NUMBER = re.compile(r"(?<![\w.])[-+\N{MINUS SIGN}]?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?(?![\w.]*[A-Za-z_]*\d)")
#: What stands for any number.
ANY = "#"


def alike(reason: str) -> str:
    """A reason with `ANY` for its numbers: ``fell after 3.21 s`` is ``fell after # s``."""
    return _NUMBER.sub(ANY, " ".join(reason.split()))


def reasons(runs: Runs, kept: Mapping[int, Kept]) -> Section:
    """How often each reason was given, with an example."""
    title = "Why runs failed"
    if not len(runs):
        return Section(title, note("No run is done yet."))
    cells = zip(runs.numbers_of_runs, runs.results["outcome"], runs.results["reason"], runs.succeeded, strict=True)
    counts: Counter[tuple[str, str]] = Counter()
    examples: dict[tuple[str, str], tuple[int, str]] = {}
    for run, outcome, reason, succeeded in cells:
        if succeeded:
            continue
        said = str(reason or "no reason was given")
        key = (str(outcome), alike(said))
        counts[key] += 1
        examples.setdefault(key, (run, said))
    if not counts:
        return Section(title, note(f"No run failed, of {len(runs)}."))
    total = counts.total()
    shown = counts.most_common(MOST)
    rows: list[tuple[str, ...]] = []
    for (outcome, reason), count in shown:
        run, example = examples[outcome, reason]
        rows.append((outcome, str(count), percent(count / total), reason, f"run {run}", _told(example, reason)))
    head = ["outcome", "runs", "of failures", f"reason ({ANY} is any number)", "example", "in full"]
    if all(not row[-1] for row in rows):
        head, rows = head[:-1], [row[:-1] for row in rows]
    rest = len(counts) - len(shown)
    left = total - sum(count for _, count in shown)
    also = f"{several(rest, 'rarer reason')} of {several(left, 'run')} in all are left out." if rest else ""
    words = paragraph(f"{several(total, 'run')} of {len(runs)} failed.", also)
    return Section(title, words + wordy(head, rows))


def _told(example: str, reason: str) -> str:
    """The reason of the example, where it says more."""
    return "" if example == reason else example if len(example) < 200 else f"{example[:199]}…"


# -- The worst ten runs ----------------------------------------------------------------------------------------------


WORST = 10
#: Letters that a click selects as a whole, and that may break anywhere.
CODE = "user-select: all; overflow-wrap: anywhere; background: #f4f4f4; padding: 1px 5px; font-size: 12px"


def worst_runs(results: Results, count: int = WORST) -> list[int]:
    """Rows of the worst runs, the worst first (`merit`); those that succeeded and have no margin are not among them."""
    return _worst(Runs(results), count)


def _worst(runs: Runs, count: int = WORST) -> list[int]:
    margin = margin_of(runs.columns)
    names = [name for name in ("run", "succeeded", MOVED, margin) if name in runs.results.table.column_names]
    ranked = sorted((merit(row, margin), k) for k, row in enumerate(runs.results.table.select(names).to_pylist()))
    return [k for (succeeded, number, _), k in ranked if not succeeded or math.isfinite(number)][:count]


def worst(runs: Runs, kept: Mapping[int, Kept]) -> Section:
    """A row for each, with its parameters, its reason, its command, and what was kept of it."""
    title = "The worst ten runs"
    rows = _worst(runs)
    if not rows:
        said = "No run failed, and none tells its margin." if len(runs) else "No run is done yet."
        return Section(title, note(said))
    margin, failed = margin_of(runs.columns), not runs.succeeded[rows[0]]
    order = [
        "Runs that failed stand first, those that fell soonest above." if failed else "No run failed.",
        f"Then come those with the smallest {told(margin, runs.columns[margin])}."
        if margin and runs.succeeded[rows].any()
        else "",
        "A click on a command selects it; it does the same run again.",
    ]
    numbers = [name for name in (MOVED, margin) if name in runs.columns]
    head = ["run", "outcome", "parameters", *(named(name, runs.columns[name]) for name in numbers), "see it"]
    heads = "".join(f'<th scope="col">{escape(word)}</th>' for word in head)
    body = "".join(_rows(runs, row, numbers, kept) for row in rows)
    whole = f'<div class="table words"><table><thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table></div>'
    return Section(title, paragraph(*order) + whole + _studio(runs, rows))


def _rows(runs: Runs, row: int, numbers: list[str], kept: Mapping[int, Kept]) -> str:
    """Two rows of the table: what the run was, and below, over the whole width, its reason and command."""
    number_of_run = runs.numbers_of_runs[row]
    asked = [unbroken(f"{told(name)} {valued(_cell(runs, name, row), runs.parameters[name])}") for name in runs.varied]
    cells = [
        str(_cell(runs, "outcome", row)),
        ", ".join(asked) or f"seed {_cell(runs, 'seed', row)}",
        *(number(float(runs.numbers(name)[row])) for name in numbers),
    ]
    reason, command = (str(_cell(runs, name, row) or "") for name in ("reason", "command"))
    below = [escape(reason)] if reason else []
    below += [f'<code style="{CODE}">{escape(command)}</code>'] if command else []
    said = "<br>".join(below) or NONE
    style = 'style="max-width: none; padding-bottom: 9px"'
    what = kept.get(number_of_run, Kept(note=str(_cell(runs, "recording", row) or "")))
    first = "".join(f"<td>{escape(text)}</td>" for text in cells)
    return (
        f'<tr id="run-{number_of_run}" style="border-bottom: 0"><th scope="row">{number_of_run}</th>{first}'
        f"<td>{_links(what)}</td></tr>"
        f'<tr><td></td><td colspan="{len(cells) + 1}" {style}>{said}</td></tr>'
    )


def _links(kept: Kept) -> str:
    links = [(kept.replay, "replay"), (kept.recording, "recording")]
    said = [f'<a href="{escape(address)}">{word}</a>' for address, word in links if address]
    said += [escape(kept.note)] if kept.note else []
    return "<br>".join(said) or "not kept"


def _studio(runs: Runs, rows: list[int]) -> str:
    """How to see recordings in the studio, if any were kept."""
    files = [str(_cell(runs, "recording", row) or "") for row in rows]
    if not any(file.endswith(".poise") for file in files):
        return paragraph("No recording of these was kept; the commands make them again, with --out FILE.poise.")
    folder = runs.results.folder / RECORDINGS
    return paragraph(f"The studio plays recordings as well: poise studio --out {folder}")


def _cell(runs: Runs, name: str, row: int) -> str | int | float | bool | None:
    cell: str | int | float | bool | None = runs.results.table.column(name)[row].as_py()
    return cell


# -- Asked: the spec of a campaign, as it stands in its file ---------------------------------------------------------


STYLE = "font-size: 12.5px; line-height: 1.4; overflow-x: auto; background: #f7f7f7; padding: 8px 12px"


def asked(runs: Runs, kept: Mapping[int, Kept]) -> Section:
    """The text, to be copied; it stands last, as it may be long."""
    text = runs.results.facts.get("spec")
    if not isinstance(text, str) or not text.strip():
        return Section("The spec", note("This campaign has no spec: a program made it."))
    return Section("The spec", f'<pre style="{STYLE}">{escape(text.strip())}</pre>')


# -- The whole page of a campaign ------------------------------------------------------------------------------------


#: What stands on the page, in this order.
CAMPAIGN_SECTIONS: tuple[Callable[[Runs, Mapping[int, Kept]], Section], ...] = (
    overview, against, maps, measures, reasons, worst, asked,
)  # fmt: skip


def campaign_page(
    results: Results,
    kept: Mapping[int, Kept] | None = None,
    progress: Callable[[str], object] | None = None,
) -> str:
    """HTML about a campaign, finished or not, with all figures in it: nothing is fetched from anywhere.

    Args:
        results: what was found.
        kept: by number of the run, where recordings and replays of `worst_runs` lie.
        progress: called with the name of each section before it is made.
    """
    runs, made = Runs(results), []
    for section in CAMPAIGN_SECTIONS:
        if progress is not None:
            progress(section.__name__)
        made.append(section(runs, kept or {}))
    return assembled(f"Campaign: {results.facts.get('title') or results.folder.absolute().name}", made)


def save_campaign_page(
    path: str | os.PathLike[str],
    results: Results,
    kept: Mapping[int, Kept] | None = None,
    progress: Callable[[str], object] | None = None,
) -> Path:
    """Writes a `campaign_page` to a file and returns its path; the file appears whole or not at all."""
    return saved(path, lambda: campaign_page(results, kept, progress))
