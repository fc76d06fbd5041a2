"""mink: one weighted quadratic program per step, assembled in Python on MuJoCo.

daqp is the fastest of the solvers that mink's examples use: a whole step takes 1.05 times as long with quadprog, 1.8
times with proxqp. Foot tasks with a large weight (soft) are faster than equality constraints (hard).
"""

from __future__ import annotations

from importlib.metadata import version
from typing import Any
from xml.etree import ElementTree

import mink  # type: ignore
import mujoco  # type: ignore
import qpsolvers  # type: ignore
from serve import KinematicsProblem, Poses, Stopwatch, serve  # type: ignore

SOLVER = "daqp"


class Mink:
    def __init__(self, urdf: str, hard_feet: bool) -> None:
        self.version = f"{version('mink')}, {SOLVER} {version(SOLVER)}, MuJoCo {version('mujoco')}"
        palm, speeds = _palm_and_speeds(urdf)
        # MuJoCo merges links with fixed joints, which is faster; the hand becomes a site on the wrist.
        spec = mujoco.MjSpec.from_file(urdf)
        spec.body(KinematicsProblem.HAND_BODY).add_site(name=KinematicsProblem.HAND, pos=palm)
        model = spec.compile()
        self.mass = float(model.body_subtreemass[0])
        q = model.qpos0.copy()
        q[:7] = *KinematicsProblem.BASE_POSITION, 1.0, 0.0, 0.0, 0.0
        for name in speeds:
            q[model.joint(name).qposadr] = KinematicsProblem.start_angle(name)
        self.q, self.configuration = q, mink.Configuration(model, q)

        costs, balance, foot_cost = (
            KinematicsProblem.COSTS,
            KinematicsProblem.COSTS["center_of_mass"],
            KinematicsProblem.COSTS["feet"],
        )
        feet = [
            mink.FrameTask(f, "body", position_cost=foot_cost, orientation_cost=foot_cost)
            for f in KinematicsProblem.FEET
        ]
        self.reach = mink.FrameTask(KinematicsProblem.HAND, "site", position_cost=costs["hand"], orientation_cost=0.0)
        others = [mink.ComTask([balance, balance, 0.0]), self.reach, mink.PostureTask(model, cost=costs["posture"])]
        for task in (*feet, *others):
            task.set_target_from_configuration(self.configuration)
        self.rotation = self.reach.transform_target_to_world.rotation()
        self.arguments: dict[str, Any] = {
            "tasks": others if hard_feet else [*feet, *others],
            "dt": KinematicsProblem.PERIOD,
            "limits": [mink.ConfigurationLimit(model), mink.VelocityLimit(model, speeds)],
            "constraints": feet if hard_feet else None,
        }

    def step(self, target: Any) -> None:
        self.configuration.update(self.q)
        self.reach.set_target(mink.SE3.from_rotation_and_translation(self.rotation, target))
        velocity = mink.solve_ik(self.configuration, solver=SOLVER, **self.arguments)
        self.q = self.configuration.integrate(velocity, KinematicsProblem.PERIOD)

    def parts(self, target: Any, stopwatch: Stopwatch) -> None:
        self.configuration.update(self.q)
        stopwatch.lap("kinematics")
        self.reach.set_target(mink.SE3.from_rotation_and_translation(self.rotation, target))
        self.configuration.check_limits(safety_break=False)
        program = mink.build_ik(self.configuration, **self.arguments)
        stopwatch.lap("assembly")
        velocity = qpsolvers.solve_problem(program, solver=SOLVER).x / KinematicsProblem.PERIOD
        stopwatch.lap("solve")
        self.q = self.configuration.integrate(velocity, KinematicsProblem.PERIOD)
        stopwatch.lap("integration")

    def poses(self) -> Poses:
        self.configuration.update(self.q)
        data = self.configuration.data
        feet = [
            (data.body(foot).xpos.copy(), data.body(foot).xmat.reshape(3, 3).copy()) for foot in KinematicsProblem.FEET
        ]
        return Poses(data.site(KinematicsProblem.HAND).xpos.copy(), feet, data.subtree_com[0].copy())


def _palm_and_speeds(urdf: str) -> tuple[list[float], dict[str, float]]:
    """Return the position of the hand in the frame of the wrist (m), and the speed limits of the joints (rad/s), which
    MuJoCo does not read from a URDF.
    """
    palm: list[float] = []
    speeds: dict[str, float] = {}
    for joint in ElementTree.parse(urdf).getroot().iter("joint"):
        child, origin, limit = (joint.find(tag) for tag in ("child", "origin", "limit"))
        if child is not None and origin is not None and child.get("link") == KinematicsProblem.HAND:
            palm = [float(x) for x in origin.get("xyz", "0 0 0").split()]
        if limit is not None:
            speeds[joint.get("name", "")] = float(limit.get("velocity", "inf"))
    return palm, speeds


if __name__ == "__main__":
    serve(kinematics=Mink)
