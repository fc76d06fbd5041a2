"""The worst ten runs: those that failed first, then those that nearly did; each can be run and seen again."""

from __future__ import annotations

import math
from collections.abc import Mapping
from html import escape

from poise.campaign.results import RECORDINGS, Results
from poise.campaign.worst import MOVED, margin_of, merit
from poise.report.campaign.kept import Kept
from poise.report.campaign.runs import Runs
from poise.report.campaign.words import named, valued
from poise.report.campaign.words import titled as told
from poise.report.page.html import NONE, note, number, paragraph, unbroken
from poise.report.page.section import Section

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
