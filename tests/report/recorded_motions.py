"""Motions for the tests of reports: a reach, and the same with the torques and forces that its motion needs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio

import poise
from poise import tasks
from poise.control import ControlStep
from poise.recording import Recording, record_steps
from poise.robots import Robot, State
from poise.state import ContactForces, Imu, SensorReadings

BIPED = Path(__file__).parents[2] / "examples/biped.urdf"
PARTS: dict[str, Any] = {
    "feet": {"frame": "{side}_foot", "sole": [-0.08, 0.14, -0.05, 0.05]},
    "hands": {"frame": "{side}_forearm"},
    "stances": {"standing": {"joints": {"{side}_hip_pitch": -0.2, "{side}_knee": 0.4, "{side}_ankle_pitch": -0.2}}},
}


def hierarchy(robot: Robot, start: State, reach: float = 0.1) -> poise.Hierarchy:
    """Return a hierarchy in which both feet stay and the left hand moves forward."""
    goal = start.pose(robot.hand("left")).translation + np.array([reach, 0.0, reach])
    return poise.Hierarchy(
        levels=[
            poise.Level("feet", [tasks.HoldPose(foot, at=start) for foot in robot.feet]),
            poise.Level("reach", [tasks.Position(robot.hand("left"), goal)]),
            poise.Level("posture", [tasks.Posture(start)]),
        ]
    )


def reach_steps(robot: Robot, seconds: float, reach: float = 0.1) -> Iterator[ControlStep]:
    start = robot.stance("standing")
    controller = poise.KinematicController(hierarchy(robot, start, reach))
    return poise.steps(controller, poise.IdealPlant(start), seconds)


def kinematic_recording(robot: Robot, seconds: float = 0.6, reach: float = 0.1) -> Recording:
    """Return a recording of the motion alone."""
    return record_steps(
        reach_steps(robot, seconds, reach), robot, provenance={"behavior": "reach", "plant": "IdealPlant"}
    )


def dynamic_recording(robot: Robot, seconds: float = 0.6, reach: float = 0.1, noise: float = 2.0) -> Recording:
    """Return a recording of the motion with torques and forces, see `with_dynamics`."""
    steps = list(reach_steps(robot, seconds, reach))
    return record_steps(with_dynamics(steps, noise), robot, provenance={"behavior": "reach", "plant": "MadeUp"})


def with_dynamics(steps: list[ControlStep], noise: float = 2.0, seed: int = 1) -> Iterator[ControlStep]:
    """Yield steps with the torques and contact forces that the motion needs, and with noisy sensor readings of them.

    The wrench that the base needs, ``M v̇ + h`` in its six rows, is shared equally by the contacts; their effect is
    subtracted from the torques. Noise is the standard deviation of forces (N) and, by the hundred, of moments (N m).
    """
    rng = np.random.default_rng(seed)
    v = np.array([step.state.v for step in steps])
    a = np.gradient(v, steps[0].command.period, axis=0)
    for i, step in enumerate(steps):
        state, robot = step.state, step.state.robot
        data = robot.model.createData()
        required_torque = pinocchio.rnea(robot.model, data, state.q, v[i], a[i])
        pinocchio.computeJointJacobians(robot.model, data, state.q)
        pinocchio.updateFramePlacements(robot.model, data)
        R, base = data.oMi[1].rotation, data.oMi[1].translation
        points = np.array([data.oMf[part.index].translation for part in state.contacts])
        force = R @ required_torque[:3] / len(points)
        moment = (R @ required_torque[3:6] + sum(np.cross(base - p, force) for p in points)) / len(points)
        wrenches = np.tile(np.concatenate([force, moment]), (len(points), 1))
        for part, wrench in zip(state.contacts, wrenches, strict=True):
            axes = pinocchio.ReferenceFrame.LOCAL_WORLD_ALIGNED
            required_torque = (
                required_torque - pinocchio.getFrameJacobian(robot.model, data, part.index, axes).T @ wrench
            )
        names = tuple(part.name for part in state.contacts)
        step.command.torque = required_torque[6:]
        step.command.forces = ContactForces(names, wrenches, points)
        step.command.phase = "lift" if i < len(steps) // 3 else "hold"
        sensed_wrenches = wrenches + noise * rng.normal(size=wrenches.shape) * [1, 1, 1, 0.01, 0.01, 0.01]
        step.readings = SensorReadings(
            ContactForces(names, sensed_wrenches, points),
            {name: np.full(4, w[2] / 4) for name, w in zip(names, sensed_wrenches, strict=True)},
            Imu(state.q[3:7], state.v[3:6], np.array([0.0, 0.0, 9.81])),
            state.q[7:],
            state.v[6:],
            state,
        )
        yield step
