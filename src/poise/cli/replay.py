"""``poise replay``: a joint trajectory on a simulated robot with position servos, open loop."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from poise.cli.options import check_writable, ground, positive, push, say_kept, whole
from poise.errors import UsageError
from poise.recording import Bar

FAILED = 1


def add(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "trajectory", type=Path, metavar="TRAJECTORY", help="a .csv or .npz that was exported, a .poise"
    )
    parser.add_argument("--robot", metavar="NAME|FILE", help="who plays it (default: as the file says, if it does)")
    parser.add_argument("--friction", type=positive, default=0.8, metavar="MU", help="of the ground (default 0.8)")
    parser.add_argument("--lead", action="store_true", help="targets lead the angles by torque over stiffness")
    parser.add_argument(
        "--terrain", type=ground, default="flat", metavar="KIND", help="flat, slope:DEG, rough:METRES or stairs:..."
    )
    parser.add_argument(
        "--push", type=push, action="append", default=[], metavar="FX,FY,FZ,DURATION@TIME", dest="pushes",
        help="in N and s at the base; the motion begins after 1 s",
    )  # fmt: skip
    parser.add_argument("--seed", type=whole, default=0, metavar="N", help="of uneven ground (default 0)")
    parser.add_argument("--out", type=Path, metavar="FILE.poise", help="where to record")
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of a summary")
    parser.set_defaults(action=_replay)


def _replay(options: argparse.Namespace) -> int:
    check_writable(options.out, "replay.poise")
    from poise import exports  # here, so that other commands start fast
    from poise.exports import REST, SETTLE, replayed
    from poise.plants import Push, terrain
    from poise.robots import load_robot

    trajectory = exports.trajectory(options.trajectory)
    name = options.robot or trajectory.robot
    if not name:
        raise UsageError(f"'{options.trajectory}' does not say whose motion it is; give --robot")
    robot = load_robot(name)
    bar = Bar(f"replay on {robot.name}", SETTLE + trajectory.duration + REST)
    try:
        recording, result = replayed(
            robot,
            trajectory,
            friction=options.friction,
            ground=terrain(options.terrain),
            pushes=[Push.parsed(text) for text in options.pushes],
            lead=options.lead,
            seed=options.seed,
            path=options.out,
            progress=bar,
        )
    except KeyboardInterrupt as interrupt:
        bar.close()
        say_kept(interrupt, options.out)
        raise
    bar.close()
    result["robot"] = name
    print(json.dumps(result) if options.json else _words(recording, result))
    return FAILED if result["fell"] or result["reason"] else 0


def _words(recording: Any, result: dict[str, Any]) -> str:
    lines = [f"{recording.robot.name}, position servos, open loop: {recording.duration:.2f} s"]
    if result["tracking_rad"] is not None:
        off = result["tracking_rad"]
        lines.append(f"joints off the trajectory by {1e3 * off['rms']:.2f} mrad rms, {1e3 * off['max']:.1f} at most")
    if result["drift_m"] is not None:
        turn = abs(result["drift_rad"])
        lines.append(f"at the end {1e3 * result['drift_m']:.0f} mm and {1e3 * turn:.0f} mrad from where it should be")
    lines.append(f"failed: {result['reason']}" if result["reason"] else "succeeded")
    return "\n".join(lines)
