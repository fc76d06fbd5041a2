"""04 Posture generation: solve for a pose that meets a hierarchy, and list the levels that it cannot meet."""

import poise
from poise import constraints, tasks

robot = poise.load_robot("romeo")
start = robot.stance("standing")
reach_hierarchy = poise.Hierarchy(
    always=[constraints.JointRange(robot, margin=0.02)],
    levels=[
        poise.Level("feet", [tasks.HoldPose(foot, at=start) for foot in robot.feet]),
        poise.Level("balance", [tasks.CenterOfMass(target=start.support_center, axes="xy")]),
        poise.Level("hand", damping=0.3),  # filled below; damped, since it may be out of reach
        poise.Level("gaze", [tasks.Gaze(robot.gaze, target=(0.5, 0.1, 0.8))]),
        poise.Level("posture", [tasks.Posture(target=start)]),
    ],
)
hand = robot.hand("left")
for height in (0.80, 1.20, 1.60):
    solution = poise.solve_pose(reach_hierarchy.with_tasks("hand", tasks.Position(hand, (0.30, 0.15, height))), start)
    hand_height = solution.state.pose(hand).translation[2]
    print(f"hand target at {height:.2f} m, hand at {hand_height:.2f} m; not met: {', '.join(solution.unmet)}")
print(solution)
