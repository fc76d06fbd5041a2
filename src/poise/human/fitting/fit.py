"""fit: from the markers of a trial to a person's body and its motion."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from poise.human.cleaning import filled
from poise.human.fitting.adjusting import Adjusted
from poise.human.fitting.beginning import robot_of
from poise.human.fitting.calibration import calibrated
from poise.human.fitting.measured import Measured
from poise.human.fitting.motion import Motion, motion
from poise.human.fitting.placed import Placed
from poise.human.fitting.recording import recording_of
from poise.human.fitting.tracking import Tracked, Tracker
from poise.human.markers import MarkerSet, Matched, match
from poise.human.trial import Trial
from poise.recording import Recording
from poise.robots import Robot
from poise.robots.human import SEXES, BodyShape

Array = NDArray[np.float64]

#: Longest stretch (s) over which a marker that jumped is filled in: splines are off by millimetres there.
JUMPED = 0.25


@dataclass(frozen=True, eq=False)
class Fit:
    """A person's body and its motion in a trial.

    Attributes:
        robot: the body, a human of the library with its own shape.
        shape: its numbers.
        trial: what was fitted, with gaps filled.
        placed: where the markers sit on the body.
        tracked: configurations as found frame by frame, and the distances of the markers.
        motion: the same filtered, with its derivatives.
        notes: what was decided and done, one sentence each.
        marker_set: whose labels the trial has.

    >>> found = fit(read_trial("walk.c3d"), read_trial("static.c3d"))
    >>> found.rms, found.robot, found.angles()["left_knee_flexion"]
    """

    robot: Robot
    shape: BodyShape
    trial: Trial
    placed: Placed
    tracked: Tracked
    motion: Motion
    notes: tuple[str, ...]
    marker_set: str = ""

    @property
    def time(self) -> Array:
        return self.motion.time

    @property
    def q(self) -> Array:
        """Configurations (n x nq), filtered."""
        return self.motion.q

    @property
    def v(self) -> Array:
        """Velocities (n x nv)."""
        return self.motion.v

    @property
    def a(self) -> Array:
        """Accelerations (n x nv)."""
        return self.motion.a

    @property
    def errors(self) -> Array:
        """Distance of each marker from its place on the body (n x m, m; NaN where not seen)."""
        return self.tracked.errors

    @property
    def rms(self) -> float:
        """Root mean square of the distances of all markers in all frames (m)."""
        return float(np.sqrt(np.nanmean(self.errors**2)))

    @property
    def worst(self) -> tuple[float, str, float]:
        """The largest distance (m), its marker and its time (s)."""
        k, i = np.unravel_index(int(np.nanargmax(self.errors)), self.errors.shape)
        return float(self.errors[k, i]), self.placed.labels[i], float(self.time[k])

    @cached_property
    def by_marker(self) -> dict[str, float]:
        """Root mean square distance by marker (m), the largest first."""
        each = np.sqrt(np.nanmean(self.errors**2, axis=0))
        return {self.placed.labels[i]: float(each[i]) for i in np.argsort(-each)}

    def angles(self) -> dict[str, Array]:
        """Angle of each joint over time (rad), filtered."""
        return {joint.name: self.q[:, joint.q] for joint in self.robot.joints}

    def recording(self) -> Recording:
        """The motion and its markers as a recording, to be saved, exported, drawn and reported."""
        return recording_of(self)


def fit(
    trial: Trial,
    static: Trial | None = None,
    *,
    height: float | None = None,
    mass: float | None = None,
    sex: str | None = None,
    marker_set: MarkerSet | str | Path | None = None,
    cutoff: float = 6.0,
    progress: Callable[[str, float], object] | None = None,
) -> Fit:
    """Fits a body to a person and follows it through a trial.

    Lengths, torsion and varus of each leg and the places of all markers come from the static trial and the walk
    together, or from the walk alone; those of trunk and arms from the walk alone, for in a static trial with raised
    arms the shoulders are 3 to 8 cm higher. Then [Boukheddimi2019] eq. (1), frame by frame.

    Args:
        trial: the motion.
        static: the same person standing, feet flat.
        height: m; None: as the files say, else as the markers do.
        mass: kg; None: as the files say, else 22.5 kg/m² of the height.
        sex: whose tables; None: as the files say, else male.
        marker_set: a set, its name or its file; None: that which fits best.
        cutoff: of the low-pass filter on the result (Hz); human walking has little above 6 Hz.
        progress: told what is being done and how much of it is done (0 to 1).
    """
    with threadpool_limits(1):  # matrices are small: threads of the algebra library would only wait for each other
        return _fit(trial, static, height, mass, sex, marker_set, cutoff, progress or (lambda what, share: None))


def _fit(
    trial: Trial,
    static: Trial | None,
    height: float | None,
    mass: float | None,
    sex: str | None,
    marker_set: MarkerSet | str | Path | None,
    cutoff: float,
    say: Callable[[str, float], object],
) -> Fit:
    say("body", 0.0)
    trials = [each for each in (trial, static) if each is not None]
    sex = sex or next((each.subject.sex for each in trials if each.subject.sex in SEXES), None) or "male"
    height = height or next((each.subject.height for each in trials if each.subject.height), None)
    mass = mass or next((each.subject.mass for each in trials if each.subject.mass), None)
    matched = match(trial, marker_set)
    trial = filled(trial)
    walk = Measured.of(trial, matched.found)
    notes = [f"marker set {matched.marker_set.name}: {len(walk.labels)} markers used"]
    notes += [f"height {height:.3f} m" if height else "the height was not given: it is that of the markers"]
    notes += [f"mass {mass:.1f} kg" if mass else "the mass was not given: 22.5 kg/m² of the height"]
    notes += _strangers(matched)
    standing = None if static is None else _standing(static, walk, matched.marker_set)
    shape, adjusted = calibrated(walk, standing, height, mass, sex, lambda share: say("body", share), notes)
    robot = robot_of(shape)
    placed = Placed(walk.labels, tuple(marker.segment for marker in walk.markers), adjusted.places, walk.weights)
    tracked = _tracked(robot, placed, walk, trial.rate, adjusted, lambda share: say("frames", share))
    moved = motion(robot, trial.time, tracked.q, cutoff)
    notes.append(moved.note)
    notes += _doubts(walk, tracked)
    notes += list(trial.notes)
    name = matched.marker_set.name
    return Fit(robot, shape, trial, placed, tracked, moved, tuple(dict.fromkeys(notes)), name)


def _standing(static: Trial, walk: Measured, marker_set: MarkerSet) -> Measured:
    """The markers of a walk in a static trial; those of trunk, head and arms are not looked at."""
    found = match(static, marker_set).found
    known = dict(zip(walk.labels, walk.markers, strict=True))
    standing = Measured.of(filled(static), {**known, **found}, walk.labels)
    for k, marker in enumerate(walk.markers):
        if _upper(marker.segment):
            standing.positions[:, k] = np.nan
    return standing


def _strangers(matched: Matched) -> list[str]:
    """Labels that no marker of the set has, with what may have been meant."""
    words = [
        f"{label} (did you mean {' or '.join(near)}?)" if near else label for label, near in matched.unknown.items()
    ]
    return [f"labels not in the marker set, not used: {', '.join(words)}"] if words else []


def _doubts(walk: Measured, tracked: Tracked) -> list[str]:
    """Which markers were not believed, and how often."""
    counts = tracked.ignored.sum(axis=0)
    return [
        f"marker {walk.labels[i]} jumped and was ignored in {counts[i]} of {len(tracked.q)} frames"
        for i in np.flatnonzero(counts)
    ]


def _upper(segment: str) -> bool:
    """Whether a link belongs to trunk, head or arms."""
    return segment in ("torso", "head") or segment.endswith(("_arm", "_forearm", "_hand", "_fingers"))


def _tracked(
    robot: Robot,
    placed: Placed,
    walk: Measured,
    rate: float,
    adjusted: Adjusted,
    say: Callable[[float], object],
) -> Tracked:
    """All frames, from the posture of the first that was adjusted; what is not seen rests as on average."""
    rest = np.median(adjusted.postures, axis=0)
    tracker = Tracker(robot, placed.points(robot), placed.weights, rest)
    count = len(walk.positions)
    found = tracker.track(walk.positions, adjusted.postures[0], lambda k: say((k + 1) / count))
    if not found.ignored.any():
        return found
    # What jumped is a gap like any other: short ones are filled, and joints that only this marker shows do not wander.
    believed = Trial(
        "", rate, np.arange(count) / rate, walk.labels, np.where(found.ignored[:, :, None], np.nan, walk.positions)
    )
    again = tracker.track(filled(believed, JUMPED).positions, adjusted.postures[0])
    errors = np.linalg.norm(walk.positions - np.array([tracker.points.world(q) for q in again.q]), axis=2)
    return replace(again, errors=errors, ignored=found.ignored)
