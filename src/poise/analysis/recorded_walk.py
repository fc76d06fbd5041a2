"""A walk reconstructed from a recording: steps, steady strides, speed, stability margins and support phases.

>>> walk = walked(recording, robot)
>>> len(walk.steps), walk.speed, max(each.slip for each in walk.footprints)
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from poise.analysis.body_tracks import Tracks, ahead, fallen, inside, landmarks, tracked
from poise.analysis.motion_phases import Phase
from poise.analysis.step_detection import Footprint, FootTrack, Step, foot_tracks, footprints, steps
from poise.arrays import Array
from poise.geometry import convex_hull
from poise.recording import Recording
from poise.robots import Robot
from poise.state import divergent_component, natural_frequency

#: Steps at each end that are not steady: the first brings the body up to speed and the second settles, likewise back.
UNSTEADY = 2
#: Fewest steps of a walk: one alone is a step.
FEWEST = 2
#: Seconds between the samples at which margins are measured: a foot takes ten times as long to be loaded.
EVERY = 0.01


class Speed(NamedTuple):
    """Mean velocity in axes that turn with the heading: forward and to the left (m/s), turning to the left (rad/s)."""

    forward: float
    sideways: float
    turning: float


class Margins(NamedTuple):
    """Over time (s), how far inside the support polygon something is (m); negative outside, NaN where there is none."""

    time: Array
    margin: Array


@dataclass(frozen=True, eq=False)
class Walked:
    """A walk, as its recording tells it.

    Attributes:
        tracks: of feet, hands, chest, shoulders and gaze.
        feet: the ways of the feet, left first.
        footprints: in the order in which they were made.
        steps: in the order of their touchdowns.
        heading: ψ, n, rad: the middle of the yaws of the feet, not wrapped.
        fell: when the robot fell, s, after which it makes no steps; NaN if it did not.
    """

    tracks: Tracks
    feet: tuple[FootTrack, ...]
    footprints: tuple[Footprint, ...]
    steps: tuple[Step, ...]
    heading: Array
    fell: float

    @property
    def walks(self) -> bool:
        """Whether this is a walk at all: two steps or more."""
        return len(self.steps) >= FEWEST

    @cached_property
    def steady(self) -> tuple[Step, ...]:
        """The steps that count: without the first and the last two, an even number of them, so that left and right
        weigh the same. Of a walk of less than six steps, all."""
        if len(self.steps) < 2 * UNSTEADY + 2:
            return self.steps
        inner = self.steps[UNSTEADY:-UNSTEADY]
        return inner[len(inner) % 2 :]

    @cached_property
    def window(self) -> slice:
        """Samples of the steady steps: from the touchdown before the first to that of the last."""
        if not self.steady:
            return slice(0, len(self.heading))
        first = self.steady[0]
        # The very first step has no touchdown before it: it counts from where its foot leaves the ground.
        begin = first.support.begin if first.support.begin > 0 else first.before.end
        return slice(begin, self.steady[-1].after.begin)

    @cached_property
    def strides(self) -> tuple[slice, ...]:
        """Samples of every two steady steps in a row; the whole window if there are fewer."""
        ends = [self.window.start, *(step.after.begin for step in self.steady)]
        return tuple(slice(a, b) for a, b in zip(ends, ends[2:], strict=False)) or (self.window,)

    @cached_property
    def speed(self) -> Speed:
        """Mean over the window of ``Rz(-ψ) dc/dt``, and of dψ/dt."""
        window, h = self.window, self.tracks.recording.period
        if window.stop - window.start < 2:
            return Speed(np.nan, np.nan, np.nan)
        x, y, _ = np.nanmean(ahead(self.tracks.center_velocity[window], self.heading[window]), axis=0)
        last = min(window.stop, len(self.heading) - 1)
        turned = self.heading[last] - self.heading[window.start]
        return Speed(float(x), float(y), float(turned / (h * (last - window.start))))

    @cached_property
    def height(self) -> float:
        """Mean height of the center of mass above the ground in the window, m."""
        above = (self.tracks.center[:, 2] - self.tracks.ground)[self.window]
        return float(np.mean(above[np.isfinite(above)])) if np.isfinite(above).any() else np.nan

    @property
    def rate(self) -> float:
        """ω = sqrt(g / height), 1/s."""
        return float(natural_frequency(self.height))

    @cached_property
    def divergent(self) -> Array:
        """ξ = c + (dc/dt) / ω, (n, 2), m."""
        center, velocity = self.tracks.center[:, :2], self.tracks.center_velocity[:, :2]
        return divergent_component(center, velocity, np.full(len(center), self.height))

    @cached_property
    def spin(self) -> Array:
        """Angular momentum about the center of mass in axes that turn with the heading, (n, 3), kg m²/s."""
        return ahead(self.tracks.momentum[:, 3:], self.heading)

    @cached_property
    def pressure(self) -> Array:
        """Where the ground pushes, (n, 2), m: the center of pressure that was sensed, else the zero-moment point."""
        recording, name = self.tracks.recording, "center_of_pressure"
        sensed = name in recording and np.isfinite(recording[name]).any()
        return np.asarray(recording[name]) if sensed else self.tracks.zmp

    def support(self, sample: int) -> Array:
        """Convex hull of the soles that stand at a sample, seen from above, (k, 2), m."""
        points = [np.zeros((0, 2))]
        for each in self.footprints:
            if each.begin <= sample < each.end:
                foot = self.tracks.robot.foot(each.side)
                k = self.tracks.parts.index(foot)
                corners = foot.corners @ self.tracks.rotations[sample, k].T + self.tracks.positions[sample, k]
                points.append(corners[:, :2])
        stacked = np.vstack(points)
        return convex_hull(stacked[np.isfinite(stacked).all(axis=1)])

    def inside(self, points: Array, samples: Sequence[int]) -> Array:
        """How far points (n, 2) are inside the support polygon at some samples, m."""
        return inside(self.support, points, samples)

    @cached_property
    def pressure_margin(self) -> Margins:
        """How far inside the soles the ground pushes, from the first step to the last."""
        return self._margins(self.pressure)

    @cached_property
    def divergent_margin(self) -> Margins:
        """How far inside the soles ξ is, from the first step to the last: on one foot it leaves them, on two it must
        come back."""
        return self._margins(self.divergent)

    def _margins(self, points: Array) -> Margins:
        samples: list[int] = []
        if self.steps:
            every = max(round(EVERY / self.tracks.recording.period), 1)
            samples = list(range(self.steps[0].before.end, self.steps[-1].after.begin + 1, every))
        return Margins(self.tracks.recording.time[samples], self.inside(points, samples))


def walked(recording: Recording, robot: Robot, tracks: Tracks | None = None) -> Walked:
    """Reads a walk from a recording; one in which nobody walks has no steps, see `Walked.walks`.

    Args:
        recording, robot: whose motion it is.
        tracks: of this recording with the frames of `landmarks`, if they are at hand.
    """
    known = tracked(recording, robot, landmarks(robot).frames) if tracks is None else tracks
    fall = fallen(known)
    upright = np.arange(len(recording)) < fall
    feet = tuple(replace(way, loaded=way.loaded & upright) for way in foot_tracks(known))
    prints = footprints(known, feet)
    heading = np.mean([way.yaw for way in feet], axis=0) if feet else np.zeros(len(recording))
    fell = float(recording.time[fall]) if fall < len(recording) else np.nan
    return Walked(known, feet, prints, steps(prints, feet), heading, fell)


# -- Supports: the phases of a walk as its footprints have them, for recordings whose behavior named none ------------


def supports(walk: Walked) -> tuple[Phase, ...]:
    """Which feet carry the body, one phase after the other: "left support", "double support", and "standing" before
    the first and after the last step; "flight" where no foot stands.

    >>> [phase.name for phase in supports(walk)]
    ['standing', 'right support', 'double support', 'left support', 'standing']
    """
    recording = walk.tracks.recording
    if not len(recording) or not walk.steps:
        return ()
    n, time = len(recording), recording.time
    marks = {0, n} | {sample for each in walk.footprints for sample in (each.begin, each.end)}
    first, last = walk.steps[0].before.end, walk.steps[-1].after.begin
    found: list[Phase] = []
    for begin, end in itertools.pairwise(sorted(marks)):
        on = {each.side for each in walk.footprints if each.begin <= begin < each.end}
        name = "double support" if len(on) > 1 else f"{on.pop()} support" if on else "flight"
        if name == "double support" and not first <= begin < last:
            name = "standing"
        until = float(time[end]) if end < n else float(time[-1]) + (recording.period if n > 1 else 0.0)
        if found and found[-1].name == name:
            found[-1] = found[-1]._replace(end=until)
        else:
            found.append(Phase(name, float(time[begin]), until))
    return tuple(found)
