"""What the workers of all peers share: the clock, the errors, and the conversation with Poise.

A worker is started as ``python NAME_worker.py ROBOT.urdf [soft|hard]`` in the environment of its peer, knows nothing of
Poise, and speaks in lines of JSON. It greets with ``{"version", "start"}``. Then every question has one answer:

    {"go": N}      the next N steps on the clock          {"microseconds": [...], "errors": {...}}
    {"parts": N}   the next N steps, taken to pieces      {"parts": {"kinematics": [...], ...}}

It ends when its standard input does.
"""

from __future__ import annotations

import gc
import importlib.util
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from time import perf_counter_ns
from types import ModuleType
from typing import Any, NamedTuple, Protocol

import numpy as np


class Places(NamedTuple):
    """Where the robot is, in the world: position of the hand, poses of the feet, center of mass."""

    hand: Any
    feet: list[tuple[Any, Any]]
    center_of_mass: Any


class Peer(Protocol):
    """A library with the robot, the tasks and the limits of the problem set up, at the start.

    Attributes:
        version: of the library and of what makes its speed.
        mass: of the robot in kg; with the places at the start it shows that all have the same robot.
    """

    version: str
    mass: float

    def step(self, target: Any) -> None:
        """One whole step: kinematics of q, target of the hand, tasks and limits, solution, next q."""

    def parts(self, target: Any, watch: Stopwatch) -> None:
        """The same step, with a lap of the watch after each of its parts."""

    def places(self) -> Places:
        """Copies of the places at the present q."""


class Stopwatch:
    """Microseconds of the parts of a step, by name."""

    def __init__(self) -> None:
        self.parts: dict[str, list[float]] = {}
        self.start()

    def start(self) -> None:
        self._last = perf_counter_ns()

    def lap(self, part: str) -> None:
        now = perf_counter_ns()
        self.parts.setdefault(part, []).append((now - self._last) / 1e3)
        self._last = perf_counter_ns()


def load_problem(path: Path) -> ModuleType:
    """A problem, by its path."""
    spec = importlib.util.spec_from_file_location("problem", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


problem = load_problem(Path(__file__).parents[1] / "problem.py")


def hard_feet() -> bool:
    """Whether the feet are asked for as equality constraints instead of a heavy cost."""
    return sys.argv[2:] == ["hard"]


def errors(now: Places, start: Places, target: Any) -> dict[str, float]:
    """How far the robot is from what its tasks want, with the keys of `problem.ALLOWED`, in m and rad."""
    feet = list(zip(now.feet, start.feet, strict=True))
    return {
        "hand": _distance(now.hand, target),
        "feet": max(_distance(p, held) for (p, _), (held, _) in feet),
        "feet_rotation": max(_angle(R, held) for (_, R), (_, held) in feet),
        "center_of_mass": _distance(now.center_of_mass[:2], start.center_of_mass[:2]),
    }


def serve(make: Callable[[str], Peer]) -> None:
    """Sets the peer up and answers until nobody asks any more."""
    say = answering()
    peer = make(sys.argv[1])
    start = peer.places()
    robot = {"mass": peer.mass, "hand": start.hand.tolist(), "center_of_mass": start.center_of_mass.tolist()}
    say({"version": peer.version, "start": robot})
    done = 0
    for line in sys.stdin:
        (what, steps), *_ = json.loads(line).items()
        targets = [start.hand + np.array(problem.offset(done + step)) for step in range(1, steps + 1)]
        done += steps
        if what == "go":
            microseconds = _timed(peer.step, targets)
            say({"microseconds": microseconds, "errors": errors(peer.places(), start, targets[-1])})
        else:
            watch = Stopwatch()
            for target in targets:
                watch.start()
                peer.parts(target, watch)
            say({"parts": watch.parts})


def answering() -> Callable[[dict[str, Any]], None]:
    """How to answer: on what was standard output, which from now on is the same as standard error."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # whatever libraries print goes there

    def say(answer: dict[str, Any]) -> None:
        answers.write(json.dumps(answer) + "\n")
        answers.flush()

    return say


def _timed(step: Callable[[Any], None], targets: list[Any]) -> list[float]:
    elapsed = []
    gc.collect()
    gc.disable()
    for target in targets:
        start = perf_counter_ns()
        step(target)
        elapsed.append((perf_counter_ns() - start) / 1e3)
    gc.enable()
    return elapsed


def _distance(a: Any, b: Any) -> float:
    return float(np.linalg.norm(a - b))


def _angle(a: Any, b: Any) -> float:
    """Angle between two rotation matrices, from norm(a - b) = 2 sqrt(2) sin(angle / 2)."""
    return float(2.0 * np.arcsin(min(1.0, np.linalg.norm(a - b) / np.sqrt(8.0))))
