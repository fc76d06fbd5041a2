"""A recording as a report shows it: robot, phases, gait cycles, measures and line style."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from poise.analysis import (
    TABLE_I_JOINTS,
    BodyTrajectories,
    GaitCycle,
    GaitEvent,
    MotionPhase,
    RecordedWalk,
    StrideLengths,
    StyleMeasures,
    analyze_walk,
    compute_trajectories,
    find_phases,
    gait_cycles,
    posture_frames,
    sort_events,
    stride_lengths,
    style_measures,
    support_phases,
    walking_direction,
)
from poise.arrays import Array
from poise.errors import GaitError
from poise.human import FIT_BEHAVIOR, FOOT_POINTS, TORQUES_BEHAVIOR, ReferenceWalk
from poise.recording import CoordinateLabels, Recording, robot_from_provenance
from poise.robots import SIDES, Limb, Robot, Side, limbs, other_side

EVENTS_FROM_FILE = "Strikes and toe-offs are those that came with the trial."
EVENTS_FROM_RULE = "Strikes and toe-offs were found in the motion of heels, forefeet and pelvis."


@dataclass(frozen=True, eq=False)
class RecordedGait:
    """How a human body walks.

    Attributes:
        reference: its motion, on the floor if it walked on a treadmill.
        events: strikes and toe-offs, in the order of time.
        cycles: the complete ones, in the order of time; at least one.
        source: where the events come from, in a sentence.
    """

    reference: ReferenceWalk
    events: tuple[GaitEvent, ...]
    cycles: tuple[GaitCycle, ...]
    source: str

    def cycles_of(self, side: Side) -> tuple[GaitCycle, ...]:
        """The cycles of one foot."""
        return tuple(cycle for cycle in self.cycles if cycle.side == side)

    @property
    def middle_cycle(self) -> GaitCycle:
        """The cycle that is farthest from both ends of the motion, of the right foot if it has any."""
        first, last = float(self.reference.time[0]), float(self.reference.time[-1])
        known = self.cycles_of("right") or self.cycles
        return max(known, key=lambda cycle: min(cycle.initial_contact - first, last - cycle.end))

    @property
    def phases(self) -> tuple[MotionPhase, ...]:
        """Which feet stand, from the first event to the last, one phase after the other."""
        in_contact = {side: next((e.kind == "off" for e in self.events if e.side == side), True) for side in SIDES}
        phases: list[MotionPhase] = []
        for event, next_event in itertools.pairwise(self.events):
            in_contact[event.side] = event.kind == "strike"
            standing = [side for side in SIDES if in_contact[side]]
            name = "double support" if len(standing) > 1 else f"{standing[0]} support" if standing else "flight"
            if next_event.time > event.time:
                phases.append(MotionPhase(name, event.time, next_event.time))
        return tuple(phases)

    def lengths(self, cycle: GaitCycle) -> StrideLengths:
        """Stride, speed, step and width of a cycle."""
        walk = self.reference
        heels, toes = walk.foot_point("heel"), walk.foot_point("first_metatarsal")
        return stride_lengths(cycle, walk.time, heels, walking_direction(walk.q[:, :3], heels, toes))


def recorded_gait(recording: Recording, robot: Robot) -> RecordedGait | None:
    """How somebody walks; None if it is no human body, or no complete cycle."""
    names = [f"{side}_{point}" for side in SIDES for point in FOOT_POINTS]
    if not set(names) <= set(robot.frames) or not set(TABLE_I_JOINTS) <= set(recording.labels["q"]):
        return None
    try:
        reference = ReferenceWalk(robot, recording.time, recording["q"])
        detected = reference.events
    except GaitError:  # too short, gaps, or nobody who goes anywhere
        return None
    file_events = stored_events(recording.provenance)
    detected_cycles, stored_cycles = gait_cycles(detected), gait_cycles(file_events)
    if stored_cycles and {each.side for each in stored_cycles} >= {each.side for each in detected_cycles}:
        return RecordedGait(reference, file_events, stored_cycles, EVENTS_FROM_FILE)
    return RecordedGait(reference, detected, detected_cycles, EVENTS_FROM_RULE) if detected_cycles else None


def cycle_instants(cycle: GaitCycle) -> list[tuple[float, str]]:
    """Times at which a cycle is shown (s), and what is written below: its events, and the middles of both swings."""
    a, b = cycle.side, other_side(cycle.side)
    named = [
        (cycle.initial_contact, f"{a} strike"),
        (cycle.opposite_toe_off, f"{b} toe-off"),
        ((cycle.opposite_toe_off + cycle.opposite_initial_contact) / 2.0, f"{b} leg swings"),
        (cycle.opposite_initial_contact, f"{b} strike"),
        (cycle.toe_off, f"{a} toe-off"),
        ((cycle.toe_off + cycle.end) / 2.0, f"{a} leg swings"),
        (cycle.end, f"{a} strike"),
    ]
    return [(at, f"{name}\n{cycle.percent_at(at):.0f} %") for at, name in named]


def stored_events(provenance: dict[str, Any]) -> tuple[GaitEvent, ...]:
    """The events in the provenance of a measured motion: a list of (time in s, side, "strike" or "off")."""
    events = []
    for each in provenance.get("events") or ():
        match each:
            case [int() | float() as time, "left" | "right" as side, "strike" | "off" as kind]:
                events.append(GaitEvent(float(time), side, kind))
    return sort_events(events)


# -- RecordingView ---------------------------------------------------------------------------------------------------


class LineStyle(NamedTuple):
    """How the curves of a recording are drawn: colour and dashes, so that they differ in grey as well."""

    color: str
    dashes: str | tuple[int, tuple[float, ...]]


#: Colours that most eyes tell apart, of falling darkness, with dashes that anyone does.
LINE_STYLES = (
    LineStyle("#00568a", "solid"),
    LineStyle("#d55e00", (0, (5.0, 1.6))),
    LineStyle("#009e73", (0, (1.2, 1.2))),
    LineStyle("#b3589a", (0, (6.0, 1.5, 1.2, 1.5))),
    LineStyle("#333333", (0, (3.0, 3.0))),
    LineStyle("#7f7000", (0, (8.0, 3.0))),
)


class RecordingView:
    """One recording of a report. What is costly is found out once, when it is first asked for.

    Args:
        label: how the page calls it.
        recording: what happened.
        robot: whose motion it is; None if its model is not at hand.
        notes: what the reader should know of it, in sentences.
        index: which one of the recordings it is, from 0.
    """

    def __init__(
        self, label: str, recording: Recording, robot: Robot | None, notes: tuple[str, ...] = (), index: int = 0
    ) -> None:
        self.label, self.recording, self.robot, self.notes = label, recording, robot, notes
        self.line_style = LINE_STYLES[index % len(LINE_STYLES)]

    @property
    def is_measured(self) -> bool:
        """Whether it is a person who was measured: nobody controlled this motion."""
        return self.recording.provenance.get("behavior") in (FIT_BEHAVIOR, TORQUES_BEHAVIOR)

    @property
    def has_no_forces(self) -> bool:
        """Whether it is a person of whom neither torques nor forces are known."""
        return self.is_measured and self.torque is None and not self.contact_names

    @cached_property
    def gait(self) -> RecordedGait | None:
        """Gait cycles of a human body; None if it is none, or walks no whole cycle."""
        return None if self.robot is None or not len(self.recording) else recorded_gait(self.recording, self.robot)

    @cached_property
    def phases(self) -> tuple[MotionPhase, ...]:
        """As the behavior names them; of a walk without names, as its feet stand; else as tasks come and go."""
        if self.is_measured and self.gait is not None:
            return self.gait.phases
        if "phase" in self.recording or self.recorded_walk is None:
            return find_phases(self.recording)
        return support_phases(self.recorded_walk)

    @cached_property
    def body_trajectories(self) -> BodyTrajectories | None:
        """Where its parts went; None without samples or model."""
        if self.robot is None or not len(self.recording):
            return None
        return compute_trajectories(self.recording, self.robot, posture_frames(self.robot).frames)

    @cached_property
    def recorded_walk(self) -> RecordedWalk | None:
        """Its steps on flat feet; None if it is no walk, or that of a person, whose feet roll: see `gait`."""
        if self.robot is None or self.body_trajectories is None or self.is_measured:
            return None
        walk = analyze_walk(self.recording, self.robot, self.body_trajectories)
        return walk if walk.is_walk else None

    @cached_property
    def style_measures(self) -> StyleMeasures | None:
        """How it walks; None if it is no walk."""
        return None if self.recorded_walk is None else style_measures(self.recorded_walk)

    @cached_property
    def torque(self) -> Array | None:
        """Torques that were commanded, (n, joints), N m; None if there are none."""
        if "command/torque" not in self.recording:
            return None
        values: Array = self.recording["command/torque"]
        return values if np.isfinite(values).any() else None

    @property
    def torque_joints(self) -> tuple[str, ...]:
        """Names of the columns of `torque`."""
        return self.recording.labels["command/torque"]

    @cached_property
    def torque_limits(self) -> Array | None:
        """Of each column of `torque`, N m; NaN for what is no joint, None without a model."""
        if self.robot is None:
            return None
        known = {joint.name: float(self.robot.limits.torque[joint.v - 6]) for joint in self.robot.joints}
        return np.array([known.get(name, np.nan) for name in self.torque_joints])

    @cached_property
    def limbs(self) -> tuple[Limb, ...]:
        """Limbs with the joints that the recording has; all joints in one if the model is missing."""
        names = self.recording.labels["q"][7:] if "q" in self.recording else ()
        return limbs(self.robot) if self.robot is not None else (Limb("all joints", tuple(names)),) if names else ()

    def missing_note(self, missing: str) -> str:
        """A sentence on what is absent here: ``reach: no torques were recorded.``"""
        return f"{self.label}: no {missing}." if len(self.recording) else f"{self.label}: it holds no sample."

    @property
    def robot_name(self) -> str:
        return str(self.recording.provenance.get("robot", "unknown"))

    @cached_property
    def contact_names(self) -> tuple[str, ...]:
        """Names of the contacts with commanded or sensed forces, or with those of force plates."""
        prefixes = ("force/", "sensed/force/", "plate/force/")
        labels = [channel.label for channel in self.recording.channels.values()]
        names = [label.removeprefix(p) for p in prefixes for label in labels if label.startswith(p)]
        return tuple(dict.fromkeys(names))


def recording_views(recordings: Mapping[str, Recording]) -> list[RecordingView]:
    """Recordings with their robots, looked up by the names that the recordings give."""
    robots: dict[str, Robot | str] = {}
    views = []
    for index, (label, recording) in enumerate(recordings.items()):
        notes = [*_completeness_notes(recording)]
        robot = recording.robot
        if robot is None:
            provenance = recording.provenance
            robot_key = repr([provenance.get(key) for key in ("robot", "source", "parts")])
            if robot_key not in robots:
                robots[robot_key] = robot_from_provenance(provenance)
            known = robots[robot_key]
            robot = known if isinstance(known, Robot) else None
            if isinstance(known, str):
                notes.append(f"The model of its robot is missing: {known}. What needs it is left out.")
        if robot is not None and len(recording) and not _matches_robot(recording, robot):
            notes.append(f"The model {robot.name!r} has other joints than were recorded. What needs it is left out.")
            robot = None
        views.append(RecordingView(label, recording, robot, tuple(notes), index))
    return views


def time_range(*views: RecordingView) -> tuple[float, float]:
    """From the first sample of some recordings to the end of the last one (s)."""
    begins = [float(view.recording.time[0]) for view in views]
    ends = [b + max(view.recording.duration, 1e-3) for b, view in zip(begins, views, strict=True)]
    return min(begins), max(ends)


def _matches_robot(recording: Recording, robot: Robot) -> bool:
    """Whether a recording is one of this robot, joint by joint."""
    return "q" in recording and "v" in recording and recording.labels["q"] == CoordinateLabels.of(robot).q_labels


def _completeness_notes(recording: Recording) -> list[str]:
    """What is to be said of a recording that is not whole."""
    notes = []
    ending = recording.provenance.get("ended", "finished")
    if not len(recording):
        notes.append("It holds no sample." if recording.complete else "The file was cut off before its first sample.")
    elif not recording.complete:
        notes.append(f"The file was cut off: this is its intact part, up to {recording.time[-1]:.2f} s.")
    elif ending != "finished":
        notes.append(f"The recording ended early: {ending}.")
    return notes
