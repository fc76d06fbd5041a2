"""Report page on a campaign: overview, failure reasons, worst runs, spec, and assembly of the page."""

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

from poise.campaign import (
    COST_COLUMNS,
    MOTION_SECONDS_COLUMN,
    OUTCOMES,
    RECORDINGS_FOLDER,
    Results,
    margin_column,
    severity,
)
from poise.html import (
    DASH,
    Section,
    assemble_page,
    no_break,
    note,
    number,
    paragraph,
    percent,
    save_page_file,
    table,
    text_table,
)
from poise.report.campaign_measures import run_measures_section
from poise.report.campaign_runs import (
    RunFiles,
    RunTable,
    axis_label,
    display_name,
    format_value,
    plural,
    share_with_interval,
)
from poise.report.campaign_success import success_by_parameter_section, success_maps_section

OUTCOME_DESCRIPTIONS = {
    "succeeded": "the motion met its goal",
    "failed": "the motion failed (a fall or a missed target), or its input was rejected",
    "error": "an unexpected exception: a defect of Poise",
    "crashed": "the process of the run died",
    "timeout": "the run exceeded its time limit and was stopped",
    "memory": "the run exceeded its memory limit and was stopped",
}
#: Cost columns that are not measurements, or that the page shows elsewhere.
HIDDEN_COSTS = ("run", "attempts", "worker", "memory_mb")


def campaign_overview_section(runs: RunTable, run_files: Mapping[int, RunFiles]) -> Section:
    """Build the section with facts about the campaign, outcomes of its runs and their costs."""
    return Section(
        "Overview", "".join([_progress_note(runs), _facts_table(runs), _outcome_table(runs), _cost_table(runs)])
    )


def _progress_note(runs: RunTable) -> str:
    results = runs.results
    if not len(runs):
        return note(f"No run of {results.planned_runs} planned is complete yet; only the plan is shown.")
    if not results.finished:
        remaining = results.planned_runs - len(runs)
        return note(
            f"The campaign is not finished: {remaining} of {plural(results.planned_runs, 'run')} "
            f"{'is' if remaining == 1 else 'are'} missing. Run the same command again to complete it."
        )
    return ""


def _facts_table(runs: RunTable) -> str:
    results, facts = runs.results, runs.results.facts
    successes = int(runs.succeeded.sum())
    memory = _fact_numbers(facts.get("worker_memory_mb"))
    rate = facts.get("runs_per_second")
    fixed = [name for name in runs.parameters if name not in runs.varied]
    first = {name: results[name][0] for name in fixed} if len(runs) else {}
    known = {name: value for name, value in first.items() if value is not None}
    fixed_texts = [
        f"{display_name(name)} {format_value(value, runs.parameters[name])}" for name, value in known.items()
    ]
    rows = {
        "kind of runs": _fact_text(facts.get("kind")),
        "runs": f"{len(runs)} of {results.planned_runs} planned",
        "succeeded (95 % interval)": share_with_interval(successes, len(runs)),
        "minimum success rate": _min_rate_text(facts.get("min_success_rate")),
        "varied": ", ".join(display_name(name) for name in runs.varied) or ("only the seed" if len(runs) else DASH),
        "fixed": ", ".join(fixed_texts) or DASH,
        "size": _fact_text(facts.get("size")),
        "started": _fact_text(facts.get("started")).partition("+")[0].replace("T", " "),
        "engine": _fact_text(facts.get("engine")),
        "workers": _fact_text(facts.get("workers")),
        "duration": _duration_text(facts.get("seconds")),
        "throughput": f"{number(float(rate))} runs/s" if isinstance(rate, int | float) else DASH,
        "peak memory of a worker": ", ".join(f"{value:.0f} MB" for value in memory) or DASH,
        "Poise": _fact_text(facts.get("poise")),
        "Python": _fact_text(facts.get("python")),
        "machine": _fact_text(facts.get("machine")),
    }
    return text_table(["", ""], [(name, text) for name, text in rows.items() if text != DASH])


def _outcome_table(runs: RunTable) -> str:
    if not len(runs):
        return ""
    outcomes = runs.results.outcomes
    counts = {name: outcomes.get(name, 0) for name in OUTCOMES}
    rows = [
        (name, str(count), percent(count / len(runs)), OUTCOME_DESCRIPTIONS.get(name, ""))
        for name, count in counts.items()
    ]
    html = table(["outcome", "runs", "share", "meaning"], rows, "Outcomes of the runs.")
    return html.replace('class="table"', 'class="table text"', 1)


def _cost_table(runs: RunTable) -> str:
    costs = runs.results.costs
    rows = []
    for name in costs.column_names:
        kind = str(costs.schema.field(name).type)
        if name in HIDDEN_COSTS or kind not in ("double", "float", "int64"):
            continue
        values = costs.column(name).cast("double").to_numpy()
        values = values[np.isfinite(values)]
        if len(values):
            unit = (costs.schema.field(name).metadata or {}).get(b"unit", b"").decode()
            label = (
                "duration of a run (s)"
                if name == "seconds"
                else axis_label(name, COST_COLUMNS["run"]._replace(unit=unit))
            )
            rows.append((label, *(number(float(q)) for q in np.quantile(values, (0.5, 0.95, 1.0))), str(len(values))))
    head = ["cost", "median", "95th percentile", "maximum", "runs"]
    return table(head, rows, "Costs of the runs; they vary from one execution to the next.") if rows else ""


def _fact_text(fact: Any) -> str:
    """Format a fact of any type as text; a dash if it is missing."""
    if fact is None or fact == "":
        return DASH
    if isinstance(fact, Mapping):
        return ", ".join(f"{key} {_fact_text(value)}" for key, value in fact.items()) or DASH
    if isinstance(fact, list | tuple):
        return ", ".join(map(_fact_text, fact)) or DASH
    return number(fact) if isinstance(fact, float) else str(fact)


def _min_rate_text(fact: Any) -> str:
    return percent(fact) if isinstance(fact, int | float) and not isinstance(fact, bool) else _fact_text(fact)


def _fact_numbers(fact: Any) -> list[float]:
    values: Iterable[Any] = fact.values() if isinstance(fact, Mapping) else [fact]
    if isinstance(fact, list | tuple):
        values = fact
    return [float(each) for each in values if isinstance(each, int | float)]


def _duration_text(seconds: Any) -> str:
    if not isinstance(seconds, int | float):
        return DASH
    if seconds < 120:
        return f"{number(float(seconds))} s"
    hours, minutes = divmod(round(seconds / 60), 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min"


# -- Failure reasons, grouped by pattern -----------------------------------------------------------------------------


#: Largest number of reasons listed.
MAX_REASONS = 15
#: A number, with or without a unit after it; digits within a name, as in ``g1``, do not match.
_NUMBER_PATTERN = re.compile(r"(?<![\w.])[-+\N{MINUS SIGN}]?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?(?![\w.]*[A-Za-z_]*\d)")
#: Placeholder for any number.
NUMBER_PLACEHOLDER = "#"


def reason_pattern(reason: str) -> str:
    """Replace the numbers of a reason by `NUMBER_PLACEHOLDER`: ``fell after 3.21 s`` is ``fell after # s``."""
    return _NUMBER_PATTERN.sub(NUMBER_PLACEHOLDER, " ".join(reason.split()))


def failure_reasons_section(runs: RunTable, run_files: Mapping[int, RunFiles]) -> Section:
    """Build the section with the failure reasons, their counts and an example of each."""
    title = "Failure reasons"
    if not len(runs):
        return Section(title, note("No run is complete yet."))
    cells = zip(runs.run_numbers, runs.results["outcome"], runs.results["reason"], runs.succeeded, strict=True)
    counts: Counter[tuple[str, str]] = Counter()
    examples: dict[tuple[str, str], tuple[int, str]] = {}
    for run, outcome, reason, succeeded in cells:
        if succeeded:
            continue
        text = str(reason or "no reason given")
        key = (str(outcome), reason_pattern(text))
        counts[key] += 1
        examples.setdefault(key, (run, text))
    if not counts:
        return Section(title, note(f"No run of {len(runs)} failed."))
    total = counts.total()
    shown = counts.most_common(MAX_REASONS)
    rows: list[tuple[str, ...]] = []
    for (outcome, reason), count in shown:
        run, example = examples[outcome, reason]
        rows.append((outcome, str(count), percent(count / total), reason, f"run {run}", _example_text(example, reason)))
    head = ["outcome", "runs", "of failures", f"reason ({NUMBER_PLACEHOLDER} is any number)", "example", "full reason"]
    if all(not row[-1] for row in rows):
        head, rows = head[:-1], [row[:-1] for row in rows]
    rare_count = len(counts) - len(shown)
    remaining = total - sum(count for _, count in shown)
    rare_note = f"Not listed: {plural(rare_count, 'rarer reason')} of {plural(remaining, 'run')}." if rare_count else ""
    summary = paragraph(f"{plural(total, 'run')} of {len(runs)} failed.", rare_note)
    return Section(title, summary + text_table(head, rows))


def _example_text(example: str, reason: str) -> str:
    """Return the full reason of the example, shortened; empty if it does not differ from the pattern."""
    return "" if example == reason else example if len(example) < 200 else f"{example[:199]}…"


# -- Worst runs ------------------------------------------------------------------------------------------------------


WORST_COUNT = 10
#: Style of a command: a click selects all of it, and lines may break anywhere.
CODE_STYLE = "user-select: all; overflow-wrap: anywhere; background: #f4f4f4; padding: 1px 5px; font-size: 12px"


def worst_runs(results: Results, count: int = WORST_COUNT) -> list[int]:
    """Return the rows of the worst runs, worst first (see `severity`), without successful runs that have no margin."""
    return _worst_rows(RunTable(results), count)


def _worst_rows(runs: RunTable, count: int = WORST_COUNT) -> list[int]:
    margin = margin_column(runs.columns)
    names = [
        name for name in ("run", "succeeded", MOTION_SECONDS_COLUMN, margin) if name in runs.results.table.column_names
    ]
    ranked = sorted((severity(row, margin), k) for k, row in enumerate(runs.results.table.select(names).to_pylist()))
    return [k for (succeeded, number, _), k in ranked if not succeeded or math.isfinite(number)][:count]


def worst_runs_section(runs: RunTable, run_files: Mapping[int, RunFiles]) -> Section:
    """Build the section with parameters, failure reason, command and links of each of the worst runs."""
    title = "Worst runs"
    rows = _worst_rows(runs)
    if not rows:
        text = "No run failed, and no run has a margin." if len(runs) else "No run is complete yet."
        return Section(title, note(text))
    margin, failed = margin_column(runs.columns), not runs.succeeded[rows[0]]
    sentences = [
        "Failed runs are first, in the order of the time of failure." if failed else "No run failed.",
        f"Successful runs follow, in the order of {display_name(margin, runs.columns[margin])}, smallest first."
        if margin and runs.succeeded[rows].any()
        else "",
        "Click on a command to select it; it repeats the run.",
    ]
    numbers = [name for name in (MOTION_SECONDS_COLUMN, margin) if name in runs.columns]
    head = ["run", "outcome", "parameters", *(axis_label(name, runs.columns[name]) for name in numbers), "files"]
    heads = "".join(f'<th scope="col">{escape(word)}</th>' for word in head)
    body = "".join(_run_rows(runs, row, numbers, run_files) for row in rows)
    html = f'<div class="table text"><table><thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table></div>'
    return Section(title, paragraph(*sentences) + html + _studio_note(runs, rows))


def _run_rows(runs: RunTable, row: int, numbers: list[str], run_files: Mapping[int, RunFiles]) -> str:
    """Return two table rows of a run: its parameters and numbers, and below them its reason and command."""
    number_of_run = runs.run_numbers[row]
    parameters = [
        no_break(f"{display_name(name)} {format_value(_cell(runs, name, row), runs.parameters[name])}")
        for name in runs.varied
    ]
    cells = [
        str(_cell(runs, "outcome", row)),
        ", ".join(parameters) or f"seed {_cell(runs, 'seed', row)}",
        *(number(float(runs.numbers(name)[row])) for name in numbers),
    ]
    reason, command = (str(_cell(runs, name, row) or "") for name in ("reason", "command"))
    details = [escape(reason)] if reason else []
    details += [f'<code style="{CODE_STYLE}">{escape(command)}</code>'] if command else []
    text = "<br>".join(details) or DASH
    style = 'style="max-width: none; padding-bottom: 9px"'
    files = run_files.get(number_of_run, RunFiles(note=str(_cell(runs, "recording", row) or "")))
    first = "".join(f"<td>{escape(text)}</td>" for text in cells)
    return (
        f'<tr id="run-{number_of_run}" style="border-bottom: 0"><th scope="row">{number_of_run}</th>{first}'
        f"<td>{_links(files)}</td></tr>"
        f'<tr><td></td><td colspan="{len(cells) + 1}" {style}>{text}</td></tr>'
    )


def _links(run_files: RunFiles) -> str:
    links = [(run_files.replay, "replay"), (run_files.recording, "recording")]
    text = [f'<a href="{escape(address)}">{word}</a>' for address, word in links if address]
    text += [escape(run_files.note)] if run_files.note else []
    return "<br>".join(text) or "not stored"


def _studio_note(runs: RunTable, rows: list[int]) -> str:
    """Return a paragraph on how to open the recordings in the studio, or how to record the runs again."""
    files = [str(_cell(runs, "recording", row) or "") for row in rows]
    if not any(file.endswith(".poise") for file in files):
        return paragraph("No recording of these runs was stored; run a command with --out FILE.poise to record one.")
    folder = runs.results.folder / RECORDINGS_FOLDER
    return paragraph(f"To play the recordings in the studio: poise studio --out {folder}")


def _cell(runs: RunTable, name: str, row: int) -> str | int | float | bool | None:
    cell: str | int | float | bool | None = runs.results.table.column(name)[row].as_py()
    return cell


# -- Spec of the campaign --------------------------------------------------------------------------------------------


SPEC_STYLE = "font-size: 12.5px; line-height: 1.4; overflow-x: auto; background: #f7f7f7; padding: 8px 12px"


def spec_section(runs: RunTable, run_files: Mapping[int, RunFiles]) -> Section:
    """Build the section with the text of the campaign spec; it is the last section, since it may be long."""
    text = runs.results.facts.get("spec")
    if not isinstance(text, str) or not text.strip():
        return Section("Campaign spec", note("This campaign has no spec file: it was created by a program."))
    return Section("Campaign spec", f'<pre style="{SPEC_STYLE}">{escape(text.strip())}</pre>')


# -- The whole page of a campaign ------------------------------------------------------------------------------------


#: Sections of the page, in order.
CAMPAIGN_SECTIONS: tuple[Callable[[RunTable, Mapping[int, RunFiles]], Section], ...] = (
    campaign_overview_section,
    success_by_parameter_section,
    success_maps_section,
    run_measures_section,
    failure_reasons_section,
    worst_runs_section,
    spec_section,
)


def campaign_page(
    results: Results,
    run_files: Mapping[int, RunFiles] | None = None,
    progress: Callable[[str], object] | None = None,
) -> str:
    """Return a self-contained HTML page about a campaign, finished or not; the page loads no other files.

    Args:
        results: results of the campaign.
        run_files: links to recordings and replays of `worst_runs`, by run number.
        progress: called with the name of each section before it is built.
    """
    runs, sections = RunTable(results), []
    for section in CAMPAIGN_SECTIONS:
        if progress is not None:
            progress(section.__name__.removesuffix("_section").replace("_", " "))
        sections.append(section(runs, run_files or {}))
    return assemble_page(f"Campaign: {results.facts.get('title') or results.folder.absolute().name}", sections)


def save_campaign_page(
    path: str | os.PathLike[str],
    results: Results,
    run_files: Mapping[int, RunFiles] | None = None,
    progress: Callable[[str], object] | None = None,
) -> Path:
    """Write a `campaign_page` to a file atomically and return its path."""
    return save_page_file(path, lambda: campaign_page(results, run_files, progress))
