"""Treading: a measured walk as a behavior with torques and contact forces, the next step that [Boukheddimi2019] names.

The order is that of the gait from tasks, under physics:

    physics   equation of motion, torque limits, friction under the points that bear weight
    always    ranges of the joints
    heels     x, y and z of both
    center of mass, angular momentum, posture: as the reference has them
    effort    least torques, as shares of what joints can give: it divides the weight between two feet

Points that bear weight push; that they do not slide is left to the heels, whose reference stands still. So feet roll
from heel to ball as they did. On a real ground a walk that is only followed falls: errors of the divergent component
``ξ = c + ċ / ω`` of the center of mass c, with ``ω = sqrt(g / c_z)``, grow with ω. A walk that `adapts` sets each foot
down farther by the error of ξ, and goes on from where that foot is.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from poise import constraints, tasks
from poise.hierarchy import Hierarchy, Level
from poise.human.dynamic.bearing import Bearing
from poise.human.dynamic.cone import UprightCone
from poise.human.gait import Reference
from poise.human.gait.levels import FOLLOWING, Spin
from poise.human.gait.paths import Ahead
from poise.human.gait.reference import Moment
from poise.robots.parts import SIDES, Side
from poise.state import Contact, Snapshot
from poise.state.balance import GRAVITY
from poise.tasks import Target

Array = NDArray[np.float64]

#: How much of the error of the divergent component a step makes good.
STEP = 1.0
#: The way of a foot is not changed any more so long before it stands (s), and never by more (m).
LATE, FARTHEST = 0.05, 0.25
#: A foot that has landed elsewhere draws the rest of the reference after it within about this time (s).
DRAWN = 0.15


class Treading:
    """The hierarchy of each moment of a walk; for a `TorqueController`.

    Args:
        reference: what is followed, on its own clock.
        bearing: which points bear when.
        period: of the controller, s.
        posture: what the posture follows; by default the reference itself, else the path of a variant.
        adapts: whether feet are set down where the fall leads to, which physics need.
    """

    #: Contacts are as planned; what the ground says to a foot that rolls is no reason to give up.
    lost_after = float("inf")
    ramp = 0.0

    def __init__(
        self,
        reference: Reference,
        bearing: Bearing,
        period: float,
        posture: Target | None = None,
        adapts: bool = False,
    ) -> None:
        self.reference, self.bearing, self.period, self.adapts = reference, bearing, period, adapts
        robot, decay = reference.robot, tasks.Decay(FOLLOWING)
        #: Where the walk is from where it was measured (m): of each foot, and of the rest.
        self.feet = {side: np.zeros(3) for side in SIDES}
        self.rest = np.zeros(3)
        heels = [
            tasks.Position(reference.heels[side], Ahead(_Shifted(self, _heel(side), side), period), reference=decay)
            for side in SIDES
        ]
        center = Ahead(_Shifted(self, lambda moment: moment.center, None), period)
        whole = Ahead(_Moved(self, posture or reference), period)
        self._always = [constraints.JointRange(robot)]
        self._levels = [
            Level("heels", heels),
            Level("center of mass", [tasks.CenterOfMass(center, reference=decay)]),
            Level("angular momentum", [tasks.AngularMomentum(Spin(reference, period), reference=decay)]),
            Level("posture", [tasks.Configuration(whole, reference=decay, name="posture")]),
            Level("effort", [tasks.JointTorque(weight=robot.limits.torque**-2)]),
        ]
        self._made = {_names(contacts): self._hierarchy(contacts) for contacts in bearing.sets()}

    def __call__(self, snapshot: Snapshot) -> Hierarchy:
        contacts = self.bearing.at(snapshot.time)
        if self.adapts:
            self._adapt(snapshot, {side for side in SIDES if any(c.name.startswith(side) for c in contacts)})
        return self._made[_names(contacts)]

    def _hierarchy(self, contacts: Sequence[Contact]) -> Hierarchy:
        return Hierarchy([*self._always, *(UprightCone(contact) for contact in contacts)], self._levels)

    def _adapt(self, snapshot: Snapshot, standing: set[Side]) -> None:
        moment = self.reference.at(snapshot.time)
        center, rate = snapshot.center_of_mass, snapshot.center_of_mass_velocity
        omega = math.sqrt(GRAVITY / max(float(moment.center[0][2]), 0.1))
        error = (center - moment.center[0]) + (rate - moment.center[1]) / omega
        error[2] = 0.0
        soon = {c.name.split()[0] for c in self.bearing.at(snapshot.time + LATE)}
        for side in SIDES:
            if side not in standing and side not in soon:
                wanted = STEP * (error - self.rest) + self.rest
                size = float(np.linalg.norm(wanted))
                self.feet[side] = wanted * min(1.0, FARTHEST / size) if size > 0.0 else wanted
        goal = np.mean([self.feet[side] for side in (standing or SIDES)], axis=0)
        self.rest += self.period / DRAWN * (goal - self.rest)


class _Shifted:
    """A part of the reference, shifted as a foot or the rest is."""

    def __init__(
        self, treading: Treading, part: Callable[[Moment], tuple[Array, Array, Array]], side: Side | None
    ) -> None:
        self.treading, self.part, self.side = treading, part, side

    def sample(self, time: float) -> tuple[Array, Array, Array]:
        value, rate, acceleration = self.part(self.treading.reference.at(time))
        shift = self.treading.rest if self.side is None else self.treading.feet[self.side]
        return value + shift, rate, acceleration


class _Moved:
    """A configuration, shifted as the rest is."""

    def __init__(self, treading: Treading, motion: Target) -> None:
        self.treading, self.motion = treading, motion

    def sample(self, time: float) -> tuple[Array, Array, Array]:
        q, v, a = self.motion.sample(time)
        if not self.treading.rest.any():
            return q, v, a
        moved = np.array(q)
        moved[:3] += self.treading.rest
        return moved, v, a


def _names(contacts: Sequence[Contact]) -> tuple[str, ...]:
    return tuple(contact.name for contact in contacts)


def _heel(side: Side) -> Callable[[Moment], tuple[Array, Array, Array]]:
    return lambda moment: moment.heels[side]
