"""Gait parameters of a style on robots of different sizes."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise

import pytest

from planned_walks import BODY, STYLE, plain_gait
from poise.plans import STYLES, BodyDimensions, gait_of_style
from poise.plans.gait_parameters import REFERENCE_LEG_LENGTH, SHORTEST_DOUBLE_SUPPORT, SHORTEST_STEP_SHARE
from poise.state import natural_frequency

SPEEDS = [(0.1, 0.0, 0.0), (0.4, 0.0, 0.0), (-0.3, 0.0, 0.0), (0.0, 0.15, 0.0), (0.2, -0.1, 0.5), (0.0, 0.0, 0.0)]


def scaled_body(leg: float) -> BodyDimensions:
    """The same body, scaled."""
    k = leg / BODY.leg_length
    return BodyDimensions(
        leg,
        k * BODY.stance_width,
        k * BODY.com_height,
        k * BODY.hip_height,
        (k * BODY.sole_size[0], k * BODY.sole_size[1]),
    )


@pytest.mark.parametrize("leg", [0.2, 0.4, 0.8, 1.0])
def test_times_are_those_of_a_pendulum_of_the_leg_and_lengths_shares_of_it(leg: float) -> None:
    gait = gait_of_style(STYLE, scaled_body(leg))
    slower = math.sqrt(leg / REFERENCE_LEG_LENGTH)
    assert (gait.timing.single_support, gait.timing.double_support) == pytest.approx(
        (STYLE.single_support * slower, STYLE.double_support * slower)
    )
    assert gait.step_geometry.forward == pytest.approx(0.25 * leg)
    assert gait.step_height == pytest.approx(STYLE.step_height * leg)
    assert gait.omega * gait.timing.step == pytest.approx(plain_gait().omega * plain_gait().timing.step), (
        "all bodies have the same dimensionless step time"
    )


@pytest.mark.parametrize("speed", SPEEDS)
@pytest.mark.parametrize("name", STYLES)
def test_a_speed_is_met_by_every_style(name: str, speed: tuple[float, float, float]) -> None:
    gait = gait_of_style(STYLES[name], BODY, speed)
    found = [
        part / gait.timing.step
        for part in (gait.step_geometry.forward, gait.step_geometry.sideways, gait.step_geometry.turn)
    ]
    assert found == pytest.approx(speed)


def test_faster_walks_have_longer_and_quicker_steps() -> None:
    own = STYLE.step_length * BODY.leg_length / plain_gait().timing.step
    gaits = [plain_gait((share * own, 0.0, 0.0)) for share in (0.3, 1.0, 1.2, 1.5, 1.7)]
    wholes, lengths = [gait.timing.step for gait in gaits], [gait.step_geometry.forward for gait in gaits]
    assert wholes[0] == wholes[1] == pytest.approx(plain_gait().timing.step), "slower ones are only shorter"
    assert all(after < before for before, after in pairwise(wholes[1:]))
    assert lengths == sorted(lengths)
    ratios = [length / whole for length, whole in zip(lengths, wholes, strict=True)]
    assert lengths[3] / lengths[1] == pytest.approx(wholes[1] / wholes[3]), "length and rate grow by the same factor"
    assert ratios == sorted(ratios)


@pytest.mark.parametrize("name", STYLES)
@pytest.mark.parametrize("vx", [0.2, 0.6, 1.5, 3.0])
def test_step_times_stay_above_their_minimum_at_every_speed(name: str, vx: float) -> None:
    usual, gait = gait_of_style(STYLES[name], BODY), gait_of_style(STYLES[name], BODY, (vx, 0.0, 0.0))
    assert gait.timing.step >= SHORTEST_STEP_SHARE * usual.timing.step - 1e-9
    assert gait.timing.double_support >= min(SHORTEST_DOUBLE_SUPPORT, usual.timing.double_support) - 1e-9
    assert gait.timing.single_support > 0.0


def test_longer_steps_take_lower_hips() -> None:
    lengths = (0.25, 0.3, 0.35)  # all with a full roll of the feet; without it, knees are more bent
    heights = [plain_gait(step_length=length).com_height for length in lengths]
    assert heights == sorted(heights, reverse=True)
    assert heights[-1] < heights[0]
    for length in (0.0, *lengths):
        gait = plain_gait(step_length=length)
        hip, away = BODY.hip_height - (BODY.com_height - gait.com_height), 0.5 * length * BODY.leg_length
        assert math.hypot(hip, away) < BODY.leg_length, "no leg is fully stretched"
        assert gait.omega == pytest.approx(natural_frequency(gait.com_height))


def test_a_style_may_go_lower_but_not_higher_than_legs_reach() -> None:
    usual = plain_gait(com_height_offset=0.0, step_length=0.1).com_height
    assert plain_gait(com_height_offset=-0.1, step_length=0.1).com_height == pytest.approx(
        usual - 0.1 * BODY.leg_length
    )
    tall = replace(BODY, hip_height=0.79)
    gait = gait_of_style(STYLE.replace(com_height_offset=0.02, step_length=0.35), tall)
    assert tall.hip_height + gait.com_height + gait.bounce - tall.com_height < tall.leg_length
