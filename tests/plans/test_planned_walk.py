"""WalkingPattern: continuous curves, rates equal to their derivatives, and the ZMP over the footsteps."""

import math
from typing import Any

import numpy as np
import pinocchio
import pytest

from planned_walks import BODY, plain_gait
from poise.errors import PoiseError
from poise.plans import Footstep, FootstepPlan, TrajectorySample, WalkingPattern
from poise.plans.reference_trajectory import SAMPLE_PERIOD
from poise.robots import other_side

SPEEDS = {
    "ahead": None,
    "backwards": (-0.15, 0.0, 0.0),
    "aside": (0.0, 0.08, 0.0),
    "to the left": (0.15, 0.0, 0.35),
    "to the right": (0.15, 0.0, -0.35),
    "on the spot": (0.0, 0.0, 0.5),
}
WALKS = pytest.mark.parametrize("speed", SPEEDS.values(), ids=SPEEDS.keys())
SIDES = pytest.mark.parametrize("reference", ["left", "right"])
LEFT, RIGHT = Footstep("left", 0.0, 0.5 * BODY.stance_width), Footstep("right", 0.0, -0.5 * BODY.stance_width)
STEPS = 6
#: Step of finite differences (s): a few periods of the grid.
H = 4 * SAMPLE_PERIOD


def pattern(speed: tuple[float, float, float] | None = None, steps: float = STEPS, **options: Any) -> WalkingPattern:
    gait = plain_gait(speed, BODY.with_standing_width())
    return WalkingPattern(FootstepPlan(gait, steps), LEFT, RIGHT, BODY.com_height, **options)


def times(walk: WalkingPattern, spacing: float = 0.01) -> np.ndarray:
    """Times of the grid, from before the start until after the end."""
    count = round((walk.seconds + 0.5) / spacing)
    return np.round(np.arange(-0.1, count * spacing, spacing), 3)


def near_phase_change(walk: WalkingPattern, time: float) -> bool:
    """Whether a phase begins or ends nearby: accelerations jump there."""
    return any(abs(time - phase.begin) < 2.0 * H for phase in walk.phases)


def goals(walk: WalkingPattern) -> list[Footstep]:
    """The footsteps of its footstep plan, in order."""
    first = walk.phases[2].goal.side
    support, footsteps = (RIGHT if first == "left" else LEFT), []
    for number in range(1, int(walk.footstep_plan.steps) + 1):
        support = walk.footstep_plan.footstep(support, number)
        footsteps.append(support)
    return footsteps


# -- continuous, with rates that are derivatives -----------------------------------------------------------------------


@WALKS
@SIDES
def test_positions_are_continuous(speed: tuple[float, float, float] | None, reference: str) -> None:
    """No faster than a swinging foot: twice the mean of a quintic, and 3 m/s in all."""
    walk = pattern(speed, reference=reference)
    samples = [walk.sample(float(t)) for t in np.arange(0.0, walk.seconds, SAMPLE_PERIOD)]
    centers = np.array([sample.center for sample in samples])
    feet = np.array([sample.other_sole.homogeneous[:3].ravel() for sample in samples])
    assert np.abs(np.diff(centers, axis=0)).max() < 3.0 * SAMPLE_PERIOD
    assert np.abs(np.diff(feet, axis=0)).max() < 3.0 * SAMPLE_PERIOD


@WALKS
@SIDES
def test_rates_are_the_derivatives_of_positions(speed: tuple[float, float, float] | None, reference: str) -> None:
    """Relative to a sole that itself swings and turns."""
    walk = pattern(speed, reference=reference)
    for time in times(walk):
        before, now, after = (walk.sample(float(time) + s) for s in (-H, 0.0, H))
        slack = 3e-2 if near_phase_change(walk, time) else 3e-3  # m/s; feet go at 1 m/s
        assert now.center_rate == pytest.approx((after.center - before.center) / (2.0 * H), abs=slack), time
        moved = (after.other_sole.translation - before.other_sole.translation) / (2.0 * H)
        assert now.other_sole_rate[:3] == pytest.approx(moved, abs=slack), time
        turned = pinocchio.log3(after.other_sole.rotation @ before.other_sole.rotation.T) / (2.0 * H)
        assert now.other_sole_rate[3:] == pytest.approx(turned, abs=slack), time


def test_the_walk_is_the_same_relative_to_either_sole() -> None:
    left, right = (pattern(SPEEDS["to the left"], reference=side) for side in ("left", "right"))
    for time in times(left, 0.05):
        a, b = left.sample(float(time)), right.sample(float(time))
        assert b.other_sole.homogeneous == pytest.approx(a.other_sole.inverse().homogeneous, abs=1e-12)
        assert b.center == pytest.approx(a.other_sole.actInv(a.center), abs=1e-12)
        assert b.load_share == pytest.approx(1.0 - a.load_share, abs=1e-12)


def test_samples_do_not_depend_on_their_order() -> None:
    walk = pattern()
    late = walk.sample(3.0)
    walk.sample(0.5)
    assert all(np.array_equal(np.asarray(a), np.asarray(b)) for a, b in zip(late, walk.sample(3.0), strict=True))


# -- feet --------------------------------------------------------------------------------------------------------------


@WALKS
def test_feet_stand_on_the_footstep_plan(speed: tuple[float, float, float] | None) -> None:
    walk = pattern(speed)
    footsteps, steps = goals(walk), [phase for phase in walk.phases if phase.kind == "single"]
    assert len(steps) == STEPS
    for phase, goal in zip(steps, footsteps, strict=True):
        assert phase.goal == goal
        (place, yaw), (velocity, turning) = walk.foot(goal.side, phase.begin + phase.seconds)
        assert [*place, yaw] == pytest.approx([*goal.position, goal.yaw], abs=1e-9)
        assert [*velocity, turning] == pytest.approx(np.zeros(4), abs=1e-9)


@WALKS
def test_the_stance_foot_does_not_move(speed: tuple[float, float, float] | None) -> None:
    walk = pattern(speed)
    for phase in walk.phases:
        for foot in phase.stance_feet:
            for share in (0.0, 0.3, 0.9):
                time = phase.begin + share * min(phase.seconds, 1.0)
                (place, yaw), rates = walk.foot(foot.side, time)
                assert [*place, yaw] == pytest.approx([*foot.position, foot.yaw], abs=1e-12)
                assert not np.any(np.concatenate([rates[0], [rates[1]]]))


def test_a_swing_foot_reaches_the_step_height_and_never_sinks() -> None:
    walk = pattern()
    phase = next(phase for phase in walk.phases if phase.kind == "single")
    heights = [walk.foot(phase.goal.side, phase.begin + t)[0][0][2] for t in np.linspace(0.0, phase.seconds, 101)]
    assert max(heights) == pytest.approx(walk.footstep_plan.gait.step_height)
    assert min(heights) >= 0.0


# -- center of mass ----------------------------------------------------------------------------------------------------


def zmp_of(walk: WalkingPattern, time: float) -> np.ndarray:
    """z of c̈ = ω² (c - z), by differences of the velocity: the ZMP."""
    center = walk.center(time)[0][:2]
    acceleration = (walk.center(time + H)[1] - walk.center(time - H)[1])[:2] / (2.0 * H)
    return center - acceleration / walk.footstep_plan.gait.omega**2


def distance(point: np.ndarray, feet: tuple[Footstep, ...]) -> float:
    """Distance from the line between the middles of the soles (m), or from the middle of the only one."""
    a, b = feet[0].position_xy, feet[-1].position_xy
    difference = b - a
    share = np.clip((point - a) @ difference / (difference @ difference), 0.0, 1.0) if difference.any() else 0.0
    return float(np.linalg.norm(point - a - share * difference))


@WALKS
def test_the_zmp_stays_between_the_stance_soles(speed: tuple[float, float, float] | None) -> None:
    """On one foot in its middle, on both between them; half of a sole's width remains for the regulation."""
    walk = pattern(speed)
    for time in times(walk):
        phase = walk.phase(float(time))
        if near_phase_change(walk, time) or time < 0.01:
            continue
        away = distance(zmp_of(walk, float(time)), phase.stance_feet)
        assert away < (1e-3 if phase.kind in ("single", "double") else 0.5 * BODY.sole_size[1]), (time, phase.kind)


@WALKS
def test_it_starts_and_ends_at_rest_between_the_feet(speed: tuple[float, float, float] | None) -> None:
    walk = pattern(speed)
    for time in (-1.0, 0.0, walk.seconds, walk.seconds + 10.0):
        sample = walk.sample(time)
        assert sample.center[:2] == pytest.approx(0.5 * sample.other_sole.translation[:2], abs=1e-3)
        assert sample.center_rate == pytest.approx(0.0, abs=5e-3)
        assert sample.other_sole_rate == pytest.approx(0.0, abs=1e-12)
        assert sample.load_share == pytest.approx(0.5, abs=0.02)
    feet = [walk.foot(side, walk.seconds)[0][0] for side in ("left", "right")]
    assert np.linalg.norm(feet[0] - feet[1]) == pytest.approx(BODY.stance_width), "side by side"


def test_the_height_changes_to_that_of_the_gait() -> None:
    walk = pattern()
    assert walk.center(0.0)[0][2] == pytest.approx(BODY.com_height)
    assert walk.center(walk.seconds)[0][2] == pytest.approx(walk.footstep_plan.gait.com_height)


# -- share of the weight -----------------------------------------------------------------------------------------------


@WALKS
@SIDES
def test_the_share_is_all_or_nothing_on_one_foot_and_between_on_both(
    speed: tuple[float, float, float] | None, reference: str
) -> None:
    walk = pattern(speed, reference=reference)
    for time in times(walk):
        phase, share = walk.phase(float(time)), walk.sample(float(time)).load_share
        if phase.kind == "single":
            assert share == (1.0 if phase.support.side == reference else 0.0)
        else:
            assert 0.0 <= share <= 1.0


def test_the_share_is_that_of_a_pressure_between_the_feet() -> None:
    """With s on the left sole, the lever rule is z = s left + (1 - s) right."""
    walk = pattern()
    for time in times(walk):
        phase = walk.phase(float(time))
        if phase.kind != "double" or near_phase_change(walk, time):
            continue
        share, z = walk.sample(float(time)).load_share, zmp_of(walk, float(time))
        feet = {foot.side: foot.position_xy for foot in phase.stance_feet}
        assert share * feet["left"] + (1.0 - share) * feet["right"] == pytest.approx(z, abs=2e-3)


def test_the_share_never_jumps() -> None:
    walk = pattern()
    shares = [walk.sample(float(t)).load_share for t in np.arange(0.0, walk.seconds, SAMPLE_PERIOD)]
    quickest = SAMPLE_PERIOD / walk.footstep_plan.gait.timing.double_support
    assert np.abs(np.diff(shares)).max() < 3.0 * quickest


# -- ends --------------------------------------------------------------------------------------------------------------


def test_no_steps_are_standing() -> None:
    walk = pattern(steps=0)
    first = walk.sample(0.0)
    for time in (0.0, 0.7, walk.seconds):
        sample: TrajectorySample = walk.sample(time)
        assert sample.other_sole == first.other_sole
        assert sample.center[:2] == pytest.approx(first.center[:2], abs=1e-12)


def test_one_step_brings_the_feet_side_by_side() -> None:
    walk = pattern(steps=1)
    side = walk.phases[2].goal.side
    support_foot = {"left": LEFT, "right": RIGHT}[other_side(side)]
    (place, _), _ = walk.foot(side, walk.seconds)
    assert place[:2] == pytest.approx(walk.footstep_plan.gait.step_geometry.footstep_beside(support_foot).position_xy)


def test_an_endless_footstep_plan_is_refused_in_one_line() -> None:
    with pytest.raises(PoiseError, match="a walking pattern needs a finite number of steps") as caught:
        pattern(steps=math.inf)
    assert "\n" not in str(caught.value)
