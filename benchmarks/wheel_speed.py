"""Compare the speed of the variants of a wheel with native modules that are compiled for this machine.

    python benchmarks/wheel_speed.py --native .venv/bin/python --wheel OTHER/bin/python

Both are Python interpreters with Poise: the first has an editable install (-march=native), the second a wheel (`make
wheel`). Every variant of the wheel that this processor supports runs in its own process, and so does the native build,
all on one core. They alternate, task by task, in an order that is shuffled each time. The table has ratios of medians
to the native build: over all passes, and over the fastest pass of each step, which other programs disturb least.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import random
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

ROOT = Path(__file__).resolve().parents[1]
#: Largest ratio of the variant that is selected without POISE_CPU to the native build.
BAR = 1.1
#: Nanoseconds of each step of a task.
Times = NDArray[np.int64]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--native", metavar="PYTHON", help="Python with the native build")
    parser.add_argument("--wheel", metavar="PYTHON", help="Python with the wheel")
    parser.add_argument("--passes", type=int, default=12, metavar="N", help="passes that count (default 12)")
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        return serve()
    if not options.native or not options.wheel:
        parser.error("name both Pythons: --native PYTHON --wheel PYTHON")
    if hasattr(os, "sched_setaffinity"):  # the processes alternate, so one core is enough
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    workers = [Worker("native", options.native)]
    workers += [Worker(name, options.wheel, name) for name in variants(options.wheel)]
    chosen = workers[-1].name
    print(f"{', '.join(f'{worker.name}: {worker.kernel}' for worker in workers)}", file=sys.stderr)
    times = measure(workers, options.passes)
    print(table(workers, times))
    worst = max(ratio(times["native"][task], times[chosen][task])[1] for task in workers[0].tasks)
    print(f"\nchosen here: {chosen}; at most {worst:.2f} times as long as the native build (bar {BAR})")
    return int(worst > BAR)


def variants(python: str) -> list[str]:
    """Return the variants of an installation that this processor supports; the selected one is the last."""
    shown = "from poise import _cpu; print(*(name for name in _cpu.built if name in _cpu.supported))"
    return subprocess.run([python, "-c", shown], check=True, capture_output=True, text=True).stdout.split()


class Worker:
    """Process with one variant, which runs tasks on request."""

    def __init__(self, name: str, python: str, variant: str = "") -> None:
        self.name = name
        threads = {f"{library}_NUM_THREADS": "1" for library in ("OMP", "OPENBLAS", "MKL")}
        environment = {**os.environ, **threads, "POISE_CPU": variant, "PYTHONPATH": str(ROOT)}
        command = [python, str(Path(__file__).resolve()), "--serve"]
        self._process = subprocess.Popen(
            command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        ready = self._read()
        self.tasks: list[str] = ready["tasks"]
        self.kernel: str = ready["kernel"]

    def run(self, task: str) -> Times:
        assert self._process.stdin is not None
        print(task, file=self._process.stdin, flush=True)
        return np.array(self._read(), dtype=np.int64)

    def _read(self) -> Any:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise SystemExit(f"the process with the variant '{self.name}' ended; its errors are above")
        return json.loads(line)


def measure(workers: list[Worker], passes: int) -> dict[str, dict[str, Times]]:
    """Return nanoseconds by variant and task, passes x steps; a warm-up pass is discarded."""
    shuffled = random.Random(0)
    times: dict[str, dict[str, list[Times]]] = {
        worker.name: {task: [] for task in workers[0].tasks} for worker in workers
    }
    for number in range(-1, passes):
        for task in workers[0].tasks:
            for worker in shuffled.sample(workers, len(workers)):
                nanoseconds = worker.run(task)
                if number >= 0:
                    times[worker.name][task].append(nanoseconds)
    return {
        name: {task: np.array(passes_of_task) for task, passes_of_task in tasks.items()}
        for name, tasks in times.items()
    }


def ratio(native: Times, other: Times) -> tuple[float, float]:
    """Return the ratio of the medians over all steps, and over the fastest pass of each step."""
    quiet = float(np.median(other.min(axis=0)) / np.median(native.min(axis=0)))
    return float(np.median(other) / np.median(native)), quiet


def table(workers: list[Worker], times: dict[str, dict[str, Times]]) -> str:
    others = [worker.name for worker in workers[1:]]
    lines = [f"| task | native, µs | {' | '.join(f'{name} / native (fastest pass)' for name in others)} |"]
    lines.append("|---|---|" + "---|" * len(others))
    for task in workers[0].tasks:
        native = times["native"][task]
        cells = ("{:.2f} ({:.2f})".format(*ratio(native, times[name][task])) for name in others)
        lines.append(f"| {task} | {1e-3 * float(np.median(native)):.1f} | {' | '.join(cells)} |")
    return "\n".join(lines)


# -- In the process of a variant ---------------------------------------------------------------------------------------


def serve() -> int:
    """Run the tasks that standard input names, and print the nanoseconds of their steps."""
    from poise.solvers import _kernel  # type: ignore[attr-defined]

    tasks = dict(make_tasks())
    folder = Path(_kernel.__file__).parent
    print(json.dumps({"tasks": list(tasks), "kernel": f"{folder.parent.name}/{folder.name}"}), flush=True)
    for line in sys.stdin:
        gc.collect()
        gc.disable()
        print(json.dumps(tasks[line.strip()]()), flush=True)
        gc.enable()
    return 0


def make_tasks() -> Iterator[tuple[str, Callable[[], list[int]]]]:
    """Return the tasks by name; each returns the nanoseconds of its steps."""
    from benchmarks.solvers.workloads import workloads

    for workload in workloads():
        yield f"solve {workload.name}", solver_task(workload.programs)
    yield "null space", null_space_task()
    yield "kinematic control, NAO", control_task("kinematic")
    yield "torque control, NAO", control_task("torque")
    yield "plan of motion segments, mighty", planning_task()


def solver_task(programs: Any) -> Callable[[], list[int]]:
    from poise.solvers import Lexicographic

    def run() -> list[int]:
        solver = Lexicographic()
        return [timed_call(solver.solve, program) for program in programs]

    return run


def null_space_task() -> Callable[[], list[int]]:
    from poise.solvers import NullSpace, Program, Rows

    numbers = np.random.default_rng(0)
    programs = []
    for _ in range(100):
        goals = [numbers.normal(size=rows) for rows in (6, 3, 6)]
        levels = [Rows(numbers.normal(size=(len(goal), 34)), goal, goal) for goal in goals]
        programs.append(Program([*levels, Rows(np.eye(34)[6:], 0.0, 0.0)]))

    def run() -> list[int]:
        solver = NullSpace()
        return [timed_call(solver.solve, program) for program in programs]

    return run


def control_task(kind: str) -> Callable[[], list[int]]:
    """Return a task: whole control steps of a robot that stands and reaches, on an ideal plant."""
    import poise
    from poise import constraints, tasks

    robot = poise.load_robot("nao")
    start = robot.stance("standing")
    hand = robot.hand("left")
    hierarchy = poise.Hierarchy(
        always=[constraints.JointRange(robot), constraints.JointSpeed(robot)],
        levels=[
            poise.Level("feet", [tasks.HoldPose(foot, at=start) for foot in robot.feet]),
            poise.Level("balance", [tasks.CenterOfMass(target=start.support_center, axes="xy")]),
            poise.Level("reach", [tasks.Position(hand, target=(0.15, 0.12, 0.35))]),
            poise.Level("posture", [tasks.Posture(target=start)]),
        ],
    )
    make: dict[str, Callable[[], Any]] = {
        "kinematic": lambda: poise.KinematicController(hierarchy, period=0.005),
        "torque": lambda: poise.TorqueController(poise.Stand(robot)),
    }

    def run() -> list[int]:
        recording = poise.record(make[kind](), poise.IdealPlant(start), seconds=0.5)
        return [int(1e6 * float(value)) for value in recording["control/milliseconds"][1:]]

    return run


def planning_task() -> Callable[[], list[int]]:
    from benchmarks.navigation import planning_parts
    from poise.devices import RandomDevice
    from poise.plans import guided_goal

    workspace, legs, planner, start = planning_parts("mighty")

    def run() -> list[int]:
        begin, device, nanoseconds = start, RandomDevice(0), []
        for i in range(60):
            goal = guided_goal(begin.points, device.read((i + 0.5) * device.slot), workspace, legs)
            clock = time.perf_counter_ns()
            segment = planner.plan(begin, goal)
            nanoseconds.append(time.perf_counter_ns() - clock)
            begin = segment.end
        return nanoseconds

    return run


def timed_call(call: Callable[[Any], Any], argument: Any) -> int:
    clock = time.perf_counter_ns()
    call(argument)
    return time.perf_counter_ns() - clock


if __name__ == "__main__":
    sys.exit(main())
