"""Curves of configurations and paths through key postures, against finite differences and against other paths."""

import itertools

import numpy as np
import pinocchio
import pytest

from poise.human.fitting.filtered_motion import continuous_quaternions
from poise.human.gait.key_postures import (
    ArrivalTarget,
    DecayPerPhase,
    MidpointTarget,
    MinimumJerkPath,
    NextPostureTarget,
    TimeToGo,
    find_key_postures,
)
from poise.human.gait.reference_walk import derivatives_from_motion, motion_from_derivatives
from sample_walks import sample_walk

MODEL = sample_walk().robot.model
CYCLE = sample_walk().cycle()
SIX = find_key_postures(sample_walk(), CYCLE, "six")
STEP = 1e-4


def curve_function(time: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Numbers of a configuration, quaternion of any length, as sines, with their derivatives."""
    random = np.random.default_rng(0)
    middle, size, rate = random.normal(0, 1, MODEL.nq), random.normal(0, 0.3, MODEL.nq), random.uniform(1, 4, MODEL.nq)
    return (
        middle + size * np.sin(rate * time),
        size * rate * np.cos(rate * time),
        -size * rate**2 * np.sin(rate * time),
    )


@pytest.mark.parametrize("time", [0.0, 0.7, 1.9])
def test_velocity_and_acceleration_are_the_slopes_of_the_configuration(time: float) -> None:
    (q0, v0, _), (q1, v, a), (q2, v2, _) = (
        motion_from_derivatives(*curve_function(time + dt)) for dt in (-STEP, 0.0, STEP)
    )
    assert np.linalg.norm(q1[3:7]) == pytest.approx(1.0)
    assert pinocchio.difference(MODEL, q0, q2) / (2 * STEP) == pytest.approx(v, abs=1e-6)
    assert (v2 - v0) / (2 * STEP) == pytest.approx(a, abs=1e-6)


def test_conversion_to_derivatives_and_back_gives_the_same_motion() -> None:
    y, rate, bent = curve_function(0.4)
    q, v, a = motion_from_derivatives(y, rate, bent)
    back = motion_from_derivatives(q, *derivatives_from_motion(q, v, a))
    for one, two in zip(back, (q, v, a), strict=True):
        assert one == pytest.approx(two)
    assert derivatives_from_motion(q, v)[1] == pytest.approx(np.zeros(MODEL.nq))


def test_signs_of_consecutive_quaternions_are_made_continuous() -> None:
    q = sample_walk().q.copy()
    q[::3, 3:7] *= -1.0
    fixed = continuous_quaternions(q)
    assert (np.einsum("ij,ij->i", fixed[1:, 3:7], fixed[:-1, 3:7]) > 0.9).all()
    assert np.abs(fixed[:, 3:7]) == pytest.approx(np.abs(q[:, 3:7]))


@pytest.mark.parametrize("order", [0, 1, 2])
def test_a_path_passes_its_keys_with_the_imposed_derivatives(order: int) -> None:
    path = MinimumJerkPath(SIX, order)
    for key in SIX:
        q, v, a = path.sample(key.time)
        assert pinocchio.difference(MODEL, key.q, q) == pytest.approx(np.zeros(MODEL.nv), abs=1e-9)
        assert v == pytest.approx(key.v if order else np.zeros(MODEL.nv), abs=1e-9)
        if order != 1:
            assert a == pytest.approx(key.a if order else np.zeros(MODEL.nv), abs=1e-8)


def jerk(path: MinimumJerkPath) -> np.ndarray:
    """Integral of the squared third derivative of each number, by differences of the second."""
    time = np.linspace(SIX[0].time, SIX[-1].time, 4001)
    second = np.array([path.curve_function(float(t))[2] for t in time])
    return np.sum(np.diff(second, axis=0) ** 2, axis=0) / (time[1] - time[0])


def test_of_all_paths_with_these_velocities_the_accelerations_chosen_give_the_least_jerk() -> None:
    least = jerk(MinimumJerkPath(SIX, 1))
    assert (least <= jerk(MinimumJerkPath(SIX, 2)) * (1 + 1e-3) + 1e-9).all()


def test_the_jerk_does_not_jump_at_keys_and_vanishes_at_the_ends() -> None:
    path = MinimumJerkPath(SIX, 1)

    def third(time: float) -> np.ndarray:
        return (path.curve_function(time + STEP / 2)[2] - path.curve_function(time - STEP / 2)[2]) / STEP

    size = max(np.abs(third(key.time + STEP)).max() for key in SIX[:-1])
    for key in SIX[1:-1]:
        assert third(key.time - STEP) == pytest.approx(third(key.time + STEP), abs=0.02 * size)
    assert third(SIX[0].time + STEP) == pytest.approx(np.zeros(MODEL.nq), abs=0.02 * size)
    assert third(SIX[-1].time - STEP) == pytest.approx(np.zeros(MODEL.nq), abs=0.02 * size)


def test_the_target_is_the_next_key_posture_at_rest() -> None:
    target = NextPostureTarget(SIX)
    for k, key in enumerate(SIX[1:]):
        begin = SIX[k].time
        for time in (begin, (begin + key.time) / 2, key.time - 1e-6):
            q, v, a = target.sample(time)
            assert (q is key.q, np.abs(v).max(), np.abs(a).max()) == (True, 0.0, 0.0)
    assert target.sample(SIX[-1].time + 1.0)[0] is SIX[-1].q


def test_an_arrival_target_reaches_its_key_in_time_with_its_velocity() -> None:
    target = ArrivalTarget(SIX)
    q, v, _ = target.sample(SIX[3].time - 1e-7)
    assert q == pytest.approx(SIX[3].q, abs=1e-5)
    assert v == pytest.approx(SIX[3].v, abs=1e-5)


def test_the_midpoint_target_shifts_only_the_acceleration() -> None:
    q, v, a = MidpointTarget(sample_walk(), 0.01).sample(1.0)
    now, later = sample_walk().sample(1.0), sample_walk().sample(1.005)
    assert np.array_equal(q, now[0])
    assert np.array_equal(v, now[1])
    assert np.array_equal(a, later[2])


def simulated(law: DecayPerPhase | TimeToGo, begin: float, end: float, e: float, rate: float) -> tuple[float, float]:
    """Error and its rate when a phase ends, by ë = -(g k + ġ) e - (g + k) ė in small steps."""
    dt = 1e-5
    for time in np.arange(begin, end - dt / 2, dt):
        g, slope, k = law.gains(float(time))
        faster = -(g * k + slope) * e - (g + k) * rate
        e, rate = e + dt * rate + 0.5 * dt**2 * faster, rate + dt * faster
    return e, rate


def test_the_remaining_share_of_an_error_does_not_depend_on_the_duration_of_a_phase() -> None:
    law = DecayPerPhase(NextPostureTarget(SIX), 6.0)
    for one, two in itertools.pairwise(SIX):
        left, _ = simulated(law, one.time, two.time, 1.0, 0.0)
        assert left == pytest.approx(7.0 * np.exp(-6.0), rel=1e-2)


def test_with_time_to_go_error_and_rate_vanish_at_the_end_of_the_phase() -> None:
    """A cubic that ends at rest; over the last 30 ms, for which gains stay as they are, it only decays."""
    law = TimeToGo(NextPostureTarget(SIX))
    begin, end = SIX[2].time, SIX[3].time
    T, soon = end - begin, end - 0.03
    e, rate = simulated(law, begin, soon, 1.0, 0.0)
    s = (soon - begin) / T
    assert e == pytest.approx(1.0 - 3.0 * s**2 + 2.0 * s**3, abs=1e-4)
    assert rate == pytest.approx((-6.0 * s + 6.0 * s**2) / T, abs=1e-3)
    e, _ = simulated(law, soon, end, e, rate)
    assert abs(e) < 0.01
