"""Footprints and steps in a recording: stance detection, foot slip, step length, width and timing.

`foot_trajectories` decides when each foot is loaded, `find_footprints` turns loaded intervals into footprints, and
`find_steps` turns consecutive footprints of a foot into steps.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from poise.analysis.body_trajectories import BodyTrajectories
from poise.analysis.signals import true_intervals
from poise.arrays import Array, Mask
from poise.geometry import so3
from poise.robots import Foot, Side

#: Share of the body weight above which a foot is in stance; noise of sensors and contact models is well below.
LOADED_WEIGHT_SHARE = 0.05
#: Longest loss of contact (s) that counts as a bounce: half of the shortest swing of walking robots.
LONGEST_BOUNCE = 0.1
#: Longest contact (s) during swing that counts as a graze.
LONGEST_GRAZE = 0.03
#: Sole speed (m/s) below which a foot is in stance if neither forces, phases nor contacts were recorded; a swinging
#: foot is slower than this only for a few hundredths of a second at its highest point, which counts as a graze.
STILL_SPEED = 0.05
#: Smallest rise (m), displacement (m) and rotation (rad) of a step; a foot that moves less was unloaded in place. This
#: is a tenth of the smallest steps of the smallest robots.
MIN_STEP_RISE, MIN_STEP_DISTANCE, MIN_STEP_TURN = 0.002, 0.005, 0.02


@dataclass(frozen=True, eq=False)
class Footprint:
    """A foot on the ground, from touchdown to lift-off.

    Attributes:
        side: the foot.
        position: middle of the sole in the world frame, m, 3: the median over the stance.
        yaw: direction of the toes (rad, unwrapped).
        touchdown: s; NaN if the foot is in stance at the first sample.
        lift_off: s; NaN if the foot is in stance at the last sample.
        slip: how far the middle of the sole slid on the ground, m.
        turn: how far the sole rotated on the ground, rad.
        begin, end: its samples are ``begin <= i < end``.

    Slip and turn include only motion under a load above 5 % of the body weight: with δp the displacement of the sole
    from one loaded sample to the next, ``slip = max over t of |Σ δp_xy|``. Motion during a bounce is not slip.
    """

    side: Side
    position: Array
    yaw: float
    touchdown: float
    lift_off: float
    slip: float
    turn: float
    begin: int
    end: int

    @property
    def rotation(self) -> Array:
        """world_from_sole of a flat foot, 3 x 3."""
        return so3.yaw_matrix(self.yaw)


@dataclass(frozen=True, eq=False)
class FootTrajectory:
    """Trajectory of one foot over n samples.

    Attributes:
        foot: the foot.
        sole: middle of the sole in the world frame, (n, 3), m.
        yaw: direction of the toes, n, rad, unwrapped.
        loaded: n, whether the foot carries load.
    """

    foot: Foot
    sole: Array
    yaw: Array
    loaded: Mask


def foot_trajectories(tracks: BodyTrajectories) -> tuple[FootTrajectory, ...]:
    """Compute the trajectories of all feet.

    Whether a foot is loaded is decided by the measured forces if recorded, else by the forces commanded by the
    controller, else by phases named "left support" and "right support", else by the recorded contacts, else by the
    speed of the sole.
    """
    trajectories: list[FootTrajectory] = []
    for foot in tracks.robot.feet:
        k = tracks.parts.index(foot)
        R = tracks.rotations[:, k]
        sole = tracks.positions[:, k] + R @ foot.sole.center
        yaw = _unwrap(np.arctan2(R[:, 1, 0], R[:, 0, 0]))
        if trajectories:  # same multiple of 2π as the first foot
            difference = yaw - trajectories[0].yaw
            difference = difference[np.isfinite(difference)]
            yaw -= math.tau * (round(float(difference[0]) / math.tau) if len(difference) else 0)
        trajectories.append(FootTrajectory(foot, sole, yaw, _load_mask(tracks, foot, sole)))
    return tuple(trajectories)


def find_footprints(tracks: BodyTrajectories, feet: tuple[FootTrajectory, ...] | None = None) -> tuple[Footprint, ...]:
    """Return all footprints of a recording in order of time; feet in stance at the start come first.

    >>> [(each.side, each.touchdown) for each in find_footprints(compute_trajectories(recording, robot))]
    [('left', nan), ('right', nan), ('left', 1.898), ('right', 2.394)]
    """
    trajectories = foot_trajectories(tracks) if feet is None else feet
    time = tracks.recording.time
    footprints = [each for trajectory in trajectories for each in _foot_footprints(trajectory, time)]
    return tuple(sorted(footprints, key=lambda each: each.begin))


def _foot_footprints(trajectory: FootTrajectory, time: Array) -> list[Footprint]:
    known = np.isfinite(trajectory.sole).all(axis=1) & np.isfinite(trajectory.yaw)
    loaded = trajectory.loaded & known
    stances: list[tuple[int, int]] = []
    for begin, end in true_intervals(loaded):
        # A bounce, or unloading without leaving the place, does not end the stance.
        if stances and (
            time[begin] - time[stances[-1][1]] < LONGEST_BOUNCE or not _has_stepped(trajectory, stances[-1][1], begin)
        ):
            stances[-1] = stances[-1][0], end
        else:
            stances.append((begin, end))
    last = len(time)
    return [
        _footprint(trajectory, time, loaded, b, e)
        for b, e in stances
        if time[e - 1] - time[b] > LONGEST_GRAZE or e == last or b == 0
    ]


def _footprint(trajectory: FootTrajectory, time: Array, loaded: Mask, begin: int, end: int) -> Footprint:
    inside = np.flatnonzero(loaded[begin:end]) + begin
    loaded_pairs = (loaded[begin : end - 1] & loaded[begin + 1 : end])[:, np.newaxis]
    slip = np.cumsum(np.where(loaded_pairs, np.diff(trajectory.sole[begin:end, :2], axis=0), 0.0), axis=0)
    turn = np.cumsum(np.where(loaded_pairs[:, 0], np.diff(trajectory.yaw[begin:end]), 0.0))
    return Footprint(
        trajectory.foot.side,
        np.median(trajectory.sole[inside], axis=0),
        float(np.median(trajectory.yaw[inside])),
        float(time[begin]) if begin > 0 else math.nan,
        float(time[end]) if end < len(time) else math.nan,
        float(np.linalg.norm(slip, axis=1).max(initial=0.0)),
        float(np.abs(turn).max(initial=0.0)),
        begin,
        end,
    )


def _has_stepped(trajectory: FootTrajectory, end: int, begin: int) -> bool:
    """Return whether a foot moved to another place between two loaded samples."""
    before, after = trajectory.sole[end - 1], trajectory.sole[begin]
    heights = trajectory.sole[end - 1 : begin + 1, 2]
    rise = float(np.nanmax(heights) - max(before[2], after[2]))
    distance = float(np.linalg.norm(after[:2] - before[:2]))
    return (
        rise > MIN_STEP_RISE
        or distance > MIN_STEP_DISTANCE
        or abs(float(trajectory.yaw[begin] - trajectory.yaw[end - 1])) > MIN_STEP_TURN
    )


def _load_mask(tracks: BodyTrajectories, foot: Foot, sole: Array) -> Mask:
    recording, least = tracks.recording, LOADED_WEIGHT_SHARE * tracks.robot.weight
    for kind in ("measured/force", "force"):
        name = f"{kind}/{foot.name}/fz"
        if name in recording and np.isfinite(recording[name]).any():
            return np.nan_to_num(recording[name], nan=0.0) > least
    if "phase" in recording:
        phases = [str(word) for word in recording["phase"]]
        if any(word.endswith(" support") for word in phases):
            swings = "right support" if foot.side == "left" else "left support"
            return np.array([word != swings for word in phases], dtype=bool)
    contacts = _contact_names(tracks)
    if contacts is not None:
        return np.array([foot.name in names for names in contacts], dtype=bool)
    if recording.samples < 3 or not recording.period > 0.0:
        return np.ones(recording.samples, dtype=bool)
    return np.asarray(np.linalg.norm(np.gradient(sole, recording.period, axis=0), axis=1) < STILL_SPEED)


def _contact_names(tracks: BodyTrajectories) -> list[set[str]] | None:
    """Return the names of the parts in contact in each sample; None if no foot is ever named, or all of them always.

    An ideal plant keeps all feet in contact, even if they move, until a behavior tells it otherwise.
    """
    recording, feet = tracks.recording, {foot.name for foot in tracks.robot.feet}
    if "contacts" not in recording:
        return None
    texts = [str(text) for text in recording["contacts"]]
    known = {text: set(text.split(", ")) for text in set(texts)}
    named = [feet & names for names in known.values()]
    return [known[text] for text in texts] if any(named) and any(names != feet for names in named) else None


def _unwrap(angle: Array) -> Array:
    """Unwrap angles; missing values stay missing."""
    known = np.isfinite(angle)
    unwrapped = np.full(len(angle), np.nan)
    unwrapped[known] = np.unwrap(angle[known])
    return unwrapped


# -- Steps -----------------------------------------------------------------------------------------------------------


class GaitStep(NamedTuple):
    """One step: a foot from lift-off to touchdown.

    Attributes:
        side: side of the foot that steps.
        before, after: its footprints before and after the step.
        support: footprint of the other foot during the step.
        length: distance in front of the other foot at touchdown, m; negative behind.
        width: distance to the side of the other foot at touchdown, m; negative if the legs cross.
        height: rise of the middle of the sole above the higher one of the two footprints, m.
        turn: yaw relative to the other foot, rad, positive to the left.
        single: duration of single support (swing time), s.
        double: duration of the double support before it, since touchdown of the other foot, s; NaN for the first step.
        duration: single and double support together, s.

    With p the positions of the footprints, ψ their mean yaw and s = 1 for a left foot, -1 for a right one:

        (length, s width) = Rz(-ψ) (p_after - p_support)

    >>> [(step.side, round(step.length, 2)) for step in analyze_walk(recording, robot).steps]
    [('left', 0.15), ('right', 0.15)]
    """

    side: Side
    before: Footprint
    after: Footprint
    support: Footprint
    length: float
    width: float
    height: float
    turn: float
    single: float
    double: float
    duration: float


def find_steps(prints: Sequence[Footprint], feet: Sequence[FootTrajectory]) -> tuple[GaitStep, ...]:
    """Return the steps between footprints, in order of their touchdowns."""
    found_steps = []
    for trajectory in feet:
        own = [each for each in prints if each.side == trajectory.foot.side]
        for before, after in itertools.pairwise(own):
            support = _support(prints, before, after)
            if support is not None:
                found_steps.append(_step(before, after, support, trajectory))
    return tuple(sorted(found_steps, key=lambda step: step.after.begin))


def _support(prints: Sequence[Footprint], before: Footprint, after: Footprint) -> Footprint | None:
    """Return the footprint of the other foot with the longest overlap with the swing; None without an overlap."""
    overlap = {
        i: min(each.end, after.begin) - max(each.begin, before.end)
        for i, each in enumerate(prints)
        if each.side != after.side
    }
    longest = max(overlap, key=lambda i: overlap[i], default=None)
    return prints[longest] if longest is not None and overlap[longest] > 0 else None


def _step(before: Footprint, after: Footprint, support: Footprint, trajectory: FootTrajectory) -> GaitStep:
    psi = 0.5 * (after.yaw + support.yaw)
    c, s = math.cos(psi), math.sin(psi)
    x, y, _ = after.position - support.position
    outward = 1.0 if after.side == "left" else -1.0
    top = float(np.nanmax(trajectory.sole[before.end : after.begin, 2], initial=-math.inf))
    single = after.touchdown - before.lift_off
    double = before.lift_off - support.touchdown
    return GaitStep(
        side=after.side,
        before=before,
        after=after,
        support=support,
        length=float(c * x + s * y),
        width=outward * float(c * y - s * x),
        height=top - float(max(before.position[2], after.position[2])),
        turn=after.yaw - support.yaw,
        single=single,
        double=double,
        duration=single + double,
    )
