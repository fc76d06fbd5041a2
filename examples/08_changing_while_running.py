"""08 Changing the hierarchy while the robot moves: add, remove and reorder levels without a jump of the command."""

import numpy as np

import poise
from poise import constraints, tasks

robot = poise.load_robot("g1")
start = robot.stance("standing")
standing = poise.Hierarchy(
    always=[constraints.JointRange(robot), constraints.JointSpeed(robot)],
    levels=[
        poise.Level("feet", [tasks.HoldPose(foot, at=start) for foot in robot.feet]),
        poise.Level("balance", [tasks.CenterOfMass(target=start.support_center, axes="xy")]),
        poise.Level("posture", [tasks.Posture(target=start)]),
    ],
)
left = poise.Level("left", [tasks.Position(robot.hand("left"), target=(0.40, 0.25, 1.05))])
right = poise.Level("right", [tasks.Position(robot.hand("right"), target=(0.40, -0.25, 1.05))])
with_left_hand = standing.with_level(left, before="posture")
with_both_hands = with_left_hand.with_level(right, before="posture")
right_hand_first = with_both_hands.reorder(["feet", "balance", "right", "left", "posture"])
for ramp in (0.0, 0.2):
    controller = poise.KinematicController(standing, ramp=ramp)
    plant = poise.IdealPlant(start)
    commands = [start.v]
    print(f"ramp of {ramp} s")
    for hierarchy in (with_left_hand, with_both_hands, right_hand_first, standing):
        controller.behavior = hierarchy
        recording = poise.record(controller, plant, seconds=1.5)
        commands = np.vstack([commands[-1], recording["command/velocity"]])
        jump, feet = np.abs(np.diff(commands, axis=0)).max(), recording.levels()["feet"]["max"]
        order = " > ".join(level.name for level in hierarchy.levels)
        print(f"  {order:<40} largest change of speed {jump:.2f} rad/s, feet moved by {1e3 * feet:.2f} mm or mrad")
