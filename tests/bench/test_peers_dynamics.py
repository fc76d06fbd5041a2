"""Inverse dynamics of Poise and of peers: one motion and one evaluator for all, results as plain data."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio
import pytest

from benchmarks.peers.dynamics import PARTS, PartClock, PoiseDynamics
from benchmarks.peers.dynamics_motion import (
    HAND,
    SOLES,
    AnswerEvaluator,
    BenchmarkMotion,
    DynamicsAnswer,
    answer_differences,
    compute_motion,
    write_scene,
)
from benchmarks.peers.problems import DynamicsProblem
from poise.errors import RobotError
from poise.state import Snapshot

#: Tested steps: some of each phase of the motion.
SOME = range(0, DynamicsProblem.STEPS, 150)


@pytest.fixture(scope="module", params=DynamicsProblem.ROBOTS)
def evaluator(request: pytest.FixtureRequest) -> AnswerEvaluator:
    try:
        return AnswerEvaluator(compute_motion(request.param))
    except RobotError as error:
        pytest.skip(str(error))


def feasible_answer(evaluator: AnswerEvaluator, step: int, internal: float = 0.0) -> DynamicsAnswer:
    """The accelerations of the kinematic solution with the smallest contact wrenches that make them possible.

    `internal` (N) is an internal force that presses the feet apart without motion.
    """
    now = Snapshot(evaluator.robot).at(evaluator.motion.states[step])
    a = evaluator.motion.acceleration[step]
    J = np.vstack([now.jacobian(foot) for foot in evaluator.robot.feet])
    forces = now.mass_matrix @ a + now.nonlinear_effects
    w = np.linalg.pinv(J[:, :6].T) @ forces[:6]
    w[1] += internal
    w[7] -= internal
    return DynamicsAnswer(a, (forces - J.T @ w)[6:])


# -- the motion --------------------------------------------------------------------------------------------------------


def test_rates_and_accelerations_of_the_targets_are_derivatives() -> None:
    value, rate, acceleration = np.array(
        [DynamicsProblem.wave(s, (1.0, 2.0, 3.0), (1, 2, 3)) for s in range(100)]
    ).swapaxes(0, 1)
    assert np.gradient(value, DynamicsProblem.PERIOD, axis=0)[1:-1] == pytest.approx(rate[1:-1], abs=1e-3)
    assert np.gradient(rate, DynamicsProblem.PERIOD, axis=0)[1:-1] == pytest.approx(acceleration[1:-1], abs=1e-2)
    assert DynamicsProblem.wave(DynamicsProblem.STEPS, (1.0, 2.0, 3.0), (1, 2, 3)) == DynamicsProblem.wave(
        0, (1.0, 2.0, 3.0), (1, 2, 3)
    )


def test_both_feet_stand_still_in_every_state(evaluator: AnswerEvaluator) -> None:
    snapshot, start = Snapshot(evaluator.robot), evaluator.motion.start
    for state in evaluator.motion.states[::50]:
        snapshot.at(state)
        for foot in evaluator.robot.feet:
            assert snapshot.velocity(foot) == pytest.approx(np.zeros(6), abs=1e-12)
            assert snapshot.position(foot) == pytest.approx(start.pose(foot).translation, abs=1e-12)
            assert snapshot.rotation(foot) == pytest.approx(start.pose(foot).rotation, abs=1e-12)


def test_the_states_are_one_smooth_closed_motion(evaluator: AnswerEvaluator) -> None:
    moved, model = evaluator.motion, evaluator.robot.model
    for step in SOME:
        other = (step + 1) % DynamicsProblem.STEPS
        difference = pinocchio.difference(model, moved.q[step], moved.q[other]) / DynamicsProblem.PERIOD
        assert difference == pytest.approx((moved.v[step] + moved.v[other]) / 2, abs=1e-3)
        change = (moved.v[other] - moved.v[step]) / DynamicsProblem.PERIOD
        assert change == pytest.approx(moved.acceleration[step], abs=0.05)


def test_no_joint_comes_near_the_end_of_its_range(evaluator: AnswerEvaluator) -> None:
    angles, limits = evaluator.motion.q[:, 7:], evaluator.robot.limits
    assert min((angles - limits.lower).min(), (limits.upper - angles).min()) > 0.05


# -- input of the peers ------------------------------------------------------------------------------------------------


def test_the_urdf_of_the_peers_is_the_same_robot(evaluator: AnswerEvaluator, tmp_path: Path) -> None:
    scene = json.loads(write_scene(evaluator.motion, tmp_path).read_text())
    model = pinocchio.buildModelFromUrdf(scene["urdf"], pinocchio.JointModelFreeFlyer())
    assert list(model.names)[2:] == scene["joints"] == [joint.name for joint in evaluator.robot.joints]
    data, ours = model.createData(), Snapshot(evaluator.robot)
    for step in SOME:
        q, v = np.array(scene["q"][step]), np.array(scene["v"][step])
        ours.at(evaluator.motion.states[step])
        pinocchio.computeAllTerms(model, data, q, v)
        pinocchio.updateFramePlacements(model, data)
        assert np.triu(data.M) == pytest.approx(np.triu(ours.mass_matrix), abs=1e-9)
        assert data.nle == pytest.approx(ours.nonlinear_effects, abs=1e-9)
        hand = data.oMf[model.getFrameId(HAND)]
        assert hand.translation == pytest.approx(ours.position(evaluator.robot.hand(DynamicsProblem.SIDE)), abs=1e-12)
        assert hand.rotation == pytest.approx(np.array(scene["hand"]["rotation"][step]), abs=1e-12)
        for sole, name, foot in zip(scene["soles"], SOLES, evaluator.robot.feet, strict=True):
            middle = ours.position(foot) + ours.rotation(foot) @ foot.sole.center
            assert data.oMf[model.getFrameId(name)].translation == pytest.approx(middle, abs=1e-12)
            assert np.mean(sole["corners"], axis=0) == pytest.approx(np.zeros(3), abs=1e-12)


# -- evaluator ---------------------------------------------------------------------------------------------------------


def test_a_correct_answer_has_no_errors(evaluator: AnswerEvaluator) -> None:
    errors = evaluator.errors(0, feasible_answer(evaluator, 0))
    assert set(errors) == set(DynamicsProblem.ALLOWED)
    assert max(errors.values()) < 1e-9


def test_a_wrong_torque_gives_a_residual_of_the_equation_of_motion(evaluator: AnswerEvaluator) -> None:
    right = feasible_answer(evaluator, 0)
    arm = evaluator.robot.joints[-1].v - 6  # no contact force can replace the torque of an arm
    wrong = right.torque.copy()
    wrong[arm] += 1e-3 * evaluator.weight
    assert evaluator.errors(0, DynamicsAnswer(right.acceleration, wrong))["motion"] == pytest.approx(1e-3, rel=1e-6)


def test_feet_pressed_apart_violate_the_friction_cone_by_the_excess_force(evaluator: AnswerEvaluator) -> None:
    errors = evaluator.errors(0, feasible_answer(evaluator, 0, internal=evaluator.weight))
    assert errors["motion"] < 1e-9
    assert 0.5 < errors["cone"] < 1.0  # sideways force of one weight minus the friction at half a weight
    assert errors["contact"] < 1e-9


def test_the_task_error_is_the_difference_of_accelerations(evaluator: AnswerEvaluator) -> None:
    right = feasible_answer(evaluator, 0)
    lifted = right.acceleration.copy()
    J = (
        Snapshot(evaluator.robot)
        .at(evaluator.motion.states[0])
        .jacobian(evaluator.robot.hand(DynamicsProblem.SIDE))[:3]
    )
    lifted[6:] += np.linalg.pinv(J[:, 6:]) @ np.array([0.0, 0.0, 0.5])
    assert evaluator.errors(0, DynamicsAnswer(lifted, right.torque))["hand"] == pytest.approx(0.5, abs=1e-6)


def test_an_answer_that_is_not_finite_is_worse_than_any(evaluator: AnswerEvaluator) -> None:
    a, torque = feasible_answer(evaluator, 0)
    assert set(evaluator.errors(0, DynamicsAnswer(a * np.nan, torque)).values()) == {np.inf}


def test_a_torque_beyond_its_limit_is_reported_relative_to_the_limit(evaluator: AnswerEvaluator) -> None:
    a, torque = feasible_answer(evaluator, 0)
    torque[0] = -1.25 * evaluator.robot.limits.torque[0]
    assert evaluator.errors(0, DynamicsAnswer(a, torque))["torque"] == pytest.approx(0.25)


def test_differences_compare_the_common_steps() -> None:
    a, b = (
        DynamicsAnswer(np.zeros(4), np.zeros(2)),
        DynamicsAnswer(np.array([0.0, 0.0, 0.0, 2.0]), np.array([3.0, -3.0])),
    )
    found = answer_differences({0: a, 20: a}, {20: b, 40: a})
    assert found == {"acceleration": 1.0, "acceleration_max": 2.0, "torque": 3.0, "torque_max": 3.0}
    assert answer_differences({0: a}, {20: b}) is None


# -- Poise -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("weighted", [False, True])
def test_poise_meets_the_tolerances_along_the_motion(evaluator: AnswerEvaluator, weighted: bool) -> None:
    ours = PoiseDynamics(evaluator, weighted)
    times, errors = ours.run_steps(300)
    assert len(times) == 300
    assert {key: errors[key] <= allowed for key, allowed in DynamicsProblem.ALLOWED.items()} == dict.fromkeys(
        errors, True
    )
    assert sorted(ours.answers) == list(range(0, 300, DynamicsProblem.EVALUATED_EVERY))


def test_strict_priorities_give_the_same_accelerations_in_dynamics_as_in_kinematics(evaluator: AnswerEvaluator) -> None:
    ours = PoiseDynamics(evaluator)
    ours.run_steps(DynamicsProblem.STEPS)
    for step, answer in ours.answers.items():
        assert answer.acceleration == pytest.approx(evaluator.motion.acceleration[step], abs=1e-7)


def test_the_parts_of_a_step_are_timed_and_the_wrappers_are_removed(evaluator: AnswerEvaluator) -> None:
    ours = PoiseDynamics(evaluator)
    ours.run_steps(DynamicsProblem.EVALUATED_EVERY)
    parts = ours.parts(DynamicsProblem.EVALUATED_EVERY)
    assert {part: len(times) for part, times in parts.items()} == dict.fromkeys(PARTS, DynamicsProblem.EVALUATED_EVERY)
    assert all(min(times) > 0.0 for times in parts.values())
    controller = ours.controller
    owners: list[Any] = [controller._snapshot, controller._assembly, controller._assembly.stack]
    assert not any({"at", "fill", "write", "program"} & owner.__dict__.keys() for owner in owners)
    assert controller._solve == controller.solver.solve


def test_time_inside_an_inner_part_does_not_count_for_the_outer_one(monkeypatch: pytest.MonkeyPatch) -> None:
    now = iter([0, 10, 15, 18, 30, 100])  # start, outer begins, inner begins, inner ends, outer ends, stop
    monkeypatch.setattr("benchmarks.peers.dynamics.time.perf_counter_ns", lambda: next(now))
    clock = PartClock()
    inner = clock.wrap(lambda: None, "pinocchio")
    outer = clock.wrap(inner, "assembly")
    clock.start("command")
    outer()
    assert clock.stop() == {"pinocchio": 3, "assembly": 17, "solve": 0, "command": 80}


def test_the_motion_is_the_same_when_it_is_computed_again(evaluator: AnswerEvaluator) -> None:
    again: BenchmarkMotion = compute_motion(evaluator.robot.name)
    assert np.array_equal(again.q, evaluator.motion.q)
