"""Masses in the hands that nobody announced are found within a second, and loads that are known are carried."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from poise import runs
from poise.behaviors import Stand, Walk
from poise.control import TorqueController
from poise.errors import PoiseError
from poise.plants import Load, ModelError, MujocoPlant, Sensors, steps
from poise.robots import Frame
from poise.solvers import Lexicographic
from robot_states import installed_robot


def loads_after(seconds: float, behavior: Any, masses: Mapping[str, float], **world: Any) -> dict[str, float]:
    """Return the estimated loads by side after some seconds in simulation; the robot must not fall."""
    robot = behavior.robot
    loads = [Load(robot.hand(side), mass) for side, mass in masses.items()]
    plant = MujocoPlant(behavior.start, loads=loads, **world)
    controller = TorqueController(behavior, Lexicographic(), estimate_loads=True)
    for step in steps(controller, plant, seconds):
        assert step.command.torque is not None
        assert np.isfinite(step.command.torque).all()
    assert not plant.fall
    return {hand.side: controller.loads.get(hand, 0.0) for hand in robot.hands}


@pytest.mark.parametrize(
    ("name", "masses", "world"),
    [
        ("g1", {"left": 2.0}, {}),
        ("g1", {"left": 0.7, "right": 2.0}, {}),
        ("g1", {"right": 2.0}, {"sensors": Sensors(noise=0.01)}),
        ("g1", {"left": 2.0}, {"model_error": ModelError(mass=0.05)}),
        ("g1", {"left": 2.0}, {"model_error": ModelError(dry_friction=0.2)}),
        ("talos", {"left": 6.0, "right": 3.0}, {}),
    ],
    ids=["one", "two", "noise", "heavier robot", "dry friction", "talos"],
)
def test_a_load_is_found_within_a_second_and_a_fifth(name: str, masses: dict[str, float], world: Any) -> None:
    robot = installed_robot(name)
    found = loads_after(1.0, Stand(robot), masses, **world)
    for side in ("left", "right"):
        mass = masses.get(side, 0.0)
        assert found[side] == pytest.approx(mass, abs=0.2 * mass if mass else 0.01 * robot.mass)


@pytest.mark.parametrize("world", [{}, {"sensors": Sensors(noise=0.01)}], ids=["exact", "noise"])
def test_empty_hands_carry_nothing(world: Any) -> None:
    assert loads_after(1.0, Stand(installed_robot("g1")), {}, **world) == {"left": 0.0, "right": 0.0}


def test_a_walking_robot_finds_its_load() -> None:
    walk = Walk(installed_robot("g1"), speed=(0.3, 0.0, 0.0), steps=3)
    found = loads_after(2.5, walk, {"left": 1.5})
    assert walk.phase().steps >= 1
    assert found == {"left": pytest.approx(1.5, rel=0.1), "right": 0.0}


def test_announced_loads_are_balanced_from_the_first_tick() -> None:
    robot = installed_robot("g1")
    loads: dict[Frame, float] = {robot.hand("left"): 2.0, robot.hand("right"): 1.0}
    offsets, drops = [], []
    for announced in ({}, loads):
        stand = Stand(robot)
        plant = MujocoPlant(stand.start, loads=[Load(hand, mass) for hand, mass in loads.items()])
        controller = TorqueController(stand, Lexicographic())
        controller.loads = announced
        *_, last = steps(controller, plant, 1.5)
        assert dict(controller.loads) == announced
        # By the engine: its center of mass includes the loads.
        offsets.append(np.linalg.norm(plant.data.subtree_com[0, :2] - stand.start.support_center))
        drops.append(
            abs(
                last.state.pose(robot.hand("left")).translation[2] - stand.start.pose(robot.hand("left")).translation[2]
            )
        )
    assert offsets[1] < 0.002 < offsets[0]
    assert drops[1] < 0.2 * drops[0]


def test_a_load_can_be_taken_away_while_it_runs() -> None:
    robot = installed_robot("g1")
    controller = TorqueController(Stand(robot), Lexicographic())
    controller.loads = {robot.hand("left"): 1.0}
    plant = MujocoPlant(robot)
    next(steps(controller, plant, 0.002))
    assert controller.loads[robot.hand("left")] == 1.0
    controller.loads = {}
    assert not controller.loads


def test_delayed_states_and_estimates_exclude_each_other() -> None:
    with pytest.raises(PoiseError, match="not both"):
        TorqueController(Stand(installed_robot("g1")), delay=0.01, estimate_loads=True)


def test_a_run_announces_the_box_that_the_robot_carries() -> None:
    robot = installed_robot("g1")
    for knowledge, share in (("announced", 0.1), ("estimated", 0.0), ("unknown", 0.0)):
        setup = runs.Stand(robot="g1", carried_mass=10.0, carried_knowledge=knowledge).build(robot)  # type: ignore[call-arg]
        assert isinstance(setup.controller, TorqueController)
        assert sum(setup.controller.loads.values()) == pytest.approx(share * robot.mass)
    assert runs.Stand(robot="g1", carried_mass=10.0).resolved_settings().posture_gain < 20.0  # type: ignore[call-arg]
    unknown = runs.Stand(robot="g1", carried_mass=10.0, carried_knowledge="unknown")  # type: ignore[call-arg]
    assert unknown.resolved_settings().posture_gain == 20.0
