"""01 Reach with the left hand: levels for feet, balance, hand and posture, in order of priority."""

import poise
from poise import constraints, tasks

robot = poise.load_robot("g1")
start = robot.stance("standing")
hierarchy = poise.Hierarchy(
    always=[constraints.JointRange(robot), constraints.JointSpeed(robot)],
    levels=[
        poise.Level("feet", [tasks.HoldPose(foot, at=start) for foot in robot.feet]),
        poise.Level("balance", [tasks.CenterOfMass(target=start.support_center, axes="xy")]),
        poise.Level("reach", [tasks.Position(robot.hand("left"), target=(0.45, 0.20, 1.10))]),
        poise.Level("posture", [tasks.Posture(target=start)]),
    ],
)
controller = poise.KinematicController(hierarchy, period=0.005)
recording = poise.record(controller, poise.IdealPlant(start), seconds=3.0)
print(recording.summary())  # residual of each level, tightest limit, slowest solve
