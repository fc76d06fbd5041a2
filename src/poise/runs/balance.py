"""How well a recorded motion would balance: the ZMP of the whole body over its support."""

from __future__ import annotations

import numpy as np

from poise.recording import Recording
from poise.robots import Robot, State
from poise.state import Snapshot
from poise.state.balance import margin, zmp


def zmp_margin(recording: Recording, robot: Robot) -> float | None:
    """Smallest distance of the ZMP from the edge of the support polygon, m; negative outside. None without contacts.

    The ZMP follows from the momentum of the whole body in the recorded states, by differences over one period. Of a
    motion without physics it tells what the ground would have to bear.
    """
    snapshot = Snapshot(robot)
    states = [recording.state(i, robot) for i in range(len(recording.time))]
    if len(states) < 3 or not states[0].contacts:
        return None
    momentum = np.array([snapshot.at(state).momentum.copy() for state in states])
    center = np.array([snapshot.at(state).center_of_mass.copy() for state in states])
    rate = np.gradient(momentum, recording.period, axis=0)
    ground = float(np.mean([states[0].pose(part).translation[2] for part in states[0].contacts]))
    points = zmp(center, rate[:, :3] / robot.mass, rate[:, 3:], robot.mass, ground)
    pairs = zip(states[1:-1], points[1:-1], strict=True)
    # Where the body would have to pull on the ground there is no such point; the motion is then far outside anyway.
    margins = [float(margin(state.support_polygon, point)) for state, point in pairs if np.isfinite(point).all()]
    return min(margins, default=None)


def worst_tilt(states: list[State], robot: Robot) -> float:
    """Largest angle by which the trunk (chest if there is one, else base) leaves its upright, rad."""
    part = robot.chest or robot.frame("root_joint")
    up = robot.stance("standing").pose(part).rotation.T @ np.array([0.0, 0.0, 1.0])
    cosines = [float(state.pose(part).rotation[2] @ up) for state in states]
    return float(np.arccos(np.clip(min(cosines), -1.0, 1.0)))
