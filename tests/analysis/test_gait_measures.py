"""Knee flexion and jerk of the center of mass against motions with known values."""

from __future__ import annotations

import math
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from poise.analysis import analyze_walk, center_of_mass_jerk, knee_measures
from poise.recording import Channel, CoordinateLabels, Recording
from poise.robots import knee_joint, load_robot
from synthetic_walks import SyntheticWalk, biped, synthetic_trajectories


@pytest.mark.parametrize("name", ["hoap3", "human", "nao"])
def test_the_knee_is_the_joint_that_is_named_so(name: str) -> None:
    robot = load_robot(name)
    for side in robot.feet:
        assert "knee" in knee_joint(robot, side.side).name.lower()


def test_the_flexion_is_the_angle_of_the_knee_in_stance_and_swing() -> None:
    """Both knees follow sines of time; each phase is evaluated with its own leg."""
    robot = biped()
    synthetic_walk = SyntheticWalk()
    tracks = synthetic_trajectories(robot, synthetic_walk)
    time = synthetic_walk.time
    curves = {"left": 0.4 + 0.2 * np.sin(5.0 * time), "right": 0.6 + 0.1 * np.cos(3.0 * time)}
    q = np.tile(robot.stance("standing").q, (len(time), 1))
    for side, curve in curves.items():
        q[:, knee_joint(robot, "left" if side == "left" else "right").q] = curve
    labels = CoordinateLabels.of(robot).q_labels
    recording = Recording([*tracks.recording.channels.values(), Channel("q", "", q, labels)], {"robot": robot.name})
    walk = analyze_walk(recording, robot, replace(tracks, recording=recording))
    knees = knee_measures(walk)
    spans = [(step.side, slice(step.before.end, step.after.begin)) for step in walk.steady_steps]
    stance = [curves["right" if side == "left" else "left"][span] for side, span in spans]
    swing = [curves[side][span] for side, span in spans]
    assert knees.stance_least == pytest.approx(math.degrees(np.mean([each.min() for each in stance])))
    assert knees.stance_range == pytest.approx(math.degrees(np.mean([np.ptp(each) for each in stance])))
    assert knees.swing_largest == pytest.approx(math.degrees(np.mean([each.max() for each in swing])))
    assert knees.stance_least <= knees.mid_stance <= knees.stance_least + knees.stance_range


def test_the_jerk_of_a_sine_is_its_third_derivative() -> None:
    period, amplitude, rate = 0.002, 0.01, 12.0
    time = period * np.arange(4000)
    velocity = np.zeros((len(time), 3))
    velocity[:, 2] = amplitude * rate * np.cos(rate * time)
    walk: Any = SimpleNamespace(
        tracks=SimpleNamespace(recording=SimpleNamespace(period=period), center_of_mass_velocity=velocity),
        window=slice(500, 3500),
    )
    assert center_of_mass_jerk(walk) == pytest.approx(amplitude * rate**3 / math.sqrt(2.0), rel=0.01)
