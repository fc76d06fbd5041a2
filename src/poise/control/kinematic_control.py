"""Controllers without forces: KinematicController, and PositionController for robots with position servos."""

from __future__ import annotations

import math

import numpy as np
import pinocchio

from poise.arrays import Array
from poise.control.command import Command, Controller
from poise.control.hierarchy_controller import BoundHierarchy, HierarchyController, Ramp
from poise.errors import PoiseError
from poise.hierarchy import Behavior, BehaviorLike, Hierarchy
from poise.parsing import format_value
from poise.robots import Robot, State
from poise.solvers import Solution, Solver
from poise.state import SensorReadings, Snapshot
from poise.tasks import ACCELERATION, VELOCITY, VariableLayout

#: Time constant with which a command decays during a hold, s: nearly at rest after a tenth of a second.
HOLD_TIME_CONSTANT = 0.022
#: Time constant of the filter near singularities, s: four ticks at 200 Hz, short compared to the decay of any task.
SINGULARITY_TIME_CONSTANT = 0.02


class KinematicController(HierarchyController):
    """Kinematic controller: one solve of a hierarchy per period, without forces.

    At velocity order the unknowns are velocities, at acceleration order accelerations (commands are then smoother, and
    limits on acceleration are kept exactly). Every call returns a finite command; without a valid solution it is a hold
    (the last command, decaying), and `Command.fallback` gives the reason.

    Args:
        behavior: a Hierarchy, or a function of the snapshot that returns one.
        solver: the solver, e.g. `Weighted` or `NullSpace`; None: `Lexicographic` with a budget of half a period.
        period: sampling period (s).
        order: VELOCITY or ACCELERATION.
        ramp: transition time of the command from one hierarchy to the next, and from the initial velocity to the first
            (s); 0: at once; None: that of the behavior (default 0.2).

    >>> controller = poise.KinematicController(hierarchy, period=0.005)
    >>> command = controller.step(state)
    """

    def __init__(
        self,
        behavior: BehaviorLike,
        solver: Solver | None = None,
        period: float = 0.005,
        order: int = VELOCITY,
        ramp: float | None = None,
    ) -> None:
        if order not in (VELOCITY, ACCELERATION):
            raise PoiseError(f"order is {order!r}; expected poise.VELOCITY or poise.ACCELERATION")
        self.order = order
        super().__init__(behavior, solver, period, ramp)

    def _start(self, robot: Robot) -> None:
        super()._start(robot)
        nv = robot.model.nv
        self._last = np.zeros(nv)
        self._velocity: Array = np.zeros(nv)

    def _layout_for(self, hierarchy: Hierarchy, state: State) -> VariableLayout:
        nv = state.robot.model.nv
        if self.hierarchy is None and self.order == VELOCITY:
            self._last = np.array(state.v)
        return VariableLayout(self.order, self.period, nv, nv)

    def _activate(self, bound: BoundHierarchy) -> None:
        super()._activate(bound)
        self._singularity_ramps: dict[int, Ramp] = {}

    def _command_from(self, solution: Solution, state: State) -> Command:
        x = solution.x
        if solution.first_damped_level >= 0 and self.order == VELOCITY:
            self._filter_singularity(solution.first_damped_level, state)
        x = self._blend(x, state)
        if not self._always_finite and not math.isfinite(x.dot(x)):
            return self._hold("hold: the solution is not finite", self._snapshot)
        self._last = x
        fallback = "" if solution.status == "optimal" else f"{solution.status}: {solution.solver}"
        if self.order == VELOCITY:
            self._velocity = x
            return Command(x, None, None, self.period, solution, fallback, self._tasks)
        self._velocity = state.v + self.period * x
        return Command(self._velocity, x, None, self.period, solution, fallback, self._tasks)

    def _filter_singularity(self, level: int, state: State) -> None:
        """Low-pass filter the command near a singularity, with the time constant `SINGULARITY_TIME_CONSTANT`.

        The filter acts on the damped level and those below it, which would otherwise follow a singular direction that
        changes from tick to tick; the levels above stay exact.
        """
        if self._transition is not None and self._transition.time_left(state.time) > SINGULARITY_TIME_CONSTANT:
            return
        common = max(level - 1, 0)
        if common not in self._singularity_ramps:
            self._singularity_ramps[common] = self._ramp(common, state.time, SINGULARITY_TIME_CONSTANT)
        self._transition = self._singularity_ramps[common]
        self._transition.begin = state.time

    def _hold(self, reason: str, snapshot: Snapshot | None) -> Command:
        """Return the last command, decaying; always finite."""
        self._holding = True
        faded = math.exp(-self.period / HOLD_TIME_CONSTANT) * self._velocity
        if self.order == VELOCITY:
            self._last = self._velocity = faded
            return Command(faded, None, None, self.period, None, reason)
        self._last = (faded - self._velocity) / self.period
        self._velocity = faded
        return Command(faded, self._last, None, self.period, None, reason)


# -- PositionController ----------------------------------------------------------------------------------------------


class PositionController(Controller):
    """Controller of robots with position servos: a hierarchy moves a reference body, and servos follow its joints.

    Most humanoids accept joint angles, not torques. The hierarchy moves a *reference*, an ideal body that follows every
    command exactly, and the joint angles of the reference are the commands. The real body sways and its feet slip: at
    every tick, before the behavior is called, `Behavior.observe` receives snapshots of the real body and of the
    reference, and the sensor readings. A behavior without `observe` runs open loop. `Behavior.fallback` is copied to
    the command, and `Behavior.offset` is added to the joint angles, to compensate compliant servos.

    Args:
        behavior: a Hierarchy, or a function of the snapshot of the reference that returns one.
        solver: the solver; None: `Lexicographic` with a budget of half a period.
        period: sampling period (s).

    Attributes:
        reference: state of the reference body; None before the first step.

    >>> controller = poise.PositionController(navigate)
    >>> poise.record(controller, poise.MujocoPlant(start, actuators=PositionServos()), seconds=10.0)
    """

    def __init__(self, behavior: BehaviorLike, solver: Solver | None = None, period: float = 0.005) -> None:
        behavior = Behavior.adapt(behavior)
        self._kinematic = KinematicController(behavior, solver, period)
        self.behavior = behavior
        self.solver, self.period = self._kinematic.solver, self._kinematic.period
        self._readings: SensorReadings | None = None
        self.reset()

    @property
    def behavior(self) -> Behavior:
        """Behavior of the reference; if another one, or a function, is assigned, the command passes over to it."""
        return self._behavior

    @behavior.setter  # type: ignore[override]  # None is not allowed here
    def behavior(self, behavior: BehaviorLike) -> None:
        self._behavior = self._kinematic.behavior = Behavior.adapt(behavior)
        #: Whether the behavior defines `observe`; if not, no snapshot of the real body is needed.
        self._observes = type(self._behavior).observe is not Behavior.observe

    @property
    def hierarchy(self) -> Hierarchy | None:  # type: ignore[override]  # it is the inner controller's
        """Hierarchy of the last step."""
        return self._kinematic.hierarchy

    @property
    def ramp(self) -> float:
        """Transition time of the command from one hierarchy to the next (s)."""
        return self._kinematic.ramp

    @property
    def command(self) -> Command | None:
        """The last command."""
        return self._kinematic.command

    def reset(self) -> None:
        """Discard the robot and the reference."""
        self._kinematic.reset()
        self.reference: State | None = None
        self._observe_failure = ""

    def prepare(self, state: State) -> None:
        """Bind all hierarchies that the behavior announces."""
        if isinstance(state, State) and self.reference is None:
            self._kinematic.prepare(state.replace(v=np.zeros(state.robot.model.nv)))

    def update_sensors(self, readings: SensorReadings | None) -> None:
        """Receive the sensor readings before each step; the behavior gets None from a plant without sensors."""
        self._readings = readings

    def step(self, state: State | None) -> Command:
        """Return the command with joint angles and velocities for a state, or a hold for None.

        The command is always finite. After the first successful step, `step` never raises.
        """
        if not isinstance(state, State):
            if self.reference is None:
                raise PoiseError(f"the first state is {format_value(state)}; expected a State, e.g. plant.state()")
            return self._integrate_reference(self._kinematic.step(None))
        reference = self.reference
        if reference is None or reference.robot is not state.robot:
            reference = state.replace(v=np.zeros(state.robot.model.nv))
            self._measured = Snapshot(state.robot)
        reference = State._unchecked(state.robot, reference.q, reference.v, state.time, state.contacts)
        self.reference = self._observe(state, reference)
        return self._integrate_reference(self._kinematic.step(self.reference))

    def _observe(self, state: State, reference: State) -> State:
        """Return the reference, moved by the planar correction that `Behavior.observe` returns, if any."""
        self._observe_failure = ""
        if not self._observes:
            return reference
        try:
            real = self._measured.at(state)
            correction = (
                self._behavior.observe(real, self._kinematic.snapshot_at(reference), self._readings)
                if real.is_finite
                else None
            )
        except Exception as error:  # code of users may raise anything; continue without feedback
            self._observe_failure = f"not observed: {type(error).__name__}: {error}"
            return reference
        if correction is None:
            return reference
        base = correction * pinocchio.XYZQUATToSE3(reference.q[:7])
        q = np.concatenate([pinocchio.SE3ToXYZQUAT(base), reference.q[7:]])
        return State._unchecked(state.robot, q, reference.v, reference.time, reference.contacts)

    def _integrate_reference(self, command: Command) -> Command:
        """Integrate the reference over the command and return the command with the resulting joint angles."""
        reference = self.reference
        assert reference is not None
        model = reference.robot.model
        q = pinocchio.integrate(model, reference.q, command.period * command.velocity)
        self.reference = State._unchecked(reference.robot, q, command.velocity, reference.time, reference.contacts)
        offset = self._behavior.offset
        command.position = q[7:] if offset is None else q[7:] + offset
        if not command.fallback:
            command.fallback = self._observe_failure or self._behavior.fallback
        return command
