"""pink: one weighted quadratic program per step, assembled in Python on pinocchio.

daqp is the fastest of the solvers that pink's documentation names: a whole step takes 1.0 times as long with quadprog,
1.6 times with proxqp. Foot tasks with a large weight (soft) are faster than equality constraints (hard).
"""

from __future__ import annotations

from importlib.metadata import version
from typing import Any

import pink  # type: ignore
import pinocchio  # type: ignore
import qpsolvers  # type: ignore
from pink.tasks import ComTask, FrameTask, PostureTask  # type: ignore
from serve import KinematicsProblem, Poses, Stopwatch, serve  # type: ignore

SOLVER = "daqp"


class Pink:
    def __init__(self, urdf: str, hard_feet: bool) -> None:
        self.version = f"{version('pin-pink')}, {SOLVER} {version(SOLVER)}, pinocchio {version('pin')}"
        model = pinocchio.buildModelFromUrdf(urdf, pinocchio.JointModelFreeFlyer())
        self.mass = pinocchio.computeTotalMass(model)
        q = pinocchio.neutral(model)
        q[:3] = KinematicsProblem.BASE_POSITION
        for name, joint in list(zip(model.names, model.joints, strict=True))[2:]:  # after universe and base
            q[joint.idx_q] = KinematicsProblem.start_angle(name)
        self.q = q
        self.configuration = pink.Configuration(model, model.createData(), q, copy_data=False)

        costs, balance = KinematicsProblem.COSTS, KinematicsProblem.COSTS["center_of_mass"]
        feet = [
            FrameTask(foot, position_cost=costs["feet"], orientation_cost=costs["feet"])
            for foot in KinematicsProblem.FEET
        ]
        self.reach = FrameTask(KinematicsProblem.HAND, position_cost=costs["hand"], orientation_cost=0.0)
        others = [ComTask([balance, balance, 0.0]), self.reach, PostureTask(costs["posture"])]
        for task in (*feet, *others):
            task.set_target_from_configuration(self.configuration)
        self.target = self.reach.transform_target_to_world
        # Without `limits`, pink takes the ranges and speeds of the model.
        self.arguments: dict[str, Any] = {
            "tasks": others if hard_feet else [*feet, *others],
            "dt": KinematicsProblem.PERIOD,
            "constraints": feet if hard_feet else None,
        }

    def step(self, target: Any) -> None:
        self.configuration.update(self.q)
        self.target.translation = target
        self.reach.set_target(self.target)
        velocity = pink.solve_ik(self.configuration, solver=SOLVER, **self.arguments)
        self.q = self.configuration.integrate(velocity, KinematicsProblem.PERIOD)

    def parts(self, target: Any, stopwatch: Stopwatch) -> None:
        self.configuration.update(self.q)
        stopwatch.lap("kinematics")
        self.target.translation = target
        self.reach.set_target(self.target)
        self.configuration.check_limits()
        program = pink.build_ik(self.configuration, **self.arguments)
        stopwatch.lap("assembly")
        velocity = qpsolvers.solve_problem(program, solver=SOLVER).x / KinematicsProblem.PERIOD
        stopwatch.lap("solve")
        self.q = self.configuration.integrate(velocity, KinematicsProblem.PERIOD)
        stopwatch.lap("integration")

    def poses(self) -> Poses:
        self.configuration.update(self.q)
        pose = self.configuration.get_transform_frame_to_world
        model, data = self.configuration.model, self.configuration.data
        feet = [(pose(foot).translation.copy(), pose(foot).rotation.copy()) for foot in KinematicsProblem.FEET]
        return Poses(
            pose(KinematicsProblem.HAND).translation.copy(), feet, pinocchio.centerOfMass(model, data, self.q).copy()
        )


if __name__ == "__main__":
    serve(kinematics=Pink)
