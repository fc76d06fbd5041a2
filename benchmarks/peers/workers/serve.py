"""Shared code of the workers of all peers: problems, clock, and messages to and from the benchmark.

A worker is started in the environment of its peer, without Poise, as one of ::

    python NAME_worker.py kinematics ROBOT.urdf soft|hard      feet as a heavy cost or as equality constraints
    python NAME_worker.py dynamics SCENE.json

Messages are lines of JSON. The first has ``{"version", "start"}``. Then every request has one answer::

    {"steps": N}   time the next N steps           kinematics: {"microseconds": [...], "errors": {...}}
                                                   dynamics:   {"microseconds": [...], "answers": {"12": [a, torque]}}
    {"parts": N}   time the parts of N steps       {"parts": {"kinematics": [...], ...}}

Answers of dynamics are accelerations (base as in v, then joints) and joint torques, at the evaluated steps. A
worker ends when its standard input ends.
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


def _load(path: Path) -> ModuleType:
    """Load a module from a file."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


_problems = _load(Path(__file__).parents[1] / "problems.py")
KinematicsProblem: Any = _problems.KinematicsProblem
DynamicsProblem: Any = _problems.DynamicsProblem


class Stopwatch:
    """Clock for the parts of a step; collects the times of each part (µs), by name."""

    def __init__(self) -> None:
        self.parts: dict[str, list[float]] = {}
        self.start()

    def start(self) -> None:
        self._last = perf_counter_ns()

    def lap(self, part: str) -> None:
        now = perf_counter_ns()
        self.parts.setdefault(part, []).append((now - self._last) / 1e3)
        self._last = perf_counter_ns()


class Poses(NamedTuple):
    """Position of the hand, poses (position, rotation matrix) of the feet and center of mass, in the world frame, m."""

    hand: Any
    feet: list[tuple[Any, Any]]
    center_of_mass: Any


class KinematicsPeer(Protocol):
    """A library set up with robot, tasks and limits of the kinematics problem, in the initial configuration.

    Attributes:
        version: version of the library and of the packages that determine its speed.
        mass: mass of the robot, kg, to check with the initial poses that all peers have the same robot.
    """

    version: str
    mass: float

    def step(self, target: Any) -> None:
        """Run one whole step: kinematics at q, target of the hand, tasks and limits, solution, next q."""

    def parts(self, target: Any, stopwatch: Stopwatch) -> None:
        """Run the same step, and call `stopwatch.lap` after each of its parts."""

    def poses(self) -> Poses:
        """Return copies of the poses at the current q."""


class Scene:
    """Content of a scene file, with lists of numbers as arrays; names of frames and joints are texts."""

    def __init__(self, path: str) -> None:
        self._content = json.loads(Path(path).read_text(encoding="utf-8"))

    def __getitem__(self, key: str) -> Any:
        return _arrays(self._content[key])


class DynamicsPeer(Protocol):
    """A library set up with robot, tasks, contacts and limits of the dynamics problem.

    Attributes:
        version: version of the library and of the packages that determine its speed.
        mass: mass of the robot, kg.
    """

    version: str
    mass: float

    def step(self, step: int) -> tuple[Any, Any]:
        """Run one whole step, from q, v and targets of a step of the scene; return acceleration and torque."""

    def parts(self, step: int, stopwatch: Stopwatch) -> None:
        """Run the same step, and call `stopwatch.lap` after each of its parts."""


def serve(
    kinematics: Callable[[str, bool], KinematicsPeer] | None = None,
    dynamics: Callable[[Scene], DynamicsPeer] | None = None,
) -> None:
    """Set up the peer that the command line names, and answer requests until standard input ends.

    Args:
        kinematics: creates the peer from the path of a URDF and whether the feet are hard constraints.
        dynamics: creates the peer from a scene.
    """
    send = answer_channel()
    problem, path, *options = sys.argv[1:]
    if problem == "kinematics" and kinematics is not None:
        _serve_kinematics(kinematics(path, options == ["hard"]), send)
    elif problem == "dynamics" and dynamics is not None:
        _serve_dynamics(dynamics(Scene(path)), send)
    else:
        raise SystemExit(f"this worker does not know the problem '{problem}'")


def gains(task: str) -> tuple[float, float]:
    """Return the gains (kp, kd) of a critically damped task of the dynamics problem, 1/s^2 and 1/s."""
    rate = DynamicsProblem.RATES[task]
    return rate * rate, 2.0 * rate


def errors(now: Poses, start: Poses, target: Any) -> dict[str, float]:
    """Return the errors of the tasks of the kinematics problem, with the keys of its ``ALLOWED``, in m and rad."""
    feet = list(zip(now.feet, start.feet, strict=True))
    return {
        "hand": _distance(now.hand, target),
        "feet": max(_distance(p, reference) for (p, _), (reference, _) in feet),
        "feet_rotation": max(_angle(R, reference) for (_, R), (_, reference) in feet),
        "center_of_mass": _distance(now.center_of_mass[:2], start.center_of_mass[:2]),
    }


def _serve_kinematics(peer: KinematicsPeer, send: Callable[[dict[str, Any]], None]) -> None:
    start = peer.poses()
    robot = {"mass": peer.mass, "hand": start.hand.tolist(), "center_of_mass": start.center_of_mass.tolist()}
    send({"version": peer.version, "start": robot})
    completed = 0
    for line in sys.stdin:
        (request, steps), *_ = json.loads(line).items()
        targets = [start.hand + np.array(KinematicsProblem.offset(completed + step)) for step in range(1, steps + 1)]
        completed += steps
        if request == "steps":
            microseconds, _ = time_steps(peer.step, targets)
            send({"microseconds": microseconds, "errors": errors(peer.poses(), start, targets[-1])})
        else:
            send({"parts": _parts(peer.parts, targets)})


def _serve_dynamics(peer: DynamicsPeer, send: Callable[[dict[str, Any]], None]) -> None:
    send({"version": peer.version, "start": {"mass": peer.mass}})
    completed = 0
    for line in sys.stdin:
        (request, count), *_ = json.loads(line).items()
        steps = [step % DynamicsProblem.STEPS for step in range(completed, completed + count)]
        completed += count
        if request == "steps":
            microseconds, results = time_steps(peer.step, steps, DynamicsProblem.is_evaluated)
            send({"microseconds": microseconds, "answers": results})
        else:
            send({"parts": _parts(peer.parts, steps)})


def time_steps(
    take_step: Callable[[Any], Any], steps: list[Any], is_evaluated: Callable[[Any], bool] = lambda step: False
) -> tuple[list[float], dict[Any, list[Any]]]:
    """Return the time of each step (µs), and the results (lists of arrays) of the evaluated steps, by step."""
    elapsed, results = [], {}
    gc.collect()
    gc.disable()
    for step in steps:
        start = perf_counter_ns()
        result = take_step(step)
        elapsed.append((perf_counter_ns() - start) / 1e3)
        if is_evaluated(step):
            results[step] = [np.asarray(part).tolist() for part in result]
    gc.enable()
    return elapsed, results


def _parts(take_step: Callable[[Any, Stopwatch], None], steps: list[Any]) -> dict[str, list[float]]:
    stopwatch = Stopwatch()
    for step in steps:
        stopwatch.start()
        take_step(step, stopwatch)
    return stopwatch.parts


def answer_channel() -> Callable[[dict[str, Any]], None]:
    """Return a function that writes an answer to standard output; from now on other output goes to standard error."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # output of libraries goes to standard error

    def send(answer: dict[str, Any]) -> None:
        answers.write(json.dumps(answer) + "\n")
        answers.flush()

    return send


def _distance(a: Any, b: Any) -> float:
    return float(np.linalg.norm(a - b))


def _angle(a: Any, b: Any) -> float:
    """Return the angle between two rotation matrices (rad), from norm(a - b) = 2 sqrt(2) sin(angle / 2)."""
    return float(2.0 * np.arcsin(min(1.0, np.linalg.norm(a - b) / np.sqrt(8.0))))


def _arrays(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _arrays(inner) for key, inner in value.items()}
    if isinstance(value, list) and value and isinstance(value[0], dict):
        return [_arrays(inner) for inner in value]
    return np.array(value) if isinstance(value, list) and not isinstance(value[0], str) else value
