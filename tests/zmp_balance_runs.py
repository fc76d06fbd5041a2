"""Robots on position servos with prescribed force cell readings."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pinocchio
from numpy.typing import ArrayLike

from poise.behaviors import ZmpBalance, walking_pattern
from poise.control import PositionController
from poise.plans import STYLES, WalkingPattern
from poise.robots import Foot, Robot, Side, State
from poise.solvers import Solver
from poise.state import ContactForces, Imu, SensorReadings, Snapshot

#: Control period of the servos of small robots (s).
PERIOD = 0.001
GRAVITY = 9.81

Cells = Mapping[Side, ArrayLike] | Mapping[str, ArrayLike]


def sensor_readings(state: State, cells: Cells, positions: np.ndarray | None = None) -> SensorReadings:
    """Return sensor readings with these force cells, by side, and the joint angles of the state."""
    robot = state.robot
    named = {robot.foot(side).name: np.asarray(values, dtype=np.float64) for side, values in cells.items()}
    forces = ContactForces((), np.zeros((0, 6)), np.zeros((0, 3)))
    imu = Imu(np.array([0.0, 0.0, 0.0, 1.0]), np.zeros(3), np.array([0.0, 0.0, GRAVITY]))
    angles = state.q[7:] if positions is None else positions
    return SensorReadings(forces, named, imu, np.array(angles), np.zeros(len(angles)), state)


def cell_forces(foot: Foot, force: float, zmp: Sequence[float]) -> np.ndarray:
    """Return four cell forces (N) with this sum and this ZMP, relative to the middle of the sole (m)."""
    x, y = (foot.corners - foot.sole.center)[:, :2].T
    a, b = np.abs(x).max(), np.abs(y).max()
    return 0.25 * force * (1.0 + x / a * (zmp[0] / a)) * (1.0 + y / b * (zmp[1] / b))


def observe_cells(
    body: ZmpBalance, cells: Callable[[float], Cells], seconds: float, state: State | None = None
) -> None:
    """Feed a behavior these force cells for some seconds, with its reference at the state."""
    state = body.start if state is None else state
    snapshot = Snapshot(state.robot)
    for i in range(round(seconds / PERIOD)):
        now = state.replace(time=state.time + (i + 1) * PERIOD)
        snapshot.at(now)
        body(snapshot)
        body.observe(snapshot, snapshot, sensor_readings(now, cells(now.time)))


def follow_reference(
    body: ZmpBalance, seconds: float, solver: Solver | None = None, period: float = PERIOD
) -> PositionController:
    """Run a controller for some seconds on a robot that follows exactly, without sensors, and return it."""
    controller, state = PositionController(body, solver, period=period), body.start
    for i in range(round(seconds / period)):
        controller.step(state.replace(time=state.time + i * period))
    return controller


def sole_poses(state: State) -> tuple[pinocchio.SE3, pinocchio.SE3]:
    """Return world_from_sole at the middles of the left and right sole."""
    left, right = (
        pinocchio.SE3(state.pose(foot).rotation, state.pose(foot).act(foot.sole.center))
        for foot in (state.robot.foot("left"), state.robot.foot("right"))
    )
    return left, right


def neutral_walk(
    robot: Robot, steps: float, speed: tuple[float, float, float] | None = None, **style: float
) -> WalkingPattern:
    """Return a walk from the standing stance in the neutral style, with some parameters replaced."""
    return walking_pattern(robot.stance("standing"), STYLES["neutral"].replace(**style), steps, speed)
