"""Simulation: a scene in motion, and the samples that can be taken of it."""

from __future__ import annotations

import math
from collections import deque
from typing import Protocol

import mujoco
import numpy as np
from numpy.typing import NDArray

from poise.plants.clock import Clock
from poise.plants.disturbances import Push
from poise.plants.engine.build import Built
from poise.plants.engine.holding import bearing, height_of
from poise.plants.engine.pushing import Pushing
from poise.plants.engine.resting import press
from poise.plants.engine.touch import Feelers, Touch, check_rows
from poise.plants.measuring import Sample
from poise.plants.scene import Scene

Array = NDArray[np.float64]

#: A joint that turns at a million rad/s, or a base as fast (m/s), is no motion but a simulation that has failed.
FASTEST = 1e6


class Drive(Protocol):
    """What moves the joints."""

    def move(self, period: float) -> None:
        """Gets ready for one step of the simulation."""


class Simulation:
    """Steps a scene, and keeps samples for as long as its sensors are late.

    Attributes:
        clock: its time.
        failure: "" or why it failed; from then on nothing moves but the time.
    """

    def __init__(self, scene: Scene, built: Built) -> None:
        self.model, self.data, self.clock, self.failure = (
            built.model,
            built.data,
            Clock(scene.start.time, scene.period),
            "",
        )
        self._coordinates = built.coordinates
        self._qpos, self._qvel = self.data.qpos, self.data.qvel
        check_rows(self.model)
        self._pushing = Pushing(scene.robot, self.model, self.data, scene.pushes)
        self._feelers = Feelers(scene.robot, self.model, scene.parts)
        for warning in self.data.warning:  # MuJoCo prints each the first time; failures are ours to tell
            warning.number = 1
        #: Torques that hold the robot still in its start; zeros if nothing does.
        self.holding: Array = np.zeros(len(built.coordinates.angles))
        weight, rests = 9.81 * float(self.model.body_mass.sum()), not scene.start.v.any()
        carried = () if scene.carried is None else (height_of(self.model),)
        if rests and scene.start.contacts and press(self.model, self.data, weight, carried):
            self.holding = self.data.qfrc_inverse.take(built.coordinates.rates)
            if scene.carried is not None:
                borne = bearing(self.model, self.data, scene.start, scene.carried)
                self.holding += borne.take(built.coordinates.rates)
        self._good = self._qpos.copy(), self._qvel.copy()
        self._late = scene.delay
        self._last: Sample | None = None
        self._past: deque[Sample] = deque([self.sample()], maxlen=self._late + 1)

    def sample(self) -> Sample:
        """How it is now, with the forces of the step that led here."""
        if self._last is None:
            places, data = self._coordinates, self.data
            q, v = places.configuration(self._qpos), places.velocity(self._qpos, self._qvel)
            self._last = Sample(q, v, data.qacc[:3].copy(), Touch(self._feelers, data))
        return self._last

    def late_sample(self) -> Sample:
        """How it was when the sensors looked; the start, as long as they have seen nothing else."""
        return self._past[0] if self._late else self.sample()

    def run(self, period: float, drive: Drive) -> None:
        """Lets a period of the controller pass."""
        clock, count = self.clock, self.clock.due(period)
        self._last = None
        if self.failure:
            clock.steps += count
            return
        np.copyto(self._good[0], self._qpos)
        np.copyto(self._good[1], self._qvel)
        for _ in range(count):
            drive.move(clock.period)
            self._pushing.step(clock.time, clock.time + clock.period)
            clock.steps += 1
            if self._late:
                self._last = None
                self._past.append(self.sample())
        self.data.time = clock.time
        if not self._qvel.dot(self._qvel) < FASTEST**2 or not math.isfinite(self._qpos.dot(self._qpos)):
            self._freeze()

    def push(self, push: Push) -> None:
        """Something pushes, from its time on."""
        self._pushing.add(push, self.clock.time)

    def _freeze(self) -> None:
        """Goes back to before the last command, at rest, and stays there."""
        self.failure = f"the simulation failed at {self.clock.time:.3f} s and is frozen there; try a shorter period"
        data = self.data
        self._qpos[:], self._qvel[:] = self._good[0], 0.0
        for array in (data.ctrl, data.xfrc_applied, data.qacc_warmstart):
            array[:] = 0.0
        mujoco.mj_forward(self.model, data)
        self._last = None
        self._past.extend([self.sample()] * (self._late + 1))
