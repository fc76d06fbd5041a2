"""pink on the problem of `benchmarks/position.py`; runs in the environment of pink, without Poise.

    python pink_position_worker.py PROBLEM.json "three tasks, no limits"

Messages are lines of JSON: first the version of pink, then one answer per request. A request {"targets": [...]} has the
target of the center of mass after each step, relative to the left foot (m); the answer has the times of the steps (µs)
and the last configuration. The process ends when its standard input ends.
"""

from __future__ import annotations

import json
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pink  # type: ignore
import pinocchio  # type: ignore
from pink.tasks import ComTask, FrameTask, PostureTask, RelativeFrameTask  # type: ignore
from serve import answer_channel, time_steps  # type: ignore

#: The fastest of the solvers that pink's documentation names.
SOLVER = "daqp"
#: Cost of an error of one unit (m, rad), as in `KinematicsProblem`; the weight of a squared error is its square.
FEET, CENTER, POSTURE = 100.0, 10.0, 0.01


class Pink:
    def __init__(self, problem: dict[str, Any], variant: str) -> None:
        model = pinocchio.buildModelFromUrdf(problem["urdf"], pinocchio.JointModelFreeFlyer())
        if "no limits" in variant:  # pink rejects a configuration outside the joint ranges of its model in any case
            model.lowerPositionLimit[7:], model.upperPositionLimit[7:] = -np.inf, np.inf
        self.period: float = problem["period"]
        self.q, middle = pinocchio.neutral(model), pinocchio.neutral(model)
        self.q[:7] = middle[:7] = problem["base"]
        for name, joint in list(zip(model.names, model.joints, strict=True))[2:]:  # after universe and base
            self.q[joint.idx_q], middle[joint.idx_q] = problem["start"][name], problem["middle"][name]
        self.configuration = pink.Configuration(model, model.createData(), self.q, copy_data=False)
        left, right = problem["feet"]
        relative = RelativeFrameTask(right, left, position_cost=FEET, orientation_cost=FEET)
        hold = FrameTask(left, position_cost=FEET, orientation_cost=FEET)
        self.center = ComTask(CENTER)
        # Gain of 1e-3 per step, as slow as the posture task of Poise; with the default gain of 1 pink would converge in
        # the first step.
        posture = PostureTask(POSTURE, gain=self.period)
        for task in (relative, hold, self.center):
            task.set_target_from_configuration(self.configuration)
        posture.set_target(middle)
        self.left = self.configuration.get_transform_frame_to_world(left).copy()
        self.arguments = {
            "tasks": [relative, self.center, posture] + ([] if "three tasks" in variant else [hold]),
            "limits": [] if "no limits" in variant else None,  # None: the ranges and speeds of the model
            "dt": self.period,
            "solver": SOLVER,
        }

    def step(self, target: Any) -> None:
        self.configuration.update(self.q)
        self.center.set_target(target)
        velocity = pink.solve_ik(self.configuration, **self.arguments)
        self.q = self.configuration.integrate(velocity, self.period)


def main() -> None:
    send = answer_channel()
    peer = Pink(json.loads(Path(sys.argv[1]).read_text()), sys.argv[2])
    versions = f"{version('pin-pink')}, {SOLVER} {version(SOLVER)}, pinocchio {version('pin')}"
    send({"version": versions, "start": {}})
    for line in sys.stdin:
        targets = [peer.left.act(np.array(target)) for target in json.loads(line)["targets"]]
        microseconds, _ = time_steps(peer.step, targets)
        send({"microseconds": microseconds, "q": peer.q.tolist()})


if __name__ == "__main__":
    main()
