"""TorqueController: the same hierarchies with accelerations, torques and contact forces."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from poise.control.command import Command
from poise.control.controller import Groups, HierarchyController
from poise.control.hold import DampedHold
from poise.control.physics import POSSIBLE, Physical, physics, planned_contacts
from poise.errors import PoiseError
from poise.hierarchy import Behavior, Hierarchy
from poise.robots import Frame, Robot
from poise.solvers import Lexicographic, Solution, Weighted
from poise.state import Contact, Snapshot, State
from poise.tasks import ACCELERATION, ForceUnknowns, Layout

Array = NDArray[np.float64]

#: A force lies inside its cone if it is no further out than this share of the weight: the weighted solution is exact
#: to 1e-6 of the largest unknown.
INSIDE = 1e-4
#: A contact is sought when it was missed for so long, s: three ticks at 500 Hz, so that one lost sample moves no foot.
SEEK_AFTER = 0.006
#: It counts as lost after so long, s, unless the behavior or the user says otherwise.
LOST_AFTER = 0.05
#: A contact bears a force worth missing above this share of the weight.
BEARING = 0.05


class TorqueController(HierarchyController):
    """Moves a robot by torques: the levels of a hierarchy under the equation of motion and its contacts.

    The unknowns are accelerations and contact forces, ``x = (v̇, y)``; torques follow, ``τ = M_a v̇ + h_a - Σ J_caᵀ φ_c``
    ([Saab2012] eq. 9). The hierarchy is the one of a `KinematicController`. Its contacts are those that its tasks speak
    of (`constraints.RigidContact`, ...), or else the `contacts` of the state. Above `always` stands a level "physics"
    with the equation of motion, torque limits and what contacts can bear, as far as the hierarchy does not give these
    a place itself. It can always hold, so nothing that a user asks for contradicts physics.

    **Safety.** Every call returns finite torques within their limits. When the strict solution is not to be had in the
    solver's budget, its best point so far is taken if physics allows it; else the weighted solution of the same
    levels; else a damped hold. `Command.fallback` names what was used and why, and a contact that is lost.

    Args:
        behavior: a Hierarchy, or a function of the snapshot that returns one.
        solver: `Lexicographic()` if None, strict; or `Weighted()`, for which "physics" and `always` are one hard level.
        period: seconds between two calls.
        ramp: seconds in which the command passes from one hierarchy to the next; levels that both begin with stay
            exact. None: as the behavior has it, else 0.2.
        lost_after: seconds after which a contact that the state does not report any more is counted as lost: no force
            is planned there until it is back. Infinite: contacts are as planned, whatever is measured. None: as the
            behavior has it, else 0.05.

    >>> controller = poise.TorqueController(hierarchy)
    >>> command = controller.step(plant.state())
    >>> command.torque, command.forces.total
    """

    def __init__(
        self,
        behavior: Behavior,
        solver: object = None,
        period: float = 0.002,
        ramp: float | None = None,
        lost_after: float | None = None,
    ) -> None:
        lost_after = getattr(behavior, "lost_after", LOST_AFTER) if lost_after is None else lost_after
        if not (isinstance(lost_after, (int, float)) and lost_after >= 0.0):
            raise PoiseError(f"lost_after is {lost_after!r}; expected seconds, zero or more")
        self.lost_after = float(lost_after)
        super().__init__(behavior, solver, period, ramp)
        self._merges = type(self.solver) is not Lexicographic

    def reset(self) -> None:
        super().reset()
        self._forces: ForceUnknowns | None = None
        self._fallback = Weighted()

    # -- what the unknowns are -------------------------------------------------------------------------------------

    def _start(self, robot: Robot) -> None:
        super()._start(robot)
        nv = robot.model.nv
        self._last = np.zeros(nv)
        self._limit: Array = np.array(robot.limits.torque)
        self._least = POSSIBLE * robot.mass * float(np.linalg.norm(robot.model.gravity.linear))
        self._torque: Array = np.zeros(nv - 6)
        self._damped_hold: DampedHold | None = None
        self._missing: dict[Contact, float] = {}
        #: The contacts of the last state, if all that are planned were among them: such need no second look.
        self._touching: tuple[Frame, ...] | None = None
        self._bearing = BEARING * float(np.linalg.norm(robot.model.gravity.linear))  # in the unit of the unknowns

    def _layout_for(self, hierarchy: Hierarchy, state: State) -> Layout:
        contacts = planned_contacts(hierarchy) or tuple(Contact(part) for part in state.contacts)
        forces, nv = ForceUnknowns(self._snapshot, contacts), state.robot.model.nv
        return Layout(ACCELERATION, self.period, nv, nv + forces.size, forces)

    def _groups(self, hierarchy: Hierarchy, layout: Layout) -> tuple[Groups, tuple[float, ...]]:
        assert layout.forces is not None
        tasks = physics(hierarchy, self._snapshot.robot, layout.forces.contacts)
        (_, always), *levels = hierarchy.groups()
        if self._merges:
            return [("always", [*tasks, *always]), *levels], hierarchy.damping()
        return [("physics", tasks), ("always", always), *levels], (0.0, *hierarchy.damping())

    def _bind(self, hierarchy: Hierarchy, state: State) -> Physical:
        bound = super()._bind(hierarchy, state)
        count = len(bound.groups[0][1]) - (len(hierarchy.always) if self._merges else 0)
        return Physical(bound, count, self._limit, self._least)

    def _binding(self, hierarchy: Hierarchy, state: State) -> Physical:
        if not planned_contacts(hierarchy):  # it takes the contacts of the state, which may be others than last time
            self._bindings.pop(hierarchy, None)
        bound: Physical = super()._binding(hierarchy, state)
        return bound

    def _enter(self, bound: Physical) -> None:
        super()._enter(bound)
        old, new, nv = self._forces, bound.forces, self._snapshot.model.nv
        self._decide, self._physical = bound.decide, bound.physical
        if new is old:
            return
        last = np.zeros(nv + new.size)
        last[:nv] = self._last[:nv]
        before: dict[Contact, slice] = {} if old is None else old.spans
        new.present[:], new.sought[:] = 1.0, 0.0
        for i, contact in enumerate(new.contacts):
            if old is not None and contact in before:
                last[new.spans[contact]] = self._last[before[contact]]
                j = old.contacts.index(contact)
                new.present[i], new.sought[i] = old.present[j], old.sought[j]
        self._missing = {contact: since for contact, since in self._missing.items() if contact in new.spans}
        self._forces, self._last, self._touching = new, last, None

    def _passing(self, common: int, state: State) -> None:
        # From nothing to the first hierarchy there is nothing to keep, and balance cannot wait.
        if common >= 0:
            super()._passing(common, state)

    def _recover(self, state: State) -> None:
        self._holding = False

    # -- one tick --------------------------------------------------------------------------------------------------

    def _solved(self, state: State) -> Command:
        forces, again = self._forces, state.contacts is self._touching
        if not again and forces is not None and forces.size == len(self._last) - self._snapshot.model.nv:
            self._look_at_contacts(state, forces)
            every = all(contact.frame in state.contacts for contact in forces.contacts)
            self._touching = state.contacts if every else None
        return super()._solved(state)

    def _look_at_contacts(self, state: State, forces: ForceUnknowns) -> None:
        """Seeks a contact that should bear a force and is not reported; after a while it counts as lost.

        One that need not bear any may well hover unnoticed, and bears again when it must.
        """
        for i, contact in enumerate(forces.contacts):
            if contact.frame in state.contacts:
                self._missing.pop(contact, None)
                forces.present[i], forces.sought[i] = 1.0, 0.0
            elif forces.present[i]:
                if contact.normal_row @ self._last[forces.spans[contact]] < self._bearing:
                    self._missing.pop(contact, None)
                    forces.sought[i] = 0.0
                else:
                    since = self._missing.setdefault(contact, state.time)
                    forces.sought[i] = float(state.time - since >= SEEK_AFTER)
                    forces.present[i] = float(state.time - since < self.lost_after)

    def _decided(self, solution: Solution, state: State) -> Command:
        x = solution.x if self._transition is None else self._blended(solution.x, state)
        why = "" if solution.status == "optimal" else f"{solution.status}: {solution.solver}"
        torque, velocity = np.empty(len(self._limit)), np.empty(len(state.v))
        # Whether the base obeys its equation and the torques their limits; they are clipped by less than POSSIBLE.
        possible = self._decide(x, state.v, torque, velocity)
        if not possible or (why and not self._bearable(x, solution)):
            reason = why or "physics does not allow the solution"
            solution = self._fallback.solve(solution.program)
            x, why = solution.x, f"weighted: {reason}"
            if not (self._decide(x, state.v, torque, velocity) and self._bearable(x, solution)):
                return self._hold(f"hold: {reason}", self._snapshot)
        forces = self._forces
        assert forces is not None
        if self._touching is None and not (why or forces.present.all()):
            names = zip(forces.names, forces.present, strict=True)
            why = f"contact lost: {', '.join(name for name, there in names if not there)}"
        self._last = x
        self._torque, self._damped_hold = torque, None
        acceleration = x[: len(velocity)]
        return Command(velocity, acceleration, torque, self.period, solution, why, self._tasks, forces.forces(x))

    def _bearable(self, x: Array, solution: Solution) -> bool:
        """Whether the forces lie inside what contacts can bear; an optimal strict solution needs no such look."""
        slack = solution.program.slack(x)[self._physical]
        return bool(np.abs(slack).max(initial=0.0) <= INSIDE / POSSIBLE * self._least)

    def _hold(self, reason: str, snapshot: Snapshot | None) -> Command:
        self._holding = True
        self._transition = None
        self._torque = torque = self._held(snapshot)
        nv = self._snapshot.model.nv
        self._last = np.concatenate([np.zeros(nv), self._last[nv:]])
        return Command(np.zeros(nv), np.zeros(nv), torque, self.period, None, reason)

    def _held(self, snapshot: Snapshot | None) -> Array:
        """Torques that keep the body where it is; those before where that is not known."""
        if snapshot is None or snapshot.state is None or not snapshot.finite:
            return self._torque
        try:
            if self._damped_hold is None:
                planned = () if self._forces is None else self._forces.contacts
                self._damped_hold = DampedHold(snapshot, planned, self.period)
            torque = np.clip(self._damped_hold.torque(snapshot.state), -self._limit, self._limit)
        except Exception:  # there is nothing left to fall back to but what was
            return self._torque
        return torque if np.isfinite(torque).all() else self._torque
