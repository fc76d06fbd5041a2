"""Campaigns: many runs at once, in worker processes on this machine or on a Ray cluster; one table for all of them.

>>> from poise.campaign import Spec, run_campaign
>>> results = run_campaign(Spec.load("pushes.toml"), "pushes", workers=2)
>>> results.success_rate, results["reason"]

A `Spec` plans the runs, an engine does them, a `CampaignFolder` keeps what comes. What a run is, is its `RunKind`.
"""

from poise.campaign.execution import run_campaign
from poise.campaign.kinds import RUN_KINDS
from poise.campaign.kinds.kind import Column, RunKind, RunOutput, Value
from poise.campaign.results import (
    FACTS_FILE,
    MOTION_SECONDS_COLUMN,
    RECORDINGS_FOLDER,
    Results,
    SuccessRate,
    margin_column,
    severity,
    success_rate,
    success_rate_by,
    wilson_interval,
)
from poise.campaign.spec import RunLimits, Spec
from poise.campaign.storage import COST_COLUMNS, OUTCOMES
from poise.campaign.sweep import PlannedRun
from poise.errors import SpecError

__all__ = [
    "COST_COLUMNS",
    "FACTS_FILE",
    "MOTION_SECONDS_COLUMN",
    "OUTCOMES",
    "RECORDINGS_FOLDER",
    "RUN_KINDS",
    "Column",
    "PlannedRun",
    "Results",
    "RunKind",
    "RunLimits",
    "RunOutput",
    "Spec",
    "SpecError",
    "SuccessRate",
    "Value",
    "margin_column",
    "run_campaign",
    "severity",
    "success_rate",
    "success_rate_by",
    "wilson_interval",
]
