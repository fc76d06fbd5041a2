"""placo: one quadratic program per step, assembled and solved in C++ on pinocchio.

Feet are hard, as are equation of motion, contact limits, torques and limits of the joints; all tasks are one weighted
sum. Contacts are wrenches on a rectangle. Soft feet take 0.93 times as long; `sparse_elimination` changes nothing.
"""

from __future__ import annotations

from importlib.metadata import version
from typing import Any

import numpy as np
import placo  # type: ignore
from serve_dynamics import Scene, Stopwatch, gains, problem, serve  # type: ignore


class Placo:
    def __init__(self, scene: Scene) -> None:
        self.version = f"{version('placo')}, pinocchio {version('pin')}"
        self.robot = robot = placo.RobotWrapper(scene["urdf"], placo.Flags.ignore_collisions)
        joints, limits = scene["joints"], scene["limits"]
        assert list(robot.joint_names()) == joints
        self.mass = float(robot.total_mass())
        for i, name in enumerate(joints):
            robot.set_joint_limits(name, limits["lower"][i], limits["upper"][i])
            robot.set_velocity_limit(name, limits["velocity"][i])
            robot.set_torque_limit(name, limits["torque"][i])
            robot.set_gear_ratio(name, 1.0)
            robot.set_rotor_inertia(name, scene["armature"][i])
        self.q, self.v = scene["q"], scene["v"]
        self._place(0)
        robot.update_kinematics()

        self.solver = solver = placo.DynamicsSolver(robot)
        solver.dt = problem.PERIOD
        solver.torque_cost = problem.FORCE_WEIGHT  # its own, 1e-3, is paid for with tasks
        solver.enable_joint_limits(True)
        solver.enable_velocity_limits(True)
        solver.enable_torque_limits(True)
        self._contacts(scene)
        self.balance = self._task("balance", solver.add_com_task(robot.com_world()))
        self.hand = self._task("hand", solver.add_position_task(scene["hand"]["frame"], np.zeros(3)))
        chest = scene["chest"]
        self._task("torso", solver.add_orientation_task(chest["frame"], chest["rotation"]))
        posture = self._task("posture", solver.add_joints_task())
        posture.set_joints(dict(zip(joints, scene["posture"].tolist(), strict=True)))
        self.sway, self.reach = (
            (target["value"], target["rate"], target["acceleration"]) for target in (scene["sway"], scene["reach"])
        )

    def _contacts(self, scene: Scene) -> None:
        kp, kd = gains("contact")
        for sole in scene["soles"]:
            name, (length, width, _) = sole["frame"], 2.0 * sole["corners"].max(axis=0)
            pose = self.solver.add_frame_task(name, self.robot.get_T_world_frame(name))
            pose.configure(name, "hard")
            for part in (pose.position(), pose.orientation()):
                part.kp, part.kd = kp, kd
            contact = self.solver.add_planar_contact(pose)
            contact.length, contact.width, contact.mu = length, width, problem.SLOPE
            contact.weight_forces = contact.weight_moments = problem.FORCE_WEIGHT

    def _task(self, name: str, task: Any) -> Any:
        task.configure(name, "soft", problem.WEIGHTS[name])
        task.kp, task.kd = gains(name)
        return task

    def _place(self, step: int) -> None:
        state = self.robot.state
        state.q, state.qd = self.q[step], self.v[step]

    def _aim(self, step: int) -> None:
        for task, (value, rate, acceleration) in ((self.balance, self.sway), (self.hand, self.reach)):
            task.target_world, task.dtarget_world, task.ddtarget_world = value[step], rate[step], acceleration[step]

    def step(self, step: int) -> tuple[Any, Any]:
        self._place(step)
        self.robot.update_kinematics()
        self._aim(step)
        result = self.solver.solve(False)
        return result.qdd, result.tau[6:]

    def parts(self, step: int, watch: Stopwatch) -> None:
        self._place(step)
        self.robot.update_kinematics()
        watch.lap("kinematics")
        self._aim(step)
        self.solver.solve(False)
        watch.lap("assembly, solve and command")  # one call in C++


if __name__ == "__main__":
    serve(Placo)
