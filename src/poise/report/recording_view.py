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
    Phase,
    RecordedWalk,
    StrideLengths,
    StyleMeasures,
    analyze_walk,
    compute_trajectories,
    gait_cycles,
    phases,
    posture_frames,
    sort_events,
    stride_lengths,
    style_measures,
    support_phases,
    walking_direction,
)
from poise.arrays import Array
from poise.errors import GaitError
from poise.human import FIT_BEHAVIOR as FITTED
from poise.human import POINTS, Reference
from poise.human import TORQUES_BEHAVIOR as DRIVEN
from poise.recording import Body, Recording, named_robot
from poise.robots import SIDES, Limb, Robot, Side, limbs, other_side

BY_FILE = "Strikes and toe-offs are those that came with the trial."
BY_RULE = "Strikes and toe-offs were found in the motion of heels, forefeet and pelvis."


@dataclass(frozen=True, eq=False)
class Gait:
    """How a human body walks.

    Attributes:
        reference: its motion, on the floor if it walked on a treadmill.
        events: strikes and toe-offs, in the order of time.
        cycles: the complete ones, in the order of time; at least one.
        source: where the events come from, in a sentence.
    """

    reference: Reference
    events: tuple[GaitEvent, ...]
    cycles: tuple[GaitCycle, ...]
    source: str

    def of(self, side: Side) -> tuple[GaitCycle, ...]:
        """The cycles of one foot."""
        return tuple(cycle for cycle in self.cycles if cycle.side == side)

    @property
    def middle(self) -> GaitCycle:
        """The cycle that is farthest from both ends of the motion, of the right foot if it has any."""
        first, last = float(self.reference.time[0]), float(self.reference.time[-1])
        known = self.of("right") or self.cycles
        return max(known, key=lambda cycle: min(cycle.initial_contact - first, last - cycle.end))

    @property
    def phases(self) -> tuple[Phase, ...]:
        """Which feet stand, from the first event to the last, one phase after the other."""
        on = {side: next((e.kind == "off" for e in self.events if e.side == side), True) for side in SIDES}
        found: list[Phase] = []
        for event, then in itertools.pairwise(self.events):
            on[event.side] = event.kind == "strike"
            standing = [side for side in SIDES if on[side]]
            name = "double support" if len(standing) > 1 else f"{standing[0]} support" if standing else "flight"
            if then.time > event.time:
                found.append(Phase(name, event.time, then.time))
        return tuple(found)

    def lengths(self, cycle: GaitCycle) -> StrideLengths:
        """Stride, speed, step and width of a cycle."""
        walk = self.reference
        heels, toes = walk.track("heel"), walk.track("first_metatarsal")
        return stride_lengths(cycle, walk.time, heels, walking_direction(walk.q[:, :3], heels, toes))


def gait_of(recording: Recording, robot: Robot) -> Gait | None:
    """How somebody walks; None if it is no human body, or no complete cycle."""
    names = [f"{side}_{point}" for side in SIDES for point in POINTS]
    if not set(names) <= set(robot.frames) or not set(TABLE_I_JOINTS) <= set(recording.labels["q"]):
        return None
    try:
        reference = Reference(robot, recording.time, recording["q"])
        found = reference.events
    except GaitError:  # too short, gaps, or nobody who goes anywhere
        return None
    given = stored_events(recording.provenance)
    ours, theirs = gait_cycles(found), gait_cycles(given)
    if theirs and {each.side for each in theirs} >= {each.side for each in ours}:
        return Gait(reference, given, theirs, BY_FILE)
    return Gait(reference, found, ours, BY_RULE) if ours else None


def moments_of(cycle: GaitCycle) -> list[tuple[float, str]]:
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
    return [(at, f"{name}\n{cycle.share(at):.0f} %") for at, name in named]


def stored_events(facts: dict[str, Any]) -> tuple[GaitEvent, ...]:
    """The events in the provenance of a measured motion: a list of (time in s, side, "strike" or "off")."""
    found = []
    for each in facts.get("events") or ():
        match each:
            case [int() | float() as time, "left" | "right" as side, "strike" | "off" as kind]:
                found.append(GaitEvent(float(time), side, kind))
    return sort_events(found)


# -- Subject ---------------------------------------------------------------------------------------------------------


class Line(NamedTuple):
    """How the curves of a recording are drawn: colour and dashes, so that they differ in grey as well."""

    color: str
    dash: str | tuple[int, tuple[float, ...]]


#: Colours that most eyes tell apart, of falling darkness, with dashes that anyone does.
LINES = (
    Line("#00568a", "solid"),
    Line("#d55e00", (0, (5.0, 1.6))),
    Line("#009e73", (0, (1.2, 1.2))),
    Line("#b3589a", (0, (6.0, 1.5, 1.2, 1.5))),
    Line("#333333", (0, (3.0, 3.0))),
    Line("#7f7000", (0, (8.0, 3.0))),
)


class Subject:
    """One recording of a report. What is costly is found out once, when it is first asked for.

    Args:
        label: how the page calls it.
        recording: what happened.
        robot: whose motion it is; None if its model is not at hand.
        notes: what the reader should know of it, in sentences.
        order: which one of the recordings it is, from 0.
    """

    def __init__(
        self, label: str, recording: Recording, robot: Robot | None, notes: tuple[str, ...] = (), order: int = 0
    ) -> None:
        self.label, self.recording, self.robot, self.notes = label, recording, robot, notes
        self.line = LINES[order % len(LINES)]

    @property
    def measured(self) -> bool:
        """Whether it is a person who was measured: nobody controlled this motion."""
        return self.recording.provenance.get("behavior") in (FITTED, DRIVEN)

    @property
    def unloaded(self) -> bool:
        """Whether it is a person of whom neither torques nor forces are known."""
        return self.measured and self.torque is None and not self.contacts

    @cached_property
    def gait(self) -> Gait | None:
        """Gait cycles of a human body; None if it is none, or walks no whole cycle."""
        return None if self.robot is None or not len(self.recording) else gait_of(self.recording, self.robot)

    @cached_property
    def phases(self) -> tuple[Phase, ...]:
        """As the behavior names them; of a walk without names, as its feet stand; else as tasks come and go."""
        if self.measured and self.gait is not None:
            return self.gait.phases
        if "phase" in self.recording or self.walk is None:
            return phases(self.recording)
        return support_phases(self.walk)

    @cached_property
    def tracks(self) -> BodyTrajectories | None:
        """Where its parts went; None without samples or model."""
        if self.robot is None or not len(self.recording):
            return None
        return compute_trajectories(self.recording, self.robot, posture_frames(self.robot).frames)

    @cached_property
    def walk(self) -> RecordedWalk | None:
        """Its steps on flat feet; None if it is no walk, or that of a person, whose feet roll: see `gait`."""
        if self.robot is None or self.tracks is None or self.measured:
            return None
        found = analyze_walk(self.recording, self.robot, self.tracks)
        return found if found.is_walk else None

    @cached_property
    def measures(self) -> StyleMeasures | None:
        """How it walks; None if it is no walk."""
        return None if self.walk is None else style_measures(self.walk)

    @cached_property
    def torque(self) -> Array | None:
        """Torques that were commanded, (n, joints), N m; None if there are none."""
        if "command/torque" not in self.recording:
            return None
        values: Array = self.recording["command/torque"]
        return values if np.isfinite(values).any() else None

    @property
    def joints(self) -> tuple[str, ...]:
        """Names of the columns of `torque`."""
        return self.recording.labels["command/torque"]

    @cached_property
    def torque_limits(self) -> Array | None:
        """Of each column of `torque`, N m; NaN for what is no joint, None without a model."""
        if self.robot is None:
            return None
        known = {joint.name: float(self.robot.limits.torque[joint.v - 6]) for joint in self.robot.joints}
        return np.array([known.get(name, np.nan) for name in self.joints])

    @cached_property
    def limbs(self) -> tuple[Limb, ...]:
        """Limbs with the joints that the recording has; all joints in one if the model is missing."""
        names = self.recording.labels["q"][7:] if "q" in self.recording else ()
        return limbs(self.robot) if self.robot is not None else (Limb("all joints", tuple(names)),) if names else ()

    def lacks(self, what: str) -> str:
        """A sentence on what is absent here: ``reach: no torques were recorded.``"""
        return f"{self.label}: no {what}." if len(self.recording) else f"{self.label}: it holds no sample."

    @property
    def robot_name(self) -> str:
        return str(self.recording.provenance.get("robot", "unknown"))

    @cached_property
    def contacts(self) -> tuple[str, ...]:
        """Names of the contacts with commanded or sensed forces, or with those of force plates."""
        prefixes = ("force/", "sensed/force/", "plate/force/")
        labels = [channel.label for channel in self.recording.channels.values()]
        names = [label.removeprefix(p) for p in prefixes for label in labels if label.startswith(p)]
        return tuple(dict.fromkeys(names))


def subjects(recordings: Mapping[str, Recording]) -> list[Subject]:
    """Recordings with their robots, looked up by the names that the recordings give."""
    found: dict[str, Robot | str] = {}
    made = []
    for order, (label, recording) in enumerate(recordings.items()):
        notes = [*_endings(recording)]
        robot = recording.robot
        if robot is None:
            facts = recording.provenance
            which = repr([facts.get(key) for key in ("robot", "source", "parts")])
            if which not in found:
                found[which] = named_robot(facts)
            known = found[which]
            robot = known if isinstance(known, Robot) else None
            if isinstance(known, str):
                notes.append(f"The model of its robot is missing: {known}. What needs it is left out.")
        if robot is not None and len(recording) and not _moves(recording, robot):
            notes.append(f"The model {robot.name!r} has other joints than were recorded. What needs it is left out.")
            robot = None
        made.append(Subject(label, recording, robot, tuple(notes), order))
    return made


def span(*subjects: Subject) -> tuple[float, float]:
    """From the first sample of some recordings to the end of the last one (s)."""
    begins = [float(subject.recording.time[0]) for subject in subjects]
    ends = [b + max(s.recording.duration, 1e-3) for b, s in zip(begins, subjects, strict=True)]
    return min(begins), max(ends)


def _moves(recording: Recording, robot: Robot) -> bool:
    """Whether a recording is one of this robot, joint by joint."""
    return "q" in recording and "v" in recording and recording.labels["q"] == Body.of(robot).q_labels


def _endings(recording: Recording) -> list[str]:
    """What is to be said of a recording that is not whole."""
    notes = []
    ended = recording.provenance.get("ended", "finished")
    if not len(recording):
        notes.append("It holds no sample." if recording.complete else "The file was cut off before its first sample.")
    elif not recording.complete:
        notes.append(f"The file was cut off: this is its intact part, up to {recording.time[-1]:.2f} s.")
    elif ended != "finished":
        notes.append(f"The recording ended early: {ended}.")
    return notes
