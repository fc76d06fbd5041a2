"""Poise on the problem that the peers solve, with strict priorities."""

from __future__ import annotations

import gc
import tempfile
import time
from importlib import metadata
from pathlib import Path

import numpy as np
import pinocchio

from poise import constraints, tasks
from poise.bench.peers import problem
from poise.bench.peers.contender import OURS
from poise.bench.peers.robot import bare_urdf, original
from poise.control import KinematicController
from poise.hierarchy import Hierarchy, Level
from poise.plants import IdealPlant
from poise.robots import State, load_robot
from poise.state import Snapshot


class Ours:
    """Whole steps of `KinematicController` and `IdealPlant`, as a user writes them.

    Levels: feet, centre of mass, hand, posture, under ranges and speeds of the joints. The peers put all but the limits
    into one weighted sum; here each level keeps the freedom of those below, exactly.
    """

    name, version = OURS, metadata.version(OURS)

    #: Gain of the hand in 1/s: it lags by its speed over this, 2 mm here.
    RATE = 100.0

    def __init__(self, speed: float | None = None) -> None:
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / problem.URDF
            file.write_text(bare_urdf(original(), speed=speed))
            self.robot = load_robot(str(file))
        q = np.array(pinocchio.neutral(self.robot.model))
        q[:3] = problem.BASE_POSITION
        for joint in self.robot.joints:
            q[joint.q] = problem.start_angle(joint.name)
        self.start = State(self.robot, q)
        self.hand = self.robot.frame(problem.HAND)
        self.feet = [self.robot.frame(name) for name in problem.FEET]
        self.origin = self.start.pose(self.hand).translation
        self.target = tasks.Live(self.origin)
        self.controller = KinematicController(self._hierarchy(), period=problem.PERIOD)
        self.plant = IdealPlant(self.start)
        self.step = 0

    def _hierarchy(self) -> Hierarchy:
        hand = tasks.Position(self.hand, self.target, reference=tasks.Decay(self.RATE))
        return Hierarchy(
            always=[constraints.JointRange(self.robot), constraints.JointSpeed(self.robot)],
            levels=[
                Level("feet", [tasks.HoldPose(foot, at=self.start) for foot in self.feet]),
                Level("balance", [tasks.CenterOfMass(self.start.center_of_mass[:2], axes="xy")]),
                Level("hand", [hand]),
                Level("posture", [tasks.Posture(self.start)]),
            ],
        )

    def go(self, steps: int) -> tuple[list[float], dict[str, float]]:
        """The next steps: microseconds of each, and the errors after the last."""
        controller, plant, target = self.controller, self.plant, self.target
        origin, spent = self.origin, []
        gc.disable()
        try:
            for _ in range(steps):
                self.step += 1
                begin = time.perf_counter_ns()
                target.move(origin + problem.offset(self.step))
                plant.apply(controller.step(plant.state()))
                plant.advance()
                spent.append((time.perf_counter_ns() - begin) / 1e3)
        finally:
            gc.enable()
        return spent, self._errors()

    def parts(self, steps: int) -> dict[str, list[float]]:
        """Where the time of the next steps goes: the parts of a step, done once more for the same state."""
        found: dict[str, list[float]] = {"pinocchio": [], "assembly": [], "solve": [], "integration": []}
        controller, plant = self.controller, self.plant
        for _ in range(steps):
            self.step += 1
            self.target.move(self.origin + problem.offset(self.step))
            state = plant.state()
            command = controller.step(state)
            snapshot, assembly = controller._snapshot, controller._assembly
            stamps = [time.perf_counter_ns()]
            snapshot.at(state)
            snapshot.fill(assembly.needs)
            stamps.append(time.perf_counter_ns())
            assembly.write()
            program = assembly.stack.program()
            stamps.append(time.perf_counter_ns())
            controller.solver.solve(program)  # type: ignore[attr-defined]
            stamps.append(time.perf_counter_ns())
            plant.apply(command)
            plant.advance()
            stamps.append(time.perf_counter_ns())
            for name, a, b in zip(found, stamps, stamps[1:], strict=False):
                found[name].append((b - a) / 1e3)
        return found

    def _errors(self) -> dict[str, float]:
        state = self.plant.state()
        snapshot = Snapshot(self.robot).at(state)
        wanted = self.origin + problem.offset(self.step)
        feet = [(state.pose(foot), self.start.pose(foot)) for foot in self.feet]
        return {
            "hand": float(np.linalg.norm(state.pose(self.hand).translation - wanted)),
            "feet": max(float(np.linalg.norm(now.translation - then.translation)) for now, then in feet),
            "feet_rotation": max(
                float(np.linalg.norm(pinocchio.log3(now.rotation @ then.rotation.T))) for now, then in feet
            ),
            "center_of_mass": float(np.linalg.norm((snapshot.center_of_mass - self.start.center_of_mass)[:2])),
        }
