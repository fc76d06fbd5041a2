"""Footsteps: step geometry gives the commanded direction, distance and turn."""

from __future__ import annotations

import cmath
import math

import numpy as np
import pytest

from poise.plans import Footstep
from poise.plans.footsteps import StepGeometry


@pytest.mark.parametrize(
    "speed", [(0.3, 0.0, 0.0), (-0.2, 0.0, 0.0), (0.0, 0.15, 0.0), (0.0, -0.15, 0.0), (0.2, 0.1, 0.0)]
)
def test_footsteps_advance_at_the_commanded_speed(speed: tuple[float, float, float]) -> None:
    step_geometry, step = StepGeometry.from_speed(speed, 0.5, 0.2), Footstep("right", 0.0, -0.1)
    for _ in range(20):
        step = step_geometry.next_footstep(step)
    assert step.position_xy == pytest.approx([10.0 * speed[0], 10.0 * speed[1] - 0.1], abs=1e-9)
    assert step.side == "right"


def test_turning_on_the_spot_comes_back_after_a_full_turn() -> None:
    step_geometry, first = StepGeometry(turn=math.tau / 24, width=0.2), Footstep("right", 0.0, -0.1)
    step = first
    for _ in range(24):
        step = step_geometry.next_footstep(step)
    assert step.position_xy == pytest.approx(first.position_xy, abs=1e-9)
    assert step.yaw == pytest.approx(math.tau), "a walk may turn many times"


@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize("sideways", [0.06, -0.06])
def test_feet_never_cross(side: str, sideways: float) -> None:
    step = Footstep(side, 0.0, 0.0, 0.4)  # type: ignore[arg-type]
    for _ in range(6):
        after = StepGeometry(forward=0.2, sideways=sideways, width=0.2).next_footstep(step)
        offset = (after.place - step.place) * step.heading.conjugate()
        assert (offset.imag if after.side == "left" else -offset.imag) >= 0.2 - 1e-9
        step = after


def test_the_footstep_beside_a_foot_is_parallel_to_it() -> None:
    support = Footstep("left", 1.0, 0.5, 0.3, 0.05)
    found = StepGeometry(forward=0.3, sideways=0.1, turn=0.2, width=0.22).footstep_beside(support)
    assert found.place - support.place == pytest.approx(-0.22j * cmath.exp(0.3j))
    assert (found.side, found.yaw, found.z) == ("right", 0.3, 0.05)


def test_all_representations_of_a_footstep_agree() -> None:
    step = Footstep("left", 0.3, -0.2, 0.6, 0.1)
    assert step.rotation @ [1.0, 0.0, 0.0] == pytest.approx([step.heading.real, step.heading.imag, 0.0])
    assert step.rotation.T @ step.rotation == pytest.approx(np.eye(3))
    assert complex(*step.position_xy) == step.place
    assert step.position == pytest.approx([0.3, -0.2, 0.1])
    moved = step.with_place(1.0 + 2.0j)
    assert (moved.place, moved.yaw, moved.z, moved.side) == (1.0 + 2.0j, 0.6, 0.1, "left")
    assert step.with_place(0j, 0.4).z == 0.4
