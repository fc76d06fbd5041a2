"""IdealPlant: a robot that does exactly what it is told."""

from __future__ import annotations

import pinocchio

from poise.control import Command
from poise.errors import PoiseError
from poise.robots import Frame, Robot, State
from poise.tasks.axes import shown


class IdealPlant:
    """Integrates commands: no mass, no contact, no delay.

    Velocities are taken at once and held for the period; accelerations are constant over it. Both are exact on the
    base's rotation. Contacts stay those of the start; `State.contacts` may be changed with `stand_on`.

    >>> plant = poise.IdealPlant(robot.stance("standing"))
    """

    def __init__(self, start: State) -> None:
        if not isinstance(start, State):
            raise PoiseError(f"IdealPlant starts from {shown(start)}; expected a State, e.g. robot.stance('standing')")
        self._state = start
        self._begin, self._ticks, self._period = start.time, 0, 0.0
        self._command: Command | None = None

    @property
    def robot(self) -> Robot:
        return self._state.robot

    def state(self) -> State:
        """Where the robot is now."""
        return self._state

    def stand_on(self, contacts: tuple[Frame, ...]) -> None:
        """From now on the robot stands on these parts."""
        self._state = self._state.replace(contacts=contacts)

    def apply(self, command: Command) -> None:
        """What to do until the next command."""
        self._command = command

    def advance(self) -> None:
        """Lets the command's period pass."""
        command, state = self._command, self._state
        if command is None:
            return
        period, velocity = command.period, command.velocity
        if command.acceleration is None:
            step = period * velocity
        else:
            velocity = state.v + period * command.acceleration
            step = (0.5 * period) * (state.v + velocity)
        robot = state.robot
        q = pinocchio.integrate(robot.model, state.q, step)
        # The command keeps its velocity for good, so the state may share it.
        self._state = State._trusted(robot, q, velocity, self._clock(period), state.contacts)

    def _clock(self, period: float) -> float:
        """Time after one more period: counted, not summed, as long as periods are equal."""
        if period != self._period:
            self._begin, self._ticks, self._period = self._state.time, 0, period
        self._ticks += 1
        return self._begin + self._ticks * period
