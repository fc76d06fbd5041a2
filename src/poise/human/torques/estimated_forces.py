"""Ground forces without plates: the wrench that the motion requires, shared between the feet on the ground.

With the centre of mass c, its mass m and the angular momentum L about it, the ground must exert

    F = m (c̈ + g ẑ),    M = L̇ + c x F   about the origin of the world

on both feet together. A foot alone on the ground has all of it. While both stand, the leading foot has the share s,

    s = ½ (3 u² - 2 u³) + ½ p

with u the elapsed share of the double support, and p the position of the zero moment point between the ball of the
trailing foot (0) and the foot that landed (1). Along the walk each force points from its foot to the centre of mass, as
in walking, and what is missing in the sum is shared by s; across, forces are shared by s. A force outside the friction
cone is brought to its edge.

Where no foot stands, the nearest stance is extended, unless the motion is a flight. The result is as good as masses,
accelerations and events, see `ESTIMATE_NOTE`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pinocchio

from poise.analysis import GaitEvent
from poise.arrays import Array, Mask
from poise.human.torques.plate_forces import FootStance, FootWrenches, MotionWithPlates, detect_stance
from poise.robots import GRAVITY, SIDES, Side

#: Friction coefficient of shoes on laboratory floors, at most.
FRICTION = 0.8
#: Share of the weight below which a motion without contact is a flight.
FLIGHT_SHARE = 0.3
#: Errors against force plates, in every text that uses estimated forces.
ESTIMATE_NOTE = (
    "ground forces are estimated from the motion, not measured: against the plates of five walks the error of the "
    "force on a foot was 4 to 13 % of the weight vertically, 2 to 5 % along and 1 to 3 % across the walk (rms)"
)


def estimate_foot_wrenches(
    motion: MotionWithPlates, mass: float, events: Sequence[GaitEvent] | None = None
) -> FootWrenches:
    """Estimate the ground reaction wrench on each foot from the motion alone.

    Args:
        motion: body model and filtered motion; its plates are not used.
        mass: of the person, kg.
        events: gait events of the walk; None: stance is detected from the motion of the feet.

    >>> estimate_foot_wrenches(fit, 64.0).force["left"][:, 2].max()
    """
    feet = detect_stance(motion)
    stance = feet.stance if not events else _stance_of_events(motion.time, events)
    force, moment, center = _required_wrench(motion, mass)
    stance = _extend_over_gaps(stance, force[:, 2] > FLIGHT_SHARE * mass * GRAVITY)
    share = _shares(stance, feet, force, moment)
    forces = _forces(stance, feet, share, force, center, motion.q)
    rest = moment - sum(np.cross(_points(feet, side, share[side], force, moment), forces[side]) for side in SIDES)
    moments = {
        side: np.cross(_points(feet, side, share[side], force, moment), forces[side]) + share[side][:, None] * rest
        for side in SIDES
    }
    known = {side: np.ones(len(motion.time), dtype=bool) for side in SIDES}
    loaded = {side: stance[side] & (forces[side][:, 2] > 0.0) for side in SIDES}
    return FootWrenches(forces, moments, stance, loaded, known, (), feet, estimated=True)


def _required_wrench(motion: MotionWithPlates, mass: float) -> tuple[Array, Array, Array]:
    """Return force (N), moment about the origin (N m) and centre of mass (m), each n x 3."""
    model, data = motion.robot.model, motion.robot.model.createData()
    scale = mass / motion.robot.mass
    force, moment, center = (np.empty((len(motion.time), 3)) for _ in range(3))
    for k, (q, v, a) in enumerate(zip(motion.q, motion.v, motion.a, strict=True)):
        pinocchio.computeCentroidalMomentumTimeVariation(model, data, q, v, a)
        center[k] = data.com[0]
        force[k] = scale * data.dhg.linear + np.array([0.0, 0.0, mass * GRAVITY])
        moment[k] = scale * data.dhg.angular + np.cross(center[k], force[k])
    return force, moment, center


def _stance_of_events(time: Array, events: Sequence[GaitEvent]) -> dict[Side, Mask]:
    stance: dict[Side, Mask] = {}
    for side in SIDES:
        own = sorted((event for event in events if event.side == side), key=lambda event: event.time)
        on = np.full(len(time), bool(own) and own[0].kind == "toe_off")
        for event in own:
            on[time >= event.time - 1e-9] = event.kind == "initial_contact"
        stance[side] = on
    return stance


def _extend_over_gaps(stance: dict[Side, Mask], supported: Mask) -> dict[Side, Mask]:
    """Extend the nearest stance over frames in which no foot stands although the motion needs a support."""
    extended = {side: mask.copy() for side, mask in stance.items()}
    frames = np.arange(len(supported))
    for k in np.flatnonzero(~(stance["left"] | stance["right"]) & supported):
        distance = {side: np.abs(frames[stance[side]] - k).min() if stance[side].any() else np.inf for side in SIDES}
        extended[min(SIDES, key=lambda side: distance[side])][k] = True
    return extended


def _shares(stance: dict[Side, Mask], feet: FootStance, force: Array, moment: Array) -> dict[Side, Array]:
    """Return the share of the load on each foot (n), 0 to 1."""
    share = {side: stance[side].astype(float) for side in SIDES}
    both = np.concatenate([[False], stance["left"] & stance["right"], [False]])
    zmp = _zero_moment_point(force, moment)
    count = len(force)
    for begin, end in np.flatnonzero(np.diff(both.astype(np.int8))).reshape(-1, 2).tolist():
        landed = next((side for side in SIDES if begin > 0 and not stance[side][begin - 1]), None)
        stays = next((side for side in SIDES if end < count and stance[side][end]), None)
        lead: Side = landed or stays or "left"
        trail: Side = "right" if lead == "left" else "left"
        ball = feet.points[trail][begin:end, 1:4, :2].mean(axis=1)
        foot = 0.6 * feet.points[lead][begin:end, 0, :2] + 0.4 * feet.points[lead][begin:end, 1:3, :2].mean(axis=1)
        across = foot - ball
        p = np.clip(
            ((zmp[begin:end] - ball) * across).sum(axis=1) / np.maximum((across**2).sum(axis=1), 1e-9), 0.0, 1.0
        )
        if landed is not None and stays == landed:
            u = (np.arange(end - begin) + 0.5) / (end - begin)
            p = 0.5 * u**2 * (3.0 - 2.0 * u) + 0.5 * p
        share[lead][begin:end], share[trail][begin:end] = p, 1.0 - p
    return share


def _zero_moment_point(force: Array, moment: Array) -> Array:
    """Return the zero moment point on the level of the origin, n x 2, m."""
    load = np.maximum(force[:, 2:], 1.0)
    return np.column_stack([-moment[:, 1], moment[:, 0]]) / load


def _points(feet: FootStance, side: Side, share: Array, force: Array, moment: Array) -> Array:
    """Return the point of the force on a foot, n x 3: the zero moment point of one foot, the middle of two."""
    zmp = _zero_moment_point(force, moment)
    middle = feet.foot_center(side)
    alone = (share >= 1.0)[:, None]
    return np.column_stack([np.where(alone, zmp, middle[:, :2]), np.zeros(len(share))])


def _forces(
    stance: dict[Side, Mask], feet: FootStance, share: dict[Side, Array], force: Array, center: Array, q: Array
) -> dict[Side, Array]:
    """Return the force on each foot, n x 3."""
    travel = q[-1, :2] - q[0, :2]
    if np.linalg.norm(travel) < 0.5:  # on a treadmill or on the spot: the direction of the feet
        travel = np.sum([np.mean(feet.points[s][:, 3, :2] - feet.points[s][:, 0, :2], axis=0) for s in SIDES], axis=0)
    along = travel / max(float(np.linalg.norm(travel)), 1e-9)
    pointing = {
        side: (share[side] * force[:, 2])[:, None] * (center - _contact_point(feet, side))[:, :2] / center[:, 2:]
        for side in SIDES
    }
    missing = (force[:, :2] - pointing["left"] - pointing["right"]) @ along
    both = stance["left"] & stance["right"]
    forces = {}
    for side in SIDES:
        horizontal = share[side][:, None] * force[:, :2]
        ahead = np.where(both, pointing[side] @ along + share[side] * missing, horizontal @ along)
        horizontal = horizontal + (ahead - horizontal @ along)[:, None] * along
        vertical = np.maximum(share[side] * force[:, 2], 0.0)
        size = np.linalg.norm(horizontal, axis=1)
        reduction = np.minimum(1.0, FRICTION * vertical / np.maximum(size, 1e-9))
        forces[side] = np.column_stack([reduction[:, None] * horizontal, vertical])
    return forces


def _contact_point(feet: FootStance, side: Side) -> Array:
    """Return the point of a foot that is lowest: the heel after landing, the ball before it leaves (n x 3, m)."""
    points = feet.points[side]
    heel, ball = points[:, 0], points[:, 1:4].mean(axis=1)
    weight = 1.0 / (1.0 + np.exp((heel[:, 2:] - ball[:, 2:]) / 0.01))
    return np.asarray(weight * heel + (1.0 - weight) * ball)
