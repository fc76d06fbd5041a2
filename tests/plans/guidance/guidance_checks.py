"""Checks of guidance goals without the code under test: by separating axes and half planes."""

from __future__ import annotations

import cmath
import math
from functools import cache
from random import Random
from typing import Any

import numpy as np

import poise
from poise.geometry import polygon
from poise.plans import (
    GUIDING_MODES,
    Footstep,
    Goal,
    GuidingMode,
    LegReach,
    NavigationPoints,
    OperatorCommand,
    Workspace,
    guided_goal,
    standing_points,
)

ROBOTS = ("mighty", "nao", "g1", "talos")


@cache
def robot_of(name: str) -> poise.Robot:
    return poise.load_robot(name)


@cache
def limits_of(name: str) -> tuple[Workspace, LegReach]:
    legs = LegReach.of(robot_of(name))
    return Workspace.of(robot_of(name), legs), legs


def start_of(name: str) -> NavigationPoints:
    return standing_points(robot_of(name))


def guide_point(points: NavigationPoints, name: str, mode: str, *axes: float, **options: Any) -> Goal:
    """Return the goal for a joystick input; axes that are not given are zero."""
    workspace, legs = limits_of(name)
    full = tuple(axes) + (0.0,) * (6 - len(axes))
    return guided_goal(points, OperatorCommand(mode, full), workspace, legs, **options)  # type: ignore[arg-type]


def random_stick(random: Random, mode: GuidingMode) -> OperatorCommand:
    """Return random joystick input, uniform or bang-bang, with vertical motion one time in three."""
    axes = [random.choice((-1.0, 0.0, 1.0)) if random.random() < 0.3 else random.uniform(-1, 1) for _ in range(6)]
    if random.random() < 0.65:
        axes[2] = 0.0
    return OperatorCommand(mode, tuple(axes), random.random())  # type: ignore[arg-type]


def random_goals(name: str, count: int, seed: int, **options: Any):  # type: ignore[no-untyped-def]
    """Yield (points before, input, goal) for random input; the mode changes every one to seven segments."""
    random, points = Random(seed), start_of(name)
    workspace, legs = limits_of(name)
    mode, left = random.choice(GUIDING_MODES), 0
    for _ in range(count):
        if left == 0:
            mode, left = random.choice(GUIDING_MODES), random.randint(1, 7)
        left -= 1
        stick = random_stick(random, mode)
        goal = guided_goal(points, stick, workspace, legs, **options)
        yield points, stick, goal
        points = goal.points


def corners(foot: Footstep, half: complex) -> list[complex]:
    turn = cmath.exp(1j * foot.yaw)
    return [
        complex(foot.x, foot.y) + turn * complex(i * half.real, j * half.imag)
        for i, j in ((1, 1), (-1, 1), (-1, -1), (1, -1))
    ]


def separation(points: NavigationPoints, half: complex) -> float:
    """Return the largest gap between both feet along any of their four axes (m); negative if they overlap."""
    left, right = (corners(points.feet[side], half) for side in ("left", "right"))
    gaps = []
    for foot in points.feet.values():
        for axis in (cmath.exp(-1j * foot.yaw), -1j * cmath.exp(-1j * foot.yaw)):
            a, b = [(z * axis).real for z in left], [(z * axis).real for z in right]
            gaps.append(max(min(a) - max(b), min(b) - max(a)))
    return max(gaps)


def outside_stand_on(points: NavigationPoints, workspace: Workspace) -> float:
    """Return the distance of the CoM outside the shrunken support, or from the middle of the stance sole (m)."""
    place = complex(*points.center[:2])
    if points.lifted is not None:
        (foot,) = points.stance_feet
        return abs(place - complex(foot.x, foot.y))
    middle = sum(complex(foot.x, foot.y) for foot in points.feet.values()) / 2.0
    shrunk = [
        middle + workspace.stand_on * (z - middle)
        for foot in points.feet.values()
        for z in corners(foot, workspace.sole_half)
    ]
    A, b = polygon.half_planes([(z.real, z.imag) for z in shrunk])
    return float((A @ points.center[:2] - b).max())


def faults(goal: Goal, workspace: Workspace, legs: LegReach) -> list[str]:
    """Return a list of what is wrong with a goal; empty if nothing is."""
    points, found = goal.points, []
    numbers = [points.center, points.attitude, [goal.lift]]
    numbers += [[foot.x, foot.y, foot.z, foot.yaw] for foot in points.feet.values()]
    numbers += [np.concatenate([hand.position, hand.attitude]) for hand in points.hands.values()]
    if not np.isfinite(np.concatenate(numbers)).all():  # type: ignore[arg-type]
        return ["a number is not finite"]
    if separation(points, workspace.foot_half) < 0.5 * workspace.gap:
        found.append(f"the feet are {separation(points, workspace.foot_half)} m apart")
    left, right = points.feet["left"], points.feet["right"]
    if goal.step is not None:
        foot, stance = (left, right) if goal.step == "left" else (right, left)
        sign = 1.0 if goal.step == "left" else -1.0
        away = (foot.place - stance.place) * cmath.exp(-1j * stance.yaw)
        toes = sign * math.remainder(foot.yaw - stance.yaw, math.tau)
        if not workspace.toes[0] - 1e-6 <= toes <= workspace.toes[1] + 1e-6:
            found.append(f"{goal.step} foot toes out by {toes} rad")
        if abs(away.real) > workspace.longest_step + 1e-6:
            found.append(f"{goal.step} foot is {away.real} m ahead")
        if not workspace.widths[0] - 1e-6 <= sign * away.imag <= workspace.widths[1] + 1e-6:
            found.append(f"{goal.step} foot is {sign * away.imag} m aside: crossed, too near or too wide")
        if points.last_moved != goal.step:
            found.append("the foot that moved is not remembered")
    if outside_stand_on(points, workspace) > 1e-6:
        found.append(f"the center of mass is {outside_stand_on(points, workspace)} m outside")
    height = points.center[2] - min(foot.z for foot in points.stance_feet)
    if not workspace.com_heights[0] - 1e-6 <= height <= workspace.com_heights[1] + 1e-6:
        found.append(f"the center of mass is at {height} m")
    for side, foot in points.feet.items():
        slack = legs.extension_margin(
            points.center[None], points.attitude[2:], foot.position[None], side, np.array([foot.yaw])
        )[0]
        if not 0.0 <= slack <= legs.longest - legs.shortest:
            found.append(f"the {side} leg has {slack} m to spare")
    for side, hand in points.hands.items():
        low, high = workspace.hand_box[side]
        away = float(np.linalg.norm(hand.position - workspace.shoulders[side]))
        if not ((hand.position >= np.subtract(low, 1e-6)) & (hand.position <= np.add(high, 1e-6))).all():
            found.append(f"the {side} hand is out of its box")
        if away > workspace.arm_reach + 1e-6:
            found.append(f"the {side} hand is {away} m from its shoulder")
        if float(np.linalg.norm(hand.attitude)) > workspace.hand_attitude + 1e-9:
            found.append(f"the {side} hand is turned too far")
    roll, pitch, yaw = points.attitude
    mean = left.yaw + 0.5 * math.remainder(right.yaw - left.yaw, math.tau)
    if abs(math.remainder(yaw - mean, math.tau)) > workspace.largest_trunk_yaw + 1e-6:
        found.append("the trunk is turned too far from the feet")
    if abs(roll) > workspace.roll[1] + 1e-9 or not workspace.pitch[0] - 1e-9 <= pitch <= workspace.pitch[1] + 1e-9:
        found.append("the trunk is inclined too far")
    if not 0.0 <= goal.lift <= workspace.lift[1]:
        found.append(f"a step is lifted by {goal.lift} m")
    return found
