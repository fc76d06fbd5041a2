"""What the workers of inverse dynamics share: the scene, the clock, and the conversation with Poise.

A worker is started as ``python NAME_worker.py SCENE.json`` in the environment of its peer, knows nothing of Poise, and
speaks in lines of JSON. It greets with ``{"version", "start"}``. Then every question has one answer:

    {"go": N}      the next N steps on the clock          {"microseconds": [...], "answers": {"12": [a, torque], ...}}
    {"parts": N}   the next N steps, taken to pieces      {"parts": {"kinematics": [...], ...}}

Answers are accelerations (base as in v, then joints) and joint torques, at the steps that `problem.looked_at` names.
"""

from __future__ import annotations

import gc
import json
import sys
from collections.abc import Callable
from pathlib import Path
from time import perf_counter_ns
from typing import Any, Protocol

import numpy as np
from serve import Stopwatch, answering, load_problem  # type: ignore

problem = load_problem(Path(__file__).parents[1] / "dynamics" / "problem.py")


class Peer(Protocol):
    """A library with the robot, the tasks, the contacts and the limits of the problem set up.

    Attributes:
        version: of the library and of what makes its speed.
        mass: of the robot in kg.
    """

    version: str
    mass: float

    def step(self, step: int) -> tuple[Any, Any]:
        """One whole step: from q, v and the targets of a step of the scene to acceleration and torque."""

    def parts(self, step: int, watch: Stopwatch) -> None:
        """The same, with a lap of the watch after each of its parts."""


class Scene:
    """What Poise wrote: every list of numbers as an array, names of frames and joints as they are."""

    def __init__(self, path: str) -> None:
        self._read = json.loads(Path(path).read_text(encoding="utf-8"))

    def __getitem__(self, key: str) -> Any:
        return _arrays(self._read[key])


def gains(task: str) -> tuple[float, float]:
    """(kp, kd) of a task that is critically damped, 1/s^2 and 1/s."""
    rate = problem.RATES[task]
    return rate * rate, 2.0 * rate


def serve(make: Callable[[Scene], Peer]) -> None:
    """Sets the peer up and answers until nobody asks any more."""
    say = answering()
    scene = Scene(sys.argv[1])
    peer = make(scene)
    say({"version": peer.version, "start": {"mass": peer.mass}})
    done = 0
    for line in sys.stdin:
        (what, count), *_ = json.loads(line).items()
        steps = [step % problem.STEPS for step in range(done, done + count)]
        done += count
        if what == "go":
            say(_timed(peer.step, steps))
        else:
            watch = Stopwatch()
            for step in steps:
                watch.start()
                peer.parts(step, watch)
            say({"parts": watch.parts})


def _timed(take: Callable[[int], tuple[Any, Any]], steps: list[int]) -> dict[str, Any]:
    elapsed, answers = [], {}
    gc.collect()
    gc.disable()
    for step in steps:
        start = perf_counter_ns()
        acceleration, torque = take(step)
        elapsed.append((perf_counter_ns() - start) / 1e3)
        if problem.looked_at(step):
            answers[step] = [np.asarray(acceleration).tolist(), np.asarray(torque).tolist()]
    gc.enable()
    return {"microseconds": elapsed, "answers": answers}


def _arrays(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _arrays(inner) for key, inner in value.items()}
    if isinstance(value, list) and value and isinstance(value[0], dict):
        return [_arrays(inner) for inner in value]
    return np.array(value) if isinstance(value, list) and not isinstance(value[0], str) else value
