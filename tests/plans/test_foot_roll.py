"""Feet that roll over an edge of their sole."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pinocchio
import pytest

from poise.plans import FootRoll
from poise.plans.foot_roll import LANDING_SHARE, ROLL_BEGIN, edge_point
from poise.plans.footsteps import sole_rise
from robot_states import installed_robot

pytestmark = pytest.mark.needs_models

DURATION, PERIOD, RISE = 0.12, 0.002, 0.2
FLAT = pinocchio.SE3(pinocchio.rpy.rpyToMatrix(0.05, -0.03, 0.4), np.array([0.3, -0.1, 0.02]))


def rising(relieved_at: float = 0.0) -> list[FootRoll]:
    """The roll at each tick of a double support, whose front foot bears weight from `relieved_at` on (s)."""
    rolls = [FootRoll(FLAT)]
    for i in range(round(DURATION / PERIOD)):
        time = i * PERIOD
        rolls.append(rolls[-1].rise(RISE, DURATION - time, DURATION, PERIOD, time >= relieved_at))
    return rolls


def test_the_heel_rises_late_in_double_support_to_the_given_pitch() -> None:
    rolls = rising()
    begun = [i for i, roll in enumerate(rolls) if roll.has_begun]
    assert begun[0] * PERIOD == pytest.approx(ROLL_BEGIN * DURATION, abs=2.0 * PERIOD)
    angles = [roll.angle for roll in rolls]
    assert all(after >= before for before, after in pairwise(angles))
    assert angles[-1] == pytest.approx(RISE, rel=0.1)


def test_a_roll_that_begins_late_is_smaller_and_no_quicker() -> None:
    usual, late = rising(), rising(relieved_at=0.09)
    assert 0.0 < late[-1].angle < 0.5 * RISE
    assert max(abs(roll.pitch[1]) for roll in late) < 1.1 * max(abs(roll.pitch[1]) for roll in usual)
    assert rising(relieved_at=1.0)[-1].angle == 0.0, "without weight on the front foot the rear one stays flat"


@pytest.mark.parametrize("edge", [1.0, -1.0])
def test_its_edge_rests_and_the_twist_is_the_rate_of_the_pose(edge: float) -> None:
    foot = installed_robot("g1").foot("left")
    h, point = 1e-5, np.array([0.03, 0.01, 0.02])

    def at(time: float) -> tuple[pinocchio.SE3, np.ndarray, np.ndarray]:
        pitch = 0.3 * math.sin(5.0 * time), 1.5 * math.cos(5.0 * time), -7.5 * math.sin(5.0 * time)
        return FootRoll(FLAT, edge, tuple(complex(part) for part in pitch)).motion(foot, point)  # type: ignore[arg-type]

    (before, twist_before, _), (pose, twist, rate), (after, twist_after, _) = (at(0.1 + k * h) for k in (-1, 0, 1))
    assert pose.act(edge_point(foot, edge)) == pytest.approx(FLAT.act(edge_point(foot, edge)))
    assert twist[:3] == pytest.approx((after.act(point) - before.act(point)) / (2.0 * h), abs=1e-6)
    assert twist[3:] == pytest.approx(pinocchio.log3(after.rotation @ before.rotation.T) / (2.0 * h), abs=1e-6)
    assert rate == pytest.approx((twist_after - twist_before) / (2.0 * h), abs=1e-5)


def test_a_foot_that_lands_on_its_heel_becomes_flat() -> None:
    foot = installed_robot("g1").foot("left")
    heel = edge_point(foot, -1.0)
    R = pinocchio.AngleAxis(-0.2, FLAT.rotation[:, 1]).toRotationMatrix() @ FLAT.rotation
    pose = pinocchio.SE3(R, FLAT.act(heel) - R @ heel)
    roll: FootRoll | None = FootRoll.landing(foot, pose, FLAT.rotation[:, 2], DURATION)
    assert roll is not None
    assert roll.angle == pytest.approx(-0.2)
    assert roll.flat.homogeneous == pytest.approx(FLAT.homogeneous)
    assert roll.motion(foot, np.zeros(3))[0].homogeneous == pytest.approx(pose.homogeneous)
    angle, time = roll.angle, 0.0
    while (roll := roll.land(time, PERIOD)) is not None:
        assert roll.angle >= angle
        angle, time = roll.angle, time + PERIOD
    assert time < LANDING_SHARE * DURATION
    assert abs(angle) < 0.02


@pytest.mark.parametrize("angle", [-0.3, -0.05, 0.0, 0.04, 0.5])
def test_the_middle_of_a_pitched_sole_is_above_its_lower_end(angle: float) -> None:
    h, rate, faster, half = 1e-4, 1.3, -4.0, 0.1

    def height(time: float) -> float:
        pitch = angle + rate * time + 0.5 * faster * time**2
        return sole_rise((complex(pitch), complex(rate), complex(faster)), half)[0].real

    value, speed, acceleration = (part.real for part in sole_rise((complex(angle), rate + 0j, faster + 0j), half))
    assert speed == pytest.approx((height(h) - height(-h)) / (2.0 * h), abs=1e-6)
    assert acceleration == pytest.approx((height(h) - 2.0 * value + height(-h)) / h**2, rel=1e-3)
    assert value == pytest.approx(half * abs(math.sin(angle)), abs=0.0025)
    assert value <= half * abs(math.sin(angle)) + 1e-12
