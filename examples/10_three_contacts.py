"""10 Three contacts: one foot on the floor, one on a plate tilted by 30 degrees, a hand against a wall."""

import math

import numpy as np
import pinocchio

import poise
from poise import constraints, tasks
from poise.behaviors import Stand
from poise.plants import MujocoPlant, Plate

robot = poise.load_robot("g1")
standing, right, left = robot.stance("standing"), robot.foot("right"), robot.foot("left")
hand = robot.hand("right")

# Targets: the left foot one foot length ahead with the toes up by 30 degrees, the right hand at a wall.
tilt = math.radians(30.0)
on_plate = standing.pose(left) * pinocchio.SE3(pinocchio.rpy.rpyToMatrix(0.0, -tilt, 0.0), np.array([0.22, 0.03, 0.08]))
on_wall = standing.pose(hand).translation + np.array([0.16, 0.02, 0.14])
between_feet = standing.pose(right).translation[:2] + np.array([0.06, 0.05])
solution = poise.solve_pose(
    poise.Hierarchy(
        always=[constraints.JointRange(robot, margin=0.02)],
        levels=[
            poise.Level("feet", [tasks.HoldPose(right, at=standing), tasks.Pose(left, on_plate)]),
            poise.Level("hand", [tasks.Position(hand, on_wall)]),
            poise.Level("balance", [tasks.CenterOfMass(between_feet, axes="xy")]),
            poise.Level("trunk", [tasks.Orientation(robot.chest, standing.pose(robot.chest))]),
            poise.Level("posture", [tasks.Posture(standing)]),
        ],
    ),
    standing,
)
print(solution)
start = solution.state.replace(contacts=(right, left, hand))

# The wall is perpendicular to the x axis. A contact needs its normal in the frame of the hand.
wall_normal = start.pose(hand).rotation.T @ np.array([-1.0, 0.0, 0.0])
contacts = (
    poise.Contact(right),
    poise.Contact(left, friction=1.0),
    poise.Contact(hand, normal=wall_normal, friction=0.7, largest_force=60.0),
)
stand = Stand(robot, start=start, contacts=contacts)
push_the_wall = poise.Level("wall", [tasks.ContactForce(contacts[2], target=(0.0, 0.0, 25.0), axes="z")])
hierarchy = stand.hierarchy.with_level(push_the_wall, before="trunk")

plant = MujocoPlant(
    start,
    objects=[
        Plate.at_frame(start, left, friction=1.0),
        Plate.at_frame(start, hand, (-1.0, 0.0, 0.0), friction=0.7),
    ],
)
controller = poise.TorqueController(hierarchy)
for step in poise.steps(controller, plant, 3.0):
    assert step.command.forces is not None
    assert step.readings is not None
planned, measured = step.command.forces, step.readings.forces
weight, total = robot.weight, np.linalg.norm(measured.total)
print(f"{plant.fall or 'stands'}; weight {weight:.1f} N, total measured force {total:.1f} N")
for name in planned.names:
    force = np.round(planned[name][:3], 1), np.round(measured[name][:3], 1)
    print(f"{name:<12} planned {force[0]} N, measured {force[1]} N")
