"""09 The same hierarchy at velocity and at acceleration order: smoother, with exact acceleration limits."""

import numpy as np

import poise
from poise import constraints, tasks

robot = poise.load_robot("g1")
start = robot.stance("standing")
hierarchy = poise.Hierarchy(
    always=[
        constraints.JointRange(robot),
        constraints.JointSpeed(robot),
        constraints.JointAcceleration(robot, acceleration=20.0),
    ],
    levels=[
        poise.Level("feet", [tasks.HoldPose(foot, at=start) for foot in robot.feet]),
        poise.Level("balance", [tasks.CenterOfMass(target=start.support_center, axes="xy")]),
        poise.Level("reach", [tasks.Position(robot.hand("left"), target=(0.45, 0.20, 1.10))]),
        poise.Level("posture", [tasks.Posture(target=start)]),
    ],
)
for order, name in ((poise.VELOCITY, "velocity"), (poise.ACCELERATION, "acceleration")):
    controller = poise.KinematicController(hierarchy, order=order)
    recording = poise.record(controller, poise.IdealPlant(start), seconds=3.0)
    v = recording["v"][:, 6:]
    acceleration = np.abs(np.diff(v, axis=0)) / controller.period
    final = recording["error_norm/reach/left_palm"][-1]
    print(f"{name}: hand {1e3 * final:.3f} mm from its target, ", end="")
    print(f"joints up to {np.abs(v).max():.1f} rad/s and {acceleration.max():.1f} rad/s²")
