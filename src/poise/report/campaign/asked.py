"""Asked: the spec of a campaign, as it stands in its file."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape

from poise.report.campaign.kept import Kept
from poise.report.campaign.runs import Runs
from poise.report.page.html import note
from poise.report.page.section import Section

STYLE = "font-size: 12.5px; line-height: 1.4; overflow-x: auto; background: #f7f7f7; padding: 8px 12px"


def asked(runs: Runs, kept: Mapping[int, Kept]) -> Section:
    """The text, to be copied; it stands last, as it may be long."""
    text = runs.results.facts.get("spec")
    if not isinstance(text, str) or not text.strip():
        return Section("The spec", note("This campaign has no spec: a program made it."))
    return Section("The spec", f'<pre style="{STYLE}">{escape(text.strip())}</pre>')
