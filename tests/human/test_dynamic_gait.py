"""A measured gait under torques and contact forces, on an ideal plant and in MuJoCo."""

from functools import cache

import numpy as np
import pinocchio
import pytest

from example_fits import each_trial, recorded_fit
from poise.human import dynamic_gait, gait
from poise.plants import FLOOR_FRICTION
from poise.recording import Recording
from poise.robots import GRAVITY
from sample_walks import sample_walk


@cache
def dynamic_gait_result() -> dynamic_gait.DynamicGait:
    reference = sample_walk()
    return dynamic_gait.simulate_gait(reference, reference.cycle(), physics=False)


def forces(recording: Recording) -> np.ndarray:
    """Forces of all points at all times, in the world: k x n x 3."""
    names = [name for name in recording.channels if name.startswith("force/")]
    return np.array([np.nan_to_num(recording[name][:, :3]) for name in names])


def test_the_equation_of_motion_holds_with_the_contact_forces() -> None:
    """Newton and Euler for the whole body: the sum of the forces is the rate of the momentum, gravity apart."""
    found = dynamic_gait_result()
    recording, robot = found.ideal_recording, found.reference.robot
    data = robot.model.createData()
    total = forces(recording).sum(axis=0)
    acceleration = recording["command/acceleration"]
    for k in range(0, recording.samples, 7):
        pinocchio.computeCentroidalMomentumTimeVariation(
            robot.model, data, recording["q"][k], recording["v"][k], acceleration[k]
        )
        needed = data.dhg.linear + robot.mass * GRAVITY * np.array([0.0, 0.0, 1.0])
        assert total[k] == pytest.approx(needed, abs=0.05)


def test_contact_forces_push_and_stay_in_the_friction_cone() -> None:
    each = forces(dynamic_gait_result().ideal_recording)
    assert each[..., 2].min() > -1e-6
    across = np.hypot(each[..., 0], each[..., 1])
    assert (across <= FLOOR_FRICTION * each[..., 2] + 1e-6).all()


def test_only_points_of_stance_feet_have_forces() -> None:
    found = dynamic_gait_result()
    for k in range(0, found.ideal_recording.samples, 5):
        time = float(found.ideal_recording.time[k])
        bearing = {contact.name for contact in found.schedule.active_contacts(time)}
        pushing = {
            channel.label.removeprefix("force/")
            for name, channel in found.ideal_recording.channels.items()
            if name.startswith("force/") and np.nan_to_num(channel.values[k, :3]).any()
        }
        assert pushing <= bearing


def test_the_zero_moment_point_is_inside_the_feet() -> None:
    """The centre of pressure of pushing forces lies between their points."""
    found = dynamic_gait_result()
    recording = found.ideal_recording
    names = [name.removeprefix("force/") for name in recording.channels if name.startswith("force/")]
    for k in range(0, recording.samples, 10):
        points, weights = [], []
        for name in names:
            force = np.nan_to_num(recording[f"force/{name}"][k])
            if force[2] > 1e-6:
                points.append(recording[f"contact_point/{name}"][k])
                weights.append(force[2])
        center = np.average(points, axis=0, weights=weights)
        assert center[:2] == pytest.approx(np.clip(center[:2], np.min(points, axis=0)[:2], np.max(points, axis=0)[:2]))
        assert abs(np.mean([point[2] for point in points])) < 0.06  # on the ground, or near it: soles are stiff


def test_the_walk_is_tracked_without_fallbacks() -> None:
    found = dynamic_gait_result()
    facts = found.summary()
    assert facts["fallbacks"] == {}
    assert facts["angle_rmse_deg"] < 3.0
    assert 0.5 < facts["vertical_force_of_weight"][0] < 1.0 < facts["vertical_force_of_weight"][1] < 1.6
    assert recording_is_finite(found.ideal_recording)


def recording_is_finite(recording: Recording) -> bool:
    return bool(np.isfinite(recording["command/torque"]).all())


def test_a_repeated_cycle_is_continuous() -> None:
    reference = sample_walk()
    cycle = reference.cycle()
    many = dynamic_gait.repeat_cycle(reference, cycle, 3)
    n = round(cycle.duration * 200.0)
    stride = many.q[n, :2] - many.q[0, :2]
    assert many.q[2 * n, :2] - many.q[n, :2] == pytest.approx(stride, abs=2e-3)
    assert many.q[2 * n, 7:] == pytest.approx(many.q[n, 7:], abs=1e-9)
    jumps = np.abs(np.diff(many.q[:, 7:], axis=0)).max()
    assert jumps < 1.2 * np.abs(np.diff(many.q[:n, 7:], axis=0)).max()


def test_in_mujoco_the_model_walks_at_least_one_stride() -> None:
    """The result also reports the end: measured walks last 1 to 4 strides, see docs/human.md."""
    reference = sample_walk()
    recording, fall, went, planned, strides = dynamic_gait.simulate_physics(reference, reference.cycle(), cycles=2)
    assert strides > 1.0
    assert went > 0.8
    assert planned > went or not fall
    assert recording.nonfinite_commands() == 0


@each_trial
def test_recorded_walks_are_possible_within_physics(name: str) -> None:
    reference = gait.ReferenceWalk.from_fit(recorded_fit(name))
    facts = dynamic_gait.simulate_gait(reference, reference.cycle(), physics=False).summary()
    assert facts["fallbacks"] == {}
    assert facts["angle_rmse_deg"] < 3.0
    assert facts["friction_used"] <= FLOOR_FRICTION + 1e-6
