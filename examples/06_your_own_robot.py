"""06 Your own robot: load a URDF and define what it does not contain: feet, hands and a standing posture."""

from pathlib import Path

import poise
from poise import constraints, tasks

robot = poise.load_robot(
    Path(__file__).with_name("biped.urdf"),
    feet={"frame": "{side}_foot", "position": [0.0, 0.0, -0.05], "sole": [-0.08, 0.12, -0.04, 0.05]},
    hands={"frame": "{side}_forearm", "position": [0.0, 0.0, -0.3]},
    stances={"standing": {"joints": {"{side}_hip_pitch": -0.3, "{side}_knee": 0.6, "{side}_elbow": -0.5}}},
)
start = robot.stance("standing")
print(robot)
print("feet", *(foot.name for foot in robot.feet), "hands", *(hand.name for hand in robot.hands))
print(f"standing with the center of mass {start.center_of_mass[2]:.2f} m above the ground")
hierarchy = poise.Hierarchy(
    always=[constraints.JointRange(robot), constraints.JointSpeed(robot)],
    levels=[
        poise.Level("feet", [tasks.HoldPose(foot, at=start) for foot in robot.feet]),
        poise.Level("balance", [constraints.CenterOfMassInside(margin=0.02)]),
        poise.Level("reach", [tasks.Position(robot.hand("right"), target=(0.40, -0.25, 0.90))]),
        poise.Level("posture", [tasks.Posture(target=start)]),
    ],
)
recording = poise.record(poise.KinematicController(hierarchy), poise.IdealPlant(start), seconds=3.0)
print(recording.summary())
