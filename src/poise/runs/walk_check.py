"""Check of a walk by a short simulation: the behavior and controller of the walk in MuJoCo, with longer periods.

The pendulum of `poise.plans.feasibility` answers first, within milliseconds; it knows neither torques nor the chest,
turning or stairs. `check_walk` simulates the robot instead, in about a second of processor time, and stores its
answers. `repair_walk` finds the nearest walk that passes. `WalkChecker` does either in a worker process, for
applications that must not wait.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import pickle
import subprocess
import sys
import threading
import time
from collections import OrderedDict, deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, replace
from typing import Any, Generic, TypeVar

import numpy as np

from poise.cache import load_arrays, save_arrays
from poise.control import TorqueController
from poise.errors import PoiseError, UsageError
from poise.files import installed_version
from poise.plans import BodyDimensions, FeasibilityCheck, StyleRepair, gait_of_style, repair_style
from poise.plans import check_walk as check_pendulum
from poise.plants import STAIRS_DISTANCE, Stairs, steps
from poise.robots import Robot, State, library_names
from poise.runs.execution import collector_paused
from poise.runs.walk_motion import Walk
from poise.solvers import Lexicographic, Weighted

#: Number of control periods per step, and shortest and longest control period (s). With longer periods more steps could
#: be simulated, but the check is too pessimistic: with 0.01 s, G1 falls at 0.7 m/s, a speed at which it walks. Slow
#: steps tolerate longer periods.
PERIODS_PER_STEP, PERIODS = 150, (0.002, 0.008)
#: Largest number of periods: nine steps, about a second of processor time on an idle core. The limit is a count rather
#: than a time, so that a slow or busy machine gives, and stores, the same answer as a fast one.
LARGEST_COUNT = 1350
#: Largest error of the divergent component of motion (DCM) over the last steps, in leg lengths: most walks with a
#: larger one fall later. Fitted to the even-numbered draws of `benchmarks/feasibility.py`, with one error in 66.
LARGEST_ERROR = 0.08
#: Number of last steps at which the error counts, one of each foot. An earlier error, as after a push, was corrected.
JUDGED_STEPS = 2
#: Margin that a repaired walk keeps to `LARGEST_ERROR`, in leg lengths.
REPAIR_MARGIN = 0.04
#: Standing time before the first step, and time after the last one (s): shorter than in a run.
STANDING_TIME, END_TIME = 0.1, 0.6
#: Version of the check: stored answers of other versions are not used.
VERSION = 3
#: Number of answers in memory.
CACHE_SIZE = 256
#: Niceness of the worker process, 0 to 19: the simulation that a user watches has priority.
NICENESS = 10

_answers: OrderedDict[str, FeasibilityCheck] = OrderedDict()


def check_walk(motion: Walk, robot: Robot | None = None) -> FeasibilityCheck:
    """Simulate a walk with a coarse time step and return whether it succeeds.

    Style, speed, settings, terrain and disturbances of the motion are part of the question. Answers are stored in
    memory and, for robots of the library, on disk.

    Args:
        motion: walk by torque control.
        robot: its robot, if it is loaded already.
    """
    if motion.zmp_regulated:
        raise UsageError("a walk on position servos cannot be checked by simulation; give --mode torque")
    key = _question(motion)
    answer = _answers.get(key)
    if answer is None:
        answer = _stored_answer(motion, key) or simulate_walk(motion, robot or motion.load())
        if answer.simulated:
            _store_answer(motion, key, answer)
    return answer


def first_check(motion: Walk, robot: Robot | None = None) -> FeasibilityCheck:
    """Return the stored answer of `check_walk`, or else that of the pendulum, which takes milliseconds."""
    key = _question(motion)
    answer = _answers.get(key) or _stored_answer(motion, key)
    if answer is not None:
        return answer
    walk = motion.behavior(loaded := robot or motion.load(), loaded.stance("standing"))
    return check_pendulum(walk.style, walk.body, walk.settings.com_reference, walk.speed)


def repair_walk(motion: Walk, robot: Robot | None = None) -> StyleRepair:
    """Return the nearest style and speed with which `check_walk` succeeds, see `poise.plans.repair_style`.

    It takes several simulations: do not call it in a control loop.
    """
    loaded = robot or motion.load()
    walk = motion.behavior(loaded, loaded.stance("standing"))

    def check(style: Any, speed: Any) -> FeasibilityCheck:
        changes = {name: value for name, value in motion.settings.items() if not name.startswith("style.")}
        answer = check_walk(replace(motion, style=style, speed=speed, settings=changes), loaded)
        if (style, speed) == (walk.style, walk.speed):
            return answer
        return replace(answer, margin=answer.margin - REPAIR_MARGIN * walk.body.leg_length)

    return repair_style(walk.style, walk.body, walk.settings.com_reference, walk.speed, check)


# -- Simulation ------------------------------------------------------------------------------------------------------


def simulate_walk(motion: Walk, robot: Robot) -> FeasibilityCheck:
    """Simulate a walk, for at most `LARGEST_COUNT` periods, and judge it."""
    motion = replace(motion, settings={"standing_time": STANDING_TIME, **motion.settings})
    plant = motion.world.plant(_start_state(motion, robot), seed=motion.seed)
    walk = motion.behavior(robot, plant.state())
    # No time budget: the check of a walk must not depend on the machine.
    solver = Weighted(walk.weights) if motion.solver == "weighted" else Lexicographic()
    period = check_period(walk.footstep_plan.gait.timing.step)
    controller = TorqueController(walk, solver, period=period, delay=motion.world.assumed_delay_seconds)
    longest = min(LARGEST_COUNT * period, motion.seconds or math.inf)
    errors: list[tuple[int, float]] = []  # number of the step, and error of the DCM
    stopped, now = math.inf, 0.0
    with collector_paused():
        for step in steps(controller, plant, longest):
            now, phase = step.state.time, walk.phase()
            if plant.fallen:
                cause = plant.fall.partition(": ")[2] or plant.fall
                reason = f"falls after {phase.steps} steps, in {now:.1f} s: {cause}"
                return FeasibilityCheck(-LARGEST_ERROR * walk.body.leg_length, now, reason, True)
            if phase.kind not in ("standing", "starting") or phase.steps > 0:
                errors.append((phase.steps, abs(walk.dcm_error)))
            if phase.kind == "standing" and phase.steps >= walk.steps:
                stopped = min(stopped, now)
            if now > stopped + END_TIME:
                break
    if not errors:  # the motion ends before its first step
        return check_pendulum(walk.style, walk.body, walk.settings.com_reference, walk.speed)
    largest = max(error for number, error in errors if number > errors[-1][0] - JUDGED_STEPS)
    margin = LARGEST_ERROR * walk.body.leg_length - largest
    step_count, distance = walk.phase().steps, f"{1e3 * largest:.0f} mm"
    if margin < 0.0:
        reason = f"about to fall after {step_count} steps, in {now:.1f} s: the DCM is {distance} from its plan"
    else:
        reason = f"walks: {step_count} simulated steps in {now:.1f} s, the DCM within {distance} of its plan"
    return FeasibilityCheck(margin, now, reason, True)


def _start_state(motion: Walk, robot: Robot) -> State:
    """Return the standing robot, on stairs two steps before the first one: only about nine steps are simulated."""
    start = robot.stance("standing")
    if not isinstance(motion.world.ground, Stairs):
        return start
    step_geometry = gait_of_style(motion.resolved_style(), BodyDimensions.of(start), motion.speed).step_geometry
    sole = robot.feet[0].sole
    room = STAIRS_DISTANCE - 0.5 * (sole.x_max - sole.x_min) - 2.0 * max(step_geometry.forward, 0.0)
    q = start.q.copy()
    q[0] += max(room, 0.0)
    return start.replace(q=q)


def check_period(step_seconds: float) -> float:
    """Return the period of the controller for steps of a duration, in whole milliseconds (s)."""
    shortest, longest = PERIODS
    return min(max(round(1e3 * step_seconds / PERIODS_PER_STEP) * 1e-3, shortest), longest)


# -- Stored answers --------------------------------------------------------------------------------------------------


def _question(motion: Walk) -> str:
    """Return a key for all that the answer depends on."""
    style = {name: value for name, value in asdict(motion.resolved_style()).items() if name != "name"}
    settings = {name: value for name, value in motion.settings.items() if not name.startswith("style.")}
    facts = {
        "robot": motion.robot,
        "style": style,
        "speed": motion.speed,
        "steps": min(motion.steps, 1e6),
        "seconds": motion.seconds,
        "solver": motion.solver,
        "settings": settings,
        "world": asdict(motion.world),
        "seed": motion.seed,
        "version": [installed_version(), VERSION],
    }
    text = json.dumps(facts, sort_keys=True, default=str)
    return f"walk_check_{hashlib.sha256(text.encode()).hexdigest()[:24]}"


def _stored_answer(motion: Walk, key: str) -> FeasibilityCheck | None:
    arrays = load_arrays(key) if motion.robot in library_names() else None
    with suppress(KeyError, ValueError, TypeError):
        if arrays is not None:
            margin, seconds = (float(value) for value in arrays["figures"])
            return FeasibilityCheck(margin, seconds, str(arrays["reason"]), True)
    return None


def _store_answer(motion: Walk, key: str, answer: FeasibilityCheck) -> None:
    if key not in _answers and motion.robot in library_names():
        save_arrays(key, {"figures": np.array([answer.margin, answer.seconds]), "reason": np.array(answer.reason)})
    _answers[key] = answer
    _answers.move_to_end(key)
    while len(_answers) > CACHE_SIZE:
        _answers.popitem(last=False)


# -- Worker process --------------------------------------------------------------------------------------------------


Answer = TypeVar("Answer")

#: A worker process that ends is replaced by another one at the next request, at most this number of times within this
#: time (s).
MAX_WORKER_STARTS, START_WINDOW = 3, 30.0


class WalkChecker(Generic[Answer]):
    """Applies a function to walks in a worker process, one at a time; a new request replaces one that still waits.

    The process starts with the first request, and stops with `close` or with the program that started it. If it ends by
    itself, a request without an answer is forgotten: the next request, of the same walk or another one, starts another
    process, unless `MAX_WORKER_STARTS` were started within `START_WINDOW`.

    Args:
        function: function of this module, `check_walk` or `repair_walk`.

    >>> checker = WalkChecker(check_walk)
    >>> checker.request(runs.Walk(robot="g1", style="proud"))
    >>> checker.answer()  # None while the simulation runs
    """

    def __init__(self, function: Callable[[Walk], Answer]) -> None:
        self._function = function
        self._process: subprocess.Popen[bytes] | None = None
        self._changed = threading.Condition()
        self._waiting: Walk | None = None
        self._requested: Walk | None = None
        self._answer: Answer | None = None
        self._start_times: deque[float] = deque(maxlen=MAX_WORKER_STARTS)
        self._closed = False

    def request(self, motion: Walk) -> bool:
        """Ask for the answer for a walk and return at once; the same walk is not asked for twice in a row.

        Returns:
            Whether an answer can be expected: False after `close`, or if the worker process keeps ending.
        """
        with self._changed:
            if self._closed:
                return False
            if self._process is not None and self._process.poll() is not None:
                self._forget_worker()
            if motion == self._requested:
                return True
            if self._process is None and not self._start():
                return False
            self._requested = self._waiting = motion
            self._answer = None
            self._changed.notify_all()
            return True

    def answer(self, timeout: float = 0.0) -> Answer | None:
        """Return the answer to the last request.

        Returns:
            None if it is not known within `timeout` seconds, or if the worker process has ended.
        """
        with self._changed:
            self._changed.wait_for(lambda: self._answer is not None or self._requested is None, timeout)
            return self._answer

    def close(self) -> None:
        """Stop the worker process."""
        with self._changed:
            self._closed = True
            if self._answer is None:
                self._requested = None
            self._changed.notify_all()
            process = self._process
        if process is not None:
            process.kill()
            process.wait()

    def _start(self) -> bool:
        """Start a worker process, unless too many have ended; return whether there is one."""
        now = time.monotonic()
        if len(self._start_times) == MAX_WORKER_STARTS and now - self._start_times[0] < START_WINDOW:
            return False
        self._start_times.append(now)
        # Not -m: functions and walks would then belong to the module __main__.
        command = [sys.executable, "-c", "from poise.runs.walk_check import main; main()"]
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self._process = process
        threading.Thread(target=self._exchange, args=(process,), daemon=True, name="walk check").start()
        return True

    def _exchange(self, process: subprocess.Popen[bytes]) -> None:
        """Send requests to a worker and receive its answers until one of the two ends."""
        try:
            with suppress(OSError, EOFError, ValueError, pickle.UnpicklingError):
                self._exchange_until_end(process)
        finally:
            with self._changed:
                if self._is_current(process):
                    self._forget_worker()
            process.kill()
            process.wait()

    def _is_current(self, process: subprocess.Popen[bytes]) -> bool:
        return self._process is process and not self._closed

    def _forget_worker(self) -> None:
        """Forget a worker that has ended, and its request if that has no answer."""
        self._process = None
        if self._answer is None:
            self._requested = self._waiting = None
        self._changed.notify_all()

    def _exchange_until_end(self, process: subprocess.Popen[bytes]) -> None:
        to_worker, from_worker = process.stdin, process.stdout
        assert to_worker is not None
        assert from_worker is not None
        with to_worker, from_worker:
            while True:
                with self._changed:
                    self._changed.wait_for(lambda: self._waiting is not None or not self._is_current(process))
                    if not self._is_current(process):
                        return
                    motion, self._waiting = self._waiting, None
                pickle.dump((self._function, motion), to_worker)
                to_worker.flush()
                answer = pickle.load(from_worker)
                with self._changed:
                    if motion is self._requested:
                        self._answer = answer
                        self._changed.notify_all()


def main() -> None:
    """Answer the requests of a `WalkChecker` until standard input closes: the worker does not outlive its program.

    Requests are pickled pairs (function, walk) on standard input, answers are pickled on standard output.
    """
    with suppress(OSError, AttributeError):
        os.nice(NICENESS)
    requests, answers = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what libraries print must not mix with the answers
    with suppress(EOFError, KeyboardInterrupt, BrokenPipeError):
        while True:
            function, motion = pickle.load(requests)
            try:
                answer = function(motion)
            except PoiseError as error:
                answer = FeasibilityCheck(-1.0, 0.0, str(error), True)
                if function is not check_walk:
                    answer = StyleRepair(motion.resolved_style(), motion.speed, answer, ())
            pickle.dump(answer, answers)
            answers.flush()
