"""DampedHold: a body that stays as it is when no solution is to be had."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from poise.constraints import EquationOfMotion, RigidContact, TorqueLimit, contact_constraints
from poise.robots import State
from poise.solvers import Lexicographic
from poise.state import Contact, Snapshot
from poise.tasks import ACCELERATION, Assembly, CenterOfMass, Decay, ForceUnknowns, Layout, Orientation, Posture, Task

Array = NDArray[np.float64]

#: How fast motion and deviations die out, 1/s: within half a second. A body on its ankles falls with √(g / height), 3
#: to 4 per second on the library robots, which this outruns.
RATE = 6.0


class DampedHold:
    """Torques that keep a body where it was when the hold began: contacts, centre of mass, orientation, posture.

    It is a small hierarchy of its own, with nothing in it that a user wrote, under the same physics as any other:
    contacts that the state reports do not move, the centre of mass comes to rest, then base and joints do. Errors
    vanish critically damped, ``v̇ = -ω² e - 2 ω ė``. In the air there is only the posture to keep.

    Args:
        snapshot: at the state in which the hold begins, which is finite.
        planned: contacts with their friction and way of writing forces, for those that touch.
        period: seconds between two calls.
    """

    def __init__(self, snapshot: Snapshot, planned: Sequence[Contact], period: float) -> None:
        robot, state = snapshot.robot, snapshot.state
        assert state is not None
        known = {contact.frame: contact for contact in planned}
        contacts = tuple(known.get(part) or Contact(part) for part in state.contacts)
        self.forces = ForceUnknowns(snapshot, contacts)
        decay = Decay(RATE)
        physics: list[Task] = [EquationOfMotion(), TorqueLimit(robot)]
        physics += [task for contact in contacts for task in contact_constraints(contact)]
        levels: list[tuple[str, list[Task]]] = [("physics", physics)]
        posture: list[Task] = [Posture(state, reference=decay)]
        if contacts:
            base = robot.frame(robot.model.names[1])
            levels += [
                ("contact", [RigidContact(contact) for contact in contacts]),
                ("balance", [CenterOfMass(state.center_of_mass, reference=decay)]),
            ]
            posture.append(Orientation(base, state.pose(base).rotation, reference=decay))
        nv = robot.model.nv
        layout = Layout(ACCELERATION, period, nv, nv + self.forces.size, self.forces)
        self._assembly = Assembly(snapshot, [*levels, ("posture", posture)], layout)
        self._solver = Lexicographic()
        self._generalised: Array = np.zeros(nv)

    def torque(self, state: State) -> Array:
        """The joint torques for the state that the snapshot is at (N m)."""
        for i, contact in enumerate(self.forces.contacts):
            self.forces.present[i] = float(contact.frame in state.contacts)
        self._assembly.write()
        x = self._solver.solve(self._assembly.stack.program()).x
        return self.forces.generalised(x, self._generalised)[6:].copy()
