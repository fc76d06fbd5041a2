"""Figure 8 of [Sugihara2008]: two steps of 3 cm to the right, without and with the correction of durations.

    python benchmarks/figure8.py [FILE.png]

It prints the margins of the zero moment point and the durations that are found, for several ways to divide a step, and
draws both cases.

What it finds: as in the paper the first step can be done in 0.5 s and the second cannot. The body still moves to the
right when the second begins, and with little time on two feet the zero moment point has to jump beyond the right sole
to throw it back over the left one. A longer duration brings it inside. How long depends on how a step is divided and on
what is relaxed, neither of which the paper tells: 0.9 s with the settings below (paper: 1.0 s). With more of the step
on two feet nothing needs to be corrected at all. These are the paper's assumptions, a concentrated mass and soles that
are used up to their edge; the planner of Poise looks at the whole body and leaves a margin for the feedback.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

import poise
from poise.plans import (
    Beginning,
    Body,
    Goal,
    Planner,
    Points,
    Segment,
    SegmentSettings,
    Support,
    Workspace,
    standing,
    zero_moment_way,
)
from poise.plans.segment.center_path import Severity
from poise.plans.segment.segment import standings

Array = NDArray[np.float64]

#: Shares of a step on two feet, on one, and on two again: a short first double support is what the effect comes from.
PHASES = (0.12, 0.66, 0.22)
#: What is relaxed as gently as a smooth path of the pressure wants it; the planner's own weights press it to the middle
#: of the sole, and then the first step is too fast as well.
GENTLE = Severity(single=4.0, double=0.3, smooth=0.5)
STEP, COUNT = 0.03, 2  # m to the right, and how often
#: A planner that believes its soles to be larger by this (m) accepts what is asked for: the case without correction.
BLIND = 0.5


class Watched(NamedTuple):
    """A segment every 5 ms: times (s), zero moment points, centres of mass, and how far inside the first are (m)."""

    time: Array
    zmp: Array
    center: Array
    margin: Array


def bodies(robot: poise.Robot) -> dict[str, Body]:
    """The robot as the paper sees it, as one mass with whole soles, and as Poise does, with legs and a trunk."""
    whole = replace(Body.of(robot), margin=0.0)
    return {"concentrated mass": replace(whole, leg=1e-9, inertia=(0.0, 0.0)), "whole body": whole}


def settings(phases: tuple[float, float, float] = PHASES, severity: Severity = GENTLE) -> SegmentSettings:
    return SegmentSettings(duration=0.5, phases=phases, compensate=False, severity=severity)


def steps(robot: poise.Robot, body: Body, how: SegmentSettings, corrected: bool) -> list[Segment]:
    """The steps, one after the other, with durations that are corrected or not."""
    planner = Planner(body if corrected else replace(body, margin=-BLIND), how)
    lift = Workspace.of(robot).lift[0]
    begin, found = Beginning.at_rest(standing(robot)), []
    for _ in range(COUNT):
        found.append(planner.plan(begin, Goal(stepped(begin.points), "right", lift)))
        begin = found[-1].end
    return found


def stepped(points: Points) -> Points:
    """The points after a step to the right, by equation (3)."""
    left, right = points.feet["left"], points.feet["right"]
    foot = right.moved(right.place - 1j * STEP, left.z)
    middle = 0.5 * (left.place + foot.place)
    center = np.array([middle.real, middle.imag, points.center[2]])
    return points.replace(center=center, feet={"left": left, "right": foot}, last="right")


def watched(body: Body, segment: Segment) -> Watched:
    """The zero moment point of a segment against the support of each of its phases."""
    time = np.linspace(0.0, segment.seconds, round(segment.seconds / 0.005) + 1)
    samples = [segment.sample(t) for t in time.tolist()]
    center = np.array([sample.center[0] for sample in samples])
    zmp, _ = zero_moment_way(body, segment, time)
    margin = np.full(len(time), np.nan)
    for phase, feet in zip(segment.phases, standings(segment.beginning, segment.goal, segment.phases), strict=True):
        # Where two phases meet, either support will do: the ground has both.
        now = (time >= phase.begin - 1e-9) & (time <= phase.end + 1e-9)
        margin[now] = np.fmax(margin[now], Support(feet, body.half, 0.0).margins(zmp[now], center[now]))
    return Watched(time, zmp, center, margin)


def print_margins(robot: poise.Robot) -> None:
    """Prints margins and durations, for several ways to divide a step."""
    ways = {"gentle": GENTLE, "planner's own": Severity()}
    splits = (PHASES, (0.10, 0.70, 0.20), (0.15, 0.60, 0.25), (0.28, 0.44, 0.28))
    for name, body in bodies(robot).items():
        for way, severity in ways.items():
            for phases in splits:
                how = settings(phases, severity)
                blind, seen = (steps(robot, body, how, corrected) for corrected in (False, True))
                out = ", ".join(f"{1e3 * watched(body, each).margin.min():+.1f}" for each in blind)
                took = ", ".join(f"{each.seconds:.1f}" for each in seen)
                print(f"{name}, {way} weights, phases {phases}: in 0.5 s inside by {out} mm; corrected to T = {took} s")


def draw(robot: poise.Robot, path: str) -> None:
    """Both cases: from above, and to the side over time, with the support region."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    body = bodies(robot)["concentrated mass"]
    figure, axes = pyplot.subplots(2, 2, figsize=(9.0, 6.6), layout="constrained", sharex="row", sharey="row")
    for column, (corrected, title) in enumerate(((False, "without correction"), (True, "with correction"))):
        found = steps(robot, body, settings(), corrected)
        above, beside = axes[:, column]
        begin = 0.0
        for k, segment in enumerate(found):
            seen = watched(body, segment)
            _soles(above, body, segment, k)
            for points, color, name in ((seen.zmp, "#d55e00", "ZMP"), (seen.center, "#222222", "centre of mass")):
                above.plot(points[:, 1], points[:, 0], color=color, linewidth=1.4, label=name if k == 0 else None)
                beside.plot(begin + seen.time, points[:, 1], color=color, linewidth=1.4)
            out = seen.margin < 0.0
            beside.plot(begin + seen.time[out], seen.zmp[out, 1], "x", color="#b00020", markersize=5)
            _band(beside, body, segment, begin)
            begin += segment.seconds
        took = " and ".join(f"{segment.seconds:.1f} s" for segment in found)
        above.set(title=f"{title}: T = {took}", xlabel="y (m), to the left", aspect="equal")
        beside.set(xlabel="time (s); crosses: outside the support")
    axes[0, 0].invert_xaxis()
    axes[0, 0].set_ylabel("x (m)")
    axes[1, 0].set_ylabel("y (m); grey: the support")
    axes[0, 0].legend(fontsize=8, loc="upper left")
    figure.savefig(path, dpi=110)


def _soles(axes: object, body: Body, segment: Segment, order: int) -> None:
    feet = [*segment.beginning.points.feet.values(), segment.goal.points.feet["right"]]
    for foot in feet[0 if order == 0 else 2 :]:
        corners = Support([foot], body.half, 0.0).polygon
        axes.fill(corners[:, 1], corners[:, 0], facecolor="#dddddd", edgecolor="#888888", alpha=0.5)  # type: ignore[attr-defined]


def _band(axes: object, body: Body, segment: Segment, begin: float) -> None:
    """How far the support reaches to both sides, over time."""
    for phase, feet in zip(segment.phases, standings(segment.beginning, segment.goal, segment.phases), strict=True):
        sides = Support(feet, body.half, 0.0).polygon[:, 1]
        span = (begin + phase.begin, begin + phase.end)
        axes.fill_between(span, sides.min(), sides.max(), color="#dddddd", linewidth=0, zorder=0)  # type: ignore[attr-defined]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", nargs="?", default="figure8.png", metavar="FILE.png", help="default: figure8.png")
    options = parser.parse_args()
    mighty = poise.load_robot("mighty")
    print_margins(mighty)
    draw(mighty, options.file)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
