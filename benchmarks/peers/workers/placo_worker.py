"""placo: one quadratic program per step, assembled and solved in C++ on pinocchio."""

from __future__ import annotations

from importlib.metadata import version
from typing import Any

import numpy as np
import placo  # type: ignore
from serve import DynamicsProblem, KinematicsProblem, Poses, Scene, Stopwatch, gains, serve  # type: ignore


class PlacoKinematics:
    """Inverse kinematics with placo.

    Foot tasks with a large weight (soft) are fastest. Equality constraints (hard) take 1.6 times as long with the
    defaults of placo and 1.1 times with its option `sparse_elimination`, which is therefore set for them.
    """

    def __init__(self, urdf: str, hard_feet: bool) -> None:
        self.version = f"{version('placo')}, pinocchio {version('pin')}"
        robot = self.robot = placo.RobotWrapper(urdf, placo.Flags.ignore_collisions)
        self.mass = float(robot.total_mass())
        angles = {name: KinematicsProblem.start_angle(name) for name in robot.joint_names()}
        base = np.eye(4)
        base[:3, 3] = KinematicsProblem.BASE_POSITION
        robot.set_T_world_fbase(base)
        for name, angle in angles.items():
            robot.set_joint(name, angle)
        robot.update_kinematics()

        solver = self.solver = placo.KinematicsSolver(robot)
        solver.dt = KinematicsProblem.PERIOD
        solver.enable_joint_limits(True)
        solver.enable_velocity_limits(True)
        solver.problem.sparse_elimination = hard_feet
        weights = {task: cost**2 for task, cost in KinematicsProblem.COSTS.items()}
        for foot in KinematicsProblem.FEET:
            task = solver.add_frame_task(foot, robot.get_T_world_frame(foot))
            task.configure(foot, "hard" if hard_feet else "soft", weights["feet"], weights["feet"])
        balance = solver.add_com_task(robot.com_world())
        balance.mask.set_axises("xy")
        balance.configure("center_of_mass", "soft", weights["center_of_mass"])
        self.reach = solver.add_position_task(
            KinematicsProblem.HAND, robot.get_T_world_frame(KinematicsProblem.HAND)[:3, 3]
        )
        self.reach.configure("hand", "soft", weights["hand"])
        posture = solver.add_joints_task()
        posture.set_joints(angles)
        posture.configure("posture", "soft", weights["posture"])

    def step(self, target: Any) -> None:
        self.robot.update_kinematics()
        self.reach.target_world = target
        self.solver.solve(True)  # and integrates

    def parts(self, target: Any, stopwatch: Stopwatch) -> None:
        self.robot.update_kinematics()
        stopwatch.lap("kinematics")
        self.reach.target_world = target
        self.solver.solve(True)
        stopwatch.lap("assembly, solve and integration")  # one call in C++

    def poses(self) -> Poses:
        self.robot.update_kinematics()
        pose = self.robot.get_T_world_frame
        feet = [(pose(foot)[:3, 3].copy(), pose(foot)[:3, :3].copy()) for foot in KinematicsProblem.FEET]
        return Poses(pose(KinematicsProblem.HAND)[:3, 3].copy(), feet, np.array(self.robot.com_world()))


class PlacoDynamics:
    """Inverse dynamics with placo.

    Feet, equation of motion, contact constraints, torque and joint limits are hard constraints; all tasks are in one
    weighted sum. A contact is a wrench on a rectangle. With soft feet a step takes 0.93 times as long;
    `sparse_elimination` has no effect.
    """

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
        self._set_state(0)
        robot.update_kinematics()

        self.solver = solver = placo.DynamicsSolver(robot)
        solver.dt = DynamicsProblem.PERIOD
        solver.torque_cost = DynamicsProblem.FORCE_WEIGHT  # the default of 1e-3 causes errors of the tasks
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
            contact.length, contact.width, contact.mu = length, width, DynamicsProblem.SLOPE
            contact.weight_forces = contact.weight_moments = DynamicsProblem.FORCE_WEIGHT

    def _task(self, name: str, task: Any) -> Any:
        task.configure(name, "soft", DynamicsProblem.WEIGHTS[name])
        task.kp, task.kd = gains(name)
        return task

    def _set_state(self, step: int) -> None:
        state = self.robot.state
        state.q, state.qd = self.q[step], self.v[step]

    def _set_targets(self, step: int) -> None:
        for task, (value, rate, acceleration) in ((self.balance, self.sway), (self.hand, self.reach)):
            task.target_world, task.dtarget_world, task.ddtarget_world = value[step], rate[step], acceleration[step]

    def step(self, step: int) -> tuple[Any, Any]:
        self._set_state(step)
        self.robot.update_kinematics()
        self._set_targets(step)
        result = self.solver.solve(False)
        return result.qdd, result.tau[6:]

    def parts(self, step: int, stopwatch: Stopwatch) -> None:
        self._set_state(step)
        self.robot.update_kinematics()
        stopwatch.lap("kinematics")
        self._set_targets(step)
        self.solver.solve(False)
        stopwatch.lap("assembly, solve and command")  # one call in C++


if __name__ == "__main__":
    serve(PlacoKinematics, PlacoDynamics)
