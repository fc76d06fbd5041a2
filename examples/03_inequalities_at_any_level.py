"""03 Inequalities at any level: center of mass inside the support polygon, a hand behind a wall, the other in a box."""

import poise
from poise import constraints, tasks

robot = poise.load_robot("talos")
start = robot.stance("standing")
left, right = robot.hand("left"), robot.hand("right")
cup = start.pose(left).translation
hierarchy = poise.Hierarchy(
    always=[constraints.JointRange(robot), constraints.JointSpeed(robot)],
    levels=[
        poise.Level("feet", [tasks.HoldPose(foot, at=start) for foot in robot.feet]),
        poise.Level("balance", [constraints.CenterOfMassInside(margin=0.02)]),
        poise.Level("wall", [constraints.HalfSpace(right, normal=(1, 0, 0), offset=0.65)]),
        poise.Level("cup", [constraints.Box(left, lower=cup - 0.05, upper=cup + 0.05)]),
        poise.Level("reach", [tasks.Position(right, target=(0.80, -0.10, 0.70))]),
        poise.Level("posture", [tasks.Posture(target=start)]),
    ],
)
print(hierarchy)
recording = poise.record(poise.KinematicController(hierarchy), poise.IdealPlant(start), seconds=4.0)
end = recording.state(-1)
print("right hand at", end.pose(right).translation.round(3))
print("left hand moved by", (end.pose(left).translation - cup).round(3))
print("center of mass moved by", (end.center_of_mass - start.center_of_mass).round(3))
for row in recording.saturations()[:6]:
    print(f"  {row.row} ({row.level}) at its {row.side} bound {row.share:.0%} of the time")
