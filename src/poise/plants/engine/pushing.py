"""Pushes as forces of MuJoCo."""

from __future__ import annotations

from collections.abc import Sequence

import mujoco
import numpy as np
from numpy.typing import NDArray

from poise.plants.disturbances import Push
from poise.robots import Robot


class Pushing:
    """Applies pushes for the time that they last within each step, so that their impulse is exact.

    A force F at a point p of a body is, for MuJoCo, F at the body's center of mass c and a moment ``(p - c) x F``.
    """

    def __init__(self, robot: Robot, model: mujoco.MjModel, data: mujoco.MjData, pushes: Sequence[Push]) -> None:
        self._robot, self._model, self._data, self._applied = robot, model, data, data.xfrc_applied
        self._pushes: list[tuple[Push, int, NDArray[np.float64] | None]] = []
        self.end = -np.inf
        self._acting = False
        for push in pushes:
            self.add(push)

    def add(self, push: Push, now: float = -np.inf) -> None:
        """One push more; those that were over by now are forgotten."""
        self._pushes = [known for known in self._pushes if known[0].time + known[0].duration >= now]
        joint = 1 if push.frame is None else push.frame.joint
        place = None if push.frame is None else self._robot.model.frames[push.frame.index].placement.translation.copy()
        self._pushes.append((push, int(self._model.body(self._robot.model.names[joint]).id), place))
        self.end = max(self.end, push.time + push.duration)

    def step(self, begin: float, end: float) -> None:
        """One step of the simulation, with what pushes in it."""
        if begin >= self.end and not self._acting:
            mujoco.mj_step(self._model, self._data)
            return
        mujoco.mj_step1(self._model, self._data)  # where all bodies are now
        self._applied[:] = 0.0
        self._acting = False
        for push, body, place in self._pushes:
            share = push.share(begin, end)
            if share > 0.0:
                self._acting = True
                F = share * np.asarray(push.force, dtype=np.float64)
                self._applied[body, :3] += F
                if place is not None:
                    p = self._data.xpos[body] + self._data.xmat[body].reshape(3, 3) @ place
                    self._applied[body, 3:] += np.cross(p - self._data.xipos[body], F)
        mujoco.mj_step2(self._model, self._data)
