"""Campaigns: many runs in parallel, in worker processes on this machine or on a Ray cluster, with one results table.

>>> from poise.campaign import Spec, run_campaign
>>> results = run_campaign(Spec.load("pushes.toml"), "pushes", workers=2)
>>> results.success_rate, results["reason"]

A `Spec` lists the runs, `run_campaign` executes those that are missing and writes them to a folder, `Results` reads the
folder. A `RunKind` defines what one run does: a motion, a human trial, a solver program or a fuzz test.
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
