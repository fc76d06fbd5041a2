"""16 Composition: G1 walks a circle, keeps a cup upright, looks at the middle of the circle, and points at it."""

import math

import poise
from poise import Level, tasks
from poise.behaviors import Walk

robot = poise.load_robot("g1")
walk = Walk(robot, speed=(0.3, 0.0, 0.25), steps=math.inf)  # m/s forward, m/s left, rad/s: a circle of 1.2 m
left, right, middle = robot.hand("left"), robot.hand("right"), (0.0, 1.2, 0.0)
upwards = walk.start.pose(left).rotation.T @ (0.0, 0.0, 1.0)  # in the axes of the hand

composed = walk.with_levels(  # below the balance and the swing foot, above the chest and the style
    [
        Level("cup", tasks.Direction(left, axis=upwards, target=(0.0, 0.0, 1.0))),
        Level("gaze", tasks.Gaze(robot.head, middle), damping=0.1),
    ]
)
controller, plant = poise.TorqueController(composed), poise.MujocoPlant(walk.start)
poise.record(controller, plant, seconds=3.0)

composed.add_level(Level("pointing", tasks.Gaze(right, middle, axis=(1.0, 0.0, 0.0)), damping=0.1), below="gaze")
recording = poise.record(controller, plant, seconds=5.0)
print(plant.fall or f"{walk.phase().steps} steps:", " > ".join(level.name for level in composed.hierarchies[0].levels))
for level in recording.residuals():
    if level.name in composed.added_levels:
        print(f"{level.name}: {math.degrees(level.tasks[0].final):.1f} degrees at the end")
