"""Short walks in physics, as the tests of walking watch them."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import groupby
from typing import Any

import numpy as np

from poise.behaviors import Walk
from poise.behaviors.gait_tasks import joints_of
from poise.control import TorqueController
from poise.plants import MujocoPlant, steps
from poise.solvers import Solver


class Trial:
    """A walk, its controller and its plant, run bit by bit.

    Attributes:
        names: of the phases that were visited, each once as long as it lasted.
        errors: of the divergent component, one per tick (m).
        fallbacks: reasons of commands that were not the solution.
        bound: how often a hierarchy was bound.
    """

    def __init__(self, walk: Walk, solver: Solver | None = None, **plant: Any) -> None:
        self.walk = walk
        self.plant = MujocoPlant(walk.start, **plant)
        self.controller = TorqueController(walk, solver, ramp=0.0, lost_after=math.inf)
        self.errors: list[complex] = []
        self.fallbacks: set[str] = set()
        self._phases: list[str] = []
        self.bound = 0
        bind = self.controller._bind

        def counted(*arguments: object) -> object:
            self.bound += 1
            return bind(*arguments)  # type: ignore[arg-type]

        self.controller._bind = counted  # type: ignore[method-assign,assignment]

    @property
    def names(self) -> list[str]:
        return [name for name, _ in groupby(self._phases)]

    def go(self, seconds: float, watch: Callable[[], None] = lambda: None) -> Trial:
        """So many seconds more, or until it falls; somebody may watch every tick."""
        for step in steps(self.controller, self.plant, seconds):
            self._phases.append(step.command.phase)
            self.errors.append(self.walk.error)
            self.fallbacks |= {step.command.fallback} - {""}
            watch()
            if self.plant.fallen:
                break
        return self

    def finish(self, longest: float = 12.0) -> Trial:
        """Until it stands after its last step, and 0.7 s longer: legs of NAO sway for half a second."""
        end = self.plant.time + longest
        while self.plant.time < end and not self.plant.fallen:
            self.go(0.1)
            if self.walk.phase().kind == "standing" and self.walk.phase().steps >= self.walk.steps:
                break
        return self.go(0.7)

    @property
    def _firm(self) -> list[int]:
        """Velocities of base and legs: arms may still sway."""
        legs = set(joints_of(self.walk.robot, "leg"))
        return [*range(6), *(joint.v for joint in self.walk.robot.joints if joint.name in legs)]

    @property
    def stands(self) -> bool:
        """Whether it stands on both feet at rest, side by side."""
        truth, robot = self.plant.truth(), self.walk.robot
        left, right = (truth.pose(robot.foot(side)) for side in ("left", "right"))
        between = left.rotation.T @ (left.translation - right.translation)
        return bool(
            not self.plant.fallen
            and self.walk.phase().kind == "standing"
            and abs(between[0]) < 0.03 * self.walk.body.leg
            and np.abs(truth.v[self._firm]).max() < 0.3
            and set(truth.contacts) == set(robot.feet)
        )
