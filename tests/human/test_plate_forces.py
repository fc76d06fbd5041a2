"""Force plates are assigned to the foot on them, and are used only if they measure its complete load."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest
from torque_trials import KnownMotion, known_motion

from poise.human import ForcePlate, compute_torques
from poise.human.torques.plate_forces import EDGE_TOLERANCE, detect_stance, foot_wrenches, raised_supports
from poise.robots import SIDES, Side


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


def foot_points(time: np.ndarray, steps: list[tuple[float, float, float]]) -> np.ndarray:
    """Four points of a foot (n x 4 x 3) that stands at places (from s, x, z) and swings between them for 0.45 s."""
    x, z = np.full(len(time), steps[0][1]), np.full(len(time), steps[0][2])
    for (_, x0, z0), (arrival, x1, z1) in itertools.pairwise(steps):
        share = np.clip((time - arrival + 0.45) / 0.45, 0.0, 1.0)
        smooth = share**2 * (3.0 - 2.0 * share)
        x += (x1 - x0) * smooth
        z += (z1 - z0) * smooth + 0.1 * np.sin(np.pi * smooth) ** 2
    shape = np.array([[-0.07, 0.0, 0.0], [0.13, 0.03, 0.0], [0.12, -0.04, 0.0], [0.19, 0.0, 0.01]])
    return np.column_stack([x, np.zeros(len(time)), z])[:, None] + shape


def test_feet_on_stairs_stand_on_every_step() -> None:
    time = np.arange(0.0, 5.0, 0.01)
    points: dict[Side, np.ndarray] = {
        "left": foot_points(time, [(0.0, 0.0, 0.0), (1.0, 0.3, 0.17), (2.4, 0.9, 0.51), (3.8, 1.5, 0.85)]),
        "right": foot_points(time, [(0.0, 0.0, 0.0), (1.7, 0.6, 0.34), (3.1, 1.2, 0.68), (4.5, 1.5, 0.85)]),
    }
    found = raised_supports(time, points, np.zeros(3))
    for side, stands in (("left", [(1.1, 1.8), (2.5, 3.2), (3.9, 4.9)]), ("right", [(1.8, 2.5), (3.2, 4.0)])):
        for begin, end in stands:
            inside = (time > begin) & (time < end)
            assert found[side][inside].all(axis=1).mean() > 0.95, (side, begin)  # type: ignore[index]
    swing = (time > 2.1) & (time < 2.3)
    assert not found["left"][swing].any()


def test_a_foot_held_in_the_air_while_the_other_stands_is_not_on_raised_ground() -> None:
    time = np.arange(0.0, 4.0, 0.01)
    points: dict[Side, np.ndarray] = {
        "left": foot_points(time, [(0.0, 0.0, 0.0), (1.0, 0.2, 0.3), (3.5, 0.0, 0.0)]),
        "right": foot_points(time, [(0.0, 0.0, 0.0)]),
    }
    assert not raised_supports(time, points, np.zeros(3))["left"].any()


def test_plates_above_the_floor_give_the_moments_of_the_floor(walk: KnownMotion) -> None:
    up = np.array([0.0, 0.0, 0.36])
    q = walk.q.copy()
    q[:, :3] += up
    plates = [
        replace(
            plate,
            corners=plate.corners + up,
            center_of_pressure=np.where(plate.force[:, 2:] > 0.0, plate.center_of_pressure + up, 0.0),
        )
        for plate in walk.trial.plates
    ]
    raised, floor = compute_torques(replace(walk.on(*plates), q=q)), compute_torques(walk)
    for joint in ("left_hip_flexion", "right_knee_flexion", "left_ankle_dorsiflexion"):
        assert raised.joint_torque(joint) == pytest.approx(floor.joint_torque(joint), abs=1e-6, nan_ok=True)
