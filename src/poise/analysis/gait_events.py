"""Gait events (initial contact and toe-off) from markers or force plates, with walking direction and treadmill speed.

Notation: t is time (s), d the horizontal unit vector of walking, h(t), f(t) and p(t) the positions (m) of a heel, of
its forefoot and of the middle of the pelvis, v_b the speed of the belt of a treadmill (m/s, 0 on the floor).

The plain rule of [Zeni2008] sets the strike where d·(h - p) is largest and the toe-off where d·(f - p) is smallest. The
heel turns back towards the pelvis while it still falls, so that this strike comes early: 43 ± 20 ms before the plates
and the events of laboratories, on 7 trials. What is used here follows the heel until it stands, `EVENT_RULE`, and is
7 ± 20 ms early. The end of a phase moves the posture at that end: at the knee by about 0.3 degrees per millisecond,
which is why a table of results says by which rule its events were found.

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

#: A pelvis that ends less than this from where it began, m, has walked on a treadmill, if at all: less than a step.
OVERGROUND_DISTANCE = 0.5
#: How high above its lowest places a forefoot still stands, m: it rolls over, but does not rise, until the toe leaves.
FOREFOOT_HEIGHT = 0.02
#: A belt slower than this, m/s, is none: markers on shoes move that fast while the foot rolls over the floor.
SLOWEST_BELT = 0.3


def walking_direction(pelvis: Array, heel: Mapping[Side, Array], toe: Mapping[Side, Array]) -> Array:
    """The horizontal unit vector d (3,) of walking.

    On the floor ``d ∝ p(T) - p(0)``; on a treadmill, where the pelvis ends within half a metre of where it began,
    ``d ∝ mean of (f - h)``, from the heels to the forefeet. Curved walks have no one direction; give a part of them.
    """
    displacement = pelvis[-1] - pelvis[0]
    if np.hypot(displacement[0], displacement[1]) < OVERGROUND_DISTANCE:
        both = [np.mean(toe[side] - heel[side], axis=0) for side in heel if side in toe]
        displacement = np.sum(both, axis=0) if both else np.zeros(3)
    length = float(np.hypot(displacement[0], displacement[1]))
    if not length > 0.0:
        raise GaitError("the pelvis stays where it is and no foot points anywhere; give the direction of walking")
    return np.array([displacement[0], displacement[1], 0.0]) / length


def belt_speed(time: Array, toe: Mapping[Side, Array], direction: Array) -> float:
    """How fast the ground runs backwards under the feet, v_b in m/s; 0 on the floor.

        v_b = median over the frames with f_z < low of -d·df/dt

    over both feet, "low" being 2 cm above the height that a twentieth of the frames lie below. Less than 0.3 m/s is
    what a floor gives, and counts as zero.

    >>> belt = belt_speed(time, toe, direction)
    >>> position + belt * time[:, None] * direction  # the same walk on a floor
    """
    speeds = []
    for points in toe.values():
        low = points[:, 2] < np.percentile(points[:, 2], 5) + FOREFOOT_HEIGHT
        speeds.append(-(np.gradient(points, time, axis=0) @ direction)[low])
    both = np.concatenate(speeds) if speeds else np.zeros(0)
    speed = float(np.median(both)) if len(both) else 0.0
    return speed if speed > SLOWEST_BELT else 0.0


def interpolate_gaps(time: Array, points: ArrayLike, marker_name: str) -> Array:
    """Points (n, 3) with straight lines through their gaps; an error where they fit no clock or are all missing."""
    values = np.array(points, dtype=np.float64)
    if len(time) < 2 or not (np.diff(time) > 0.0).all():
        raise GaitError(f"{len(time)} times that do not rise; give two frames or more, one after the other")
    if values.shape != (len(time), 3):
        raise GaitError(f"{marker_name} has shape {values.shape} for {len(time)} times; give (n, 3), one row a frame")
    known = np.isfinite(values).all(axis=1)
    if not known.any():
        raise GaitError(f"{marker_name} is not seen in any frame; give another marker", missing=(marker_name,))
    for k in range(3):
        values[~known, k] = np.interp(time[~known], time[known], values[known, k])
    return values


# -- Gait events -----------------------------------------------------------------------------------------------------


EventKind = Literal["strike", "off"]

#: How far before the largest lead of the heel the search begins, s, and the speed below which a heel stands, m/s: with
#: 0.3 m/s strikes come 10 ± 19 ms late, with 0.5 m/s 7 ± 20 ms early.
SEARCH_BEFORE, STANCE_SPEED = 0.030, 0.5
#: How long after its largest lead a heel is waited for to stand, s: six times as long as it usually takes.
SEARCH_AFTER = 0.25
#: How long before the strike the largest lead is on average, s: for heels that are not seen to stand.
HEEL_LEAD_TIME = 0.04
#: Shortest stride, s: people run with strides of 0.6 s.
SHORTEST_STRIDE = 0.5
#: Part of the heel's whole sway that an extremum must stand out by: steps of one walk differ by less than a third.
PROMINENCE = 0.4
#: A lead in the first or the last frame counts if it is the largest up to this part of the sway.
EDGE_SHARE = 0.1
#: Vertical force above which a foot stands on a plate, N (as laboratories have it), and shortest stance, s: a shorter
#: one is the plate ringing.
LOADED_FORCE, SHORTEST_STANCE = 20.0, 0.1

EVENT_RULE = (
    "A foot strikes at the first frame after the moment 30 ms before its heel is farthest ahead of the pelvis at which "
    "the heel moves slower than 0.5 m/s in the sagittal plane (relative to the belt on a treadmill), or 40 ms after "
    "that lead if it is not seen to stand; a foot leaves the ground when its forefoot is farthest behind the pelvis. "
    "Where a file holds less than two strikes of a foot, a heel farthest ahead in its first or last frame counts."
)


@dataclass(frozen=True)
class GaitEvent:
    """A gait event: time (s), side and kind, "strike" (initial contact) or "off" (toe-off), the words of C3D files."""

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
    """Strikes and toe-offs by `EVENT_RULE`, in the order of time.

        lead of the heel   s(t) = d·(h - p),      a strike is the first t >= t_max - 30 ms with
        sagittal speed     sqrt((d·dh/dt + v_b)² + (dh_z/dt)²) < 0.5 m/s
        lag of the toe     r(t) = d·(f - p),      a toe-off is where r is smallest

    Args:
        time: n, s, rising.
        heel, toe: by side, (n, 3), m, z up; the forefoot may be any of its markers. NaN in gaps: no event is set there.
        pelvis: its middle, (n, 3), m.
        direction: d, (3,) or (2,); by default as `walking_direction` finds it.

    Filter markers before (6 Hz is usual): speeds are differences between frames.

    >>> events = events_from_markers(time, {"left": lhee, "right": rhee}, {"left": ltoe, "right": rtoe}, pelvis)
    >>> events[0]
    GaitEvent(time=0.59, side='right', kind='strike')
    """
    t = np.asarray(time, dtype=np.float64)
    heels = {side: interpolate_gaps(t, points, f"the {side} heel") for side, points in heel.items()}
    toes = {side: interpolate_gaps(t, points, f"the {side} forefoot") for side, points in toe.items()}
    middle = interpolate_gaps(t, pelvis, "the pelvis")
    d = walking_direction(middle, heels, toes) if direction is None else _unit(direction)
    belt = belt_speed(t, toes, d)
    found: list[GaitEvent] = []
    for side in heels:
        frames = _initial_contacts(t, heels[side], (heels[side] - middle) @ d, d, belt)
        known = _visible(heel[side])
        found += [GaitEvent(float(t[i]), side, "strike") for i in frames if known[i]]
    for side in toes:
        frames = [i for i in _extrema(t, -(toes[side] - middle) @ d) if 0 < i < len(t) - 1]
        known = _visible(toe[side])
        found += [GaitEvent(float(t[i]), side, "off") for i in frames if known[i]]
    return sort_events(found)


def events_from_plates(
    time: ArrayLike, force: Mapping[Side, ArrayLike], threshold: float = LOADED_FORCE
) -> tuple[GaitEvent, ...]:
    """Strikes and toe-offs where the vertical force under a foot crosses a threshold, in the order of time.

    Args:
        time: n, s, rising.
        force: by side, n, N, upwards on the body: the sum of the plates that this foot stands on.
        threshold: N.

    A foot that stands in the first frame has not struck there, and one that stands in the last has not left. Forces
    for less than 0.1 s are no step.

    >>> events_from_plates(time, {"right": plate.force[:, 2]})
    """
    t = np.asarray(time, dtype=np.float64)
    found: list[GaitEvent] = []
    for side, values in force.items():
        loaded = np.nan_to_num(np.asarray(values, dtype=np.float64)) > threshold
        if loaded.shape != t.shape:
            raise GaitError(f"{loaded.shape} forces of the {side} foot for {len(t)} times; give one for each frame")
        for begin, end in true_intervals(loaded):
            if begin > 0 and end < len(t) and t[end] - t[begin] < SHORTEST_STANCE:
                continue
            found += [GaitEvent(float(t[begin]), side, "strike")] if begin > 0 else []
            found += [GaitEvent(float(t[end]), side, "off")] if end < len(t) else []
    return sort_events(found)


def sort_events(events: list[GaitEvent]) -> tuple[GaitEvent, ...]:
    """Events by time; of two at once the strike first, since a foot lands before the other one may leave."""
    return tuple(sorted(events, key=lambda event: (event.time, event.kind != "strike", event.side)))


def _initial_contacts(t: Array, heel: Array, lead: Array, d: Array, belt: float) -> list[int]:
    """Frames at which a heel strikes: those of the largest lead, each moved to where the heel stands."""
    extrema = _extrema(t, lead)
    frames = [i for i in extrema if 0 < i < len(t) - 1]
    if len(frames) < 2:
        least = float(lead.max()) - EDGE_SHARE * float(np.ptp(lead))
        frames = [i for i in extrema if 0 < i < len(t) - 1 or lead[i] >= least]
    velocity = np.gradient(heel, t, axis=0)
    speed = np.hypot(velocity @ d + belt, velocity[:, 2])
    return [_first_still_frame(t, speed, i) for i in frames]


def _first_still_frame(t: Array, speed: Array, i: int) -> int:
    """The first frame of the search at which the heel is slower than `STANCE_SPEED`; else as late as it usually is."""
    window = np.flatnonzero((t >= t[i] - SEARCH_BEFORE - 1e-9) & (t <= t[i] + SEARCH_AFTER) & (speed < STANCE_SPEED))
    return int(window[0]) if len(window) else int(np.argmin(np.abs(t - t[i] - HEEL_LEAD_TIME)))


def _extrema(t: Array, values: Array) -> list[int]:
    """Frames of the maxima that are as far apart as strides are and stand out; the first and the last frame as well.

    Beyond both ends the values count as low, so that a maximum shortly before the end of a file is one.
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
    given = np.asarray(direction, dtype=np.float64).ravel()
    d[:2] = given[:2] if given.shape in ((2,), (3,)) else np.nan
    if not np.linalg.norm(d) > 0.0:
        raise GaitError(f"the direction of walking is {given.tolist()}; give a vector with a horizontal part")
    return d / np.linalg.norm(d)
