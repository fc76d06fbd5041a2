"""Measure navigation by a guided point: planning time, fuzzed plans, random joysticks in simulation, and pushes.

    python benchmarks/navigation.py                        # everything: some 20 minutes on two cores
    python benchmarks/navigation.py --only fuzz --segments 2000 --robots mighty

- plan: milliseconds per segment, guidance included, beside a reference workload in the same run: 60 equations solved
  by Cholesky, 20 times. Between machines compare the ratio of the medians; the best of three passes counts.
- fuzz: random joystick inputs and modes; each segment is checked by `poise.plans.segment.verification`, which shares no
  code with the compiled check. Then the same from initial states with noise, so that commands are given up: each must
  end in a feasible keep or hold, unless the noise moves ξ out of the support polygon.
- physics: a minute of random joystick input per seed, in MuJoCo; position servos on mighty and NAO, torques otherwise.
- pushes: 0.1 s on the base while the trunk is guided ahead, 8 directions; with and without replacing segments that the
  measured state contradicts.
"""

from __future__ import annotations

import argparse
import multiprocessing
import sys
import time
from collections import Counter
from dataclasses import replace

import numpy as np
from scipy.linalg import cho_factor, cho_solve

import poise
from poise.behaviors import Navigate, NavigateSettings
from poise.devices import RandomDevice
from poise.plans import (
    InitialState,
    LegReach,
    OperatorCommand,
    Planner,
    ThreeMassModel,
    Workspace,
    guided_goal,
    standing_points,
)
from poise.plans.segment.verification import faults
from poise.plants import PositionServos, Push, steps
from poise.robots import has_position_servos

#: Noise of initial states: position (m) and velocity (m/s) of the center of mass, relative to height and to ω height.
NOISE = 0.012
#: Push forces, relative to the weight of the robot.
PUSHES = (0.15, 0.25, 0.35)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="plan,fuzz,physics,pushes")
    parser.add_argument("--robots", default="mighty,g1,talos")
    parser.add_argument("--segments", type=int, default=20_000)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--workers", type=int, default=2)
    options = parser.parse_args()
    robots, fault_count = options.robots.split(","), 0
    parts = options.only.split(",")
    with multiprocessing.get_context("spawn").Pool(options.workers, maxtasksperchild=4) as pool:
        if "plan" in parts:
            for name in robots:
                time_planning(name)
        if "fuzz" in parts:
            jobs = [(name, options.segments, noise) for name in robots for noise in (0.0, NOISE)]
            fault_count += sum(pool.imap(fuzz_planner, jobs))
        if "physics" in parts:
            jobs = [(name, seed, options.seconds) for name in robots for seed in range(options.seeds)]
            fault_count += sum(pool.imap(navigate_at_random, jobs))
        if "pushes" in parts:
            jobs = [(name, share, on) for name in robots for share in PUSHES for on in (True, False)]
            for _ in pool.imap(run_pushes, jobs):
                pass
    return 1 if fault_count else 0


def planning_parts(name: str) -> tuple[Workspace, LegReach, Planner, InitialState]:
    robot = poise.load_robot(name)
    legs = LegReach.of(robot)
    return (
        Workspace.of(robot, legs),
        legs,
        Planner(ThreeMassModel.of(robot), None, legs),
        InitialState.at_rest(standing_points(robot)),
    )


def time_planning(name: str, count: int = 1500) -> None:
    """Measure the planning time, best of three passes over the same segments, and that of the reference."""
    workspace, legs, planner, start = planning_parts(name)
    passes, reference, corrected = [], [], []
    A = np.eye(60) + 0.01 * np.random.default_rng(0).standard_normal((60, 60))
    A = A @ A.T
    for attempt in range(4):  # the first pass fills the tables of durations
        begin, device, plan_ms = start, RandomDevice(0), []
        for i in range(count):
            stick = device.read((i + 0.5) * device.slot)
            clock = time.perf_counter()
            segment = planner.plan(begin, guided_goal(begin.points, stick, workspace, legs))
            plan_ms.append(1e3 * (time.perf_counter() - clock))
            if attempt == 1:
                corrected.append(segment.corrections)
            if i % 10 == 0:
                clock = time.perf_counter()
                for _ in range(20):
                    cho_solve(cho_factor(A), A[0])
                reference.append(1e3 * (time.perf_counter() - clock))
            begin = segment.final_state
        if attempt:
            passes.append(plan_ms)
    best, direct = np.min(passes, axis=0), np.array(corrected) == 0
    median, p99, largest = np.median(best[direct]), np.percentile(best, 99), best.max()
    print(
        f"plan    {name:7} without correction median {median:.3f} ms, all p99 {p99:.2f} ms, largest {largest:.2f} ms; "
        f"{100 * (1 - direct.mean()):.0f} % corrected; {median / np.median(reference):.2f} of the reference's median",
        flush=True,
    )


def fuzz_planner(job: tuple[str, int, float]) -> int:
    """Give random commands to the planner and return the number of faulty segments."""
    name, count, noise = job
    workspace, legs, planner, start = planning_parts(name)
    begin = start
    body, random, device = planner.body, np.random.default_rng(1), RandomDevice(7)
    counts: Counter[str] = Counter()
    fault_count, longest = 0, 0.0
    for i in range(count):
        out_of_support = False
        if noise and i % 2:
            scale = noise * body.height * np.array([1.0, 1.0, 0.0])
            center = begin.points.center + scale * random.standard_normal(3)
            rate = begin.rates.center + body.omega * scale * random.standard_normal(3)
            begin = replace(begin, points=begin.points.replace(center=center), rates=replace(begin.rates, center=rate))
            out_of_support = planner.hold(begin).margin < 0.0  # not even a hold is feasible
        segment = planner.plan(begin, guided_goal(begin.points, device.read((i + 0.5) * device.slot), workspace, legs))
        counts[segment.outcome] += 1
        counts["prolonged"] += segment.corrections > 0
        counts["thrown out"] += out_of_support
        longest = max(longest, segment.seconds)
        segment_faults = faults(segment, body, begin)
        if segment_faults and not out_of_support:
            fault_count += 1
            print(f"        {name} segment {i}: {'; '.join(segment_faults)}")
        begin = start if out_of_support else segment.final_state
    what = f"noise {1e3 * noise * body.height:.1f} mm" if noise else "no noise"
    print(
        f"fuzz    {name:7} {what}: {count} segments, {fault_count} faulty, {dict(counts)}, longest {longest:.1f} s",
        flush=True,
    )
    return fault_count


def run_trial(
    name: str, device: object, settings: NavigateSettings, seconds: float, **world: object
) -> tuple[Navigate, str, list[float]]:
    """Simulate a guided robot and return its behavior, the description of its fall, and the errors of ξ."""
    robot = poise.load_robot(name)
    navigate = Navigate(robot, device, settings)  # type: ignore[arg-type]
    servos = has_position_servos(name)
    actuators = {"actuators": PositionServos()} if servos else {}
    plant = poise.MujocoPlant(navigate.start, **actuators, **world)  # type: ignore[arg-type]
    controller = (poise.PositionController if servos else poise.TorqueController)(navigate)
    errors = []
    for _ in steps(controller, plant, seconds):
        errors.append(abs(navigate.dcm_error))
        if plant.fallen:
            break
    return navigate, plant.fall, errors


def navigate_at_random(job: tuple[str, int, float]) -> int:
    """Simulate random commands and return 1 if the robot fell, otherwise 0."""
    name, seed, seconds = job
    navigate, fall, errors = run_trial(name, RandomDevice(seed), NavigateSettings(), seconds, seed=seed)
    with_step = sum(segment_run.segment.goal.step is not None for segment_run in navigate.history)
    milli = 1e3 * np.array(errors)
    print(
        f"physics {name:7} seed {seed}: {fall or 'stands'}; {len(navigate.history)} segments, {with_step} with a step, "
        f"{navigate.outcomes}; error of ξ median {np.median(milli):.1f}, p99 {np.percentile(milli, 99):.1f} mm",
        flush=True,
    )
    return int(bool(fall))


class ForwardCommand:
    """Device that guides the trunk ahead for six seconds."""

    def read(self, time: float) -> OperatorCommand:
        return OperatorCommand("trunk", (1.0 if time < 6.0 else 0.0, 0.0, 0.0, 0.0, 0.0, 0.0))


def run_pushes(job: tuple[str, float, bool]) -> None:
    """Push the robot from eight directions and print the number of recoveries."""
    name, share, replaced = job
    force = share * poise.load_robot(name).weight
    settings = NavigateSettings() if replaced else NavigateSettings(replan_distance=999.0)
    survived = []
    for k in range(8):
        angle = np.pi / 4 * k
        push = Push((force * np.cos(angle), force * np.sin(angle), 0.0), duration=0.1, time=3.0 + 0.13 * k)
        _, fall, _ = run_trial(name, ForwardCommand(), settings, 8.0, pushes=[push])
        survived.append(not fall)
    how = "replaced" if replaced else "as planned"
    print(f"pushes  {name:7} {force:.0f} N for 0.1 s, segments {how}: {sum(survived)} of 8 stand", flush=True)


if __name__ == "__main__":
    sys.exit(main())
