"""Short simulated walks for the tests of walking."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import groupby
from typing import Any

import numpy as np

from poise.behaviors import Walk
from poise.behaviors.gait_tasks import limb_joints
from poise.control import TorqueController
from poise.plants import MujocoPlant, steps
from poise.solvers import Solver


class WalkTrial:
    """A walk with its controller and plant, run in parts.

    Attributes:
        names: names of the phases, one entry per phase.
        errors: DCM errors, one per tick (m).
        fallbacks: reasons of fallback commands.
        bind_count: number of times a hierarchy was bound.
    """

    def __init__(self, walk: Walk, solver: Solver | None = None, **plant: Any) -> None:
        self.walk = walk
        self.plant = MujocoPlant(walk.start, **plant)
        self.controller = TorqueController(walk, solver, ramp=0.0, lost_after=math.inf)
        self.errors: list[complex] = []
        self.fallbacks: set[str] = set()
        self._phases: list[str] = []
        self.bind_count = 0
        bind = self.controller._bind

        def counted(*arguments: object) -> object:
            self.bind_count += 1
            return bind(*arguments)  # type: ignore[arg-type]

        self.controller._bind = counted  # type: ignore[method-assign,assignment]

    @property
    def phase_names(self) -> list[str]:
        return [name for name, _ in groupby(self._phases)]

    def run(self, seconds: float, watch: Callable[[], None] = lambda: None) -> WalkTrial:
        """Continue for some seconds or until a fall; `watch` is called at every tick."""
        for step in steps(self.controller, self.plant, seconds):
            self._phases.append(step.command.phase)
            self.errors.append(self.walk.dcm_error)
            self.fallbacks |= {step.command.fallback} - {""}
            watch()
            if self.plant.fallen:
                break
        return self

    def run_to_stop(self, longest: float = 12.0) -> WalkTrial:
        """Run until it stands after its last step, and 0.7 s longer: the legs of NAO sway for half a second."""
        end = self.plant.time + longest
        while self.plant.time < end and not self.plant.fallen:
            self.run(0.1)
            if self.walk.phase().kind == "standing" and self.walk.phase().steps >= self.walk.steps:
                break
        return self.run(0.7)

    @property
    def _base_and_leg_velocities(self) -> list[int]:
        """Indices of the velocities of base and legs; the arms may still sway."""
        legs = set(limb_joints(self.walk.robot, "leg"))
        return [*range(6), *(joint.v for joint in self.walk.robot.joints if joint.name in legs)]

    @property
    def stands(self) -> bool:
        """Return whether the robot stands at rest with its feet side by side."""
        truth, robot = self.plant.truth(), self.walk.robot
        left, right = (truth.pose(robot.foot(side)) for side in ("left", "right"))
        between = left.rotation.T @ (left.translation - right.translation)
        return bool(
            not self.plant.fallen
            and self.walk.phase().kind == "standing"
            and abs(between[0]) < 0.03 * self.walk.body.leg_length
            and np.abs(truth.v[self._base_and_leg_velocities]).max() < 0.3
            and set(truth.contacts) == set(robot.feet)
        )
