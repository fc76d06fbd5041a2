"""Ground forces without plates: sums and friction are exact, shares are near those of plates, errors are said."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from marker_files import mocap
from torque_trials import KnownMotion, known_motion

from poise import human
from poise.human.torques import ESTIMATE_NOTE, compute_torques, estimate_foot_wrenches
from poise.human.torques.estimated_forces import FRICTION
from poise.human.torques.plate_forces import foot_wrenches
from poise.robots import GRAVITY, SIDES

WEIGHT = 75.0 * GRAVITY


@pytest.fixture(scope="module")
def walk() -> KnownMotion:
    motion = known_motion()
    return replace(motion, trial=motion.trial.replace(plates=()))


def test_both_feet_together_bear_what_the_motion_requires(walk: KnownMotion) -> None:
    found = estimate_foot_wrenches(walk, 75.0, walk.trial.events)
    exact = foot_wrenches(known_motion())
    inner = slice(20, -20)
    for values, truth in ((found.force, exact.force), (found.moment, exact.moment)):
        total, expected = (sum(each[side][inner] for side in SIDES) for each in (values, truth))
        assert np.sqrt(np.mean((total - expected) ** 2, axis=0)).max() < 0.02 * WEIGHT
    for side in SIDES:
        force = found.force[side]
        assert (force[:, 2] >= 0.0).all()
        assert (np.linalg.norm(force[:, :2], axis=1) <= FRICTION * force[:, 2] + 1e-9).all()
        assert not force[~found.stance[side]].any()


def test_the_share_of_each_foot_is_near_that_of_the_plates(walk: KnownMotion) -> None:
    found = estimate_foot_wrenches(walk, 75.0, walk.trial.events)
    exact = foot_wrenches(known_motion())
    for side in SIDES:
        on = exact.loaded[side]
        error = (found.force[side] - exact.force[side])[on] / WEIGHT
        assert np.sqrt(np.mean(error[:, 2] ** 2)) < 0.06
        assert np.sqrt(np.mean(error[:, 1] ** 2)) < 0.03
        # Along the walk the plates of the synthetic walk share the force like the load; those of people do not.
        assert np.sqrt(np.mean(error[:, 0] ** 2)) < 0.06


def test_every_frame_with_a_support_has_a_foot_on_the_ground_even_without_events(walk: KnownMotion) -> None:
    silent = replace(walk, trial=walk.trial.replace(events=()))
    found = estimate_foot_wrenches(silent, 75.0)
    assert (found.stance["left"] | found.stance["right"]).all()
    total = np.sum([found.force[side][:, 2] for side in SIDES], axis=0)
    assert total.mean() == pytest.approx(WEIGHT, rel=0.03)


def test_results_say_that_forces_are_estimated_with_their_error(walk: KnownMotion) -> None:
    torques = compute_torques(walk, estimate=True, events=walk.trial.events)
    assert ESTIMATE_NOTE in torques.notes
    assert torques.quality.verdict == "doubtful"
    assert "estimated, not measured" in torques.text()
    assert torques.summary()["forces_estimated"]
    recording = torques.recording()
    assert any(name.startswith("estimated/force/") for name in recording.channels)
    assert not any(name.startswith("measured/force/") for name in recording.channels)
    exact = compute_torques(known_motion())
    for joint in ("left_knee_flexion", "left_ankle_dorsiflexion", "left_hip_flexion"):
        ours, truth = torques.joint_torque(joint), exact.joint_torque(joint)
        both = np.isfinite(truth)
        assert np.corrcoef(ours[both], truth[both])[0, 1] > 0.9, joint


@pytest.mark.slow
@pytest.mark.parametrize(
    ("path", "vertical", "horizontal"),
    [("gait2354/subject01_walk1.trc", 0.06, 0.03), ("out_of_view/Gait.c3d", 0.06, 0.05)],
)
def test_recorded_walks_are_within_the_stated_errors(path: str, vertical: float, horizontal: float) -> None:
    fit = human.fit_trial(mocap(path))
    measured = compute_torques(fit)
    found = estimate_foot_wrenches(fit, measured.mass, human.events_without_plates(fit))
    errors = []
    for contact in measured.foot_wrenches.plate_contacts:
        if contact.complete and contact.begin > 0 and contact.end < len(fit.time):
            frames = slice(contact.begin, contact.end)
            difference = (found.force[contact.side] - measured.foot_wrenches.force[contact.side])[frames]
            errors.append(np.sqrt(np.mean(difference**2, axis=0)) / (GRAVITY * measured.mass))
    assert errors
    assert np.mean(errors, axis=0)[2] < vertical
    assert np.mean(errors, axis=0)[:2].max() < horizontal
