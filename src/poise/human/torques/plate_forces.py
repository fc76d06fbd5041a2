"""Ground reaction wrench on each foot from force plates, and when it is complete.

A plate is loaded for an interval of frames, and during all of it belongs to the foot whose middle is nearest to the
centre of pressure. With c the centre, F the force and m the moment about it, the wrench on the foot about the world's
origin is

    (Σ F,  Σ c x F + m)      over the plates that belong to it

which is known only if the foot is in the air, or all of its sole is on these plates and no other foot is on them.

A foot stands where one of the points under it is low and slow: less than 4 cm above the lowest places of that foot, and
below 0.4 m/s (against the belt of a treadmill). Events of the trial have the last word between a strike and the next
toe-off of the same foot, or between a toe-off and the next strike; laboratories often mark only some of them.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
import pinocchio

from poise.analysis import LOADED_FORCE, belt_speed, low_pass, walking_direction
from poise.arrays import Array, Mask
from poise.geometry import convex_hull, margin
from poise.human.trial import ForcePlate, Trial, TrialError
from poise.robots import SIDES, Robot, Side


class MotionWithPlates(Protocol):
    """A body in motion, such as a `poise.human.fitting.Fit`: n frames, those of the trial.

    Attributes:
        robot: a human of the library.
        trial: with force plates.
        time: n, s.
        q, v, a: configurations, velocities, accelerations, n x nq, n x nv, n x nv.
        notes: what was decided on the way, one sentence each.
    """

    @property
    def robot(self) -> Robot: ...
    @property
    def trial(self) -> Trial: ...
    @property
    def time(self) -> Array: ...
    @property
    def q(self) -> Array: ...
    @property
    def v(self) -> Array: ...
    @property
    def a(self) -> Array: ...
    @property
    def notes(self) -> tuple[str, ...]: ...


# -- Stance of the feet ------------------------------------------------------------------------------------------------


#: Points under a foot, as the human of the library names them.
FOOT_POINTS = ("heel", "first_metatarsal", "fifth_metatarsal", "toe_tip")
#: A point that is higher than this above the lowest places of its foot does not touch, m: soles of a fitted body are
#: one to two centimetres off the floor.
CONTACT_HEIGHT = 0.04
#: A point that is faster than this does not stand, m/s: swinging feet have 0.5 m/s even at the turn of the heel.
CONTACT_SPEED = 0.4
#: Events are at frames but for rounding, s.
TIME_TOLERANCE = 1e-6
#: How far an event may be from what the motion says, s: beyond it an event tells nothing of a foot on its own.
EVENT_MARGIN = 0.1
#: Between a strike and a toe-off no more than this passes in a walk, s; longer ones have an event missing between them.
LONGEST_STANCE = 2.0


@dataclass(frozen=True, eq=False)
class FootStance:
    """Feet over n frames.

    Attributes:
        points: by side, n x 4 x 3, m, in the order of `FOOT_POINTS`.
        near_ground: by side, n x 4: which of them are near the ground.
        stance: by side, n: when the foot stands.
    """

    points: dict[Side, Array]
    near_ground: dict[Side, Mask]
    stance: dict[Side, Mask]

    def foot_center(self, side: Side) -> Array:
        """Halfway between heel and tip of the toes, n x 3, m."""
        return np.asarray((self.points[side][:, 0] + self.points[side][:, 3]) / 2.0)


def detect_stance(motion: MotionWithPlates) -> FootStance:
    """Follows the soles of a person through a trial."""
    points = _foot_points(motion)
    belt = _belt_velocity(motion, points)
    near_ground, stance = {}, {}
    for side, own in points.items():
        ground = float(np.percentile(own[..., 2].min(axis=1), 5.0))
        near_ground[side] = own[..., 2] < ground + CONTACT_HEIGHT
        stance[side] = _apply_events(motion, side, _is_still(motion.time, own, near_ground[side], belt))
    return FootStance(points, near_ground, stance)


def _foot_points(motion: MotionWithPlates) -> dict[Side, Array]:
    robot = motion.robot
    model, data = robot.model, robot.model.createData()
    frames = {side: [robot.frame(f"{side}_{name}").index for name in FOOT_POINTS] for side in SIDES}
    found = {side: np.empty((len(motion.time), len(FOOT_POINTS), 3)) for side in SIDES}
    for k, q in enumerate(motion.q):
        pinocchio.framesForwardKinematics(model, data, q)
        for side in SIDES:
            found[side][k] = [data.oMf[frame].translation for frame in frames[side]]
    return found


def _belt_velocity(motion: MotionWithPlates, points: dict[Side, Array]) -> Array:
    """Velocity of the ground, (3,), m/s: that of a treadmill, else zero."""
    heel = {side: own[:, 0] for side, own in points.items()}
    ball = {side: own[:, 1] for side, own in points.items()}
    d = walking_direction(motion.q[:, :3], heel, ball)
    return -belt_speed(motion.time, ball, d) * d if len(motion.time) > 2 else np.zeros(3)


def _is_still(time: Array, points: Array, near_ground: Mask, belt: Array) -> Mask:
    if len(time) < 3:
        return np.asarray(near_ground.any(axis=1))
    speed = np.linalg.norm(np.gradient(points, time, axis=0) - belt, axis=2)
    return np.asarray((near_ground & (speed < CONTACT_SPEED)).any(axis=1))


def _apply_events(motion: MotionWithPlates, side: Side, stance: Mask) -> Mask:
    """The same, corrected between pairs of events."""
    found, time = stance.copy(), motion.time
    own = sorted((event for event in motion.trial.events if event.side == side), key=lambda event: event.time)
    for one, two in itertools.pairwise(own):
        if one.kind != two.kind and two.time - one.time < LONGEST_STANCE:
            found[(time >= one.time - TIME_TOLERANCE) & (time < two.time - TIME_TOLERANCE)] = one.kind == "strike"
    if own:  # shortly before the first event and after the last one it is that event which counts
        first, last = own[0], own[-1]
        found[(time >= first.time - EVENT_MARGIN) & (time < first.time - TIME_TOLERANCE)] = first.kind == "off"
        found[(time >= last.time - TIME_TOLERANCE) & (time < last.time + EVENT_MARGIN)] = last.kind == "strike"
    return found


# -- Wrench on each foot -----------------------------------------------------------------------------------------------


#: A load of less than this, s, in the middle of a trial is the plate ringing.
SHORTEST_LOAD = 0.05
#: How far a sole may be beyond the edge of its plate, m: a fitted foot is right to one or two centimetres.
EDGE_TOLERANCE = 0.02
#: A foot that stands by its motion this long before or after its plate is loaded, s, bears less than the threshold.
EDGE_TIME = 0.05


@dataclass(frozen=True)
class PlateContact:
    """Frames from `begin` to before `end` in which a plate is loaded by one foot.

    Attributes:
        plate: its number.
        side: of the foot.
        overhang: how far the foot is beyond the edge of what measures it, m, 0 if it is not: the largest of all frames
            but a few.
        shared: whether the other foot is on the same plate for a while.
    """

    plate: int
    side: Side
    begin: int
    end: int
    overhang: float = 0.0
    shared: bool = False

    @property
    def complete(self) -> bool:
        """Whether it measures all of the load of this foot, and nothing else."""
        return self.overhang <= EDGE_TOLERANCE and not self.shared


@dataclass(frozen=True, eq=False)
class FootWrenches:
    """The wrench of the ground on each foot over n frames.

    Attributes:
        force: by side, n x 3, N, on the body, in world axes.
        moment: by side, n x 3, N m, about the world's origin.
        stance: by side, n: the foot is on the ground, on a plate or beside.
        loaded: by side, n: a plate bears more than 20 N of it.
        measured: by side, n: all that the ground does to the foot is known; also in the air, where that is nothing.
        plate_contacts: which foot was on which plate, when.
        foot_stance: where the soles are.
    """

    force: dict[Side, Array]
    moment: dict[Side, Array]
    stance: dict[Side, Mask]
    loaded: dict[Side, Mask]
    measured: dict[Side, Mask]
    plate_contacts: tuple[PlateContact, ...]
    foot_stance: FootStance

    def has_wrench(self, side: Side) -> Mask:
        """Frames with a wrench of some kind: the foot is in the air, or a plate bears at least some of it."""
        return ~self.stance[side] | self.loaded[side]

    @property
    def known(self) -> Mask:
        """Frames in which all that the ground does to the body is measured."""
        return np.asarray(np.logical_and.reduce([self.measured[side] for side in SIDES]))


def foot_wrenches(motion: MotionWithPlates, cutoff: float | None = None) -> FootWrenches:
    """Puts the plates of a trial under the feet of the person.

    Args:
        motion: a fitted trial, with plates.
        cutoff: of a low-pass filter on the forces (Hz, Butterworth of second order, there and back); None: as they are.
    """
    if not motion.trial.plates:
        raise TrialError(
            f"{motion.trial.path}: no force plates; torques of legs need them, give a trial that has some",
            path=motion.trial.path,
            element="plates",
        )
    plates = [_low_pass_plate(plate, motion.trial.rate, cutoff) for plate in motion.trial.plates]
    feet = detect_stance(motion)
    plate_contacts = [each for k, plate in enumerate(plates) for each in _plate_contacts(k, plate, motion.time, feet)]
    plate_contacts = [_check_contact(each, plate_contacts, plates, feet, motion.time) for each in plate_contacts]
    n = len(motion.time)
    force = {side: np.zeros((n, 3)) for side in SIDES}
    moment = {side: np.zeros((n, 3)) for side in SIDES}
    loaded = {side: np.zeros(n, dtype=bool) for side in SIDES}
    partly = {side: np.zeros(n, dtype=bool) for side in SIDES}
    for each in plate_contacts:
        on, plate = slice(each.begin, each.end), plates[each.plate]
        force[each.side][on] += plate.force[on]
        moment[each.side][on] += np.cross(plate.center_of_pressure[on], plate.force[on]) + plate.free_moment[on]
        loaded[each.side][on] = True
        partly[each.side][on] |= not each.complete
    stance, measured = {}, {}
    for side in SIDES:
        near = _dilate_mask(loaded[side], motion.time) & ~loaded[side]
        stance[side] = (feet.stance[side] & ~near) | loaded[side]
        measured[side] = (~stance[side] | loaded[side]) & ~partly[side]
    return FootWrenches(force, moment, stance, loaded, measured, tuple(plate_contacts), feet)


def _low_pass_plate(plate: ForcePlate, rate: float, cutoff: float | None) -> ForcePlate:
    """Force and moment about the middle of the plate, low-passed; the centre follows from them."""
    loaded = plate.force[:, 2:] > LOADED_FORCE
    if cutoff is not None:
        plate_center = plate.corners.mean(axis=0)
        moment = np.cross(plate.center_of_pressure - plate_center, plate.force) + plate.free_moment
        both = low_pass(np.where(loaded, np.hstack([plate.force, moment]), 0.0), rate, cutoff)
        force, moment = both[:, :3], both[:, 3:]
        loaded = force[:, 2:] > LOADED_FORCE
        off = np.column_stack([-moment[:, 1], moment[:, 0], np.zeros(len(force))]) / np.where(loaded, force[:, 2:], 1.0)
        plate = replace(
            plate, force=force, center_of_pressure=plate_center + off, free_moment=moment - np.cross(off, force)
        )
    force, center, moment = (
        np.where(loaded, each, 0.0) for each in (plate.force, plate.center_of_pressure, plate.free_moment)
    )
    return replace(plate, force=force, center_of_pressure=center, free_moment=moment)


def _plate_contacts(number: int, plate: ForcePlate, time: Array, feet: FootStance) -> list[PlateContact]:
    """Stretches in which a plate is loaded, each with the foot that is nearest to the centre of pressure, by load."""
    found = []
    on = np.concatenate([[False], plate.force[:, 2] > LOADED_FORCE, [False]])
    for begin, end in np.flatnonzero(np.diff(on.astype(np.int8))).reshape(-1, 2).tolist():
        if begin > 0 and end < len(time) and time[end] - time[begin] < SHORTEST_LOAD:
            continue
        span = slice(begin, end)
        distances = {
            side: float(
                np.average(
                    np.linalg.norm((feet.foot_center(side) - plate.center_of_pressure)[span, :2], axis=1),
                    weights=plate.force[span, 2],
                )
            )
            for side in SIDES
        }
        found.append(PlateContact(number, min(SIDES, key=lambda side: distances[side]), begin, end))
    return found


def _check_contact(
    each: PlateContact, every: list[PlateContact], plates: list[ForcePlate], feet: FootStance, time: Array
) -> PlateContact:
    """How far the foot is beyond the plates that measure it, and whether the other one is on the same plate."""
    other = next(side for side in SIDES if side != each.side)
    hulls = [convex_hull(plate.corners[:, :2]) for plate in plates]
    overhang, both = [], 0
    for k in range(each.begin, each.end):
        other_plates = {one.plate for one in every if one.side == other and one.begin <= k < one.end}
        touching = feet.points[each.side][k][feet.near_ground[each.side][k]][:, :2]
        inside = [np.asarray(margin(hull, touching)) for p, hull in enumerate(hulls) if p not in other_plates]
        overhang.append(max(float(-np.max(inside, axis=0).min(initial=0.0)), 0.0))
        both += (
            feet.stance[other][k]
            and not other_plates
            and float(margin(hulls[each.plate], feet.foot_center(other)[k, :2])) > 0.0
        )
    tolerated_frames = max(round(EDGE_TIME / float(np.median(np.diff(time)))), 1) if len(time) > 1 else 1
    return replace(
        each,
        overhang=sorted(overhang)[-1 - min(tolerated_frames, len(overhang) - 1)],
        shared=bool(both > tolerated_frames),
    )


def _dilate_mask(mask: Mask, time: Array) -> Mask:
    """Mask with the frames up to `EDGE_TIME` before and after."""
    frames = round(EDGE_TIME / float(np.median(np.diff(time)))) if len(time) > 1 else 0
    return np.convolve(mask, np.ones(2 * frames + 1), mode="same") > 0.5
