"""Report sections of a gait study: variants, ranges of motion, angle curves and equivalence tests."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from poise.analysis import EQUIVALENCE_BOUND, EQUIVALENCE_REMARK, TABLE_I, TABLE_I_JOINTS, CycleCurves, RangeOfMotionRow
from poise.html import (
    DASH,
    FULL_WIDTH,
    GRID_COLOR,
    HALF_WIDTH,
    LINE_COLORS,
    LINE_DASHES,
    MINUS,
    SHADE_COLOR,
    THIRD_WIDTH,
    Section,
    figure,
    grid,
    grouped_table,
    heading,
    new_chart,
    no_break,
    note,
    number,
    paragraph,
    percent,
    table,
)
from poise.human import BEST, PAPER, TWO_PHASES, Variant, VariantComparison, VariantResult
from poise.report.cycle_curves import CYCLE_AXIS_LABEL

if TYPE_CHECKING:
    from matplotlib.axes import Axes

KEY_POSTURE_TEXT = {
    "two": "2: ends of the two steps",
    "four": "4: ends of the four phases",
    "six": "6: phase ends, both knee peaks in swing",
    "eight": "8: the six, and each shank vertical in swing",
}
POSTURE_LAW_TEXT = {
    "pd_per_phase": "towards the next key; w = {gain:g} / duration of the phase",
    "pd": "towards the next key; w = {gain:g} 1/s",
    "time_to_go": "reaches the next key at its time",
    "minimum_jerk": "along the minimum-jerk path through all keys; w = {gain:g} 1/s",
    "track": "along the measured motion itself; w = {gain:g} 1/s",
    "interpolation": "minimum-jerk path through all keys, without tasks",
}
KEY_ORDER_TEXT = ("posture", "posture and velocity", "posture, velocity and acceleration")
TASK_ORDER_TEXT = "heels, then center of mass, then {momentum}posture"


def variant_columns(variant: Variant) -> tuple[str, str, str, str]:
    """Describe a variant: key postures, derivatives known at them, posture law, and tasks in order of priority."""
    tasks = TASK_ORDER_TEXT.format(momentum="angular momentum, then " if variant.momentum else "")
    if variant.law == "interpolation":
        tasks = "none"
    keys = "none" if variant.law == "track" else KEY_POSTURE_TEXT[variant.keys]
    return keys, KEY_ORDER_TEXT[variant.order], POSTURE_LAW_TEXT[variant.law].format(gain=variant.gain), tasks


def main_outcomes(study: VariantComparison) -> tuple[VariantResult, ...]:
    """Return the variants that are shown in full: that of the paper and the best one, else the first and the last."""
    outcomes_by_name = {each.variant.name: each for each in study.results}
    outcomes = [outcomes_by_name[each.name] for each in (PAPER, BEST) if each.name in outcomes_by_name]
    return tuple(outcomes) if len(outcomes) == 2 else tuple(dict.fromkeys((study.results[0], study.results[-1])))


def file_name(name: str) -> str:
    """Return the name of a walk without the folders of its file."""
    return Path(name).name or name


def signed_degrees(value: float) -> str:
    """Format degrees with a sign and one decimal; zero has no sign."""
    rounded = round(value, 1) + 0.0
    return f"{rounded:+.1f}".replace("-", MINUS) if rounded else "0.0"


def p_value_text(p: float | None) -> str:
    """Format a p-value as in papers: three decimals, or "< 0.001"."""
    return DASH if p is None else no_break("< 0.001") if p < 0.001 else f"{p:.3f}"


# -- Ranges of motion ------------------------------------------------------------------------------------------------


PAPER_DESCRIPTION = (
    "The first three columns are as printed in the paper, for nine men. The subjects here are others: differences can "
    "be compared, ranges only roughly. For the left knee and the left ankle the paper prints differences of 9 and 13 "
    "degrees, although its own ranges differ by 12 and 14."
)
#: Differences printed in the paper (degrees) that do not agree with its own ranges.
PRINTED_DIFFERENCES = {"left_knee_flexion": -9.0, "left_ankle_dorsiflexion": -13.0}
VARIANTS_DESCRIPTION = (
    "Ranges of motion are a weak criterion: an interpolation through the same key postures, without tasks, ground and "
    "balance, has the same ranges. The columns to the right show what the tasks contribute: heels and center of mass "
    "follow the measurement, and feet stay above the ground. The last columns show for how much of the time the "
    "zero-moment point (ZMP) is under the feet; in the rest of the time the ground cannot produce the motion."
)
#: Width of the variant names, and height of a row of the figure, in drawing units.
NAME_WIDTH, ROW_HEIGHT = 150.0, 22.0


def ranges_of_motion_section(study: VariantComparison) -> Section:
    """Build the section: Table I of the paper beside the same table for the main variants; then all variants."""
    outcomes = main_outcomes(study)
    rows = []
    for k, rotation in enumerate(TABLE_I):
        cells = [
            f"{rotation.simulation:.0f}",
            f"{rotation.reference:.0f}",
            _signed_integer(_printed_difference(rotation)),
        ]
        for each in outcomes:
            simulated, measured = float(each.ranges[:, k].mean()), float(each.reference_ranges[:, k].mean())
            cells += [f"{simulated:.1f}", f"{measured:.1f}", signed_degrees(simulated - measured)]
        rows.append((rotation.title, *cells))
    mean = [
        f"{np.mean([abs(_printed_difference(each)) for each in TABLE_I]):.1f}",
        *(f"{each.mean_difference:.1f}" for each in outcomes),
    ]
    rows.append(("mean absolute difference", *(word for each in mean for word in ("", "", each))))
    names = ["printed in the paper", *(f"'{each.variant.name}', here" for each in outcomes)]
    range_table = grouped_table(["mean range (deg)"], names, ("simulated", "measured", "difference"), rows)
    return Section(
        "Ranges of motion", paragraph(PAPER_DESCRIPTION) + range_table + heading("By variant") + _variant_table(study)
    )


def variants_section(study: VariantComparison) -> Section:
    """Build the section: all variants in a table and a figure, with errors of angles, heels, CoM, ground and ZMP."""
    head = [
        "variant", "mean absolute difference (deg)", "worst (deg)", f"beyond {EQUIVALENCE_BOUND:g} deg", "equivalent",
        "rms over the cycle (deg)", "heel error (mm)", "center of mass error (mm)", "below ground (mm)", "sliding (mm)",
        "ZMP inside (mean)", "(minimum)",
    ]  # fmt: skip
    rows = []
    for each in study.results:
        angles = (
            f"{each.mean_difference:.1f}",
            signed_degrees(each.worst_difference[0]),
            f"{each.beyond_bound} of {each.differences.size}",
            f"{each.equivalent_count} of {len(each.tests)}",
            f"{each.rms_error:.1f}",
        )
        lengths = (
            f"{each.largest(name):.1f}" for name in ("heel_error", "center_of_mass_error", "penetration", "foot_slide")
        )
        zmp_inside = percent(each.mean("zmp_inside")), percent(each.smallest("zmp_inside"))
        rows.append((each.variant.name, *angles, *lengths, *zmp_inside))
    first = study.results[0]
    ground_columns = (f"{first.largest('reference_penetration'):.1f}", f"{first.largest('reference_foot_slide'):.1f}")
    zmp_inside = percent(first.mean("reference_zmp_inside")), percent(first.smallest("reference_zmp_inside"))
    rows.append(("measured motion", *[""] * 7, *ground_columns, *zmp_inside))
    caption = (
        "Differences of ranges of motion are simulated minus measured. Errors of heels and center of mass, depth below "
        "ground and sliding are of the worst walk; ZMP is the share of time with the zero-moment point inside the "
        "support polygon."
    )
    return Section(
        "Variants side by side",
        paragraph(VARIANTS_DESCRIPTION) + table(head, rows, caption) + _difference_figure(study),
    )


def _difference_figure(study: VariantComparison) -> str:
    """Plot the difference of every range of motion of every walk as a dot."""
    outcomes, rows = study.results, np.arange(len(study.results))
    alt_text = "Differences of ranges of motion by variant"
    with new_chart(alt_text, FULL_WIDTH, 50.0 + ROW_HEIGHT * len(rows), NAME_WIDTH) as chart:
        axes = chart.axes
        axes.axvspan(-EQUIVALENCE_BOUND, EQUIVALENCE_BOUND, color=SHADE_COLOR, linewidth=0, zorder=0)
        axes.axvline(0.0, color=GRID_COLOR, linewidth=0.6, zorder=1)
        for k, each in enumerate(outcomes):
            people, rotations = each.differences.shape
            at = k + 0.56 * (np.arange(people) - (people - 1) / 2.0) / max(people, 2)
            axes.plot(each.differences, np.repeat(at[:, np.newaxis], rotations, axis=1), "o", color=LINE_COLORS[0],
                      markersize=3.0, alpha=0.55, markeredgewidth=0)  # fmt: skip
        axes.set_yticks(rows, [each.variant.name for each in outcomes])
        axes.tick_params(axis="y", length=0)
        axes.set(xlabel="range of motion, simulated minus measured (deg)", ylim=(len(rows) - 0.5, -0.5))
    worst = study.results[0].worst_difference
    name = study.results[0].variant.name
    text = f"the largest of '{name}' is {signed_degrees(worst[0])}°, {worst[1].replace('_', ' ')}"
    dots = "One dot per joint angle and walk, one row of dots per walk"
    return figure(chart.svg, f"{dots}; gray is ±{EQUIVALENCE_BOUND:g}°; {text} of {file_name(worst[2])}.")


def _variant_table(study: VariantComparison) -> str:
    rows = [
        (rotation.title, *(signed_degrees(float(each.differences[:, k].mean())) for each in study.results))
        for k, rotation in enumerate(TABLE_I)
    ]
    head = ["mean difference (deg)", *(each.variant.name for each in study.results)]
    return table(head, rows, "Simulated minus measured, mean of all walks.")


def _printed_difference(rotation: RangeOfMotionRow) -> float:
    """Return the difference printed in the paper, degrees."""
    return PRINTED_DIFFERENCES.get(rotation.joint, rotation.simulation - rotation.reference)


def _signed_integer(value: float) -> str:
    return f"{value:+.0f}".replace("-", MINUS) if value else "0"


# -- Curves ----------------------------------------------------------------------------------------------------------


#: Joints of figures 4 to 7 of the paper, by number of the figure.
PAPER_FIGURES = {
    4: "right_hip_flexion",
    5: "right_hip_adduction",
    6: "right_knee_flexion",
    7: "right_ankle_inversion",
}
MEASURED_COLOR, BAND_COLOR = "#333333", "#d9d9d9"


def angle_curves_section(study: VariantComparison) -> Section:
    """Build the section: figures 4 to 7 of the paper, then all twelve joint angles of the legs."""
    outcomes, people = main_outcomes(study), study.results[0].curves.count
    description = (
        "From initial contact of the right foot (0 %) to its next (100 %). Measured: black, with one standard "
        f"deviation in gray; simulated: {' and '.join(_legend_text(each, i) for i, each in enumerate(outcomes))}. "
    )
    deviation_note = (
        "A single walk has no standard deviation."
        if people < 2
        else f"Means of {people} walks; the first simulation with its standard deviation."
    )
    paper_figures = [
        _curve_figure(outcomes, joint, HALF_WIDTH, f"Figure {n} of the paper. ") for n, joint in PAPER_FIGURES.items()
    ]
    all_figures = [_curve_figure(outcomes, joint, THIRD_WIDTH) for joint in TABLE_I_JOINTS]
    parts = [
        paragraph(description + deviation_note),
        grid(paper_figures),
        heading("All joint angles"),
        grid(all_figures, 3),
    ]
    return Section("Curves over the gait cycle", "".join(parts))


def swing_knee_section(study: VariantComparison) -> Section | None:
    """Build the section on the swing knee if the only key postures are the ends of the two steps.

    None if the study does not include that variant.
    """
    outcomes_by_name = {each.variant.name: each for each in study.results}
    if TWO_PHASES.name not in outcomes_by_name:
        return None
    outcomes = [outcomes_by_name[name] for name in (PAPER.name, TWO_PHASES.name) if name in outcomes_by_name]
    description = (
        "Without key postures at toe-off, nothing makes the knee bend: at both ends of a step it is nearly straight, "
        "and no task requires flexion. The leg swings through straight, as the paper reports of its own trial with two "
        "phases. The toes still clear the ground, since that is a constraint: other joints provide the clearance."
    )
    joints = [f"{side}_knee_flexion" for side in ("right", "left")]
    figures = [_curve_figure(outcomes, joint, HALF_WIDTH) for joint in joints]
    rows = []
    for joint in joints:
        k = TABLE_I_JOINTS.index(joint)
        measured = float(outcomes[0].reference_ranges[:, k].mean())
        simulated = [number(float(each.ranges[:, k].mean())) for each in outcomes]
        rows.append((TABLE_I[k].title, number(measured), *simulated))
    head = ["mean range (deg)", "measured", *(f"'{each.variant.name}'" for each in outcomes)]
    return Section("Swing knee with two phases", paragraph(description) + grid(figures) + table(head, rows))


def _legend_text(outcome: VariantResult, order: int) -> str:
    return f"'{outcome.variant.name}', {('blue', 'orange, dashed')[order % 2]}"


def _curve_figure(outcomes: Sequence[VariantResult], joint: str, width: float, caption_prefix: str = "") -> str:
    k = TABLE_I_JOINTS.index(joint)
    title = TABLE_I[k].title
    with new_chart(f"{title} over the gait cycle, measured and simulated", width) as chart:
        axes = chart.axes
        _draw_deviation(axes, outcomes[0].reference_curves, k, BAND_COLOR, 1.0)
        _draw_deviation(axes, outcomes[0].curves, k, LINE_COLORS[0], 0.16)
        share = np.linspace(0.0, 100.0, len(outcomes[0].curves.mean))
        axes.plot(share, outcomes[0].reference_curves.mean[:, k], color=MEASURED_COLOR, linewidth=1.5, label="measured")
        for i, each in enumerate(outcomes):
            axes.plot(share, each.curves.mean[:, k], color=LINE_COLORS[i], linestyle=LINE_DASHES[i], linewidth=1.3,
                      label=each.variant.name)  # fmt: skip
        axes.set(xlabel=CYCLE_AXIS_LABEL, ylabel="angle (deg)", xlim=(0.0, 100.0))
        chart.legend(3)
    measured = number(float(outcomes[0].reference_ranges[:, k].mean()), 2)
    simulated = ", ".join(f"'{each.variant.name}' {number(float(each.ranges[:, k].mean()), 2)}°" for each in outcomes)
    return figure(chart.svg, f"{caption_prefix}{title}: mean range {measured}°; {simulated}.")


def _draw_deviation(axes: Axes, curve_spread: CycleCurves, k: int, color: str, alpha: float) -> None:
    """Draw a band of one standard deviation around the mean, if the deviation is known."""
    share = np.linspace(0.0, 100.0, len(curve_spread.mean))
    mean, deviation = curve_spread.mean[:, k], curve_spread.deviation[:, k]
    if np.isfinite(deviation).all():
        axes.fill_between(share, mean - deviation, mean + deviation, color=color, alpha=alpha, linewidth=0)


# -- Statistics ------------------------------------------------------------------------------------------------------


VERDICT_COLORS = {
    "equivalent": LINE_COLORS[2],
    "not shown": "#8f6d00",
    "different": LINE_COLORS[1],
    "cannot be judged": GRID_COLOR,
}
#: Width of the joint names, and height of a row, in drawing units.
FOREST_NAME_WIDTH, FOREST_ROW_HEIGHT = 140.0, 16.0


def statistics_section(study: VariantComparison) -> Section:
    """Build the section: intervals of the differences against the equivalence bounds, then all tests in tables."""
    outcomes = main_outcomes(study)
    parts = [paragraph(EQUIVALENCE_REMARK), paragraph(_equivalence_sentence(outcomes))]
    testable = [each for each in outcomes if any(test.interval is not None for test in each.tests)]
    max_interval = max(
        (abs(end) for each in testable for test in each.tests for end in test.interval or ()), default=EQUIVALENCE_BOUND
    )
    parts += [grid([_forest_plot(each, max_interval) for each in testable])]
    if not testable:
        parts.append(note(f"No interval can be given: {outcomes[0].tests[0].remark}."))
    for each in outcomes:
        parts += [heading(f"'{each.variant.name}'"), _test_table(each)]
    return Section("Statistics", "".join(parts))


def _equivalence_sentence(outcomes: Sequence[VariantResult]) -> str:
    text = [f"{each.equivalent_count} of {len(each.tests)} joint angles of '{each.variant.name}'" for each in outcomes]
    return f"Shown to be equivalent within ±{EQUIVALENCE_BOUND:g} degrees: {', '.join(text)}."


def _forest_plot(outcome: VariantResult, max_interval: float) -> str:
    """Plot the mean differences with their 90 % intervals, colored by verdict."""
    rows = np.arange(len(outcome.tests))
    name, limit = outcome.variant.name, 1.12 * max(max_interval, EQUIVALENCE_BOUND)
    with new_chart(
        f"Intervals of the differences of {name}", HALF_WIDTH, 50.0 + FOREST_ROW_HEIGHT * len(rows), FOREST_NAME_WIDTH
    ) as chart:
        axes = chart.axes
        axes.axvspan(-EQUIVALENCE_BOUND, EQUIVALENCE_BOUND, color=SHADE_COLOR, linewidth=0, zorder=0)
        axes.axvline(0.0, color=GRID_COLOR, linewidth=0.6, zorder=1)
        for k, test in enumerate(outcome.tests):
            if test.interval is None or test.mean is None:
                continue
            color = VERDICT_COLORS[test.verdict]
            axes.plot(test.interval, (k, k), color=color, linewidth=2.2, solid_capstyle="butt")
            axes.plot([test.mean], [k], "o", color=color, markersize=4.0)
        for verdict, color in VERDICT_COLORS.items():
            if any(test.verdict == verdict and test.interval for test in outcome.tests):
                axes.plot([], [], "o-", color=color, markersize=4.0, linewidth=2.2, label=verdict)
        axes.set_yticks(rows, [rotation.title for rotation in TABLE_I])
        axes.tick_params(axis="y", length=0)
        axes.set(xlabel="simulated minus measured (deg)", xlim=(-limit, limit), ylim=(len(rows) - 0.5, -0.5))
        chart.legend(3)
    text = f"mean difference of each range of motion and its 90 % interval; gray is ±{EQUIVALENCE_BOUND:g}°"
    return figure(chart.svg, f"'{name}', {len(outcome.qualities)} walks: {text}.")


def _test_table(outcome: VariantResult) -> str:
    rows = []
    for rotation, test in zip(TABLE_I, outcome.tests, strict=True):
        ends = [signed_degrees(end) for end in test.interval or ()]
        interval = no_break(" to ".join(ends)) or DASH
        mean = DASH if test.mean is None else signed_degrees(test.mean)
        deviation = DASH if test.deviation is None else f"{test.deviation:.1f}"
        p_values = (test.normality, test.student, test.wilcoxon, test.tost, test.holm)
        rows.append((rotation.title, mean, deviation, interval, no_break(test.verdict), *map(p_value_text, p_values)))
    head = ["joint angle", "mean (deg)", "SD (deg)", "90 % interval (deg)", "verdict", "Shapiro-Wilk p", "Student p",
            "Wilcoxon p", "TOST p", "TOST p, Holm"]  # fmt: skip
    caption = (
        "Paired differences, simulated minus measured. Shapiro-Wilk: below 0.05 the differences are not normally "
        "distributed. Student: below 0.05 the mean difference is not zero; Wilcoxon: the same for differences that are "
        "not normally distributed. TOST: below 0.05 the mean difference is within the bounds; Holm corrects for twelve "
        "tests."
    )
    return table(head, rows, caption)
