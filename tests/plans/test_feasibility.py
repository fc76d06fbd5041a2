"""Feasibility checks and repairs: predictions against a pendulum and against walks in MuJoCo."""

from __future__ import annotations

import math
from functools import cache

import pytest

import poise
from poise.behaviors import Walk, WalkSettings
from poise.plans import (
    STYLES,
    BodyDimensions,
    CenterState,
    DcmReference,
    FeasibilityCheck,
    Footstep,
    FootstepPlan,
    GaitPhase,
    SinusoidReference,
    Speed,
    Style,
    check_feasibility,
    gait_of_style,
    repair_style,
)
from poise.plans.feasibility import check_walk
from poise.plans.style_repair import BALANCE_PARAMETERS, REPAIR_BISECTIONS, REPAIR_CHECKS, SAFE_MARGIN
from poise.plants import MujocoPlant

BODY = BodyDimensions(
    leg_length=0.69, stance_width=0.24, com_height=0.67, hip_height=0.66, sole_size=(0.17, 0.05), leg_strength=0.6
)

#: Long steps in half the time that the foot needs for them.
HASTY = STYLES["neutral"].replace(step_length=0.35, single_support=0.25)


@cache
def load_walker(robot: str) -> poise.Robot:
    return poise.load_robot(robot)


def walks_in_physics(robot: str, style: Style, center: str, steps: int = 6, speed: Speed | None = None) -> bool:
    """Return whether a style walks in physics."""
    walk = Walk(load_walker(robot), style, speed, steps, WalkSettings(com_reference=center))  # type: ignore[arg-type]
    plant = MujocoPlant(walk.start)
    for _ in poise.steps(poise.TorqueController(walk), plant, walk.seconds):
        if plant.fallen:
            return False
    return walk.phase().steps == steps


def single_support_on_right(now: CenterState, speed: float = 0.3) -> tuple[FootstepPlan, GaitPhase]:
    """Single support on the right foot, half a second before the left one lands."""
    plan = FootstepPlan(gait_of_style(STYLES["neutral"], BODY, (speed, 0.0, 0.0)), math.inf)
    right, left = Footstep("right", 0.0, -0.12), Footstep("left", -0.1, 0.12)
    return plan, GaitPhase("single", 0.0, plan.gait.timing.single_support, right, left, plan.footstep(right, 1))


def test_a_walk_on_its_plan_is_steady_by_half_a_sole() -> None:
    plan, phase = single_support_on_right(CenterState(0j, 0j))
    xi, _ = plan.dcm_reference(phase, 0.0)
    found = check_feasibility(
        plan,
        phase,
        0.0,
        CenterState(phase.support.place, (xi - phase.support.place) * plan.gait.omega),
        DcmReference(),
        BODY,
    )
    assert found.feasible
    assert 0.0 < found.margin <= 0.5 * BODY.sole_size[1]
    assert "steady" in found.reason


@pytest.mark.parametrize(
    ("push", "word"), [(0.05, "inner side of the right foot"), (-0.05, "outer side of the right foot")]
)
def test_the_reason_names_the_side_that_the_zmp_would_have_to_leave(push: float, word: str) -> None:
    plan, phase = single_support_on_right(CenterState(0j, 0j))
    xi, _ = plan.dcm_reference(phase, 0.0)
    off = (xi + 1j * push - phase.support.place) * plan.gait.omega
    found = check_feasibility(plan, phase, 0.0, CenterState(phase.support.place, off), DcmReference(), BODY, steps=1)
    assert not found.feasible
    assert word in found.reason


def test_steps_that_the_legs_cannot_make_are_named_as_such() -> None:
    assert "too long for legs" in check_walk(STYLES["neutral"], BODY, speed=(1.5, 0.0, 0.0)).reason
    assert "cannot swing" in check_walk(HASTY, BODY).reason


def test_repair_does_not_change_a_feasible_style() -> None:
    found = repair_style(STYLES["neutral"], BODY)
    assert found.style == STYLES["neutral"]
    assert found.changes == ()


@pytest.mark.parametrize(
    ("style", "center"),
    [("proud", "dcm"), ("cautious", "sinusoid")]
    + [pytest.param(*each, marks=pytest.mark.slow) for each in [("cautious", "dcm"), ("proud", "sinusoid")]],
)
def test_a_repair_touches_the_balance_alone_and_is_safe(style: str, center: str) -> None:
    original = STYLES[style].replace(step_length=0.35, single_support=0.25) if center == "dcm" else STYLES[style]
    found = repair_style(original, BODY, center)
    assert found.check.margin >= 0.99 * SAFE_MARGIN * min(BODY.sole_size)
    changed = {name for name in original.__dataclass_fields__ if getattr(original, name) != getattr(found.style, name)}
    assert changed <= set(BALANCE_PARAMETERS)
    assert len(found.changes) == len(changed) > 0


@pytest.mark.parametrize(("center", "speed"), [("dcm", (1.2, 0.0, 0.3)), ("sinusoid", (0.3, 0.0, 0.1))])
def test_a_walk_that_is_too_fast_becomes_slower(center: str, speed: tuple[float, float, float]) -> None:
    assert not check_walk(STYLES["neutral"], BODY, center, speed).feasible
    found = repair_style(STYLES["neutral"], BODY, center, speed)
    assert found.speed is not None
    assert 0.1 * speed[0] < found.speed[0] < speed[0]
    assert found.speed[2] / found.speed[0] == pytest.approx(speed[2] / speed[0]), "on the same curve"
    assert check_walk(found.style, BODY, center, found.speed).margin >= 0.99 * SAFE_MARGIN * min(BODY.sole_size)
    assert any(line.startswith("speed 1 -> ") for line in found.changes)
    assert found.style.step_length == STYLES["neutral"].step_length, "it repairs the speed, not the style"


def test_half_of_a_repair_is_not_sufficient() -> None:
    found = repair_style(HASTY, BODY).style
    assert not check_walk(HASTY.blend(found, 0.5), BODY).feasible


def test_a_better_check_decides_on_a_repair() -> None:
    """The check of this test demands slow steps, unlike the pendulum."""
    styles = []

    def check(style: Style, speed: object) -> FeasibilityCheck:
        styles.append(style)
        return FeasibilityCheck(style.single_support - 0.45, 0.0, "made up", True)

    found = repair_style(HASTY, BODY, check=check)
    assert found.check.simulated
    assert found.style.single_support >= 0.45
    assert check_walk(found.style, BODY).feasible
    assert 0 < len(styles) <= 2 + REPAIR_CHECKS + REPAIR_BISECTIONS

    found = repair_style(HASTY, BODY, check=lambda style, speed: FeasibilityCheck(-1.0, 0.0, "never", True))
    assert found.style == HASTY
    assert not found.check.feasible


def test_the_sway_of_a_sinusoid_compensates_the_lag_of_the_body() -> None:
    plan = FootstepPlan(gait_of_style(STYLES["sad"], BODY), math.inf)
    reference = SinusoidReference(0.03, 0.1)
    amplitude, phase = reference.lead_compensation(plan)
    turn = math.pi / plan.gait.timing.step
    late = 1.0 / (1.0 + 1j * turn / math.sqrt(reference.gain)) ** 2
    assert amplitude * abs(late) == pytest.approx(reference.amplitude)
    # A greater phase of `SinusoidReference` comes later.
    assert phase - math.atan2(late.imag, late.real) == pytest.approx(reference.phase)


@pytest.mark.parametrize("robot", ["g1", pytest.param("nao", marks=pytest.mark.slow)])
def test_the_sinusoid_of_the_paper_falls_with_a_sway_of_its_own_and_walks_when_repaired(robot: str) -> None:
    style, body = STYLES["sad"].replace(sway=0.05), Walk(load_walker(robot)).body
    assert not check_walk(style, body, "sinusoid").feasible
    assert not walks_in_physics(robot, style, "sinusoid")
    better = repair_style(style, body, "sinusoid")
    assert better.check.feasible
    assert walks_in_physics(robot, better.style, "sinusoid")


def test_a_walk_too_fast_for_its_legs_falls_and_walks_when_repaired() -> None:
    walk = Walk(load_walker("g1"), speed=(1.5, 0.0, 0.0))
    assert not walk.check_feasibility().feasible
    assert not walks_in_physics("g1", walk.style, "dcm", speed=walk.speed)
    assert walk.repair()
    assert walk.check_feasibility().feasible
    assert walks_in_physics("g1", walk.style, "dcm", speed=walk.speed)
