"""Plans of a walk: the divergent component against its dynamics, swings that do not jump, styles in files."""

from __future__ import annotations

import math
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from poise.errors import UsageError
from poise.plans.adaptation import Reachable, adapted
from poise.plans.divergent import (
    Timing,
    before_double,
    before_single,
    natural_frequency,
    steady_offset,
    where_to_begin,
)
from poise.plans.footsteps import Footstep, Gait
from poise.plans.style import PARAMETERS, STYLES, Style
from poise.plans.swing import Swing

OMEGA = natural_frequency(0.7)
TIMING = Timing(single=0.4, double=0.1)
LAST, FOOT, END = np.array([0.0, 0.1]), np.array([0.2, -0.1]), np.array([0.35, -0.02])


def integrated(start: np.ndarray, pressure: object, seconds: float) -> np.ndarray:
    """ξ after so many seconds of ξ̇ = ω (ξ - z), by an integrator that knows nothing of the formulas."""
    found = solve_ivp(lambda t, xi: OMEGA * (xi - pressure(t)), (0.0, seconds), start, rtol=1e-10, atol=1e-12)  # type: ignore[operator]
    return np.asarray(found.y[:, -1])


def test_on_one_foot_it_ends_where_it_should() -> None:
    begin = before_single(FOOT, END, 0.4, OMEGA)
    assert integrated(begin, lambda t: FOOT, 0.4) == pytest.approx(END, abs=1e-8)


@pytest.mark.parametrize("left", [0.1, 0.06, 0.0])
def test_on_both_feet_it_ends_where_it_should(left: float) -> None:
    begin, z = before_double(LAST, FOOT, END, left, 0.1, OMEGA)
    assert integrated(begin, lambda t: z + (FOOT - LAST) * t / 0.1, left) == pytest.approx(END, abs=1e-8)


def test_a_walk_that_begins_right_ends_right() -> None:
    feet = [LAST, FOOT, np.array([0.4, 0.1])]
    xi = where_to_begin(feet, END, TIMING, OMEGA)
    for last, foot in pairwise(feet):
        xi = integrated(xi, lambda t, a=last, b=foot: a + (b - a) * t / TIMING.double, TIMING.double)
        xi = integrated(xi, lambda t, b=foot: b, TIMING.single)
    assert xi == pytest.approx(END, abs=1e-6)


def test_a_steady_walk_repeats_itself() -> None:
    stride, back = np.array([0.15, -0.2]), np.array([0.15, 0.2])
    offset = steady_offset(stride, back, TIMING, OMEGA)
    feet = [np.zeros(2), stride, stride + back]
    assert where_to_begin(feet, feet[-1] + offset, TIMING, OMEGA) == pytest.approx(offset, abs=1e-9)


@pytest.mark.parametrize(
    "speed", [(0.3, 0.0, 0.0), (-0.2, 0.0, 0.0), (0.0, 0.15, 0.0), (0.0, -0.15, 0.0), (0.2, 0.1, 0.0)]
)
def test_footsteps_go_at_the_speed_that_was_asked_for(speed: tuple[float, float, float]) -> None:
    gait, step = Gait.of_speed(speed, 0.5, 0.2), Footstep("right", 0.0, -0.1)
    for _ in range(20):
        step = gait.after(step)
    assert step.point == pytest.approx([10.0 * speed[0], 10.0 * speed[1] - 0.1], abs=1e-9)
    assert step.side == "right"


def test_turning_on_the_spot_comes_back_after_a_full_turn() -> None:
    gait, first = Gait(turn=math.tau / 24, width=0.2), Footstep("right", 0.0, -0.1)
    step = first
    for _ in range(24):
        step = gait.after(step)
    assert step.point == pytest.approx(first.point, abs=1e-9)
    assert step.yaw == pytest.approx(math.tau)


def test_a_swing_lands_on_its_footstep_and_never_jumps() -> None:
    start, goal = Footstep("left", 0.0, 0.1), Footstep("left", 0.3, 0.12, 0.2)
    swing, period, seconds = Swing.of(start, goal, lift=0.06), 0.002, 0.4
    heights, last = [], swing.value
    for tick in range(round(seconds / period)):
        if tick == 100:
            goal = Footstep("left", 0.36, 0.10, 0.2)  # moved by a push
        swing.advance(goal, tick * period, seconds - tick * period, period)
        assert np.abs(swing.value - last).max() < 3.0 * period
        heights.append(swing.value[2])
        last = swing.value
    assert swing.value[:2] == pytest.approx(goal.point, abs=2e-3)
    assert max(heights) == pytest.approx(0.06, abs=3e-3)
    assert abs(heights[-1]) < 3e-3


def test_without_a_push_the_step_stays_where_it_was_planned() -> None:
    limits, offset, step, left = Reachable(0.4, 0.1, 0.4, 0.1, 0.5), np.array([0.02, -0.05]), np.array([0.2, 0.2]), 0.3
    xi = before_single(np.zeros(2), step + offset, left, OMEGA)
    place, time = adapted(xi, np.zeros(2), step, offset, left, OMEGA, limits, outward=1.0)
    assert place == pytest.approx(step, abs=2e-3)
    assert time == pytest.approx(left, abs=0.02)


def test_after_a_push_forward_the_step_goes_further() -> None:
    limits, offset, step, left = Reachable(0.4, 0.1, 0.4, 0.1, 0.5), np.array([0.02, -0.05]), np.array([0.2, 0.2]), 0.3
    xi = before_single(np.zeros(2), step + offset, left, OMEGA) + np.array([0.03, 0.0])
    place, time = adapted(xi, np.zeros(2), step, offset, left, OMEGA, limits, outward=1.0)
    assert place[0] > step[0] + 0.01 or time < left
    assert abs(place[0]) <= 0.4
    assert 0.1 <= place[1] <= 0.4


@pytest.mark.parametrize("name", STYLES)
def test_a_style_comes_back_from_its_file_as_it_was(name: str, tmp_path: Path) -> None:
    STYLES[name].save(tmp_path / "style.toml")
    assert Style.load(tmp_path / "style.toml") == STYLES[name]


def test_styles_mix() -> None:
    proud, sad = STYLES["proud"], STYLES["sad"]
    half = proud.mixed(sad, 0.5)
    for name in PARAMETERS:
        assert getattr(half, name) == pytest.approx(0.5 * (getattr(proud, name) + getattr(sad, name)))
    assert proud.mixed(sad, 0.0) == proud
    assert proud.mixed(sad, 1.0) == sad


@pytest.mark.parametrize(
    ("text", "evidence"),
    [
        ("chest_pitch = 4.0", "chest_pitch is 4.0; expected -0.6 to 0.8 rad"),
        ("chest_pich = 0.1", "did you mean 'chest_pitch'?"),
        ('step_length = "long"', "step_length is 'long'; expected"),
        ("step_length = [", "is not a TOML file"),
    ],
)
def test_a_style_that_makes_no_sense_is_named(text: str, evidence: str, tmp_path: Path) -> None:
    (tmp_path / "odd.toml").write_text(text)
    with pytest.raises(UsageError) as found:
        Style.load(tmp_path / "odd.toml")
    assert evidence in str(found.value)
