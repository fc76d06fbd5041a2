"""Torques from motion and force plates are the known torques of the motion."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pinocchio
import pytest
from torque_trials import KnownMotion, known_motion

import poise
from poise.human import Torques, TrialError, compute_torques, fit, sample_trial
from poise.human.torques.joint_torques import MASS_NOT_GIVEN, mass_from_plates
from poise.robots import SIDES

WEIGHT = 75.0 * 9.81


@pytest.fixture(scope="module")
def walk() -> KnownMotion:
    return known_motion()


@pytest.fixture(scope="module")
def torques(walk: KnownMotion) -> Torques:
    return compute_torques(walk)


def fully_measured_frames(walk: KnownMotion) -> np.ndarray:
    """Frames in which no plate has a load below the threshold."""
    return np.all([(p.force[:, 2] > 20.0) | (p.force[:, 2] == 0.0) for p in walk.trial.plates], axis=0)


def test_torques_balance_mass_matrix_gravity_and_plates_with_no_inertia_of_motors(
    walk: KnownMotion, torques: Torques
) -> None:
    """M a + h - Σ Jᵀ w, by algorithms other than the recursion under test."""
    robot = walk.robot
    model = robot.model.copy()
    assert model.armature.max() > 0.0
    model.armature = np.zeros(model.nv)
    data = model.createData()
    for k in range(0, len(walk.time), 17):
        q, v, a = walk.q[k], walk.v[k], walk.a[k]
        left = pinocchio.crba(model, data, q) @ a + pinocchio.nonLinearEffects(model, data, q, v)
        for side in SIDES:
            foot = robot.foot(side)
            J = pinocchio.computeFrameJacobian(model, data, q, foot.index, pinocchio.LOCAL_WORLD_ALIGNED)
            place = data.oMf[foot.index].translation
            force, moment = torques.foot_wrenches.force[side][k], torques.foot_wrenches.moment[side][k]
            left = left - J.T @ np.concatenate([force, moment - np.cross(place, force)])
        assert torques.torque[k, 6:] == pytest.approx(left[6:], abs=1e-8)
        R = pinocchio.Quaternion(q[3:7]).matrix()
        assert torques.residual[k] == pytest.approx(np.concatenate([R @ left[:3], R @ left[3:6]]), abs=1e-8)
    assert not torques.torque[:, :6].any()


def test_a_motion_on_the_plates_that_measured_it_leaves_no_residual(walk: KnownMotion, torques: Torques) -> None:
    assert torques.residual[fully_measured_frames(walk)] == pytest.approx(0.0, abs=1e-6)
    assert (torques.residual_rms[:3] < 0.005 * WEIGHT).all()  # loads below 20 N do not count


def test_every_joint_of_the_legs_is_known_and_toes_in_the_air_alone(walk: KnownMotion, torques: Torques) -> None:
    for joint in walk.robot.joints:
        if "toes" not in joint.name:
            assert torques.valid(joint.name).all()
            assert np.isfinite(torques.joint_torque(joint.name)).all()
    assert np.array_equal(torques.valid("left_toes_extension"), ~torques.foot_wrenches.stance["left"])


def test_torques_of_back_neck_and_arms_do_not_depend_on_the_plates(walk: KnownMotion, torques: Torques) -> None:
    empty = replace(walk.trial.plates[0], force=np.zeros((len(walk.time), 3)))
    without = compute_torques(walk.on(empty))
    for joint in walk.robot.joints:
        above = not any(word in joint.name for word in ("hip", "knee", "ankle", "toes"))
        alike = np.allclose(without.joint_torque(joint.name, True), torques.joint_torque(joint.name, True), atol=1e-9)
        assert alike == (above or "toes" in joint.name)
    assert without.valid("lumbar_extension").all()


def test_a_foot_beside_the_plates_leaves_its_own_leg_unknown_and_no_other(walk: KnownMotion) -> None:
    plates = walk.trial.plates
    gone = plates[2]
    less = compute_torques(walk.on(*(plate for plate in plates if plate is not gone)))
    full = compute_torques(walk)
    step = full.foot_wrenches.plate_contacts[2]
    middle = slice(step.begin + 6, step.end - 6)
    other = next(side for side in SIDES if side != step.side)
    assert np.isnan(less.joint_torque(f"{step.side}_knee_flexion")[middle]).all()
    assert less.joint_torque(f"{other}_knee_flexion") == pytest.approx(full.joint_torque(f"{other}_knee_flexion"))
    assert not less.foot_wrenches.known[middle].any()
    assert less.residual_rms[2] == pytest.approx(full.residual_rms[2], abs=2.0)
    assert any(f"{step.side} foot beside the plates" in note for note in less.notes)


def test_the_residual_is_zero_where_all_is_measured_and_shows_a_wrong_mass(walk: KnownMotion, torques: Torques) -> None:
    heavy = replace(walk, robot=poise.load_robot("human", height=1.77, mass=82.5, sex="male"))
    found = compute_torques(heavy)
    assert found.residual[:, 2].mean() == pytest.approx(0.1 * WEIGHT, rel=0.05)
    assert found.mass == pytest.approx(82.5)


def test_a_leg_without_a_plate_contact_is_listed_as_swing_only(walk: KnownMotion) -> None:
    contacts = compute_torques(walk).foot_wrenches.plate_contacts
    right = compute_torques(walk.on(*(walk.trial.plates[each.plate] for each in contacts if each.side == "right")))
    rows = [line for line in right.text().splitlines() if "knee extensor" in line]
    assert [row.split("  ")[0] for row in rows] == ["left knee extensor, swing only", "right knee extensor"]
    assert "swing only" not in compute_torques(walk).text()


def test_a_large_residual_is_a_warning(walk: KnownMotion, torques: Torques) -> None:
    heavy = replace(walk, robot=poise.load_robot("human", height=1.77, mass=110.0, sex="male"))
    messages = [check.message for check in compute_torques(heavy).quality.checks]
    assert any("large residual: 3" in message for message in messages)
    assert any("the mass is 110.0 kg, the plates measure 75" in message for message in messages)
    assert torques.quality.verdict == "good"


def test_the_mass_of_a_walking_person_follows_from_the_plates(walk: KnownMotion) -> None:
    assert mass_from_plates(walk) == pytest.approx(75.0, abs=0.1)
    part = slice(55, 100)  # falling and rising do not cancel here: the mean force alone would be off
    some = replace(
        walk,
        trial=walk.trial.cut(walk.time[part][0], walk.time[part][-1]),
        **{name: getattr(walk, name)[part] for name in ("time", "q", "v", "a")},
    )
    assert mass_from_plates(some) == pytest.approx(75.0, abs=0.3)


def test_an_unknown_mass_is_estimated_from_the_plates(walk: KnownMotion, torques: Torques) -> None:
    guessed = poise.load_robot("human", height=1.77, mass=60.0, sex="male")
    found = compute_torques(replace(walk, robot=guessed, notes=(f"{MASS_NOT_GIVEN}: 22.5 kg/m² times height squared",)))
    assert found.mass == pytest.approx(75.0, abs=0.1)
    assert found.torque == pytest.approx(torques.torque, abs=0.5)
    assert any("from the force plates" in note for note in found.notes)


def test_the_mass_needs_frames_with_complete_contact_data(walk: KnownMotion) -> None:
    with pytest.raises(TrialError, match="give the mass"):
        mass_from_plates(walk.on(replace(walk.trial.plates[0], force=np.zeros((len(walk.time), 3)))))


def test_filtered_forces_are_smoother_with_the_same_mean(walk: KnownMotion, torques: Torques) -> None:
    found = compute_torques(walk, cutoff=6.0)
    for side in SIDES:
        raw, smooth = torques.foot_wrenches.force[side][:, 2], found.foot_wrenches.force[side][:, 2]
        assert smooth.sum() == pytest.approx(raw.sum(), rel=0.02)
        assert np.abs(np.diff(smooth, n=2)).max() < 0.7 * np.abs(np.diff(raw, n=2)).max()
    knee = "left_knee_flexion"
    assert np.corrcoef(found.joint_torque(knee, True), torques.joint_torque(knee, True))[0, 1] > 0.95


def test_a_trial_without_plates_is_refused_in_one_line(walk: KnownMotion) -> None:
    with pytest.raises(TrialError, match="no force plates") as error:
        compute_torques(walk.on())
    assert "\n" not in str(error.value)


def test_a_motion_of_another_length_than_its_trial_is_refused(walk: KnownMotion) -> None:
    with pytest.raises(TrialError, match="fit it again"):
        compute_torques(replace(walk, time=walk.time[:-1]))


def test_torques_of_a_fitted_walk_with_noisy_markers_are_those_of_the_walk(torques: Torques) -> None:
    walk, static = sample_trial(noise=0.001, cycles=2)
    found = compute_torques(fit(walk, static))
    inner = slice(15, -15)  # where filters have settled
    for joint, least in (("ankle_dorsiflexion", 0.99), ("knee_flexion", 0.97), ("hip_flexion", 0.95)):
        for side in SIDES:
            name = f"{side}_{joint}"
            own, exact = found.joint_torque(name, True)[inner], torques.joint_torque(name, True)[inner]
            assert np.corrcoef(own, exact)[0, 1] > least, name
    assert (found.residual_rms[:3] < 0.06 * WEIGHT).all()
    assert (found.residual_rms[3:] < 15.0).all()
