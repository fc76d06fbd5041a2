"""Ranges of motion: Table I of the paper beside ours, and all variants side by side."""

from __future__ import annotations

import numpy as np

from poise.analysis.equivalence import BOUND
from poise.analysis.rotations import ROTATIONS, Rotation
from poise.human.gait import Study
from poise.report.human.words import short, shown, signed
from poise.report.page.drawing import COLORS, FAINT, SHADE, WHOLE, drawing
from poise.report.page.html import MINUS, figure, grouped, heading, paragraph, percent, table
from poise.report.page.section import Section

PAPER = (
    "The first three columns are as printed in the paper, for nine men; its people are not these, so that differences "
    "can be compared and ranges only roughly. For the left knee and the left ankle it prints differences of 9 and 13, "
    "though its own ranges differ by 12 and 14."
)
#: Differences that the paper prints (degrees) where they are not those of its own ranges.
PRINTED = {"left_knee_flexion": -9.0, "left_ankle_dorsiflexion": -13.0}
WEAK = (
    "Ranges of motion are a weak criterion: an interpolation through the same key postures, which knows no task, no "
    "ground and no balance, has the same ones. What the tasks bring is in the columns to the right: heels and center "
    "of mass where they were measured, feet that stay above the ground, and a zero-moment point under the feet, "
    "without which nobody could walk like that."
)
#: Room for the names of variants, and height of a row of the figure, in units of the drawing.
NAMES, ROW = 150.0, 22.0


def ranges(study: Study) -> Section:
    """Table I of the paper, then of the variants that are shown in full; then differences of all."""
    outcomes = shown(study)
    rows = []
    for k, rotation in enumerate(ROTATIONS):
        cells = [f"{rotation.simulation:.0f}", f"{rotation.reference:.0f}", _whole(_printed(rotation))]
        for each in outcomes:
            ours, theirs = float(each.ranges[:, k].mean()), float(each.reference_ranges[:, k].mean())
            cells += [f"{ours:.1f}", f"{theirs:.1f}", signed(ours - theirs)]
        rows.append((rotation.title, *cells))
    mean = [
        f"{np.mean([abs(_printed(each)) for each in ROTATIONS]):.1f}",
        *(f"{each.mean_difference:.1f}" for each in outcomes),
    ]
    rows.append(("mean size of a difference", *(word for each in mean for word in ("", "", each))))
    names = ["printed in the paper", *(f"'{each.variant.name}', here" for each in outcomes)]
    whole = grouped(["mean range (deg)"], names, ("simulated", "measured", "difference"), rows)
    return Section("Ranges of motion", paragraph(PAPER) + whole + heading("By variant") + _by_variant(study))


def variants(study: Study) -> Section:
    """All variants in one table and one figure: angles, then what angles do not tell."""
    head = [
        "variant", "mean size of a difference (deg)", "worst (deg)", f"beyond {BOUND:g} deg", "equivalent",
        "rms over the cycle (deg)", "heels off (mm)", "center of mass off (mm)", "below ground (mm)", "sliding (mm)",
        "ZMP inside (mean)", "(least)",
    ]  # fmt: skip
    rows = []
    for each in study.outcomes:
        angles = (
            f"{each.mean_difference:.1f}",
            signed(each.worst[0]),
            f"{each.beyond} of {each.differences.size}",
            f"{each.equivalent} of {len(each.tests)}",
            f"{each.error:.1f}",
        )
        lengths = (f"{each.largest(name):.1f}" for name in ("heels", "center", "penetration", "slide"))
        inside = percent(each.mean("inside")), percent(each.smallest("inside"))
        rows.append((each.variant.name, *angles, *lengths, *inside))
    first = study.outcomes[0]
    below = (f"{first.largest('reference_penetration'):.1f}", f"{first.largest('reference_slide'):.1f}")
    inside = percent(first.mean("reference_inside")), percent(first.smallest("reference_inside"))
    rows.append(("measured motion", *[""] * 7, *below, *inside))
    caption = (
        "Differences are of ranges of motion, simulated less measured. Heels, center of mass, ground and sliding are "
        "of the worst walk; ZMP is the share of time with the zero-moment point inside the support polygon."
    )
    return Section("Variants side by side", paragraph(WEAK) + table(head, rows, caption) + _dots(study))


def _dots(study: Study) -> str:
    """Every difference of every walk as a dot."""
    outcomes, rows = study.outcomes, np.arange(len(study.outcomes))
    described = "Differences of ranges of motion by variant"
    with drawing(described, WHOLE, 50.0 + ROW * len(rows), NAMES) as drawn:
        axes = drawn.axes
        axes.axvspan(-BOUND, BOUND, color=SHADE, linewidth=0, zorder=0)
        axes.axvline(0.0, color=FAINT, linewidth=0.6, zorder=1)
        for k, each in enumerate(outcomes):
            people, rotations = each.differences.shape
            at = k + 0.56 * (np.arange(people) - (people - 1) / 2.0) / max(people, 2)
            axes.plot(each.differences, np.repeat(at[:, np.newaxis], rotations, axis=1), "o", color=COLORS[0],
                      markersize=3.0, alpha=0.55, markeredgewidth=0)  # fmt: skip
        axes.set_yticks(rows, [each.variant.name for each in outcomes])
        axes.tick_params(axis="y", length=0)
        axes.set(xlabel="range of motion, simulated less measured (deg)", ylim=(len(rows) - 0.5, -0.5))
    worst = study.outcomes[0].worst
    said = f"the largest of '{study.outcomes[0].variant.name}' is {signed(worst[0])}°, {worst[1].replace('_', ' ')}"
    caption = f"A dot for each rotation of each walk, a line of dots for each walk; grey is ±{BOUND:g}°; {said} of "
    return figure(drawn.svg, f"{caption}{short(worst[2])}.")


def _by_variant(study: Study) -> str:
    rows = [
        (rotation.title, *(signed(float(each.differences[:, k].mean())) for each in study.outcomes))
        for k, rotation in enumerate(ROTATIONS)
    ]
    head = ["mean difference (deg)", *(each.variant.name for each in study.outcomes)]
    return table(head, rows, "Simulated less measured, mean of all walks.")


def _printed(rotation: Rotation) -> float:
    """The difference that the paper prints, degrees."""
    return PRINTED.get(rotation.joint, rotation.simulation - rotation.reference)


def _whole(value: float) -> str:
    return f"{value:+.0f}".replace("-", MINUS) if value else "0"
