"""Command ``poise replay``: play a joint trajectory on a simulated robot with position servos, open loop."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from poise.cli.options import (
    add_output_options,
    check_writable,
    integer_argument,
    positive_argument,
    push_argument,
    report_interruption,
    result_text,
    terrain_argument,
)
from poise.errors import UsageError
from poise.recording import ProgressBar

FAILED = 1


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``poise replay`` to a parser."""
    parser.add_argument(
        "trajectory", type=Path, metavar="TRAJECTORY", help="exported .csv or .npz file, or a .poise recording"
    )
    parser.add_argument("--robot", metavar="NAME|FILE", help="robot to play it on (default: named in the file)")
    parser.add_argument(
        "--friction",
        type=positive_argument,
        default=0.8,
        metavar="MU",
        help="friction coefficient of the ground (default 0.8)",
    )
    parser.add_argument(
        "--torque-feedforward",
        action=argparse.BooleanOptionalAction,
        default=None,
        help="offset the servo targets so that the servos give the recorded torques (default: if the file has torques)",
    )
    parser.add_argument(
        "--terrain",
        type=terrain_argument,
        default="flat",
        metavar="KIND",
        help="flat, slope:DEG, rough:METERS or stairs:RISE,RUN,COUNT (default flat)",
    )
    parser.add_argument(
        "--push", type=push_argument, action="append", default=[], metavar="FX,FY,FZ,DURATION@TIME", dest="pushes",
        help="push at the base, in N and s; repeatable; the motion begins at 1 s",
    )  # fmt: skip
    parser.add_argument(
        "--seed", type=integer_argument, default=0, metavar="N", help="random seed of rough terrain (default 0)"
    )
    add_output_options(parser)
    parser.set_defaults(action=_replay)


def _replay(options: argparse.Namespace) -> int:
    check_writable(options.out)
    from poise import exports  # imported late so that other commands start fast
    from poise.exports import LEAD_IN, LEAD_OUT, replay_trajectory
    from poise.plants import Push, parse_terrain
    from poise.robots import load_robot

    trajectory = exports.read_trajectory(options.trajectory)
    name = options.robot or trajectory.robot
    if not name:
        raise UsageError(f"'{options.trajectory}' does not name its robot; give --robot")
    robot = load_robot(name)
    bar = ProgressBar(f"replay on {robot.name}", LEAD_IN + trajectory.duration + LEAD_OUT)
    try:
        recording, result = replay_trajectory(
            robot,
            trajectory,
            friction=options.friction,
            ground=parse_terrain(options.terrain),
            pushes=[Push.parse(text) for text in options.pushes],
            torque_feedforward=options.torque_feedforward,
            seed=options.seed,
            path=options.out,
            progress=bar,
        )
    except KeyboardInterrupt as interrupt:
        bar.close()
        report_interruption(interrupt, options.out)
        raise
    bar.close()
    result["robot"] = name
    print(json.dumps(result) if options.json else result_text(recording, result, options.out, options.verbose))
    return FAILED if result["fell"] or result["reason"] else 0
