"""Hold: what a robot does while nobody commands it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from poise.control import Command
from poise.control.hold import DampedHold
from poise.robots import Robot, State
from poise.state import Snapshot

Array = NDArray[np.float64]


class Hold:
    """Commands that keep a robot where it is: no velocity for servos, torques of a `DampedHold` for motors.

    It begins with the first command after `let_go`. A part that touches down later, such as a foot that was in the
    air, is taken in: the hold then begins anew with it.

    Args:
        robot: to hold.
        period: seconds between two commands.
    """

    def __init__(self, robot: Robot, period: float) -> None:
        self._snapshot, self._period = Snapshot(robot), period
        self._limit, self._torque = np.array(robot.limits.torque), np.zeros(len(robot.joints))
        self._hold: DampedHold | None = None
        self._wanted = True

    def let_go(self, command: Command) -> None:
        """Somebody commands again; whether with torques tells what the next hold needs."""
        self._hold, self._wanted = None, command.torque is not None
        if command.torque is not None:
            self._torque = command.torque

    def command(self, state: State, reason: str) -> Command:
        """The command for a state. Never raises."""
        still = np.zeros(len(state.v))
        # Without an acceleration an ideal plant stops at once, and servos look at nothing but the velocity.
        return Command(still, None, self._torques(state) if self._wanted else None, self._period, fallback=reason)

    def _torques(self, state: State) -> Array:
        """Torques within their limits; those before where none are to be had."""
        try:
            snapshot = self._snapshot.at(state)
            if self._hold is None or not set(state.contacts) <= {part.frame for part in self._hold.forces.contacts}:
                self._hold = DampedHold(snapshot, (), self._period)
            torque = np.clip(self._hold.torque(state), -self._limit, self._limit)
        except Exception:  # there is nothing left to fall back to but what was
            return self._torque
        if np.isfinite(torque).all():
            self._torque = torque
        return self._torque
