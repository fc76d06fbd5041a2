"""Torque controller: solves a hierarchy under the equation of motion, with contact forces among the unknowns."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from poise.arrays import Array
from poise.constraints import (
    EquationOfMotion,
    FrictionCone,
    NormalForces,
    PlanarContact,
    RigidContact,
    TorqueLimit,
    WrenchCone,
    contact_constraints,
)
from poise.control.command import Command
from poise.control.delay_compensation import DelayCompensation
from poise.control.friction_estimate import FrictionEstimate
from poise.control.hierarchy_controller import BoundHierarchy, Groups, HierarchyController
from poise.control.load_estimate import LoadEstimate
from poise.errors import PoiseError
from poise.hierarchy import Behavior, BehaviorLike, Hierarchy
from poise.robots import Frame, Robot, State
from poise.solvers import Lexicographic, Solution, Solver, Weighted
from poise.state import DYNAMICS, Contact, SensorReadings, Snapshot, _motion
from poise.tasks import (
    ACCELERATION,
    Assembly,
    CenterOfMass,
    Decay,
    ForceUnknowns,
    Orientation,
    Posture,
    Task,
    VariableLayout,
)

#: Tolerance of a feasible solution: excess of torques relative to their limits, and residual of the equation of the
#: base relative to the weight. Solutions are exact to 1e-9; a larger residual means that a constraint was violated.
FEASIBILITY_TOLERANCE = 1e-6
CONE_CONSTRAINTS = (FrictionCone, NormalForces, PlanarContact, WrenchCone)


class BoundDynamics(BoundHierarchy):
    """A hierarchy bound under the equation of motion.

    Args:
        bound: the bound hierarchy; its first tasks are those of physics.
        count: number of physics tasks.
        torque_limit: torque limits of the joints (N m).
        force_tolerance: tolerance of the equation of the base (N, N m).

    Attributes:
        forces: force unknowns of its contacts.
        compute_command: computes torques and velocities of a solution, and returns whether it is feasible.
        physics_rows: slice of the rows of physics tasks.
    """

    def __init__(self, bound: BoundHierarchy, count: int, torque_limit: Array, force_tolerance: float) -> None:
        super().__init__(bound.assembly, bound.layout, bound.groups, bound.damping)
        data, forces = bound.assembly.snapshot.data, bound.layout.forces
        assert forces is not None
        self.forces = forces
        self.compute_command: Callable[[Array, Array, Array, Array], bool] = _motion.TorqueCommand(
            data.M,
            data.nle,
            forces.force_jacobian,
            np.zeros(len(data.nle)),
            torque_limit,
            force_tolerance,
            FEASIBILITY_TOLERANCE,
            bound.layout.period,
        ).compute
        blocks = bound.assembly.stack.blocks[:count]
        self.physics_rows = slice(0, blocks[-1].rows.stop if blocks else 0)


def planned_contacts(hierarchy: Hierarchy) -> tuple[Contact, ...]:
    """Return the contacts that the tasks of a hierarchy refer to, each once.

    Raises:
        PoiseError: two different contacts have the same name.
    """
    contacts: dict[str, Contact] = {}
    for task in hierarchy.tasks:
        for contact in task.contacts():
            other = contacts.setdefault(contact.name, contact)
            if other != contact:
                raise PoiseError(
                    f"two different contacts are named '{contact.name}'; build one Contact and use it in all tasks, "
                    "or give each its own name"
                )
    return tuple(contacts.values())


def physics_tasks(hierarchy: Hierarchy, robot: Robot, contacts: Sequence[Contact]) -> list[Task]:
    """Return the constraints of physics that the hierarchy does not contain; the torque limits are always included."""
    tasks = hierarchy.tasks
    # Always: a torque limit in the hierarchy may be for some joints only, or on a lower level.
    added: list[Task] = [TorqueLimit(robot)]
    if not any(isinstance(task, EquationOfMotion) for task in tasks):
        added.insert(0, EquationOfMotion())
    for contact in contacts:
        named = [task for task in tasks if isinstance(task, CONE_CONSTRAINTS) and task.contact == contact]
        if not named:
            added += contact_constraints(contact)
        elif not any(isinstance(task, NormalForces) for task in named):
            added.append(NormalForces(contact))
    return added


# -- DampedHold ------------------------------------------------------------------------------------------------------


#: Rate at which motion and deviations decay during a hold, 1/s: within half a second. It is faster than the fall of a
#: body about its ankles, √(g / height), which is 3 to 4 per second for the robots of the library.
HOLD_RATE = 6.0


class DampedHold:
    """Torques that hold contacts, center of mass, orientation and posture as they were when the hold began.

    It solves a small fixed hierarchy, without tasks of the user, under the same physics as any other: measured
    contacts do not move, the center of mass comes to rest, then base and joints do. Errors decay with critical damping,
    ``v̇ = -ω² e - 2 ω ė``. Without contacts only the posture is held.

    Args:
        snapshot: snapshot at the state in which the hold begins, which has to be finite.
        planned: planned contacts, whose friction and force parametrisation are used for the measured contacts.
        period: sampling period (s).
        budget: processor time of a solve (s); None: no limit.
    """

    def __init__(
        self, snapshot: Snapshot, planned: Sequence[Contact], period: float, budget: float | None = None
    ) -> None:
        robot, state = snapshot.robot, snapshot.state
        assert state is not None
        known = {contact.frame: contact for contact in planned}
        contacts = tuple(known.get(part) or Contact(part) for part in state.contacts)
        self.forces = ForceUnknowns(snapshot, contacts)
        decay = Decay(HOLD_RATE)
        physics_tasks: list[Task] = [EquationOfMotion(), TorqueLimit(robot)]
        physics_tasks += [task for contact in contacts for task in contact_constraints(contact)]
        levels: list[tuple[str, list[Task]]] = [("physics", physics_tasks)]
        posture: list[Task] = [Posture(state, dynamics=decay)]
        if contacts:
            base = robot.frame(robot.model.names[1])
            levels += [
                ("contact", [RigidContact(contact) for contact in contacts]),
                ("balance", [CenterOfMass(state.center_of_mass, dynamics=decay)]),
            ]
            posture.append(Orientation(base, state.pose(base).rotation, dynamics=decay))
        nv = robot.model.nv
        layout = VariableLayout(ACCELERATION, period, nv, nv + self.forces.size, self.forces)
        self._assembly = Assembly(snapshot, [*levels, ("posture", posture)], layout)
        self._solver = Lexicographic(budget, required_levels=1)
        self._generalised_forces: Array = np.zeros(nv)

    def torque(self, state: State) -> Array:
        """Return the joint torques (N m) for a state; the snapshot has to be at the same state."""
        for i, contact in enumerate(self.forces.contacts):
            self.forces.in_contact[i] = float(contact.frame in state.contacts)
        self._assembly.write()
        x = self._solver.solve(self._assembly.stack.program()).x
        return self.forces.generalised_forces(x, self._generalised_forces)[6:].copy()


# -- TorqueController ------------------------------------------------------------------------------------------------


#: Tolerance of contact forces outside their cones, relative to the weight: the weighted solution is exact to 1e-6 of
#: the largest unknown.
CONE_TOLERANCE = 1e-4
#: Time after which a missing contact seeks the surface, s: three ticks at 500 Hz, so that a single lost sample does not
#: move a foot.
SEEK_DELAY = 0.006
#: Smallest planned normal force, relative to the weight, at which an unmeasured contact counts as missing.
MIN_BEARING_SHARE = 0.05


class TorqueController(HierarchyController):
    """Torque controller: one solve of a hierarchy per period, under the equation of motion and contact constraints.

    The unknowns are accelerations and contact forces, ``x = (v̇, y)``; the torques are ``τ = M_a v̇ + h_a - Σ J_caᵀ φ_c``
    ([Saab2012] eq. 9). It takes the same hierarchies as a `KinematicController`. The contacts are those that the tasks
    refer to (`constraints.RigidContact`, ...), or else the `contacts` of the state. A level "physics" above `always`
    contains the equation of motion, torque limits and limits of contact forces, except for those that the hierarchy
    contains. This level is always feasible, so no task can violate physics.

    **Safety.** Every call returns finite torques within their limits. If the solver does not find the strict solution
    within its budget, its best point so far is used, which meets physics and the levels solved so far; if it is not
    feasible, the weighted solution of the same levels; else a damped hold. `Command.fallback` names the fallback and
    its reason, and lost contacts.

    Args:
        behavior: a Hierarchy, or a function of the snapshot that returns one.
        solver: the solver; None: `Lexicographic`, strict, with a budget of half a period; ``Lexicographic()`` has no
            budget. With `Weighted()`, "physics" and `always` are one hard level.
        period: sampling period (s).
        ramp: transition time of the command from one hierarchy to the next (s); the first levels, if they are common to
            both, stay exact. None: that of the behavior (default 0.2).
        lost_after: time (s) after which a contact that the state does not report counts as lost: no force is planned
            there until it is measured again. Infinite: contacts are as planned, regardless of measurements. None: that
            of the behavior (default 0.05).
        delay: age of the measured states (s): the command is computed for the state that follows from them and from the
            commands since, see `DelayCompensation`.
        estimate_loads: whether masses in the hands that nobody announced are estimated from contact forces and torques
            and enter the model, see `LoadEstimate`; not with a delay.

    Attributes:
        loads: point masses that the robot carries (kg, by frame), announced by assignment or estimated; they are part
            of the model of balance and torques.

    >>> controller = poise.TorqueController(hierarchy)
    >>> command = controller.step(plant.state())
    >>> command.torque, command.forces.total
    """

    order = ACCELERATION

    def __init__(
        self,
        behavior: BehaviorLike,
        solver: Solver | None = None,
        period: float = 0.002,
        ramp: float | None = None,
        lost_after: float | None = None,
        delay: float = 0.0,
        estimate_loads: bool = False,
    ) -> None:
        if estimate_loads and delay:
            raise PoiseError("loads cannot be estimated from delayed states; give delay or estimate_loads, not both")
        self._estimates_loads = bool(estimate_loads)
        self._announced_loads: dict[Frame, float] = {}
        self._compensation = DelayCompensation(delay) if delay != 0.0 else None
        behavior = Behavior.adapt(behavior)
        lost_after = behavior.lost_after if lost_after is None else lost_after
        if not (isinstance(lost_after, (int, float)) and lost_after >= 0.0):
            raise PoiseError(f"lost_after is {lost_after!r}; expected seconds, zero or more")
        self.lost_after = float(lost_after)
        super().__init__(behavior, solver, period, ramp)
        self._readings: SensorReadings | None = None
        self._merges_physics = type(self.solver) is not Lexicographic

    @property
    def delay(self) -> float:
        """Age of the measured states that is compensated (s)."""
        return 0.0 if self._compensation is None else self._compensation.delay

    @property
    def friction(self) -> float:
        """Friction coefficient of the ground that slips have shown; infinite: no contact has slipped."""
        return self._friction.value

    @property
    def loads(self) -> Mapping[Frame, float]:
        """Point masses that the robot carries (kg), by frame."""
        return self._announced_loads if self.robot is None else self._snapshot.loads

    @loads.setter
    def loads(self, loads: Mapping[Frame, float]) -> None:
        self._announced_loads = dict(loads)
        if self.robot is not None:
            self._snapshot.carry(self._announced_loads)

    def update_sensors(self, readings: SensorReadings | None) -> None:
        self._readings = readings

    def reset(self) -> None:
        super().reset()
        self._friction = FrictionEstimate()
        if self._compensation is not None:
            self._compensation.reset()
        self._forces: ForceUnknowns | None = None
        self._fallback = Weighted()

    # -- layout and levels -----------------------------------------------------------------------------------------

    def _start(self, robot: Robot) -> None:
        super()._start(robot)
        self._snapshot.carry(self._announced_loads)
        self._load_estimate = LoadEstimate(robot) if self._estimates_loads else None
        nv = robot.model.nv
        self._last = np.zeros(nv)
        self._torque_limit: Array = np.array(robot.limits.torque)
        self._force_tolerance = FEASIBILITY_TOLERANCE * robot.mass * float(np.linalg.norm(robot.model.gravity.linear))
        self._torque: Array = np.zeros(nv - 6)
        self._damped_hold: DampedHold | None = None
        self._missing_since: dict[Contact, float] = {}
        #: Contacts of the last state if they included all planned ones: the same tuple need not be checked again.
        self._contacts_confirmed: tuple[Frame, ...] | None = None
        # In the unit of the force unknowns.
        self._min_bearing = MIN_BEARING_SHARE * float(np.linalg.norm(robot.model.gravity.linear))

    def _layout_for(self, hierarchy: Hierarchy, state: State) -> VariableLayout:
        contacts = planned_contacts(hierarchy) or tuple(Contact(part) for part in state.contacts)
        forces, nv = ForceUnknowns(self._snapshot, contacts), state.robot.model.nv
        return VariableLayout(ACCELERATION, self.period, nv, nv + forces.size, forces)

    def _groups(self, hierarchy: Hierarchy, layout: VariableLayout) -> tuple[Groups, tuple[float, ...]]:
        assert layout.forces is not None
        tasks = physics_tasks(hierarchy, self._snapshot.robot, layout.forces.contacts)
        (_, always), *levels = hierarchy.groups()
        if self._merges_physics:
            return [("always", [*tasks, *always]), *levels], hierarchy.damping()
        return [("physics", tasks), ("always", always), *levels], (0.0, *hierarchy.damping())

    def _bind(self, hierarchy: Hierarchy, state: State) -> BoundDynamics:
        bound = super()._bind(hierarchy, state)
        count = len(bound.groups[0][1]) - (len(hierarchy.always) if self._merges_physics else 0)
        return BoundDynamics(bound, count, self._torque_limit, self._force_tolerance)

    def _binding(self, hierarchy: Hierarchy, state: State) -> BoundDynamics:
        known = self._bindings.get(hierarchy)
        if (
            known is not None
            and tuple(contact.frame for contact in known.forces.contacts) != state.contacts
            and not planned_contacts(hierarchy)  # it uses the contacts of the state, which have changed
        ):
            del self._bindings[hierarchy]
        bound: BoundDynamics = super()._binding(hierarchy, state)
        return bound

    def _activate(self, bound: BoundDynamics) -> None:
        super()._activate(bound)
        old, new, nv = self._forces, bound.forces, self._snapshot.model.nv
        self._compute_command, self._physics_rows = bound.compute_command, bound.physics_rows
        self._planned_frames = frozenset(contact.frame for contact in new.contacts)
        if new is old:
            return
        last = np.zeros(nv + new.size)
        last[:nv] = self._last[:nv]
        before: dict[Contact, slice] = {} if old is None else old.slices
        new.in_contact[:], new.seeking[:] = 1.0, 0.0
        new.friction[:] = [self._friction.limit(contact.friction) for contact in new.contacts]
        for i, contact in enumerate(new.contacts):
            if old is not None and contact in before:
                last[new.slices[contact]] = self._last[before[contact]]
                j = old.contacts.index(contact)
                new.in_contact[i], new.seeking[i] = old.in_contact[j], old.seeking[j]
        self._missing_since = {
            contact: since for contact, since in self._missing_since.items() if contact in new.slices
        }
        self._forces, self._last, self._contacts_confirmed = new, last, None

    def _start_transition(self, common: int, state: State, seconds: float) -> None:
        # No transition to the first hierarchy: there is no earlier command to keep, and balance cannot wait.
        if common >= 0:
            super()._start_transition(common, state, seconds)

    def _resume(self, state: State) -> None:
        self._holding = False

    # -- one tick --------------------------------------------------------------------------------------------------

    def step(self, state: State | None) -> Command:
        if self._compensation is None or not isinstance(state, State):
            return super().step(state)
        command = super().step(self._compensation.predict(state))
        if command.acceleration is not None and self._forces is not None:
            self._compensation.add(state.time, self.period, command.acceleration, self._planned_frames)
        return command

    def _solve_state(self, state: State) -> Command:
        forces, unchanged = self._forces, state.contacts is self._contacts_confirmed
        if not unchanged and forces is not None and forces.size == len(self._last) - self._snapshot.model.nv:
            self._update_contacts(state, forces)
            all_touch = all(contact.frame in state.contacts for contact in forces.contacts)
            self._contacts_confirmed = state.contacts if all_touch else None
        self._narrow_friction(state)
        return super()._solve_state(state)

    def _narrow_friction(self, state: State) -> None:
        """Limit the friction of the planned contacts to what slips have shown."""
        forces, snapshot = self._forces, self._snapshot.at(state)
        if forces is None or self._readings is None or not snapshot.is_finite:
            return
        snapshot.compute(DYNAMICS)  # all terms of this tick at once
        self._friction.update(snapshot, forces.contacts, self._readings)
        if self._friction.value < math.inf:
            forces.friction[:] = [self._friction.limit(contact.friction) for contact in forces.contacts]

    def _update_contacts(self, state: State, forces: ForceUnknowns) -> None:
        """Let contacts that should bear a force but are not measured seek the surface, and later mark them as lost.

        A contact with a negligible planned force may be in the air: it is neither sought nor marked as lost.
        """
        for i, contact in enumerate(forces.contacts):
            if contact.frame in state.contacts:
                self._missing_since.pop(contact, None)
                forces.in_contact[i], forces.seeking[i] = 1.0, 0.0
            elif forces.in_contact[i]:
                if contact.normal_row @ self._last[forces.slices[contact]] < self._min_bearing:
                    self._missing_since.pop(contact, None)
                    forces.seeking[i] = 0.0
                else:
                    since = self._missing_since.setdefault(contact, state.time)
                    forces.seeking[i] = float(state.time - since >= SEEK_DELAY)
                    forces.in_contact[i] = float(state.time - since < self.lost_after)

    def _command_from(self, solution: Solution, state: State) -> Command:
        x = solution.x if self._transition is None else self._blend(solution.x, state)
        fallback = "" if solution.status == "optimal" else f"{solution.status}: {solution.solver}"
        torque, velocity = np.empty(len(self._torque_limit)), np.empty(len(state.v))
        # Check the equation of the base and the torque limits; torques are clipped by less than FEASIBILITY_TOLERANCE.
        possible = self._compute_command(x, state.v, torque, velocity)
        if not possible or (fallback and not self._forces_feasible(x, solution)):
            reason = fallback or "the solution is infeasible"
            solution = self._fallback.solve(solution.program)
            x, fallback = solution.x, f"weighted: {reason}"
            if not (self._compute_command(x, state.v, torque, velocity) and self._forces_feasible(x, solution)):
                return self._hold(f"hold: {reason}", self._snapshot)
        forces = self._forces
        assert forces is not None
        if self._contacts_confirmed is None and not (fallback or forces.in_contact.all()):
            names = zip(forces.names, forces.in_contact, strict=True)
            fallback = f"contact lost: {', '.join(name for name, there in names if not there)}"
        self._last = x
        self._torque, self._damped_hold = torque, None
        if self._load_estimate is not None:
            self._update_loads(self._load_estimate, torque)
        acceleration = x[: len(velocity)]
        return Command(velocity, acceleration, torque, self.period, solution, fallback, self._tasks, forces.forces(x))

    def _update_loads(self, estimate: LoadEstimate, torque: Array) -> None:
        """Add this tick to the estimate of the loads, and change the model of the next one if they changed."""
        if estimate.update(self._snapshot, torque, self._readings):
            self._snapshot.carry(
                {hand: mass for hand, mass in (self._announced_loads | dict(estimate.masses)).items() if mass}
            )

    def _forces_feasible(self, x: Array, solution: Solution) -> bool:
        """Return whether the contact forces are feasible; an optimal strict solution need not be checked."""
        slack = solution.program.slack(x)[self._physics_rows]
        return bool(np.abs(slack).max(initial=0.0) <= CONE_TOLERANCE / FEASIBILITY_TOLERANCE * self._force_tolerance)

    def _hold(self, reason: str, snapshot: Snapshot | None) -> Command:
        self._holding = True
        self._transition = None
        if self._load_estimate is not None:
            self._load_estimate.interrupt()
        self._torque = torque = self._hold_torque(snapshot)
        nv = self._snapshot.model.nv
        self._last = np.concatenate([np.zeros(nv), self._last[nv:]])
        return Command(np.zeros(nv), np.zeros(nv), torque, self.period, None, reason)

    def _hold_torque(self, snapshot: Snapshot | None) -> Array:
        """Return torques that hold the body; the previous torques if the state is unknown or the hold fails."""
        if snapshot is None or snapshot.state is None or not snapshot.is_finite:
            return self._torque
        try:
            if self._damped_hold is None:
                planned = () if self._forces is None else self._forces.contacts
                self._damped_hold = DampedHold(snapshot, planned, self.period, self._budget)
            torque = np.clip(self._damped_hold.torque(snapshot.state), -self._torque_limit, self._torque_limit)
        except Exception:  # the last resort are the previous torques
            return self._torque
        return torque if np.isfinite(torque).all() else self._torque
