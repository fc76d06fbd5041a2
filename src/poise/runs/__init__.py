"""One behavior on one robot, run, recorded and judged: what the command line and campaigns do.

>>> recording, result = run(Request("reach", robot="talos", profile="minimum-jerk"))
"""

from __future__ import annotations

from functools import cache
from os import PathLike

from poise.behaviors import ReachSettings, SquatSettings, Stand
from poise.devices import Script
from poise.recording import Progress, Recording
from poise.robots import Robot, library_names, load_robot
from poise.runs.loop import LYING, Ran
from poise.runs.navigation_run import run_navigate
from poise.runs.request import NOISE, Request, known_behavior
from poise.runs.result import Result, failed, summarised
from poise.runs.run_parameters import PARAMETERS, check_request, command_of, request_of
from poise.runs.scenario import LONGEST
from poise.runs.servo_run import WAIT, run_regulated
from poise.runs.standing_runs import run_reach, run_upright
from poise.runs.walk_run import known_ground, run_walk

__all__ = [
    "LYING",
    "NOISE",
    "PARAMETERS",
    "Ran",
    "Request",
    "Result",
    "check_request",
    "command_of",
    "failed",
    "known_behavior",
    "known_ground",
    "request_of",
    "run",
    "summarised",
    "usual_seconds",
]


def run(
    request: Request, path: str | PathLike[str] | None = None, progress: Progress | None = None
) -> tuple[Recording, Result]:
    """Runs a request; `result["reason"]` says what failed, if anything did.

    Args:
        request: what to run.
        path: a ``.poise`` file to record to.
        progress: told the time of the motion after each step (s).
    """
    runner = {"reach": run_reach, "walk": run_walk, "navigate": run_navigate}.get(request.behavior, run_upright)
    if request.regulated:
        runner = run_regulated
    robot = known(request.robot) if request.robot in library_names() else load_robot(request.robot)
    return runner(request, robot, path, progress)


@cache
def known(name: str) -> Robot:
    """A robot of the library, loaded once: robots never change, and fitting their capsules takes seconds."""
    return load_robot(name)


def usual_seconds(request: Request) -> float:
    """How long the behavior takes when nothing else is asked."""
    given = {
        name: value if isinstance(value, (int, float)) and value > 0 else 1.0
        for name, value in request.settings.items()
    }
    if request.behavior == "stand":
        return Stand.seconds
    if request.behavior == "walk":  # a guess: how long depends on the robot
        return 3.0 + 0.6 * (request.steps + 1)
    if request.behavior == "navigate":  # likewise
        return LONGEST if request.scenario else (Script.load(request.script).seconds if request.script else 0.0) or 30.0
    if request.behavior == "squat":
        usual = SquatSettings
        return (WAIT if request.regulated else 0.0) + float(given.get("cycles", usual.cycles)) / float(
            given.get("frequency", usual.frequency)
        )
    return 5.0 * float(given.get("phase", ReachSettings.phase))
