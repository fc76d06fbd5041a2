"""Exactly known walks of a sample body, for the tests of gait reproduction."""

from __future__ import annotations

from functools import cache

import numpy as np
import pinocchio

import poise
from poise.arrays import Array
from poise.human import ReferenceWalk, Reproduction, ReproductionQuality, Variant
from poise.human.gait.reproduction import reproduce
from poise.human.gait.reproduction_quality import measure_reproduction
from poise.human.sample_trials import sample_motion


@cache
def sample_walk_data() -> tuple[ReferenceWalk, Array, Array]:
    """Return a walk along x, its times and its configurations."""
    robot = poise.load_robot("human", height=1.77, mass=75.0, sex="male")
    time, q = sample_motion(robot, cycles=2)
    return ReferenceWalk(robot, time, q, "sample"), time, q


def sample_walk() -> ReferenceWalk:
    return sample_walk_data()[0]


def turned_walk(heading: float) -> ReferenceWalk:
    """Return the same walk in another direction (rad)."""
    _, time, q = sample_walk_data()
    turn = pinocchio.SE3(pinocchio.rpy.rpyToMatrix(0.0, 0.0, heading), np.zeros(3))
    moved = q.copy()
    moved[:, :7] = [pinocchio.SE3ToXYZQUAT(turn * pinocchio.XYZQUATToSE3(row)) for row in q[:, :7]]
    return ReferenceWalk(sample_walk().robot, time, moved, "turned")


@cache
def reproduce_sample(variant: Variant, side: str = "right") -> Reproduction:
    return reproduce(sample_walk(), sample_walk().cycle(side), variant)  # type: ignore[arg-type]


@cache
def sample_quality(variant: Variant, side: str = "right") -> ReproductionQuality:
    return measure_reproduction(reproduce_sample(variant, side))
