"""Repeated: one measured cycle as a walk of many, each beginning where the last one ended."""

from __future__ import annotations

import numpy as np
import pinocchio
from numpy.typing import NDArray

from poise.analysis.gait_cycle import Cycle
from poise.human.gait import Reference

Array = NDArray[np.float64]

#: Configurations a second (Hz), as the gait from tasks has them.
RATE = 200.0


def repeated(reference: Reference, cycle: Cycle, times: int) -> Reference:
    """A walk of some cycles, all the same.

    No measured cycle ends quite as it began. What is missing, d = q(end) ⊖ q(begin) without the stride (way and turn on
    the floor), is taken off evenly: at the share s of the cycle ``q(s) ⊕ (-s d)``. It is a few degrees at most.

    Args:
        reference: the walk.
        cycle: of it, from strike to strike.
        times: how many.
    """
    model = reference.robot.model
    n = max(round((cycle.next_strike - cycle.strike) * RATE), 8)
    share = np.arange(n + 1) / n
    moments = cycle.strike + share * (cycle.next_strike - cycle.strike)
    q = np.array([reference.sample(float(time))[0] for time in moments])
    first, last = pinocchio.XYZQUATToSE3(q[0, :7]), pinocchio.XYZQUATToSE3(q[-1, :7])
    stride = _level(last) * _level(first).inverse()
    ended = q[-1].copy()
    ended[:7] = pinocchio.SE3ToXYZQUAT(stride.inverse() * last)
    missing = pinocchio.difference(model, q[0], ended)
    closed = np.array([pinocchio.integrate(model, each, -s * missing) for each, s in zip(q, share, strict=True)])
    walk, pose = [closed[:1]], pinocchio.SE3.Identity()
    for _ in range(times):
        moved = closed[1:].copy()
        for each in moved:
            each[:7] = pinocchio.SE3ToXYZQUAT(pose * pinocchio.XYZQUATToSE3(each[:7]))
        walk.append(moved)
        pose = pose * stride
    time = np.arange(times * n + 1) / RATE
    return Reference(reference.robot, time, np.vstack(walk), reference.name)


def _level(pose: pinocchio.SE3) -> pinocchio.SE3:
    """The place on the floor and the heading of a pose."""
    forward = pose.rotation[:, 0]
    yaw = float(np.arctan2(forward[1], forward[0]))
    c, s = np.cos(yaw), np.sin(yaw)
    place = np.array([pose.translation[0], pose.translation[1], 0.0])
    return pinocchio.SE3(np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]]), place)
