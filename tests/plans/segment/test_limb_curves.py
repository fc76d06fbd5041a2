"""Curves of feet, hands and trunk in a segment."""

from __future__ import annotations

import numpy as np
import pytest

from poise.geometry import cycloid, minimum_jerk, quintic
from poise.geometry.curves import cycloid_lift
from poise.plans.segment.limb_curves import QuinticCurve, SwingCurve, shortest_lift

START, GOAL = np.array([0.1, -0.04, 0.0, 0.1]), np.array([0.2, -0.05, 0.0, 0.3])
RATE = np.array([0.1, 0.0, -0.05, 0.2])


def foot(rise: float = 0.0, curve: str = "quintic", rate: np.ndarray | None = None) -> SwingCurve:
    goal = GOAL + np.array([0.0, 0.0, rise, 0.0])
    return SwingCurve(START, np.zeros(4) if rate is None else rate, goal, 0.02, 0.1, 0.4, curve)


def test_a_curve_from_rest_has_minimum_jerk() -> None:
    curve = QuinticCurve(START, np.zeros(4), GOAL, 0.2, 0.5)
    times = np.linspace(0.2, 0.7, 11)
    x, v, a = curve.at(times)
    s, ds, dds = minimum_jerk((times - 0.2) / 0.5)
    assert np.allclose(x, START + s[:, None] * (GOAL - START))
    assert np.allclose(v, ds[:, None] * (GOAL - START) / 0.5)
    assert np.allclose(a, dds[:, None] * (GOAL - START) / 0.25)


def test_a_curve_with_initial_velocity_is_the_textbook_quintic() -> None:
    zero = np.zeros(4)
    oracle = quintic(START, RATE, zero, GOAL, zero, zero, 0.5)
    curve = QuinticCurve(START, RATE, GOAL, 0.0, 0.5)
    for time in np.linspace(0.0, 0.5, 9):
        for mine, theirs in zip(curve.at(float(time)), oracle.sample(time), strict=True):
            assert np.allclose(mine, theirs, atol=1e-12)


@pytest.mark.parametrize("rise", [0.0, 0.002, 0.03, -0.03])
@pytest.mark.parametrize("curve", ["quintic", "cycloid"])
@pytest.mark.parametrize("moving", [False, True])
def test_rates_and_accelerations_of_a_swing_are_derivatives(rise: float, curve: str, moving: bool) -> None:
    swing, h = foot(rise, curve, RATE if moving else None), 1e-6
    for time in np.linspace(0.101, 0.499, 41):
        before, now, after = (swing.at(float(t)) for t in (time - h, time, time + h))
        assert np.allclose((after[0] - before[0]) / (2 * h), now[1], atol=1e-5)
        assert np.allclose((after[1] - before[1]) / (2 * h), now[2], atol=1e-3)


@pytest.mark.parametrize("rise", [0.0, 0.03, -0.03])
def test_a_swing_leaves_and_meets_the_ground_with_no_speed_and_is_lifted_between(rise: float) -> None:
    swing = foot(rise)
    for time, place in (
        (0.0, START),
        (0.1, START),
        (0.5, GOAL + np.array([0, 0, rise, 0])),
        (0.9, GOAL + np.array([0, 0, rise, 0])),
    ):
        x, v, _ = swing.at(time)
        assert np.allclose(x, place)
        assert np.allclose(v, 0.0)
    highest = swing.at(np.linspace(0.1, 0.5, 200))[0][:, 2].max()
    assert highest >= max(0.0, rise) + 0.5 * 0.02


def test_a_foot_goes_ahead_over_a_stair_only_when_it_is_above_its_edge() -> None:
    """The edge is half way; up: the foot is above the tread before the middle; down: still at its height there."""
    up, down = foot(0.03).at(np.linspace(0.1, 0.5, 400))[0], foot(-0.03).at(np.linspace(0.1, 0.5, 400))[0]
    half = 0.5 * (START[0] + GOAL[0])
    assert up[np.argmax(up[:, 0] > half), 2] > 0.03
    assert down[np.argmax(down[:, 0] > half), 2] > 0.0


def test_the_cycloid_is_that_of_a_rolling_wheel() -> None:
    swing = foot(curve="cycloid")
    for s in (0.2, 0.5, 0.7):
        x, v, a = swing.at(0.1 + 0.4 * s)
        displacement, lift = cycloid(s), cycloid_lift(s)
        assert np.allclose(x[:2], START[:2] + displacement[0] * (GOAL - START)[:2])
        assert x[2] == pytest.approx(0.02 * lift[0])
        assert v[2] == pytest.approx(0.02 * lift[1] / 0.4)
        assert a[2] == pytest.approx(0.02 * lift[2] / 0.16)


def test_a_higher_lift_takes_longer_and_a_faster_knee_less() -> None:
    assert shortest_lift(0.03, 0.0, 0.05, 0.2) > shortest_lift(0.02, 0.0, 0.05, 0.2)
    assert shortest_lift(0.02, -0.02, 0.05, 0.2) > shortest_lift(0.02, 0.0, 0.05, 0.2)
    assert shortest_lift(0.02, 0.0, 0.05, 0.4) == pytest.approx(0.5 * shortest_lift(0.02, 0.0, 0.05, 0.2))


def test_the_fastest_lift_is_the_one_that_the_least_time_assumes() -> None:
    lift, shortening = 0.02, 0.2
    seconds = shortest_lift(lift, 0.0, 0.0, shortening)
    swing = SwingCurve(START, np.zeros(4), START, lift, 0.0, seconds)
    assert np.abs(swing.at(np.linspace(0.0, seconds, 2000))[1][:, 2]).max() == pytest.approx(shortening, rel=2e-3)
