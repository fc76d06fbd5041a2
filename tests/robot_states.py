"""States of library robots, and closed loops, for the tests of tasks, constraints and controllers."""

from __future__ import annotations

from functools import cache
from typing import Any, TypeVar

import numpy as np
import pinocchio

from poise.control import ControlStep, KinematicController
from poise.hierarchy import BehaviorLike
from poise.plants import IdealPlant, steps
from poise.robots import Robot, State, library_names, load_robot
from poise.robots.catalogue import is_bundled
from poise.tasks import VariableLayout
from shared_data import require_models

PERIOD = 0.005


T = TypeVar("T")


def not_none(value: T | None) -> T:
    """Return a value that must not be None in this test, like the torque of a command or the gaze of a robot."""
    assert value is not None
    return value


@cache
def installed_robot(name: str) -> Robot:
    """Load a library robot once; skip the test if it is not installed."""
    if name in library_names() and not is_bundled(name):
        require_models()
    return load_robot(name)


def random_state(robot: Robot, seed: int, speed: float = 1.0) -> State:
    """Return a random state near standing, with the base turned and all joints moving."""
    random = np.random.default_rng(seed)
    start = robot.stance("standing")
    step = np.concatenate([random.normal(0, 0.3, 6), random.normal(0, 0.2, robot.model.nv - 6)])
    q = pinocchio.integrate(robot.model, start.q, step)
    return State(robot, q, random.normal(0, speed, robot.model.nv), 0.7, contacts=robot.feet)


def integrate_state(state: State, velocity: np.ndarray, seconds: float) -> State:
    """Return the state after moving with a constant velocity."""
    return state.replace(q=pinocchio.integrate(state.robot.model, state.q, seconds * velocity))


def layout(robot: Robot, order: int, period: float = PERIOD) -> VariableLayout:
    """Return the variable layout of a kinematic controller."""
    return VariableLayout(order, period, robot.model.nv, robot.model.nv)


def run_closed_loop(behavior: BehaviorLike, start: State, seconds: float, **settings: Any) -> list[ControlStep]:
    """Run a closed loop on an ideal plant and return its steps."""
    controller = KinematicController(behavior, **{"period": PERIOD, **settings})
    return list(steps(controller, IdealPlant(start), seconds))


def commanded_velocities(steps: list[ControlStep]) -> np.ndarray:
    """Return the commanded velocities, one row per step."""
    return np.array([step.command.velocity for step in steps])


def joint_motion(steps: list[ControlStep]) -> tuple[np.ndarray, np.ndarray]:
    """Return angles and rates of the joints, one row per step."""
    return np.array([s.state.q[7:] for s in steps]), np.array([s.state.v[6:] for s in steps])
