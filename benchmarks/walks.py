"""How often walks survive: styles on all robots, speeds, stairs, disturbances and pushes, several seeds each.

    python benchmarks/walks.py                      # everything, 10 seeds: some 40 minutes on two cores
    python benchmarks/walks.py --seeds 3 --only push,slope --robots g1

A walk survives when it makes its steps without a fall and its divergent component is near its plan in the last second.
"""

from __future__ import annotations

import argparse
import math
import multiprocessing
import sys
from dataclasses import replace

import numpy as np

from poise import runs
from poise.runs import Request

BIG = ("g1", "talos")
ALL = ("g1", "talos", "romeo", "icub", "nao")
#: Force of a push on the pelvis (N), while walking and while standing.
PUSHES = {"g1": (60.0, 150.0), "talos": (200.0, 400.0)}
STEADY = (0.3, 0.0, 0.0)


def cases(robots: tuple[str, ...], seeds: int) -> list[tuple[str, Request]]:
    """Every walk with the name of what it tries."""
    found: list[tuple[str, Request]] = []
    for robot in robots:
        for style in ("neutral", "relaxed", "cautious", "proud", "sad"):
            for solver in ("strict", "weighted"):
                found.append((f"style {style}, {solver}", Request("walk", robot, style=style, solver=solver)))
        if robot not in BIG:
            continue
        speeds = [(v, 0.0, 0.0) for v in (0.2, 0.3, 0.4, 0.5, 0.6, -0.3)]
        speeds += [(0.0, 0.15, 0.0), (0.0, -0.15, 0.0), (0.0, 0.0, 0.6), (0.2, 0.0, 0.4)]
        found += [(f"speed {speed}", Request("walk", robot, speed=speed)) for speed in speeds]
        for rise in (0.05, -0.05):
            request = Request("walk", robot, speed=(0.2, 0.0, 0.0), steps=24, terrain=f"stairs:{rise},0.3,4")
            found.append((f"stairs {rise:+.2f} m", request))
        walk = Request("walk", robot, speed=STEADY)
        for seed in range(seeds):
            rng = np.random.default_rng(seed)
            each = {
                "friction 0.4": replace(walk, friction=0.4, seed=seed),
                "mass +15 %": replace(walk, mass_error=15.0, seed=seed),
                "mass -15 %": replace(walk, mass_error=-15.0, seed=seed),
                "delay 6 ms": replace(walk, delay=6.0, seed=seed),
                "noise 0.01": replace(walk, noise=0.01, seed=seed),
                "slope +5 degrees": replace(walk, terrain="slope:5", seed=seed),
                "slope -5 degrees": replace(walk, terrain="slope:-5", seed=seed),
                "rough 2 cm": replace(walk, terrain="rough:0.02", seed=seed),
                "push while walking": replace(walk, pushes=(push(PUSHES[robot][0], *rng.uniform((0, 3), (6.28, 8))),)),
            }
            # Where nothing is random, the speed is: a deterministic walk repeated proves nothing.
            for name, request in each.items():
                if name.split()[0] in ("friction", "mass", "delay", "slope"):
                    request = replace(
                        request, speed=(float(rng.uniform(0.25, 0.35)), 0.0, float(rng.uniform(-0.1, 0.1)))
                    )
                found.append((name, request))
        for k in range(8):
            force = push(PUSHES[robot][1], 0.25 * math.pi * k, 1.0)
            found.append(("push while standing", Request("walk", robot, steps=0, seconds=6.0, pushes=(force,))))
    return found


def push(force: float, angle: float, time: float) -> str:
    return f"{force * math.cos(angle):.2f},{force * math.sin(angle):.2f},0,0.1@{time:.3f}"


def tried(case: tuple[str, Request]) -> tuple[str, str, str, dict[str, object]]:
    name, request = case
    _, result = runs.run(request)
    return request.robot, name, result["reason"] or "", result


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--only", default="", help="words of cases, separated by commas")
    parser.add_argument("--robots", default=",".join(ALL))
    parser.add_argument("--workers", type=int, default=2)
    options = parser.parse_args()
    words = [word for word in options.only.split(",") if word]
    every = cases(tuple(options.robots.split(",")), options.seeds)
    todo = [case for case in every if not words or any(word in case[0] for word in words)]
    survived: dict[tuple[str, str], list[str]] = {}
    times: list[float] = []
    with multiprocessing.Pool(options.workers) as pool:
        for i, (robot, name, reason, result) in enumerate(pool.imap(tried, todo)):
            survived.setdefault((robot, name), []).append(reason)
            times.append(result["control_ms"]["median"])  # type: ignore[index]
            note = f"  {reason}" if reason else ""
            walk = result["walk"]
            speeds = [", ".join(f"{v:.2f}" for v in walk[key]) for key in ("speed", "commanded_speed")]  # type: ignore[index]
            slip = 1e3 * walk["slip_m"]  # type: ignore[index]
            line = f"{i + 1}/{len(todo)} {robot} {name}: {speeds[0]} of {speeds[1]}, slip {slip:.0f} mm{note}"
            print(line, file=sys.stderr, flush=True)
    print(f"{'robot':8} {'tried':28} survived")
    for (robot, name), reasons in survived.items():
        good = sum(not reason for reason in reasons)
        why = f"   {next(filter(None, reasons))}" if good < len(reasons) else ""
        print(f"{robot:8} {name:28} {good}/{len(reasons)}{why}")
    print(f"control tick, median over runs: {np.median(times):.2f} ms")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
