"""Which words split a campaign into parts that are worth a look each."""

from __future__ import annotations

from poise.report.campaign.groups import Groups, grouped
from poise.report.campaign.runs import Runs

#: Most parts that are shown apart.
PARTS = 12
#: Words that matter most, in this order; then others, those with the fewest values first.
FIRST = ("robot", "style", "variant", "mode", "solver", "terrain")


def words_of(runs: Runs) -> list[str]:
    """Varied parameters that are words with few values, the most important first."""
    texts = [name for name in runs.varied if not runs.numeric(name)]
    few = {name: len(runs.results.varied[name]) for name in texts}
    known = {name: FIRST.index(name) if name in FIRST else len(FIRST) for name in texts}
    return sorted((name for name in texts if few[name] <= PARTS), key=lambda name: (known[name], few[name]))


def split_of(runs: Runs) -> Groups | None:
    """The parts by the most important of these words; None if there are none."""
    names = words_of(runs)
    return grouped(runs, names[0]) if names else None
