"""02 A target out of reach: the hand moves as near as the higher levels allow, and the solution names the conflicts."""

import poise
from poise import constraints, tasks

robot = poise.load_robot("g1")
start = robot.stance("standing")
hand = robot.hand("left")
target = (0.90, 0.20, 1.10)
hierarchy = poise.Hierarchy(
    always=[constraints.JointRange(robot), constraints.JointSpeed(robot)],
    levels=[
        poise.Level("feet", [tasks.HoldPose(foot, at=start) for foot in robot.feet]),
        poise.Level("balance", [tasks.CenterOfMass(target=start.support_center, axes="xy")]),
        poise.Level("reach", [tasks.Position(hand, target)]),
    ],
)
controller = poise.KinematicController(hierarchy)
recording = poise.record(controller, poise.IdealPlant(start), seconds=4.0)
end = recording.state(-1)
print("the hand is at", end.pose(hand).translation.round(3), "and should be at", target)
print(controller.command.solution.explain())
