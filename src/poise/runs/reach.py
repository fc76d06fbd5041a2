"""Running the reach of [Saab2012] and judging it."""

from __future__ import annotations

import math
from os import PathLike

from poise.behaviors import Reach, ReachSettings
from poise.control import KinematicController
from poise.plants import IdealPlant
from poise.recording import Recording, record
from poise.recording.record import Progress
from poise.robots import Robot
from poise.runs.balance import worst_tilt, zmp_margin
from poise.runs.request import Request, filled, lasting
from poise.runs.result import Result, finite, summarised

#: A target is reached when the hand is this near at the end of its phase, m: a hundredth of an arm.
REACHED = 0.005


def run_reach(
    request: Request, robot: Robot, path: str | PathLike[str] | None = None, progress: Progress | None = None
) -> tuple[Recording, Result]:
    """The reach, recorded and judged: it succeeds when every target was reached."""
    reach = Reach(robot, filled(ReachSettings, request.settings), request.profile)  # type: ignore[arg-type]
    controller = KinematicController(reach)
    seconds = lasting(reach.seconds if request.seconds is None else request.seconds, controller.period)
    facts = {"behavior": "reach", "profile": request.profile, "seed": request.seed, "settings": dict(request.settings)}
    recording = record(controller, IdealPlant(reach.start), seconds, path, progress, facts)
    ends = {
        phase.name: recording.state(max(round(phase.end / controller.period) - 1, 0), robot)
        for phase in reach.phases
        if phase.looks and phase.end <= seconds + 0.5 * controller.period
    }
    misses = reach.misses(ends)
    missed = [f"{name} missed by {miss * 1e3:.1f} mm" for name, miss in misses.items() if miss > REACHED]
    result = summarised(request, recording, seconds)
    result["reach_errors_m"] = list(misses.values())
    result["zmp_margin_m"] = zmp_margin(recording, robot)
    result["worst_tilt_deg"] = math.degrees(worst_tilt(list(recording.states(robot)), robot))
    result["fell"] = False
    result["reason"] = "; ".join(missed) or None
    return recording, finite(result)
