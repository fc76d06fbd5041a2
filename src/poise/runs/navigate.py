"""Running and judging a robot that is guided by one point at a time."""

from __future__ import annotations

from collections import Counter
from os import PathLike
from typing import Any

from poise.behaviors.navigate import Navigate, NavigateSettings
from poise.devices import Device, RandomStick, Script
from poise.plants import terrain
from poise.recording import Recording
from poise.recording.record import Progress
from poise.robots import Robot
from poise.runs.balance import moved
from poise.runs.loop import plant_for, ran
from poise.runs.request import Request, filled
from poise.runs.response import response
from poise.runs.result import Result, failed, summarised
from poise.runs.scenario import Scenario
from poise.runs.segments import Segments
from poise.runs.walk import known_ground


def run_navigate(
    request: Request, robot: Robot, path: str | PathLike[str] | None = None, progress: Progress | None = None
) -> tuple[Recording, Result]:
    """A guided motion, recorded and judged: it succeeds when nobody falls, and a scenario when it ends at its door."""
    numbers, start = filled(NavigateSettings, request.settings), robot.stance("standing")
    scenario = Scenario.of(robot) if request.scenario else None
    device: Device
    if scenario is None:
        device, under = device_for(request), known_ground(terrain(request.terrain), robot)
        plant = plant_for(request, start)
    else:
        plant = plant_for(request, start, scenario.stage, scenario.stage.things)
        device, under = scenario.pilot(plant), scenario.stage.under
    navigate = Navigate(robot, device, numbers, plant.state(), under)
    segments = Segments(navigate, {} if scenario is None else {"world": scenario.stage.drawn})
    try:
        done = ran(request, navigate, plant, path, progress, segments.news, lambda: getattr(device, "done", False))
    finally:
        getattr(plant, "close", lambda: None)()  # a remote one
    recording, result = done.recording, summarised(request, done, robot)
    found = segments.found
    result["seconds"] = min(done.seconds, recording.duration) if scenario else done.seconds
    result["steps"] = sum(1 for each in found if each["step"] is not None and each["lifted"] is None)
    result["distance_m"], result["heading_rad"] = moved(done.states)
    result["navigate"] = {**_told(found), "response_s": response(found, recording, device)}
    if request.plant == "ideal":  # which feet stand is not known there, so neither is how far inside them anything is
        result["zmp_margin_m"] = None
    wrong: list[str] = []
    if scenario is not None:
        last = getattr(plant, "truth", plant.state)()  # where the hand is, not where sensors see it
        result["navigate"]["scenario"], wrong = scenario.judged(last, bool(getattr(device, "done", False)))
    return recording, failed(result, [] if result["fell"] else wrong)


def device_for(request: Request) -> Device:
    """What guides the robot: a script, or a random stick of the seed."""
    return Script.load(request.script) if request.script else RandomStick(request.seed)


def _told(found: list[dict[str, Any]]) -> dict[str, Any]:
    """What became of the segments, in numbers."""
    margins = [each["margin"] for each in found if each["margin"] is not None]
    return {
        "segments": len(found),
        "outcomes": dict(Counter(each["outcome"] for each in found)),
        "corrections": sum(each["corrections"] for each in found),
        "corrected": sum(1 for each in found if each["corrections"]),
        "longest_s": max((each["seconds"] for each in found), default=0.0),
        "projected": sum(1 for each in found if each["projected"]),
        "modes": dict(Counter(each["mode"] for each in found)),
        "planned_margin_m": min(margins, default=None),
    }
