"""Ground reaction wrench on each foot from force plates, and when it is completely known.

Each interval of frames in which a plate is loaded is assigned to one foot, the one whose middle is nearest to the
centre of pressure on average. With c the centre of pressure, F the force and m the moment about c, the wrench on the
foot about the world's origin is

    (Σ F,  Σ c x F + m)      over the plates assigned to the foot

It is completely known only if the foot is in the air, or if its whole sole is on these plates and the other foot is
not on them.

A foot is in stance if one of the points under it is low and slow: less than 4 cm above the lowest positions of that
foot, and below 0.4 m/s (relative to the treadmill belt). Events of the trial take precedence between an initial contact
and the next toe-off of the same foot, and between a toe-off and the next initial contact; laboratories often mark only
some of the events.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
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
    """A motion of a human model in a trial with force plates, for example a `poise.human.fitting.Fit`; n frames.

    Attributes:
        robot: a human model.
        trial: with force plates.
        time: n, s.
        q, v, a: configurations, velocities, accelerations, n x nq, n x nv, n x nv.
        notes: remarks on the processing, one sentence each.
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


#: Points under a foot; frames of the human model.
FOOT_POINTS = ("heel", "first_metatarsal", "fifth_metatarsal", "toe_tip")
#: A point higher than this above the lowest positions of its foot is not in contact, m: soles of a scaled model are one
#: to two centimetres off the floor.
CONTACT_HEIGHT = 0.04
#: A point faster than this is not in stance, m/s: a swinging heel has 0.5 m/s even at its turning point.
CONTACT_SPEED = 0.4
#: Shortest stance on raised ground, and shortest swing of the other foot meanwhile, s. At the top of a jump a foot is
#: slower than `CONTACT_SPEED` for 0.08 s.
RAISED_TIME, SWING_TIME = 0.15, 0.1
#: Rounding tolerance of event times, s.
TIME_TOLERANCE = 1e-6
#: Time before the first and after the last event within which that event overrides the motion, s.
EVENT_MARGIN = 0.1
#: Longest stance or swing in walking, s; between events further apart another event is missing.
LONGEST_STANCE = 2.0


@dataclass(frozen=True, eq=False)
class FootStance:
    """Foot points and stance over n frames.

    Attributes:
        points: by side, n x 4 x 3, m, in the order of `FOOT_POINTS`.
        near_ground: by side, n x 4: which points are near the ground.
        stance: by side, n: whether the foot is in stance.
    """

    points: dict[Side, Array]
    near_ground: dict[Side, Mask]
    stance: dict[Side, Mask]

    def foot_center(self, side: Side) -> Array:
        """Return the midpoint of heel and tip of the toes, n x 3, m."""
        return np.asarray((self.points[side][:, 0] + self.points[side][:, 3]) / 2.0)


def detect_stance(motion: MotionWithPlates) -> FootStance:
    """Detect the stance of both feet from the motion of the soles and the events of the trial."""
    points = _foot_points(motion)
    belt = _belt_velocity(motion, points)
    near_ground = {side: own[..., 2] < _ground_height(own) + CONTACT_HEIGHT for side, own in points.items()}
    for side, raised in raised_supports(motion.time, points, belt).items():
        near_ground[side] |= raised
    stance = {
        side: _apply_events(motion, side, _is_still(motion.time, own, near_ground[side], belt))
        for side, own in points.items()
    }
    return FootStance(points, near_ground, stance)


def _ground_height(points: Array) -> float:
    """Return the height of the lowest ground under a foot, m, from its points (n x 4 x 3)."""
    return float(np.percentile(points[..., 2].min(axis=1), 5.0))


def raised_supports(time: Array, points: dict[Side, Array], belt: Array) -> dict[Side, Mask]:
    """Return by side which points (n x 4) are on ground that is higher than the lowest, such as stairs.

    A foot that is still up there bears the body if the other foot moves meanwhile; while a person stands on one leg the
    other foot may be still in the air.
    """
    supports = {side: np.zeros(own.shape[:2], dtype=bool) for side, own in points.items()}
    if len(time) < 3:
        return supports
    period = float(np.median(np.diff(time)))
    still = {}
    for side, own in points.items():
        low = own[..., 2] < own[..., 2].min(axis=1, keepdims=True) + CONTACT_HEIGHT
        still[side] = (low & (_speeds(time, own, belt) < CONTACT_SPEED)).any(axis=1)
    for side, own in points.items():
        lowest = own[..., 2].min(axis=1)
        raised = np.concatenate([[False], still[side] & (lowest > _ground_height(own) + CONTACT_HEIGHT), [False]])
        other = still[next(each for each in SIDES if each != side)]
        for begin, end in np.flatnonzero(np.diff(raised.astype(np.int8))).reshape(-1, 2).tolist():
            if (end - begin) * period >= RAISED_TIME and (~other[begin:end]).sum() * period >= SWING_TIME:
                level = float(np.median(lowest[begin:end]))
                supports[side][begin:end] = own[begin:end, :, 2] < level + CONTACT_HEIGHT
    return supports


def _speeds(time: Array, points: Array, belt: Array) -> Array:
    return np.asarray(np.linalg.norm(np.gradient(points, time, axis=0) - belt, axis=2))


def _foot_points(motion: MotionWithPlates) -> dict[Side, Array]:
    robot = motion.robot
    model, data = robot.model, robot.model.createData()
    frames = {side: [robot.frame(f"{side}_{name}").index for name in FOOT_POINTS] for side in SIDES}
    points = {side: np.empty((len(motion.time), len(FOOT_POINTS), 3)) for side in SIDES}
    for k, q in enumerate(motion.q):
        pinocchio.framesForwardKinematics(model, data, q)
        for side in SIDES:
            points[side][k] = [data.oMf[frame].translation for frame in frames[side]]
    return points


def _belt_velocity(motion: MotionWithPlates, points: dict[Side, Array]) -> Array:
    """Return the velocity of the ground, (3,), m/s: that of a treadmill belt, else zero."""
    heel = {side: own[:, 0] for side, own in points.items()}
    ball = {side: own[:, 1] for side, own in points.items()}
    d = walking_direction(motion.q[:, :3], heel, ball)
    return -belt_speed(motion.time, ball, d) * d if len(motion.time) > 2 else np.zeros(3)


def _is_still(time: Array, points: Array, near_ground: Mask, belt: Array) -> Mask:
    if len(time) < 3:
        return np.asarray(near_ground.any(axis=1))
    return np.asarray((near_ground & (_speeds(time, points, belt) < CONTACT_SPEED)).any(axis=1))


def _apply_events(motion: MotionWithPlates, side: Side, stance: Mask) -> Mask:
    """Correct the stance of a foot between pairs of events."""
    corrected, time = stance.copy(), motion.time
    events = sorted((event for event in motion.trial.events if event.side == side), key=lambda event: event.time)
    for event, next_event in itertools.pairwise(events):
        if event.kind != next_event.kind and next_event.time - event.time < LONGEST_STANCE:
            corrected[(time >= event.time - TIME_TOLERANCE) & (time < next_event.time - TIME_TOLERANCE)] = (
                event.kind == "initial_contact"
            )
    if events:  # shortly before the first event and after the last event, that event decides
        first, last = events[0], events[-1]
        corrected[(time >= first.time - EVENT_MARGIN) & (time < first.time - TIME_TOLERANCE)] = first.kind == "toe_off"
        corrected[(time >= last.time - TIME_TOLERANCE) & (time < last.time + EVENT_MARGIN)] = (
            last.kind == "initial_contact"
        )
    return corrected


# -- Wrench on each foot -----------------------------------------------------------------------------------------------


#: Shortest load in the middle of a trial, s; shorter ones are vibrations of the plate.
SHORTEST_LOAD = 0.05
#: Distance that a sole may extend beyond the edge of its plate, m: the foot position is accurate to one or two cm.
EDGE_TOLERANCE = 0.02
#: Distance of a centre of pressure from the outline of its foot, m, beyond which the other foot is on the same plate;
#: used if the edges of the plate are not known.
SHARED_DISTANCE = 0.05
#: Time before and after the load of its plate in which a foot in stance bears less than the force threshold, s.
EDGE_TIME = 0.05


@dataclass(frozen=True)
class PlateContact:
    """An interval of frames, `begin` to before `end`, in which a plate is loaded by one foot.

    Attributes:
        plate: index of the plate.
        side: of the foot.
        overhang: largest distance of a foot point near the ground beyond the edges of the plates, m, without the worst
            frames (`EDGE_TIME`); 0 if all points are on plates.
        shared: whether the other foot is on the same plate for more than `EDGE_TIME`.
    """

    plate: int
    side: Side
    begin: int
    end: int
    overhang: float = 0.0
    shared: bool = False

    @property
    def complete(self) -> bool:
        """Whether the plate measures the complete load of this foot and no other load."""
        return self.overhang <= EDGE_TOLERANCE and not self.shared


@dataclass(frozen=True, eq=False)
class FootWrenches:
    """Ground reaction wrench on each foot over n frames.

    Attributes:
        force: by side, n x 3, N, on the body, in world axes.
        moment: by side, n x 3, N m, about the world's origin.
        stance: by side, n: the foot is on the ground, on a plate or beside it.
        loaded: by side, n: a plate under the foot is loaded by more than 20 N.
        measured: by side, n: the wrench on the foot is completely known, which includes swing, where it is zero.
        plate_contacts: the intervals of each foot on each plate.
        foot_stance: positions of the foot points.
    """

    force: dict[Side, Array]
    moment: dict[Side, Array]
    stance: dict[Side, Mask]
    loaded: dict[Side, Mask]
    measured: dict[Side, Mask]
    plate_contacts: tuple[PlateContact, ...]
    foot_stance: FootStance

    def where_seen(self, legs: Mapping[Side, Mask]) -> FootWrenches:
        """Return the wrenches with those of a foot unknown in frames in which markers do not determine its leg (n)."""
        return replace(self, measured={side: self.measured[side] & legs[side] for side in SIDES})

    def has_wrench(self, side: Side) -> Mask:
        """Return the frames in which a wrench is given: the foot is in the air, or at least partly on a plate."""
        return ~self.stance[side] | self.loaded[side]

    def measured_in_stance(self, side: Side) -> bool:
        """Return whether a foot is entirely on plates in any frame of its stance."""
        return bool((self.stance[side] & self.loaded[side] & self.measured[side]).any())

    @property
    def known(self) -> Mask:
        """Mask of the frames in which the ground reaction on both feet is completely known (n)."""
        return np.asarray(np.logical_and.reduce([self.measured[side] for side in SIDES]))


def foot_wrenches(motion: MotionWithPlates, cutoff: float | None = None) -> FootWrenches:
    """Assign the force plates of a trial to the feet and compute the wrench on each foot.

    Args:
        motion: a fitted trial with plates.
        cutoff: cut-off of a zero-phase second-order Butterworth low-pass filter on the forces (Hz); None: no filter.
    """
    if not motion.trial.plates:
        raise TrialError(
            f"{motion.trial.path}: no force plates; leg torques require them: give a trial with force plates, "
            "or its ground forces in a MOT file (--forces)",
            path=motion.trial.path,
            element="plates",
        )
    plates = [_low_pass_plate(plate, motion.trial.rate, cutoff) for plate in motion.trial.plates]
    feet = detect_stance(motion)
    plate_contacts = [
        contact for k, plate in enumerate(plates) for contact in _plate_contacts(k, plate, motion.time, feet)
    ]
    plate_contacts = [_check_contact(contact, plate_contacts, plates, feet, motion.time) for contact in plate_contacts]
    n = len(motion.time)
    force = {side: np.zeros((n, 3)) for side in SIDES}
    moment = {side: np.zeros((n, 3)) for side in SIDES}
    loaded = {side: np.zeros(n, dtype=bool) for side in SIDES}
    incomplete = {side: np.zeros(n, dtype=bool) for side in SIDES}
    for contact in plate_contacts:
        frames, plate = slice(contact.begin, contact.end), plates[contact.plate]
        force[contact.side][frames] += plate.force[frames]
        moment[contact.side][frames] += (
            np.cross(plate.center_of_pressure[frames], plate.force[frames]) + plate.free_moment[frames]
        )
        loaded[contact.side][frames] = True
        incomplete[contact.side][frames] |= not contact.complete
    stance, measured = {}, {}
    for side in SIDES:
        near = _dilate_mask(loaded[side], motion.time) & ~loaded[side]
        stance[side] = (feet.stance[side] & ~near) | loaded[side]
        measured[side] = (~stance[side] | loaded[side]) & ~incomplete[side]
    return FootWrenches(force, moment, stance, loaded, measured, tuple(plate_contacts), feet)


#: Share of the weight that the plates may lack before a foot that seems to swing is taken to bear it.
MISSING_SHARE = 0.25
#: Time before and after its detected stance in which a foot may bear weight, s: push-off of the toes, and landing.
UNCERTAIN_TIME = 0.12


def without_missing_load(wrenches: FootWrenches, missing: Array, weight: float, time: Array) -> FootWrenches:
    """Return the wrenches with feet not measured that bear a load that the plates lack although they seem to swing.

    They do so near the detected stance of a foot, and where no foot seems to stand although the motion is not that of a
    flight.

    Args:
        wrenches: from the plates.
        missing: vertical force that the motion requires in addition to the plates (n), N.
        weight: of the person, N.
        time: of the frames (n), s.
    """
    beside = np.logical_or.reduce([wrenches.stance[side] & ~wrenches.loaded[side] for side in SIDES])
    lacking = (missing > MISSING_SHARE * weight) & ~beside  # a foot beside the plates explains what they lack
    flight = ~np.logical_or.reduce([wrenches.stance[side] for side in SIDES])
    period = float(np.median(np.diff(time))) if len(time) > 1 else 1.0
    reach = np.ones(2 * round(UNCERTAIN_TIME / period) + 1)
    stance, measured = {}, {}
    for side in SIDES:
        near = np.convolve(wrenches.stance[side], reach, mode="same") > 0.0
        bears = lacking & ~wrenches.loaded[side] & (near | flight)
        stance[side], measured[side] = wrenches.stance[side] | bears, wrenches.measured[side] & ~bears
    return replace(wrenches, stance=stance, measured=measured)


def _low_pass_plate(plate: ForcePlate, rate: float, cutoff: float | None) -> ForcePlate:
    """Filter force and moment about the middle of a plate, and compute its centre of pressure from them."""
    loaded = plate.force[:, 2:] > LOADED_FORCE
    if cutoff is not None:
        # Forces of a file without plates have no surface: any fixed point on their level serves.
        plate_center = np.median(plate.center_of_pressure[loaded[:, 0]], axis=0) if loaded.any() else np.zeros(3)
        plate_center = plate.corners.mean(axis=0) if len(plate.corners) else plate_center
        moment = np.cross(plate.center_of_pressure - plate_center, plate.force) + plate.free_moment
        wrench = low_pass(np.where(loaded, np.hstack([plate.force, moment]), 0.0), rate, cutoff)
        force, moment = wrench[:, :3], wrench[:, 3:]
        loaded = force[:, 2:] > LOADED_FORCE
        offset = np.column_stack([-moment[:, 1], moment[:, 0], np.zeros(len(force))]) / np.where(
            loaded, force[:, 2:], 1.0
        )
        plate = replace(
            plate, force=force, center_of_pressure=plate_center + offset, free_moment=moment - np.cross(offset, force)
        )
    force, center, moment = (
        np.where(loaded, each, 0.0) for each in (plate.force, plate.center_of_pressure, plate.free_moment)
    )
    return replace(plate, force=force, center_of_pressure=center, free_moment=moment)


def _plate_contacts(number: int, plate: ForcePlate, time: Array, feet: FootStance) -> list[PlateContact]:
    """Return the intervals in which a plate is loaded, each with the foot nearest to the load-weighted CoP."""
    contacts = []
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
        contacts.append(PlateContact(number, min(SIDES, key=lambda side: distances[side]), begin, end))
    return contacts


def _check_contact(
    contact: PlateContact, all_contacts: list[PlateContact], plates: list[ForcePlate], feet: FootStance, time: Array
) -> PlateContact:
    """Compute the overhang of a foot beyond its plates, and whether the other foot is on the same plate."""
    other = next(side for side in SIDES if side != contact.side)
    hulls = [convex_hull(plate.corners[:, :2]) if len(plate.corners) else None for plate in plates]
    own_hull = hulls[contact.plate]
    overhang, shared_frames = [], 0
    for k in range(contact.begin, contact.end):
        other_plates = {
            candidate.plate
            for candidate in all_contacts
            if candidate.side == other and candidate.begin <= k < candidate.end
        }
        touching = feet.points[contact.side][k][feet.near_ground[contact.side][k]][:, :2]
        inside = [
            np.asarray(margin(hull, touching))
            for p, hull in enumerate(hulls)
            if p not in other_plates and hull is not None
        ]
        overhang.append(0.0 if own_hull is None else max(float(-np.max(inside, axis=0).min(initial=0.0)), 0.0))
        if feet.stance[other][k] and not other_plates:
            if own_hull is None:  # edges unknown: the force is on this foot alone if its point is under it
                outline = convex_hull(feet.points[contact.side][k][:, :2])
                point = plates[contact.plate].center_of_pressure[k, :2]
                shared_frames += float(margin(outline, point)) < -SHARED_DISTANCE
            else:
                shared_frames += float(margin(own_hull, feet.foot_center(other)[k, :2])) > 0.0
    tolerated_frames = max(round(EDGE_TIME / float(np.median(np.diff(time)))), 1) if len(time) > 1 else 1
    return replace(
        contact,
        overhang=sorted(overhang)[-1 - min(tolerated_frames, len(overhang) - 1)],
        shared=bool(shared_frames > tolerated_frames),
    )


def _dilate_mask(mask: Mask, time: Array) -> Mask:
    """Extend a mask by the frames up to `EDGE_TIME` before and after."""
    frames = round(EDGE_TIME / float(np.median(np.diff(time)))) if len(time) > 1 else 0
    return np.convolve(mask, np.ones(2 * frames + 1), mode="same") > 0.5
