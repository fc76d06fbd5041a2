"""A walk reconstructed from a recording: footprints, steps, gait cycles, speed, stability margins and support phases.

>>> walk = analyze_walk(recording, robot)
>>> len(walk.steps), walk.speed, max(each.slip for each in walk.footprints)
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from poise.analysis.body_trajectories import (
    BodyTrajectories,
    compute_trajectories,
    first_fallen_sample,
    in_heading_axes,
    posture_frames,
    support_margins,
)
from poise.analysis.gait_cycle import CycleCurves, GaitCycle, normalize_cycles
from poise.analysis.motion_phases import MotionPhase
from poise.analysis.signals import PERCENT_SAMPLES
from poise.analysis.step_detection import (
    Footprint,
    FootTrajectory,
    GaitStep,
    find_footprints,
    find_steps,
    foot_trajectories,
)
from poise.arrays import Array
from poise.errors import RecordingError
from poise.geometry import convex_hull
from poise.recording import Recording
from poise.robots import Robot, Side, contact_points
from poise.state import dcm, natural_frequency

#: Steps at each end that are not steady: one to speed up and one to settle at the start, likewise at the end.
UNSTEADY_STEPS = 2
#: Smallest number of steps of a walk.
FEWEST_STEPS = 2
#: Seconds between the samples at which margins are evaluated: loading a foot takes ten times as long.
MARGIN_INTERVAL = 0.01


class WalkingSpeed(NamedTuple):
    """Mean velocity in axes that turn with the heading: forward and to the left (m/s), yaw rate to the left (rad/s)."""

    forward: float
    sideways: float
    turning: float


class MarginTrajectory(NamedTuple):
    """Distance of a point inside the support polygon (m) over time (s); negative outside, NaN without a polygon."""

    time: Array
    margin: Array


@dataclass(frozen=True, eq=False)
class RecordedWalk:
    """A walk, reconstructed from a recording.

    Attributes:
        tracks: trajectories of feet, hands, chest, shoulders and gaze.
        feet: trajectories of the feet, left first.
        footprints: in order of time.
        steps: in order of their touchdowns.
        heading: ψ, n, rad: the mean yaw of the feet, unwrapped.
        fall_time: time of the fall, s, after which no steps are counted; NaN if the robot did not fall.
    """

    tracks: BodyTrajectories
    feet: tuple[FootTrajectory, ...]
    footprints: tuple[Footprint, ...]
    steps: tuple[GaitStep, ...]
    heading: Array
    fall_time: float

    @property
    def is_walk(self) -> bool:
        """Whether the motion is a walk, that is, has two steps or more, of both feet."""
        return len(self.steps) >= FEWEST_STEPS and len({step.side for step in self.steps}) > 1

    @cached_property
    def steady_steps(self) -> tuple[GaitStep, ...]:
        """Steps without the first two and the last two, an even number so that left and right have equal weight. All
        steps for a walk of fewer than six.
        """
        if len(self.steps) < 2 * UNSTEADY_STEPS + 2:
            return self.steps
        inner = self.steps[UNSTEADY_STEPS:-UNSTEADY_STEPS]
        return inner[len(inner) % 2 :]

    @cached_property
    def window(self) -> slice:
        """Samples of the steady steps, from the touchdown before the first one to the touchdown of the last one."""
        if not self.steady_steps:
            return slice(0, len(self.heading))
        first = self.steady_steps[0]
        # The very first step has no touchdown before it: it begins at its toe-off.
        begin = first.support.begin if first.support.begin > 0 else first.before.end
        return slice(begin, self.steady_steps[-1].after.begin)

    @cached_property
    def stride_samples(self) -> tuple[slice, ...]:
        """Samples of each pair of consecutive steady steps; the whole window if there are fewer than two steps."""
        ends = [self.window.start, *(step.after.begin for step in self.steady_steps)]
        return tuple(slice(a, b) for a, b in zip(ends, ends[2:], strict=False)) or (self.window,)

    @cached_property
    def cycles(self) -> tuple[GaitCycle, ...]:
        """Gait cycles between touchdowns of the same foot in the window, grouped by foot; events of the opposite foot
        are NaN.
        """
        cycles = []
        for side in {step.side: None for step in self.steps}:
            prints = [step.after for step in self.steps if step.side == side]
            inside = [each for each in prints if self.window.start <= each.begin <= self.window.stop]
            for footprint, next_footprint in itertools.pairwise(inside):
                cycles.append(GaitCycle(side, footprint.touchdown, footprint.lift_off, next_footprint.touchdown))
        return tuple(cycle for cycle in cycles if cycle.initial_contact < cycle.toe_off < cycle.end)

    def cycles_of(self, side: Side) -> tuple[GaitCycle, ...]:
        """Gait cycles of one foot."""
        return tuple(cycle for cycle in self.cycles if cycle.side == side)

    def curves(self, values: ArrayLike, side: Side, count: int = PERCENT_SAMPLES) -> CycleCurves:
        """Resample values (n, ...) over the gait cycles of one foot by linear interpolation.

        >>> walk.curves(recording["q/left_knee_joint"], "left").mean.max()
        """
        signal = np.asarray(values, dtype=np.float64)
        if len(signal) != len(self.heading):
            raise RecordingError(
                f"{len(signal)} values for a walk of {len(self.heading)} samples; expected one for each"
            )
        return normalize_cycles(self.tracks.recording.time, signal, self.cycles_of(side), count)

    @cached_property
    def whole_strides(self) -> slice | None:
        """Samples from one touchdown of a foot to a later one of the same foot: whole strides, in which the sway of the
        center of mass to both sides cancels. They are those of the steady steps, or, in a walk of fewer than six steps,
        of all steps but the last, which stops the walk. None without a whole stride.
        """
        if len(self.steady_steps) == len(self.steps):
            touchdowns = [step.after for step in self.steps[:-1]]
        else:
            touchdowns = [self.steady_steps[0].support, *(step.after for step in self.steady_steps)]
        same_foot = [each.begin for each in touchdowns if each.side == touchdowns[-1].side and each.begin > 0]
        return slice(same_foot[0], same_foot[-1]) if len(same_foot) > 1 else None

    @cached_property
    def speed(self) -> WalkingSpeed:
        """Mean of ``Rz(-ψ) dc/dt`` over whole strides, and mean of dψ/dt; NaN without a whole stride."""
        strides = self.whole_strides if self.is_walk else None
        if strides is None:
            return WalkingSpeed(np.nan, np.nan, np.nan)
        velocity = in_heading_axes(self.tracks.center_of_mass_velocity[strides], self.heading[strides])
        x, y, _ = np.nanmean(velocity, axis=0)
        turned = self.heading[strides.stop] - self.heading[strides.start]
        seconds = self.tracks.recording.period * (strides.stop - strides.start)
        return WalkingSpeed(float(x), float(y), float(turned / seconds))

    @cached_property
    def height(self) -> float:
        """Mean height of the center of mass above the ground in the window, m."""
        above = (self.tracks.center_of_mass[:, 2] - self.tracks.ground_height)[self.window]
        return float(np.mean(above[np.isfinite(above)])) if np.isfinite(above).any() else np.nan

    @property
    def natural_frequency(self) -> float:
        """ω = sqrt(g / height), 1/s."""
        return float(natural_frequency(self.height))

    @cached_property
    def dcm(self) -> Array:
        """Divergent component of motion (DCM) ξ = c + (dc/dt) / ω of the center of mass c, (n, 2), m, world frame."""
        center, velocity = self.tracks.center_of_mass[:, :2], self.tracks.center_of_mass_velocity[:, :2]
        return dcm(center, velocity, np.full(len(center), self.height))

    @cached_property
    def angular_momentum(self) -> Array:
        """Angular momentum about the center of mass in axes that turn with the heading, (n, 3), kg m²/s."""
        return in_heading_axes(self.tracks.momentum[:, 3:], self.heading)

    @cached_property
    def center_of_pressure(self) -> Array:
        """Measured center of pressure (CoP), (n, 2), m; the zero-moment point if none was measured."""
        recording, name = self.tracks.recording, "center_of_pressure"
        measured = name in recording and np.isfinite(recording[name]).any()
        return np.asarray(recording[name]) if measured else self.tracks.zmp

    def support(self, sample: int) -> Array:
        """Return the convex hull of the soles in stance at a sample, seen from above, (k, 2), m."""
        points = [np.zeros((0, 2))]
        for each in self.footprints:
            if each.begin <= sample < each.end:
                foot = self.tracks.robot.foot(each.side)
                k = self.tracks.parts.index(foot)
                rotation, position = self.tracks.rotations[sample, k], self.tracks.positions[sample, k]
                points.append(contact_points(foot, rotation, position)[:, :2])
        stacked = np.vstack(points)
        return convex_hull(stacked[np.isfinite(stacked).all(axis=1)])

    def support_margins(self, points: Array, samples: Sequence[int]) -> Array:
        """Return how far points (n, 2) are inside `support` at some samples, m; negative outside."""
        return support_margins(self.support, points, samples)

    @cached_property
    def pressure_margin(self) -> MarginTrajectory:
        """Distance of the CoP inside the support polygon, from the first step to the last."""
        return self._margins(self.center_of_pressure)

    @cached_property
    def dcm_margin(self) -> MarginTrajectory:
        """Distance of the DCM ξ inside the support polygon, from the first step to the last. It may leave the polygon
        in single support and has to return in double support.
        """
        return self._margins(self.dcm)

    def _margins(self, points: Array) -> MarginTrajectory:
        samples: list[int] = []
        if self.steps:
            stride = max(round(MARGIN_INTERVAL / self.tracks.recording.period), 1)
            samples = list(range(self.steps[0].before.end, self.steps[-1].after.begin + 1, stride))
        return MarginTrajectory(self.tracks.recording.time[samples], self.support_margins(points, samples))


def analyze_walk(recording: Recording, robot: Robot, tracks: BodyTrajectories | None = None) -> RecordedWalk:
    """Reconstruct a walk from a recording; a motion without walking has no steps, see `RecordedWalk.is_walk`.

    Args:
        recording, robot: the motion and its robot.
        tracks: trajectories of this recording with the frames of `posture_frames`; computed if not given.
    """
    known = compute_trajectories(recording, robot, posture_frames(robot).frames) if tracks is None else tracks
    fall = first_fallen_sample(known)
    upright = np.arange(recording.samples) < fall
    feet = tuple(replace(trajectory, loaded=trajectory.loaded & upright) for trajectory in foot_trajectories(known))
    prints = find_footprints(known, feet)
    heading = np.mean([trajectory.yaw for trajectory in feet], axis=0) if feet else np.zeros(recording.samples)
    fall_time = float(recording.time[fall]) if fall < recording.samples else np.nan
    return RecordedWalk(known, feet, prints, find_steps(prints, feet), heading, fall_time)


# -- Support phases ----------------------------------------------------------------------------------------------------


def support_phases(walk: RecordedWalk) -> tuple[MotionPhase, ...]:
    """Return consecutive support phases: "left support", "right support", "double support", "standing" (before the
    first and after the last step), and "flight" while no foot is in stance.

    >>> [phase.name for phase in support_phases(walk)]
    ['standing', 'right support', 'double support', 'left support', 'standing']
    """
    recording = walk.tracks.recording
    if not recording.samples or not walk.steps:
        return ()
    n, time = recording.samples, recording.time
    marks = {0, n} | {sample for each in walk.footprints for sample in (each.begin, each.end)}
    first, last = walk.steps[0].before.end, walk.steps[-1].after.begin
    phases: list[MotionPhase] = []
    for begin, end in itertools.pairwise(sorted(marks)):
        stance_feet = {each.side for each in walk.footprints if each.begin <= begin < each.end}
        name = "double support" if len(stance_feet) > 1 else f"{stance_feet.pop()} support" if stance_feet else "flight"
        if name == "double support" and not first <= begin < last:
            name = "standing"
        until = float(time[end]) if end < n else float(time[-1]) + (recording.period if n > 1 else 0.0)
        if phases and phases[-1].name == name:
            phases[-1] = phases[-1]._replace(end=until)
        else:
            phases.append(MotionPhase(name, float(time[begin]), until))
    return tuple(phases)
