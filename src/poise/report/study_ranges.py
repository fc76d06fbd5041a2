"""Sections of a gait study: ranges of motion, angle curves and equivalence tests."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from poise.analysis import EQUIVALENCE_BOUND, EQUIVALENCE_REMARK, TABLE_I, TABLE_I_JOINTS, CycleCurves, TableRow
from poise.html import (
    COLORS,
    DASHES,
    FAINT,
    HALF,
    MINUS,
    NONE,
    SHADE,
    THIRD,
    WHOLE,
    Section,
    beside,
    drawing,
    figure,
    grouped,
    heading,
    note,
    number,
    paragraph,
    percent,
    table,
    unbroken,
)
from poise.human import BEST, PAPER, TWO_PHASES, Outcome, Study, Variant
from poise.report.cycle_curves import SCALE

if TYPE_CHECKING:
    from matplotlib.axes import Axes

KEYS = {
    "two": "2: ends of the two steps",
    "four": "4: ends of the four phases",
    "six": "6: phase ends, both knee peaks in swing",
    "eight": "8: the six, and each shank upright in swing",
}
LAWS = {
    "pd_per_phase": "towards the next key; w = {gain:g} / duration of the phase",
    "pd": "towards the next key; w = {gain:g} 1/s",
    "time_to_go": "so as to reach the next key in time",
    "minimum_jerk": "along the path of least jerk through all keys; w = {gain:g} 1/s",
    "track": "along the measured motion itself; w = {gain:g} 1/s",
    "interpolation": "the path of least jerk through all keys, and nothing else",
}
KNOWN = ("posture", "posture and velocity", "posture, velocity and acceleration")
TASKS = "heels, then center of mass, then {momentum}posture"


def told(variant: Variant) -> tuple[str, str, str, str]:
    """Key postures, what is known at them, law of the posture, tasks in their order: in words."""
    tasks = TASKS.format(momentum="angular momentum, then " if variant.momentum else "")
    if variant.law == "interpolation":
        tasks = "none"
    keys = "none" if variant.law == "track" else KEYS[variant.keys]
    return keys, KNOWN[variant.order], LAWS[variant.law].format(gain=variant.gain), tasks


def shown(study: Study) -> tuple[Outcome, ...]:
    """The variants that are shown in full: the paper's and the best one, or the first and the last there are."""
    known = {each.variant.name: each for each in study.outcomes}
    chosen = [known[each.name] for each in (PAPER, BEST) if each.name in known]
    return tuple(chosen) if len(chosen) == 2 else tuple(dict.fromkeys((study.outcomes[0], study.outcomes[-1])))


def short(name: str) -> str:
    """A walk's name without the folders of its file."""
    return Path(name).name or name


def signed(value: float) -> str:
    """Degrees with a sign and one digit; zero has none."""
    rounded = round(value, 1) + 0.0
    return f"{rounded:+.1f}".replace("-", MINUS) if rounded else "0.0"


def probability(p: float | None) -> str:
    """Of a test, as papers print it."""
    return NONE if p is None else unbroken("< 0.001") if p < 0.001 else f"{p:.3f}"


# -- Ranges of motion ------------------------------------------------------------------------------------------------


PAPER_TEXT = (
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
    for k, rotation in enumerate(TABLE_I):
        cells = [f"{rotation.simulation:.0f}", f"{rotation.reference:.0f}", _whole(_printed(rotation))]
        for each in outcomes:
            ours, theirs = float(each.ranges[:, k].mean()), float(each.reference_ranges[:, k].mean())
            cells += [f"{ours:.1f}", f"{theirs:.1f}", signed(ours - theirs)]
        rows.append((rotation.title, *cells))
    mean = [
        f"{np.mean([abs(_printed(each)) for each in TABLE_I]):.1f}",
        *(f"{each.mean_difference:.1f}" for each in outcomes),
    ]
    rows.append(("mean size of a difference", *(word for each in mean for word in ("", "", each))))
    names = ["printed in the paper", *(f"'{each.variant.name}', here" for each in outcomes)]
    whole = grouped(["mean range (deg)"], names, ("simulated", "measured", "difference"), rows)
    return Section("Ranges of motion", paragraph(PAPER_TEXT) + whole + heading("By variant") + _by_variant(study))


def variants(study: Study) -> Section:
    """All variants in one table and one figure: angles, then what angles do not tell."""
    head = [
        "variant", "mean size of a difference (deg)", "worst (deg)", f"beyond {EQUIVALENCE_BOUND:g} deg", "equivalent",
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
        axes.axvspan(-EQUIVALENCE_BOUND, EQUIVALENCE_BOUND, color=SHADE, linewidth=0, zorder=0)
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
    dots = "A dot for each rotation of each walk, a line of dots for each walk"
    return figure(drawn.svg, f"{dots}; grey is ±{EQUIVALENCE_BOUND:g}°; {said} of {short(worst[2])}.")


def _by_variant(study: Study) -> str:
    rows = [
        (rotation.title, *(signed(float(each.differences[:, k].mean())) for each in study.outcomes))
        for k, rotation in enumerate(TABLE_I)
    ]
    head = ["mean difference (deg)", *(each.variant.name for each in study.outcomes)]
    return table(head, rows, "Simulated less measured, mean of all walks.")


def _printed(rotation: TableRow) -> float:
    """The difference that the paper prints, degrees."""
    return PRINTED.get(rotation.joint, rotation.simulation - rotation.reference)


def _whole(value: float) -> str:
    return f"{value:+.0f}".replace("-", MINUS) if value else "0"


# -- Curves ----------------------------------------------------------------------------------------------------------


#: The rotations of figures 4 to 7 of the paper.
FIGURES = {
    4: "right_hip_flexion",
    5: "right_hip_adduction",
    6: "right_knee_flexion",
    7: "right_ankle_inversion",
}
MEASURED, BAND = "#333333", "#d9d9d9"


def curves(study: Study) -> Section:
    """Figures 4 to 7 of the paper, then all twelve rotations."""
    outcomes, people = shown(study), study.outcomes[0].curves.count
    words = (
        "From a strike of the right foot (0 %) to its next (100 %). Measured: black, with one standard deviation in "
        f"grey; simulated: {' and '.join(_said(each, i) for i, each in enumerate(outcomes))}. "
    )
    spread = (
        "One walk has no deviation."
        if people < 2
        else f"Means of {people} walks; the first simulation with its deviation."
    )
    large = [_figure(outcomes, joint, HALF, f"Figure {n} of the paper. ") for n, joint in FIGURES.items()]
    small = [_figure(outcomes, joint, THIRD) for joint in TABLE_I_JOINTS]
    parts = [paragraph(words + spread), beside(large), heading("All rotations"), beside(small, 3)]
    return Section("Curves over the gait cycle", "".join(parts))


def swing_knee(study: Study) -> Section | None:
    """What becomes of the swinging knee if the keys are the ends of the two steps alone; None if nobody asked."""
    known = {each.variant.name: each for each in study.outcomes}
    if TWO_PHASES.name not in known:
        return None
    outcomes = [known[name] for name in (PAPER.name, TWO_PHASES.name) if name in known]
    words = (
        "Without the postures at the toe-offs, nothing tells the knee to bend: at both ends of a step it is nearly "
        "straight, and no task asks for more. The leg swings straight through, as the paper reports of its own trial "
        "with two phases. The toes still pass the ground, since that is a constraint: other joints make the room."
    )
    joints = [f"{side}_knee_flexion" for side in ("right", "left")]
    figures = [_figure(outcomes, joint, HALF) for joint in joints]
    rows = []
    for joint in joints:
        k = TABLE_I_JOINTS.index(joint)
        measured = float(outcomes[0].reference_ranges[:, k].mean())
        ours = [number(float(each.ranges[:, k].mean())) for each in outcomes]
        rows.append((TABLE_I[k].title, number(measured), *ours))
    head = ["mean range (deg)", "measured", *(f"'{each.variant.name}'" for each in outcomes)]
    return Section("The swinging knee with two phases", paragraph(words) + beside(figures) + table(head, rows))


def _said(outcome: Outcome, order: int) -> str:
    return f"'{outcome.variant.name}', {('blue', 'orange, dashed')[order % 2]}"


def _figure(outcomes: Sequence[Outcome], joint: str, width: float, before: str = "") -> str:
    k = TABLE_I_JOINTS.index(joint)
    title = TABLE_I[k].title
    with drawing(f"{title} over the gait cycle, measured and simulated", width) as drawn:
        axes = drawn.axes
        _band(axes, outcomes[0].reference_curves, k, BAND, 1.0)
        _band(axes, outcomes[0].curves, k, COLORS[0], 0.16)
        share = np.linspace(0.0, 100.0, len(outcomes[0].curves.mean))
        axes.plot(share, outcomes[0].reference_curves.mean[:, k], color=MEASURED, linewidth=1.5, label="measured")
        for i, each in enumerate(outcomes):
            axes.plot(share, each.curves.mean[:, k], color=COLORS[i], linestyle=DASHES[i], linewidth=1.3,
                      label=each.variant.name)  # fmt: skip
        axes.set(xlabel=SCALE, ylabel="angle (deg)", xlim=(0.0, 100.0))
        drawn.legend(3)
    measured = number(float(outcomes[0].reference_ranges[:, k].mean()), 2)
    ours = ", ".join(f"'{each.variant.name}' {number(float(each.ranges[:, k].mean()), 2)}°" for each in outcomes)
    return figure(drawn.svg, f"{before}{title}: mean range {measured}°; {ours}.")


def _band(axes: Axes, spread: CycleCurves, k: int, color: str, alpha: float) -> None:
    """One standard deviation around the mean, where there is one."""
    share = np.linspace(0.0, 100.0, len(spread.mean))
    mean, deviation = spread.mean[:, k], spread.deviation[:, k]
    if np.isfinite(deviation).all():
        axes.fill_between(share, mean - deviation, mean + deviation, color=color, alpha=alpha, linewidth=0)


# -- Statistics ------------------------------------------------------------------------------------------------------


VERDICTS = {"equivalent": COLORS[2], "not shown": "#8f6d00", "different": COLORS[1], "cannot be judged": FAINT}
#: Room for the names of rotations, and height of a row, in units of the drawing.
FOREST_NAMES, FOREST_ROW = 140.0, 16.0


def statistics(study: Study) -> Section:
    """The verdict as intervals against the bounds, then every test in a table."""
    outcomes = shown(study)
    parts = [paragraph(EQUIVALENCE_REMARK), paragraph(_families(outcomes))]
    judged = [each for each in outcomes if any(test.interval is not None for test in each.tests)]
    reach = max(
        (abs(end) for each in judged for test in each.tests for end in test.interval or ()), default=EQUIVALENCE_BOUND
    )
    parts += [beside([_forest(each, reach) for each in judged])]
    if not judged:
        parts.append(note(f"No interval can be given: {outcomes[0].tests[0].remark}."))
    for each in outcomes:
        parts += [heading(f"'{each.variant.name}'"), _tests(each)]
    return Section("Statistics", "".join(parts))


def _families(outcomes: Sequence[Outcome]) -> str:
    said = [f"{each.equivalent} of {len(each.tests)} rotations of '{each.variant.name}'" for each in outcomes]
    return f"Shown to be equivalent within ±{EQUIVALENCE_BOUND:g} degrees: {', '.join(said)}."


def _forest(outcome: Outcome, reach: float) -> str:
    """Mean differences with their 90 % intervals; a verdict has a colour and stands at the right."""
    rows = np.arange(len(outcome.tests))
    name, limit = outcome.variant.name, 1.12 * max(reach, EQUIVALENCE_BOUND)
    with drawing(f"Intervals of the differences of {name}", HALF, 50.0 + FOREST_ROW * len(rows), FOREST_NAMES) as drawn:
        axes = drawn.axes
        axes.axvspan(-EQUIVALENCE_BOUND, EQUIVALENCE_BOUND, color=SHADE, linewidth=0, zorder=0)
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
        axes.set_yticks(rows, [rotation.title for rotation in TABLE_I])
        axes.tick_params(axis="y", length=0)
        axes.set(xlabel="simulated less measured (deg)", xlim=(-limit, limit), ylim=(len(rows) - 0.5, -0.5))
        drawn.legend(3)
    said = f"mean difference of each range of motion and its 90 % interval; grey is ±{EQUIVALENCE_BOUND:g}°"
    return figure(drawn.svg, f"'{name}', {len(outcome.measures)} walks: {said}.")


def _tests(outcome: Outcome) -> str:
    rows = []
    for rotation, test in zip(TABLE_I, outcome.tests, strict=True):
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
