"""Preparation of a controller before the clock of its control loop starts."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from example_hierarchies import reach_hierarchy
from standing_hierarchies import standing

from poise.control import (
    Command,
    Controller,
    KinematicController,
    PositionController,
    TorqueController,
    hierarchy_controller,
)
from poise.hierarchy import Behavior, Hierarchy, Level
from poise.plants import IdealPlant, steps
from poise.robots import State
from poise.state import Snapshot
from poise.tasks import Posture
from robot_states import installed_robot

CONTROLLERS = pytest.mark.parametrize("make", [KinematicController, PositionController, TorqueController])
START = installed_robot("g1").stance("standing")


class Alternating(Behavior):
    """Two announced hierarchies in turn."""

    ramp = 0.0

    def __init__(self) -> None:
        first = standing(START)
        self.hierarchies = (first, first.without_level(first.levels[-1].name))

    def __call__(self, snapshot: Snapshot) -> Hierarchy:
        return self.hierarchies[round(snapshot.time / 0.005) // 3 % 2]


@pytest.fixture
def bindings(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Bindings made since the start of the test."""
    made: list[Any] = []
    bind = hierarchy_controller.BoundHierarchy.__init__

    def counted(*arguments: Any) -> None:
        made.append(arguments)
        bind(*arguments)

    monkeypatch.setattr(hierarchy_controller.BoundHierarchy, "__init__", counted)
    return made


@CONTROLLERS
def test_a_prepared_controller_binds_nothing_in_its_steps(make: Callable[..., Controller], bindings: list[Any]) -> None:
    controller, state = make(Alternating(), period=0.005), START
    controller.prepare(state)
    prepared = len(bindings)
    assert prepared >= 2
    for k in range(8):
        controller.step(state.replace(time=0.005 * k))
    assert len(bindings) == prepared


@CONTROLLERS
def test_preparation_changes_no_command(make: Callable[..., Controller]) -> None:
    commands: list[list[Command]] = []
    for prepares in (False, True):
        controller, plant = make(reach_hierarchy(START), period=0.005), IdealPlant(START)
        commands.append([])
        for _ in range(20):
            if prepares:
                controller.prepare(plant.state())
            commands[-1].append(controller.step(plant.state()))
            plant.apply(commands[-1][-1])
            plant.advance()
    for plain, prepared in zip(*commands, strict=True):
        np.testing.assert_array_equal(plain.velocity, prepared.velocity)


def test_a_loop_prepares_its_controller_before_the_first_step() -> None:
    calls = []

    class Recorder(Controller):
        period = 0.005

        def prepare(self, state: State) -> None:
            calls.append("prepare")

        def step(self, state: State) -> Command:
            calls.append("step")
            return Command(np.zeros(state.robot.model.nv), None, None, self.period)

    list(steps(Recorder(), IdealPlant(START), 0.01))
    assert calls == ["prepare", "step", "step"]


def test_a_hierarchy_that_cannot_be_bound_is_reported_by_the_first_step() -> None:
    other = installed_robot("talos").stance("standing")
    controller = KinematicController(Hierarchy(levels=[Level("posture", [Posture(other)])]))
    controller.prepare(START)
    with pytest.raises(Exception, match="talos"):
        controller.step(START)


def test_contacts_of_the_first_state_are_used_if_they_differ_from_those_prepared() -> None:
    hierarchy = Hierarchy(levels=[Level("posture", [Posture(START)])])
    controller = TorqueController(hierarchy)
    controller.prepare(START)
    one_foot = START.replace(contacts=START.robot.feet[:1])
    forces = controller.step(one_foot).forces
    assert forces is not None
    assert list(forces.names) == [part.name for part in one_foot.contacts]
