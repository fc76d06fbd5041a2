"""Segments that are out of view for a time: nothing is invented there, and all else is as if they had been seen."""

from functools import cache
from pathlib import Path

import numpy as np
import pinocchio
import pytest

from poise import exports, human
from poise.arrays import Array
from poise.human import Fit, ReferenceWalk, Trial, compute_torques, fit, sample_trial
from poise.human.fitting.visibility import influential_joints

ARM = ("left_upper_arm", "left_forearm", "left_hand")
LOWER_LEG = ("left_shank", "left_foot")


@cache
def trials() -> tuple[Trial, Trial]:
    return sample_trial(cycles=2, marker_set="plug_in_gait", noise=0.001)


@cache
def whole() -> Fit:
    return fit(*trials())


@cache
def hidden(segments: tuple[str, ...], begin: int, end: int) -> Fit:
    """Fit the walk without the markers of some segments in some frames."""
    walk, static = trials()
    positions = walk.positions.copy()
    for label, link in zip(whole().marker_placement.labels, whole().marker_placement.links, strict=True):
        if link in segments:
            positions[begin:end, walk.labels.index(label)] = np.nan
    return fit(walk.replace(positions=positions), static)


def difference(found: Fit, joint: str) -> Array:
    return np.degrees(found.angles()[joint] - whole().angles()[joint])


def test_a_segment_hidden_for_a_tenth_of_a_second_is_bridged() -> None:
    found = hidden(LOWER_LEG, 100, 110)
    for joint in ("left_hip_flexion", "left_knee_flexion", "left_ankle_dorsiflexion"):
        assert found.seen(joint).all()
        assert np.abs(difference(found, joint)).max() < 3.0, joint
    assert len(ReferenceWalk.from_fit(found).cycles) == len(ReferenceWalk.from_fit(whole()).cycles)


@pytest.mark.parametrize(("segments", "begin", "end", "lost"), [
    (LOWER_LEG, 100, 150, ("left_knee_flexion", "left_ankle_dorsiflexion")),
    (ARM, 40, 240, ("left_shoulder_flexion", "left_elbow_flexion")),
])  # fmt: skip
def test_a_hidden_segment_has_no_posture_and_the_rest_of_the_body_is_as_before(
    segments: tuple[str, ...], begin: int, end: int, lost: tuple[str, ...]
) -> None:
    found = hidden(segments, begin, end)
    gap = np.zeros(len(found.time), dtype=bool)
    gap[begin:end] = True
    for joint in found.measured_joints:
        if joint in lost:
            assert np.array_equal(np.isnan(found.angles()[joint]), gap), joint
            assert np.isnan(found.v[gap, found.robot.joint(joint).v]).all()
            assert np.isnan(found.a[gap, found.robot.joint(joint).v]).all()
            assert np.nanmax(np.abs(difference(found, joint))) < 3.0, joint  # also in the first frame after it
        if not joint.startswith("left"):
            assert np.abs(difference(found, joint)).max() < 1.0, joint
    assert any("not in view, values are absent" in note for note in found.notes)
    assert found.quality.verdict == "good"


def test_velocities_and_accelerations_beside_a_gap_are_right_or_absent() -> None:
    found = hidden(LOWER_LEG, 100, 150)
    k = found.robot.joint("left_knee_flexion").v
    assert np.isnan(found.a[95:155, k]).all()
    for values, truth, tolerance in ((found.v, whole().v, 0.5), (found.a, whole().a, 8.0)):
        assert np.isfinite(values[[85, 165], k]).all()
        assert np.nanmax(np.abs(values[:, k] - truth[:, k])) < tolerance


def test_no_event_and_no_cycle_touches_a_gap() -> None:
    found = hidden(LOWER_LEG, 30, 60)
    walk, reference = ReferenceWalk.from_fit(whole()), ReferenceWalk.from_fit(found)
    begin, end = found.time[30], found.time[59]
    far = [event for event in walk.events if event.side == "right" or not begin - 0.1 < event.time < end + 0.1]
    assert [(event.side, event.kind) for event in reference.events] == [(event.side, event.kind) for event in far]
    assert [event.time for event in reference.events] == pytest.approx([event.time for event in far], abs=0.021)
    assert reference.cycles == tuple(
        cycle for cycle in reference.cycles if cycle.end < begin or cycle.initial_contact > end
    )
    assert 0 < len(reference.cycles) < len(walk.cycles)
    report = human.study_gait([found], variants=[human.BEST]).trials[0]
    assert report.cycle.end < begin or report.cycle.initial_contact > end


def test_moments_are_absent_where_the_motion_they_depend_on_is() -> None:
    torques, truth = compute_torques(hidden(LOWER_LEG, 100, 150)), compute_torques(whole())
    for joint in ("left_hip_flexion", "left_knee_flexion", "left_ankle_dorsiflexion"):
        values = torques.joint_torque(joint)
        assert np.isnan(values[95:155]).all(), joint
        far = np.r_[20:90, 170 : len(values) - 20]
        known = np.isfinite(truth.joint_torque(joint)[far])
        apart = values[far][known] - truth.joint_torque(joint)[far][known]
        assert np.nanmax(np.abs(apart)) < 4.0, joint
    right = torques.joint_torque("right_knee_flexion") - truth.joint_torque("right_knee_flexion")
    assert np.nanmax(np.abs(right)) < 1.0
    assert np.isnan(torques.residual[100:150]).all()
    assert np.isfinite(torques.residual_rms).all()


def test_the_centre_of_mass_is_absent_without_a_leg_and_known_without_toes() -> None:
    recording = hidden(LOWER_LEG, 100, 150).recording()
    assert np.isnan(recording["center_of_mass"][100:150]).all()
    assert np.isfinite(recording["center_of_mass"][:90]).all()
    assert np.isnan(recording["q/left_toes_extension"]).all()  # no marker on the toes in this set
    robot = whole().robot
    moved = influential_joints(robot, whole().motion.q)
    data, q, step = robot.model.createData(), whole().motion.q[0], 1e-4
    for joint in robot.joints:
        change = q.copy()
        change[joint.q] += step
        shift = pinocchio.centerOfMass(robot.model, data, change) - pinocchio.centerOfMass(robot.model, data, q)
        if np.linalg.norm(shift) / step > 0.02:
            assert moved[joint.v], joint.name


def test_gaps_stay_gaps_in_tables_and_files(tmp_path: Path) -> None:
    found = hidden(LOWER_LEG, 100, 150)
    ranges = found.summary()["range_of_motion_deg"]
    assert "left_toes_extension" not in ranges
    assert ranges["left_knee_flexion"] == pytest.approx(np.nanmax(np.degrees(found.angles()["left_knee_flexion"])) -
        np.nanmin(np.degrees(found.angles()["left_knee_flexion"])))  # fmt: skip
    motion = human.read_motion(exports.save(found.recording(), tmp_path / "walk.mot", "mot"))
    knee = motion.values_in_degrees[:, motion.names.index("left_knee_flexion")]
    assert np.isnan(knee[100:150]).all()
    assert np.isfinite(knee[:100]).all()


@pytest.mark.parametrize("change", ["swapped", "displaced"])
def test_an_arm_that_was_lost_is_found_again(change: str) -> None:
    walk, static = trials()
    positions, index = walk.positions.copy(), {label: k for k, label in enumerate(walk.labels)}
    links = dict(zip(whole().marker_placement.labels, whole().marker_placement.links, strict=True))
    for label, link in links.items():
        if link in ARM and change == "displaced":
            positions[100:180, index[label]] += [0.5, 0.3, 0.4]
        elif link in ARM:
            pair = [index[label], index["R" + label[1:]]]
            positions[100:180, pair] = walk.positions[100:180, pair[::-1]]
    found = fit(walk.replace(positions=positions), static)
    for joint in ("left_shoulder_flexion", "left_shoulder_adduction", "left_elbow_flexion"):
        assert np.isnan(found.angles()[joint][102:178]).all(), joint
        assert np.abs(difference(found, joint)[184:]).max() < 3.0, joint
    assert found.quality.verdict == "doubtful"
    assert "do not agree with the body and are not used" in str(found.quality)
