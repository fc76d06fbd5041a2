"""Gait events (initial contact and toe-off) from markers or force plates, with walking direction and treadmill speed.

Notation: t is time (s), d the horizontal unit vector of walking, h(t), f(t) and p(t) the positions (m) of the heel, the
forefoot and the center of the pelvis, v_b the speed of the treadmill belt (m/s, 0 overground).

The original rule of [Zeni2008] places the initial contact at the maximum of d·(h - p) and the toe-off at the minimum of
d·(f - p). The heel moves back towards the pelvis before it lands, so this contact is early: 43 ± 20 ms before force
plates and events of laboratories, on 7 trials. The rule used here, `EVENT_RULE`, follows the heel until it is at rest
and is 7 ± 20 ms early. An error in the event time changes the posture at that event, at the knee by about 0.3 degrees
per millisecond, so reports state the rule by which events were found.

[Zeni2008] J. A. Zeni, J. G. Richards, J. S. Higginson. *Two simple methods for determining gait events during treadmill
and overground walking using kinematic data.* Gait & Posture, 2008.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from poise.analysis.signals import true_intervals
from poise.arrays import Array
from poise.errors import GaitError
from poise.extras import scipy
from poise.robots import Side

#: Displacement of the pelvis, m, below which a trial counts as treadmill walking: less than a step.
OVERGROUND_DISTANCE = 0.5
#: Height of the forefoot above its lowest positions up to which it is in stance, m: it rolls but does not rise.
FOREFOOT_HEIGHT = 0.02
#: Slowest treadmill belt, m/s: shoe markers reach this speed while the foot rolls over the floor.
SLOWEST_BELT = 0.3


def walking_direction(pelvis: Array, heel: Mapping[Side, Array], toe: Mapping[Side, Array]) -> Array:
    """Estimate the horizontal unit vector d (3,) of walking.

    Overground ``d ∝ p(T) - p(0)``. On a treadmill, where the pelvis ends within half a meter of where it began,
    ``d ∝ mean of (f - h)``, from heel to forefoot. A curved walk has no single direction; pass a part of it.
    """
    displacement = pelvis[-1] - pelvis[0]
    if np.hypot(displacement[0], displacement[1]) < OVERGROUND_DISTANCE:
        foot_directions = [np.mean(toe[side] - heel[side], axis=0) for side in heel if side in toe]
        displacement = np.sum(foot_directions, axis=0) if foot_directions else np.zeros(3)
    length = float(np.hypot(displacement[0], displacement[1]))
    if not length > 0.0:
        raise GaitError(
            "walking direction unknown: the pelvis does not move and the feet have no direction; pass the direction"
        )
    return np.array([displacement[0], displacement[1], 0.0]) / length


def belt_speed(time: Array, toe: Mapping[Side, Array], direction: Array) -> float:
    """Estimate the belt speed v_b of a treadmill, m/s; 0 overground.

        v_b = median over the frames with f_z < low of -d·df/dt

    over both feet, with "low" 2 cm above the 5th percentile of the height of the forefoot. Speeds below 0.3 m/s also
    occur overground and give zero.

    >>> belt = belt_speed(time, toe, direction)
    >>> position + belt * time[:, None] * direction  # the equivalent overground walk
    """
    speeds = []
    for points in toe.values():
        low = points[:, 2] < np.percentile(points[:, 2], 5) + FOREFOOT_HEIGHT
        speeds.append(-(np.gradient(points, time, axis=0) @ direction)[low])
    all_speeds = np.concatenate(speeds) if speeds else np.zeros(0)
    speed = float(np.median(all_speeds)) if len(all_speeds) else 0.0
    return speed if speed > SLOWEST_BELT else 0.0


def interpolate_gaps(time: Array, points: ArrayLike, marker_name: str) -> Array:
    """Fill gaps (NaN) in points (n, 3) by linear interpolation; gaps at an end get the nearest known point.

    Raises:
        GaitError: the times do not increase, the shape is wrong, or no point is known.
    """
    values = np.array(points, dtype=np.float64)
    if len(time) < 2 or not (np.diff(time) > 0.0).all():
        raise GaitError(f"{len(time)} times that do not increase; expected two frames or more, in order of time")
    if values.shape != (len(time), 3):
        raise GaitError(
            f"{marker_name} has shape {values.shape} for {len(time)} times; expected (n, 3), one row per frame"
        )
    known = np.isfinite(values).all(axis=1)
    if not known.any():
        raise GaitError(f"{marker_name} is not visible in any frame; pass another marker", missing=(marker_name,))
    for k in range(3):
        values[~known, k] = np.interp(time[~known], time[known], values[known, k])
    return values


# -- Gait events -----------------------------------------------------------------------------------------------------


EventKind = Literal["initial_contact", "toe_off"]

#: Start of the search for initial contact before the largest heel lead, s, and the heel speed that ends it, m/s: with
#: 0.3 m/s contacts are 10 ± 19 ms late, with 0.5 m/s 7 ± 20 ms early.
SEARCH_BEFORE, STANCE_SPEED = 0.030, 0.5
#: End of the search after the largest heel lead, s: six times the usual delay.
SEARCH_AFTER = 0.25
#: Mean delay from the largest heel lead to initial contact, s: used if the heel does not come to rest in the search.
HEEL_LEAD_TIME = 0.04
#: Shortest stride, s: running strides take 0.6 s.
SHORTEST_STRIDE = 0.5
#: Smallest prominence of an extremum, as a share of the range of the signal: steps of one walk differ by less than 1/3.
PROMINENCE = 0.4
#: A maximum in the first or last frame counts if it is within this share of the range from the largest lead.
EDGE_SHARE = 0.1
#: Vertical force above which a foot is in stance, N (usual in gait laboratories), and shortest stance, s: shorter loads
#: are vibrations of the plate.
LOADED_FORCE, SHORTEST_STANCE = 20.0, 0.1

EVENT_RULE = (
    "Initial contact is the first frame, from 30 ms before the heel is farthest ahead of the pelvis, at which the heel "
    "is slower than 0.5 m/s in the sagittal plane (relative to the belt on a treadmill), or 40 ms after that maximum "
    "if the heel does not come to rest; toe-off is the frame at which the forefoot is farthest behind the pelvis. If a "
    "file has fewer than two initial contacts of a foot, a heel farthest ahead in its first or last frame counts as "
    "well."
)


@dataclass(frozen=True)
class GaitEvent:
    """A gait event: time (s), side, and kind: "initial_contact" (heel strike) or "toe_off"."""

    time: float
    side: Side
    kind: EventKind


def events_from_markers(
    time: ArrayLike,
    heel: Mapping[Side, ArrayLike],
    toe: Mapping[Side, ArrayLike],
    pelvis: ArrayLike,
    direction: ArrayLike | None = None,
) -> tuple[GaitEvent, ...]:
    """Detect initial contacts and toe-offs by `EVENT_RULE`, in order of time.

        heel lead          s(t) = d·(h - p),      initial contact is the first t >= t_max - 30 ms with
        sagittal speed     sqrt((d·dh/dt + v_b)² + (dh_z/dt)²) < 0.5 m/s
        forefoot lead      r(t) = d·(f - p),      toe-off is the minimum of r

    Filter the markers first (6 Hz is usual), because speeds are finite differences between frames.

    Args:
        time: n, s, increasing.
        heel, toe: by side, (n, 3), m, z up; any marker of the forefoot serves as toe. NaN in gaps, which get no events.
        pelvis: center of the pelvis, (n, 3), m.
        direction: d, (3,) or (2,); by default from `walking_direction`.

    >>> events = events_from_markers(time, {"left": lhee, "right": rhee}, {"left": ltoe, "right": rtoe}, pelvis)
    >>> events[0]
    GaitEvent(time=0.59, side='right', kind='initial_contact')
    """
    t = np.asarray(time, dtype=np.float64)
    heels = {side: interpolate_gaps(t, points, f"the {side} heel") for side, points in heel.items()}
    toes = {side: interpolate_gaps(t, points, f"the {side} forefoot") for side, points in toe.items()}
    middle = interpolate_gaps(t, pelvis, "the pelvis")
    d = walking_direction(middle, heels, toes) if direction is None else _unit(direction)
    belt = belt_speed(t, toes, d)
    events: list[GaitEvent] = []
    for side in heels:
        frames = _initial_contacts(t, heels[side], (heels[side] - middle) @ d, d, belt)
        known = _visible(heel[side])
        events += [GaitEvent(float(t[i]), side, "initial_contact") for i in frames if known[i]]
    for side in toes:
        frames = [i for i in _extrema(t, -(toes[side] - middle) @ d) if 0 < i < len(t) - 1]
        known = _visible(toe[side])
        events += [GaitEvent(float(t[i]), side, "toe_off") for i in frames if known[i]]
    return sort_events(events)


def events_from_plates(
    time: ArrayLike, force: Mapping[Side, ArrayLike], threshold: float = LOADED_FORCE
) -> tuple[GaitEvent, ...]:
    """Detect initial contacts and toe-offs as threshold crossings of the vertical force, in order of time.

    A stance that already lasts in the first frame has no initial contact, and one that lasts in the last frame has no
    toe-off. Loads shorter than 0.1 s are ignored.

    Args:
        time: n, s, increasing.
        force: by side, n, N, upwards on the body: the sum over the plates under this foot.
        threshold: N.

    >>> events_from_plates(time, {"right": plate.force[:, 2]})
    """
    t = np.asarray(time, dtype=np.float64)
    events: list[GaitEvent] = []
    for side, values in force.items():
        loaded = np.nan_to_num(np.asarray(values, dtype=np.float64)) > threshold
        if loaded.shape != t.shape:
            raise GaitError(
                f"forces of shape {loaded.shape} of the {side} foot for {len(t)} times; expected one for each frame"
            )
        for begin, end in true_intervals(loaded):
            if begin > 0 and end < len(t) and t[end] - t[begin] < SHORTEST_STANCE:
                continue
            events += [GaitEvent(float(t[begin]), side, "initial_contact")] if begin > 0 else []
            events += [GaitEvent(float(t[end]), side, "toe_off")] if end < len(t) else []
    return sort_events(events)


def sort_events(events: list[GaitEvent]) -> tuple[GaitEvent, ...]:
    """Sort events by time; at equal times initial contact comes first, as a foot lands before the other one leaves."""
    return tuple(sorted(events, key=lambda event: (event.time, event.kind != "initial_contact", event.side)))


def _initial_contacts(t: Array, heel: Array, lead: Array, d: Array, belt: float) -> list[int]:
    """Return the frames of initial contact: the maxima of the heel lead, each moved to where the heel is at rest."""
    extrema = _extrema(t, lead)
    frames = [i for i in extrema if 0 < i < len(t) - 1]
    if len(frames) < 2:
        least = float(lead.max()) - EDGE_SHARE * float(np.ptp(lead))
        frames = [i for i in extrema if 0 < i < len(t) - 1 or lead[i] >= least]
    velocity = np.gradient(heel, t, axis=0)
    speed = np.hypot(velocity @ d + belt, velocity[:, 2])
    return [_first_still_frame(t, speed, i) for i in frames]


def _first_still_frame(t: Array, speed: Array, i: int) -> int:
    """Return the frame of initial contact that belongs to the maximum of the heel lead in frame i.

    It is the first frame from `SEARCH_BEFORE` before to `SEARCH_AFTER` after the maximum in which the heel is slower
    than `STANCE_SPEED`; if there is none, the frame `HEEL_LEAD_TIME` after the maximum.
    """
    window = np.flatnonzero((t >= t[i] - SEARCH_BEFORE - 1e-9) & (t <= t[i] + SEARCH_AFTER) & (speed < STANCE_SPEED))
    return int(window[0]) if len(window) else int(np.argmin(np.abs(t - t[i] - HEEL_LEAD_TIME)))


def _extrema(t: Array, values: Array) -> list[int]:
    """Return the frames of prominent maxima at least a shortest stride apart, including the first and last frame.

    The signal is padded with its minimum at both ends, so that a maximum at the end of the trial is found.
    """
    period = float(np.median(np.diff(t)))
    min_distance, least = max(round(SHORTEST_STRIDE / period), 1), max(PROMINENCE * float(np.ptp(values)), 1e-9)
    low = [float(values.min())]
    peaks, _ = scipy.signal.find_peaks(np.concatenate([low, values, low]), distance=min_distance, prominence=least)
    return [int(i) - 1 for i in peaks]


def _visible(points: ArrayLike) -> NDArray[np.bool_]:
    return np.asarray(np.isfinite(np.asarray(points, dtype=np.float64)).all(axis=1))


def _unit(direction: ArrayLike) -> Array:
    d = np.zeros(3)
    vector = np.asarray(direction, dtype=np.float64).ravel()
    d[:2] = vector[:2] if vector.shape in ((2,), (3,)) else np.nan
    if not np.linalg.norm(d) > 0.0:
        raise GaitError(f"direction of walking is {vector.tolist()}; expected a vector with a horizontal part")
    return d / np.linalg.norm(d)
