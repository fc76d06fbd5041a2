"""The page of a study: reproduced gaits of one or more people, with all that a reader needs to judge them."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from poise.analysis.equivalence import REMARK
from poise.analysis.gait_events import RULE
from poise.human.dynamic import Simulated
from poise.human.fitting import Fit
from poise.human.gait import Study
from poise.report.human.asked import asked, walks
from poise.report.human.curves import curves, swing_knee
from poise.report.human.dynamics import dynamics
from poise.report.human.looks import looks
from poise.report.human.ranges import ranges, variants
from poise.report.human.statistics import statistics
from poise.report.page.html import bullets
from poise.report.page.section import Section
from poise.report.page.whole import assembled, saved


def study_page(
    study: Study,
    fits: Sequence[Fit] = (),
    failed: Mapping[str, str] | None = None,
    simulated: Sequence[tuple[str, Fit, Simulated]] = (),
) -> str:
    """HTML about a study, with all figures in it: nothing is fetched from anywhere.

    Args:
        study: what `poise.human.gait.study` found.
        fits: of its walks, in the order of `study.people`, for what is known of trials and markers; or none.
        failed: walks that could not be used, with the reason of each.
        simulated: of walks that were simulated with dynamics, name, fit and what came of it.

    >>> study_page(gait.study([gait.reproduce(fit, variant=v) for fit in fits for v in gait.VARIANTS]), fits)
    """
    count = len(study.people)
    sections = [
        asked(study, fits),
        walks(study, fits, failed),
        variants(study),
        ranges(study),
        curves(study),
        statistics(study),
        looks(study),
        swing_knee(study),
        dynamics(simulated),
        Section("What else to know", bullets(each for each in study.notes if each not in (RULE, REMARK))),
    ]
    title = f"Reproduced gait of {count} walk{'s' if count != 1 else ''}"
    return assembled(title, [section for section in sections if section is not None])


def save_study_page(
    path: str | os.PathLike[str],
    study: Study,
    fits: Sequence[Fit] = (),
    failed: Mapping[str, str] | None = None,
    simulated: Sequence[tuple[str, Fit, Simulated]] = (),
) -> Path:
    """Writes a `study_page` to a file and returns its path; the file appears whole or not at all."""
    return saved(path, lambda: study_page(study, fits, failed, simulated))
