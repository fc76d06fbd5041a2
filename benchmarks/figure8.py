"""Figure 8 of [Sugihara2008]: two steps of 3 cm to the right, without and with the correction of durations.

    python benchmarks/figure8.py [FILE.png]

Prints the margins of the zero moment point (ZMP) and the corrected durations for several divisions of a step into
phases, and draws both cases.

Result: as in the paper, the first step is feasible in 0.5 s and the second is not. The body still moves to the right
when the second step begins, and with a short double support the ZMP has to jump beyond the right sole to accelerate the
body back over the left one. A longer duration brings the ZMP inside. How long depends on the phases of a step and on
the relaxation weights, which the paper does not state: 0.9 s with the settings below (paper: 1.0 s). With a longer
double support no correction is needed. The assumptions are those of the paper, a concentrated mass and soles that are
used up to their edge; the planner of Poise considers the whole body and leaves a margin for the feedback.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from typing import NamedTuple

import numpy as np

import poise
from poise.arrays import Array
from poise.plans import (
    Goal,
    InitialState,
    MotionSegment,
    NavigationPoints,
    Planner,
    SegmentSettings,
    SupportRegion,
    ThreeMassModel,
    Workspace,
    standing_points,
    zmp_path,
)
from poise.plans.segment.center_path import RelaxationWeights
from poise.plans.segment.segment import stance_feet_by_phase

#: Fractions of a step in double, single and double support: the short first double support causes the effect.
PHASES = (0.12, 0.66, 0.22)
#: Relaxation weights for a smooth path of the ZMP. The planner's own weights draw the ZMP to the middle of the sole;
#: with them the first step is too fast as well.
GENTLE_WEIGHTS = RelaxationWeights(single=4.0, double=0.3, smooth=0.5)
STEP_LENGTH, STEP_COUNT = 0.03, 2  # m to the right, number of steps
#: Enlargement of the soles (m) with which the planner accepts the commanded duration: the case without correction.
UNCORRECTED_MARGIN = 0.5


class SegmentTrace(NamedTuple):
    """Samples of a segment every 5 ms: times (s), ZMP and center of mass (m), and margin of the ZMP (m)."""

    time: Array
    zmp: Array
    center: Array
    margin: Array


def body_models(robot: poise.Robot) -> dict[str, ThreeMassModel]:
    """Return the model of the paper, one concentrated mass, and that of Poise, with legs and trunk, by name."""
    full_body = replace(ThreeMassModel.of(robot), sole_margin=0.0)
    return {"concentrated mass": replace(full_body, leg_mass=1e-9, trunk_inertia=(0.0, 0.0)), "whole body": full_body}


def segment_settings(
    phases: tuple[float, float, float] = PHASES, relaxation: RelaxationWeights = GENTLE_WEIGHTS
) -> SegmentSettings:
    return SegmentSettings(duration=0.5, phases=phases, compensate=False, relaxation=relaxation)


def plan_steps(
    robot: poise.Robot, body: ThreeMassModel, step_settings: SegmentSettings, corrected: bool
) -> list[MotionSegment]:
    """Plan the steps one after the other, with or without correction of their durations."""
    planner = Planner(body if corrected else replace(body, sole_margin=-UNCORRECTED_MARGIN), step_settings)
    lift = Workspace.of(robot).lift[0]
    begin, segments = InitialState.at_rest(standing_points(robot)), []
    for _ in range(STEP_COUNT):
        segments.append(planner.plan(begin, Goal(step_right(begin.points), "right", lift)))
        begin = segments[-1].final_state
    return segments


def step_right(points: NavigationPoints) -> NavigationPoints:
    """Return the navigation points after a step to the right, by equation (3)."""
    left, right = points.feet["left"], points.feet["right"]
    foot = right.with_place(right.place - 1j * STEP_LENGTH, left.z)
    middle = 0.5 * (left.place + foot.place)
    center = np.array([middle.real, middle.imag, points.center[2]])
    return points.replace(center=center, feet={"left": left, "right": foot}, last_moved="right")


def trace_segment(body: ThreeMassModel, segment: MotionSegment) -> SegmentTrace:
    """Sample a segment, with the margin of the ZMP to the support polygon of each phase."""
    time = np.linspace(0.0, segment.seconds, round(segment.seconds / 0.005) + 1)
    samples = [segment.sample(t) for t in time.tolist()]
    center = np.array([sample.center[0] for sample in samples])
    zmp, _ = zmp_path(body, segment, time)
    margin = np.full(len(time), np.nan)
    for phase, feet in zip(
        segment.phases, stance_feet_by_phase(segment.initial, segment.goal, segment.phases), strict=True
    ):
        # At the boundary of two phases, either support polygon counts.
        now = (time >= phase.begin - 1e-9) & (time <= phase.end + 1e-9)
        margin[now] = np.fmax(margin[now], SupportRegion(feet, body.sole_half, 0.0).margins(zmp[now], center[now]))
    return SegmentTrace(time, zmp, center, margin)


def print_margins(robot: poise.Robot) -> None:
    """Print margins and durations for several divisions of a step into phases."""
    weight_sets = {"gentle": GENTLE_WEIGHTS, "planner's own": RelaxationWeights()}
    splits = (PHASES, (0.10, 0.70, 0.20), (0.15, 0.60, 0.25), (0.28, 0.44, 0.28))
    for name, body in body_models(robot).items():
        for weights, relaxation in weight_sets.items():
            for phases in splits:
                step_settings = segment_settings(phases, relaxation)
                uncorrected, corrected_steps = (
                    plan_steps(robot, body, step_settings, corrected) for corrected in (False, True)
                )
                out = ", ".join(f"{1e3 * trace_segment(body, each).margin.min():+.1f}" for each in uncorrected)
                T = ", ".join(f"{each.seconds:.1f}" for each in corrected_steps)
                print(
                    f"{name}, {weights} weights, phases {phases}: in 0.5 s inside by {out} mm; corrected to T = {T} s"
                )


def draw_figure(robot: poise.Robot, path: str) -> None:
    """Draw both cases: top view, and lateral position over time with the support region."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    body = body_models(robot)["concentrated mass"]
    figure, axes = pyplot.subplots(2, 2, figsize=(9.0, 6.6), layout="constrained", sharex="row", sharey="row")
    for column, (corrected, title) in enumerate(((False, "without correction"), (True, "with correction"))):
        segments = plan_steps(robot, body, segment_settings(), corrected)
        top_axes, side_axes = axes[:, column]
        begin = 0.0
        for k, segment in enumerate(segments):
            trace = trace_segment(body, segment)
            _draw_soles(top_axes, body, segment, k)
            for points, color, name in ((trace.zmp, "#d55e00", "ZMP"), (trace.center, "#222222", "center of mass")):
                top_axes.plot(points[:, 1], points[:, 0], color=color, linewidth=1.4, label=name if k == 0 else None)
                side_axes.plot(begin + trace.time, points[:, 1], color=color, linewidth=1.4)
            out = trace.margin < 0.0
            side_axes.plot(begin + trace.time[out], trace.zmp[out, 1], "x", color="#b00020", markersize=5)
            _draw_support_band(side_axes, body, segment, begin)
            begin += segment.seconds
        T = " and ".join(f"{segment.seconds:.1f} s" for segment in segments)
        top_axes.set(title=f"{title}: T = {T}", xlabel="y (m), to the left", aspect="equal")
        side_axes.set(xlabel="time (s); crosses: outside the support")
    axes[0, 0].invert_xaxis()
    axes[0, 0].set_ylabel("x (m)")
    axes[1, 0].set_ylabel("y (m); gray: the support")
    axes[0, 0].legend(fontsize=8, loc="upper left")
    figure.savefig(path, dpi=110)


def _draw_soles(axes: object, body: ThreeMassModel, segment: MotionSegment, order: int) -> None:
    feet = [*segment.initial.points.feet.values(), segment.goal.points.feet["right"]]
    for foot in feet[0 if order == 0 else 2 :]:
        corners = SupportRegion([foot], body.sole_half, 0.0).polygon
        axes.fill(corners[:, 1], corners[:, 0], facecolor="#dddddd", edgecolor="#888888", alpha=0.5)  # type: ignore[attr-defined]


def _draw_support_band(axes: object, body: ThreeMassModel, segment: MotionSegment, begin: float) -> None:
    """Draw the lateral extent of the support region over time."""
    for phase, feet in zip(
        segment.phases, stance_feet_by_phase(segment.initial, segment.goal, segment.phases), strict=True
    ):
        sides = SupportRegion(feet, body.sole_half, 0.0).polygon[:, 1]
        span = (begin + phase.begin, begin + phase.end)
        axes.fill_between(span, sides.min(), sides.max(), color="#dddddd", linewidth=0, zorder=0)  # type: ignore[attr-defined]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "file", nargs="?", default="figure8.png", metavar="FILE.png", help="image to write (default figure8.png)"
    )
    options = parser.parse_args()
    mighty = poise.load_robot("mighty")
    print_margins(mighty)
    draw_figure(mighty, options.file)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
