"""placo: one quadratic program per step, assembled and solved in C++ on pinocchio.

With the limits of the robot, soft feet are the fastest. Hard ones take 1.6 times as long with the defaults of placo and
1.1 times with its `sparse_elimination`, which they therefore get.
"""

from __future__ import annotations

from importlib.metadata import version
from typing import Any

import numpy as np
import placo  # type: ignore
from serve import Places, Stopwatch, hard_feet, problem, serve  # type: ignore


class Placo:
    def __init__(self, urdf: str) -> None:
        self.version = f"{version('placo')}, pinocchio {version('pin')}"
        robot = self.robot = placo.RobotWrapper(urdf, placo.Flags.ignore_collisions)
        self.mass = float(robot.total_mass())
        angles = {name: problem.start_angle(name) for name in robot.joint_names()}
        base = np.eye(4)
        base[:3, 3] = problem.BASE_POSITION
        robot.set_T_world_fbase(base)
        for name, angle in angles.items():
            robot.set_joint(name, angle)
        robot.update_kinematics()

        solver = self.solver = placo.KinematicsSolver(robot)
        solver.dt = problem.PERIOD
        solver.enable_joint_limits(True)
        solver.enable_velocity_limits(True)
        hard = hard_feet()
        solver.problem.sparse_elimination = hard
        weights = {task: cost**2 for task, cost in problem.COSTS.items()}
        for foot in problem.FEET:
            task = solver.add_frame_task(foot, robot.get_T_world_frame(foot))
            task.configure(foot, "hard" if hard else "soft", weights["feet"], weights["feet"])
        balance = solver.add_com_task(robot.com_world())
        balance.mask.set_axises("xy")
        balance.configure("center_of_mass", "soft", weights["center_of_mass"])
        self.reach = solver.add_position_task(problem.HAND, robot.get_T_world_frame(problem.HAND)[:3, 3])
        self.reach.configure("hand", "soft", weights["hand"])
        posture = solver.add_joints_task()
        posture.set_joints(angles)
        posture.configure("posture", "soft", weights["posture"])

    def step(self, target: Any) -> None:
        self.robot.update_kinematics()
        self.reach.target_world = target
        self.solver.solve(True)  # and integrates

    def parts(self, target: Any, watch: Stopwatch) -> None:
        self.robot.update_kinematics()
        watch.lap("kinematics")
        self.reach.target_world = target
        self.solver.solve(True)
        watch.lap("assembly, solve and integration")  # one call in C++

    def places(self) -> Places:
        self.robot.update_kinematics()
        pose = self.robot.get_T_world_frame
        feet = [(pose(foot)[:3, 3].copy(), pose(foot)[:3, :3].copy()) for foot in problem.FEET]
        return Places(pose(problem.HAND)[:3, 3].copy(), feet, np.array(self.robot.com_world()))


if __name__ == "__main__":
    serve(Placo)
