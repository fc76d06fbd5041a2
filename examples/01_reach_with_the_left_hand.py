"""01 Reach with the left hand: feet on the ground, balance, then the hand, then the posture; seen in the browser."""

import poise

robot = poise.load_robot("g1")
start = robot.stance("standing")
levels = [
    poise.Level("feet", [poise.tasks.HoldPose(foot, at=start) for foot in robot.feet]),
    poise.Level("balance", [poise.tasks.CenterOfMass(target=start.support_center, axes="xy")]),
    poise.Level("reach", [poise.tasks.Position(robot.hand("left"), target=(0.45, 0.20, 1.10))]),
    poise.Level("posture", [poise.tasks.Posture(target=start)]),
]
controller = poise.KinematicController(poise.Hierarchy(always=[poise.constraints.JointRange(robot)], levels=levels))
print(poise.record(controller, poise.IdealPlant(start), seconds=3.0, view=True).summary())
