"""Compare the check of a walk with walks in MuJoCo: precision, recall and processor time over random walks.

    python benchmarks/feasibility.py --store walks.jsonl                   # 200 styles each on G1, Talos and NAO: hours
    python benchmarks/feasibility.py --store walks.jsonl --kind speed --draws 40
    python benchmarks/feasibility.py --store walks.jsonl --simulate no      # only the walks that are stored already

Styles are drawn uniformly over the declared ranges, speeds and stairs over the ranges below. A walk succeeds if it
makes its steps without a fall and its DCM is near its plan at the end, as in `poise run walk`. Walks do not depend on
the check: they are simulated once and stored, one line each, so that the program can be stopped and continued.
Thresholds of the check may be fitted on even draws only; odd ones validate it.
"""

from __future__ import annotations

import argparse
import json
import math
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from poise import runs
from poise.plans import PARAMETERS, SINUSOID_PARAMETERS, STYLES, BodyDimensions, FeasibilityCheck, Style
from poise.plans.style import TORQUE_JOINTS
from poise.plants import steps
from poise.runs.walk_check import simulate_walk
from poise.runs.walk_motion import LARGEST_DCM_ERROR

KINDS = ("style", "speed", "stairs")
#: Ranges of drawn speeds, forward, left (m/s) and turning (rad/s), for a leg of 0.8 m; the first two scale with the
#: square root of the leg length. Half of the draws are straight ahead or back.
SPEEDS = ((-0.5, 1.1), (-0.25, 0.25), (-0.8, 0.8))
SPEED_STYLES = ("neutral", "relaxed", "cautious", "proud", "sad", "brisk")
#: Ranges of drawn stairs: rise in leg lengths, depth of a step in sole lengths.
RISES, RUNS = (-0.4, 0.4), (1.1, 2.2)


class Outcome(NamedTuple):
    """A stored walk."""

    walks: bool
    fall: str
    steps: int
    seconds: float


def draw_walk(robot: str, kind: str, draw: int, seed: int = 0) -> runs.Walk:
    """Return a random walk; the same arguments give the same walk."""
    loaded = runs.library_robot(robot)
    scale = math.sqrt(BodyDimensions.of(loaded.stance("standing")).leg_length / 0.8)
    if kind == "style":
        rng = np.random.default_rng([2024, draw, *([seed] if seed else [])])
        ranges = {name: each for name, each in PARAMETERS.items() if name not in SINUSOID_PARAMETERS}
        values = {name: float(rng.uniform(each.low, each.high)) for name, each in ranges.items()}
        style = Style(name=f"draw {draw}", torque_joints=TORQUE_JOINTS[rng.integers(3)], **values)
        return runs.Walk(robot=robot, style=style, steps=12)
    if kind == "speed":
        rng = np.random.default_rng([77, draw, *([seed] if seed else [])])
        style = STYLES[SPEED_STYLES[rng.integers(len(SPEED_STYLES))]]
        forward, left, turn = (float(rng.uniform(*each)) for each in SPEEDS)
        straight = rng.random() < 0.5
        speed = (scale * forward, 0.0, 0.0) if straight else (scale * forward, scale * left, turn)
        return runs.Walk(robot=robot, style=style, speed=speed, steps=12)
    rng = np.random.default_rng([99, draw, *([seed] if seed else [])])
    sole = loaded.feet[0].sole
    rise = float(rng.uniform(*RISES)) * 0.8 * scale**2
    run = float((sole.x_max - sole.x_min) * rng.uniform(*RUNS))
    terrain = f"stairs:{rise:.3f},{run:.3f},{int(rng.integers(1, 5))}"
    return runs.Walk(robot=robot, terrain=terrain, speed=(0.2 * scale, 0.0, 0.0), steps=20)


def simulate(motion: runs.Walk) -> Outcome:
    """Run a walk until its end or its fall."""
    setup = motion.build(runs.library_robot(motion.robot))
    errors: list[float] = []
    for _ in steps(setup.controller, setup.plant, setup.seconds):
        if setup.plant.fallen:
            break
        errors.append(abs(setup.behavior.dcm_error))
    last = max(errors[-round(1.0 / setup.controller.period) :], default=math.inf)
    step_count = setup.behavior.phase().steps
    walks = not setup.plant.fallen and last <= LARGEST_DCM_ERROR and step_count >= motion.steps
    return Outcome(walks, setup.plant.fall, step_count, setup.plant.time)


class Store:
    """Outcomes of walks in a file, one JSON object per line."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.outcomes: dict[tuple[str, str, int], Outcome] = {}
        for line in path.read_text().splitlines() if path.exists() else ():
            entry: dict[str, Any] = json.loads(line)
            key = entry.pop("robot"), entry.pop("kind"), entry.pop("draw")
            self.outcomes[key] = Outcome(**entry)

    def add(self, key: tuple[str, str, int], outcome: Outcome) -> None:
        self.outcomes[key] = outcome
        with self.path.open("a") as file:
            file.write(json.dumps(dict(zip(("robot", "kind", "draw"), key, strict=True)) | outcome._asdict()) + "\n")


class Answers(NamedTuple):
    """Answers for one walk: outcome, first and simulated check, processor time of the latter (s)."""

    draw: int
    outcome: Outcome
    first: FeasibilityCheck
    simulated: FeasibilityCheck
    seconds: float


def ask(motion: runs.Walk, draw: int, outcome: Outcome) -> Answers:
    robot = runs.library_robot(motion.robot)
    walk = motion.behavior(robot, robot.stance("standing"))
    first = runs.first_check(motion, robot)
    if first.simulated:
        first = walk.check_feasibility()
    begin = time.process_time()
    simulated = simulate_walk(motion, robot)
    return Answers(draw, outcome, first, simulated, time.process_time() - begin)


def table_line(name: str, answers: Iterable[Answers], which: str) -> str:
    """Return a line with the confusion matrix, precision and recall of the first or the simulated check."""
    pairs = [(each.outcome.walks, getattr(each, which).feasible) for each in answers]
    right, wrong, missed, refused = (
        sum(pair == wanted for pair in pairs) for wanted in ((True, True), (False, True), (True, False), (False, False))
    )
    shares = (f"{right / total:.2f}" if total else "-" for total in (right + wrong, right + missed))
    return f"| {name} | {' | '.join(map(str, (right, wrong, missed, refused)))} | {' | '.join(shares)} |"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--robots", default="g1,talos,nao")
    parser.add_argument("--kind", choices=KINDS, default="style", help="what is drawn (default style)")
    parser.add_argument("--draws", type=int, default=200, help="draws per robot (default 200)")
    parser.add_argument("--seed", type=int, default=0, help="other draws than those of seed 0 (default 0)")
    parser.add_argument("--store", type=Path, required=True, help="file of the walks, created if it does not exist")
    parser.add_argument("--simulate", choices=("yes", "no"), default="yes", help="simulate walks that are not stored")
    parser.add_argument("--check", choices=("yes", "no"), default="yes", help="ask the check about the stored walks")
    options = parser.parse_args()
    store, robots = Store(options.store), options.robots.split(",")
    keys = [(robot, options.kind, draw) for draw in range(options.draws) for robot in robots]
    if options.simulate == "yes":
        for key in keys:
            if key not in store.outcomes:
                store.add(key, simulate(draw_walk(*key, options.seed)))
    if options.check == "no":
        return 0
    print("| walks | walks, passed | falls, passed | walks, refused | falls, refused | precision | recall |")
    print("|---|---|---|---|---|---|---|", flush=True)
    for robot in robots:
        known = [key for key in keys if key[0] == robot and key in store.outcomes]
        answers = [ask(draw_walk(*key, options.seed), key[2], store.outcomes[key]) for key in known]
        print(table_line(f"{robot}, first check, all", answers, "first"))
        for part, name in ((0, "even"), (1, "odd")):
            chosen = [each for each in answers if each.draw % 2 == part]
            print(table_line(f"{robot}, simulated, {name} draws", chosen, "simulated"), flush=True)
        times = [each.seconds for each in answers]
        if times:
            print(f"\nprocessor time: median {np.median(times):.2f} s, largest {max(times):.2f} s\n", flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
