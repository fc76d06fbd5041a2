"""`InferredStack`: the stack of tasks behind a motion, as data that can be edited, saved as TOML and run."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio

from poise import constraints, tasks
from poise.arrays import Array
from poise.files import atomic_write_text
from poise.hierarchy import Behavior, Hierarchy, Level
from poise.inference.motion_samples import InferenceError
from poise.parsing import format_value
from poise.robots import Frame, Robot, State
from poise.state import Snapshot

#: Version of the file format.
FORMAT = 1
#: Kinds of tasks, with the number of values of their target; None: any.
KINDS = {
    "Position": None,
    "Orientation": 9,
    "Direction": 3,
    "Gaze": 3,
    "CenterOfMass": None,
    "RelativePosition": 3,
    "Posture": None,
}


@dataclass(frozen=True)
class InferredTask:
    """One level of an inferred stack: a task on a part of the body.

    Args:
        name: name of the level, e.g. "left hand position".
        kind: one of `KINDS`.
        part: "left hand", "right foot", "chest", "gaze", "pelvis", "" for the whole body, or the name of a frame.
        target: numbers: a point (m), a direction, a rotation line by line, or joint angles (rad) in the order of
            `joints`.
        gain: rate at which the error decays, 1/s.
        held: whether the quantity stays where it is; its gain is not known then, and a stiff one is used.
        settings: further arguments, e.g. ``{"axes": "xy"}``.
        joints: names of the joints of a posture.
        share: share of the motion (0 to 1) that this level explains beyond the levels above.
        order_known: whether the order of this level and the next one can be told from the motion.
    """

    name: str
    kind: str
    part: str = ""
    target: tuple[float, ...] = ()
    gain: float = 5.0
    held: bool = False
    settings: Mapping[str, Any] = field(default_factory=dict)
    joints: tuple[str, ...] = ()
    share: float = 0.0
    order_known: bool = False

    def build(self, robot: Robot) -> tasks.MotionTask:
        """Return the task for a robot."""
        frame = part_frame(robot, self.part) if self.part else None
        target = np.array(self.target)
        dynamics = tasks.Decay(self.gain)
        if self.kind == "Posture":
            names = {joint.name for joint in robot.joints}
            known = [
                (robot.joint(name), angle)
                for name, angle in zip(self.joints, self.target, strict=True)
                if name in names
            ]
            if not known:
                return tasks.Posture(robot.stance("standing"), dynamics=dynamics)
            return tasks.Posture([angle for _, angle in known], joints=[joint for joint, _ in known], dynamics=dynamics)
        if self.kind == "CenterOfMass":
            return tasks.CenterOfMass(target, axes=self.settings.get("axes", "xyz"), dynamics=dynamics)
        if frame is None:
            raise InferenceError(f"level '{self.name}' has no part; give e.g. part = \"left hand\"")
        if self.kind == "Position":
            axes = self.settings.get("axes", "xyz")
            point = np.zeros(3)
            point[["xyz".index(axis) for axis in axes]] = target
            return tasks.Position(frame, point, axes=axes, dynamics=dynamics)
        if self.kind == "Orientation":
            return tasks.Orientation(frame, target.reshape(3, 3), dynamics=dynamics)
        if self.kind == "Direction":
            return tasks.Direction(frame, self.settings["axis"], target, dynamics=dynamics)
        if self.kind == "Gaze":
            axis = None if robot.gaze is not None and frame.name == robot.gaze.name else (1.0, 0.0, 0.0)
            return tasks.Gaze(
                robot.gaze if axis is None and robot.gaze is not None else frame, target, axis, dynamics=dynamics
            )
        reference = part_frame(robot, str(self.settings.get("reference", "chest")))
        return tasks.RelativePose(
            frame, reference, pinocchio.SE3(np.eye(3), target), rotation_axes="", dynamics=dynamics
        )


@dataclass(frozen=True)
class InferredSegment:
    """Part of a motion in which the stack does not change.

    Args:
        begin, end: times (s).
        contacts: parts that rest on the ground or elsewhere: they are held, above all other levels.
        levels: the tasks, the most important first.
        explained: share of the motion (0 to 1) that the stack explains.
    """

    begin: float
    end: float
    contacts: tuple[str, ...]
    levels: tuple[InferredTask, ...]
    explained: float = 0.0

    def hierarchy(self, robot: Robot, start: State) -> Hierarchy:
        """Return the hierarchy of this segment; contacts are held where they are in the given state."""
        levels = [Level("contact", [tasks.HoldPose(part_frame(robot, part), at=start) for part in self.contacts])]
        levels = levels if self.contacts else []
        return Hierarchy(
            always=[constraints.JointRange(robot)],
            levels=[*levels, *(Level(task.name, task.build(robot), damping=0.02) for task in self.levels)],
        )


@dataclass(frozen=True)
class InferredStack:
    """The stacks of tasks behind a motion, segment by segment.

    Args:
        robot: name of the robot or file of its description.
        segments: in order of time.
        source: file of the motion.
        start: configuration at the beginning (nq).

    >>> stack = poise.inference.infer(poise.load_recording("reach.poise"))
    >>> print(stack)
    >>> stack.save("reach.toml")
    """

    robot: str
    segments: tuple[InferredSegment, ...]
    source: str = ""
    start: tuple[float, ...] = ()

    @property
    def explained(self) -> float:
        """Share of the motion (0 to 1) that the stacks explain: the mean of the segments, weighted with their time."""
        weights = [segment.end - segment.begin for segment in self.segments]
        return float(np.average([segment.explained for segment in self.segments], weights=weights))

    @property
    def seconds(self) -> float:
        """Duration (s)."""
        return self.segments[-1].end

    def behavior(self, robot: Robot, start: State | None = None) -> StackBehavior:
        """Return a behavior that runs the stacks, one after the other, kinematically or with torques."""
        return StackBehavior(self, robot, start)

    def retargeted(self, level: str, target: Sequence[float]) -> InferredStack:
        """Return a copy in which the levels of that name have another target."""
        names = [task.name for segment in self.segments for task in segment.levels]
        if level not in names:
            raise InferenceError(f"there is no level '{level}'; there are {', '.join(dict.fromkeys(names))}")
        new = tuple(float(x) for x in target)
        segments = [
            replace(
                segment,
                levels=tuple(replace(task, target=new) if task.name == level else task for task in segment.levels),
            )
            for segment in self.segments
        ]
        return replace(self, segments=tuple(segments))

    def summary(self) -> dict[str, Any]:
        """Return plain values for JSON: the contents of the TOML file, and the share that is explained."""
        segments = [
            {**asdict(segment), "levels": [asdict(task) for task in segment.levels]} for segment in self.segments
        ]
        return {"robot": self.robot, "source": self.source, "explained": self.explained, "segments": segments}

    # -- text and files --------------------------------------------------------------------------------------------

    def __str__(self) -> str:
        lines = [
            f"{self.source or 'motion'} on {self.robot}: {len(self.segments)} segments, {self.explained:.1%} explained"
        ]
        for segment in self.segments:
            lines.append(f"{segment.begin:.2f} to {segment.end:.2f} s, {segment.explained:.1%} explained")
            if segment.contacts:
                lines.append(f"  0  contact: {', '.join(segment.contacts)} held")
            for number, task in enumerate(segment.levels, 1):
                gain = "held" if task.held else f"gain {task.gain:.2f} 1/s"
                numbers = "" if len(task.target) > 3 else " at " + ", ".join(f"{x:.3f}" for x in task.target)
                lines.append(f"  {number}  {task.name}: {task.kind}{numbers}, {gain}, share {task.share:.1%}")
                if number < len(segment.levels) and not task.order_known:
                    lines.append("     (the order of this level and the next does not show in the motion)")
        return "\n".join(lines)

    def save(self, path: str | Path) -> None:
        """Write the stack to a TOML file, atomically."""
        atomic_write_text(path, self.to_toml())

    def to_toml(self) -> str:
        """Return the text of the TOML file."""
        lines = [
            "# Stack of tasks inferred by Poise: levels of each segment in order of importance. Edit targets (m, rad),",
            "# gains (1/s) and order; `poise.inference.InferredStack.load` reads it.",
            f"format = {FORMAT}",
            f"robot = {_toml(self.robot)}",
            f"source = {_toml(self.source)}",
            f"start = {_toml(self.start)}",
        ]
        for segment in self.segments:
            lines += ["", "[[segments]]", f"begin = {_toml(segment.begin)}", f"end = {_toml(segment.end)}"]
            lines += [f"contacts = {_toml(segment.contacts)}", f"explained = {_toml(segment.explained)}"]
            for task in segment.levels:
                lines += ["", "[[segments.levels]]", f"name = {_toml(task.name)}", f"task = {_toml(task.kind)}"]
                if task.part:
                    lines.append(f"part = {_toml(task.part)}")
                lines += [f"{key} = {_toml(value)}" for key, value in task.settings.items()]
                if task.joints:
                    lines.append(f"joints = {_toml(task.joints)}")
                lines += [f"target = {_toml(task.target)}", f"gain = {_toml(task.gain)}", f"held = {_toml(task.held)}"]
                lines += [f"share = {_toml(task.share)}", f"order_known = {_toml(task.order_known)}"]
        return "\n".join(lines) + "\n"

    @classmethod
    def load(cls, path: str | Path) -> InferredStack:
        """Read a TOML file that `save` has written, perhaps edited since."""
        try:
            with open(path, "rb") as file:
                data = tomllib.load(file)
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise InferenceError(f"'{path}' is not valid TOML: {error}") from None
        return cls.from_data(data, str(path))

    @classmethod
    def from_data(cls, data: Mapping[str, Any], path: str = "stack") -> InferredStack:
        """Build the stack from the contents of a TOML file."""
        if data.get("format") != FORMAT:
            raise InferenceError(f"'{path}' has format {data.get('format')!r}; expected a stack of format {FORMAT}")
        segments = data.get("segments")
        if not isinstance(segments, list) or not segments:
            raise InferenceError(f"'{path}' has no segments; expected tables [[segments]] with [[segments.levels]]")
        return cls(
            robot=str(data.get("robot", "")),
            segments=tuple(_read_segment(segment, f"{path}: segment {i}") for i, segment in enumerate(segments, 1)),
            source=str(data.get("source", "")),
            start=_numbers(data.get("start", ()), f"{path}: start"),
        )


class StackBehavior(Behavior):
    """Behavior that runs an inferred stack: the hierarchy of the segment at the current time.

    Args:
        stack: the stack.
        robot: the robot, which may be another one than that of the motion.
        start: initial state, at rest; None: that of the motion if the robot is the same, else the standing stance.
    """

    essential_level = "contact"

    def __init__(self, stack: InferredStack, robot: Robot, start: State | None = None) -> None:
        if start is None:
            contacts = tuple(part_frame(robot, part) for part in stack.segments[0].contacts)
            same = len(stack.start) == robot.model.nq
            start = State(robot, np.array(stack.start), contacts=contacts) if same else robot.stance("standing")
        self.stack, self.start, self.seconds = stack, start, stack.seconds
        self._hierarchy: Hierarchy | None = None
        self._segment = -1

    def __call__(self, snapshot: Snapshot) -> Hierarchy:
        index = next(
            (i for i, s in enumerate(self.stack.segments) if snapshot.time < s.end), len(self.stack.segments) - 1
        )
        if self._hierarchy is None or index != self._segment:
            at = snapshot.state if snapshot.state is not None else self.start
            assert at is not None
            self._segment = index
            self._hierarchy = self.stack.segments[index].hierarchy(snapshot.robot, at)
        return self._hierarchy


# -- parts of the body -----------------------------------------------------------------------------------------------


def part_name(robot: Robot, frame: str) -> str:
    """Return the word for a frame, the same on every robot: "left hand", "chest", ...; else the name of the frame."""
    names = {part.name: f"{part.side} hand" for part in robot.hands}
    names |= {part.name: f"{part.side} foot" for part in robot.feet}
    if robot.chest is not None:
        names[robot.chest.name] = "chest"
    if robot.gaze is not None:
        names[robot.gaze.name] = "gaze"
    base = base_frame(robot)
    names.setdefault(base.name, "pelvis")
    return names.get(frame, frame)


def part_frame(robot: Robot, part: str) -> Frame:
    """Return the frame of a part of the body, by its word or its name."""
    side, _, kind = part.partition(" ")
    if kind == "hand" and side in ("left", "right"):
        return robot.hand(side)
    if kind == "foot" and side in ("left", "right"):
        return robot.foot(side)
    known: dict[str, Frame | None] = {"chest": robot.chest, "gaze": robot.gaze, "pelvis": base_frame(robot)}
    return known.get(part) or robot.frame(part)


def base_frame(robot: Robot) -> Frame:
    """Return the frame of the floating base."""
    return next(frame for frame in robot.frames.values() if frame.joint == 1)


# -- TOML ------------------------------------------------------------------------------------------------------------


def _toml(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
    if isinstance(value, float | int | np.floating):
        return repr(round(float(value), 6))
    return "[" + ", ".join(_toml(item) for item in value) + "]"


def _numbers(values: Any, what: str) -> tuple[float, ...]:
    try:
        array: Array = np.array(values, dtype=np.float64).ravel()
    except (TypeError, ValueError):
        raise InferenceError(f"{what} is {format_value(values)}; expected a list of numbers") from None
    if not np.isfinite(array).all():
        raise InferenceError(f"{what} has a number that is not finite; give finite numbers")
    return tuple(array.tolist())


def _read_segment(data: Any, what: str) -> InferredSegment:
    if not isinstance(data, Mapping) or not isinstance(data.get("levels", []), list):
        raise InferenceError(f"{what} is {format_value(data)}; expected begin, end, contacts and [[segments.levels]]")
    begin, end = _numbers([data.get("begin", 0.0), data.get("end", float("nan"))], f"{what}: begin and end")
    if not end > begin:
        raise InferenceError(f"{what} is from {begin:g} to {end:g} s; expected an end after its begin")
    levels = tuple(_read_task(task, f"{what}, level {i}") for i, task in enumerate(data.get("levels", []), 1))
    return InferredSegment(
        begin, end, tuple(map(str, data.get("contacts", ()))), levels, float(data.get("explained", 0.0))
    )


def _read_task(data: Any, what: str) -> InferredTask:
    kind = data.get("task") if isinstance(data, Mapping) else None
    if kind not in KINDS:
        raise InferenceError(f"{what} has task {kind!r}; expected one of {', '.join(KINDS)}")
    target = _numbers(data.get("target", ()), f"{what}: target")
    expected = KINDS[kind]
    if expected is not None and len(target) != expected:
        raise InferenceError(f"{what}: target has {len(target)} numbers; expected {expected}")
    (gain,) = _numbers([data.get("gain", 5.0)], f"{what}: gain")
    if gain <= 0.0:
        raise InferenceError(f"{what}: gain is {gain:g}; expected a number above zero (1/s)")
    joints = tuple(map(str, data.get("joints", ())))
    if kind == "Posture" and len(joints) != len(target):
        raise InferenceError(f"{what} has {len(joints)} joints and {len(target)} angles; expected one angle per joint")
    settings = {key: data[key] for key in ("axes", "axis", "reference") if key in data}
    return InferredTask(
        name=str(data.get("name", kind)),
        kind=kind,
        part=str(data.get("part", "")),
        target=target,
        gain=gain,
        held=bool(data.get("held", False)),
        settings=settings,
        joints=joints,
        share=float(data.get("share", 0.0)),
        order_known=bool(data.get("order_known", False)),
    )
