"""Gait cycles of straight walking are found, and other motions are refused with the reason."""

from functools import cache

import numpy as np
import pinocchio
import pytest

from poise.analysis import GaitCycle, gait_cycles
from poise.errors import GaitError
from poise.human.gait.reference_walk import ReferenceWalk
from poise.human.gait.straight_walking import straight_cycle, straightness
from poise.human.sample_trials import sample_motion
from poise.robots import Robot, load_robot


@cache
def walk() -> tuple[Robot, np.ndarray, np.ndarray]:
    robot = load_robot("human", height=1.77, mass=75.0, sex="male")
    return robot, *sample_motion(robot)


def reference(q: np.ndarray) -> ReferenceWalk:
    robot, time, _ = walk()
    return ReferenceWalk(robot, time, q, overground=False)


@cache
def cycles() -> tuple[GaitCycle, ...]:
    return gait_cycles(reference(walk()[2]).events)


def turned(angles: np.ndarray, travel: bool) -> np.ndarray:
    """The walk with the pelvis rotated about the vertical by an angle in each frame; the path too, if asked for."""
    q = walk()[2].copy()
    for each, angle in zip(q, angles, strict=True):
        turn = pinocchio.Quaternion(pinocchio.rpy.rpyToMatrix(0.0, 0.0, float(angle)))
        each[3:7] = (turn * pinocchio.Quaternion(*each[[6, 3, 4, 5]])).coeffs()
        if travel:
            each[:3] = turn.matrix() @ each[:3]
    return q


def test_the_sample_walk_is_straight() -> None:
    for cycle in cycles():
        measured = straightness(reference(walk()[2]), cycle)
        assert measured.reason == ""
        assert np.degrees(np.abs([measured.drift, measured.turn])).max() < 3.0


@pytest.mark.parametrize("direction", [0.7, 2.0, -1.5, np.pi])
def test_a_straight_walk_in_any_direction_is_straight(direction: float) -> None:
    q = turned(np.full(len(walk()[1]), direction), travel=True)
    assert all(straightness(reference(q), cycle).reason == "" for cycle in cycles())


@pytest.mark.parametrize(
    ("angle", "words"), [(60.0, "sideways, 60 degrees"), (-90.0, "sideways"), (180.0, "backwards")]
)
def test_sideways_and_backward_gait_is_refused_with_the_reason(angle: float, words: str) -> None:
    q = turned(np.full(len(walk()[1]), np.radians(angle)), travel=False)
    with pytest.raises(GaitError, match=f"no gait cycle of straight walking: .*{words}"):
        straight_cycle(reference(q), cycles())


def test_a_turn_is_measured_and_the_straight_cycle_before_it_is_taken() -> None:
    _, time, _ = walk()
    known = cycles()
    first, last = min(known, key=lambda cycle: cycle.initial_contact), max(known, key=lambda cycle: cycle.end)
    assert last.initial_contact > first.initial_contact
    q = turned(np.radians(60.0) * np.maximum(time - first.end, 0.0), travel=True)  # 60 degrees per second from there on
    after = last.end - max(first.end, last.initial_contact)
    assert np.degrees(straightness(reference(q), last).turn) == pytest.approx(60.0 * after, abs=3.0)
    assert straight_cycle(reference(q), known, first.side) == first


def test_standing_is_no_walk() -> None:
    q = np.tile(walk()[2][:1], (len(walk()[1]), 1))
    with pytest.raises(GaitError, match=r"the pelvis moves by only 0\.00 m"):
        straight_cycle(reference(q), cycles())
