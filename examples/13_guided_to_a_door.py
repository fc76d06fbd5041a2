"""13 Guided by one point: an operator guides the trunk of a small robot on position servos, then its hand to a door."""

import numpy as np

import poise
from poise.behaviors import Navigate
from poise.devices import GoalOperator, HandGoal, TrunkGoal
from poise.plans import Workspace
from poise.plants import PositionServos, Wall

robot = poise.load_robot("mighty")
door = Wall(position=(0.46, 0.2, 0.3), normal=(-1, 0, 0), size=(0.3, 0.6))
goal = np.array([0.445, 0.2, 0.38])  # 5 mm before a finger touches
# The feet follow the trunk and the trunk follows the hand: the robot chooses its steps itself.
operator = GoalOperator([TrunkGoal(0.17, 0.06), HandGoal("left", *goal)], Workspace.of(robot))
navigate = Navigate(robot, operator)
plant = poise.MujocoPlant(navigate.start, objects=[door], actuators=PositionServos())
recording = poise.record(poise.PositionController(navigate), plant, seconds=12.0)
for time, stick, segment in navigate.history:
    if not stick.is_zero:
        feet_motion = f"{segment.goal.step} foot steps" if segment.goal.step else "feet stay"
        print(f"{time:5.2f} s  {stick.mode:<9}  {feet_motion:<16}  {segment.seconds:.2f} s, {segment.outcome}")
hand = recording.state(recording.samples - 1, robot).pose(robot.hand("left")).translation
print(f"{plant.fall or 'stands'} at the end, left hand {1e3 * np.linalg.norm(hand - goal):.0f} mm from its goal")
