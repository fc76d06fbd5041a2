"""Reasons: failures that say the same, together."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping

from poise.report.campaign.kept import Kept
from poise.report.campaign.runs import Runs
from poise.report.campaign.words import several
from poise.report.page.html import note, paragraph, percent, wordy
from poise.report.page.section import Section

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
    for number, outcome, reason, succeeded in cells:
        if succeeded:
            continue
        said = str(reason or "no reason was given")
        key = (str(outcome), alike(said))
        counts[key] += 1
        examples.setdefault(key, (number, said))
    if not counts:
        return Section(title, note(f"No run failed, of {len(runs)}."))
    total = counts.total()
    shown = counts.most_common(MOST)
    rows: list[tuple[str, ...]] = []
    for (outcome, reason), count in shown:
        number, example = examples[outcome, reason]
        rows.append((outcome, str(count), percent(count / total), reason, f"run {number}", _told(example, reason)))
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
