"""Reference walk: quantities that tasks track, gait events and key postures."""

import numpy as np
import pinocchio
import pytest

from poise.errors import GaitError
from poise.human import ReferenceWalk
from poise.human.gait.key_postures import find_key_postures, knee_peak, shank_upright
from poise.robots import SIDES
from sample_walks import sample_walk, sample_walk_data, turned_walk

STEP = 1e-4


@pytest.mark.parametrize("time", [0.613, 1.2, 1.787])
def test_heels_center_and_momentum_agree_with_their_derivatives(time: float) -> None:
    before, now, after = (sample_walk().at(time + dt) for dt in (-STEP, 0.0, STEP))
    for part in (*SIDES, None):
        x0, x, x2 = (m.heels[part] if part else m.center_of_mass for m in (before, now, after))
        assert (x2[0] - x0[0]) / (2 * STEP) == pytest.approx(x[1], abs=1e-5)
        assert (x2[1] - x0[1]) / (2 * STEP) == pytest.approx(x[2], abs=1e-3)
    assert (after.angular_momentum[0] - before.angular_momentum[0]) / (2 * STEP) == pytest.approx(
        now.angular_momentum[1], abs=2e-2
    )


def test_the_momentum_is_that_of_pinocchio() -> None:
    robot, moment = sample_walk().robot, sample_walk().at(1.1)
    h = pinocchio.computeCentroidalMomentum(robot.model, robot.model.createData(), moment.q, moment.v)
    assert moment.angular_momentum[0] == pytest.approx(h.angular)
    assert moment.center_of_mass[1] == pytest.approx(h.linear / robot.mass)


def test_a_sample_is_the_same_after_it_has_left_the_cache() -> None:
    fresh = ReferenceWalk(sample_walk().robot, *sample_walk_data()[1:])
    first = fresh.at(1.0)
    for time in np.linspace(0.5, 2.0, 9):
        fresh.at(float(time))
    assert fresh.at(1.0) is not first
    assert np.array_equal(fresh.at(1.0).heels["left"][2], first.heels["left"][2])


def test_a_treadmill_walk_is_converted_to_overground_walking() -> None:
    robot, (_, time, q) = sample_walk().robot, sample_walk_data()
    speed = (q[-1, 0] - q[0, 0]) / (time[-1] - time[0])
    belt = q.copy()
    belt[:, 0] -= speed * (time - time[0])
    found = ReferenceWalk(robot, time, belt)
    assert found.belt_speed == pytest.approx(speed, abs=0.03)
    assert found.q[:, 0] == pytest.approx(q[:, 0], abs=0.05)
    assert ReferenceWalk(robot, time, belt, overground=False).belt_speed == 0.0
    assert [event.kind for event in found.events] == [event.kind for event in sample_walk().events]


def test_a_reference_at_rest_has_no_belt_speed_and_no_gait_cycle() -> None:
    robot = sample_walk().robot
    still = ReferenceWalk(robot, np.linspace(0.0, 1.0, 50), np.tile(robot.stance("standing").q, (50, 1)))
    assert still.belt_speed == 0.0
    with pytest.raises(GaitError, match="no complete gait cycle"):
        still.cycle()


def test_the_cycle_is_of_the_right_foot_if_it_has_one() -> None:
    assert sample_walk().cycle().side == "right"
    assert sample_walk().cycle("left").side == "left"
    assert sample_walk().cycle().duration == pytest.approx(sample_walk().cycle("left").duration, abs=0.03)


def test_the_direction_of_walking_changes_neither_events_nor_angles() -> None:
    other = turned_walk(2.0)
    assert other.cycle() == sample_walk().cycle()
    assert other.q[:, 7:] == pytest.approx(sample_walk().q[:, 7:])


@pytest.mark.parametrize(("kind", "count"), [("two", 2), ("four", 4), ("six", 6), ("eight", 8)])
def test_keys_come_in_the_order_of_time_and_are_postures_of_the_reference(kind: str, count: int) -> None:
    cycle = sample_walk().cycle()
    found = find_key_postures(sample_walk(), cycle, kind)  # type: ignore[arg-type]
    assert len(found) == count + 1
    assert (found[0].time, found[-1].time) == (cycle.initial_contact, cycle.end)
    assert (np.diff([key.time for key in found]) > 0.0).all()
    for key in found:
        q, v, a = sample_walk().sample(key.time)
        assert np.array_equal(key.q, q)
        assert np.array_equal(key.v, v)
        assert np.array_equal(key.a, a)
    assert len({key.name for key in found}) == len(found)


def test_the_keys_of_four_phases_are_their_ends() -> None:
    cycle = sample_walk().cycle()
    assert tuple(key.time for key in find_key_postures(sample_walk(), cycle, "four")) == cycle.times


@pytest.mark.parametrize("side", SIDES)
def test_a_knee_peaks_where_its_rate_changes_sign_and_the_shank_stands_up_after_it(side: str) -> None:
    cycle = sample_walk().cycle(side)  # type: ignore[arg-type]
    knee = sample_walk().robot.joint(f"{side}_knee_flexion")
    peak = knee_peak(sample_walk(), side, cycle.toe_off, cycle.end)  # type: ignore[arg-type]
    assert abs(sample_walk().sample(peak)[1][knee.v]) < 0.2
    assert sample_walk().sample(peak)[0][knee.q] > 0.9
    upright = shank_upright(sample_walk(), side, peak, cycle.end)  # type: ignore[arg-type]
    assert peak < upright < cycle.end
    data = sample_walk().robot.model.createData()
    pinocchio.framesForwardKinematics(sample_walk().robot.model, data, sample_walk().sample(upright)[0])
    ankle, shank = (
        data.oMf[sample_walk().robot.frame(f"{side}_{name}").index].translation for name in ("foot", "shank")
    )
    assert abs(ankle[0] - shank[0]) < 0.01


def test_an_invalid_walk_is_refused_in_one_line() -> None:
    robot, (_, time, q) = sample_walk().robot, sample_walk_data()
    for bad_time, bad_q in ((time, q[:, :-1]), (time[:3], q[:3]), (time[::-1], q)):
        with pytest.raises(GaitError, match="expected four or more of 43 numbers, times increasing"):
            ReferenceWalk(robot, bad_time, bad_q)
    infinite = q.copy()
    infinite[5, 9] = np.inf
    with pytest.raises(GaitError, match="configuration is infinite"):
        ReferenceWalk(robot, time, infinite)
    unseen = q.copy()
    unseen[:, :7] = np.nan
    with pytest.raises(GaitError, match="pelvis is not known in any frame"):
        ReferenceWalk(robot, time, unseen)
    with pytest.raises(GaitError, match="expected one of two, four, six, eight"):
        find_key_postures(sample_walk(), sample_walk().cycle(), "three")  # type: ignore[arg-type]


def test_filtering_takes_the_noise_and_leaves_the_walk() -> None:
    robot, (_, time, q) = sample_walk().robot, sample_walk_data()
    noisy = q.copy()
    noisy[:, 7:] += np.random.default_rng(0).normal(0.0, 0.01, noisy[:, 7:].shape)
    found = ReferenceWalk.from_measured(robot, time, noisy)
    inner = slice(20, -20)
    assert np.sqrt(np.mean((found.q - q)[inner, 7:] ** 2)) < 0.005
