"""Sample trials: markers, events, and force plates that are consistent with the motion."""

from __future__ import annotations

from typing import Any

import numpy as np
import pinocchio
import pytest

import poise
from poise.analysis import best_cycle, events_from_markers, events_from_plates, gait_cycles, stride_lengths
from poise.human import Trial, TrialError, marker_sets, match_markers, sample_trial
from poise.human.sample_trials import MARGIN, sample_motion
from poise.human.synthetic_walk import synthesize_walk
from poise.robots import SIDES, BodyShape, Side, landmarks


@pytest.fixture(scope="module")
def robot() -> poise.Robot:
    return poise.load_robot("human", height=1.77, mass=75.0, sex="male")


@pytest.fixture(scope="module")
def noiseless_trials() -> tuple[Trial, Trial]:
    return sample_trial(noise=0.0)


@pytest.mark.parametrize("name", sorted(marker_sets()))
def test_its_labels_are_those_of_the_marker_set(name: str) -> None:
    walk, static = sample_trial(marker_set=name, cycles=1, plates=False)
    found = match_markers(walk)
    assert (found.marker_set.name, dict(found.unknown_labels), found.missing_markers) == (name, {}, ())
    assert set(walk.labels) <= set(static.labels)
    assert any("knee" in str(match_markers(static).markers[label].landmark) for label in static.labels)


@pytest.mark.parametrize("name", sorted(marker_sets()))
def test_no_two_markers_share_a_place(name: str) -> None:
    _, static = sample_trial(marker_set=name, noise=0.0, cycles=1, plates=False)
    places = static.positions[0]
    apart = np.linalg.norm(places[:, np.newaxis] - places, axis=2) + np.eye(len(places))
    assert apart.min() > 0.01


def test_without_noise_markers_are_the_landmarks_of_the_known_coordinates(
    noiseless_trials: tuple[Trial, Trial], robot: poise.Robot
) -> None:
    walk, _ = noiseless_trials
    time, q = sample_motion(robot)
    assert walk.time == pytest.approx(time)
    link, place = landmarks(BodyShape.of(1.77, 75.0, "male"))["left_lateral_ankle"]
    data = robot.model.createData()
    for i in (0, 100, -1):
        pinocchio.framesForwardKinematics(robot.model, data, q[i])
        assert walk.marker("LLM")[i] == pytest.approx(data.oMf[robot.frame(link).index].act(place), abs=1e-12)


def test_noise_has_the_given_deviation_and_is_reproducible_by_its_seed(noiseless_trials: tuple[Trial, Trial]) -> None:
    walk, _ = noiseless_trials
    one, same, other = (sample_trial(noise=0.003, seed=seed)[0] for seed in (7, 7, 8))
    assert np.array_equal(one.positions, same.positions)
    assert not np.array_equal(one.positions, other.positions)
    assert np.std(one.positions - walk.positions) == pytest.approx(0.003, rel=0.02)


def test_plates_explain_the_motion_without_a_residual(
    noiseless_trials: tuple[Trial, Trial], robot: poise.Robot
) -> None:
    """With the plate forces applied to the feet, inverse dynamics gives no residual at the base."""
    walk, _ = noiseless_trials
    motion = synthesize_walk(robot)
    q, v, a = motion.at(walk.time - MARGIN * motion.period)
    model, data = robot.model, robot.model.createData()
    for i in range(0, len(walk.time), 7):
        pinocchio.forwardKinematics(model, data, q[i])
        forces = [pinocchio.Force.Zero() for _ in range(model.njoints)]
        for k, plate in enumerate(walk.plates):
            foot = robot.foot("left" if k % 2 == (walk.plates[0].center_of_pressure[0, 1] < 0.0) else "right").joint
            wrench = pinocchio.Force(
                plate.force[i], np.cross(plate.center_of_pressure[i], plate.force[i]) + plate.free_moment[i]
            )
            forces[foot] = forces[foot] + data.oMi[foot].actInv(wrench)
        torque = pinocchio.rnea(model, data, q[i], v[i], a[i], forces)
        assert torque[:6] == pytest.approx(np.zeros(6), abs=1e-6)


def test_each_step_is_on_its_own_plate(noiseless_trials: tuple[Trial, Trial]) -> None:
    walk, _ = noiseless_trials
    for plate in walk.plates:
        on = plate.force[:, 2] > 0.0
        low, high = plate.corners.min(axis=0), plate.corners.max(axis=0)
        assert (plate.center_of_pressure[on] >= low).all()
        assert (plate.center_of_pressure[on] <= high).all()
        assert not plate.center_of_pressure[~on].any()
    for one, two in zip(walk.plates, walk.plates[1:], strict=False):
        assert one.corners[:, 0].max() <= two.corners[:, 0].min() + 1e-9


def test_events_agree_with_the_plates(noiseless_trials: tuple[Trial, Trial]) -> None:
    walk, _ = noiseless_trials
    first = "left" if walk.plates[0].center_of_pressure[0, 1] > 0.0 else "right"
    sides: dict[Side, Any] = {
        "left": walk.plates[(first == "right") :: 2],
        "right": walk.plates[(first == "left") :: 2],
    }
    detected = events_from_plates(walk.time, {side: sum(p.force[:, 2] for p in own) for side, own in sides.items()})
    known = {
        (e.side, e.kind): [o.time for o in walk.events if (o.side, o.kind) == (e.side, e.kind)] for e in walk.events
    }
    for (side, kind), times in known.items():
        assert [e.time for e in detected if (e.side, e.kind) == (side, kind)] == pytest.approx(times, abs=0.02)


def test_events_detected_from_markers_are_near_the_synthetic_ones() -> None:
    walk, _ = sample_trial(marker_set="plug_in_gait", noise=0.0005)
    heel = {side: walk.marker(f"{side[0].upper()}HEE") for side in SIDES}
    toe = {side: walk.marker(f"{side[0].upper()}TOE") for side in SIDES}
    pelvis = np.mean([walk.marker(label) for label in ("LASI", "RASI", "LPSI", "RPSI")], axis=0)
    found = events_from_markers(walk.time, heel, toe, pelvis)
    for kind in ("initial_contact", "toe_off"):
        synthetic = [e for e in walk.events if e.kind == kind]
        error = [
            min((f.time - e.time for f in found if (f.kind, f.side) == (kind, e.side)), key=abs) for e in synthetic
        ]
        assert np.mean(np.abs(error)) < 0.05


def test_the_number_of_cycles_is_the_given_one() -> None:
    for cycles in (1, 3):
        walk, _ = sample_trial(cycles=cycles, plates=False)
        assert [c.side for c in gait_cycles(walk.events)].count("right") == cycles
        assert walk.plates == ()


def test_spatiotemporal_parameters_of_the_sample_are_those_of_a_walk(noiseless_trials: tuple[Trial, Trial]) -> None:
    walk, _ = noiseless_trials
    cycle = best_cycle(walk.events, 0.0, walk.time[-1])
    assert cycle.stance == pytest.approx(62.0)
    assert cycle.double_support == pytest.approx(24.0)
    assert 95.0 < cycle.cadence < 120.0
    heel: dict[Side, np.ndarray] = {"left": walk.marker("LCAL"), "right": walk.marker("RCAL")}
    found = stride_lengths(cycle, walk.time, heel, (1.0, 0.0, 0.0))
    assert 0.9 < found.speed < 1.3
    assert found.step == pytest.approx(found.stride / 2.0, rel=0.02)
    assert 0.04 < found.width < 0.15


def test_the_static_trial_stands_still_on_the_ground() -> None:
    _, static = sample_trial(noise=0.0, cycles=1, plates=False)
    assert np.ptp(static.positions, axis=0).max() == 0.0
    assert static.positions[0, :, 2].min() > 0.0
    assert static.marker("HV")[0, 2] == pytest.approx(1.77, abs=0.01)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"noise": -1.0}, "noise is -1.0"),
        ({"cycles": 0}, "cycles is 0"),
        ({"rate": 0.0}, "rate is 0.0"),
        ({"marker_set": "skin"}, "no marker set 'skin'"),
    ],
)
def test_invalid_arguments_of_a_sample_are_refused(options: dict, words: str) -> None:
    with pytest.raises(TrialError, match=words):
        sample_trial(**options)
