"""Recording as a report shows it: robot, phases, gait cycles, measures, torques and line style, computed on demand."""

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

EVENTS_FROM_FILE = "Initial contacts and toe-offs are those stored with the trial."
EVENTS_FROM_RULE = "Initial contacts and toe-offs were detected from the motion of heels, forefeet and pelvis."


@dataclass(frozen=True, eq=False)
class RecordedGait:
    """Gait of a human body.

    Attributes:
        reference: motion of the body, converted to overground walking if it was measured on a treadmill.
        events: initial contacts and toe-offs, in order of time.
        cycles: complete gait cycles, in order of time; at least one.
        source: sentence on the source of the events.
    """

    reference: ReferenceWalk
    events: tuple[GaitEvent, ...]
    cycles: tuple[GaitCycle, ...]
    source: str

    def cycles_of(self, side: Side) -> tuple[GaitCycle, ...]:
        """Return the gait cycles of one foot."""
        return tuple(cycle for cycle in self.cycles if cycle.side == side)

    @property
    def middle_cycle(self) -> GaitCycle:
        """Gait cycle furthest from both ends of the motion, of the right foot if it has any."""
        first, last = float(self.reference.time[0]), float(self.reference.time[-1])
        known = self.cycles_of("right") or self.cycles
        return max(known, key=lambda cycle: min(cycle.initial_contact - first, last - cycle.end))

    @property
    def phases(self) -> tuple[MotionPhase, ...]:
        """Support phases (double, left, right support, flight) from the first event to the last."""
        in_contact = {side: next((e.kind == "toe_off" for e in self.events if e.side == side), True) for side in SIDES}
        phases: list[MotionPhase] = []
        for event, next_event in itertools.pairwise(self.events):
            in_contact[event.side] = event.kind == "initial_contact"
            standing = [side for side in SIDES if in_contact[side]]
            name = "double support" if len(standing) > 1 else f"{standing[0]} support" if standing else "flight"
            if next_event.time > event.time:
                phases.append(MotionPhase(name, event.time, next_event.time))
        return tuple(phases)

    def lengths(self, cycle: GaitCycle) -> StrideLengths:
        """Return stride length, speed, step length and step width of a gait cycle."""
        walk = self.reference
        heels, toes = walk.foot_point("heel"), walk.foot_point("first_metatarsal")
        return stride_lengths(cycle, walk.time, heels, walking_direction(walk.q[:, :3], heels, toes))


def recorded_gait(recording: Recording, robot: Robot) -> RecordedGait | None:
    """Return the gait of a human body; None for other robots, or without a complete gait cycle.

    Events stored with the trial are preferred over detected ones if they give cycles of the same feet.
    """
    names = [f"{side}_{point}" for side in SIDES for point in FOOT_POINTS]
    if not set(names) <= set(robot.frames) or not set(TABLE_I_JOINTS) <= set(recording.labels["q"]):
        return None
    try:
        reference = ReferenceWalk(robot, recording.time, recording["q"])
        detected = reference.events
    except GaitError:  # too short, gaps, or no walk
        return None
    file_events = stored_events(recording.provenance)
    detected_cycles, stored_cycles = reference.cycles, reference.known_cycles(gait_cycles(file_events))
    if stored_cycles and {each.side for each in stored_cycles} >= {each.side for each in detected_cycles}:
        return RecordedGait(reference, file_events, stored_cycles, EVENTS_FROM_FILE)
    return RecordedGait(reference, detected, detected_cycles, EVENTS_FROM_RULE) if detected_cycles else None


def cycle_instants(cycle: GaitCycle) -> list[tuple[float, str]]:
    """Return the times (s) and labels at which a gait cycle is shown: its events, and both mid-swings."""
    a, b = cycle.side, other_side(cycle.side)
    named = [
        (cycle.initial_contact, f"{a} contact"),
        (cycle.opposite_toe_off, f"{b} toe-off"),
        ((cycle.opposite_toe_off + cycle.opposite_initial_contact) / 2.0, f"{b} mid-swing"),
        (cycle.opposite_initial_contact, f"{b} contact"),
        (cycle.toe_off, f"{a} toe-off"),
        ((cycle.toe_off + cycle.end) / 2.0, f"{a} mid-swing"),
        (cycle.end, f"{a} contact"),
    ]
    return [(at, f"{name}\n{cycle.percent_at(at):.0f} %") for at, name in named]


def stored_events(provenance: dict[str, Any]) -> tuple[GaitEvent, ...]:
    """Return the gait events in the provenance of a measured motion: a list of (time in s, side, kind)."""
    events = []
    for each in provenance.get("events") or ():
        match each:
            case [int() | float() as time, "left" | "right" as side, "initial_contact" | "toe_off" as kind]:
                events.append(GaitEvent(float(time), side, kind))
    return sort_events(events)


# -- RecordingView ---------------------------------------------------------------------------------------------------


class LineStyle(NamedTuple):
    """Line style of the curves of a recording: color and dashes, so that curves also differ in grayscale."""

    color: str
    dashes: str | tuple[int, tuple[float, ...]]


#: Colors safe for most kinds of color blindness, of decreasing darkness, each with its own dash pattern.
LINE_STYLES = (
    LineStyle("#00568a", "solid"),
    LineStyle("#d55e00", (0, (5.0, 1.6))),
    LineStyle("#009e73", (0, (1.2, 1.2))),
    LineStyle("#b3589a", (0, (6.0, 1.5, 1.2, 1.5))),
    LineStyle("#333333", (0, (3.0, 3.0))),
    LineStyle("#7f7000", (0, (8.0, 3.0))),
)


class RecordingView:
    """One recording of a report; costly results are computed on first use and cached.

    Args:
        label: name of the recording on the page.
        recording: the recording.
        robot: its robot; None if the model is not available.
        notes: sentences for the reader, for example on missing data.
        index: index of the recording on the page, from 0; it selects the line style.
    """

    def __init__(
        self, label: str, recording: Recording, robot: Robot | None, notes: tuple[str, ...] = (), index: int = 0
    ) -> None:
        self.label, self.recording, self.robot, self.notes = label, recording, robot, notes
        self.line_style = LINE_STYLES[index % len(LINE_STYLES)]

    @property
    def is_measured(self) -> bool:
        """Whether the motion is that of a measured person, without a controller."""
        return self.recording.provenance.get("behavior") in (FIT_BEHAVIOR, TORQUES_BEHAVIOR)

    @cached_property
    def gait(self) -> RecordedGait | None:
        """Gait of a human body; None for other robots, or without a complete gait cycle."""
        return None if self.robot is None or not self.recording.samples else recorded_gait(self.recording, self.robot)

    @cached_property
    def phases(self) -> tuple[MotionPhase, ...]:
        """Phases of the motion: named by the behavior; else support phases of a walk; else intervals of equal tasks."""
        if self.is_measured and self.gait is not None:
            return self.gait.phases
        if "phase" in self.recording or self.recorded_steps is None:
            return find_phases(self.recording)
        return support_phases(self.recorded_steps)

    @cached_property
    def body_trajectories(self) -> BodyTrajectories | None:
        """Motion of body parts and center of mass; None without samples or model."""
        if self.robot is None or not self.recording.samples:
            return None
        return compute_trajectories(self.recording, self.robot, posture_frames(self.robot).frames)

    @cached_property
    def recorded_steps(self) -> RecordedWalk | None:
        """Steps on flat feet, at least one; None without steps, and for a person, whose feet roll (see `gait`)."""
        if self.robot is None or self.body_trajectories is None or self.is_measured:
            return None
        steps = analyze_walk(self.recording, self.robot, self.body_trajectories)
        return steps if steps.steps else None

    @cached_property
    def recorded_walk(self) -> RecordedWalk | None:
        """Steps of a walk, two or more and of both feet; None for other motions."""
        return self.recorded_steps if self.recorded_steps is not None and self.recorded_steps.is_walk else None

    @cached_property
    def style_measures(self) -> StyleMeasures | None:
        """Style measures of a walk; None for other motions."""
        return None if self.recorded_walk is None else style_measures(self.recorded_walk)

    @cached_property
    def torque(self) -> Array | None:
        """Commanded torques, (n, joints), N m; None if there are none."""
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
        """Torque limit of each column of `torque`, N m; NaN for columns that are not joints; None without a model."""
        if self.robot is None:
            return None
        known = {joint.name: float(self.robot.limits.torque[joint.v - 6]) for joint in self.robot.joints}
        return np.array([known.get(name, np.nan) for name in self.torque_joints])

    @cached_property
    def limbs(self) -> tuple[Limb, ...]:
        """Limbs with their joints; one limb with all recorded joints if the model is missing."""
        names = self.recording.labels["q"][7:] if "q" in self.recording else ()
        return limbs(self.robot) if self.robot is not None else (Limb("all joints", tuple(names)),) if names else ()

    def missing_note(self, missing: str) -> str:
        """Return a sentence on missing data: ``reach: no torques were recorded.``"""
        return f"{self.label}: no {missing}." if self.recording.samples else f"{self.label}: the recording is empty."

    @property
    def robot_name(self) -> str:
        """Name of the robot in the recording."""
        return str(self.recording.provenance.get("robot", "unknown"))

    @cached_property
    def contact_names(self) -> tuple[str, ...]:
        """Names of the contacts with commanded, measured or force-plate forces that are known at some time."""
        prefixes = ("force/", "measured/force/", "plate/force/")
        known = [each for each in self.recording.channels.values() if each.header.kind == "number"]
        labels = [each.label for each in known if np.isfinite(each.values).any()]
        names = [label.removeprefix(p) for p in prefixes for label in labels if label.startswith(p)]
        return tuple(dict.fromkeys(names))


def recording_views(recordings: Mapping[str, Recording]) -> list[RecordingView]:
    """Return views of recordings, with their robots looked up by the names in the recordings.

    A robot that cannot be loaded or has other joints is None, and the notes of the view say why.
    """
    robots: dict[str, Robot | str] = {}
    views = []
    for index, (label, recording) in enumerate(recordings.items()):
        notes = [*_completeness_notes(recording)]
        robot = recording.robot
        if robot is None:
            provenance = recording.provenance
            robot_key = repr([provenance.get(key) for key in ("robot", "source", "load_arguments")])
            if robot_key not in robots:
                robots[robot_key] = robot_from_provenance(provenance)
            known = robots[robot_key]
            robot = known if isinstance(known, Robot) else None
            if isinstance(known, str):
                notes.append(f"The model of its robot is missing: {known}. Parts that need it are left out.")
        if robot is not None and recording.samples and not _matches_robot(recording, robot):
            notes.append(
                f"The model {robot.name!r} has other joints than the recording. Parts that need it are left out."
            )
            robot = None
        views.append(RecordingView(label, recording, robot, tuple(notes), index))
    return views


def time_range(*views: RecordingView) -> tuple[float, float]:
    """Return the time range (s) that covers all given recordings."""
    begins = [float(view.recording.time[0]) for view in views]
    ends = [b + max(view.recording.duration, 1e-3) for b, view in zip(begins, views, strict=True)]
    return min(begins), max(ends)


def _matches_robot(recording: Recording, robot: Robot) -> bool:
    """Return whether a recording has exactly the coordinates of a robot."""
    return "q" in recording and "v" in recording and recording.labels["q"] == CoordinateLabels.of(robot).q_labels


def _completeness_notes(recording: Recording) -> list[str]:
    """Return sentences on a recording that is empty, truncated or ended early."""
    notes = []
    ending = recording.provenance.get("outcome", "finished")
    if not recording.samples:
        notes.append("It is empty." if recording.complete else "The file is truncated before its first sample.")
    elif not recording.complete:
        notes.append(f"The file is truncated: this is its intact part, up to {recording.time[-1]:.2f} s.")
    elif ending != "finished":
        notes.append(f"The recording ended early: {ending}.")
    return notes
