"""Running the reach of [Saab2012] and judging it."""

from __future__ import annotations

import math
from os import PathLike

import numpy as np

from poise.behaviors import Reach, ReachSettings
from poise.recording import Recording
from poise.recording.record import Progress
from poise.robots import Robot, State
from poise.runs.balance import sole_tilt
from poise.runs.loop import plant_for, ran
from poise.runs.request import Request, filled
from poise.runs.result import Result, failed, summarised

#: A target is reached when the hand is this near at the end of its phase, m: without physics a hundredth of an arm.
REACHED = {"ideal": 0.005, "mujoco": 0.01}
#: What else a reach in physics must keep: centre of mass (m), boxes of the left hand and foot (m), sole (rad).
OFF_BALANCE, OUT_OF_BOX, TILTED = 0.01, 0.005, math.radians(1.0)


def run_reach(
    request: Request, robot: Robot, path: str | PathLike[str] | None = None, progress: Progress | None = None
) -> tuple[Recording, Result]:
    """The reach, recorded and judged: it succeeds when every target was reached, and in physics kept its balance."""
    reach = Reach(robot, filled(ReachSettings, request.settings), request.profile)  # type: ignore[arg-type]
    done = ran(request, reach, plant_for(request, reach.start), path, progress)
    recording, result = done.recording, summarised(request, done, robot)
    ends = {
        phase.name: recording.state(max(round(phase.end / recording.period) - 1, 0), robot)
        for phase in reach.phases
        if phase.looks and phase.end <= recording.time[-1] + 1.5 * recording.period
    }
    misses = reach.misses(ends)
    near = REACHED[request.plant]
    wrong = [f"{name} missed by {miss * 1e3:.1f} mm" for name, miss in misses.items() if miss > near]
    result["reach_errors_m"] = list(misses.values())
    return recording, failed(result, wrong + (_shortcomings(reach, done.states) if request.plant == "mujoco" else []))


def _shortcomings(reach: Reach, states: list[State]) -> list[str]:
    """What a reach in physics did not keep, in words."""
    target = reach.start.support_center
    off = max(float(np.linalg.norm(state.center_of_mass[:2] - target)) for state in states)
    out = {part: reach.leaves_box(part, states) for part in ("hand", "foot")}
    tilt = sole_tilt(states, reach.robot)
    found = [f"left {part} left its box by {1e3 * way:.1f} mm" for part, way in out.items() if way > OUT_OF_BOX]
    if off > OFF_BALANCE:
        found.append(f"centre of mass {1e3 * off:.1f} mm off its place")
    if tilt > TILTED:
        found.append(f"sole tilted by {math.degrees(tilt):.1f} degrees")
    return found
