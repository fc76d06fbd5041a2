"""Walks to reproduce: those of a sample body, which are known exactly and can be stood on."""

from __future__ import annotations

from functools import cache

import numpy as np
import pinocchio
from numpy.typing import NDArray

import poise
from poise.human import Measures, Reference, Reproduction, Variant
from poise.human.gait.reproduction import reproduce
from poise.human.gait.reproduction_quality import measured
from poise.human.sample import sample_motion

Array = NDArray[np.float64]


@cache
def sampled() -> tuple[Reference, Array, Array]:
    """A walk along x, its times and its configurations."""
    robot = poise.load_robot("human", height=1.77, mass=75.0, sex="male")
    time, q = sample_motion(robot, cycles=2)
    return Reference(robot, time, q, "sample"), time, q


def walk() -> Reference:
    return sampled()[0]


def turned(heading: float) -> Reference:
    """The same walk in another direction, rad."""
    _, time, q = sampled()
    turn = pinocchio.SE3(pinocchio.rpy.rpyToMatrix(0.0, 0.0, heading), np.zeros(3))
    moved = q.copy()
    moved[:, :7] = [pinocchio.SE3ToXYZQUAT(turn * pinocchio.XYZQUATToSE3(row)) for row in q[:, :7]]
    return Reference(walk().robot, time, moved, "turned")


@cache
def run(variant: Variant, side: str = "right") -> Reproduction:
    return reproduce(walk(), walk().cycle(side), variant)  # type: ignore[arg-type]


@cache
def judged(variant: Variant, side: str = "right") -> Measures:
    return measured(run(variant, side))
