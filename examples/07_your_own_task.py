"""07 Your own task: define error and Jacobian; the base class adds drift, task dynamics and both orders."""

import numpy as np

import poise
from poise import constraints, tasks


class SameHeight(tasks.MotionTask):
    """Keep two frames at equal height, as for carrying a tray: ``e = z_a - z_b``, in m."""

    unit, dynamics = "m", tasks.Decay(3.0)

    def __init__(self, a, b):
        self.a, self.b = a, b

    def value(self, snapshot):
        return snapshot.position(self.a)[2:] - snapshot.position(self.b)[2:]

    def jacobian(self, snapshot):
        return snapshot.jacobian(self.a)[2:3] - snapshot.jacobian(self.b)[2:3]


robot = poise.load_robot("icub")
start = robot.stance("standing")
left, right = robot.hands
goal = start.pose(left).translation + np.array([0.10, 0.0, 0.15])
hierarchy = poise.Hierarchy(
    always=[constraints.JointRange(robot), constraints.JointSpeed(robot)],
    levels=[
        poise.Level("feet", [tasks.HoldPose(foot, at=start) for foot in robot.feet]),
        poise.Level("tray", [SameHeight(left, right)]),
        poise.Level("reach", [tasks.Position(left, goal)]),
        poise.Level("posture", [tasks.Posture(target=start)]),
    ],
)
for order, name in ((poise.VELOCITY, "velocity"), (poise.ACCELERATION, "acceleration")):
    recording = poise.record(poise.KinematicController(hierarchy, order=order), poise.IdealPlant(start), seconds=4.0)
    raised = recording.state(-1).pose(left).translation[2] - start.pose(left).translation[2]
    error = np.abs(recording["error/tray/same_height"]).max()
    print(f"{name} order: hands raised by {100 * raised:.1f} cm, never more than {1e3 * error:.2f} mm apart in height")
