"""[Sugihara2008] section V and figure 8: two steps of 3 cm to the right, without and with corrected durations."""

from __future__ import annotations

import runpy
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from poise.plans import MotionSegment, ThreeMassModel
from poise.plans.segment.center_path import RelaxationWeights
from robot_states import installed_robot

FIGURE = runpy.run_path(str(Path(__file__).parents[2] / "benchmarks/figure8.py"))
#: Settings of the figure: the single mass of the paper, and soles used up to their edges.
MASS = "concentrated mass"


def plan_two_steps(
    body: str, corrected: bool, phases: Any = FIGURE["PHASES"], relaxation: RelaxationWeights = FIGURE["GENTLE_WEIGHTS"]
) -> Any:
    """The segments, and for each the ZMP margin at every sample (m)."""
    robot, chosen, how = installed_robot("mighty"), body_models()[body], FIGURE["segment_settings"](phases, relaxation)
    found: list[MotionSegment] = FIGURE["plan_steps"](robot, chosen, how, corrected)
    return found, [FIGURE["trace_segment"](chosen, segment) for segment in found]


@cache
def body_models() -> dict[str, ThreeMassModel]:
    return FIGURE["body_models"](installed_robot("mighty"))


def test_both_steps_go_three_centimetres_to_the_right() -> None:
    found, _ = plan_two_steps(MASS, corrected=True)
    feet = [found[0].initial.points.feet, *(segment.goal.points.feet for segment in found)]
    assert np.diff([each["right"].y for each in feet]) == pytest.approx([-0.03, -0.03])
    assert [each["left"].y for each in feet] == pytest.approx([0.042] * 3)


def test_without_correction_the_zero_moment_point_leaves_the_support_as_the_second_step_begins() -> None:
    found, (first, second) = plan_two_steps(MASS, corrected=False)
    assert [segment.seconds for segment in found] == [0.5, 0.5]
    assert first.margin.min() > 0.005
    assert second.margin.min() < -0.005
    outside = second.time[second.margin < 0.0]
    assert outside[0] == 0.0
    assert outside[-1] < 0.05


def test_with_correction_it_stays_inside_at_every_sample() -> None:
    found, checks = plan_two_steps(MASS, corrected=True)
    assert [segment.outcome for segment in found] == ["commanded", "commanded"]
    assert min(each.margin.min() for each in checks) >= 0.0


def test_only_the_second_step_is_prolonged_to_about_a_second() -> None:
    """The paper: 1.0 s, without the durations of its phases; ours takes 0.9 s."""
    (first, second), _ = plan_two_steps(MASS, corrected=True)
    assert (first.seconds, first.corrections) == (0.5, 0)
    assert second.seconds == pytest.approx(1.0, abs=0.11)
    assert second.corrections == round((second.seconds - 0.5) / 0.1)


def test_no_shorter_duration_would_do() -> None:
    """A planner limited to one increment less discards the second step, and the feet stay."""
    (_, second), _ = plan_two_steps(MASS, corrected=True)
    hurried = replace(FIGURE["segment_settings"](), longest=second.seconds - 0.1)
    found: list[MotionSegment] = FIGURE["plan_steps"](installed_robot("mighty"), body_models()[MASS], hurried, True)
    assert [segment.outcome for segment in found] == ["commanded", "recentered"]
    assert found[1].goal.step is None


def test_the_effect_comes_from_a_short_first_double_support() -> None:
    found, checks = plan_two_steps(MASS, corrected=True, phases=(0.28, 0.44, 0.28))
    assert [segment.seconds for segment in found] == [0.5, 0.5]
    assert min(each.margin.min() for each in checks) > 0.01


def test_the_whole_body_needs_more_time_than_its_concentrated_mass() -> None:
    """Swinging legs rotate the body: with the single mass just inside, the whole body is outside by centimeters."""
    (_, mass), (_, whole) = plan_two_steps(MASS, corrected=False)[1], plan_two_steps("whole body", corrected=False)[1]
    assert whole.margin.min() < mass.margin.min() - 0.01
    slow, fast = plan_two_steps("whole body", corrected=True), plan_two_steps(MASS, corrected=True)
    assert [a.seconds > b.seconds for a, b in zip(slow[0], fast[0], strict=True)] == [True, True]
    assert min(each.margin.min() for each in slow[1]) >= 0.0
