"""The comparison with learned policies, with policies that are known functions instead of published ones."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from benchmarks.learned import trials
from benchmarks.learned.__main__ import table
from benchmarks.learned.walkers import PolicyController, PolicyWalker, default_stance
from poise.plants import MujocoPlant
from poise.runs.world import World
from robot_states import installed_robot

pytestmark = pytest.mark.needs_models


class KnownPolicy:
    """A process of a policy that answers every observation with the same action, in another order of the joints."""

    name, version = "known", "0"

    def __init__(self, stiffness: float, action: float = 0.0) -> None:
        robot = installed_robot("g1")
        self.joints = list(robot.joints)[::-1]
        stance = robot.stance("standing")
        self.action, self.observations = action, list[np.ndarray]()
        self.start: dict[str, Any] = {
            "joints": [joint.name for joint in self.joints],
            "angles": [float(stance.q[joint.q]) for joint in self.joints],
            "stiffness": [stiffness * (i + 1) for i in range(len(self.joints))],
            "damping": [0.02 * stiffness] * len(self.joints),
            "scale": 0.25,
            "period": 0.02,
            "gait_period": 1.0,
        }

    def request(self, message: dict[str, Any]) -> dict[str, Any]:
        self.observations.append(np.array(message["observation"]))
        return {"action": [self.action] * len(self.joints)}


def test_the_torque_is_that_of_the_law_of_the_motors_in_the_order_of_the_robot() -> None:
    robot, policy = installed_robot("g1"), KnownPolicy(10.0, action=0.4)
    plant = MujocoPlant(default_stance(robot, policy.start))
    command = PolicyController(robot, policy, plant, (0.3, 0.0, 0.0)).step(plant.state())  # type: ignore[arg-type]
    assert command.torque is not None
    # At the default angles and at rest only the action gives torques: K · 0.25 · 0.4.
    for i, joint in enumerate(policy.joints):
        limit = robot.limits.torque[joint.v - 6]
        assert command.torque[joint.v - 6] == pytest.approx(min(10.0 * (i + 1) * 0.1, limit))


def test_the_observation_has_its_parts_in_alphabetical_order() -> None:
    robot, policy = installed_robot("g1"), KnownPolicy(10.0, action=0.4)
    plant = MujocoPlant(default_stance(robot, policy.start))
    controller = PolicyController(robot, policy, plant, (0.3, -0.1, 0.2))  # type: ignore[arg-type]
    start = plant.state()
    v = np.arange(robot.model.nv, dtype=float)
    for _ in range(21):
        controller.step(start.replace(v=v))
    first, second = policy.observations
    count = len(policy.joints)
    assert first[:count] == pytest.approx(np.zeros(count))
    assert second[:count] == pytest.approx(np.full(count, 0.4))
    rest = first[count:]
    assert rest[:3] == pytest.approx(0.25 * v[3:6])
    assert rest[3:6] == pytest.approx([0.2, 0.3, -0.1])
    assert rest[6:8] == pytest.approx([1.0, -1.0])  # cosines of the phases 0 and π
    assert rest[8 : 8 + count] == pytest.approx(np.zeros(count))
    assert rest[8 + count : 8 + 2 * count] == pytest.approx([0.05 * v[joint.v] for joint in policy.joints])
    assert rest[-5:] == pytest.approx([0.0, 0.0, -1.0, 0.0, 0.0], abs=1e-9)
    turned = 2.0 * np.pi * 0.02
    assert second[count + 6 : count + 8] == pytest.approx([np.cos(turned), -np.cos(turned)])


def test_a_limp_robot_falls_and_a_stiff_one_stands() -> None:
    robot = installed_robot("g1")
    limp = trials.simulate(PolicyWalker(KnownPolicy(1e-3)), robot, (0.0, 0.0, 0.0), 2.0)  # type: ignore[arg-type]
    assert limp.fell
    stiff = trials.simulate(PolicyWalker(KnownPolicy(200.0)), robot, (0.0, 0.0, 0.0), 0.3)  # type: ignore[arg-type]
    assert not stiff.fell
    assert len(stiff.states) == 31
    assert stiff.torques.shape == (30, len(robot.joints))
    assert 0.5 * robot.weight < stiff.forces.sum() / 30 * 2 < 3.0 * robot.weight


def test_all_runs_have_self_collision_and_speed_limits() -> None:
    seen: list[World] = []

    class Watched(PolicyWalker):
        def build(self, robot: Any, speed: Any, world: World, seed: int) -> Any:
            seen.append(world)
            return super().build(robot, speed, world, seed)

    trials.simulate(Watched(KnownPolicy(200.0)), installed_robot("g1"), (0.0, 0.0, 0.0), 0.01, delay=10.0)  # type: ignore[arg-type]
    assert seen[0].self_collision
    assert seen[0].speed_limits
    assert seen[0].delay == 10.0


def test_the_table_has_a_column_per_walker_and_gaps_for_tests_that_were_not_run() -> None:
    text = table({"Poise": {"push": "1", "delay": "2"}, "FastSAC": {"push": "3"}})
    assert text.splitlines() == ["| | Poise | FastSAC |", "|---|---|---|", "| push | 1 | 3 |", "| delay | 2 |  |"]
