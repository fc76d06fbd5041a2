"""Navigation: a robot guided by one point, its motion segments as recorded, and how soon it responds to commands."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, ClassVar

import numpy as np
from pinocchio.rpy import rpyToMatrix

from poise import behaviors
from poise.analysis import base_displacement, true_state
from poise.arrays import Array
from poise.behaviors import NavigateSettings, SegmentStart
from poise.devices import Device, RandomDevice, Script
from poise.errors import UsageError
from poise.files import json_ready
from poise.parameters import parameter
from poise.plans import zmp_path
from poise.plants import EnvironmentObject, IdealPlant, Plant, RemotePlant, Terrain
from poise.recording import Recording
from poise.robots import Foot, Robot, State, has_position_servos, library_names
from poise.runs.execution import CompletedRun, Result
from poise.runs.motion import Motion, ResultColumn, Setup
from poise.runs.scenario import TIME_LIMIT, Scenario
from poise.runs.walk_motion import known_ground

#: Planned ways are kept at so many places per second: more than enough to draw them.
PATH_RATE = 20.0
#: Digits of lengths (m) that are kept: a tenth of a millimetre.
DIGITS = 4


class SegmentLog:
    """Listens to a guided robot and describes each segment when it begins.

    A description is a dict of plain values: ``time`` it began, ``seconds`` it was planned for, ``mode``, ``axes`` of
    the stick, ``outcome``, ``corrections``, ``margin`` (m), ``notes``, ``projected``, ``step`` (the foot that moves)
    and ``lifted`` (the foot that ends in the air); ``goal`` with the places of center, feet and hands at its end (m, 3
    each); and ``planned``: ``time``, ``center``, ``zmp`` and each foot and hand by name, sampled (m).

    Args:
        navigate: to listen to.
        facts: other facts, told with the first segment.

    >>> segments = SegmentLog(navigate)
    >>> recorder.provenance.update(segments.updates())
    """

    def __init__(self, navigate: behaviors.Navigate, facts: Mapping[str, Any] = MappingProxyType({})) -> None:
        self.navigate, self.facts = navigate, facts
        self.summaries: list[dict[str, Any]] = []
        self._last: SegmentStart | None = None

    def updates(self) -> dict[str, Any]:
        """Facts for the provenance, with the segment that has begun since; none if none has."""
        history = self.navigate.history
        if not history or history[-1] is self._last:
            return {}
        self._last = history[-1]
        self.summaries.append(segment_summary(self.navigate, self._last))
        return {**self.facts, "segments": self.summaries}


def segment_summary(navigate: behaviors.Navigate, record: SegmentStart) -> dict[str, Any]:
    """A segment in plain values, see `SegmentLog`."""
    segment, goal = record.segment, record.segment.goal
    points = goal.points
    ends = {f"{side} foot": foot.position for side, foot in points.feet.items()}
    ends |= {f"{side} hand": points.hand_position(side) for side in points.hands}
    return {
        "time": round(record.time, 4),
        "seconds": round(segment.seconds, 4),
        "mode": record.command.mode,
        "axes": [round(value, 3) for value in record.command.axes],
        "outcome": segment.outcome,
        "corrections": segment.corrections,
        "margin": _rounded(segment.margin),
        "notes": list(segment.notes),
        "projected": bool(goal.projected),
        "step": goal.step,
        "lifted": points.lifted,
        "goal": {name: _rounded(place) for name, place in {"center": points.center, **ends}.items()},
        "planned": _planned_paths(navigate, record),
    }


def _planned_paths(navigate: behaviors.Navigate, record: SegmentStart) -> dict[str, Any]:
    segment = record.segment
    times = np.linspace(0.0, segment.seconds, max(round(PATH_RATE * segment.seconds), 1) + 1)
    samples = [segment.sample(time) for time in times.tolist()]
    p = np.array([sample.center[0] for sample in samples])
    paths: dict[str, Array] = {"center": p, "zmp": zmp_path(navigate.body, segment, times)[0]}
    for side in samples[0].feet:
        paths[f"{side} foot"] = np.array([sample.feet[side][0][:3] for sample in samples])
    for side in samples[0].hands:
        paths[f"{side} hand"] = np.array(
            [s.center[0] + rpyToMatrix(*s.attitude[0]) @ s.hands[side][0][:3] for s in samples]
        )
    return {"time": _rounded(record.time + times), **{name: _rounded(way) for name, way in paths.items()}}


def _rounded(value: Array | float) -> Any:
    """Numbers that JSON can write, rounded; None for what is none."""
    rounded = np.round(np.asarray(value, dtype=np.float64), DIGITS) + 0.0
    return json_ready(rounded)


# -- Response: how soon the guided point moves when it is told to ----------------------------------------------------


#: A point moves when it is this share of its planned way from where it was, or this far (m), whatever is more: a
#: millimetre is what a standing body sways by.
MOTION_SHARE, LEAST_MOTION = 0.05, 0.001
#: Commands that ask for less than this (m) are left out: nobody could tell.
LEAST_COMMAND = 0.004
#: Motion, and when the stick of a device changed, are looked for in steps of this (s).
TIME_STEP = 0.01


def response_times(found: Sequence[dict[str, Any]], recording: Recording, device: Device) -> dict[str, Any] | None:
    """How soon guided points moved; None if none was told to.

    A command is read when the segment before it is over, and its own segment begins at once: so the point moves within
    one segment of the command if it moves before the segment that took it is over. Where it really is counts, not where
    noisy sensors see it.

    Returns:
        ``commands`` that were looked at, ``median`` and ``max`` of the seconds from the begin of the segment that takes
        a command until the guided point has moved, ``within_one_segment``, the share that moved before its end, and
        ``since_command``, the longest from the change of the stick, where the device can tell when that was.
    """
    stride = round(max(TIME_STEP / recording.period, 1.0)) if recording.period > 0.0 else 1
    times, q = recording.time[::stride], true_state(recording, "q")[::stride]
    delays, command_delays, missed = [], [], 0
    for before, each, after in zip([None, *found[:-1]], found, [*found[1:], None], strict=True):
        way = _commanded_distance(each)
        if way < LEAST_COMMAND or not any(each["axes"]):
            continue
        end = each["time"] + each["seconds"] if after is None else after["time"]
        first, last = np.searchsorted(times, [each["time"] - 1e-6, end + 1e-6])
        if last >= len(times):  # the recording ends before the segment does
            continue
        positions = _point_positions(recording.robot, q[first:last], each["mode"])
        moved_samples = np.flatnonzero(
            np.linalg.norm(positions - positions[0], axis=1) > max(MOTION_SHARE * way, LEAST_MOTION)
        )
        if not len(moved_samples):
            missed += 1
            continue
        motion_time = float(times[first + moved_samples[0]])
        delays.append(motion_time - each["time"])
        change_time = None if before is None else _command_change_time(device, each["time"], before["time"])
        if change_time is not None:
            command_delays.append(motion_time - change_time)
    if not delays and not missed:
        return None
    return {
        "commands": len(delays) + missed,
        "median": float(np.median(delays)) if delays else None,
        "max": max(delays, default=None),
        "within_one_segment": len(delays) / (len(delays) + missed),
        "since_command": max(command_delays, default=None),
    }


def _commanded_distance(each: dict[str, Any]) -> float:
    """How far the guided point is to go (m)."""
    name = "center" if each["mode"] == "trunk" else each["mode"]
    if name not in each["goal"]:  # a robot without hands
        return 0.0
    begin, end = each["planned"][name][0], each["goal"][name]
    return float(np.linalg.norm(np.subtract(end, begin))) if None not in (*begin, *end) else 0.0


def _point_positions(robot: Robot | None, q: Array, mode: str) -> Array:
    """Where a guided point is in some configurations (m, n x 3)."""
    assert robot is not None
    states = [State(robot, each) for each in q]
    if mode == "trunk":
        return np.array([state.center_of_mass for state in states])
    part = robot.foot(mode.split()[0]) if mode.endswith("foot") else robot.hand(mode.split()[0])  # type: ignore[arg-type]
    middle = part.sole.center if isinstance(part, Foot) else np.zeros(3)
    return np.array([state.pose(part).act(middle) for state in states])


def _command_change_time(device: Device, time: float, before: float) -> float | None:
    """When the stick became what it is at a time (s), for devices that tell the same whenever they are asked; None if
    it was so already when it was read `before`."""
    if not isinstance(device, (Script, RandomDevice)) or device.read(before) == device.read(time):
        return None
    now, at = device.read(time), time
    while at - TIME_STEP > before and device.read(at - TIME_STEP) == now:
        at -= TIME_STEP
    return at


# -- Navigate: the motion --------------------------------------------------------------------------------------------


@dataclass
class NavigateSetup(Setup):
    """As `Setup`, with the segments as they are recorded, and the scenario if it is one."""

    segments: list[dict[str, Any]] = field(default_factory=list)
    scenario: Scenario | None = None


@dataclass(frozen=True, kw_only=True)
class Navigate(Motion):
    """A robot guided by one point at a time, with a joystick, a script or at random ([Sugihara2008])."""

    name: ClassVar[str] = "navigate"
    summary: ClassVar[str] = "guide a foot, the trunk or a hand with a joystick, a script or at random"
    available: ClassVar[tuple[tuple[str, str], ...]] = (
        ("torque", "mujoco"),
        ("position", "mujoco"),
        ("torque", "ideal"),
        ("kinematic", "ideal"),
    )
    file_parameters: ClassVar[Mapping[str, Callable[[], list[str]]]] = {
        "robot": lambda: list(library_names()),
        "script": list,
    }
    columns: ClassVar[dict[str, ResultColumn]] = {
        "segments": ResultColumn("count", "", "motion segments", "navigate.segments"),
        "corrected": ResultColumn("count", "", "of them, those that were prolonged", "navigate.corrected"),
        "projected": ResultColumn("count", "", "commands that were beyond a boundary", "navigate.projected"),
        "longest_s": ResultColumn("number", "s", "longest segment", "navigate.longest_s"),
        "response_s": ResultColumn("number", "s", "until a guided point moved, median", "navigate.response_s.median"),
        "hand_to_door_m": ResultColumn(
            "number", "m", "of the scenario: from the hand to the door", "navigate.scenario.hand_to_door_m"
        ),
    }

    script: str = parameter("", 'a list of {"time", "mode", "input": [6 numbers]}', metavar="FILE.json")
    random: bool = parameter(False, "a random joystick, drawn from the seed (default)")
    scenario: bool = parameter(False, "down three steps, across a room, a hand to its door ([Sugihara2008], figure 9)")
    remote: str = parameter(
        "", "address of a plant that 'poise serve' moves, like tcp://127.0.0.1:5560", metavar="ADDRESS"
    )

    @classmethod
    def settings_types(cls) -> dict[str, type]:
        return {"": NavigateSettings}

    def _available_modes(self) -> tuple[tuple[str, str], ...]:
        """Robots that take joint angles are given those, unless another mode is chosen."""
        if has_position_servos(self.robot):
            return tuple(sorted(self.available, key=lambda pair: pair[0] != "position"))
        return self.available

    def check(self) -> None:
        guides = [name for name in ("script", "random", "scenario") if getattr(self, name)]
        if len(guides) > 1:
            raise UsageError(f"--{guides[0]} and --{guides[1]} both guide the robot; give one of them")
        if self.remote and self.plant == "ideal":
            raise UsageError("a remote plant is not ideal; leave --plant out, or --remote")
        if self.remote and (self.scenario or self.world.disturbances):
            first = "scenario" if self.scenario else next(iter(self.world.disturbances)).replace(" ", "-")
            raise UsageError(f"the world of a remote plant is the server's; leave --{first} out, or --remote")
        if self.scenario and self.world.terrain != "flat":
            raise UsageError("the scenario has ground of its own; leave --terrain out")
        if self.world.terrain.partition(":")[0] not in ("flat", "stairs"):
            terrain = self.world.terrain
            raise UsageError(f"a guided robot knows flat ground and stairs, not '{terrain}'; choose one of these")

    def check_names(self) -> None:
        super().check_names()
        if self.script:
            Script.load(self.script)

    @property
    def usual_seconds(self) -> float:
        if self.scenario:
            return TIME_LIMIT
        return (Script.load(self.script).seconds if self.script else 0.0) or 30.0

    def device(self) -> Device:
        """What guides the robot outside of the scenario: a script, or a random joystick of the seed."""
        return Script.load(self.script) if self.script else RandomDevice(self.seed)

    def build(self, robot: Robot | None = None) -> Setup:
        robot = robot or self.load()
        start = robot.stance("standing")
        scenario = Scenario.of(robot) if self.scenario else None
        device: Device
        if scenario is None:
            device, ground = self.device(), known_ground(self.world.ground, robot)
            plant = self._plant(start)
        else:
            plant = self._plant(start, scenario.stage, scenario.stage.objects)
            device, ground = scenario.operator(plant), scenario.stage.under
        navigate = behaviors.Navigate(robot, device, self.resolved_settings(), plant.state(), ground)
        segments = SegmentLog(navigate, {} if scenario is None else {"world": scenario.stage.outline})
        guide = "scenario" if self.scenario else self.script or "random"
        return NavigateSetup(
            navigate,
            self.controller(navigate, navigate.weights),
            plant,
            navigate.seconds,
            {"guide": guide},
            updates=segments.updates,
            finished=lambda: device.finished,
            segments=segments.summaries,
            scenario=scenario,
        )

    def _plant(self, start: State, ground: Terrain | None = None, objects: Sequence[EnvironmentObject] = ()) -> Plant:
        if self.plant == "ideal":
            return IdealPlant(start)
        if self.remote:
            return RemotePlant(self.remote, start.robot)
        servos = self.mode == "position"
        return self.world.plant(start, seed=self.seed, servos=servos, ground=ground, objects=objects)

    def judge(self, setup: Setup, run: CompletedRun, result: Result) -> list[str]:
        """It succeeds when the robot does not fall, and a scenario when it ends at its door."""
        assert isinstance(setup, NavigateSetup)
        found, scenario, device = setup.segments, setup.scenario, setup.behavior.device
        result["seconds"] = min(run.seconds, run.recording.duration) if scenario else run.seconds
        result["steps"] = sum(1 for each in found if each["step"] is not None and each["lifted"] is None)
        result["distance_m"], result["heading_rad"] = base_displacement(run.states)
        result["navigate"] = {**_segment_counts(found), "response_s": response_times(found, run.recording, device)}
        if self.plant == "ideal":  # which feet stand is not known there, so neither is any margin
            result["zmp_margin_m"] = None
        if scenario is None:
            return []
        last = setup.plant.truth()  # where the hand is, not where sensors see it
        result["navigate"]["scenario"], reasons = scenario.assess(last, device.finished)
        return [] if result["fell"] else reasons


def _segment_counts(found: list[dict[str, Any]]) -> dict[str, Any]:
    """Outcomes of the segments, in numbers."""
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
