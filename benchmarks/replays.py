"""Replay walks open loop on position servos, for several styles, robots and frictions, without and with
torque feed-forward.

    python benchmarks/replays.py                                  # the table of docs/export.md: some 5 minutes
    python benchmarks/replays.py --robots talos --styles proud --frictions 0.22,0.2,0.18     # check one result nearby

Each walk is recorded once, with torque control and feedback, on friction 0.8. Its joint angles are then played on every
friction. The simulation is deterministic, so compare a cell with its neighbors to see whether a success is robust.
"""

from __future__ import annotations

import argparse
import re
import sys

from poise import exports, runs
from poise.robots import Robot, load_robot

ROBOTS = ("g1", "talos")
#: The neutral walk, and the styles of [Dalibard2012] section VI.
STYLES = ("neutral", "relaxed", "cautious", "proud", "sad")
#: Friction coefficients of the ground, from dry floor to wet tiles.
FRICTIONS = (0.8, 0.6, 0.4, 0.2)
#: Number of steps: four strides, after which a drifting robot has fallen.
STEPS = 8


def record_walk(robot: str, style: str) -> exports.Trajectory:
    """Return the joint trajectory of a walk at the speed of its style."""
    recording, result = runs.Walk(robot=robot, style=style, steps=STEPS).run()
    if result["reason"]:
        print(f"{robot}, {style}: the walk itself failed: {result['reason']}", file=sys.stderr)
    return exports.Trajectory.of(recording)


def replay_walk(robot: Robot, trajectory: exports.Trajectory, friction: float, feedforward: bool) -> tuple[bool, str]:
    """Return whether a replay succeeds, and its base drift (mm) or the time of its fall (the motion starts at 1 s)."""
    _, result = exports.replay_trajectory(robot, trajectory, friction=friction, torque_feedforward=feedforward)
    if result["fell"]:
        match = re.match(r"fell at ([\d.]+) s", result["reason"])
        assert match is not None
        return False, f"falls {float(match[1]):.1f} s"
    return True, f"{1e3 * result['drift_m']:.0f}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--robots", default=",".join(ROBOTS))
    parser.add_argument("--styles", default=",".join(STYLES))
    parser.add_argument("--frictions", default=",".join(str(friction) for friction in FRICTIONS))
    options = parser.parse_args()
    frictions = [float(word) for word in options.frictions.split(",")]
    success_counts = {False: 0, True: 0}
    heads = [f"{word}{friction:g}" for word in ("plain, ", "feed-forward, ") for friction in frictions]
    print(f"| robot, style | {' | '.join(heads)} |\n|{'---|' * (1 + len(heads))}")
    pairs = [(name, style) for name in options.robots.split(",") for style in options.styles.split(",")]
    robots = {name: load_robot(name) for name, _ in pairs}
    for name, style in pairs:
        trajectory = record_walk(name, style)
        cells = []
        for feedforward in success_counts:
            for friction in frictions:
                stands, cell = replay_walk(robots[name], trajectory, friction, feedforward)
                success_counts[feedforward] += stands
                cells.append(cell)
        print(f"| {name}, {style} | {' | '.join(cells)} |", flush=True)
    tried = len(pairs) * len(frictions)
    plain, feedforward_count = success_counts[False], success_counts[True]
    print(f"\nsuccesses: plain {plain} of {tried}, with torque feed-forward {feedforward_count} of {tried}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
