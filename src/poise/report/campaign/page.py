"""The whole page of a campaign."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path

from poise.campaign.results import Results
from poise.report.campaign.against import against
from poise.report.campaign.asked import asked
from poise.report.campaign.kept import Kept
from poise.report.campaign.maps import maps
from poise.report.campaign.measures import measures
from poise.report.campaign.overview import overview
from poise.report.campaign.reasons import reasons
from poise.report.campaign.runs import Runs
from poise.report.campaign.worst import worst
from poise.report.page.section import Section
from poise.report.page.whole import assembled, saved

#: What stands on the page, in this order.
SECTIONS: tuple[Callable[[Runs, Mapping[int, Kept]], Section], ...] = (
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
    for section in SECTIONS:
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
