"""References of the center of mass: DCM feedback, and the sinusoid of [Dalibard2012]."""

from __future__ import annotations

import math

import numpy as np
import pytest

from planned_walks import BODY, largest_change, phases, plain_gait
from poise.plans import CenterState, DcmReference, FootstepPlan, SinusoidReference

TICK = 0.001


def center_targets(
    sinusoid: SinusoidReference, plan: FootstepPlan, speed: tuple[float, float, float], most: int = 8
) -> list[complex]:
    """Target of the center of mass at every millisecond of a walk and one second longer."""
    found = []
    for phase in phases(plan, most, speed):
        seconds = phase.seconds if math.isfinite(phase.seconds) else 1.0
        found += [sinusoid.center_target(plan, phase, phase.begin + t) for t in np.arange(0.0, seconds, TICK)]
    return found


@pytest.mark.parametrize("feedback", [0.0, 1.0, 4.0, 15.0])
def test_a_dcm_error_decays_at_the_rate_of_the_feedback(feedback: float) -> None:
    """ξ̇ - ξ̇_ref = -k (ξ - ξ_ref), with ξ̇ = ω (ξ - z): by the definition of z."""
    plan = FootstepPlan(plain_gait((0.3, 0.0, 0.0)), 6)
    omega, off = plan.gait.omega, 0.01 + 0.02j
    for phase in phases(plan, 6):
        time = phase.begin + 0.3 * min(phase.seconds, 1.0)
        xi, z = plan.dcm_reference(phase, phase.elapsed(time))
        command = DcmReference(feedback).command(plan, phase, time, CenterState(xi + off, 0j))
        rate = omega * (xi + off - command.zmp) - omega * (xi - z)
        assert command.dcm == xi
        assert rate == pytest.approx(-feedback * off, abs=1e-9)


@pytest.mark.parametrize("speed", [(0.3, 0.0, 0.0), (-0.2, 0.0, 0.0), (0.0, 0.15, 0.0), (0.2, 0.0, 0.5)])
@pytest.mark.parametrize("shift", [0.0, 0.6, -0.6])
def test_the_sinusoid_is_continuous_from_standing_to_standing(speed: tuple[float, float, float], shift: float) -> None:
    plan = FootstepPlan(plain_gait(speed), 6)
    found = center_targets(SinusoidReference(0.05, shift), plan, speed)
    # No faster than foot and sway together; the foot moves by minimum jerk, which peaks at 15/8 of its mean.
    timing, step_geometry = plan.gait.timing, plan.gait.step_geometry
    fastest = (
        15 / 8 * abs(complex(step_geometry.forward, 2.0 * step_geometry.sideways)) / timing.single_support
        + 0.05 * math.pi / timing.step
    )
    assert largest_change(found) < TICK * (2.0 * fastest + 0.1)
    assert found[0] == pytest.approx(0j, abs=1e-9)
    last = list(phases(plan, 8, speed))[-1]
    assert found[-1] == pytest.approx(last.middle)


@pytest.mark.parametrize("amplitude", [0.02, 0.08])
@pytest.mark.parametrize("shift", [0.0, 0.4, -0.4])
def test_the_sway_has_its_target_amplitude_and_phase(amplitude: float, shift: float) -> None:
    """The phase is that of the largest displacement after the middle of a single support, in a cycle of two steps."""
    plan = FootstepPlan(plain_gait((0.0, 0.0, 0.0)), math.inf)
    timing = plan.gait.timing
    middles = [
        phase.begin + 0.5 * phase.seconds for phase in phases(plan, 8) if phase.kind == "single" and phase.steps >= 2
    ]
    found = np.array(center_targets(SinusoidReference(amplitude, shift), plan, (0.0, 0.0, 0.0))).imag
    time = TICK * np.arange(len(found))
    walking = (time >= middles[0] - 0.1) & (time < middles[-1])
    sign = (
        -1.0 if next(p for p in phases(plan, 8) if p.kind == "single" and p.steps == 2).support.side == "right" else 1
    )
    expected = sign * amplitude * np.cos(math.pi * (time - middles[0]) / timing.step - shift)
    assert found[walking] == pytest.approx(expected[walking], abs=2e-3 * amplitude + 1e-4)
    assert np.abs(found).max() == pytest.approx(amplitude, rel=1e-3)


def test_along_the_way_it_is_in_the_middle_of_the_feet() -> None:
    plan = FootstepPlan(plain_gait((0.3, 0.0, 0.0)), math.inf)
    for phase in phases(plan, 6):
        if phase.kind == "double":
            found = SinusoidReference(0.05).center_target(plan, phase, phase.begin + 0.5 * phase.seconds)
            assert found.real == pytest.approx(phase.middle.real)
        if phase.kind == "single":
            ends = [
                SinusoidReference(0.05).center_target(plan, phase, phase.begin + t).real for t in (0.0, phase.seconds)
            ]
            assert ends[0] == pytest.approx(0.5 * (phase.support.x + phase.other_foot.x))
            assert ends[1] == pytest.approx(0.5 * (phase.support.x + phase.goal.x))


def test_it_is_followed_by_the_law_of_the_paper() -> None:
    """Equation 8: c̈ = -λ_p (c - c*) - 2 sqrt(λ_p) ċ, with c̈ = ω² (c - z)."""
    plan = FootstepPlan(plain_gait((0.3, 0.0, 0.0)), math.inf)
    sinusoid, now = SinusoidReference(0.05, 0.2, gain=64.0), CenterState(0.03 - 0.02j, 0.1 + 0.3j)
    for phase in phases(plan, 3):
        command = sinusoid.command(plan, phase, phase.begin + 0.05, now)
        acceleration = plan.gait.omega**2 * (now.place - command.zmp)
        assert acceleration == pytest.approx(-64.0 * (now.place - command.dcm) - 16.0 * now.velocity)


@pytest.mark.parametrize("single", [0.3, 0.5, 0.9])
def test_a_balanced_sway_is_that_of_a_pendulum_pushed_by_each_foot_in_turn(single: float) -> None:
    """c̈ = ω² (c - z) with z a sine that reaches the middle of each foot, integrated over one cycle."""
    plan = FootstepPlan(plain_gait(None, single_support=single), math.inf)
    omega, rate = plan.gait.omega, math.pi / plan.gait.timing.step
    amplitude, steps = SinusoidReference.balanced_amplitude(plan), 4000
    h = 2.0 * plan.gait.timing.step / steps
    c, v, furthest = 0.0, amplitude * rate, 0.0
    for i in range(steps):  # leapfrog
        v += 0.5 * h * omega**2 * (c - 0.5 * BODY.stance_width * math.sin(rate * h * i))
        c += h * v
        v += 0.5 * h * omega**2 * (c - 0.5 * BODY.stance_width * math.sin(rate * h * (i + 1)))
        furthest = max(furthest, abs(c))
    assert furthest == pytest.approx(amplitude, rel=0.01)
    assert c == pytest.approx(0.0, abs=0.02 * amplitude)


def test_the_quicker_the_steps_the_less_sway_they_take() -> None:
    """Section IV.B of the paper."""
    sways = [
        SinusoidReference.balanced_amplitude(FootstepPlan(plain_gait(None, single_support=s), math.inf))
        for s in (0.3, 0.5, 0.8, 1.2)
    ]
    assert sways == sorted(sways)
    assert 0.0 < sways[0] < sways[-1] < 0.5 * BODY.stance_width
