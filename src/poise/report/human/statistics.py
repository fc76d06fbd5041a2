"""Statistics: whether reproduced and measured ranges of motion are equivalent, as a forest of intervals."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from poise.analysis.equivalence import BOUND, REMARK
from poise.analysis.rotations import ROTATIONS
from poise.human.gait import Outcome, Study
from poise.report.human.words import probability, shown, signed
from poise.report.page.drawing import COLORS, FAINT, HALF, SHADE, drawing
from poise.report.page.html import NONE, beside, figure, heading, note, paragraph, table, unbroken
from poise.report.page.section import Section

VERDICTS = {"equivalent": COLORS[2], "not shown": "#8f6d00", "different": COLORS[1], "cannot be judged": FAINT}
#: Room for the names of rotations, and height of a row, in units of the drawing.
NAMES, ROW = 140.0, 16.0


def statistics(study: Study) -> Section:
    """The verdict as intervals against the bounds, then every test in a table."""
    outcomes = shown(study)
    parts = [paragraph(REMARK), paragraph(_families(outcomes))]
    judged = [each for each in outcomes if any(test.interval is not None for test in each.tests)]
    reach = max((abs(end) for each in judged for test in each.tests for end in test.interval or ()), default=BOUND)
    parts += [beside([_forest(each, reach) for each in judged])]
    if not judged:
        parts.append(note(f"No interval can be given: {outcomes[0].tests[0].remark}."))
    for each in outcomes:
        parts += [heading(f"'{each.variant.name}'"), _tests(each)]
    return Section("Statistics", "".join(parts))


def _families(outcomes: Sequence[Outcome]) -> str:
    said = [f"{each.equivalent} of {len(each.tests)} rotations of '{each.variant.name}'" for each in outcomes]
    return f"Shown to be equivalent within ±{BOUND:g} degrees: {', '.join(said)}."


def _forest(outcome: Outcome, reach: float) -> str:
    """Mean differences with their 90 % intervals; a verdict has a colour and stands at the right."""
    rows = np.arange(len(outcome.tests))
    name, limit = outcome.variant.name, 1.12 * max(reach, BOUND)
    with drawing(f"Intervals of the differences of {name}", HALF, 50.0 + ROW * len(rows), NAMES) as drawn:
        axes = drawn.axes
        axes.axvspan(-BOUND, BOUND, color=SHADE, linewidth=0, zorder=0)
        axes.axvline(0.0, color=FAINT, linewidth=0.6, zorder=1)
        for k, test in enumerate(outcome.tests):
            if test.interval is None or test.mean is None:
                continue
            color = VERDICTS[test.verdict]
            axes.plot(test.interval, (k, k), color=color, linewidth=2.2, solid_capstyle="butt")
            axes.plot([test.mean], [k], "o", color=color, markersize=4.0)
        for verdict, color in VERDICTS.items():
            if any(test.verdict == verdict and test.interval for test in outcome.tests):
                axes.plot([], [], "o-", color=color, markersize=4.0, linewidth=2.2, label=verdict)
        axes.set_yticks(rows, [rotation.title for rotation in ROTATIONS])
        axes.tick_params(axis="y", length=0)
        axes.set(xlabel="simulated less measured (deg)", xlim=(-limit, limit), ylim=(len(rows) - 0.5, -0.5))
        drawn.legend(3)
    said = f"mean difference of each range of motion and its 90 % interval; grey is ±{BOUND:g}°"
    return figure(drawn.svg, f"'{name}', {len(outcome.measures)} walks: {said}.")


def _tests(outcome: Outcome) -> str:
    rows = []
    for rotation, test in zip(ROTATIONS, outcome.tests, strict=True):
        ends = [signed(end) for end in test.interval or ()]
        interval = unbroken(" to ".join(ends)) or NONE
        mean = NONE if test.mean is None else signed(test.mean)
        deviation = NONE if test.deviation is None else f"{test.deviation:.1f}"
        odds = (test.normality, test.student, test.wilcoxon, test.tost, test.holm)
        rows.append((rotation.title, mean, deviation, interval, unbroken(test.verdict), *map(probability, odds)))
    head = ["rotation", "mean (deg)", "SD (deg)", "90 % interval (deg)", "verdict", "Shapiro-Wilk p", "Student p",
            "Wilcoxon p", "TOST p", "TOST p, Holm"]  # fmt: skip
    caption = (
        "Paired differences, simulated less measured. Shapiro-Wilk: below 0.05 the differences are not normal. "
        "Student: below 0.05 the mean difference is not zero; Wilcoxon the same where the differences are not normal. "
        "TOST: below 0.05 it is within the bounds; Holm corrects for twelve tests at once."
    )
    return table(head, rows, caption)
