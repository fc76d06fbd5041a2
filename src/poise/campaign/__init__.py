"""Campaigns: many runs at once, in worker processes on this machine or on a Ray cluster; one table for all of them.

>>> from poise.campaign import Spec, run_campaign
>>> results = run_campaign(Spec.load("pushes.toml"), "pushes", workers=2)
>>> results.survival, results["reason"]

A `Spec` plans the runs, an engine does them, a `Folder` keeps what comes. What a run is, is its `Kind`.
"""

from poise.campaign.errors import SpecError
from poise.campaign.kinds import KINDS, Column, Kind, Outcome
from poise.campaign.plan import Run
from poise.campaign.results import Results
from poise.campaign.running import run_campaign
from poise.campaign.spec import Limits, Spec
from poise.campaign.survival import Share, survival, survival_by

__all__ = [
    "KINDS",
    "Column",
    "Kind",
    "Limits",
    "Outcome",
    "Results",
    "Run",
    "Share",
    "Spec",
    "SpecError",
    "run_campaign",
    "survival",
    "survival_by",
]
