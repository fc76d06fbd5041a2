"""Analysis of whole walks: from states and forces of recordings, constructed or simulated in MuJoCo."""

from __future__ import annotations

import math

import numpy as np
import pytest

import poise
from poise.analysis import STYLE_MEASURES, analyze_walk, style_measures
from poise.analysis.body_trajectories import standing_arm_pitch
from poise.behaviors import Walk
from poise.plants import IdealPlant
from poise.recording import Recording
from poise.robots import Robot, load_robot
from shared_data import require_models
from synthetic_walks import SyntheticWalk, biped, synthetic_recording


@pytest.fixture(scope="module")
def robot() -> Robot:
    return biped()


def test_footprints_from_states_are_those_of_the_synthetic_walk(robot: Robot) -> None:
    synthetic_walk = SyntheticWalk(steps=8, period=0.01, sway=0.02)
    walk = analyze_walk(synthetic_recording(robot, synthetic_walk), robot)
    assert len(walk.steps) == 8
    for each, (side, place, _) in zip(walk.footprints, synthetic_walk.footprints(), strict=True):
        assert each.side == side
        assert each.position == pytest.approx(place, abs=1e-8)
    found = style_measures(walk)
    assert found.forward == pytest.approx(0.4, rel=0.02)
    assert found.step_height == pytest.approx(0.05, rel=0.02)


def test_the_arm_swing_of_a_sine_is_twice_its_amplitude(robot: Robot) -> None:
    found = style_measures(
        analyze_walk(synthetic_recording(robot, SyntheticWalk(steps=8, period=0.01), swing=0.25), robot)
    )
    assert found.arm_swing == pytest.approx(math.degrees(0.5), rel=0.01)
    assert found.arm_lift == pytest.approx(0.0, abs=0.1)
    assert found.chest_pitch == pytest.approx(0.0, abs=1e-9)
    assert standing_arm_pitch(robot, "left") == pytest.approx(0.0, abs=1e-6)


def test_standing_is_not_a_walk(robot: Robot) -> None:
    start = robot.stance("standing")
    hierarchy = poise.Hierarchy(levels=[poise.Level("posture", [poise.tasks.Posture(start)])])
    recording = poise.record(poise.KinematicController(hierarchy), IdealPlant(start), 0.2)
    walk = analyze_walk(recording, robot)
    assert (walk.is_walk, walk.steps, len(walk.footprints)) == (False, (), 2)
    assert all(map(math.isnan, walk.speed))
    assert len(walk.pressure_margin.time) == 0


@pytest.fixture(scope="module")
def mujoco_walk() -> tuple[Recording, Robot]:
    require_models()
    robot = load_robot("g1")
    walk = Walk(robot, speed=(0.25, 0.0, 0.0), steps=8)
    controller = poise.TorqueController(walk, ramp=0.0)
    return poise.record(controller, poise.MujocoPlant(walk.start), walk.seconds), robot


def test_a_walk_in_mujoco_is_measured(mujoco_walk: tuple[Recording, Robot]) -> None:
    recording, robot = mujoco_walk
    walk = analyze_walk(recording, robot)
    assert len(walk.steps) in (8, 9)  # the last one ends side by side
    assert walk.speed.forward == pytest.approx(0.25, rel=0.2)
    found = style_measures(walk)
    finite_measures = {name for name in STYLE_MEASURES if math.isfinite(getattr(found, name))}
    assert set(STYLE_MEASURES) - finite_measures <= {"dcm_error"}
    assert found.step_length * found.cadence / 60.0 == pytest.approx(found.forward, rel=0.05)
    assert found.slip < 0.02
    assert found.dcm_margin > 0.0


def test_in_mujoco_footprints_agree_with_forces_and_poses_of_the_feet(mujoco_walk: tuple[Recording, Robot]) -> None:
    recording, robot = mujoco_walk
    walk = analyze_walk(recording, robot)
    assert len(walk.footprints) >= 8
    for each in walk.footprints:
        middle = (each.begin + each.end) // 2
        foot = robot.foot(each.side)
        assert recording[f"measured/force/{foot.name}/fz"][middle] > 0.05 * 9.81 * robot.mass
        state = recording.state(middle, robot)
        assert state.pose(foot).act(foot.sole.center) == pytest.approx(each.position, abs=0.01)


def test_in_mujoco_the_center_of_pressure_is_inside_the_soles_and_equal_to_the_zmp(
    mujoco_walk: tuple[Recording, Robot],
) -> None:
    recording, robot = mujoco_walk
    walk = analyze_walk(recording, robot)
    margin = walk.pressure_margin.margin
    assert np.nanmin(margin) > -2e-3
    apart = np.linalg.norm(walk.center_of_pressure - walk.tracks.zmp, axis=1)[walk.window]
    assert np.nanmedian(apart) < 0.01  # the one from forces, the other from differences of momentum
