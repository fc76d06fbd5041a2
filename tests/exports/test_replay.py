"""Open-loop replay: servo targets follow the trajectory, and the result reports the simulated outcome."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pinocchio
import pytest
from random_motions import biped, make_recording, rail, random_recording

import poise
from poise import runs
from poise.exports import LEAD_IN, LEAD_OUT, ExportError, Trajectory, replay_trajectory
from poise.exports.replay import PERIOD, OpenLoopController, torque_offsets
from poise.plants import MujocoPlant, PositionServos, steps
from poise.robots import Robot
from robot_states import installed_robot

STIFF = 0.02  # rad at which a servo exerts its largest torque


@pytest.fixture(scope="module")
def robot() -> Robot:
    return biped()


def knee_bend(robot: Robot, depth: float, seconds: float = 1.0, lean: float = 0.0) -> Trajectory:
    """A knee bend from standing, with an optional lean over the toes."""
    n = round(seconds / 0.02) + 1
    q = np.tile(robot.stance("standing").q, (n, 1))
    share = (1.0 - np.cos(np.linspace(0.0, np.pi, n))) / 2.0
    for side in ("left", "right"):
        for name, part in (("hip_pitch", -0.5), ("knee", 1.0), ("ankle_pitch", -0.5)):
            q[:, robot.joint(f"{side}_{name}").q] += part * depth * share
        q[:, robot.joint(f"{side}_ankle_pitch").q] += lean * share
    return Trajectory.of(make_recording(robot, q, period=0.02))


def test_targets_of_the_servos_are_the_trajectory(robot: Robot) -> None:
    trajectory = knee_bend(robot, 0.4)
    plant = MujocoPlant(robot.stance("standing"), actuators=PositionServos(), period=PERIOD)
    stiffness = robot.limits.torque / STIFF
    damping = 2.0 * np.sqrt(stiffness * _inertia(robot))
    gains = (stiffness, damping)
    controller = OpenLoopController(robot, trajectory, plant.data.ctrl.copy(), gains, torque_feedforward=False)
    for step in steps(controller, plant, controller.seconds):
        time, rate = step.state.time + PERIOD, step.command.velocity[6:]
        target = plant.data.ctrl - damping / stiffness * rate
        assert np.abs(target - controller.target_at(time)).max() < 1e-9
        if LEAD_IN <= time <= LEAD_IN + trajectory.duration:
            reference = trajectory.at(np.array([time - LEAD_IN])).q[0, 7:]
            assert np.abs(target - reference).max() < 1e-9
    assert not plant.fallen
    assert controller.seconds == pytest.approx(LEAD_IN + 1.0 + LEAD_OUT)


def _inertia(robot: Robot) -> np.ndarray:
    M = pinocchio.crba(robot.model, robot.model.createData(), robot.stance("standing").q)
    return np.diag(M)[6:]


def test_a_knee_bend_is_replayed_without_a_fall_and_tracked(robot: Robot) -> None:
    recording, result = replay_trajectory(robot, knee_bend(robot, 0.4))
    assert (result["fell"], result["reason"]) == (False, None)
    assert recording.time[-1] == pytest.approx(LEAD_IN + 1.0 + LEAD_OUT, abs=0.01)
    assert result["tracking_rad"]["max"] < STIFF
    assert result["drift_m"] < 0.02
    assert abs(result["drift_rad"]) < 0.01
    assert recording.provenance["behavior"] == "replay"


def test_a_trajectory_that_leans_over_the_toes_ends_in_a_reported_fall(robot: Robot, tmp_path: Path) -> None:
    recording, result = replay_trajectory(robot, knee_bend(robot, 0.2, lean=0.6), path=tmp_path / "fall.poise")
    assert result["fell"]
    assert result["reason"].startswith("fell at ")
    assert result["drift_m"] is None or result["drift_m"] > 0.1
    assert poise.load_recording(tmp_path / "fall.poise").samples == recording.samples


def test_the_result_has_the_keys_of_a_run(robot: Robot) -> None:
    _, result = replay_trajectory(robot, knee_bend(robot, 0.1, seconds=0.1))
    run = {"behavior", "robot", "mode", "plant", "seconds", "fell", "reason", "steps", "distance_m", "heading_rad",
           "worst_tilt_deg", "zmp_margin_m", "reach_errors_m", "control_ms", "realtime_factor", "fallbacks",
           "nonfinite_commands", "levels"}  # fmt: skip
    assert run <= result.keys()
    assert (result["behavior"], result["mode"], result["plant"]) == ("replay", "position", "mujoco")


def test_torque_feed_forward_compensates_the_servo_deflection(robot: Robot) -> None:
    standing = knee_bend(robot, 0.0)
    plant = MujocoPlant(robot.stance("standing"), actuators=PositionServos(), period=PERIOD)
    holding_torque = (plant.data.ctrl - plant.start.q[7:]) * robot.limits.torque / STIFF
    known = Trajectory(
        standing.time,
        standing.q,
        standing.joints,
        standing.units,
        torque=np.tile(holding_torque, (len(standing.time), 1)),
    )
    sagging, leading = (
        replay_trajectory(robot, known, torque_feedforward=torque_feedforward)[1]["tracking_rad"]["rms"]
        for torque_feedforward in (False, True)
    )
    assert leading < 0.1 * sagging


def test_servos_whose_joints_follow_give_the_torques_that_are_fed_forward() -> None:
    rng = np.random.default_rng(5)
    torque = np.repeat(rng.uniform(-100.0, 100.0, (20, 3)), 5, axis=0)  # jumps, as at a touchdown
    K, D = np.array([4000.0, 200.0, 4000.0]), np.array([40.0, 0.0, 2.0])
    offsets = torque_offsets(torque, (K, D))
    rates = np.diff(offsets, axis=0) / PERIOD
    assert np.abs(K * offsets[1:] + D * rates - torque[:-1]).max() < 1e-9
    assert np.abs(K * offsets[0] - torque[0]).max() < 1e-12


def test_torques_are_fed_forward_if_they_are_known_and_not_disabled(robot: Robot) -> None:
    standing = knee_bend(robot, 0.0, seconds=0.04)
    angles = (standing.time, standing.q, standing.joints, standing.units)
    torque = np.zeros((len(standing.time), len(standing.joints)))

    def replayed(trajectory: Trajectory, **options: bool) -> bool:
        recording, result = replay_trajectory(robot, trajectory, **options)  # type: ignore[arg-type]
        assert recording.provenance["torque_feedforward"] == result["torque_feedforward"]
        return bool(result["torque_feedforward"])

    assert replayed(Trajectory(*angles, torque=torque))
    assert not replayed(Trajectory(*angles, torque=torque), torque_feedforward=False)
    assert not replayed(Trajectory(*angles))
    assert not replayed(Trajectory(*angles, torque=np.full_like(torque, np.nan)))


@pytest.mark.needs_models
@pytest.mark.parametrize(("name", "step_count"), [("nao", 4), ("g1", 8)])
def test_a_recorded_walk_is_replayed_by_default_without_a_fall(name: str, step_count: int) -> None:
    """Without the torques the walk of G1 falls: this is why they are fed forward by default.

    Each landing moves the body a little, so the drift of an open loop grows with the way: at most a hundredth of it.
    """
    walk = Trajectory.of(runs.Walk(robot=name, steps=step_count).run().recording)
    robot = installed_robot(name)
    _, result = replay_trajectory(robot, walk)
    assert (result["fell"], result["reason"]) == (False, None)
    assert result["torque_feedforward"]
    walked = float(np.linalg.norm(walk.q[-1, :2] - walk.q[0, :2]))
    assert result["distance_m"] == pytest.approx(walked, rel=0.01)
    assert result["drift_m"] < 0.01 * walked
    without = replay_trajectory(robot, walk, torque_feedforward=False)[1]
    assert without["fell"] == (name == "g1")
    assert without["tracking_rad"]["rms"] > 2.0 * result["tracking_rad"]["rms"]


def test_the_same_replay_is_the_same_to_the_last_bit(robot: Robot) -> None:
    one, other = (replay_trajectory(robot, knee_bend(robot, 0.3, seconds=0.2))[0] for _ in range(2))
    assert (one["q"] == other["q"]).all()


def test_a_servo_that_was_overpowered_comes_back_to_the_trajectory(robot: Robot) -> None:
    weak = (robot.limits.torque / STIFF, np.ones(len(robot.joints)))
    controller = OpenLoopController(
        robot, knee_bend(robot, 0.0), robot.stance("standing").q[7:].copy(), weak, torque_feedforward=False
    )
    displaced = robot.stance("standing").q.copy()
    displaced[7] += 0.5
    state = poise.State(robot, displaced, time=LEAD_IN + 0.1)
    controller.step(state)  # the target stays near the joint, which is far from the trajectory
    back = controller.step(poise.State(robot, robot.stance("standing").q, time=LEAD_IN + 0.1 + PERIOD)).velocity[6]
    assert abs(back) <= robot.limits.velocity[0] + 1e-9
    assert back < 0.0


def test_a_trajectory_of_another_robot_is_refused(robot: Robot, tmp_path: Path) -> None:
    with pytest.raises(ExportError, match="does not fit biped: it has no joint"):
        replay_trajectory(robot, Trajectory.of(random_recording(rail(tmp_path), 3)))
    with pytest.raises(ExportError, match="no feet"):
        replay_trajectory(rail(tmp_path), Trajectory.of(random_recording(rail(tmp_path), 3)))
    standing = knee_bend(robot, 0.0, seconds=0.1)
    with pytest.raises(ExportError, match="has no torques"):
        replay_trajectory(
            robot, Trajectory(standing.time, standing.q, standing.joints, standing.units), torque_feedforward=True
        )
