"""Pace: what a style means on a body of a certain size."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise

import pytest

from planned_walks import BODY, STYLE, pace_of
from poise.plans import STYLES, BodyDimensions, paced
from poise.plans.gait_parameters import HURRY, LEG, SHORTEST
from poise.state import natural_frequency

SPEEDS = [(0.1, 0.0, 0.0), (0.4, 0.0, 0.0), (-0.3, 0.0, 0.0), (0.0, 0.15, 0.0), (0.2, -0.1, 0.5), (0.0, 0.0, 0.0)]


def sized(leg: float) -> BodyDimensions:
    """The same body, of another size."""
    k = leg / BODY.leg
    return BodyDimensions(leg, k * BODY.width, k * BODY.height, k * BODY.hip, (k * BODY.sole[0], k * BODY.sole[1]))


@pytest.mark.parametrize("leg", [0.2, 0.4, 0.8, 1.0])
def test_times_are_those_of_a_pendulum_of_the_leg_and_lengths_shares_of_it(leg: float) -> None:
    pace = paced(STYLE, sized(leg))
    slower = math.sqrt(leg / LEG)
    assert (pace.timing.single, pace.timing.double) == pytest.approx((0.5 * slower, 0.12 * slower))
    assert pace.gait.forward == pytest.approx(0.25 * leg)
    assert pace.lift == pytest.approx(STYLE.step_height * leg)
    assert pace.omega * pace.timing.whole == pytest.approx(pace_of().omega * pace_of().timing.whole), (
        "so all bodies are as dynamic"
    )


@pytest.mark.parametrize("speed", SPEEDS)
@pytest.mark.parametrize("name", STYLES)
def test_a_speed_is_met_by_every_style(name: str, speed: tuple[float, float, float]) -> None:
    pace = paced(STYLES[name], BODY, speed)
    found = [part / pace.timing.whole for part in (pace.gait.forward, pace.gait.sideways, pace.gait.turn)]
    assert found == pytest.approx(speed)


def test_faster_walks_have_longer_and_quicker_steps() -> None:
    own = STYLE.step_length * BODY.leg / pace_of().timing.whole
    paces = [pace_of((share * own, 0.0, 0.0)) for share in (0.3, 1.0, 1.2, 1.5, 1.7)]
    wholes, lengths = [pace.timing.whole for pace in paces], [pace.gait.forward for pace in paces]
    assert wholes[0] == wholes[1] == pytest.approx(pace_of().timing.whole), "slower ones are only shorter"
    assert all(after < before for before, after in pairwise(wholes[1:]))
    assert lengths == sorted(lengths)
    ratios = [length / whole for length, whole in zip(lengths, wholes, strict=True)]
    assert lengths[3] / lengths[1] == pytest.approx(wholes[1] / wholes[3]), "length and quickness grow alike"
    assert ratios == sorted(ratios)


@pytest.mark.parametrize("name", STYLES)
@pytest.mark.parametrize("vx", [0.2, 0.6, 1.5, 3.0])
def test_nobody_hurries_beyond_what_legs_can(name: str, vx: float) -> None:
    usual, pace = paced(STYLES[name], BODY), paced(STYLES[name], BODY, (vx, 0.0, 0.0))
    assert pace.timing.whole >= HURRY * usual.timing.whole - 1e-9
    assert pace.timing.double >= min(SHORTEST, usual.timing.double) - 1e-9
    assert pace.timing.single > 0.0


def test_longer_steps_take_lower_hips() -> None:
    heights = [pace_of(step_length=length).height for length in (0.0, 0.3, 0.5)]
    assert heights == sorted(heights, reverse=True)
    assert heights[-1] < heights[0]
    for length in (0.0, 0.3, 0.5):
        pace = pace_of(step_length=length)
        hip, away = BODY.hip - (BODY.height - pace.height), 0.5 * length * BODY.leg
        assert math.hypot(hip, away) < BODY.leg, "no leg is stretched to its end"
        assert pace.omega == pytest.approx(natural_frequency(pace.height))


def test_a_style_may_go_lower_but_not_higher_than_legs_reach() -> None:
    usual = pace_of(height=0.0, step_length=0.1).height
    assert pace_of(height=-0.1, step_length=0.1).height == pytest.approx(usual - 0.1 * BODY.leg)
    tall = replace(BODY, hip=0.79)
    assert paced(STYLE.but(height=0.02, step_length=0.5), tall).height < tall.height
