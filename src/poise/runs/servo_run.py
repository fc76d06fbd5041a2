"""Run and judge standing, squatting and walking on position servos with ZMP regulation ([Galdeano2014])."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields, replace
from itertools import pairwise
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from poise.arrays import Array
from poise.behaviors import (
    Pressed,
    Regulated,
    RegulatedSettings,
    SquatSettings,
    error_of_zmp,
    speed_of,
    standing,
    walking,
)
from poise.errors import UsageError
from poise.plans import STYLES, Course, Pattern, Squatting, Standing, Style
from poise.plants import Push
from poise.recording import Progress, Recording, plain
from poise.robots import Robot, State, leg_length
from poise.runs.loop import plant_for, ran
from poise.runs.request import Request, filled
from poise.runs.result import Result, failed, moved, summarised
from poise.state import CELL_FILTER, Snapshot, capture_point, sole_pressure

#: Before a squat the joints find their comfort for so long (s): what drifts there is not periodic.
WAIT = 4.0
#: Who walked has come so far at least, as a share of the way.
ARRIVED = 0.7
#: Who stands at the end has the capture point this near to the middle of the feet, as a share of the sole's length.
STEADY = 0.25
#: Back at the middle, after a push (m).
BACK = 0.005
#: Of a style, what a walk on servos takes.
PACE = ("single_support", "double_support", "step_length", "step_height")


@dataclass(frozen=True)
class SquatOnServos(RegulatedSettings):
    """As `RegulatedSettings`, with depth (leg lengths), frequency (1/s) and cycles as of `SquatSettings`."""

    depth: float = SquatSettings.depth
    frequency: float = SquatSettings.frequency
    cycles: float = SquatSettings.cycles


@dataclass(frozen=True)
class WalkOnServos(RegulatedSettings):
    """As `RegulatedSettings`, with the durations, lengths and heights of a `Style`."""

    single_support: float = Style.single_support
    double_support: float = Style.double_support
    step_length: float = Style.step_length
    step_height: float = Style.step_height


class OnServos(Regulated):
    """What is run, with what its recording keeps of it."""

    def __init__(self, request: Request, course: Course, settings: RegulatedSettings, start: State) -> None:
        closed = request.solver == "null-space"
        super().__init__(start.robot, course, settings, start, carries=request.carry > 0.0, closed=closed)
        given = {field.name: getattr(settings, field.name) for field in fields(settings)}
        self.facts: dict[str, Any] = {"regulation": given, "solver": request.solver}
        if isinstance(course, Squatting):
            self.facts["begin"] = course.begin
        if isinstance(course, Pattern):
            self.facts |= {"style": "on servos", "steps": request.steps, "speed": speed_of(course.route.pace)}


def run_regulated(
    request: Request, robot: Robot, path: str | PathLike[str] | None = None, progress: Progress | None = None
) -> tuple[Recording, Result]:
    """A run on servos, recorded and judged: it succeeds when the robot stands at the end, wherever it was to be."""
    settings = _settings(request, robot)
    if request.carry and "carrying" not in robot.stances:
        raise UsageError(f"{robot.name} has no stance 'carrying' to hold a box in; give it one in its data file")
    start = robot.stance("carrying" if request.carry else "standing")
    course = _course(request, settings, start)
    plant = plant_for(request, start, stiffness=settings.stiffness)
    body = OnServos(request, course, settings, start)
    done = ran(request, body, plant, path, progress)
    recording, result = done.recording, summarised(request, done, robot)
    _, result["heading_rad"] = moved(done.states)
    went = _middle(done.states[-1]) - _middle(done.states[0])  # the base leans to and fro for the joints' comfort
    result["distance_m"] = float(np.linalg.norm(went[:2]))
    result["steps"] = _steps(course, recording.time[-1] - recording.time[0])
    result["regulation"] = _told(request, body, recording, robot)
    wrong = [] if result["fell"] else _unsteady(done.states[-1])
    if isinstance(course, Pattern) and not result["fell"] and request.seconds is None:
        wrong += _stayed(course, done.states)
    return recording, failed(result, wrong)


def settings_on_servos(behavior: str) -> type[RegulatedSettings]:
    """What numbers a behavior has on servos."""
    return {"squat": SquatOnServos, "walk": WalkOnServos}.get(behavior, RegulatedSettings)


def _settings(request: Request, robot: Robot) -> RegulatedSettings:
    """What is asked for, else what suits the robot, else what suits most."""
    kind = settings_on_servos(request.behavior)
    suits = dict(robot.servos.regulation)
    if request.behavior == "walk" or request.carry:  # on one foot, or with a weight, servos are set stiff
        known = {field.name for field in fields(kind)}
        suits |= {name: value for name, value in robot.servos.walking.items() if name in known}
    return filled(kind, {**suits, **request.settings})


def _course(request: Request, settings: RegulatedSettings, start: State) -> Course:
    center, other = standing(start)
    if isinstance(settings, SquatOnServos):
        depth = settings.depth * leg_length(start.robot)
        return Squatting(center, other, depth, settings.frequency, settings.cycles, WAIT)
    if isinstance(settings, WalkOnServos):
        if not math.isfinite(request.steps):
            raise UsageError("a walk on servos is planned beforehand; give --steps a number")
        style = replace(STYLES["neutral"], **{name: getattr(settings, name) for name in PACE})
        return walking(start, style, request.steps, request.speed)
    return Standing(center, other)


def _steps(course: Course, seconds: float) -> int:
    """Made by the plan when a run ended."""
    return course.phase(seconds).steps if isinstance(course, Pattern) else 0


# -- judging -------------------------------------------------------------------------------------------------------


def _told(request: Request, body: OnServos, recording: Recording, robot: Robot) -> dict[str, Any]:
    """What the soles felt, and what was said about it."""
    settings, begin = body.settings, body.facts.get("begin", 0.0)
    error = np.abs(zmp_error(recording, robot))
    seen = error[recording.time >= recording.time[0] + max(begin, 1.0)]  # what the start shakes is not judged
    ends = [push.time + push.duration for push in map(Push.parsed, request.pushes)]
    return {
        "regulating": bool(settings.regulate),
        "stiffness": settings.stiffness,
        "zmp_rms_m": float(np.sqrt(np.mean(seen**2))) if len(seen) else None,
        "zmp_largest_m": float(seen.max()) if len(seen) else None,
        "returned_s": returned(recording.time, error, max(ends)) if ends else None,
        "cycle_rms_rad": _cycles(recording, settings, begin) if isinstance(settings, SquatOnServos) else None,
        "notes": list(body.watch.words),
    }


def zmp_error(recording: Recording, robot: Robot) -> NDArray[np.complex128]:
    """ε_ZMP of a recording, [Galdeano2014] eq. (9), lightly filtered (m, as x + i y), at every sample."""
    felt = []
    for side in ("left", "right"):
        foot = robot.foot(side)
        name = f"sensed/cells/{plain(foot.name)}"
        cells = recording[name] if name in recording else np.zeros((len(recording), 4))
        amplitude, zmp = sole_pressure(foot, cells)
        felt.append((amplitude, zmp[:, 0] + 1j * zmp[:, 1]))
    (left, at_left), (right, at_right) = felt
    raw = [
        error_of_zmp(Pressed(float(a), complex(p)), Pressed(float(b), complex(q)))
        for a, p, b, q in zip(left, at_left, right, at_right, strict=True)
    ]
    share, value, smooth = recording.period / (recording.period + CELL_FILTER), 0j, []
    for each in raw:
        value += share * (each - value)
        smooth.append(value)
    return np.array(smooth)


def returned(time: Array, error: Array, end: float) -> float | None:
    """Seconds from the end of a push to when ε_ZMP is back within `BACK` for good; None: it never is."""
    after = time >= end
    if not after.any():
        return None
    outside = np.nonzero(error[after] > BACK)[0]
    if not len(outside):
        return 0.0
    last = int(outside[-1]) + 1
    return float(time[after][last] - end) if last < int(after.sum()) else None


def _cycles(recording: Recording, settings: SquatOnServos, begin: float) -> list[float]:
    """Of each cycle, how far its joint angles are from the cycle before (rad, rms over joints and time)."""
    count = round(1.0 / (settings.frequency * recording.period))
    angles = recording["q"][round(begin / recording.period) :, 7:]
    cycles = len(angles) // count
    each = angles[: cycles * count].reshape(cycles, count, angles.shape[1])
    return [float(np.sqrt(np.mean((after - before) ** 2))) for before, after in pairwise(each)]


def _unsteady(last: State) -> list[str]:
    """Whether the capture point is off the middle of the feet at the end, in words."""
    snapshot = Snapshot(last.robot).at(last)
    c, v = snapshot.center_of_mass, snapshot.center_of_mass_velocity
    off = float(np.linalg.norm(capture_point(c, v, max(c[2], 0.1)) - _middle(last)[:2]))
    sole = last.robot.feet[0].sole
    if off <= STEADY * sole.size[0]:
        return []
    return [f"not at rest at the end: the capture point is {1e3 * off:.0f} mm off the middle of the feet"]


def _middle(state: State) -> Array:
    """Between the soles (m, 3)."""
    return np.asarray(np.mean([state.pose(foot).act(foot.sole.center) for foot in state.robot.feet], axis=0))


def _stayed(course: Pattern, states: list[State]) -> list[str]:
    """Whether a walk did not come where it was to come, in words."""
    way = course.center(course.seconds)[0][:2] - course.center(0.0)[0][:2]
    went = (_middle(states[-1]) - _middle(states[0]))[:2]
    far = float(np.linalg.norm(way))
    if far < 1e-3 or float(went @ way) / far**2 > ARRIVED:
        return []
    return [f"came {float(went @ way) / far:.2f} m of {far:.2f} m"]
