"""`DelayCompensation`: prediction of the current state from one measured earlier, with the commands since then."""

from __future__ import annotations

import math
from collections import deque

import numpy as np
import pinocchio

from poise.arrays import Array
from poise.errors import PoiseError
from poise.robots import Frame, State

#: Longest delay that is compensated (s): a falling robot is lost after a few tenths of a second, whatever is predicted.
MAX_DELAY = 0.2


class DelayCompensation:
    """Predicts the current state from a measurement that is older by a known delay d.

    The measured velocity and configuration are integrated over the delay with the accelerations that were commanded in
    it. With a_k commanded from t_k on for T_k seconds, cut to the delay before the time t of the prediction::

        v(t) = v(t - d) + Σ T_k a_k
        q(t) = q(t - d) ⊕ (d v(t - d) + Σ T_k (t - t_k - T_k / 2) a_k)

    which is exact for joints, and of third order in d for the rotation of the base. A torque controller computes each
    a_k with the model, the contacts and the torque limits, so that no further model is needed. Disturbances during the
    delay are unknown.

    A contact that the plan made or broke within the delay cannot have been measured yet, so that the plan decides;
    otherwise the measurement does.

    Args:
        delay: d, age of the measured state (s).
    """

    def __init__(self, delay: float) -> None:
        if not (isinstance(delay, (int, float)) and 0.0 <= delay <= MAX_DELAY):
            raise PoiseError(f"delay is {delay!r}; expected seconds, from 0 to {MAX_DELAY:g}")
        self.delay = float(delay)
        self.reset()

    def reset(self) -> None:
        """Forget all commands."""
        self._begins: deque[float] = deque()
        self._accelerations: deque[Array] = deque()
        self._end = -math.inf
        self._planned: frozenset[Frame] = frozenset()
        #: When a frame last joined or left the planned contacts.
        self._changes: dict[Frame, float] = {}

    def predict(self, state: State) -> State:
        """Return the predicted state at the time of a measured one; the same object if nothing was commanded."""
        t, begins = state.time, self._begins
        since = t - self.delay
        while len(begins) > 1 and begins[1] <= since:
            begins.popleft()
            self._accelerations.popleft()
        if not (begins and self._end > since and self.delay > 0.0):
            return state
        edges = np.clip(np.array([*begins, self._end]), since, t)
        durations = np.diff(edges)
        A = np.array(self._accelerations)
        v = state.v + durations @ A
        # Before the first command the robot was at rest, and its first measurements are those of the start.
        moved = float(edges[-1] - edges[0]) * state.v + (durations * (t - 0.5 * (edges[:-1] + edges[1:]))) @ A
        if not (math.isfinite(moved @ moved) and math.isfinite(v @ v)):
            return state
        q = pinocchio.integrate(state.robot.model, state.q, moved)
        return State._unchecked(state.robot, q, v, t, self._contacts(state.contacts, since))

    def add(self, time: float, period: float, acceleration: Array, contacts: frozenset[Frame]) -> None:
        """Add a command.

        Args:
            time: time from which it acts (s); earlier commands end there.
            period: its duration (s).
            acceleration: commanded v̇ (nv).
            contacts: planned contacts.
        """
        if self._begins and time <= self._begins[-1]:  # two commands at one time: the second replaces the first
            if time < self._begins[-1]:
                self.reset()  # another motion begins
            else:
                self._begins.pop()
                self._accelerations.pop()
        self._begins.append(time)
        self._accelerations.append(acceleration)
        self._end = time + period
        if contacts != self._planned:
            self._changes.update(dict.fromkeys(contacts ^ self._planned, time))
            self._planned = contacts

    def _contacts(self, measured: tuple[Frame, ...], since: float) -> tuple[Frame, ...]:
        recent = {frame for frame, time in self._changes.items() if time > since}
        if not recent:
            return measured
        kept = [frame for frame in measured if frame not in recent or frame in self._planned]
        added = [frame for frame in recent if frame in self._planned and frame not in measured]
        return (*kept, *added)
