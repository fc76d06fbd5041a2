"""Models, initial states and goals for the tests of motion segments."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

import poise
from poise.plans import (
    Footstep,
    Goal,
    InitialState,
    LegReach,
    NavigationPoints,
    Planner,
    SegmentSettings,
    ThreeMassModel,
    Workspace,
    standing_points,
)
from poise.robots import Side

ROBOTS = ("mighty", "nao", "g1", "talos")


@cache
def robot_of(name: str) -> poise.Robot:
    return poise.load_robot(name)


@cache
def legs_of(name: str) -> LegReach:
    return LegReach.of(robot_of(name))


@cache
def workspace_of(name: str) -> Workspace:
    return Workspace.of(robot_of(name), legs_of(name))


@cache
def body_of(name: str) -> ThreeMassModel:
    return ThreeMassModel.of(robot_of(name))


def planner_of(name: str, **settings: Any) -> Planner:
    return Planner(body_of(name), SegmentSettings(**settings), legs_of(name))


def points_of(name: str) -> NavigationPoints:
    return standing_points(robot_of(name))


def at_rest(name: str) -> InitialState:
    return InitialState.at_rest(points_of(name))


def step(
    points: NavigationPoints, side: Side, forward: float, left: float, lift: float = 0.015, rise: float = 0.0
) -> Goal:
    """Return the goal of a step of one foot, with the body over the middle of both feet."""
    foot = points.feet[side]
    feet = {**points.feet, side: Footstep(side, foot.x + forward, foot.y + left, foot.yaw, foot.z + rise)}
    middle = 0.5 * (feet["left"].place + feet["right"].place)
    center = np.array([middle.real, middle.imag, points.center[2] + 0.5 * rise])
    return Goal(points.replace(feet=feet, center=center, lifted=None, last_moved=side), side, lift)
