"""Compare whole steps of inverse kinematics from Python: Poise, pink, mink and placo.

The peers solve the same problem (`KinematicsProblem`) as one weighted quadratic program, each in its own environment.
All take turns in one run.

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
from xml.etree import ElementTree

import numpy as np
import pinocchio

from benchmarks.peers.problems import KinematicsProblem
from benchmarks.peers.processes import HARD_FEET, PEERS, Peer, Worker, start_peers
from benchmarks.peers.timing import (
    POISE,
    StepContender,
    finite_or_none,
    part_times,
    run_interleaved,
    time_ratio,
    time_statistics,
    within_limits,
)
from poise import constraints, tasks
from poise.control import KinematicController
from poise.errors import UsageError
from poise.hierarchy import Hierarchy, Level
from poise.plants import IdealPlant
from poise.robots import State, load_robot
from poise.state import Snapshot

#: Elements of a URDF that describe shapes and drives.
_APPEARANCE = {"visual", "collision", "material", "transmission", "gazebo", "mujoco"}
#: Smallest ratio of the median step time of each peer to that of Poise.
BARS = {"pink": 4.0, "mink": 3.0, "placo": 1.0}
_HEAD = (
    f"  {'':18}{'microseconds':^27}  {'x poise':^31}  {'worst error':>22}\n"
    f"  {'contender':18}{'median':>9}{'p99':>9}{'max':>9}  {'median':>8}{'rounds':>14}{'p99':>9}  "
    f"{'hand mm':>11}{'feet mm':>11}"
)
#: Steps of each contender in a round, and number of measured rounds.
STEPS, ROUNDS = 100, 30


def run(rounds: int = ROUNDS, progress: Callable[[str], None] = lambda message: None) -> dict[str, Any]:
    """Measure Poise and the peers in turns, with feet as weighted and as hard tasks; return the result of `measure`."""
    with kinematics_peers([*PEERS, *HARD_FEET], progress=progress) as (contenders, skipped):
        return measure([PoiseKinematics(), *contenders], rounds, skipped=skipped, progress=progress)


def measure(
    contenders: Sequence[StepContender],
    rounds: int = ROUNDS,
    steps: int = STEPS,
    skipped: Mapping[str, str] | None = None,
    progress: Callable[[str], None] = lambda message: None,
) -> dict[str, Any]:
    """Time all contenders along the same trajectory.

    All take turns, see `run_interleaved`. Afterwards contenders that are a `PartTimedContender` measure their
    parts, over as many steps as one round.

    Args:
        contenders: contenders to measure; all are compared with the one named ``"poise"``.
        rounds: number of measured rounds.
        steps: steps of each contender in a round.
        skipped: reason why a contender is missing, by its name; returned together with those that fail meanwhile.
        progress: called with a one-line message before each stage.

    Returns:
        Per contender: version; times (µs; median, p99, max); ratio to Poise, see `time_ratio`; worst errors, and
        whether they are within the tolerances; its parts (µs and share). Also the bars, and the contenders that were
        skipped.
    """
    run = run_interleaved(contenders, rounds, steps, skipped, progress)
    poise_times = run.times.get(POISE)
    results = {}
    for contender in run.present:
        times, worst = run.times[contender.name], run.worst[contender.name]
        results[contender.name] = {
            "version": contender.version,
            "microseconds": time_statistics(times),
            "ratio": None if poise_times is None or contender.name == POISE else time_ratio(times, poise_times),
            "errors": finite_or_none(worst),
            "within_tolerance": within_limits(worst, KinematicsProblem.ALLOWED),
            "parts": part_times(contender, steps),
        }
    bars = _bars(results)
    return {
        "benchmark": "whole steps",
        "rounds": rounds,
        "steps": steps,
        "contenders": results,
        "skipped": run.missing,
        "bars": bars,
        "passed": all(bar["passed"] is True for bar in bars.values()),
    }


def _bars(results: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """Return the bars, the measured values, and whether each is met.

    "passed" is None if not measured, and False if the errors of Poise exceed the tolerances.
    """
    bars = {}
    for name, bar in BARS.items():
        ratio = results[name]["ratio"] if name in results else None
        met = None if ratio is None else bool(ratio["median"] >= bar and results[POISE]["within_tolerance"])
        bars[name] = {"bar": bar, "measured": None if ratio is None else ratio["median"], "passed": met}
    return bars


@contextmanager
def kinematics_peers(
    peers: Sequence[Peer] = PEERS,
    speed: float | None = None,
    cache: Path | None = None,
    progress: Callable[[str], None] | None = None,
) -> Iterator[tuple[list[Worker], dict[str, str]]]:
    """Start peers; yield them, and the reasons of missing ones by name. Their processes end with the context.

    Args:
        peers: peers to start.
        speed: limit of all joint speeds, rad/s, for example ``KinematicsProblem.TIGHT_SPEED``; None: the limits of the
            robot, which are never active.
        cache: folder of the environments; None: see `cache_folder`.
        progress: called with a one-line message before each stage; None: writes to standard error.

    >>> with kinematics_peers() as (contenders, skipped):  # doctest: +SKIP
    ...     result = measure([PoiseKinematics(), *contenders], skipped=skipped)
    """
    with tempfile.TemporaryDirectory(prefix="poise-peers-") as folder:

        def launch(peer: Peer, python: Path) -> Worker:
            urdf = Path(folder) / ("floating.urdf" if peer.floating else "robot.urdf")
            if not urdf.exists():
                urdf.write_text(urdf_without_shapes(robot_urdf(), peer.floating, speed), encoding="utf-8")
            return Worker(peer.name, [python, peer.script, "kinematics", urdf, peer.feet])

        with start_peers(peers, launch, cache, progress) as (workers, skipped):
            yield workers, skipped


class PoiseKinematics:
    """Whole steps of `KinematicController` and `IdealPlant`, called as in a user's program.

    Levels: feet, center of mass, hand, posture; constraints: ranges and speeds of the joints. The peers have all tasks
    in one weighted sum; here a lower level never degrades a higher one.
    """

    name, version = POISE, metadata.version(POISE)

    #: Gain of feet, center of mass and hand, 1/s: an error vanishes within one period, as with the peers, whose gain
    #: per step is one. With half of it the hand lags behind its target by one step, 1.2 mm.
    RATE = 1.0 / KinematicsProblem.PERIOD

    def __init__(self, speed: float | None = None) -> None:
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / KinematicsProblem.URDF
            file.write_text(urdf_without_shapes(robot_urdf(), speed=speed))
            self.robot = load_robot(str(file))
        q = np.array(pinocchio.neutral(self.robot.model))
        q[:3] = KinematicsProblem.BASE_POSITION
        for joint in self.robot.joints:
            q[joint.q] = KinematicsProblem.start_angle(joint.name)
        self.start = State(self.robot, q)
        self.hand = self.robot.frame(KinematicsProblem.HAND)
        self.feet = [self.robot.frame(name) for name in KinematicsProblem.FEET]
        self.origin = self.start.pose(self.hand).translation
        self.target = tasks.LiveTarget(self.origin)
        self.controller = KinematicController(self._hierarchy(), period=KinematicsProblem.PERIOD)
        self.plant = IdealPlant(self.start)
        self.step = 0

    def _hierarchy(self) -> Hierarchy:
        at_once = tasks.Decay(self.RATE)
        center = tasks.CenterOfMass(self.start.center_of_mass[:2], axes="xy", dynamics=at_once)
        return Hierarchy(
            always=[constraints.JointRange(self.robot), constraints.JointSpeed(self.robot)],
            levels=[
                Level("feet", [tasks.HoldPose(foot, at=self.start, dynamics=at_once) for foot in self.feet]),
                Level("balance", [center]),
                Level("hand", [tasks.Position(self.hand, self.target, dynamics=at_once)]),
                Level("posture", [tasks.Posture(self.start)]),
            ],
        )

    def run_steps(self, steps: int) -> tuple[list[float], dict[str, float]]:
        """Run the next steps; return the time of each (µs), and the errors after the last."""
        controller, plant, target = self.controller, self.plant, self.target
        origin, elapsed = self.origin, []
        gc.disable()
        try:
            for _ in range(steps):
                self.step += 1
                begin = time.perf_counter_ns()
                target.set(origin + KinematicsProblem.offset(self.step))
                plant.apply(controller.step(plant.state()))
                plant.advance()
                elapsed.append((time.perf_counter_ns() - begin) / 1e3)
        finally:
            gc.enable()
        return elapsed, self._errors()

    def parts(self, steps: int) -> dict[str, list[float]]:
        """Return the times of the parts of the next steps (µs); the parts are called one by one for the same state."""
        times: dict[str, list[float]] = {"pinocchio": [], "assembly": [], "solve": [], "integration": []}
        controller, plant = self.controller, self.plant
        for _ in range(steps):
            self.step += 1
            self.target.set(self.origin + KinematicsProblem.offset(self.step))
            state = plant.state()
            command = controller.step(state)
            snapshot, assembly = controller._snapshot, controller._assembly
            stamps = [time.perf_counter_ns()]
            snapshot.at(state)
            snapshot.compute(assembly.required_terms)
            stamps.append(time.perf_counter_ns())
            assembly.write()
            program = assembly.stack.program()
            stamps.append(time.perf_counter_ns())
            controller.solver.solve(program)  # type: ignore[attr-defined]
            stamps.append(time.perf_counter_ns())
            plant.apply(command)
            plant.advance()
            stamps.append(time.perf_counter_ns())
            for name, a, b in zip(times, stamps, stamps[1:], strict=False):
                times[name].append((b - a) / 1e3)
        return times

    def _errors(self) -> dict[str, float]:
        state = self.plant.state()
        snapshot = Snapshot(self.robot).at(state)
        target = self.origin + KinematicsProblem.offset(self.step)
        feet = [(state.pose(foot), self.start.pose(foot)) for foot in self.feet]
        return {
            "hand": float(np.linalg.norm(state.pose(self.hand).translation - target)),
            "feet": max(float(np.linalg.norm(now.translation - then.translation)) for now, then in feet),
            "feet_rotation": max(
                float(np.linalg.norm(pinocchio.log3(now.rotation @ then.rotation.T))) for now, then in feet
            ),
            "center_of_mass": float(np.linalg.norm((snapshot.center_of_mass - self.start.center_of_mass)[:2])),
        }


def table(result: Mapping[str, Any]) -> str:
    """Return a text table: contenders, parts of their steps, bars, and skipped contenders.

    "x poise" is the ratio of the time of a whole step to that of Poise; "rounds" the 10th to the 90th percentile of
    that ratio over the rounds. Times depend on the machine; compare only ratios between machines.
    """
    contenders = result["contenders"]
    lines = [f"whole steps of inverse kinematics on G1: {result['rounds']} rounds of {result['steps']} steps", _HEAD]
    lines += [_contender_line(name, entry) for name, entry in contenders.items()]
    lines += [f"  {name}: {_part_text(entry['parts'])}" for name, entry in contenders.items() if entry["parts"]]
    lines += [f"  {name} is {entry['version']}" for name, entry in contenders.items()]
    lines += [
        f"  {name} does NOT meet the tolerances: its errors are too large"
        for name in _contenders_beyond_tolerance(contenders)
    ]
    lines += [f"  skipped: {name} ({why})" for name, why in result["skipped"].items()]
    lines += [f"  bar: {_bar_text(name, bar)}" for name, bar in result["bars"].items()]
    lines.append("  all bars are met" if result["passed"] else "  not all bars are met")
    return "\n".join(lines)


def _contender_line(name: str, entry: Mapping[str, Any]) -> str:
    times = "".join(f"{entry['microseconds'][key]:9.1f}" for key in ("median", "p99", "max"))
    ratio = entry["ratio"]
    if ratio is None:
        ratios = f"{'-':>8}{'-':>14}{'-':>9}"
    else:
        ratios = f"{ratio['median']:8.2f}{_interval(ratio):>14}{ratio['p99']:9.2f}"
    errors = "".join(_millimetres(entry["errors"].get(key)) for key in ("hand", "feet"))
    return f"  {name:18}{times}  {ratios}  {errors}"


def _interval(ratio: Mapping[str, float]) -> str:
    return f"{ratio['low']:.2f}..{ratio['high']:.2f}"


def _millimetres(error: float | None) -> str:
    return f"{'-':>11}" if error is None else f"{1e3 * error:11.2g}"


def _part_text(parts: Mapping[str, Mapping[str, float]]) -> str:
    return ", ".join(f"{part} {value['share']:.0%} ({value['microseconds']:.1f})" for part, value in parts.items())


def _contenders_beyond_tolerance(contenders: Mapping[str, Mapping[str, Any]]) -> list[str]:
    return [name for name, entry in contenders.items() if not entry["within_tolerance"]]


def _bar_text(name: str, bar: Mapping[str, Any]) -> str:
    measured = (
        "not measured" if bar["passed"] is None else f"{bar['measured']:.2f}, {'met' if bar['passed'] else 'NOT met'}"
    )
    return f"{name} at least {bar['bar']:g} times poise: {measured}"


def robot_urdf() -> Path:
    """Return the path of the URDF of the problem in example-robot-data."""
    try:
        files = metadata.files("example-robot-data") or []
    except metadata.PackageNotFoundError:
        raise UsageError(
            "the robot G1 is in 'example-robot-data', which is missing; pip install poise[robots]"
        ) from None
    for file in files:
        if file.name == KinematicsProblem.URDF:
            return Path(str(file.locate())).resolve()
    raise UsageError(f"this version of example-robot-data has no '{KinematicsProblem.URDF}'; pip install poise[robots]")


def urdf_without_shapes(source: Path, floating: bool = False, speed: float | None = None) -> str:
    """Return the text of a URDF with links, joints and inertias only.

    Args:
        source: URDF file of the robot.
        floating: add a link "world" and a floating joint from it to the base; without it MuJoCo fixes the base.
        speed: limit of all joint speeds, rad/s; None: the limits of the robot.
    """
    try:
        root = ElementTree.parse(source).getroot()
    except (OSError, ElementTree.ParseError) as error:
        raise UsageError(f"'{source}' cannot be read as a URDF: {error}") from None
    for parent in list(root.iter()):
        for child in list(parent):
            if child.tag in _APPEARANCE:
                parent.remove(child)
    for limit in root.iter("limit"):
        if speed is not None:
            limit.set("velocity", repr(speed))
    if floating:
        ElementTree.SubElement(root, "link", name="world")
        joint = ElementTree.SubElement(root, "joint", name="floating_base", type="floating")
        ElementTree.SubElement(joint, "parent", link="world")
        ElementTree.SubElement(joint, "child", link=KinematicsProblem.BASE)
    return ElementTree.tostring(root, encoding="unicode")
