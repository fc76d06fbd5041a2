"""Poise on the problem that the peers solve: strict priorities, and the same levels as a weighted sum."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from importlib import metadata
from typing import Any

from poise import constraints
from poise.bench.peers.contender import OURS
from poise.bench.peers.dynamics import problem
from poise.bench.peers.dynamics.judge import Answer, Judge
from poise.bench.peers.dynamics.motion import levels
from poise.bench.peers.turns import worsen
from poise.control import Command, TorqueController
from poise.hierarchy import Hierarchy, Level
from poise.solvers import Weighted
from poise.state import Contact

#: What a step consists of: kinematics and dynamics; rows of tasks and limits; the solver; what is made of its solution.
PARTS = ("pinocchio", "assembly", "solve", "command")


class Ours:
    """Whole steps of `TorqueController`, as a user writes them.

    Strict: physics, ranges of the joints, then contact, balance, hand, torso and posture, each a level of its own.
    Weighted: the same with contacts among what must hold and the tasks in one sum, as the peers have it.

    Args:
        judge: of its answers, with the motion along which it is asked.
        weighted: one weighted sum instead of strict levels.
    """

    version = metadata.version(OURS)

    def __init__(self, judge: Judge, weighted: bool = False) -> None:
        self.name = f"{OURS}, weighted" if weighted else OURS
        self.judge, self.motion = judge, judge.motion
        self.answers: dict[int, Answer] = {}
        self.step = 0
        solver = Weighted([problem.WEIGHTS[level] for level in problem.WEIGHTS]) if weighted else None
        self.controller = TorqueController(self._hierarchy(weighted), solver, problem.PERIOD, ramp=0.0)

    def _hierarchy(self, weighted: bool) -> Hierarchy:
        motion, robot = self.motion, self.motion.robot
        feet = [Contact(foot, friction=problem.FRICTION) for foot in robot.feet]
        contact = Level("contact", [constraints.RigidContact(foot, at=motion.start) for foot in feet])
        always: list[Any] = [constraints.JointRange(robot)]
        below = levels(motion.start, motion.sway, motion.reach, contact)
        return Hierarchy([*always, *contact.tasks], below[1:]) if weighted else Hierarchy(always, below)

    def go(self, steps: int) -> tuple[list[float], dict[str, float]]:
        """The next steps: microseconds of each, and the largest errors of those that are looked at."""
        controller, states, sway, reach = self.controller, self.motion.states, self.motion.sway, self.motion.reach
        spent: list[float] = []
        seen: dict[int, Command] = {}
        gc.collect()
        gc.disable()
        try:
            for _ in range(steps):
                step = self.step
                begin = time.perf_counter_ns()
                sway.step = reach.step = step
                command = controller.step(states[step])
                spent.append((time.perf_counter_ns() - begin) / 1e3)
                if problem.looked_at(step):
                    seen[step] = command
                self.step = (step + 1) % problem.STEPS
        finally:
            gc.enable()
        worst: dict[str, float] = {}
        for step, command in seen.items():
            assert command.acceleration is not None
            assert command.torque is not None
            answer = self.answers[step] = Answer(command.acceleration, command.torque)
            worsen(worst, self.judge.errors(step, answer))
        return spent, worst

    def parts(self, steps: int) -> dict[str, list[float]]:
        """Where the time of the next steps goes, by clocks around the calls of the controller."""
        controller = self.controller
        snapshot, assembly = controller._snapshot, controller._assembly
        clock = PartClock()
        wrapped: list[tuple[Any, str, str]] = [
            (snapshot, "at", "pinocchio"),
            (snapshot, "fill", "pinocchio"),
            (assembly, "write", "assembly"),
            (assembly.stack, "program", "assembly"),
            (controller, "_solve", "solve"),
        ]
        found: dict[str, list[float]] = {part: [] for part in PARTS}
        before = [owner.__dict__.get(name) for owner, name, _ in wrapped]
        for owner, name, part in wrapped:
            setattr(owner, name, clock.around(getattr(owner, name), part))
        gc.collect()
        gc.disable()
        try:
            for _ in range(steps):
                self.motion.sway.step = self.motion.reach.step = self.step
                clock.start("command")
                controller.step(self.motion.states[self.step])
                for part, nanoseconds in clock.stop().items():
                    found[part].append(nanoseconds / 1e3)
                self.step = (self.step + 1) % problem.STEPS
        finally:
            gc.enable()
            for (owner, name, _), own in zip(wrapped, before, strict=True):
                delattr(owner, name) if own is None else setattr(owner, name, own)
        return found


class PartClock:
    """Nanoseconds of nested calls, each counted for the innermost part that it belongs to."""

    def __init__(self) -> None:
        self._spent = dict.fromkeys(PARTS, 0)
        self._part, self._since = PARTS[0], 0

    def start(self, part: str) -> None:
        self._spent = dict.fromkeys(PARTS, 0)
        self._part, self._since = part, time.perf_counter_ns()

    def stop(self) -> dict[str, int]:
        self._turn(self._part)
        return self._spent

    def around(self, call: Callable[..., Any], part: str) -> Callable[..., Any]:
        """The same call, with its time counted for a part."""

        def timed(*arguments: Any) -> Any:
            outer = self._turn(part)
            try:
                return call(*arguments)
            finally:
                self._turn(outer)

        return timed

    def _turn(self, part: str) -> str:
        now, outer = time.perf_counter_ns(), self._part
        self._spent[outer] += now - self._since
        self._part, self._since = part, now
        return outer
