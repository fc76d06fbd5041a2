"""Motion ``navigate``: a robot guided by one point, the log of its motion segments, and its response times."""

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
from poise.parsing import PLANT_ADDRESS
from poise.plans import zmp_path
from poise.plants import EnvironmentGeometry, EnvironmentObject, IdealPlant, Plant, RemotePlant, Terrain
from poise.recording import Recording
from poise.robots import Foot, Robot, State, has_position_servos, library_names
from poise.runs.execution import CompletedRun, Result
from poise.runs.motion import Motion, ResultColumn, Setup
from poise.runs.scenario import TIME_LIMIT, Scenario
from poise.runs.walk_motion import known_ground

#: Samples per second of recorded planned paths (Hz): more than enough to draw them.
PATH_RATE = 20.0
#: Decimal digits of recorded lengths (m): a tenth of a millimeter.
DIGITS = 4


class SegmentLog:
    """Log of the motion segments of a guided robot, for the provenance of a recording.

    The summary of a segment is a dict of JSON values: ``time`` of its start (s), its planned ``duration`` (s),
    ``mode``, ``axes`` of the joystick, ``outcome``, ``corrections``, ``margin`` (m), ``notes``, ``projected``,
    ``swing_foot`` (the foot that moves) and ``foot_in_air`` (the foot that is in the air at the end); ``goal`` with the
    positions of center, feet and hands at the end (m, 3 each); and ``planned_paths``: ``time`` (s) and the sampled
    paths of ``center``, ``zmp`` and each foot and hand by name (m).

    Args:
        navigate: behavior whose segments are logged.
        facts: further facts, returned with each new segment.

    >>> segments = SegmentLog(navigate)
    >>> recorder.provenance.update(segments.updates())
    """

    def __init__(self, navigate: behaviors.Navigate, facts: Mapping[str, Any] = MappingProxyType({})) -> None:
        self.navigate, self.facts = navigate, facts
        self.summaries: list[dict[str, Any]] = []
        self._last: SegmentStart | None = None

    def updates(self) -> dict[str, Any]:
        """Return facts for the provenance if a segment has begun since the last call; otherwise an empty dict."""
        history = self.navigate.history
        if not history or history[-1] is self._last:
            return {}
        self._last = history[-1]
        self.summaries.append(segment_summary(self.navigate, self._last))
        return {**self.facts, "segments": self.summaries}


def segment_summary(navigate: behaviors.Navigate, record: SegmentStart) -> dict[str, Any]:
    """Return a segment as a dict of JSON values, see `SegmentLog`."""
    segment, goal = record.segment, record.segment.goal
    points = goal.points
    ends = {f"{side} foot": foot.position for side, foot in points.feet.items()}
    ends |= {f"{side} hand": points.hand_position(side) for side in points.hands}
    return {
        "time": round(record.time, 4),
        "duration": round(segment.seconds, 4),
        "mode": record.command.mode,
        "axes": [round(value, 3) for value in record.command.axes],
        "outcome": segment.outcome,
        "corrections": segment.corrections,
        "margin": _rounded(segment.margin),
        "notes": list(segment.notes),
        "projected": bool(goal.projected),
        "swing_foot": goal.step,
        "foot_in_air": points.lifted,
        "goal": {name: _rounded(place) for name, place in {"center": points.center, **ends}.items()},
        "planned_paths": _planned_paths(navigate, record),
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
    """Round numbers and convert them to JSON values; None for values that are not finite."""
    rounded = np.round(np.asarray(value, dtype=np.float64), DIGITS) + 0.0
    return json_ready(rounded)


# -- Response times of the guided point ------------------------------------------------------------------------------


#: A point has moved when its displacement exceeds this fraction of its planned distance and this length (m): a standing
#: robot sways by a millimeter.
MOTION_SHARE, LEAST_MOTION = 0.05, 0.001
#: Smallest commanded distance that is evaluated (m): the response to less cannot be distinguished from sway.
LEAST_COMMAND = 0.004
#: Time resolution at which motion and changes of the joystick are detected (s).
TIME_STEP = 0.01


def response_times(segments: Sequence[dict[str, Any]], recording: Recording, device: Device) -> dict[str, Any] | None:
    """Return statistics of the time until guided points move; None if no motion was commanded.

    A command is read at the end of the previous segment, and its own segment begins at once. So the point responds
    within one segment if it moves before the end of the segment that carries out the command. Positions are the true
    ones, not those of noisy sensors.

    Args:
        segments: summaries of the segments, see `SegmentLog`.
        recording: recording of the run.
        device: device that guided the robot.

    Returns:
        ``commands``: number of evaluated commands; ``median`` and ``max``: time from the start of the segment until the
        guided point has moved (s); ``within_one_segment``: fraction that moved before the end of the segment;
        ``since_command``: longest time from the change of the joystick (s), None if the device does not tell when it
        changed.
    """
    stride = round(max(TIME_STEP / recording.period, 1.0)) if recording.period > 0.0 else 1
    times, q = recording.time[::stride], true_state(recording, "q")[::stride]
    delays, command_delays, missed = [], [], 0
    for before, each, after in zip([None, *segments[:-1]], segments, [*segments[1:], None], strict=True):
        way = _commanded_distance(each)
        if way < LEAST_COMMAND or not any(each["axes"]):
            continue
        end = each["time"] + each["duration"] if after is None else after["time"]
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
    """Return the planned distance of the guided point in a segment (m)."""
    name = "center" if each["mode"] == "trunk" else each["mode"]
    if name not in each["goal"]:  # a robot without hands
        return 0.0
    begin, end = each["planned_paths"][name][0], each["goal"][name]
    return float(np.linalg.norm(np.subtract(end, begin))) if None not in (*begin, *end) else 0.0


def _point_positions(robot: Robot | None, q: Array, mode: str) -> Array:
    """Return the positions of a guided point in n configurations (m, n x 3)."""
    assert robot is not None
    states = [State(robot, each) for each in q]
    if mode == "trunk":
        return np.array([state.center_of_mass for state in states])
    part = robot.foot(mode.split()[0]) if mode.endswith("foot") else robot.hand(mode.split()[0])  # type: ignore[arg-type]
    middle = part.sole.center if isinstance(part, Foot) else np.zeros(3)
    return np.array([state.pose(part).act(middle) for state in states])


def _command_change_time(device: Device, time: float, before: float) -> float | None:
    """Return when the joystick took the value that it has at `time` (s).

    None if it had that value already at the reading at `before`, or if the device cannot be read at past times.
    """
    if not isinstance(device, (Script, RandomDevice)) or device.read(before) == device.read(time):
        return None
    now, at = device.read(time), time
    while at - TIME_STEP > before and device.read(at - TIME_STEP) == now:
        at -= TIME_STEP
    return at


# -- The motion ------------------------------------------------------------------------------------------------------


@dataclass
class NavigateSetup(Setup):
    """`Setup` of a guided robot.

    Attributes:
        segments: summaries of the segments so far, see `SegmentLog`.
        scenario: scenario of the run; None: the robot is guided by a script or at random.
    """

    segments: list[dict[str, Any]] = field(default_factory=list)
    scenario: Scenario | None = None


@dataclass(frozen=True, kw_only=True)
class Navigate(Motion):
    """Guide a robot by one point at a time, with a script or a random joystick ([Sugihara2008]).

    A complete run (robot, world, controller, plant, judgment) of the behavior `poise.behaviors.Navigate`.
    """

    name: ClassVar[str] = "navigate"
    summary: ClassVar[str] = "guide a foot, the trunk or a hand with a script or a random joystick"
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
        "prolonged": ResultColumn("count", "", "segments that were prolonged", "navigate.prolonged"),
        "projected_commands": ResultColumn(
            "count", "", "commands projected onto a boundary", "navigate.projected_commands"
        ),
        "longest_segment_s": ResultColumn(
            "number", "s", "duration of the longest segment", "navigate.longest_segment_s"
        ),
        "response_s": ResultColumn(
            "number", "s", "median time until a guided point moves", "navigate.response_s.median"
        ),
        "hand_to_door_m": ResultColumn(
            "number", "m", "distance from hand to door at the end of the scenario", "navigate.scenario.hand_to_door_m"
        ),
    }

    script: str = parameter(
        "", 'joystick commands: a list of {"time", "mode", "input": [6 numbers]}', metavar="FILE.json"
    )
    random: bool = parameter(False, "random joystick, drawn from the seed (default)")
    scenario: bool = parameter(
        False, "walk down three steps, cross a room, put a hand to a door ([Sugihara2008], figure 9)"
    )
    remote: str = parameter(
        "", f"address of a robot that 'poise serve' simulates, like {PLANT_ADDRESS}", metavar="ADDRESS"
    )

    @classmethod
    def settings_types(cls) -> dict[str, type]:
        return {"": NavigateSettings}

    def _available_modes(self) -> tuple[tuple[str, str], ...]:
        """Prefer position mode for robots with position servos."""
        if has_position_servos(self.robot):
            return tuple(sorted(self.available, key=lambda pair: pair[0] != "position"))
        return self.available

    def check(self) -> None:
        guides = [name for name in ("script", "random", "scenario") if getattr(self, name)]
        if len(guides) > 1:
            raise UsageError(f"--{guides[0]} and --{guides[1]} both guide the robot; give one of them")
        if self.remote and self.plant == "ideal":
            raise UsageError("a remote plant is not ideal; leave out --plant and --mode, or --remote")
        if self.remote and (self.scenario or self.world.disturbances):
            first = "scenario" if self.scenario else self.world.first_disturbance
            raise UsageError(f"the server defines the world of a remote plant; leave out --{first} or --remote")
        if self.scenario and self.world.terrain != "flat":
            raise UsageError("the scenario has its own ground; leave out --terrain")
        if self.world.terrain.partition(":")[0] not in ("flat", "stairs"):
            terrain = self.world.terrain
            raise UsageError(f"'navigate' supports flat ground and stairs, not '{terrain}'; choose one of these")

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
        """Return the device that guides the robot outside the scenario: a script, or a seeded random joystick."""
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
        operator = "scenario" if self.scenario else self.script or "random"
        return NavigateSetup(
            navigate,
            self.controller(navigate, navigate.weights),
            plant,
            navigate.seconds,
            {"operator": operator},
            updates=segments.updates,
            finished=lambda: device.finished,
            segments=segments.summaries,
            scenario=scenario,
        )

    def _plant(self, start: State, ground: Terrain | None = None, objects: Sequence[EnvironmentObject] = ()) -> Plant:
        if self.plant == "ideal":
            return IdealPlant(start, EnvironmentGeometry.of(ground, start, objects=objects))
        if self.remote:
            return RemotePlant(self.remote, start.robot)
        servos = self.mode == "position"
        return self.world.plant(start, seed=self.seed, servos=servos, ground=ground, objects=objects)

    def judge(self, setup: Setup, run: CompletedRun, result: Result) -> list[str]:
        """Judge the run: it succeeds if the robot does not fall and a scenario ends with the hand at the door."""
        assert isinstance(setup, NavigateSetup)
        segments, scenario, device = setup.segments, setup.scenario, setup.behavior.device
        result["seconds"] = min(run.seconds, run.recording.duration) if scenario else run.seconds
        steps = [each for each in segments if each["swing_foot"] is not None and each["foot_in_air"] is None]
        result["steps"] = len(steps)
        result["distance_m"], result["heading_rad"] = base_displacement(run.states_before_fall)
        result["navigate"] = {
            **_segment_counts(segments),
            "response_s": response_times(segments, run.recording, device),
        }
        if self.plant == "ideal":  # contacts are unknown there, so the ZMP margin is too
            result["zmp_margin_m"] = None
        if scenario is None:
            return []
        last = setup.plant.truth()  # true state, without sensor noise
        result["navigate"]["scenario"], reasons = scenario.assess(last, device.finished)
        return [] if result["fell"] else reasons


def _segment_counts(segments: list[dict[str, Any]]) -> dict[str, Any]:
    """Return counts and extremes over all segments."""
    margins = [each["margin"] for each in segments if each["margin"] is not None]
    return {
        "segments": len(segments),
        "outcomes": dict(Counter(each["outcome"] for each in segments)),
        "corrections": sum(each["corrections"] for each in segments),
        "prolonged": sum(1 for each in segments if each["corrections"]),
        "longest_segment_s": max((each["duration"] for each in segments), default=0.0),
        "projected_commands": sum(1 for each in segments if each["projected"]),
        "modes": dict(Counter(each["mode"] for each in segments)),
        "planned_margin_m": min(margins, default=None),
    }
