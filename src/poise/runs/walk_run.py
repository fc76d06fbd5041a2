"""Run and judge a walk under torque control."""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from os import PathLike

import numpy as np

from poise.behaviors import Walk, WalkSettings
from poise.errors import UsageError
from poise.plans import STYLES, Footstep, Stairway, Style
from poise.plants import STAIRS_AHEAD, Ground, Stairs, terrain
from poise.recording import Progress, Recording
from poise.robots import Robot, State
from poise.runs.loop import plant_for, ran
from poise.runs.request import Request, filled
from poise.runs.result import Result, failed, moved, summarised

#: Who is about to fall when the run ends has ξ further than this from its plan in the last second, m.
ASTRAY = 0.12
#: Where the recording keeps that.
ERROR = "error/balance/divergent component"
#: How settings are called that are numbers of the style, as in ``--set style.step_length=0.2``.
OF_STYLE = "style."


def run_walk(
    request: Request, robot: Robot, path: str | PathLike[str] | None = None, progress: Progress | None = None
) -> tuple[Recording, Result]:
    """A walk, recorded and judged: it succeeds when all steps were made and the robot is steady at the end."""
    plant = plant_for(request, robot.stance("standing"))
    walk = walk_for(request, robot, plant.state())
    steps, wanted = walk.steps, walk.own_speed
    done = ran(request, walk, plant, path, progress)
    recording, result = done.recording, summarised(request, done, robot)
    states = done.states
    made = walk.phase().steps
    result["steps"] = made
    result["distance_m"], result["heading_rad"] = moved(states)
    last = np.linalg.norm(recording[ERROR][-round(1.0 / recording.period) :], axis=1)
    astray = float(np.nanmax(last)) if np.isfinite(last).any() else math.inf
    result["walk"] = {
        "style": walk.style.name,
        "speed": list(mean_speed(recording, states, steps)),
        "commanded_speed": list(wanted),
        "divergent_error_m": astray,
        "slip_m": largest_slip(recording, states, robot),
    }
    wrong = []
    if not result["fell"]:
        if astray > ASTRAY:
            wrong.append(f"about to fall: the divergent component is {100 * astray:.0f} cm off its plan at the end")
        if made < steps and request.seconds is None:
            wrong.append(f"made {made} of {steps:.0f} steps")
    return recording, failed(result, wrong)


def walk_for(request: Request, robot: Robot, start: State) -> Walk:
    """The walk that is asked for; on stairs it knows where they are, other ground it has to feel."""
    style, settings = manner_of(request)
    under = known_ground(terrain(request.terrain), robot)
    return Walk(robot, style, request.speed, request.steps, settings, start, under)


def manner_of(request: Request) -> tuple[Style, WalkSettings]:
    """Style and numbers of a walk: some settings are the style's own."""
    own = {name: value for name, value in request.settings.items() if not name.startswith(OF_STYLE)}
    changes = {name.removeprefix(OF_STYLE): value for name, value in request.settings.items() if name not in own}
    return style_of(request.style).but(**changes), filled(WalkSettings, own)


def known_ground(ground: Ground, robot: Robot) -> Callable[[Footstep], Footstep] | None:
    """What a walk knows of its ground beforehand: where stairs are; None for all else."""
    if not isinstance(ground, Stairs):
        return None
    sole = robot.feet[0].sole
    half = sole.half[0]
    return Stairway(STAIRS_AHEAD, ground.rise, ground.run, ground.count, half, half).under


def style_of(name: str) -> Style:
    """A style by its name, or from a file."""
    if name.endswith(".toml"):
        return Style.load(name)
    if name not in STYLES:
        known = ", ".join(STYLES)
        hint = f"; '{name}' is a file: does it end in .toml?" if os.path.exists(name) else ""
        raise UsageError(f"there is no style '{name}'; expected one of {known}, or a .toml file{hint}")
    return STYLES[name]


def mean_speed(recording: Recording, states: list[State], steps: float) -> tuple[float, float, float]:
    """Of the base in the axes of its heading, while it walks at its speed: without the first and last steps."""
    names = recording["phase"]
    walking = [i for i, name in enumerate(names) if name.endswith("support")]
    if len(walking) < 2:
        return 0.0, 0.0, 0.0
    low, high = recording.time[walking[0]], recording.time[walking[-1]]
    margin = min(2.0, 0.25 * (high - low))
    seen = [state for state in states if low + margin <= state.time <= high - margin]
    if len(seen) < 3:
        return 0.0, 0.0, 0.0
    yaws = np.unwrap([_yaw(state) for state in seen])
    points = np.array([state.q[:2] for state in seen])
    turned = np.exp(-1j * 0.5 * (yaws[1:] + yaws[:-1])) * np.exp(1j * _yaw(states[0]))
    went = np.sum((np.diff(points[:, 0]) + 1j * np.diff(points[:, 1])) * turned)
    seconds = seen[-1].time - seen[0].time
    return float(went.real / seconds), float(went.imag / seconds), float((yaws[-1] - yaws[0]) / seconds)


def largest_slip(recording: Recording, states: list[State], robot: Robot) -> float:
    """How far a foot that stands alone moves over the ground, at worst (m)."""
    names, period = recording["phase"], recording.period
    worst, first, name = 0.0, None, ""
    for state in states:
        now = str(names[min(round((state.time - recording.time[0]) / period), len(names) - 1)])
        if now not in ("left support", "right support"):
            first, name = None, now
            continue
        foot = robot.foot("left" if now.startswith("left") else "right")
        place = state.pose(foot).act(foot.sole.center)[:2]
        if now != name or first is None:
            first, name = place, now
        worst = max(worst, float(np.linalg.norm(place - first)))
    return worst


def _yaw(state: State) -> float:
    """Of the feet, in the middle."""
    poses = [state.pose(foot).rotation for foot in state.robot.feet]
    return float(np.angle(sum(complex(R[0, 0], R[1, 0]) for R in poses)))
