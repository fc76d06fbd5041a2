"""Compare whole steps of inverse dynamics from Python, from q and v to torques: Poise, TSID and placo.

All contenders compute torques along the same motion of the same robots (`DynamicsProblem`), in turns. One evaluator
checks their answers, from accelerations and torques alone.

>>> print(table(run()))  # doctest: +SKIP
"""

from __future__ import annotations

import gc
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.peers.dynamics_motion import (
    AnswerEvaluator,
    DynamicsAnswer,
    answer_differences,
    compute_motion,
    levels,
    write_scene,
)
from benchmarks.peers.problems import DynamicsProblem
from benchmarks.peers.processes import DYNAMICS, Peer, Worker, start_peers
from benchmarks.peers.timing import (
    POISE,
    InterleavedRun,
    StepContender,
    finite_or_none,
    part_times,
    run_interleaved,
    time_ratio,
    time_statistics,
    update_worst,
    within_limits,
)
from poise import constraints
from poise.arrays import Array
from poise.control import Command, TorqueController
from poise.hierarchy import Hierarchy, Level
from poise.solvers import Weighted
from poise.state import Contact

#: Contender to which all times are compared.
REFERENCE = "tsid"
#: Largest ratios of median and p99 of Poise to those of the reference, and the goals.
BARS = {"median": 1.2, "p99": 3.0}
GOALS = {"median": 0.7, "p99": 1.5}
#: Steps per round: enough to warm the caches, few enough that all contenders see the same load of the machine.
STEPS = 100
#: Rounds for four passes over the motion.
ROUNDS = 4 * DynamicsProblem.STEPS // STEPS
#: Parts of a step: kinematics and dynamics; rows of tasks and limits; solver; command from the solution.
PARTS = ("pinocchio", "assembly", "solve", "command")
_HEAD = (
    f"  {'':16}{'microseconds':^24}  {'x tsid':^27}  {'quiet':^12}  {'tasks':>7}  {'from poise':^14}\n"
    f"  {'contender':16}{'median':>7}{'p99':>8}{'max':>9}  {'median':>6}{'rounds':>14}{'p99':>7}"
    f"  {'median':>6}{'p99':>6}  {'met to':>7}  {'rad/s2':>7}{'N m':>7}"
)


def run(
    robots: Sequence[str] = DynamicsProblem.ROBOTS,
    rounds: int = ROUNDS,
    cache: Path | None = None,
    progress: Callable[[str], None] = lambda message: None,
) -> dict[str, Any]:
    """Measure Poise (strict and weighted), TSID and placo on each robot.

    Args:
        robots: names of library robots.
        rounds: number of measured rounds, of 100 steps each.
        cache: folder of the environments of the peers.
        progress: called with a one-line message before each stage.

    Returns:
        Plain data: under ``robots`` the result of `measure` for each, and whether all bars are met.
    """
    results = {}
    for name in robots:
        progress(f"inverse dynamics: the motion of {name}")
        evaluator = AnswerEvaluator(compute_motion(name))
        with dynamics_peers(evaluator, cache=cache, progress=progress) as (peers, skipped):
            contenders: list[StepContender] = [
                PoiseDynamics(evaluator),
                PoiseDynamics(evaluator, weighted=True),
                *peers,
            ]
            results[name] = measure(contenders, skipped, rounds, progress)
    return {
        "benchmark": "whole steps of inverse dynamics",
        "robots": results,
        "passed": all(result["passed"] for result in results.values()),
    }


def measure(
    contenders: Sequence[StepContender],
    skipped: Mapping[str, str] | None = None,
    rounds: int = ROUNDS,
    progress: Callable[[str], None] = lambda message: None,
) -> dict[str, Any]:
    """Time all contenders along the same motion.

    Args:
        contenders: contenders to measure; times are compared with ``"tsid"``, answers with ``"poise"``.
        skipped: reason why a contender is missing, by its name; returned together with those that fail meanwhile.
        rounds: number of measured rounds, of 100 steps each.
        progress: called with a one-line message before each stage.

    Returns:
        Per contender: version; times (µs; median, p99, max); ratio to TSID, see `time_ratio`; the same for quiet
        passes, that is, the fastest pass of each step; worst errors, and whether they are within the tolerances;
        difference of its answers from those of Poise; its parts (µs and share). Also the bars, and the contenders that
        were skipped.
    """
    run = run_interleaved(contenders, rounds, STEPS, skipped, progress)
    answers = {contender.name: getattr(contender, "answers", {}) for contender in run.present}
    results = {}
    for contender in run.present:
        times, worst = run.times[contender.name], run.worst[contender.name]
        results[contender.name] = {
            "version": contender.version,
            "microseconds": time_statistics(times),
            "ratio": _ratio(run, contender.name, times),
            "quiet_ratio": _ratio(run, contender.name, _fastest_passes(times)),
            "errors": finite_or_none(worst),
            "within_tolerance": within_limits(worst, DynamicsProblem.ALLOWED),
            "difference_to_poise": answer_differences(answers[contender.name], answers.get(POISE, {})),
            "parts": part_times(contender, DynamicsProblem.STEPS),
        }
    bars = _bars(results.get(POISE))
    return {
        "rounds": rounds,
        "steps": STEPS,
        "contenders": results,
        "skipped": run.missing,
        "bars": bars,
        "passed": all(bar["passed"] is True for bar in bars.values()),
    }


def _ratio(run: InterleavedRun, name: str, times: Array) -> dict[str, float] | None:
    reference = run.times.get(REFERENCE)
    if reference is None or name == REFERENCE:
        return None
    return time_ratio(times, reference if times.shape == reference.shape else _fastest_passes(reference))


def _fastest_passes(times: Array) -> Array:
    """Return the fastest time of each step of the motion over all passes, so that the p99 shows slow steps of a
    contender and not interruptions by other processes.

    The times may begin at any step of the periodic motion, because the first round is discarded.
    """
    flat = times.ravel()
    passes = len(flat) // DynamicsProblem.STEPS
    if passes < 2:
        return times
    return np.min(flat[: passes * DynamicsProblem.STEPS].reshape(passes, -1), axis=0).reshape(-1, times.shape[1])


def _bars(poise_result: Mapping[str, Any] | None) -> dict[str, dict[str, Any]]:
    """Return the bars, the measured values, and whether each is met.

    "passed" is None if not measured, and False if the errors of Poise exceed the tolerances. The measured value is the
    larger of the ratio over all steps and the ratio over quiet passes.
    """
    if poise_result is None or poise_result["ratio"] is None:
        return {key: {"bar": bar, "goal": GOALS[key], "measured": None, "passed": None} for key, bar in BARS.items()}
    measured = {key: max(poise_result["ratio"][key], poise_result["quiet_ratio"][key]) for key in BARS}
    valid = poise_result["within_tolerance"]
    return {
        key: {"bar": bar, "goal": GOALS[key], "measured": measured[key], "passed": bool(measured[key] <= bar and valid)}
        for key, bar in BARS.items()
    }


class DynamicsWorker(Worker):
    """A peer of inverse dynamics in a worker process, which runs `workers/serve.py`.

    Attributes:
        answers: evaluated answers so far, by step.
    """

    def __init__(
        self, name: str, command: Sequence[str | Path], evaluator: AnswerEvaluator, timeout: float = 120.0
    ) -> None:
        self.evaluator = evaluator
        self.answers: dict[int, DynamicsAnswer] = {}
        super().__init__(name, command, timeout)

    def run_steps(self, steps: int) -> tuple[list[float], dict[str, float]]:
        """Run the next steps, see `StepContender`; the errors are the largest of the evaluated answers."""
        reply = self.request({"steps": steps})
        worst: dict[str, float] = {}
        for step, (acceleration, torque) in reply["answers"].items():
            answer = self.answers[int(step)] = DynamicsAnswer(np.array(acceleration), np.array(torque))
            update_worst(worst, self.evaluator.errors(int(step), answer))
        return reply["microseconds"], worst


@contextmanager
def dynamics_peers(
    evaluator: AnswerEvaluator,
    peers: Sequence[Peer] = DYNAMICS,
    cache: Path | None = None,
    progress: Callable[[str], None] | None = None,
) -> Iterator[tuple[list[DynamicsWorker], dict[str, str]]]:
    """Start peers for the motion of an evaluator; yield them, and the reasons of missing ones by name.

    Args:
        evaluator: evaluator of their answers.
        peers: peers to start.
        cache: folder of the environments; None: see `benchmarks.peers.processes.cache_folder`.
        progress: called with a one-line message before each stage; None: writes to standard error.

    >>> with dynamics_peers(evaluator) as (contenders, skipped):  # doctest: +SKIP
    ...     result = measure([PoiseDynamics(evaluator), *contenders], skipped)
    """
    with tempfile.TemporaryDirectory(prefix="poise-peers-") as folder:
        scene = write_scene(evaluator.motion, Path(folder))

        def launch(peer: Peer, python: Path) -> DynamicsWorker:
            return DynamicsWorker(peer.name, [python, peer.script, "dynamics", scene], evaluator)

        with start_peers(peers, launch, cache, progress) as (workers, skipped):
            yield workers, skipped


class PoiseDynamics:
    """Whole steps of `TorqueController`, called as in a user's program.

    Strict: physics and joint ranges are constraints; contact, balance, hand, torso and posture are one level each.
    Weighted: contacts are constraints too, and all tasks are in one weighted sum, as in the peers.

    Args:
        evaluator: evaluator of its answers, with the motion.
        weighted: use one weighted sum instead of strict levels.
    """

    version = metadata.version(POISE)

    def __init__(self, evaluator: AnswerEvaluator, weighted: bool = False) -> None:
        self.name = f"{POISE}, weighted" if weighted else POISE
        self.evaluator, self.motion = evaluator, evaluator.motion
        self.answers: dict[int, DynamicsAnswer] = {}
        self.step = 0
        solver = Weighted([DynamicsProblem.WEIGHTS[level] for level in DynamicsProblem.WEIGHTS]) if weighted else None
        self.controller = TorqueController(self._hierarchy(weighted), solver, DynamicsProblem.PERIOD, ramp=0.0)

    def _hierarchy(self, weighted: bool) -> Hierarchy:
        motion, robot = self.motion, self.motion.robot
        feet = [Contact(foot, friction=DynamicsProblem.FRICTION) for foot in robot.feet]
        contact = Level("contact", [constraints.RigidContact(foot, at=motion.start) for foot in feet])
        always: list[Any] = [constraints.JointRange(robot)]
        all_levels = levels(motion.start, motion.sway, motion.reach, contact)
        return Hierarchy([*always, *contact.tasks], all_levels[1:]) if weighted else Hierarchy(always, all_levels)

    def run_steps(self, steps: int) -> tuple[list[float], dict[str, float]]:
        """Run the next steps; return the time of each (µs), and the largest errors of the evaluated ones."""
        controller, states, sway, reach = self.controller, self.motion.states, self.motion.sway, self.motion.reach
        elapsed: list[float] = []
        evaluated_commands: dict[int, Command] = {}
        gc.collect()
        gc.disable()
        try:
            for _ in range(steps):
                step = self.step
                begin = time.perf_counter_ns()
                sway.step = reach.step = step
                command = controller.step(states[step])
                elapsed.append((time.perf_counter_ns() - begin) / 1e3)
                if DynamicsProblem.is_evaluated(step):
                    evaluated_commands[step] = command
                self.step = (step + 1) % DynamicsProblem.STEPS
        finally:
            gc.enable()
        worst: dict[str, float] = {}
        for step, command in evaluated_commands.items():
            assert command.acceleration is not None
            assert command.torque is not None
            answer = self.answers[step] = DynamicsAnswer(command.acceleration, command.torque)
            update_worst(worst, self.evaluator.errors(step, answer))
        return elapsed, worst

    def parts(self, steps: int) -> dict[str, list[float]]:
        """Return the times of the parts of the next steps (µs), measured by wrapping the calls of the controller."""
        controller = self.controller
        snapshot, assembly = controller._snapshot, controller._assembly
        clock = PartClock()
        wrapped: list[tuple[Any, str, str]] = [
            (snapshot, "at", "pinocchio"),
            (snapshot, "compute", "pinocchio"),
            (assembly, "write", "assembly"),
            (assembly.stack, "program", "assembly"),
            (controller, "_solve", "solve"),
        ]
        times: dict[str, list[float]] = {part: [] for part in PARTS}
        before = [owner.__dict__.get(name) for owner, name, _ in wrapped]
        for owner, name, part in wrapped:
            setattr(owner, name, clock.wrap(getattr(owner, name), part))
        gc.collect()
        gc.disable()
        try:
            for _ in range(steps):
                self.motion.sway.step = self.motion.reach.step = self.step
                clock.start("command")
                controller.step(self.motion.states[self.step])
                for part, nanoseconds in clock.stop().items():
                    times[part].append(nanoseconds / 1e3)
                self.step = (self.step + 1) % DynamicsProblem.STEPS
        finally:
            gc.enable()
            for (owner, name, _), own in zip(wrapped, before, strict=True):
                delattr(owner, name) if own is None else setattr(owner, name, own)
        return times


class PartClock:
    """Clock of nested calls (ns): time is added to the part of the innermost call."""

    def __init__(self) -> None:
        self._nanoseconds = dict.fromkeys(PARTS, 0)
        self._part, self._since = PARTS[0], 0

    def start(self, part: str) -> None:
        self._nanoseconds = dict.fromkeys(PARTS, 0)
        self._part, self._since = part, time.perf_counter_ns()

    def stop(self) -> dict[str, int]:
        self._switch(self._part)
        return self._nanoseconds

    def wrap(self, call: Callable[..., Any], part: str) -> Callable[..., Any]:
        """Return a function that calls `call` and adds its time to a part."""

        def timed(*arguments: Any) -> Any:
            outer = self._switch(part)
            try:
                return call(*arguments)
            finally:
                self._switch(outer)

        return timed

    def _switch(self, part: str) -> str:
        now, outer = time.perf_counter_ns(), self._part
        self._nanoseconds[outer] += now - self._since
        self._part, self._since = part, now
        return outer


def table(result: Mapping[str, Any]) -> str:
    """Return a text table, one block per robot: contenders, parts of their steps, bars, and skipped contenders.

    "x tsid" is the ratio of the time of a whole step to that of TSID; "rounds" the 10th to the 90th percentile of that
    ratio over the rounds; "quiet" the ratio over the fastest pass of each step. "Tasks met to" is the largest
    acceleration error of balance, hand and torso; "from poise" the root mean square difference from the strict answer.
    """
    return "\n\n".join(_robot_table(name, robot) for name, robot in result["robots"].items())


def _robot_table(name: str, robot: Mapping[str, Any]) -> str:
    contenders = robot["contenders"]
    lines = [f"whole steps of inverse dynamics on {name}: {robot['rounds']} rounds of {robot['steps']} steps", _HEAD]
    lines += [_contender_line(each, entry) for each, entry in contenders.items()]
    lines += _part_lines(contenders)
    lines += [f"  {each} is {entry['version']}" for each, entry in contenders.items()]
    lines += [
        f"  {each} does NOT meet the tolerances: {_reason(entry)}"
        for each, entry in _contenders_beyond_tolerance(contenders)
    ]
    lines += [f"  skipped: {each} ({why})" for each, why in robot["skipped"].items()]
    lines += [f"  bar: strict {key} {_bar(bar)}" for key, bar in robot["bars"].items()]
    lines.append("  all bars are met" if robot["passed"] else "  not all bars are met")
    return "\n".join(lines)


def _contender_line(name: str, entry: Mapping[str, Any]) -> str:
    times = entry["microseconds"]
    numbers = f"{times['median']:7.1f}{times['p99']:8.1f}{times['max']:9.1f}"
    ratio, quiet = entry["ratio"], entry["quiet_ratio"]
    if ratio is None:
        ratios = f"{'-':>6}{'-':>14}{'-':>7}  {'-':>6}{'-':>6}"
    else:
        spread = f"{ratio['low']:.2f}..{ratio['high']:.2f}"
        ratios = f"{ratio['median']:6.2f}{spread:>14}{ratio['p99']:7.2f}  {quiet['median']:6.2f}{quiet['p99']:6.2f}"
    missed = [entry["errors"].get(task) for task in ("balance", "hand", "torso")]
    met = "-" if None in missed else f"{max(missed):.1g}"
    difference = entry["difference_to_poise"]
    difference_text = (
        f"{'-':>7}{'-':>7}" if difference is None else f"{difference['acceleration']:7.2g}{difference['torque']:7.2g}"
    )
    return f"  {name:16}{numbers}  {ratios}  {met:>7}  {difference_text}"


def _part_lines(contenders: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Return one line per contender with the time (µs) and share of each part of a step."""
    lines = []
    for name, entry in contenders.items():
        texts = [f"{part} {value['microseconds']:.1f} ({value['share']:.0%})" for part, value in entry["parts"].items()]
        if texts:
            lines.append(f"  {name}: {', '.join(texts)}")
    return lines


def _contenders_beyond_tolerance(contenders: Mapping[str, Mapping[str, Any]]) -> list[tuple[str, Mapping[str, Any]]]:
    return [(name, entry) for name, entry in contenders.items() if not entry["within_tolerance"]]


def _reason(entry: Mapping[str, Any]) -> str:
    return ", ".join(f"{key} {'not finite' if v is None else format(v, '.1e')}" for key, v in entry["errors"].items())


def _bar(bar: Mapping[str, Any]) -> str:
    if bar["passed"] is None:
        return f"at most {bar['bar']:g} times tsid (goal {bar['goal']:g}): not measured"
    reached = ", goal too" if bar["passed"] and bar["measured"] <= bar["goal"] else ""
    met = f"met{reached}" if bar["passed"] else "NOT met"
    return f"at most {bar['bar']:g} times tsid (goal {bar['goal']:g}): {bar['measured']:.2f}, {met}"
