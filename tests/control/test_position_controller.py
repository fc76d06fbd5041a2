"""Position servos follow a reference body."""

from __future__ import annotations

from typing import Any

import numpy as np
import pinocchio
import pytest

import poise
from poise import constraints, tasks
from poise.errors import PoiseError
from poise.plants import PositionServos, steps
from poise.state import SensorReadings, Snapshot


@pytest.fixture(scope="module")
def robot() -> poise.Robot:
    return poise.load_robot("mighty")


def reach_hierarchy(robot: poise.Robot) -> poise.Hierarchy:
    start = robot.stance("standing")
    goal = start.pose(robot.hand("left")).translation + np.array([0.04, 0.0, 0.03])
    return poise.Hierarchy(
        always=[constraints.JointRange(robot)],
        levels=[
            poise.Level("feet", [tasks.HoldPose(foot, at=start) for foot in robot.feet]),
            poise.Level("balance", [tasks.CenterOfMass(target=start.support_center, axes="xy")]),
            poise.Level("reach", [tasks.Position(robot.hand("left"), target=goal)]),
            poise.Level("posture", [tasks.Posture(target=start)]),
        ],
    )


def test_its_reference_moves_like_an_ideal_robot(robot: poise.Robot) -> None:
    """Compared with a kinematic controller on an ideal plant."""
    start = robot.stance("standing")
    ideal, kinematic = poise.IdealPlant(start), poise.KinematicController(reach_hierarchy(robot))
    controller = poise.PositionController(reach_hierarchy(robot))
    for mine, theirs in zip(steps(controller, poise.IdealPlant(start), 1.0), steps(kinematic, ideal, 1.0), strict=True):
        assert mine.command.position is not None
        assert np.allclose(mine.command.velocity, theirs.command.velocity, atol=1e-9)
    assert np.allclose(controller.reference.q[7:], ideal.state().q[7:], atol=1e-9)  # type: ignore[union-attr]


def test_servos_move_the_hand_to_the_position_of_the_reference(robot: poise.Robot) -> None:
    plant = poise.MujocoPlant(robot.stance("standing"), actuators=PositionServos())
    controller = poise.PositionController(reach_hierarchy(robot))
    for _ in steps(controller, plant, 3.0):
        pass
    hand, reference = robot.hand("left"), controller.reference
    assert reference is not None
    assert not plant.fallen
    assert np.linalg.norm(plant.truth().pose(hand).translation - reference.pose(hand).translation) < 0.006


def test_an_observer_receives_the_measured_state_and_moves_the_reference(robot: poise.Robot) -> None:
    class ObservingBehavior:
        def __init__(self) -> None:
            self.hierarchy = reach_hierarchy(robot)
            self.observations: list[Any] = []

        def __call__(self, snapshot: Snapshot) -> poise.Hierarchy:
            return self.hierarchy

        def observe(self, real: Snapshot, reference: Snapshot, readings: SensorReadings | None) -> pinocchio.SE3 | None:
            self.observations.append(
                (np.array(real.q), None if readings is None else sum(f.sum() for f in readings.cells.values()))
            )
            if len(self.observations) == 2:
                return pinocchio.SE3(np.eye(3), np.array([0.1, 0.0, 0.0]))
            return None

    behavior = ObservingBehavior()
    controller = poise.PositionController(behavior)
    plant = poise.MujocoPlant(robot.stance("standing"), actuators=PositionServos())
    before = None
    for i, step in enumerate(steps(controller, plant, 0.015)):
        if i == 0:
            before = controller.reference.q[0]  # type: ignore[union-attr]
        assert np.array_equal(behavior.observations[i][0], step.state.q)
    assert controller.reference.q[0] == pytest.approx(before + 0.1, abs=5e-3)  # type: ignore[union-attr,operator]
    assert behavior.observations[-1][1] == pytest.approx(9.81 * robot.mass, rel=0.2)


def test_an_invalid_state_or_observer_leaves_a_finite_command(robot: poise.Robot) -> None:
    class RaisingBehavior:
        def __call__(self, snapshot: Snapshot) -> poise.Hierarchy:
            return hierarchy

        def observe(self, *_: object) -> None:
            raise RuntimeError("no")

    hierarchy = reach_hierarchy(robot)
    controller = poise.PositionController(RaisingBehavior())
    start = robot.stance("standing")
    assert controller.step(start).fallback == "not observed: RuntimeError: no"
    for state in (start, None):
        command = controller.step(state)
        assert command.position is not None
        assert np.isfinite(command.position).all()
    with pytest.raises(PoiseError, match="first state"):
        poise.PositionController(hierarchy).step(None)


def test_servos_take_positions_and_ignore_those_that_are_no_numbers(robot: poise.Robot) -> None:
    start = robot.stance("standing")
    plant = poise.MujocoPlant(start, actuators=PositionServos())
    zero, bad = np.zeros(robot.model.nv), np.full(len(robot.joints), np.nan)
    plant.apply(poise.Command(zero, None, None, 0.005, position=bad))
    plant.advance()
    assert np.isfinite(plant.truth().q).all()
    assert plant.counts["position not finite"] == 1
    target, elbow = start.q[7:].copy(), next(j for j in robot.joints if "elbow_flexion" in j.name)
    target[elbow.v - 6] += 0.2
    for _ in range(400):
        plant.apply(poise.Command(zero, None, None, 0.005, position=target))
        plant.advance()
    assert plant.truth().q[elbow.q] == pytest.approx(target[elbow.v - 6], abs=0.01)
