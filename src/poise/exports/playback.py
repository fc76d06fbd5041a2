"""Playback: the controller of an open-loop replay, which says what the trajectory says."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from poise.control import Command
from poise.exports.trajectory import Trajectory, arranged, torques
from poise.geometry import minimum_jerk
from poise.robots import Robot, State

Array = NDArray[np.float64]

#: Servos hear a new target this often (s), as often as the simulation steps.
PERIOD = 0.001
#: The robot stands in the first posture before, and in the last one after the motion (s): it sways for about half that.
SETTLE, REST = 1.0, 1.0


class Playback:
    """A controller that says what the trajectory says, whatever the robot does.

    `PositionServos` are told how fast their targets move. From the start, where they hold the robot still, they go to
    the first posture during `SETTLE`; then ``target(t) = q(t)``, linear between samples. A servo that gives its largest
    torque lets its target go no further from the joint, so the targets are followed here by the same rule, and one that
    was held back returns to the trajectory as fast as the joint may turn.

    Args:
        robot: whose joints move.
        trajectory: of this robot.
        start: targets of the servos in the start (rad).
        stiffness: of the servos (N m/rad); a target is at most torque limit over stiffness from its joint.
        lead: whether the torques of the trajectory are asked for as well: ``target(t) = q(t) + torque(t) / K``.
    """

    def __init__(self, robot: Robot, trajectory: Trajectory, start: Array, stiffness: Array, lead: bool) -> None:
        self.period, self.robot = PERIOD, robot
        self.seconds = SETTLE + trajectory.duration + REST
        self._time, self._angles = trajectory.time - trajectory.time[0], arranged(trajectory, robot)[0][:, 7:]
        if lead:
            self._angles = self._angles + np.nan_to_num(torques(trajectory, robot)) / stiffness
        self._start, self._target, self._reach = start, start.copy(), robot.limits.torque / stiffness
        self._speed = robot.limits.velocity
        self._last = -1.0

    def wanted(self, time: float) -> Array:
        """Where the targets should be at a time of the run (s)."""
        played = time - SETTLE
        if played <= 0.0:
            share = float(minimum_jerk(min(max(time / SETTLE, 0.0), 1.0))[0])
            return self._start + share * (self._angles[0] - self._start)
        i = int(np.searchsorted(self._time, played, side="right"))
        if i >= len(self._time):
            return self._angles[-1]
        share = (played - self._time[i - 1]) / (self._time[i] - self._time[i - 1])
        return (1.0 - share) * self._angles[i - 1] + share * self._angles[i]

    def step(self, state: State) -> Command:
        now, then = self.wanted(state.time), self.wanted(state.time + PERIOD)
        back = np.clip((now - self._target) / PERIOD, -self._speed, self._speed)
        rate = (then - now) / PERIOD + back
        self._target = np.clip(self._target + PERIOD * rate, state.q[7:] - self._reach, state.q[7:] + self._reach)
        return Command(np.concatenate([np.zeros(6), rate]), None, None, PERIOD)
