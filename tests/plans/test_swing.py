"""Swing-foot trajectories: continuous quintics that follow a moving footstep."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from poise.geometry import Quintic
from poise.plans import Footstep, SwingTrajectory
from poise.plans.footsteps import SEARCH_SPEED, TOUCHDOWN_SPEED, quintic_point

PERIOD, SECONDS, LIFT = 0.002, 0.4, 0.06
START, GOAL = Footstep("left", 0.0, 0.1), Footstep("left", 0.3, 0.12, 0.2)
MOVED = Footstep("left", 0.36, 0.10, 0.2)
STAIR = Footstep("left", 0.3, 0.12, 0.0, 0.08)


def swing_samples(
    start: Footstep, goal: Footstep, later: Footstep | None = None, late: float = 0.0
) -> list[SwingTrajectory]:
    """All samples of a swing; the goal may move halfway, and there may be no ground at the end."""
    swing = SwingTrajectory.of(start, goal, LIFT)
    found = [swing]
    for tick in range(round((SECONDS + late) / PERIOD)):
        elapsed = tick * PERIOD
        swing = swing.advance(later if later and elapsed >= 0.5 * SECONDS else goal, elapsed, SECONDS - elapsed, PERIOD)
        found.append(swing)
    return found


def heights(found: list[SwingTrajectory]) -> np.ndarray:
    return np.array([swing.height[0].real for swing in found])


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("after", [0.0, 0.1, 0.37, 0.5, 0.9])
def test_toward_is_the_quintic_between_two_motions(seed: int, after: float) -> None:
    random = np.random.default_rng(seed)
    parts = random.normal(0.0, 1.0, (2, 3, 2))
    now, end = (tuple(complex(*number) for number in motion) for motion in parts)
    found = quintic_point(now, end, 0.5, after)  # type: ignore[arg-type]
    expected = Quintic(tuple(parts[0]), tuple(parts[1]), 0.5).sample(after)
    for number, both in zip(found, expected, strict=True):
        assert [number.real, number.imag] == pytest.approx(both, abs=1e-9)


def test_going_on_from_where_it_is_stays_on_the_same_curve() -> None:
    """So it is safe to plan again at every tick."""
    now, end = (0j, 0.1 + 0.2j, 1.0 + 0j), (0.3 + 0.1j, 0j, 0j)
    halfway = quintic_point(now, end, 0.5, 0.2)
    assert quintic_point(halfway, end, 0.3, 0.1) == pytest.approx(quintic_point(now, end, 0.5, 0.3))


@pytest.mark.parametrize("later", [None, MOVED])
def test_a_swing_lands_on_its_footstep_and_never_jumps(later: Footstep | None) -> None:
    found = swing_samples(START, GOAL, later)
    goal = later or GOAL
    for before, after in pairwise(found):
        for part in ("plane", "height", "yaw"):
            (x, v, _), (y, w, _) = getattr(before, part), getattr(after, part)
            assert abs(y - x - 0.5 * PERIOD * (v + w)) < 2e-4, "its rate is the derivative of its value"
            assert abs(y - x) < 3.0 * PERIOD
    assert found[-1].plane[0] == pytest.approx(goal.place, abs=2e-3)
    assert found[-1].yaw[0].real == pytest.approx(goal.yaw, abs=2e-3)
    assert heights(found).max() == pytest.approx(LIFT, abs=3e-3)
    assert heights(found)[-1] == pytest.approx(0.0, abs=3e-3)
    assert heights(found).min() > -3e-3


def test_it_lands_slowly() -> None:
    last = swing_samples(START, GOAL)[-1]
    assert last.height[1].real == pytest.approx(-TOUCHDOWN_SPEED, abs=0.05)
    assert abs(last.plane[1]) < 0.05


def test_without_ground_contact_the_foot_keeps_moving_down_slowly() -> None:
    found = swing_samples(START, GOAL, late=0.3)
    after = found[round(SECONDS / PERIOD) + 1 :]
    rates = np.array([swing.height[1].real for swing in after])
    assert (np.diff(rates) <= 1e-9).all()
    assert rates.min() == pytest.approx(-SEARCH_SPEED)
    assert heights(after)[-1] < -0.05
    assert {swing.plane[0] for swing in after} == {after[0].plane[0]}, "straight down"


def test_onto_a_stair_the_foot_is_lifted_before_it_goes_ahead() -> None:
    found = swing_samples(START, STAIR)
    places = np.array([swing.plane[0] for swing in found]).real
    edge = STAIR.x - 0.1
    assert places[round(0.2 * SECONDS / PERIOD)] == START.x
    assert heights(found).max() == pytest.approx(STAIR.z + LIFT, abs=4e-3)
    assert (heights(found)[places > edge] > STAIR.z - 3e-3).all(), "above the tread when it arrives over it"
    assert found[-1].plane[0] == pytest.approx(STAIR.place, abs=2e-3)
    assert heights(found)[-1] == pytest.approx(STAIR.z, abs=3e-3)


def test_a_swing_never_changes() -> None:
    swing = SwingTrajectory.of(START, GOAL, LIFT)
    one, two = (swing.advance(GOAL, 0.0, SECONDS, PERIOD) for _ in range(2))
    assert one == two
    assert swing == SwingTrajectory.of(START, GOAL, LIFT)
