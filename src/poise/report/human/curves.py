"""Curves: rotations over the gait cycle, mean and standard deviation over the people, simulated and measured."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from poise.analysis.rotations import JOINTS, ROTATIONS, Spread
from poise.human.gait import PAPER, TWO_PHASES, Outcome, Study
from poise.report.human.words import shown
from poise.report.page.cycle import SCALE
from poise.report.page.drawing import COLORS, DASHES, HALF, THIRD, drawing
from poise.report.page.html import beside, figure, heading, number, paragraph, table
from poise.report.page.section import Section

Array = NDArray[np.float64]

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
    outcomes, people = shown(study), study.outcomes[0].curves.people
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
    small = [_figure(outcomes, joint, THIRD) for joint in JOINTS]
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
        k = JOINTS.index(joint)
        measured = float(outcomes[0].reference_ranges[:, k].mean())
        ours = [number(float(each.ranges[:, k].mean())) for each in outcomes]
        rows.append((ROTATIONS[k].title, number(measured), *ours))
    head = ["mean range (deg)", "measured", *(f"'{each.variant.name}'" for each in outcomes)]
    return Section("The swinging knee with two phases", paragraph(words) + beside(figures) + table(head, rows))


def _said(outcome: Outcome, order: int) -> str:
    return f"'{outcome.variant.name}', {('blue', 'orange, dashed')[order % 2]}"


def _figure(outcomes: Sequence[Outcome], joint: str, width: float, before: str = "") -> str:
    k = JOINTS.index(joint)
    title = ROTATIONS[k].title
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


def _band(axes: Axes, spread: Spread, k: int, color: str, alpha: float) -> None:
    """One standard deviation around the mean, where there is one."""
    share = np.linspace(0.0, 100.0, len(spread.mean))
    mean, deviation = spread.mean[:, k], spread.deviation[:, k]
    if np.isfinite(deviation).all():
        axes.fill_between(share, mean - deviation, mean + deviation, color=color, alpha=alpha, linewidth=0)
