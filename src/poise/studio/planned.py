"""Planned: a motion segment, or only its goal, as lines and surfaces for the view."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from poise.plans.guidance import Goal, Mode, Points
from poise.plans.segment import Body, Segment
from poise.plans.segment.support import Support, corners
from poise.robots.parts import Side
from poise.studio.viewer.scenery import Plan

Array = NDArray[np.float64]

#: Samples of a path: a curve of a step looks round.
SAMPLES = 16
#: A hand that moves by less (m) is not drawn.
SEEN = 0.005


def planned(segment: Segment, body: Body, mode: Mode) -> Plan:
    """The whole segment: paths of the centre of mass, of the foot that steps and of the hands, and where they end."""
    times = np.linspace(0.0, segment.seconds, SAMPLES)
    samples = [segment.sample(float(time)) for time in times]
    begin, goal = segment.beginning.points, segment.goal
    paths = [np.array([sample.center[0] for sample in samples])]
    if goal.step is not None:
        paths.append(np.array([sample.feet[goal.step][0][:3] for sample in samples]))
    for side in _moved(begin, goal.points, mode):
        points = [begin.replace(center=sample.center[0], attitude=sample.attitude[0]) for sample in samples]
        places = zip(points, samples, strict=True)
        path = np.array([there.center + there.trunk @ sample.hands[side][0][:3] for there, sample in places])
        paths.append(path)
    return wanted(begin, goal, body, mode)._replace(paths=tuple(paths))


def wanted(begin: Points, goal: Goal, body: Body, mode: Mode) -> Plan:
    """The goal alone: footprints of a foot that steps, hands, centre of mass and the support it will have."""
    points = goal.points
    soles = [] if goal.step is None else [corners(points.feet[goal.step], body.half, 0.0)]
    hands = [points.hand(side) for side in _moved(begin, points, mode)]
    return Plan(
        soles=np.array(soles).reshape(-1, 4, 3),
        hands=np.array(hands).reshape(-1, 3),
        center=points.center,
        support=_support(points, body),
        paths=(),
    )


def place(point: Array) -> Plan:
    """Nothing but a place to go to (m, 3)."""
    return Plan(np.zeros((0, 4, 3)), point[None], np.full(3, np.nan), np.zeros((0, 3)), ())


def _support(points: Points, body: Body) -> Array:
    """Corners of the support region, each at the height of its sole (m, n x 3)."""
    ends = np.array([corner for foot in points.standing for corner in corners(foot, body.half, 0.0)])
    polygon = Support(points.standing, body.half, 0.0).polygon
    nearest = [int(np.argmin(np.abs(ends[:, :2] - corner).sum(axis=1))) for corner in polygon]
    return np.asarray(ends[nearest])


def _moved(begin: Points, end: Points, mode: Mode) -> list[Side]:
    """Hands that are more than carried along: guided, or moved as the body sees it."""
    away = {side: end.hands[side].position - hand.position for side, hand in begin.hands.items()}
    return [side for side in away if mode == f"{side} hand" or np.linalg.norm(away[side]) > SEEN]
