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

from poise.analysis import GaitCycle, support_hulls
from poise.arrays import Array, Mask
from poise.human.gait.reference_walk import POINTS, Reference
from poise.plants import FLOOR_FRICTION
from poise.robots import SIDES, Foot, Robot, Side, State, other_side
from poise.state import Contact, Snapshot, zmp


@dataclass(frozen=True, eq=False)
class Contacts:
    """n moments of a motion.

    Attributes:
        points: places of the points under the feet, in the order of `Reference.points`, n x 8 x 3, m.
        center: of mass, n x 3, m.
        zmp: zero-moment point, n x 2, m.
        hulls: support polygon of each moment, (k, 2), m.
    """

    points: Array
    center: Array
    zmp: Array
    hulls: list[Array]

    def point(self, side: Side, name: str) -> Array:
        """Places of one point, n x 3, m: ``contacts.point("left", "heel")``."""
        return self.points[:, len(POINTS) * SIDES.index(side) + POINTS.index(name)]


def contacts(
    reference: Reference, cycle: GaitCycle, time: Array, q: Array, v: Array, a: Array, ground: float
) -> Contacts:
    """Works out the contacts of a motion at n times of a cycle.

    Args:
        reference: whose body and points.
        cycle: says which foot stands when.
        time, q, v, a: the motion; n (s), n x nq, n x nv, n x nv.
        ground: height of the ground, m.
    """
    robot = reference.robot
    model, data = robot.model, robot.model.createData()
    points, center, rate = np.empty((len(q), len(reference.points), 3)), np.empty((len(q), 3)), np.empty((len(q), 6))
    soles = np.empty((len(q), len(SIDES), 5, 3))
    for k in range(len(q)):
        # Places every joint, too: the frames below are those of this posture.
        pinocchio.computeCentroidalMomentumTimeVariation(model, data, q[k], v[k], a[k])
        center[k], rate[k] = data.com[0], data.dhg.vector
        for i, point in enumerate(reference.points):
            points[k, i] = pinocchio.updateFramePlacement(model, data, point.index).translation
        for i, side in enumerate(SIDES):
            foot = robot.foot(side)
            pose = pinocchio.updateFramePlacement(model, data, foot.index)
            soles[k, i, :4] = foot.corners @ pose.rotation.T + pose.translation
            soles[k, i, 4] = points[k, len(POINTS) * i + POINTS.index("toe_tip")]
    push = zmp(center, rate[:, :3] / robot.mass, rate[:, 3:], robot.mass, ground)
    touching = np.repeat(np.column_stack([standing(cycle, side, time) for side in SIDES]), 5, axis=1)
    return Contacts(points, center, push, support_hulls(soles.reshape(len(q), -1, 3), touching))


def standing(cycle: GaitCycle, side: Side, time: Array) -> Mask:
    """When a foot stands, by the phases of a cycle, at n times (s)."""
    if side == cycle.side:
        return time < cycle.toe_off
    return (time < cycle.opposite_toe_off) | (time >= cycle.opposite_initial_contact)


def alone(cycle: GaitCycle, side: Side, time: Array) -> Mask:
    """When a foot stands and the other one swings, at n times (s)."""
    other = other_side(side)
    return standing(cycle, side, time) & ~standing(cycle, other, time)


# -- Bearing ---------------------------------------------------------------------------------------------------------


#: A corner of a sole bears weight while it is less than this above its lowest place (m): soles of a fitted body are
#: off the floor by up to 2 cm, and shoes bend.
NEAR = 0.03
#: A contact that lasts for less than this (s) is noise of the fit.
SHORTEST = 0.03


@dataclass(frozen=True)
class Bearing:
    """The contacts of a walk over time.

    Attributes:
        contacts: all of them: corners of both soles, and the tips of the toes.
        time: n, s.
        bears: which bear weight at each time, n x contacts.
    """

    contacts: tuple[Contact, ...]
    time: Array
    bears: NDArray[np.bool_]

    def at(self, time: float) -> tuple[Contact, ...]:
        """Those that bear weight at a time; all of the last known before and after it."""
        k = min(max(int(np.searchsorted(self.time, time + 1e-9, "right")) - 1, 0), len(self.time) - 1)
        return self._those(self.bears[k])

    def sets(self) -> list[tuple[Contact, ...]]:
        """All different sets of contacts that ever bear together."""
        return [self._those(row) for row in np.unique(self.bears, axis=0)]

    def _those(self, row: NDArray[np.bool_]) -> tuple[Contact, ...]:
        return tuple(contact for contact, bears in zip(self.contacts, row, strict=True) if bears)


def bearing(reference: Reference, toes: bool = True) -> Bearing:
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
        for name, corners in _edges(foot).items():
            for k, corner in enumerate(corners):
                contacts.append(
                    Contact(foot, corners=[corner], friction=FLOOR_FRICTION, name=f"{foot.side} {name} {k + 1}")
                )
        if toes:
            contacts.append(
                Contact(robot.frame(f"{foot.side}_toe_tip"), friction=FLOOR_FRICTION, name=f"{foot.side} toes")
            )
    heights = _heights(reference, contacts)
    bears = np.zeros((len(reference.time), len(contacts)), dtype=bool)
    for side in SIDES:
        stands = _stands(reference, side)
        mine = [i for i, contact in enumerate(contacts) if contact.name.startswith(side)]
        heel, ball = ([i for i in mine if word in contacts[i].name] for word in ("heel", "ball"))
        for pair in (heel, ball, [i for i in mine if i not in heel + ball]):
            low = heights[:, pair].mean(axis=1) if pair else np.zeros(0)
            for i in pair:
                bears[:, i] = stands & _steady(low < low[stands].min() + NEAR, reference.time)
        none = stands & ~bears[:, heel + ball].any(axis=1)
        lower = heights[:, heel].mean(axis=1) < heights[:, ball].mean(axis=1)
        for pair, which in ((heel, lower), (ball, ~lower)):
            for i in pair:
                bears[:, i] |= none & which
    return Bearing(tuple(contacts), reference.time, bears)


def _edges(foot: Foot) -> dict[str, Array]:
    """Corners of a sole by its ends."""
    corners = foot.corners
    back = corners[:, 0] < corners[:, 0].mean()
    return {"heel": corners[back], "ball": corners[~back]}


def _heights(reference: Reference, contacts: list[Contact]) -> Array:
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


def _stands(reference: Reference, side: Side) -> NDArray[np.bool_]:
    """Between strikes and toe-offs; before the first event and after the last as those say."""
    events = sorted((event for event in reference.events if event.side == side), key=lambda event: event.time)
    stands = np.zeros(len(reference.time), dtype=bool)
    if not events:
        return ~stands
    stands[:] = events[0].kind == "off"
    for event in events:
        stands[reference.time >= event.time - 1e-9] = event.kind == "strike"
    return stands


def _steady(marks: NDArray[np.bool_], time: Array) -> NDArray[np.bool_]:
    """The same without what lasts less than `SHORTEST`."""
    out = marks.copy()
    edges = np.flatnonzero(np.diff(out.astype(int))) + 1
    for a, b in pairwise(edges.tolist()):
        if time[min(b, len(time) - 1)] - time[a] < SHORTEST:
            out[a:b] = not out[a]
    return out
