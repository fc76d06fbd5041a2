"""Measure a control step of a position-controlled robot against pink with comparable tasks, in one interleaved run.

    python -m benchmarks.position                  # hoap3, the robot of [Galdeano2014]: a minute
    python -m benchmarks.position --robot nao      # any robot of the library whose soles are links of its URDF

The robot squats: the right foot keeps its pose relative to the left one, the center of mass, also relative to the left
foot, moves down by a twelfth of the robot's height and up again at 0.5 Hz (5 cm for HOAP-3, as in the paper), and the
joints drift to the middle of their ranges. Poise also reads noisy force cells, checks them for faults, and regulates
the ZMP. The measured time covers everything from setting the target to the next q. Contenders take turns, see
`benchmarks.peers.timing`; pink runs in the environment that `make bench-peers` builds, with one weighted sum and daqp.

The center of mass task of pink is in the world frame, so its left foot has to be held there by a fourth task. "three
tasks" is pink without it: the body slides and the errors are too large, but it shows the cost of the three tasks alone.
"no limits" is pink without joint limits, which it has by default; the closed form has none either.

Bar: each variant of pink with small enough errors takes at least 3 times as long as Poise.
"""

from __future__ import annotations

import argparse
import gc
import json
import math
import sys
import tempfile
import time
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio

import poise
from benchmarks.peers.kinematics import urdf_without_shapes
from benchmarks.peers.processes import PEERS, Peer, Worker, start_peers
from benchmarks.peers.timing import POISE, StepContender, run_interleaved, time_ratio, time_statistics, within_limits
from poise.behaviors import ZmpBalance, regulation_settings, standing_reference
from poise.plans import SquatReference
from poise.robots import Robot, State
from poise.solvers import Lexicographic, NullSpace

#: Control period (s), 1 kHz as for the servos of HOAP-3, and frequency of the squat (Hz).
PERIOD, FREQUENCY = 0.001, 0.5
#: Rate at which errors of the feet and of the center of mass vanish, 1/s: a fiftieth of that of the servos.
RATE = 20.0
#: Smallest ratio of the median step time of pink to that of Poise.
BAR = 3.0
#: Tolerances of a valid contender: largest errors at the end of every round of steps (m and rad).
ALLOWED = {"foot": 1e-3, "foot_rotation": 5e-3, "center_of_mass": 2e-3}
#: Steps before the measurement: Poise blends from rest to its hierarchy in 0.2 s.
WARM_UP = 300
PINK_VARIANTS = ("", "no limits", "three tasks", "three tasks, no limits")


def squat_behavior(problem: SquatProblem, limits: bool) -> ZmpBalance:
    """Return the behavior to measure: the control law of [Galdeano2014], with joint limits or in closed form."""
    robot = problem.robot
    center, other = standing_reference(problem.start)
    reference_trajectory = SquatReference(center, other, problem.depth, FREQUENCY, cycles=1e6)
    settings = regulation_settings(robot, momentum_recovery_gain=0.0, com_gain=RATE, comfort_posture="middle")
    return ZmpBalance(robot, reference_trajectory, settings, problem.start, closed_form=not limits)


@dataclass
class SoleReadings:
    """Force cell readings of soles loaded in their middles, with noise."""

    cells: dict[str, Any]
    positions: Any


class SquatProblem:
    """Initial poses of feet and center of mass, and the target of the center of mass at each step."""

    def __init__(self, robot: Robot) -> None:
        self.robot, self.start = robot, robot.stance("standing")
        self.foot, self.center = _relative_poses(self.start)
        self.depth = robot.height / 12.0

    def target(self, step: int) -> tuple[Any, Any]:
        """Return the target of the center of mass and its velocity, in the frame of the left foot (m, m/s)."""
        angle = 2.0 * math.pi * FREQUENCY * PERIOD * step
        down = np.array([0.0, 0.0, -0.5 * self.depth])
        rate = 2.0 * math.pi * FREQUENCY * math.sin(angle)
        return self.center + (1.0 - math.cos(angle)) * down, rate * down

    def errors(self, q: Any, step: int) -> dict[str, float]:
        """Return the errors of a configuration after a step, with the keys of ALLOWED."""
        foot, center = _relative_poses(State(self.robot, np.asarray(q)))
        return {
            "foot": float(np.linalg.norm(foot.translation - self.foot.translation)),
            "foot_rotation": float(np.linalg.norm(pinocchio.log3(foot.rotation @ self.foot.rotation.T))),
            "center_of_mass": float(np.linalg.norm(center - self.target(step)[0])),
        }

    def to_json(self, urdf: Path) -> str:
        """Return the problem as JSON for the worker process."""
        joints, limits = self.robot.joints, self.robot.limits
        middle = dict(zip((j.name for j in joints), (0.5 * (limits.lower + limits.upper)).tolist(), strict=True))
        return json.dumps(
            {
                "urdf": str(urdf),
                "base": self.start.q[:7].tolist(),
                "start": {joint.name: float(self.start.q[joint.q]) for joint in joints},
                "middle": middle,
                "feet": [foot.name for foot in self.robot.feet],
                "period": PERIOD,
            }
        )


class PoiseSquat:
    """Steps of `PositionController` along its own reference: kinematics, three tasks, ZMP law, fault detection, sag."""

    version = metadata.version("poise")

    def __init__(self, name: str, problem: SquatProblem, solver: Any, limits: bool) -> None:
        self.name, self.problem, self.steps, self.state = name, problem, 0, problem.start
        self.controller = poise.PositionController(squat_behavior(problem, limits), solver=solver, period=PERIOD)
        self._noise = np.random.default_rng(0)
        self.run_steps(WARM_UP)

    def run_steps(self, steps: int) -> tuple[list[float], dict[str, float]]:
        """See `StepContender`."""
        controller, state, elapsed = self.controller, self.state, []
        weight = self.problem.robot.weight / 8.0
        gc.collect()
        gc.disable()
        for _ in range(steps):
            self.steps += 1
            cells = {foot.name: weight + 0.2 * self._noise.standard_normal(4) for foot in self.problem.robot.feet}
            readings: Any = SoleReadings(cells, state.q[7:])
            state = state.replace(time=self.steps * PERIOD)
            begin = time.perf_counter_ns()
            controller.update_sensors(readings)
            controller.step(state)
            elapsed.append((time.perf_counter_ns() - begin) / 1e3)
            assert controller.reference is not None
            state = controller.reference
        gc.enable()
        self.state = state
        return elapsed, self.problem.errors(state.q, self.steps)


class PinkWorker(Worker):
    """pink in a worker process: it receives targets and answers with configurations."""

    def __init__(self, name: str, problem: SquatProblem, python: Path, problem_file: Path, variant: str) -> None:
        super().__init__(
            name, [python, Path(__file__).parent / "peers/workers/pink_position_worker.py", problem_file, variant]
        )
        self.problem, self.steps = problem, 0

    def run_steps(self, steps: int) -> tuple[list[float], dict[str, float]]:
        """See `StepContender`."""
        first, self.steps = self.steps + 1, self.steps + steps
        targets = [self.problem.target(step)[0].tolist() for step in range(first, self.steps + 1)]
        answer = self.request({"targets": targets})
        return answer["microseconds"], self.problem.errors(answer["q"], self.steps)


def _relative_poses(state: State) -> tuple[pinocchio.SE3, Any]:
    """Return the pose of the right foot and the center of mass in the frame of the left foot."""
    left, right = state.robot.feet
    return state.pose(left).actInv(state.pose(right)), state.pose(left).actInv(state.center_of_mass)


def measure(contenders: list[StepContender], skipped: dict[str, str], rounds: int, steps: int) -> dict[str, Any]:
    """Run all contenders in turns and return the results as plain data."""
    run = run_interleaved(contenders, rounds, steps, skipped, lambda message: print(message, file=sys.stderr))
    results = {}
    for each in run.present:
        times = run.times[each.name]
        results[each.name] = {
            "version": each.version,
            "microseconds": time_statistics(times),
            "ratio": time_ratio(times, run.times[POISE]),
            "errors": run.worst[each.name],
            "within_tolerance": within_limits(run.worst[each.name], ALLOWED),
        }
    succeeding = {name: entry for name, entry in results.items() if entry["within_tolerance"]}
    pink_ratios = [entry["ratio"]["median"] for name, entry in succeeding.items() if name.startswith("pink")]
    met = bool(pink_ratios) and min(pink_ratios) >= BAR and results[POISE]["within_tolerance"]
    return {"benchmark": "position steps", "bar": BAR, "contenders": results, "skipped": run.missing, "passed": met}


def table(result: dict[str, Any]) -> str:
    """Return a Markdown table with one line per contender."""
    heads = (
        "contender",
        "median µs",
        "p99 µs",
        "x poise",
        "rounds",
        "x poise, p99",
        "foot mm",
        "foot mrad",
        "com mm",
        "job",
    )
    lines = [f"| {' | '.join(heads)} |", f"|{'---|' * len(heads)}"]
    for name, entry in result["contenders"].items():
        times, by, errors = entry["microseconds"], entry["ratio"], entry["errors"]
        spread = f"{by['low']:.2f} to {by['high']:.2f}"
        numbers = [f"{times['median']:.0f}", f"{times['p99']:.0f}", f"{by['median']:.2f}", spread, f"{by['p99']:.2f}"]
        misses = [f"{1e3 * errors[key]:.2f}" for key in ALLOWED]
        lines.append(f"| {' | '.join([name, *numbers, *misses, 'yes' if entry['within_tolerance'] else 'no'])} |")
    lines += [f"skipped: {name} ({why})" for name, why in result["skipped"].items()]
    return "\n".join([*lines, f"bar of {BAR:g} times poise: {'met' if result['passed'] else 'NOT met'}"])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--robot", default="hoap3")
    parser.add_argument("--rounds", type=int, default=30, help="number of measured rounds (default 30)")
    parser.add_argument("--steps", type=int, default=100, help="steps of each contender per round (default 100)")
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of a table")
    options = parser.parse_args()
    problem = SquatProblem(poise.load_robot(options.robot))
    pink = next(peer.environment for peer in PEERS if peer.name == "pink")
    peers = [Peer(", ".join(["pink", *([variant] if variant else [])]), pink) for variant in PINK_VARIANTS]
    poise_contenders: list[StepContender] = [
        PoiseSquat(POISE, problem, NullSpace(), limits=False),
        PoiseSquat(f"{POISE}, strict, limits", problem, Lexicographic(), limits=True),
    ]
    with tempfile.TemporaryDirectory(prefix="poise-position-") as folder:
        urdf, problem_file = Path(folder) / "robot.urdf", Path(folder) / "problem.json"
        urdf.write_text(urdf_without_shapes(problem.robot._geometry.path), encoding="utf-8")
        problem_file.write_text(problem.to_json(urdf), encoding="utf-8")

        def launch(peer: Peer, python: Path) -> PinkWorker:
            return PinkWorker(
                peer.name, problem, python, problem_file, peer.name.removeprefix("pink").removeprefix(", ")
            )

        with start_peers(peers, launch) as (workers, skipped):
            result = measure([*poise_contenders, *workers], skipped, options.rounds, options.steps)
    print(json.dumps({"robot": options.robot, **result}, indent=1) if options.json else table(result))
    return 0 if result["passed"] else 1


if __name__ == "__main__":
    raise SystemExit(main())
