"""Campaigns: many runs at once, in worker processes on this machine or on a Ray cluster; one table for all of them.

>>> from poise.campaign import Spec, run_campaign
>>> results = run_campaign(Spec.load("pushes.toml"), "pushes", workers=2)
>>> results.survival, results["reason"]

A `Spec` plans the runs, an engine does them, a `Folder` keeps what comes. What a run is, is its `Kind`.
"""

from poise.campaign.execution import run_campaign
from poise.campaign.kinds import KINDS
from poise.campaign.kinds.kind import Column, Kind, Outcome, Value
from poise.campaign.results import (
    FACTS,
    MOVED,
    RECORDINGS,
    Results,
    Share,
    margin_of,
    merit,
    share,
    survival,
    survival_by,
)
from poise.campaign.spec import Limits, Spec
from poise.campaign.storage import COSTS, OUTCOMES
from poise.campaign.sweep import Run
from poise.errors import SpecError

__all__ = [
    "COSTS",
    "FACTS",
    "KINDS",
    "MOVED",
    "OUTCOMES",
    "RECORDINGS",
    "Column",
    "Kind",
    "Limits",
    "Outcome",
    "Results",
    "Run",
    "Share",
    "Spec",
    "SpecError",
    "Value",
    "margin_of",
    "merit",
    "run_campaign",
    "share",
    "survival",
    "survival_by",
]
