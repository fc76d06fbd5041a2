"""The walkers that are compared: Poise, and learned policies in processes of their own.

A walker gives a controller for a plant and a commanded speed. All walkers have the same simulated robot: the G1 of the
library, its torque and speed limits, its self-collisions, friction and disturbances.

A policy is the ONNX file of a published package, run as its publisher runs it on the robot: 50 times per second, with
targets of joint angles that a proportional-derivative law follows at the rate of the simulation. As on the robot, that
law runs in the motors, so the delay and noise of the sensors act on the policy and not on it. Poise commands torques
from the delayed and noisy state, knows the delay, and measures position and velocity of the base, which the policies do
not.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import pinocchio

from benchmarks.peers.processes import Environment, Worker
from poise import runs
from poise.control import Command, Controller
from poise.plans import Speed
from poise.plants import MujocoPlant
from poise.robots import Robot, State
from poise.runs.world import World

#: Environment of the policies. Its package names drivers as dependencies that are not needed: see `PolicyEnvironment`.
PACKAGE = "holosoma-inference==0.1.3"
RUNTIME = ("onnxruntime==1.31.1", "numpy==2.4.6")
#: Longest speed that counts as standing for the phase of a policy (m/s, rad/s).
STANDING_SPEED = 0.01
#: Scales of its observations: angular velocity of the base, and rates of the joints.
TURN_SCALE, RATE_SCALE = 0.25, 0.05
#: Largest action.
LARGEST_ACTION = 100.0


class Walker(Protocol):
    """One of the compared controllers."""

    name: str

    def build(self, robot: Robot, speed: Speed, world: World, seed: int) -> tuple[Controller, MujocoPlant]:
        """Return controller and plant for a walk at a speed; a speed of zero: the robot stands, and may step."""


class PoiseWalker:
    """The walk of Poise with its default settings."""

    name = "Poise"

    def build(self, robot: Robot, speed: Speed, world: World, seed: int) -> tuple[Controller, MujocoPlant]:
        walks = any(speed)
        # More steps than any test lasts; a walk of zero steps stands and makes capture steps.
        motion = runs.Walk(
            robot=robot.name, steps=1000 if walks else 0, speed=speed if walks else None, world=world, seed=seed
        )
        setup = motion.build(robot)
        assert isinstance(setup.plant, MujocoPlant)
        return setup.controller, setup.plant


# -- Policies --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class PolicyEnvironment(Environment):
    """An environment with one more package, installed without its dependencies."""

    package: str = PACKAGE

    @property
    def folder_name(self) -> str:
        return f"{self.package.replace('==', '-')}-{super().folder_name}"

    def install_words(self, python: Path) -> list[list[str]]:
        return [*super().install_words(python), [*self.pip_words(python), "--no-deps", self.package]]


ENVIRONMENT = PolicyEnvironment("learned", RUNTIME)
#: Policies by name: path of their file in the package.
POLICIES = {
    "FastSAC": "models/loco/g1_29dof/fastsac_g1_29dof.onnx",
    "PPO": "models/loco/g1_29dof/ppo_g1_29dof.onnx",
}


class PolicyWalker:
    """A learned policy, see the module.

    Args:
        worker: its process (`workers/onnx_policy.py`).
    """

    def __init__(self, worker: Worker) -> None:
        self.name, self.worker = worker.name, worker

    def build(self, robot: Robot, speed: Speed, world: World, seed: int) -> tuple[Controller, MujocoPlant]:
        plant = world.plant(default_stance(robot, self.worker.start), seed=seed)
        return PolicyController(robot, self.worker, plant, speed), plant


def default_stance(robot: Robot, facts: dict[str, Any]) -> State:
    """Return the robot with the default angles of a policy, its lower sole on the floor."""
    stance = robot.stance("standing")
    q = stance.q.copy()
    angles = dict(zip(facts["joints"], facts["angles"], strict=True))
    for joint in robot.joints:
        q[joint.q] = angles[joint.name]
    q[3:7] = 0.0, 0.0, 0.0, 1.0
    state = stance.replace(q=q)
    q[2] -= min(float(state.pose(foot).act(corner)[2]) for foot in robot.feet for corner in foot.corners)
    return stance.replace(q=q)


class PolicyController(Controller):
    """Joint targets of a policy, and the law of the motors that follows them.

    ``τ = K (q_default + scale · action - q) - D q̇`` with the true q and q̇ of the motors. The observation has, in the
    alphabetical order of its names: last action, angular velocity of the base, commanded turning and speed, cosines of
    the phases of both feet, joint angles, joint rates, direction of gravity in the base, sines of the phases.
    """

    period = 0.001

    def __init__(self, robot: Robot, worker: Worker, plant: MujocoPlant, speed: Speed) -> None:
        facts = worker.start
        names = [joint.name for joint in robot.joints]
        self._order = np.array([names.index(name) for name in facts["joints"]])  # of the policy, in joints of the robot
        self._worker, self._plant, self._speed = worker, plant, speed
        self._default = np.array(facts["angles"])
        self._K, self._D = np.array(facts["stiffness"]), np.array(facts["damping"])
        self._scale, self._every = float(facts["scale"]), round(facts["period"] / self.period)
        self._phase_step = 2.0 * math.pi * facts["period"] / facts["gait_period"]
        walks = max(abs(each) for each in speed) >= STANDING_SPEED
        self._phases = np.array([0.0, math.pi]) if walks else np.full(2, math.pi)
        self._walks, self._tick = walks, 0
        self._action = np.zeros(len(self._order))

    def step(self, state: State | None) -> Command:
        if state is not None and self._tick % self._every == 0:
            self._action = self._infer(state)
        self._tick += 1
        truth = self._plant.truth()
        q, rates = truth.q[7:][self._order], truth.v[6:][self._order]
        torque = np.zeros(len(self._order))
        torque[self._order] = self._K * (self._default + self._scale * self._action - q) - self._D * rates
        limit = self._plant.robot.limits.torque
        return Command(np.zeros(len(truth.v)), None, np.clip(torque, -limit, limit), self.period)

    def _infer(self, state: State) -> np.ndarray:
        down = pinocchio.Quaternion(state.q[3:7]).matrix().T @ np.array([0.0, 0.0, -1.0])
        vx, vy, turning = self._speed
        observation = np.concatenate(
            [
                self._action,
                TURN_SCALE * state.v[3:6],
                [turning],
                [vx, vy],
                np.cos(self._phases),
                state.q[7:][self._order] - self._default,
                RATE_SCALE * state.v[6:][self._order],
                down,
                np.sin(self._phases),
            ]
        )
        if self._walks:
            self._phases = np.remainder(self._phases + self._phase_step + math.pi, 2.0 * math.pi) - math.pi
        action = np.array(self._worker.request({"observation": observation.tolist()})["action"])
        return np.clip(action, -LARGEST_ACTION, LARGEST_ACTION)
