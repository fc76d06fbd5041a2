"""Foot-roll trim: soles loaded on an edge are rolled until they are flat."""

from __future__ import annotations

import pytest

import poise
from poise.behaviors import SoleLoad, regulation_settings
from poise.behaviors.zmp_regulation import LARGEST_ROLL, FootRollTrim

HOAP3 = poise.load_robot("hoap3")


def make_trim() -> FootRollTrim:
    return FootRollTrim(HOAP3, regulation_settings(HOAP3))


def test_inner_edges_turn_the_right_sole_up_on_its_inner_side() -> None:
    """A rotation about x lifts the left edge of a sole: the inner edge of the right one."""
    turning = make_trim()
    assert turning.step(SoleLoad(43.0, -0.005j), SoleLoad(43.0, 0.005j), 0.001) > 0.0
    assert make_trim().step(SoleLoad(43.0, 0.005j), SoleLoad(43.0, -0.005j), 0.001) < 0.0


def test_the_rate_is_that_of_the_formula() -> None:
    numbers = regulation_settings(HOAP3)
    stiff = numbers.stiffness * 10.0 / HOAP3.servos.saturation_error
    left, right = SoleLoad(30.0, -0.004j), SoleLoad(50.0, 0.002j)
    share = 30.0 / 80.0
    rate = -numbers.integral * 4.0 * share * (1.0 - share) * 9.81 * HOAP3.mass / stiff * 0.5 * (-0.004 - 0.002)
    assert make_trim().step(left, right, 0.001) == pytest.approx(0.001 * rate)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (SoleLoad(86.0, 0.01j), SoleLoad(0.0, 0j)),  # single support
        (SoleLoad(0.0, 0j), SoleLoad(0.0, 0j)),  # no load
        (SoleLoad(43.0, 0.01 + 0.003j), SoleLoad(43.0, -0.01 + 0.003j)),  # both ZMPs are on the same side: no splay
    ],
)
def test_loads_without_splay_give_no_trim(left: SoleLoad, right: SoleLoad) -> None:
    assert make_trim().step(left, right, 0.001) == 0.0


def test_without_trust_the_trim_does_not_grow_and_it_is_bounded() -> None:
    turning = make_trim()
    inner = SoleLoad(43.0, -0.03j), SoleLoad(43.0, 0.03j)
    assert turning.step(*inner, 0.001, trust=0.0) == 0.0
    for _ in range(200):
        turning.step(*inner, 0.05)
    assert turning.roll == LARGEST_ROLL
