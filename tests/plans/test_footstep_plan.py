"""Footstep plans: the DCM reference obeys the DCM dynamics from standing to standing."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise

import pytest

from planned_walks import STAIRS, integrate_dcm, phases, plain_gait
from poise.plans import CenterState, DcmReference, Footstep, FootstepPlan, GaitPhase, capture_feet

WALKS: dict[str, tuple[tuple[float, float, float], Callable[[Footstep], Footstep] | None]] = {
    "forward": ((0.3, 0.0, 0.0), None),
    "backward": ((-0.2, 0.0, 0.0), None),
    "to the left": ((0.0, 0.15, 0.0), None),
    "to the right": ((0.0, -0.15, 0.0), None),
    "turning": ((0.2, 0.0, 0.4), None),
    "on the spot": ((0.0, 0.0, 0.0), None),
    "up stairs": ((0.3, 0.0, 0.0), STAIRS.place_on_tread),
}
each_walk = pytest.mark.parametrize("name", WALKS)


def plan_walk(name: str, steps: float, most: int = 20) -> tuple[FootstepPlan, list[GaitPhase]]:
    speed, ground = WALKS[name]
    plan = FootstepPlan(plain_gait(speed), steps, ground)
    return plan, list(phases(plan, most, speed))


def duration(phase: GaitPhase) -> float:
    return phase.seconds if math.isfinite(phase.seconds) else 1.0


@each_walk
def test_in_every_phase_the_reference_satisfies_the_dynamics(name: str) -> None:
    plan, found = plan_walk(name, 8)
    for phase in found:
        begin, end = (plan.dcm_reference(phase, elapsed)[0] for elapsed in (0.0, duration(phase)))
        after = integrate_dcm(begin, lambda t, p=phase: plan.dcm_reference(p, t)[1], duration(phase), plan.gait.omega)  # type: ignore[misc]
        assert after == pytest.approx(end, abs=1e-8)


@each_walk
@pytest.mark.parametrize("steps", [1, 2, 8, math.inf])
def test_from_phase_to_phase_it_hardly_jumps(name: str, steps: float) -> None:
    """Only when the end comes into the preview, two steps ahead, and by less than can be measured."""
    plan, found = plan_walk(name, steps, most=10)
    ends = [plan.dcm_reference(phase, duration(phase))[0] for phase in found]
    begins = [plan.dcm_reference(phase, 0.0)[0] for phase in found[1:]]
    assert max(abs(begin - end) for begin, end in zip(begins, ends, strict=False)) < 1e-3


@pytest.mark.parametrize("name", [name for name in WALKS if name != "up stairs"])
def test_the_reference_of_an_endless_walk_never_jumps(name: str) -> None:
    plan, found = plan_walk(name, math.inf, most=10)
    for phase, after in pairwise(found):
        end, begin = plan.dcm_reference(phase, phase.seconds)[0], plan.dcm_reference(after, 0.0)[0]
        assert begin == pytest.approx(end, abs=1e-9)


@each_walk
@pytest.mark.parametrize("push", [0j, 0.02 - 0.01j])
def test_with_feedback_a_pendulum_walks_and_ends_at_rest_in_the_middle(name: str, push: complex) -> None:
    """c̈ = ω² (c - z) with the pressure z that the plan asks for, for any start of the pendulum."""
    plan, found = plan_walk(name, 6)
    omega, period = plan.gait.omega, 0.002
    c, v, time, worst = 0.0 + push, 0j, 0.0, 0.0
    for phase in found:
        while time < phase.begin + duration(phase):
            command = DcmReference(4.0).command(plan, phase, time, CenterState(c, v))
            off = abs(c + v / omega - command.dcm)
            worst = max(worst, off if phase.kind != "starting" else 0.0)
            a = omega**2 * (c - command.zmp)
            c, v, time = c + period * (v + 0.5 * period * a), v + period * a, time + period
    assert worst < 3e-3 + 0.1 * abs(push)
    assert found[-1].kind == "standing"
    assert c == pytest.approx(found[-1].middle, abs=2e-2), "the convergent component decays at the rate omega"
    assert c + v / omega == pytest.approx(found[-1].middle, abs=2e-4)


@each_walk
def test_a_walk_ends_side_by_side(name: str) -> None:
    plan, found = plan_walk(name, 7)
    support, last = found[-1].support, found[-1].other_foot
    offset = (last.place - support.place) * support.heading.conjugate()
    assert abs(offset) == pytest.approx(plan.gait.step_geometry.width, abs=1e-9)
    assert offset.real == pytest.approx(0.0, abs=1e-9)
    assert support.yaw == pytest.approx(last.yaw)
    assert found[-1].steps == 7


def test_a_weight_shifts_within_the_feet_before_the_first_step() -> None:
    plan, found = plan_walk("forward", 4)
    pressures = [plan.dcm_reference(found[0], 0.8 * i / 100)[1] for i in range(101)]
    assert pressures[0] == pytest.approx(found[0].middle)
    assert pressures[-1] == pytest.approx(plan.gait.roll.points(found[0].support)[0])
    half = 0.5 * plan.gait.step_geometry.width
    assert max(abs(z.imag) for z in pressures) < 1.3 * half, "and little beyond"


def test_on_a_slope_the_next_foot_lands_as_much_higher() -> None:
    plan = FootstepPlan(plain_gait((0.3, 0.0, 0.0)), math.inf, slope=0.1 + 0.05j)
    support = Footstep("right", 1.0, 2.0, 0.3, 0.5)
    step = plan.footstep(support, 1)
    assert step.z - 0.5 == pytest.approx(0.1 * (step.x - 1.0) + 0.05 * (step.y - 2.0))


@pytest.mark.parametrize(("xi", "steps"), [(0.3 + 0.05j, "right"), (0.3 - 0.05j, "left"), (-0.3 - 0.01j, "left")])
def test_the_foot_further_from_the_body_takes_the_capture_step(xi: complex, steps: str) -> None:
    _, found = plan_walk("forward", 4)
    support_foot, swing_foot = capture_feet(found[0], xi)
    assert swing_foot.side == steps
    assert {support_foot.side, swing_foot.side} == {"left", "right"}
