"""Run and judge a guided robot: its motion segments as recorded, and how soon it responds to commands."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from os import PathLike
from types import MappingProxyType
from typing import Any

import numpy as np
from pinocchio.rpy import rpyToMatrix

from poise.arrays import Array
from poise.behaviors import Done, Navigate, NavigateSettings
from poise.devices import Device, RandomStick, Script
from poise.files import json_ready
from poise.plans import zero_moment_way
from poise.plants import terrain
from poise.recording import Progress, Recording
from poise.robots import Foot, Robot, State
from poise.runs.loop import plant_for, ran
from poise.runs.request import Request, filled
from poise.runs.result import Result, failed, moved, summarised
from poise.runs.scenario import Scenario
from poise.runs.walk_run import known_ground

#: Planned ways are kept at so many places per second: more than enough to draw them.
RATE = 20.0
#: Digits of lengths (m) that are kept: a tenth of a millimetre.
DIGITS = 4


class Segments:
    """Listens to a guided robot and describes each segment when it begins.

    A description is a dict of plain values: ``time`` it began, ``seconds`` it was planned for, ``mode``, ``axes`` of
    the stick, ``outcome``, ``corrections``, ``margin`` (m), ``notes``, ``projected``, ``step`` (the foot that moves)
    and ``lifted`` (the foot that ends in the air); ``goal`` with the places of center, feet and hands at its end (m, 3
    each); and ``planned``: ``time``, ``center``, ``zmp`` and each foot and hand by name, sampled (m).

    Args:
        navigate: to listen to.
        facts: other facts, told with the first segment.

    >>> segments = Segments(navigate)
    >>> recorder.provenance.update(segments.news())
    """

    def __init__(self, navigate: Navigate, facts: Mapping[str, Any] = MappingProxyType({})) -> None:
        self.navigate, self.facts = navigate, facts
        self.found: list[dict[str, Any]] = []
        self._last: Done | None = None

    def news(self) -> dict[str, Any]:
        """Facts for the provenance, with the segment that has begun since; none if none has."""
        history = self.navigate.history
        if not history or history[-1] is self._last:
            return {}
        self._last = history[-1]
        self.found.append(described(self.navigate, self._last))
        return {**self.facts, "segments": self.found}


def described(navigate: Navigate, done: Done) -> dict[str, Any]:
    """A segment in plain values, see `Segments`."""
    segment, goal = done.segment, done.segment.goal
    points = goal.points
    ends = {f"{side} foot": foot.position for side, foot in points.feet.items()}
    ends |= {f"{side} hand": points.hand(side) for side in points.hands}
    return {
        "time": round(done.time, 4),
        "seconds": round(segment.seconds, 4),
        "mode": done.stick.mode,
        "axes": [round(value, 3) for value in done.stick.axes],
        "outcome": segment.outcome,
        "corrections": segment.corrections,
        "margin": _plain(segment.margin),
        "notes": list(segment.notes),
        "projected": bool(goal.projected),
        "step": goal.step,
        "lifted": points.lifted,
        "goal": {name: _plain(place) for name, place in {"center": points.center, **ends}.items()},
        "planned": _planned(navigate, done),
    }


def _planned(navigate: Navigate, done: Done) -> dict[str, Any]:
    segment = done.segment
    times = np.linspace(0.0, segment.seconds, max(round(RATE * segment.seconds), 1) + 1)
    samples = [segment.sample(time) for time in times.tolist()]
    p = np.array([sample.center[0] for sample in samples])
    ways: dict[str, Array] = {"center": p, "zmp": zero_moment_way(navigate.body, segment, times)[0]}
    for side in samples[0].feet:
        ways[f"{side} foot"] = np.array([sample.feet[side][0][:3] for sample in samples])
    for side in samples[0].hands:
        ways[f"{side} hand"] = np.array(
            [s.center[0] + rpyToMatrix(*s.attitude[0]) @ s.hands[side][0][:3] for s in samples]
        )
    return {"time": _plain(done.time + times), **{name: _plain(way) for name, way in ways.items()}}


def _plain(value: Array | float) -> Any:
    """Numbers that JSON can write, rounded; None for what is none."""
    rounded = np.round(np.asarray(value, dtype=np.float64), DIGITS) + 0.0
    return json_ready(rounded)


# -- Response: how soon the guided point moves when it is told to ----------------------------------------------------


#: A point moves when it is this share of its planned way from where it was, or this far (m), whatever is more: a
#: millimetre is what a standing body sways by.
SHARE, SWAY = 0.05, 0.001
#: Commands that ask for less than this (m) are left out: nobody could tell.
LEAST = 0.004
#: Motion, and when the stick of a device changed, are looked for in steps of this (s).
LOOK = 0.01


def response(found: Sequence[dict[str, Any]], recording: Recording, device: Device) -> dict[str, Any] | None:
    """How soon guided points moved; None if none was told to.

    A command is read when the segment before it is over, and its own segment begins at once: so the point moves within
    one segment of the command if it moves before the segment that took it is over. Where it really is counts, not where
    noisy sensors see it.

    Returns:
        ``commands`` that were looked at, ``median`` and ``max`` of the seconds from the begin of the segment that takes
        a command until the guided point has moved, ``within_one_segment``, the share that moved before its end, and
        ``since_command``, the longest from the change of the stick, where the device can tell when that was.
    """
    stride = round(max(LOOK / recording.period, 1.0)) if recording.period > 0.0 else 1
    times, q = recording.time[::stride], _true(recording)[::stride]
    took, since, late = [], [], 0
    for before, each, after in zip([None, *found[:-1]], found, [*found[1:], None], strict=True):
        way = _way(each)
        if way < LEAST or not any(each["axes"]):
            continue
        end = each["time"] + each["seconds"] if after is None else after["time"]
        first, last = np.searchsorted(times, [each["time"] - 1e-6, end + 1e-6])
        if last >= len(times):  # the recording ends before the segment does
            continue
        seen = _places(recording.robot, q[first:last], each["mode"])
        far = np.flatnonzero(np.linalg.norm(seen - seen[0], axis=1) > max(SHARE * way, SWAY))
        if not len(far):
            late += 1
            continue
        moves = float(times[first + far[0]])
        took.append(moves - each["time"])
        changed = None if before is None else _changed(device, each["time"], before["time"])
        if changed is not None:
            since.append(moves - changed)
    if not took and not late:
        return None
    return {
        "commands": len(took) + late,
        "median": float(np.median(took)) if took else None,
        "max": max(took, default=None),
        "within_one_segment": len(took) / (len(took) + late),
        "since_command": max(since, default=None),
    }


def _way(each: dict[str, Any]) -> float:
    """How far the guided point is to go (m)."""
    name = "center" if each["mode"] == "trunk" else each["mode"]
    if name not in each["goal"]:  # a robot without hands
        return 0.0
    begin, end = each["planned"][name][0], each["goal"][name]
    return float(np.linalg.norm(np.subtract(end, begin))) if None not in (*begin, *end) else 0.0


def _true(recording: Recording) -> Array:
    """Configurations as they really were, where that was recorded."""
    q: Array = recording["q"]
    if "true/q" not in recording:
        return q
    truth = recording["true/q"]
    return np.where(np.isfinite(truth), truth, q)


def _places(robot: Robot | None, q: Array, mode: str) -> Array:
    """Where a guided point is in some configurations (m, n x 3)."""
    assert robot is not None
    states = [State(robot, each) for each in q]
    if mode == "trunk":
        return np.array([state.center_of_mass for state in states])
    part = robot.foot(mode.split()[0]) if mode.endswith("foot") else robot.hand(mode.split()[0])  # type: ignore[arg-type]
    middle = part.sole.center if isinstance(part, Foot) else np.zeros(3)
    return np.array([state.pose(part).act(middle) for state in states])


def _changed(device: Device, time: float, before: float) -> float | None:
    """When the stick became what it is at a time (s), for devices that tell the same whenever they are asked; None if
    it was so already when it was read `before`."""
    if not isinstance(device, (Script, RandomStick)) or device.read(before) == device.read(time):
        return None
    now, at = device.read(time), time
    while at - LOOK > before and device.read(at - LOOK) == now:
        at -= LOOK
    return at


# -- Running and judging a robot that is guided by one point at a time -----------------------------------------------


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
