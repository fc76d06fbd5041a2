"""17 Lean on a table: G1 rests a hand on a table, reaches beyond what its feet can balance, and comes back."""

import numpy as np

import poise
from poise import constraints, tasks
from poise.behaviors import UprightSettings, upright_hierarchy
from poise.plants import MujocoPlant, Plate

robot = poise.load_robot("g1")
standing, left, right = robot.stance("standing"), robot.hand("left"), robot.hand("right")

# Start: the right hand on the table, palm inwards, in front of the hip; the feet as in the standing stance.
on_table = standing.pose(right).translation + np.array([0.20, 0.0, 0.08])
solution = poise.solve_pose(
    poise.Hierarchy(
        always=[constraints.JointRange(robot, margin=0.02)],
        levels=[
            poise.Level("feet", [tasks.HoldPose(foot, at=standing) for foot in robot.feet]),
            poise.Level("hand", [tasks.Position(right, on_table)]),
            poise.Level("balance", [tasks.CenterOfMass(standing.support_center, axes="xy")]),
            poise.Level("posture", [tasks.Posture(standing)]),
        ],
    ),
    standing,
)
start = solution.state.replace(contacts=(*robot.feet, right))
up = start.pose(right).rotation.T @ np.array([0.0, 0.0, 1.0])
contacts = (
    *(poise.Contact(foot) for foot in robot.feet),
    poise.Contact(right, normal=up, friction=0.6, largest_force=150.0),
)

# The center of mass moves to 4 cm in front of the toes and back, the left hand to a point as far away as that allows.
toes = max(start.pose(foot).act(corner)[0] for foot in robot.feet for corner in foot.corners)
above_feet = np.append(standing.support_center, start.center_of_mass[2])
in_front = np.array([toes + 0.04, above_feet[1], above_feet[2] - 0.06])
rest = start.pose(left).translation
far = np.array([toes + 0.45, 0.12, rest[2] + 0.05])
times = [0.0, 0.5, 2.5, 3.5, 5.5]
center = tasks.SplineTarget(times, [above_feet, above_feet, in_front, in_front, above_feet])
reach = tasks.SplineTarget(times, [rest, rest, far, far, rest])

hierarchy = upright_hierarchy(start, center, UprightSettings(), contacts).without_level("trunk")
hierarchy = hierarchy.with_level(poise.Level("reach", [tasks.Position(left, reach)]), before="posture")
plant = MujocoPlant(start, objects=[Plate.at_frame(start, right, (0.0, 0.0, 1.0), friction=0.6)])
ahead, reached, pressed = [], [], []
for step in poise.steps(poise.TorqueController(hierarchy), plant, 6.5):
    assert step.readings is not None
    ahead.append(step.state.center_of_mass[0] - toes)
    reached.append(np.linalg.norm(step.state.pose(left).translation - far))
    pressed.append(step.readings.forces[right.name][2])
print(plant.fall or "stands", f"and is back within {abs(ahead[-1] - ahead[0]) * 1e3:.0f} mm")
print(f"center of mass {max(ahead) * 1e2:.1f} cm ahead of the toes; the left hand within {min(reached) * 1e3:.0f} mm")
print(f"the right hand bears up to {max(pressed):.0f} N of {robot.weight:.0f} N")
