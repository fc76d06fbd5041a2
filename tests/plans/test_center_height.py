"""Height of the center of mass over nearly straight legs."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from planned_walks import BODY, phases, plain_gait
from poise.plans import BodyDimensions, FootstepPlan, GaitPhase, HeightOscillation
from poise.plans.center_height import LARGEST_BOUNCE, hip_height_over, walking_heights
from poise.robots import GRAVITY

LEG = replace(BODY, ankle_height=0.06, ankle_offset=-0.03, hip_offset=-0.02)
PERIOD = 0.002


@pytest.mark.parametrize(("ahead", "flexion"), [(0.0, 0.0), (0.2, 0.1), (-0.15, 0.6)])
def test_thigh_and_shank_of_equal_length_span_hip_and_ankle(ahead: float, flexion: float) -> None:
    segment = 0.5 * (LEG.leg_length - LEG.ankle_height)
    height = hip_height_over(LEG, ahead, flexion) - LEG.ankle_height
    span = math.hypot(height, ahead)
    inner = math.acos((2.0 * segment**2 - span**2) / (2.0 * segment**2))  # law of cosines
    assert math.pi - inner == pytest.approx(flexion, abs=1e-6)


def heights(forward: float, share: float = 1.0, body: BodyDimensions = LEG) -> tuple[float, float]:
    return walking_heights(body, 0.2, forward, 0.0, 0.5, 0.2, 0.0, 0.02, share)


def test_longer_steps_need_lower_hips_and_more_oscillation() -> None:
    means, amplitudes = zip(*(heights(step) for step in (0.1, 0.2, 0.3, 0.4)), strict=True)
    assert list(means) == sorted(means, reverse=True)
    assert list(amplitudes) == sorted(amplitudes)
    assert max(amplitudes) * (math.tau / 0.5) ** 2 <= LARGEST_BOUNCE * GRAVITY + 1e-9
    assert heights(0.3, share=0.0)[1] == 0.0, "flat feet keep their height"


def test_a_heel_that_rises_lets_the_hips_be_higher() -> None:
    flat, rolling = (walking_heights(LEG, 0.2, 0.3, 0.0, 0.5, 0.2, 0.0, rise, 1.0)[0] for rise in (0.0, 0.03))
    assert rolling > flat


def test_servos_and_the_sinusoid_walk_on_flat_feet() -> None:
    gait = plain_gait(body=LEG.with_standing_width())
    assert gait.bounce == gait.heel_rise == gait.heel_strike == gait.roll.begin == gait.roll.end == 0.0
    assert gait.com_height < plain_gait(body=LEG).com_height, "with more bent knees"


def test_it_is_highest_in_mid_stance_lowest_between_and_smooth() -> None:
    gait = plain_gait((0.5, 0.0, 0.0), body=LEG)
    found: list[GaitPhase] = list(phases(FootstepPlan(gait, math.inf), 6))
    oscillation, singles = HeightOscillation(), []
    points: list[Any] = []
    for phase in found[1:]:
        start = len(points)
        for i in range(round(phase.seconds / PERIOD)):
            oscillation = oscillation.advance(phase, i * PERIOD, gait.bounce, gait.timing, PERIOD)
            points.append([part.real for part in oscillation.point])
        if phase.kind == "single":
            singles.append((start, len(points)))
    z, rate, acceleration = np.array(points).T
    for begin, end in singles[1:]:
        middle = (begin + end) // 2
        assert z[middle] == pytest.approx(gait.bounce, rel=0.05)
        assert abs(int(z[begin:end].argmax()) - (middle - begin)) * PERIOD < 0.03
    assert z[singles[1][0] :].min() == pytest.approx(-gait.bounce, rel=0.1)
    assert np.diff(z) / PERIOD == pytest.approx(rate[:-1], abs=0.02)
    assert np.abs(np.diff(acceleration)).max() < 0.1 * np.abs(acceleration).max()
