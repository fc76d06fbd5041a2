"""Motions for the tests of exports: random and smooth, of any robot, without a controller."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pinocchio

from poise.recording import Channel, CoordinateLabels, Recording
from poise.robots import Robot, load_robot

BIPED = Path(__file__).parents[2] / "examples/biped.urdf"
SOLES = {"feet": {"frame": "{side}_foot", "position": [0.0, 0.0, -0.05], "sole": [-0.08, 0.12, -0.04, 0.05]}}
STANCE = {"standing": {"joints": {"{side}_hip_pitch": -0.2, "{side}_knee": 0.4, "{side}_ankle_pitch": -0.2}}}


def biped() -> Robot:
    """Return a robot with feet and a stance that needs no other package."""
    return load_robot(BIPED, **SOLES, stances=STANCE)


def rail(folder: Path) -> Robot:
    """Return a robot with a prismatic joint along a slanted rail and a hinge on it."""
    inertia = '<inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>'
    links = "".join(f'<link name="{name}">{inertia}</link>' for name in ("base", "slide", "tip"))
    limit = '<limit lower="-1" upper="1" effort="9" velocity="9"/>'
    joints = "".join(
        f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>'
        f'<origin xyz="0.1 0.2 0.3" rpy="0.4 0.5 0.6"/><axis xyz="0 0.6 0.8"/>{limit}</joint>'
        for name, kind, parent, child in (("rail", "prismatic", "base", "slide"), ("hinge", "revolute", "slide", "tip"))
    )
    (folder / "rail.urdf").write_text(f'<robot name="rail">{links}{joints}</robot>')
    return load_robot(folder / "rail.urdf")


def random_configurations(
    robot: Robot, samples: int, seed: int = 0, period: float = 0.01, size: float = 0.6
) -> np.ndarray:
    """Return configurations along a smooth path: joints swing independently, the base turns and moves forward."""
    random = np.random.default_rng(seed)
    t = period * np.arange(samples)
    amplitude, pace, phase = (random.uniform(low, high, robot.model.nv) for low, high in ((0.2, size), (1, 4), (0, 6)))
    steps = amplitude * np.sin(np.outer(t, pace) + phase)
    steps[:, 0] += 0.8 * t
    steps[:, 3:6] *= 1.5
    return np.array([pinocchio.integrate(robot.model, robot.rest, step) for step in steps])


def make_recording(robot: Robot, q: np.ndarray, period: float = 0.01, **more: Channel) -> Recording:
    """Return a recording of these configurations, with velocities, arbitrary torques and contacts."""
    n, body = len(q), CoordinateLabels.of(robot)
    time = period * np.arange(n)
    nearby = zip(q, np.roll(q, -1, axis=0), strict=True)
    v = np.array([pinocchio.difference(robot.model, a, b) / period for a, b in nearby])
    v[-1] = v[-2] if n > 1 else 0.0
    torque = np.sin(np.outer(time, np.arange(1, len(body.joints) + 1)))
    labels, units = body.effort_labels(len(body.joints))
    channels = [
        Channel("time", "s", time),
        Channel("q", body.q_units, q, body.q_labels),
        Channel("v", body.rate_units("/s"), v, body.v_labels),
        Channel("command/torque", units, torque, labels),
        Channel("contacts", "", np.array([", ".join(foot.name for foot in robot.feet)] * n, dtype=object)),
        *more.values(),
    ]
    return Recording(channels, {"robot": robot.name, "source": str(robot.source), "behavior": "wander"}, robot)


def random_recording(
    robot: Robot, samples: int = 40, seed: int = 0, period: float = 0.01, **more: Channel
) -> Recording:
    """Return a recording of a random motion."""
    return make_recording(robot, random_configurations(robot, samples, seed, period), period, **more)
