"""``poise run``: a behavior on a robot, recorded and judged."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from poise.cli.options import (
    amount,
    breakdown,
    check_writable,
    ground,
    percent,
    positive,
    push,
    say_kept,
    seconds,
    setting,
    speed,
    whole,
)
from poise.errors import UsageError
from poise.recording import Bar

FAILED = 1
MODES_HELP = "default: kinematic for reach; position for navigate on robots with servos; else torque"


def add(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("behavior", metavar="BEHAVIOR", type=_behavior, help="reach, stand, squat, walk or navigate")
    parser.add_argument("--robot", default="g1", metavar="NAME|FILE", help="see 'poise robots', or a URDF (default g1)")
    modes, plants = ("kinematic", "torque", "position"), ("ideal", "mujoco")
    parser.add_argument("--mode", default="", choices=modes, help=MODES_HELP)
    parser.add_argument("--plant", default="", choices=plants, help="default: ideal for kinematic reach, else mujoco")
    parser.add_argument(
        "--solver", default="strict", choices=("strict", "weighted", "null-space"), help="default: strict"
    )
    parser.add_argument(
        "--seconds", type=seconds, metavar="S", help="of motion (default: as long as the behavior takes)"
    )
    parser.add_argument(
        "--set",
        type=setting,
        action="append",
        default=[],
        metavar="KEY=VALUE",
        dest="settings",
        help="a number of the behavior, like phase=2.5; may be given more than once",
    )
    parser.add_argument("--seed", type=whole, default=0, metavar="N", help="of everything random (default 0)")
    parser.add_argument("--out", type=Path, metavar="FILE.poise", help="where to record")
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of a summary")
    parser.add_argument(
        "--profile", default="exponential", choices=("exponential", "minimum-jerk"), help="of the reach"
    )
    walking = parser.add_argument_group("how to walk")
    walking.add_argument(
        "--style", metavar="NAME|FILE.toml", help="neutral (default), relaxed, cautious, proud, sad, ... or a file"
    )
    walking.add_argument("--steps", type=whole, metavar="N", help="default 20; 0 stands, and steps when pushed")
    walking.add_argument(
        "--speed", type=speed, metavar="VX,VY,WZ", help="in m/s, m/s and rad/s instead of the style's own"
    )
    guiding = parser.add_argument_group("what guides the robot (navigate)")
    guide = guiding.add_mutually_exclusive_group()
    guide.add_argument("--script", metavar="FILE.json", help='a list of {"time", "mode", "input": [6 numbers]}')
    guide.add_argument("--random", action="store_true", help="a random stick, of the seed (default)")
    guide.add_argument("--scenario", action="store_true", help="down three steps, across a room, a hand to its door")
    guiding.add_argument(
        "--remote", metavar="ADDRESS", help="of a plant that 'poise serve' moves, like tcp://127.0.0.1:5560"
    )
    outside = parser.add_argument_group("what happens to the robot (with --plant mujoco)")
    outside.add_argument(
        "--push", type=push, action="append", default=[], metavar="FX,FY,FZ,DURATION@TIME", dest="pushes",
        help="in N and s at the base; may be given more than once",
    )  # fmt: skip
    outside.add_argument(
        "--terrain",
        type=ground,
        default="flat",
        metavar="KIND",
        help="flat, slope:DEG, rough:METRES or stairs:RISE,RUN,COUNT",
    )
    outside.add_argument("--friction", type=positive, metavar="MU", help="of the ground (default 0.8)")
    outside.add_argument(
        "--mass-error", type=percent, default=0.0, metavar="PERCENT", help="heavier than the controller believes"
    )
    outside.add_argument("--delay", type=amount, default=0.0, metavar="MS", help="age of the measured state")
    outside.add_argument(
        "--noise",
        type=amount,
        metavar="LEVEL",
        help="of sensors; 0.01 is what good ones leave (default there on servos, else 0)",
    )
    outside.add_argument(
        "--break", type=breakdown, action="append", default=[], metavar="WHAT@TIME", dest="breakdowns",
        help="cell:left:2:dead (stuck, nan), swapped, or weak:JOINT:SHARE; may be given more than once",
    )  # fmt: skip
    outside.add_argument(
        "--carry", type=amount, default=0.0, metavar="PERCENT", help="of its weight, a box in both hands (on servos)"
    )
    parser.set_defaults(action=_run)


def _behavior(text: str) -> str:
    """Asked before the other options are: those of a behavior that is not there yet are not known either."""
    from poise.runs import known_behavior

    return known_behavior(text)


def _run(options: argparse.Namespace) -> int:
    from poise import runs  # here, so that other commands start fast

    given = {name: getattr(options, name) for name in ("style", "steps", "speed")}
    walking = {name: value for name, value in given.items() if value is not None}
    if walking and options.behavior != "walk":
        raise UsageError(f"--{next(iter(walking))} is for walks; give it to 'poise run walk'")
    if options.random and options.behavior != "navigate":
        raise UsageError("--random is for guided robots; give it to 'poise run navigate'")
    request = runs.Request(
        **walking,
        behavior=options.behavior,
        robot=options.robot,
        mode=options.mode,
        plant=options.plant,
        seconds=options.seconds,
        profile=options.profile,
        solver=options.solver,
        pushes=options.pushes,
        terrain=options.terrain,
        friction=options.friction,
        mass_error=options.mass_error,
        delay=options.delay,
        noise=options.noise,
        breakdowns=options.breakdowns,
        carry=options.carry,
        settings=dict(options.settings),
        seed=options.seed,
        script=options.script or "",
        scenario=options.scenario,
        remote=options.remote or "",
    )
    check_writable(options.out)
    bar = Bar(f"{options.behavior} on {options.robot}", options.seconds or runs.usual_seconds(request))
    try:
        recording, result = runs.run(request, options.out, bar)
    except KeyboardInterrupt as interrupt:
        bar.close()
        say_kept(interrupt, options.out)
        raise
    bar.close()
    print(json.dumps(result) if options.json else _words(recording, result))
    return FAILED if result["fell"] or result["reason"] else 0


def _words(recording: Any, result: dict[str, Any]) -> str:
    lines = [recording.summary()]
    if result["reach_errors_m"] is not None:
        lines.append("targets missed by: " + ", ".join(f"{1e3 * miss:.2f} mm" for miss in result["reach_errors_m"]))
    if result["zmp_margin_m"] is not None:
        room = 1e3 * result["zmp_margin_m"]
        lines.append(f"smallest ZMP margin: {room:.0f} mm (negative: this motion needs more ground)")
    if "walk" in result:
        lines += _walked(result)
    if "regulation" in result:
        lines += _regulated(result["regulation"])
    if "navigate" in result:
        lines += _guided(result)
    for name, entry in (result["limits"] or {}).items():
        lines.append(f"at its torque limit of {entry['limit_Nm']:.0f} N m: {name}, for {entry['seconds']:.2f} s")
    if result["realtime_factor"] is not None:
        lines.append(f"computed {result['realtime_factor']:.1f} times as fast as real time")
    lines.append(f"failed: {result['reason']}" if result["reason"] else "succeeded")
    return "\n".join(lines)


def _walked(result: dict[str, Any]) -> list[str]:
    walk = result["walk"]
    went, wanted = ([f"{value:.2f}" for value in walk[key]] for key in ("speed", "commanded_speed"))
    return [
        f"{walk['style']}: {result['steps']} steps, {result['distance_m']:.2f} m at {', '.join(went)} "
        f"(asked for {', '.join(wanted)}) m/s, m/s, rad/s",
        f"a standing foot slips by at most {1e3 * walk['slip_m']:.0f} mm",
    ]


def _regulated(told: dict[str, Any]) -> list[str]:
    words = "the centre of mass alone" if not told["regulating"] else "ZMP regulation"
    lines = [f"{words}, servos at {100 * told['stiffness']:.0f} % of their stiffness, noise of cells included"]
    if told["zmp_largest_m"] is not None:
        lines.append(
            f"weighted ZMP from the middle of the soles: rms {1e3 * told['zmp_rms_m']:.1f} mm, "
            f"at most {1e3 * told['zmp_largest_m']:.1f} mm"
        )
    if told["returned_s"] is not None:
        lines.append(f"back within 5 mm {told['returned_s']:.2f} s after the last push")
    if told["cycle_rms_rad"]:
        lines.append("cycle to cycle: " + ", ".join(f"{1e3 * rms:.1f}" for rms in told["cycle_rms_rad"]) + " mrad rms")
    return [*lines, *told["notes"]]


def _guided(result: dict[str, Any]) -> list[str]:
    told = result["navigate"]
    outcomes = ", ".join(f"{count} {name}" for name, count in told["outcomes"].items())
    lines = [
        f"{told['segments']} segments ({outcomes}), {told['corrected']} of them prolonged, the longest "
        f"{told['longest_s']:.2f} s; {told['projected']} commands were beyond a boundary and projected",
        f"{result['steps']} steps, {result['distance_m']:.2f} m, turned by {result['heading_rad']:.2f} rad",
    ]
    response = told["response_s"]
    if response is not None and response["median"] is not None:
        lines.append(
            f"guided points moved {response['median']:.2f} s after their segment began, at most "
            f"{response['max']:.2f} s; {100 * response['within_one_segment']:.0f} % of them within it"
        )
    if "scenario" in told:
        lines.append(f"left hand to the door: {1e3 * told['scenario']['hand_to_door_m']:.1f} mm")
    return lines
