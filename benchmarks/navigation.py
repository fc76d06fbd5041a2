"""Guided-point navigation under any input: planning time, planner fuzz, random joysticks in physics, pushes.

    python benchmarks/navigation.py                        # everything: some 20 minutes on two cores
    python benchmarks/navigation.py --only fuzz --segments 2000 --robots mighty

- plan: milliseconds per segment, guidance included, beside a reference workload in the same run: 60 equations solved
  by Cholesky, 20 times. Between machines compare the ratio of the medians; the best of three passes counts.
- fuzz: random sticks and modes; each segment is checked by `poise.plans.segment.verification`, which shares no code
  with the compiled judge. Then the same from starts that are off by noise, so that commands are given up: each must
  end in a keep or a hold that the ground can bear, unless the noise threw ξ out of the support.
- physics: random sticks for a minute and a seed each, in MuJoCo; position servos on mighty and NAO, torques elsewhere.
- pushes: 0.1 s on the base while it is guided ahead, 8 directions; with segments replaced when physics contradicts
  them, and without.
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
from poise.devices import RandomStick
from poise.plans import Beginning, Body, Legs, Planner, Stick, Workspace, guided, standing
from poise.plans.segment.verification import faults
from poise.plants import PositionServos, Push, steps
from poise.robots import takes_angles

#: Noise of disturbed starts: places (m) and speeds (m/s) of the centre of mass, as shares of height and of ω height.
NOISE = 0.012
#: Pushes (N), in weights of the robot.
PUSHES = (0.15, 0.25, 0.35)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="plan,fuzz,physics,pushes")
    parser.add_argument("--robots", default="mighty,g1,talos")
    parser.add_argument("--segments", type=int, default=20_000)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--workers", type=int, default=2)
    given = parser.parse_args()
    robots, bad = given.robots.split(","), 0
    parts = given.only.split(",")
    with multiprocessing.get_context("spawn").Pool(given.workers, maxtasksperchild=4) as pool:
        if "plan" in parts:
            for name in robots:
                planned(name)
        if "fuzz" in parts:
            jobs = [(name, given.segments, noise) for name in robots for noise in (0.0, NOISE)]
            bad += sum(pool.imap(fuzzed, jobs))
        if "physics" in parts:
            jobs = [(name, seed, given.seconds) for name in robots for seed in range(given.seeds)]
            bad += sum(pool.imap(guided_at_random, jobs))
        if "pushes" in parts:
            jobs = [(name, share, on) for name in robots for share in PUSHES for on in (True, False)]
            for _ in pool.imap(pushed, jobs):
                pass
    return 1 if bad else 0


def parts_of(name: str) -> tuple[Workspace, Legs, Planner, Beginning]:
    robot = poise.load_robot(name)
    legs = Legs.of(robot)
    return Workspace.of(robot, legs), legs, Planner(Body.of(robot), None, legs), Beginning.at_rest(standing(robot))


def planned(name: str, count: int = 1500) -> None:
    """Times of planning, best of three passes over the same segments, and of the reference."""
    workspace, legs, planner, start = parts_of(name)
    passes, reference, corrected = [], [], []
    A = np.eye(60) + 0.01 * np.random.default_rng(0).standard_normal((60, 60))
    A = A @ A.T
    for attempt in range(4):  # the first one fills the tables of durations
        begin, device, took = start, RandomStick(0), []
        for i in range(count):
            stick = device.read((i + 0.5) * device.slot)
            clock = time.perf_counter()
            segment = planner.plan(begin, guided(begin.points, stick, workspace, legs))
            took.append(1e3 * (time.perf_counter() - clock))
            if attempt == 1:
                corrected.append(segment.corrections)
            if i % 10 == 0:
                clock = time.perf_counter()
                for _ in range(20):
                    cho_solve(cho_factor(A), A[0])
                reference.append(1e3 * (time.perf_counter() - clock))
            begin = segment.end
        if attempt:
            passes.append(took)
    best, once = np.min(passes, axis=0), np.array(corrected) == 0
    usual, high, most = np.median(best[once]), np.percentile(best, 99), best.max()
    print(
        f"plan    {name:7} without correction median {usual:.3f} ms, all p99 {high:.2f} ms, largest {most:.2f} ms; "
        f"{100 * (1 - once.mean()):.0f} % corrected; {usual / np.median(reference):.2f} of the reference's median",
        flush=True,
    )


def fuzzed(job: tuple[str, int, float]) -> int:
    """Random commands to the planner; how many segments had a fault."""
    name, count, noise = job
    workspace, legs, planner, start = parts_of(name)
    begin = start
    body, random, device = planner.body, np.random.default_rng(1), RandomStick(7)
    seen: Counter[str] = Counter()
    bad, longest = 0, 0.0
    for i in range(count):
        thrown = False
        if noise and i % 2:
            scale = noise * body.height * np.array([1.0, 1.0, 0.0])
            center = begin.points.center + scale * random.standard_normal(3)
            rate = begin.rates.center + body.omega * scale * random.standard_normal(3)
            begin = replace(begin, points=begin.points.replace(center=center), rates=replace(begin.rates, center=rate))
            thrown = planner.held(begin).margin < 0.0  # from here not even a hold is possible
        segment = planner.plan(begin, guided(begin.points, device.read((i + 0.5) * device.slot), workspace, legs))
        seen[segment.outcome] += 1
        seen["corrected"] += segment.corrections > 0
        seen["thrown out"] += thrown
        longest = max(longest, segment.seconds)
        wrong = faults(segment, body, begin)
        if wrong and not thrown:
            bad += 1
            print(f"        {name} segment {i}: {'; '.join(wrong)}")
        begin = start if thrown else segment.end
    what = f"noise {1e3 * noise * body.height:.1f} mm" if noise else "no noise"
    print(f"fuzz    {name:7} {what}: {count} segments, {bad} faulty, {dict(seen)}, longest {longest:.1f} s", flush=True)
    return bad


def trial(
    name: str, device: object, settings: NavigateSettings, seconds: float, **world: object
) -> tuple[Navigate, str, list[float]]:
    """A guided robot in physics: its behavior, how it fell, and errors of ξ."""
    robot = poise.load_robot(name)
    navigate = Navigate(robot, device, settings)  # type: ignore[arg-type]
    servos = takes_angles(name)
    actuators = {"actuators": PositionServos()} if servos else {}
    plant = poise.MujocoPlant(navigate.start, **actuators, **world)  # type: ignore[arg-type]
    controller = (poise.PositionController if servos else poise.TorqueController)(navigate)
    errors = []
    for _ in steps(controller, plant, seconds):
        errors.append(abs(navigate.error))
        if plant.fallen:
            break
    return navigate, plant.fall, errors


def guided_at_random(job: tuple[str, int, float]) -> int:
    """A minute of random commands in physics; 1 if it fell."""
    name, seed, seconds = job
    navigate, fall, errors = trial(name, RandomStick(seed), NavigateSettings(), seconds, seed=seed)
    made = sum(done.segment.goal.step is not None for done in navigate.history)
    milli = 1e3 * np.array(errors)
    print(
        f"physics {name:7} seed {seed}: {fall or 'stands'}; {len(navigate.history)} segments, {made} with a step, "
        f"{navigate.outcomes}; error of ξ median {np.median(milli):.1f}, p99 {np.percentile(milli, 99):.1f} mm",
        flush=True,
    )
    return int(bool(fall))


class Ahead:
    """Someone who guides the trunk ahead for six seconds."""

    def read(self, time: float) -> Stick:
        return Stick("trunk", (1.0 if time < 6.0 else 0.0, 0.0, 0.0, 0.0, 0.0, 0.0))


def pushed(job: tuple[str, float, bool]) -> None:
    """Eight pushes."""
    name, share, replaced = job
    force = share * 9.81 * poise.load_robot(name).mass
    settings = NavigateSettings() if replaced else NavigateSettings(astray=999.0)
    stood = []
    for k in range(8):
        angle = np.pi / 4 * k
        push = Push((force * np.cos(angle), force * np.sin(angle), 0.0), duration=0.1, time=3.0 + 0.13 * k)
        _, fall, _ = trial(name, Ahead(), settings, 8.0, pushes=[push])
        stood.append(not fall)
    how = "replaced" if replaced else "as planned"
    print(f"pushes  {name:7} {force:.0f} N for 0.1 s, segments {how}: {sum(stood)} of 8 stand", flush=True)


if __name__ == "__main__":
    sys.exit(main())
