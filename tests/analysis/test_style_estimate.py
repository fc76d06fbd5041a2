"""The style of a recorded walk has the numbers with which the walk was made."""

import math

import pytest

from poise.analysis import analyze_walk, estimate_style
from poise.errors import UsageError
from poise.plans import PARAMETERS
from poise.robots import leg_length
from synthetic_walks import SyntheticWalk, biped, synthetic_recording


def test_length_height_and_times_of_the_steps_are_those_of_the_walk() -> None:
    robot = biped()
    walk = SyntheticWalk(length=0.2, height=0.06)
    estimate = estimate_style(analyze_walk(synthetic_recording(robot, walk), robot), "mine")
    leg, style = leg_length(robot), estimate.style
    assert style.name == "mine"
    assert style.step_length == pytest.approx(0.2 / leg, rel=0.05)
    assert style.step_height == pytest.approx(0.06 / leg, rel=0.1)
    step = (style.single_support + style.double_support) * math.sqrt(leg / 0.8)
    assert step == pytest.approx(60.0 / estimate.measures.cadence, rel=1e-6)


def test_numbers_beyond_their_ranges_are_limited_and_listed() -> None:
    robot = biped()
    estimate = estimate_style(analyze_walk(synthetic_recording(robot, SyntheticWalk(height=0.22)), robot))
    measured, used = estimate.limited["step_height"]
    assert used == PARAMETERS["step_height"].high < measured


def test_a_recording_without_steps_is_refused() -> None:
    robot = biped()
    walk = analyze_walk(synthetic_recording(robot, SyntheticWalk(length=0.0, steps=0)), robot)
    with pytest.raises(UsageError, match="no steady steps"):
        estimate_style(walk)
