"""Foot contacts of a gait: contact points over time, support polygon and ZMP.

A foot is in stance from initial contact to toe-off. Support polygons and contact schedules use different points of a
foot in stance:

- the support polygon is the hull of the whole sole and the tip of the toes, also while the foot rolls, for a simulated
  motion as for its reference. Force plates confirm this: in two trials of one subject the center of pressure was inside
  this hull in all 82 frames with the whole weight on one foot, but in only 62 and 67 % of them inside the hull of the
  points less than 2 cm above the lowest one;
- in a contact schedule, which says where a controller may apply forces, only the points near the ground are active.
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
from poise.robots import SIDES, Foot, Robot, Side, State, contact_points, other_side
from poise.state import Contact, Snapshot, zmp


@dataclass(frozen=True, eq=False)
class SupportTrajectory:
    """Foot points, center of mass, ZMP and support of a motion at n times.

    Attributes:
        foot_points: positions of the points under the feet, in the order of `ReferenceWalk.foot_points`, n x 8 x 3, m.
        center_of_mass: n x 3, m.
        zmp: zero-moment point, n x 2, m.
        support_polygons: support polygon at each time, (k, 2), m.
    """

    foot_points: Array
    center_of_mass: Array
    zmp: Array
    support_polygons: list[Array]

    def point(self, side: Side, name: str) -> Array:
        """Return the positions of one point, n x 3, m: ``trajectory.point("left", "heel")``."""
        return self.foot_points[:, len(FOOT_POINTS) * SIDES.index(side) + FOOT_POINTS.index(name)]


def support_trajectory(
    reference: ReferenceWalk, cycle: GaitCycle, time: Array, q: Array, v: Array, a: Array, ground: float
) -> SupportTrajectory:
    """Compute foot points, center of mass, ZMP and support polygons of a motion at n times of a cycle.

    Args:
        reference: defines the body and its foot points.
        cycle: defines the stance of each foot.
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
        # This also computes all joint placements, which the frames below need.
        pinocchio.computeCentroidalMomentumTimeVariation(model, data, q[k], v[k], a[k])
        center[k], rate[k] = data.com[0], data.dhg.vector
        for i, point in enumerate(reference.foot_points):
            points[k, i] = pinocchio.updateFramePlacement(model, data, point.index).translation
        for i, side in enumerate(SIDES):
            foot = robot.foot(side)
            pose = pinocchio.updateFramePlacement(model, data, foot.index)
            soles[k, i, :4] = contact_points(foot, pose.rotation, pose.translation)
            soles[k, i, 4] = points[k, len(FOOT_POINTS) * i + FOOT_POINTS.index("toe_tip")]
    zmp_positions = zmp(center, rate[:, :3] / robot.mass, rate[:, 3:], robot.mass, ground)
    touching = np.repeat(np.column_stack([stance_mask(cycle, side, time) for side in SIDES]), 5, axis=1)
    return SupportTrajectory(points, center, zmp_positions, support_polygons(soles.reshape(len(q), -1, 3), touching))


def stance_mask(cycle: GaitCycle, side: Side, time: Array) -> Mask:
    """Return whether a foot is in stance at n times (s), by the phases of a cycle."""
    if side == cycle.side:
        return time < cycle.toe_off
    return (time < cycle.opposite_toe_off) | (time >= cycle.opposite_initial_contact)


def single_support_mask(cycle: GaitCycle, side: Side, time: Array) -> Mask:
    """Return whether a foot is in single support at n times (s)."""
    other = other_side(side)
    return stance_mask(cycle, side, time) & ~stance_mask(cycle, other, time)


# -- Contact schedule --------------------------------------------------------------------------------------------------


#: A sole corner is in contact while it is less than this above its lowest position (m): soles of a scaled model are up
#: to 2 cm off the floor, and shoes bend.
CONTACT_HEIGHT = 0.03
#: Shortest contact (s); shorter ones are noise of the inverse kinematics.
SHORTEST_CONTACT = 0.03


@dataclass(frozen=True)
class ContactSchedule:
    """Contact schedule of a walk.

    Attributes:
        contacts: all contacts: corners of both soles, and the tips of the toes.
        time: n, s.
        active: mask of the contacts that may bear load at each time, n x contacts.
    """

    contacts: tuple[Contact, ...]
    time: Array
    active: NDArray[np.bool_]

    def active_contacts(self, time: float) -> tuple[Contact, ...]:
        """Return the active contacts at a time (s); outside the schedule those of its first or last time."""
        k = min(max(int(np.searchsorted(self.time, time + 1e-9, "right")) - 1, 0), len(self.time) - 1)
        return self._select(self.active[k])

    def contact_sets(self) -> list[tuple[Contact, ...]]:
        """Return all distinct sets of simultaneous contacts."""
        return [self._select(row) for row in np.unique(self.active, axis=0)]

    def _select(self, row: NDArray[np.bool_]) -> tuple[Contact, ...]:
        return tuple(contact for contact, active in zip(self.contacts, row, strict=True) if active)


def detect_contact_schedule(reference: ReferenceWalk, toes: bool = True) -> ContactSchedule:
    """Detect when the corners of the soles and the tips of the toes are on the ground.

    A foot is in stance from initial contact to toe-off, by the events of the reference. Its active contacts are the
    points less than `CONTACT_HEIGHT` above their lowest positions in stance. Both corners of the heel are active
    together, and both of the ball, because feet roll forward; in stance at least one of these pairs is active.

    Args:
        reference: the walk.
        toes: whether the tips of the toes are contacts; the foot in MuJoCo has no toe contact.
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
        without_contact = stance & ~active[:, heel + ball].any(axis=1)
        lower = heights[:, heel].mean(axis=1) < heights[:, ball].mean(axis=1)
        for pair, lower_pair in ((heel, lower), (ball, ~lower)):
            for i in pair:
                active[:, i] |= without_contact & lower_pair
    return ContactSchedule(tuple(contacts), reference.time, active)


def _sole_edges(foot: Foot) -> dict[str, Array]:
    """Return the sole corners at the heel and at the ball."""
    corners = foot.corners
    back = corners[:, 0] < corners[:, 0].mean()
    return {"heel": corners[back], "ball": corners[~back]}


def _contact_heights(reference: ReferenceWalk, contacts: list[Contact]) -> Array:
    """Compute the height of each contact point over time (n x contacts, m, world z)."""
    robot: Robot = reference.robot
    snapshot = Snapshot(robot)
    heights = np.empty((len(reference.time), len(contacts)))
    for k, q in enumerate(reference.q):
        snapshot.at(State(robot, q))
        for i, contact in enumerate(contacts):
            pose = snapshot.pose(contact.frame)
            heights[k, i] = (pose.rotation @ contact.corners[0] + pose.translation)[2]
    return heights


def _reference_stance(reference: ReferenceWalk, side: Side) -> NDArray[np.bool_]:
    """Return the stance of a foot from its events; before the first event it is the phase that this event ends."""
    events = sorted((event for event in reference.events if event.side == side), key=lambda event: event.time)
    stance = np.zeros(len(reference.time), dtype=bool)
    if not events:
        return ~stance
    stance[:] = events[0].kind == "toe_off"
    for event in events:
        stance[reference.time >= event.time - 1e-9] = event.kind == "initial_contact"
    return stance


def _remove_short_contacts(mask: NDArray[np.bool_], time: Array) -> NDArray[np.bool_]:
    """Remove contacts shorter than `SHORTEST_CONTACT`, and fill interruptions shorter than that."""
    out = mask.copy()
    edges = np.flatnonzero(np.diff(out.astype(int))) + 1
    for a, b in pairwise(edges.tolist()):
        if time[min(b, len(time) - 1)] - time[a] < SHORTEST_CONTACT:
            out[a:b] = not out[a]
    return out
