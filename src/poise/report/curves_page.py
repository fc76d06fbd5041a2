"""Report page on the curves of a walk: angles, moments and powers, spatiotemporal table, profile score."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from poise.html import (
    DASH,
    SHADE_COLOR,
    THIRD_WIDTH,
    Section,
    assemble_page,
    bullets,
    figure,
    grid,
    heading,
    new_chart,
    number,
    paragraph,
    percent,
    save_page_file,
    table,
    text_table,
    verdict,
)
from poise.human import (
    GAIT_ANGLES,
    GAIT_MOMENTS,
    GAIT_POWERS,
    OFFSET_ANGLES,
    SPATIOTEMPORAL_ROWS,
    GaitCurves,
    NormComparison,
    choose_norm,
)
from poise.report.cycle_curves import BAND_ALPHA, CYCLE_AXIS_LABEL, LEG_COLORS, LEG_DASHES, NORM_BAND_COLOR
from poise.robots import SIDES, Side

NORM_DESCRIPTION = (
    "The gray band is the normal range, in which 95 % of new healthy people are expected at each instant, with two "
    "degrees for the placement of markers. The zero of pelvis tilt, hip flexion and rotation, ankle and foot depends "
    "on markers and laboratory: there the band is moved by the mean difference, which the table lists as offset."
)
SCORE_DESCRIPTION = (
    "Gait variable score: root mean square difference from the mean of the norm over the cycle. The gait profile score "
    "(Baker et al. 2009) is the root mean square of these scores, as published with offsets; the second value is "
    "without them. Healthy adults have some five to six degrees with the norm of their own laboratory."
)
POWER_DESCRIPTION = (
    "Internal moments and powers per kg of body mass, where the plates measure the foot completely: extensor, abductor "
    "and plantarflexor moments are positive; power is positive where muscles do work on the body."
)


def summary_section(walk: GaitCurves) -> Section:
    """Build the section with verdict, events with their sources, and the spatiotemporal table."""
    quality = walk.fit.quality
    reasons = "; ".join(check.message for check in quality.checks)
    shown = verdict(None if quality.verdict == "doubtful" else quality.usable, f"Fit: {quality.verdict}.", reasons)
    rows = []
    for name, (title, unit) in SPATIOTEMPORAL_ROWS.items():
        values = [walk.spatiotemporal.get(side, {}).get(name) for side in SIDES]
        if any(value is not None for value in values):
            rows.append((f"{title} ({unit})", *(DASH if value is None else number(value) for value in values)))
    cycles = ("gait cycles", *(str(len(walk.cycles_of(side))) for side in SIDES))
    counts = walk.event_counts
    sentence = (
        f"Events: {counts['plates']} from force plates, {counts['file']} from the file, {counts['rule']} by rule from "
        "the motion of the feet. Each event is taken from the first of these sources that has it."
    )
    events = [
        (f"{each.event.time:.3f}", each.event.side, each.event.kind.replace("_", " "), each.source)
        for each in walk.events
    ]
    parts = [shown, table(["", *SIDES], [cycles, *rows], "Means over the cycles of each foot."), paragraph(sentence)]
    parts += [text_table(["time (s)", "foot", "event", "source"], events)]
    if walk.notes:
        parts += [heading("Notes"), bullets(walk.notes)]
    return Section("Walk", "".join(parts))


def angles_section(walk: GaitCurves, dataset: str | None) -> Section:
    """Build the section with the angles over the cycle and the normal range."""
    rows = {(each.angle, each.side): each for each in walk.compare_with_norm(dataset)}
    figures = [_figure(walk, name, title, "angle (deg)", rows) for name, title in GAIT_ANGLES.items()]
    name = choose_norm(walk.fit.shape, dataset)
    source = walk.profile_score(dataset).source
    return Section("Angles", paragraph(NORM_DESCRIPTION, f"Norm '{name}': {source}.") + grid(figures, 3))


def kinetics_section(walk: GaitCurves) -> Section | None:
    """Build the section with moments and powers; None without ground forces."""
    if walk.torques is None:
        return None
    figures = []
    for name in (*GAIT_MOMENTS, *GAIT_POWERS):
        unit = "power (W/kg)" if name in GAIT_POWERS else "moment (N m/kg)"
        if any(np.isfinite(walk.curves(name, side).values).any() for side in SIDES):
            figures.append(_figure(walk, name, name.replace("_", " ").capitalize(), unit, {}))
    return Section("Moments and powers", paragraph(POWER_DESCRIPTION) + grid(figures, 3)) if figures else None


def norm_section(walk: GaitCurves, dataset: str | None) -> Section:
    """Build the section with the table of the norm and the gait profile score."""
    rows = []
    for each in walk.compare_with_norm(dataset):
        offset = f"{each.offset:+.1f}" if each.angle in OFFSET_ANGLES else DASH
        rows.append(
            (
                f"{GAIT_ANGLES[each.angle]}, {each.side}", percent(each.inside), number(each.range_of_motion),
                number(each.norm_range), offset, number(each.score), number(each.shape_score),
            )
        )  # fmt: skip
    score = walk.profile_score(dataset)
    head = ["", "inside the norm", "range (deg)", "range of the norm", "offset (deg)", "score (deg)", "without mean"]
    missing = (
        f" Without {', '.join(score.missing).replace('_', ' ')}, which this norm has not." if score.missing else ""
    )
    total = f"Gait profile score {score.score:.1f} degrees, {score.shape_score:.1f} with offsets removed.{missing}"
    return Section("Norm", paragraph(SCORE_DESCRIPTION, total) + table(head, rows))


def _figure(
    walk: GaitCurves, name: str, title: str, unit: str, norms: Mapping[tuple[str, Side], NormComparison]
) -> str:
    texts = []
    with new_chart(f"{title} over the gait cycle", THIRD_WIDTH) as chart:
        axes = chart.axes
        for side in SIDES:
            curves = walk.curves(name, side)
            if not curves.count:
                continue
            norm = norms.get((name, side))
            if norm is not None:
                axes.fill_between(
                    curves.percent, norm.low, norm.high, color=NORM_BAND_COLOR, alpha=0.5, linewidth=0, zorder=0
                )
            color, mean = LEG_COLORS[side], curves.mean
            axes.fill_between(curves.percent, curves.low, curves.high, color=color, alpha=BAND_ALPHA, linewidth=0)
            axes.plot(curves.percent, mean, color=color, linestyle=LEG_DASHES[side], linewidth=1.3, label=side)
            axes.axvline(curves.toe_off, color=color, linestyle=LEG_DASHES[side], linewidth=0.5, alpha=0.7)
            known = mean[np.isfinite(mean)]
            if len(known):
                texts.append(f"{side} {number(float(known.min()), 2)} to {number(float(known.max()), 2)}")
        axes.axhline(0.0, color=SHADE_COLOR, linewidth=0.8, zorder=0)
        axes.set(xlabel=CYCLE_AXIS_LABEL, ylabel=unit, xlim=(0.0, 100.0))
        chart.legend(2)
    return figure(chart.svg, f"{title}: {', '.join(texts) or 'unknown'}.")


def curves_page(walk: GaitCurves, dataset: str | None = None) -> str:
    """Return a self-contained HTML page on the curves of a walk.

    Args:
        walk: result of `poise.human.compute_gait_curves`.
        dataset: a norm, one of `poise.analysis.normative_datasets`; None: by the height of the person.
    """
    sections = [
        summary_section(walk), angles_section(walk, dataset), kinetics_section(walk), norm_section(walk, dataset)
    ]  # fmt: skip
    name = walk.fit.trial.subject.name or Path(walk.fit.trial.path).stem
    return assemble_page(f"Gait curves of {name}", [section for section in sections if section is not None])


def save_curves_page(path: str | os.PathLike[str], walk: GaitCurves, dataset: str | None = None) -> Path:
    """Write a `curves_page` to a file atomically and return its path."""
    return save_page_file(path, lambda: curves_page(walk, dataset))
