"""Standing robot in MuJoCo with faults, and checks of the guarantees for every command."""

from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from standing_hierarchies import standing

from poise.control import ControlStep, TorqueController
from poise.hierarchy import BehaviorLike, Hierarchy
from poise.plants import MujocoPlant
from poise.recording import record_steps
from poise.robots import State
from poise.state import Snapshot
from robot_states import installed_robot, not_none

ROBOTS = pytest.mark.parametrize("name", ["g1", pytest.param("talos", marks=pytest.mark.slow)])
BEGIN, END = 0.3, 0.35
View = Callable[[State], State | None]


def is_fault_time(time: float, end: float = END) -> bool:
    """Return whether a fault is active at a time, to half a tick."""
    return BEGIN - 1e-4 <= time < end - 1e-4


class StandingTrial:
    """Robot that stands in MuJoCo while a fault changes the state that its controller sees."""

    def __init__(
        self,
        start: State,
        behavior: BehaviorLike | None = None,
        view: View = lambda state: state,
        plant: MujocoPlant | None = None,
        world: Callable[[float], None] = lambda time: None,
        seconds: float = 1.0,
        **settings: Any,
    ) -> None:
        self.start, self.plant = start, plant or MujocoPlant(start)
        self.controller = TorqueController(behavior or standing(start), **settings)
        self.steps: list[ControlStep] = []
        for _ in range(round(seconds / self.controller.period)):
            state = self.plant.state()
            world(state.time)
            command = self.controller.step(view(state))
            self.plant.apply(command)
            self.plant.advance()
            self.steps.append(ControlStep(state, command, 0.1))
        torques = np.array([step.command.torque for step in self.steps])
        assert np.isfinite(torques).all()
        assert (np.abs(torques) <= start.robot.limits.torque).all()
        for step in self.steps:
            assert np.isfinite(step.command.velocity).all()
            assert np.isfinite(not_none(step.command.acceleration)).all()
        named = Counter(step.command.fallback.partition(":")[0] for step in self.steps if step.command.fallback)
        recording = record_steps(self.steps, start.robot)
        assert recording.fallbacks() == dict(named)
        assert recording.nonfinite_commands() == 0

    def fallbacks(self) -> dict[str, int]:
        """Return the number of uses of each fallback, by its full text."""
        return dict(Counter(step.command.fallback for step in self.steps if step.command.fallback))

    def ticks(self) -> int:
        """Number of ticks during which a fault was active."""
        return sum(is_fault_time(step.state.time) for step in self.steps)

    def stands(self, tolerance: float = 2e-3) -> bool:
        """Return whether the robot is upright and at rest, with its center of mass within a tolerance (m)."""
        end = self.plant.truth()
        off = np.linalg.norm(end.center_of_mass - self.start.center_of_mass)
        return bool(not self.plant.fallen and off < tolerance and np.abs(end.v).max() < 0.1)


def standing_state(name: str) -> State:
    return installed_robot(name).stance("standing")


def behavior_failing_at_times(good: Hierarchy, other: Callable[[], object], end: float = END) -> BehaviorLike:
    """Return a behavior that is replaced by `other` while the fault is active."""

    def behavior(snapshot: Snapshot) -> Hierarchy:
        return other() if is_fault_time(snapshot.time, end) else good  # type: ignore[return-value]

    return behavior
