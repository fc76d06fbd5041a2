"""PositionController: a hierarchy for robots whose joints have position servos."""

from __future__ import annotations

import numpy as np
import pinocchio

from poise.control.command import Command
from poise.control.kinematic import KinematicController
from poise.errors import PoiseError
from poise.hierarchy import Behavior, Hierarchy
from poise.state import Sensed, Snapshot, State


class PositionController:
    """Moves a reference body by a hierarchy, and lets servos follow its joints.

    Most humanoids take joint angles, not torques. What the angles should be is a matter of kinematics: the levels of
    the hierarchy move a *reference*, a body that does exactly what it is told, and its angles are the commands. What
    the real body does instead, it sways and its feet slip, reaches the behavior through `observe`, if it has such a
    method, at every tick and before it is called:

        observe(real, reference, sensed) -> None, or a planar world_from_world by which the reference is to be moved

    with snapshots of both and what the sensors say. A behavior that does not observe is played open loop. One that has
    to do without something says so in its `fallback`, which goes into the command; its `offset`, if it has one, is
    added to the angles, for servos that give way.

    Args:
        behavior: a Hierarchy, or a function of the snapshot of the reference that returns one.
        solver: `Lexicographic()` if None.
        period: seconds between two calls.

    >>> controller = poise.PositionController(navigate)
    >>> poise.record(controller, poise.MujocoPlant(start, actuators=PositionServos()), seconds=10.0)
    """

    def __init__(self, behavior: Behavior, solver: object = None, period: float = 0.005) -> None:
        self._inner = KinematicController(behavior, solver, period, ramp=float(getattr(behavior, "ramp", 0.2)))
        self.behavior, self.solver, self.period = behavior, self._inner.solver, self._inner.period
        self._observe = getattr(behavior, "observe", None)
        self._sensed: Sensed | None = None
        self.reset()

    @property
    def hierarchy(self) -> Hierarchy | None:
        """That is followed now."""
        return self._inner.hierarchy

    @property
    def ramp(self) -> float:
        """Seconds in which the command passes from one hierarchy to the next."""
        return self._inner.ramp

    @property
    def command(self) -> Command | None:
        """The last one."""
        return self._inner.command

    def reset(self) -> None:
        """Forgets the robot and the reference."""
        self._inner.reset()
        self.reference: State | None = None
        self._blind = ""

    def feel(self, sensed: Sensed | None) -> None:
        """What the sensors say, before each step; without any, a behavior is told None."""
        self._sensed = sensed

    def step(self, state: State | None) -> Command:
        """Joint angles, and their rates, for a state. Never raises once the hierarchy fits the robot; always finite."""
        if not isinstance(state, State):
            if self.reference is None:
                raise PoiseError(f"the first state is {state!r}; expected a State, e.g. plant.state()")
            return self._moved(self._inner.step(None))
        reference = self.reference
        if reference is None or reference.robot is not state.robot:
            reference = state.replace(v=np.zeros(state.robot.model.nv))
            self._real = Snapshot(state.robot)
        reference = State._trusted(state.robot, reference.q, reference.v, state.time, state.contacts)
        self.reference = self._observed(state, reference)
        return self._moved(self._inner.step(self.reference))

    def _observed(self, state: State, reference: State) -> State:
        """The reference, moved to where the real body stands if the behavior asks for that."""
        self._blind = ""
        if self._observe is None:
            return reference
        try:
            real = self._real.at(state)
            moved = self._observe(real, self._inner.look(reference), self._sensed) if real.finite else None
        except Exception as error:  # an observer of the user's may raise anything; the reference goes on without it
            self._blind = f"not observed: {type(error).__name__}: {error}"
            return reference
        if moved is None:
            return reference
        base = moved * pinocchio.XYZQUATToSE3(reference.q[:7])
        q = np.concatenate([pinocchio.SE3ToXYZQUAT(base), reference.q[7:]])
        return State._trusted(state.robot, q, reference.v, reference.time, reference.contacts)

    def _moved(self, command: Command) -> Command:
        """The command with the angles that the reference then has."""
        reference = self.reference
        assert reference is not None
        model = reference.robot.model
        q = pinocchio.integrate(model, reference.q, command.period * command.velocity)
        self.reference = State._trusted(reference.robot, q, command.velocity, reference.time, reference.contacts)
        offset = getattr(self.behavior, "offset", None)
        command.position = q[7:] if offset is None else q[7:] + offset
        if not command.fallback:
            command.fallback = self._blind or getattr(self.behavior, "fallback", "")
        return command
