"""Run and judge motions on both feet: the reach of [Saab2012], standing and squatting."""

from __future__ import annotations

import math
from os import PathLike

import numpy as np

from poise.behaviors import Reach, ReachSettings, Squat, SquatSettings, Stand, UprightSettings
from poise.recording import Progress, Recording
from poise.robots import Robot, State
from poise.runs.loop import plant_for, ran
from poise.runs.request import Request, filled
from poise.runs.result import Result, failed, moved, sole_tilt, summarised
from poise.state import Snapshot, capture_point

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


# -- Running and judging what is done upright on both feet: stand and squat ------------------------------------------


#: Who stands at the end has the capture point this near to the middle of the feet, m; further off he may yet fall.
STEADY = 0.02
#: A squat follows its centre of mass to this (m) with soles this flat (rad).
FOLLOWED, FLAT = 0.02, math.radians(1.0)


def run_upright(
    request: Request, robot: Robot, path: str | PathLike[str] | None = None, progress: Progress | None = None
) -> tuple[Recording, Result]:
    """Stand or squat, recorded and judged: it succeeds when the robot stands at the end, and squats as told."""
    plant = plant_for(request, robot.stance("standing"))
    start = plant.state()
    behavior: Stand = (
        Squat(robot, filled(SquatSettings, request.settings), start)
        if request.behavior == "squat"
        else Stand(robot, filled(UprightSettings, request.settings), start)
    )
    done = ran(request, behavior, plant, path, progress)
    recording, result = done.recording, summarised(request, done, robot)
    states = done.states
    result["steps"] = 0
    result["distance_m"], result["heading_rad"] = moved(states)
    wrong = [] if result["fell"] else _unsteady(behavior, states[-1])
    if isinstance(behavior, Squat) and not result["fell"]:
        wrong += _sloppy(behavior, states, result)
    return recording, failed(result, wrong)


def _unsteady(behavior: Stand, last: State) -> list[str]:
    """Whether the capture point c + v sqrt(h/g) is off its place at the end, in words."""
    snapshot = Snapshot(last.robot).at(last)
    place = behavior.center_of_mass(last.time)
    c, v = snapshot.center_of_mass, snapshot.center_of_mass_velocity
    off = float(np.linalg.norm(capture_point(c, v, max(c[2], 0.1)) - place[:2]))
    return [f"not at rest at the end: the capture point is {1e3 * off:.0f} mm off its place"] if off > STEADY else []


def _sloppy(squat: Squat, states: list[State], result: Result) -> list[str]:
    """What a squat did not keep, in words, with the motors that were at their limit."""
    misses = [float(np.abs(state.center_of_mass - squat.center_of_mass(state.time)).max()) for state in states]
    tilt, worst = sole_tilt(states, squat.robot), max(misses)
    found = []
    if worst > FOLLOWED:
        at_limit = ", ".join(
            f"{name} at its {entry['limit_Nm']:.0f} N m for {entry['seconds']:.2f} s"
            for name, entry in (result["limits"] or {}).items()
        )
        acting = f" ({at_limit})" if at_limit else ""
        found.append(f"centre of mass up to {1e3 * worst:.0f} mm off its path{acting}")
    if tilt > FLAT:
        found.append(f"a sole tilted by {math.degrees(tilt):.1f} degrees")
    return found
