"""Foot contacts of a gait: which points bear weight when, support polygon and ZMP.

The same rule serves the simulated motion and the reference: a foot stands from its strike to its toe-off, by the phases
of the cycle, and is then supported by its whole sole and the tip of its toes, also while it rolls. That is what force
plates say: in two trials of one person their center of pressure was inside the hull of these points in all 82 frames
that bore the whole weight, but in 62 and 67 % of them inside that of the points less than 2 cm above their lowest one.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pinocchio
from numpy.typing import NDArray

from poise.analysis import GaitCycle, support_polygons
from poise.arrays import Array, Mask
from poise.human.gait.reference_walk import FOOT_POINTS, ReferenceWalk
from poise.plants import FLOOR_FRICTION
from poise.robots import SIDES, Foot, Robot, Side, State, other_side
from poise.state import Contact, Snapshot, zmp


@dataclass(frozen=True, eq=False)
class SupportTrajectory:
    """n moments of a motion.

    Attributes:
        foot_points: positions of the points under the feet, in the order of `ReferenceWalk.foot_points`, n x 8 x 3, m.
        center_of_mass: n x 3, m.
        zmp: zero-moment point, n x 2, m.
        support_polygons: support polygon of each moment, (k, 2), m.
    """

    foot_points: Array
    center_of_mass: Array
    zmp: Array
    support_polygons: list[Array]

    def point(self, side: Side, name: str) -> Array:
        """Places of one point, n x 3, m: ``trajectory.point("left", "heel")``."""
        return self.foot_points[:, len(FOOT_POINTS) * SIDES.index(side) + FOOT_POINTS.index(name)]


def support_trajectory(
    reference: ReferenceWalk, cycle: GaitCycle, time: Array, q: Array, v: Array, a: Array, ground: float
) -> SupportTrajectory:
    """Works out the contacts of a motion at n times of a cycle.

    Args:
        reference: whose body and points.
        cycle: says which foot stands when.
        time, q, v, a: the motion; n (s), n x nq, n x nv, n x nv.
        ground: height of the ground, m.
    """
    robot = reference.robot
    model, data = robot.model, robot.model.createData()
    points, center, rate = (
        np.empty((len(q), len(reference.foot_points), 3)),
        np.empty((len(q), 3)),
        np.empty((len(q), 6)),
    )
    soles = np.empty((len(q), len(SIDES), 5, 3))
    for k in range(len(q)):
        # Places every joint, too: the frames below are those of this posture.
        pinocchio.computeCentroidalMomentumTimeVariation(model, data, q[k], v[k], a[k])
        center[k], rate[k] = data.com[0], data.dhg.vector
        for i, point in enumerate(reference.foot_points):
            points[k, i] = pinocchio.updateFramePlacement(model, data, point.index).translation
        for i, side in enumerate(SIDES):
            foot = robot.foot(side)
            pose = pinocchio.updateFramePlacement(model, data, foot.index)
            soles[k, i, :4] = foot.corners @ pose.rotation.T + pose.translation
            soles[k, i, 4] = points[k, len(FOOT_POINTS) * i + FOOT_POINTS.index("toe_tip")]
    zmp_positions = zmp(center, rate[:, :3] / robot.mass, rate[:, 3:], robot.mass, ground)
    touching = np.repeat(np.column_stack([stance_mask(cycle, side, time) for side in SIDES]), 5, axis=1)
    return SupportTrajectory(points, center, zmp_positions, support_polygons(soles.reshape(len(q), -1, 3), touching))


def stance_mask(cycle: GaitCycle, side: Side, time: Array) -> Mask:
    """When a foot stands, by the phases of a cycle, at n times (s)."""
    if side == cycle.side:
        return time < cycle.toe_off
    return (time < cycle.opposite_toe_off) | (time >= cycle.opposite_initial_contact)


def single_support_mask(cycle: GaitCycle, side: Side, time: Array) -> Mask:
    """When a foot stands and the other one swings, at n times (s)."""
    other = other_side(side)
    return stance_mask(cycle, side, time) & ~stance_mask(cycle, other, time)


# -- Contact schedule --------------------------------------------------------------------------------------------------


#: A corner of a sole bears weight while it is less than this above its lowest place (m): soles of a fitted body are
#: off the floor by up to 2 cm, and shoes bend.
CONTACT_HEIGHT = 0.03
#: A contact that lasts for less than this (s) is noise of the fit.
SHORTEST_CONTACT = 0.03


@dataclass(frozen=True)
class ContactSchedule:
    """The contacts of a walk over time.

    Attributes:
        contacts: all of them: corners of both soles, and the tips of the toes.
        time: n, s.
        active: which bear weight at each time, n x contacts.
    """

    contacts: tuple[Contact, ...]
    time: Array
    active: NDArray[np.bool_]

    def active_contacts(self, time: float) -> tuple[Contact, ...]:
        """Those that bear weight at a time; all of the last known before and after it."""
        k = min(max(int(np.searchsorted(self.time, time + 1e-9, "right")) - 1, 0), len(self.time) - 1)
        return self._select(self.active[k])

    def contact_sets(self) -> list[tuple[Contact, ...]]:
        """All different sets of contacts that ever bear together."""
        return [self._select(row) for row in np.unique(self.active, axis=0)]

    def _select(self, row: NDArray[np.bool_]) -> tuple[Contact, ...]:
        return tuple(contact for contact, active in zip(self.contacts, row, strict=True) if active)


def detect_contact_schedule(reference: ReferenceWalk, toes: bool = True) -> ContactSchedule:
    """Finds when the corners of the soles, and the tips of the toes, are on the ground.

    A foot stands from its strike to its toe-off, by the events of the reference; of its points those bear that are near
    their lowest places. Two corners across the foot bear together, for feet roll forward; at least one pair does.

    Args:
        reference: the walk.
        toes: whether toes bear; the simulated foot of MuJoCo has none that are felt.
    """
    robot = reference.robot
    contacts: list[Contact] = []
    for foot in robot.feet:
        for name, corners in _sole_edges(foot).items():
            for k, corner in enumerate(corners):
                contacts.append(
                    Contact(foot, corners=[corner], friction=FLOOR_FRICTION, name=f"{foot.side} {name} {k + 1}")
                )
        if toes:
            contacts.append(
                Contact(robot.frame(f"{foot.side}_toe_tip"), friction=FLOOR_FRICTION, name=f"{foot.side} toes")
            )
    heights = _contact_heights(reference, contacts)
    active = np.zeros((len(reference.time), len(contacts)), dtype=bool)
    for side in SIDES:
        stance = _reference_stance(reference, side)
        own_contacts = [i for i, contact in enumerate(contacts) if contact.name.startswith(side)]
        heel, ball = ([i for i in own_contacts if word in contacts[i].name] for word in ("heel", "ball"))
        for pair in (heel, ball, [i for i in own_contacts if i not in heel + ball]):
            low = heights[:, pair].mean(axis=1) if pair else np.zeros(0)
            for i in pair:
                active[:, i] = stance & _remove_short_contacts(low < low[stance].min() + CONTACT_HEIGHT, reference.time)
        none = stance & ~active[:, heel + ball].any(axis=1)
        lower = heights[:, heel].mean(axis=1) < heights[:, ball].mean(axis=1)
        for pair, which in ((heel, lower), (ball, ~lower)):
            for i in pair:
                active[:, i] |= none & which
    return ContactSchedule(tuple(contacts), reference.time, active)


def _sole_edges(foot: Foot) -> dict[str, Array]:
    """Corners of a sole by its ends."""
    corners = foot.corners
    back = corners[:, 0] < corners[:, 0].mean()
    return {"heel": corners[back], "ball": corners[~back]}


def _contact_heights(reference: ReferenceWalk, contacts: list[Contact]) -> Array:
    """Of each contact over time (n x contacts, m)."""
    robot: Robot = reference.robot
    snapshot = Snapshot(robot)
    found = np.empty((len(reference.time), len(contacts)))
    for k, q in enumerate(reference.q):
        snapshot.at(State(robot, q))
        for i, contact in enumerate(contacts):
            pose = snapshot.pose(contact.frame)
            found[k, i] = (pose.rotation @ contact.corners[0] + pose.translation)[2]
    return found


def _reference_stance(reference: ReferenceWalk, side: Side) -> NDArray[np.bool_]:
    """Between strikes and toe-offs; before the first event and after the last as those say."""
    events = sorted((event for event in reference.events if event.side == side), key=lambda event: event.time)
    stance = np.zeros(len(reference.time), dtype=bool)
    if not events:
        return ~stance
    stance[:] = events[0].kind == "off"
    for event in events:
        stance[reference.time >= event.time - 1e-9] = event.kind == "strike"
    return stance


def _remove_short_contacts(mask: NDArray[np.bool_], time: Array) -> NDArray[np.bool_]:
    """The same without what lasts less than `SHORTEST_CONTACT`."""
    out = mask.copy()
    edges = np.flatnonzero(np.diff(out.astype(int))) + 1
    for a, b in pairwise(edges.tolist()):
        if time[min(b, len(time) - 1)] - time[a] < SHORTEST_CONTACT:
            out[a:b] = not out[a]
    return out
