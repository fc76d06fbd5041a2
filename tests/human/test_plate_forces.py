"""Force plates are assigned to the foot on them, and are used only if they measure its complete load."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest
from torque_trials import KnownMotion, known_motion

from poise.human import ForcePlate, compute_torques
from poise.human.torques.plate_forces import EDGE_TOLERANCE, detect_stance, foot_wrenches
from poise.robots import SIDES


@pytest.fixture(scope="module")
def walk() -> KnownMotion:
    return known_motion()


def join_plates(one: ForcePlate, two: ForcePlate) -> ForcePlate:
    """One large plate instead of two."""
    force = one.force + two.force
    load = np.maximum(force[:, 2:], 1e-9)
    center = (one.force[:, 2:] * one.center_of_pressure + two.force[:, 2:] * two.center_of_pressure) / load
    about = sum(np.cross(p.center_of_pressure - center, p.force) + p.free_moment for p in (one, two))
    on = force[:, 2:] > 0.0
    both = np.vstack([one.corners, two.corners])
    (x, y, _), (X, Y, _) = both.min(axis=0), both.max(axis=0)
    corners = np.array([[x, y, 0.0], [X, y, 0.0], [X, Y, 0.0], [x, Y, 0.0]])
    return ForcePlate("large plate", corners, force, np.where(on, center, 0.0), np.where(on, about, 0.0))


def test_each_plate_belongs_to_the_foot_of_its_step(walk: KnownMotion) -> None:
    found = foot_wrenches(walk)
    assert [each.plate for each in found.plate_contacts] == list(range(len(walk.trial.plates)))
    sides = [each.side for each in found.plate_contacts]
    assert all(one != two for one, two in itertools.pairwise(sides))
    for each in found.plate_contacts:
        y = walk.trial.plates[each.plate].center_of_pressure[each.begin : each.end, 1].mean()
        assert (y > 0.0) == (each.side == "left")
        assert each.complete


def test_the_wrenches_of_the_feet_are_those_of_the_plates_together(walk: KnownMotion) -> None:
    found = foot_wrenches(walk)
    loaded = [np.where(p.force[:, 2:] > 20.0, 1.0, 0.0) for p in walk.trial.plates]
    force = sum(on * p.force for on, p in zip(loaded, walk.trial.plates, strict=True))
    moment = sum(
        on * (np.cross(p.center_of_pressure, p.force) + p.free_moment)
        for on, p in zip(loaded, walk.trial.plates, strict=True)
    )
    assert sum(found.force[side] for side in SIDES) == pytest.approx(force)
    assert sum(found.moment[side] for side in SIDES) == pytest.approx(moment)


def test_stance_from_motion_agrees_with_stance_from_events(walk: KnownMotion) -> None:
    from_events = detect_stance(walk)
    from_motion = detect_stance(replace(walk, trial=walk.trial.replace(events=())))
    for side in SIDES:
        assert np.mean(from_events.stance[side] == from_motion.stance[side]) > 0.94
        strikes = [event.time for event in walk.trial.events if event.side == side and event.kind == "initial_contact"]
        for time in strikes:
            k = int(np.searchsorted(walk.time, time - 1e-9))
            assert from_events.stance[side][k]
            assert not from_events.stance[side][k - 2]


def test_a_foot_on_a_treadmill_stands_though_it_moves(walk: KnownMotion) -> None:
    speed = (walk.q[-1, 0] - walk.q[0, 0]) / (walk.time[-1] - walk.time[0])
    q = walk.q.copy()
    q[:, 0] -= speed * walk.time
    belt = replace(walk, q=q, trial=walk.trial.replace(events=()))
    floor = replace(walk, trial=walk.trial.replace(events=()))
    for side in SIDES:
        assert np.mean(detect_stance(belt).stance[side] == detect_stance(floor).stance[side]) > 0.95


def test_a_foot_that_is_partly_beyond_the_edge_of_its_plate_is_not_measured(walk: KnownMotion) -> None:
    plates = list(walk.trial.plates)
    step = foot_wrenches(walk).plate_contacts[2]
    toe = foot_wrenches(walk).foot_stance.points[step.side][(step.begin + step.end) // 2, 3, 0]
    corners = plates[2].corners.copy()
    corners[:, 0] = np.minimum(corners[:, 0], toe - 0.04)
    plates[2] = replace(plates[2], corners=corners)
    found = compute_torques(walk.on(*plates))
    cut = found.foot_wrenches.plate_contacts[2]
    assert cut.overhang > EDGE_TOLERANCE
    assert cut.overhang == pytest.approx(0.04, abs=0.02)
    assert np.isnan(found.joint_torque(f"{step.side}_ankle_dorsiflexion")[step.begin : step.end]).all()
    assert any("beyond the edge" in note for note in found.notes)
    assert found.joint_torque(f"{step.side}_ankle_dorsiflexion", include_unknown=True) == pytest.approx(
        compute_torques(walk).joint_torque(f"{step.side}_ankle_dorsiflexion", include_unknown=True)
    )


def test_a_plate_under_both_feet_measures_neither_foot(walk: KnownMotion) -> None:
    plates = walk.trial.plates
    found = compute_torques(walk.on(*plates[:1], join_plates(plates[1], plates[2]), *plates[3:]))
    shared = next(each for each in found.foot_wrenches.plate_contacts if each.plate == 1)
    assert shared.shared
    assert not shared.complete
    assert not found.foot_wrenches.known[shared.begin + 6 : shared.end - 6].any()


def test_vibration_of_a_plate_is_no_contact(walk: KnownMotion) -> None:
    plates = list(walk.trial.plates)
    force = plates[4].force.copy()
    force[30:33, 2] = 40.0
    plates[4] = replace(plates[4], force=force)
    assert len(foot_wrenches(walk.on(*plates)).plate_contacts) == len(plates)


def test_too_little_load_on_a_plate_is_noted(walk: KnownMotion) -> None:
    weak = [replace(plate, force=0.7 * plate.force) for plate in walk.trial.plates]
    notes = compute_torques(walk.on(*weak)).notes
    assert any("bears 70 % of the load that the motion requires" in note for note in notes)
