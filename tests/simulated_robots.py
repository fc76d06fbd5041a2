"""Helpers for the tests of simulated robots: a small robot, commands, and a standing controller."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pinocchio

from poise.control import Command, Controller, ControlStep
from poise.plants import MujocoPlant, steps
from poise.robots import Robot, State, load_robot
from small_robots import BIPED, BIPED_PARTS, write_urdf

PERIOD = 0.002


@cache
def biped() -> Robot:
    """Return a biped of 30 kg without shapes, which is quick to build."""
    with TemporaryDirectory() as folder:
        robot = load_robot(write_urdf(Path(folder), BIPED), **BIPED_PARTS)
        assert robot.visual_geometry.ngeoms == robot.collision_geometry.ngeoms == 0  # read while the file exists
    return robot


def airborne_state(robot: Robot, height: float = 3.0, **changes: Any) -> State:
    """Return the stance at a height above the ground."""
    start = robot.stance("standing")
    q = start.q.copy()
    q[2] += height
    return start.replace(q=q, contacts=(), **changes)


def torque_command(robot: Robot, values: Any = 0.0, period: float = PERIOD) -> Command:
    """Return a command with these torques."""
    return Command(np.zeros(robot.model.nv), None, np.broadcast_to(values, len(robot.joints)).astype(float), period)


class OpenLoopTorques(Controller):
    """Controller with torques as a function of time alone."""

    def __init__(self, robot: Robot, torque: Callable[[float], Any] = lambda time: 0.0, period: float = PERIOD) -> None:
        self.robot, self.torque, self.period = robot, torque, period

    def step(self, state: State) -> Command:
        return torque_command(self.robot, self.torque(state.time), self.period)


class StandingController(Controller):
    """Controller that holds the posture and feet of a state: ``M v̇ + h = Sᵀ τ + Jᵀ w``.

    The accelerations v̇ bring the joints back and keep the feet still, the wrenches w at the feet are the shortest that
    carry the base, the torques τ are what is left.
    """

    def __init__(self, start: State, period: float = PERIOD) -> None:
        self.start, self.period = start, period
        self.data = start.robot.model.createData()

    def step(self, state: State) -> Command:
        model, data, q, v = state.robot.model, self.data, state.q, state.v
        axes, feet = pinocchio.LOCAL_WORLD_ALIGNED, state.robot.feet
        pinocchio.computeAllTerms(model, data, q, v)
        pinocchio.updateFramePlacements(model, data)
        M, h = np.triu(data.M) + np.triu(data.M, 1).T, data.nle.copy()
        pinocchio.forwardKinematics(model, data, q, v, np.zeros(model.nv))
        J = np.vstack([pinocchio.getFrameJacobian(model, data, foot.index, axes) for foot in feet])
        drift = [pinocchio.getFrameClassicalAcceleration(model, data, foot.index, axes).vector for foot in feet]
        joints = -100.0 * (q[7:] - self.start.q[7:]) - 20.0 * v[6:]
        still = -np.concatenate(drift) - 20.0 * (J @ v)
        rows = np.vstack([1e3 * J, np.eye(model.nv)[6:]])
        a = np.linalg.lstsq(rows, np.concatenate([1e3 * still, joints]), rcond=None)[0]
        w = np.linalg.pinv(J[:, :6].T) @ (M @ a + h)[:6]
        return Command(v, a, (M @ a + h - J.T @ w)[6:], self.period)


def run_standing(plant: MujocoPlant, seconds: float) -> list[ControlStep]:
    """Run the standing controller and return its steps."""
    return list(steps(StandingController(plant.start), plant, seconds))


def run_torques(plant: MujocoPlant, seconds: float, torque: Callable[[float], Any] = lambda time: 0.0) -> list[State]:
    """Return the true states of a robot with these torques, at the start and after each simulation step."""
    period = plant.model.opt.timestep
    states = [plant.truth()]
    for _ in range(round(seconds / period)):
        plant.apply(torque_command(plant.robot, torque(plant.time), period))
        plant.advance()
        states.append(plant.truth())
    return states


def momentum(state: State) -> np.ndarray:
    """Return linear and angular momentum about the center of mass, in world axes."""
    model = state.robot.model
    return pinocchio.computeCentroidalMomentum(model, model.createData(), state.q, state.v).vector


def kinetic_energy(state: State) -> float:
    """Return the kinetic energy (J)."""
    model = state.robot.model
    return float(pinocchio.computeKineticEnergy(model, model.createData(), state.q, state.v))


def energy(state: State) -> float:
    """Return the kinetic and potential energy (J)."""
    model = state.robot.model
    return kinetic_energy(state) + float(pinocchio.computePotentialEnergy(model, model.createData(), state.q))
