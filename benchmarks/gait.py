"""Measure how natural and how economical walks are: one table line per robot, style and speed.

    python -m benchmarks.gait                                       # seven robots at their usual speed
    python -m benchmarks.gait --robots g1 --speeds 0.3 0.5          # forward, m/s
    python -m benchmarks.gait --robots g1,talos --styles neutral,sad,brisk

Speeds are Froude numbers with `--froude`. Steady steps only; "cost" is the cost of transport, pelvis angles and sway
are ranges within a stride, "slip" is the largest of a step, "jerk" that of the center of mass below 20 Hz, "hands" the
correlation of the fore-aft motion of the hands (people: about -1), "sat" the share of ticks with a saturated motor.
"""

from __future__ import annotations

import argparse
import math
import time

import numpy as np

from poise import runs
from poise.analysis import analyze_walk, center_of_mass_jerk, knee_measures, quality_figures, style_measures
from poise.plants import steps
from poise.recording import record_steps
from poise.robots import GRAVITY, leg_length, load_robot

ROBOTS = "g1,talos,romeo,icub,nao,hoap3,human"
#: Froude number v² / (g l) of the usual speed of the table: 0.5 m/s on G1.
FROUDE = 0.037
HEADS = (
    "requested m/s", "forward", "left", "cost", "pitch", "roll", "yaw", "sway mm", "knee least", "mid", "range",
    "swing", "slip mm", "jerk", "arms", "hands", "edge", "sat", "jump", "dcm cm", "cadence", "ms",
)  # fmt: skip


def measure(motion: runs.Walk) -> list[str]:
    """Run a walk and return its cells of the table; "falls" with the time if it falls."""
    setup = motion.build()
    recording = record_steps(steps(setup.controller, setup.plant, setup.seconds), setup.plant.robot)
    robot = setup.plant.robot
    walk = analyze_walk(recording, robot)
    requested = setup.behavior.requested_speed[0]
    if setup.plant.fallen:
        return [f"{requested:.2f}", f"falls at {walk.fall_time:.1f} s"]
    measures, figures = style_measures(walk), quality_figures(recording, robot, walk)
    knees = knee_measures(walk)
    figure = {name: math.nan if value is None else value for name, value in figures.items()}
    return [
        f"{requested:.2f}",
        f"{measures.forward:.2f}",
        f"{measures.sideways:.2f}",
        f"{measures.cost_of_transport:.2f}",
        f"{figure['pelvis_pitch_deg']:.1f}",
        f"{figure['pelvis_roll_deg']:.1f}",
        f"{figure['pelvis_yaw_deg']:.1f}",
        f"{2e3 * measures.sway:.0f}",
        *(f"{angle:.0f}" for angle in knees),
        f"{1e3 * measures.slip:.1f}",
        f"{center_of_mass_jerk(walk):.0f}",
        f"{measures.arm_swing:.0f}",
        f"{figure['hand_correlation']:+.2f}",
        f"{figure['edge_time']:.2f}",
        f"{figure['saturated_share']:.2f}",
        f"{figure['torque_jump']:.2f}",
        f"{100 * measures.dcm_error:.1f}",
        f"{measures.cadence:.0f}",
        f"{np.median(recording['control/milliseconds']):.2f}",
    ]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--robots", default=ROBOTS)
    parser.add_argument("--styles", default="neutral")
    parser.add_argument("--speeds", type=float, nargs="*", help="forward (m/s); 0: that of the style")
    parser.add_argument("--froude", type=float, nargs="*", default=[FROUDE], help="speeds as Froude numbers")
    parser.add_argument("--sideways", type=float, default=0.0, help="to the left (m/s)")
    parser.add_argument("--turning", type=float, default=0.0, help="rad/s")
    parser.add_argument("--steps", type=int, default=12)
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="setting of the walk")
    options = parser.parse_args()
    settings = {name: float(value) for name, value in (each.split("=") for each in options.set)}
    print(f"| walk | {' | '.join(HEADS)} |\n|{'---|' * (1 + len(HEADS))}", flush=True)
    begin = time.process_time()
    for name in options.robots.split(","):
        length = leg_length(load_robot(name))
        forward = options.speeds or [math.copysign(math.sqrt(abs(f) * GRAVITY * length), f) for f in options.froude]
        for style in options.styles.split(","):
            for speed in forward:
                own = speed == options.sideways == options.turning == 0.0
                requested = None if own else (round(speed, 3), options.sideways, options.turning)
                motion = runs.Walk(robot=name, style=style, speed=requested, steps=options.steps, settings=settings)
                print(f"| {name}, {style} | {' | '.join(measure(motion))} |", flush=True)
    print(f"\n{time.process_time() - begin:.0f} s of processor time")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
