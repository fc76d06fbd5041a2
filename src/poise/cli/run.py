"""Command ``poise run``: run a motion on a robot, record it and evaluate it."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from poise.cli.options import argument_type, check_writable, report_interruption, setting_argument
from poise.recording import ProgressBar

if TYPE_CHECKING:
    from poise.parameters import Parameter
    from poise.runs import Motion

FAILED = 1


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add one subcommand per motion."""
    from poise.runs import MOTIONS, motion_parameters

    motions = parser.add_subparsers(title="motions", metavar="MOTION", dest="behavior", required=True)
    parsers = {motion: add_motion(motions, motion) for motion in MOTIONS.values()}
    for motion, motion_parser in parsers.items():
        known = motion_parameters(motion)
        other_options = [(option, other) for other in MOTIONS.values() for option in motion_parameters(other)]
        motion_parser.options_of_other_commands.update(
            {f"--{option}": f"poise run {other.name}" for option, other in other_options if option not in known}
        )


def add_motion(motions: Any, motion: type[Motion]) -> Any:
    """Add the subcommand of a motion, with one option per parameter, and return its parser."""
    from poise.runs import World, motion_parameters

    parser = motions.add_parser(
        motion.name,
        help=motion.summary,
        description=f"{motion.__doc__}",
        epilog=_settings_help(motion),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    world = parser.add_argument_group("world options (with --plant mujoco)")
    for parameter in motion_parameters(motion).values():
        _add_option(world if parameter.name in World.__dataclass_fields__ else parser, parameter)
    parser.add_argument(
        "--set",
        type=setting_argument,
        action="append",
        default=[],
        metavar="NAME=VALUE",
        dest="settings",
        help="change a setting listed below; repeatable",
    )
    parser.add_argument("--out", type=Path, metavar="FILE.poise", help="record to this file")
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of a summary")
    parser.set_defaults(action=_run, motion=motion)
    return parser


def _add_option(parser: Any, parameter: Parameter) -> None:
    """Add the option of a parameter. It has no default here, so that defaults are declared only once."""
    option: dict[str, Any] = {"dest": parameter.name, "default": argparse.SUPPRESS, "help": parameter.help}
    if parameter.kind == "flag":
        action = argparse.BooleanOptionalAction if parameter.default else "store_true"
        parser.add_argument(f"--{parameter.option}", action=action, **option)
        return
    if parameter.choices:
        option["choices"] = parameter.choices
    else:
        option["type"] = argument_type(parameter.parse_one)
        option["metavar"] = parameter.metavar or parameter.name.upper()
    if parameter.kind == "list":
        option["action"] = "append"
    parser.add_argument(f"--{parameter.option}", **option)


def _settings_help(motion: type[Motion]) -> str:
    """Return the list of settings of a motion for its help text."""
    from poise.parameters import parameters

    lines = []
    for mode, type_ in motion.settings_types().items():
        lines.append(f"settings (--set NAME=VALUE){f' with --mode {mode}' if mode else ''}:")
        lines += [f"  {name:<18} {parameter.help}" for name, parameter in parameters(type_).items()]
    for prefix, type_ in motion.prefixed_settings.items():
        lines.append(f"{prefix.rstrip('.')} settings (--set {prefix}NAME=VALUE):")
        lines += [f"  {prefix + name:<24} {parameter.help}" for name, parameter in parameters(type_).items()]
    return "\n".join(lines)


def _run(options: argparse.Namespace) -> int:
    from poise.runs import World

    check_writable(options.out)
    given = vars(options)
    motion_type: type[Motion] = options.motion
    names = {*motion_type.__dataclass_fields__, *World.__dataclass_fields__} - {"settings", "world"}
    values = {name: given[name] for name in names if name in given}
    motion: Motion = motion_type(**values, settings=dict(options.settings))
    bar = ProgressBar(f"{motion.name} on {motion.robot}", motion.seconds or motion.usual_seconds)
    try:
        recording, result = motion.run(options.out, bar)
    except KeyboardInterrupt as interrupt:
        bar.close()
        report_interruption(interrupt, options.out)
        raise
    bar.close()
    print(json.dumps(result) if options.json else _summary_text(recording, result))
    return FAILED if result["fell"] or result["reason"] else 0


def _summary_text(recording: Any, result: dict[str, Any]) -> str:
    lines = [recording.summary()]
    if result["reach_errors_m"] is not None:
        lines.append("reach errors: " + ", ".join(f"{1e3 * miss:.2f} mm" for miss in result["reach_errors_m"]))
    if result["zmp_margin_m"] is not None:
        margin_mm = 1e3 * result["zmp_margin_m"]
        lines.append(f"smallest ZMP margin: {margin_mm:.0f} mm (negative: the ZMP leaves the support polygon)")
    if "walk" in result:
        lines += _walk_lines(result)
    if "regulation" in result:
        lines += _regulation_lines(result["regulation"])
    if "navigate" in result:
        lines += _navigation_lines(result)
    for name, entry in (result["limits"] or {}).items():
        lines.append(f"{name} at its torque limit of {entry['limit_Nm']:.0f} N m for {entry['seconds']:.2f} s")
    if result["realtime_factor"] is not None:
        lines.append(f"computed at {result['realtime_factor']:.1f} times real time")
    lines.append(f"failed: {result['reason']}" if result["reason"] else "succeeded")
    return "\n".join(lines)


def _walk_lines(result: dict[str, Any]) -> list[str]:
    walk = result["walk"]
    speed, commanded = ([f"{value:.2f}" for value in walk[key]] for key in ("speed", "commanded_speed"))
    return [
        f"{walk['style']}: {result['steps']} steps, {result['distance_m']:.2f} m at {', '.join(speed)} "
        f"(commanded {', '.join(commanded)}) m/s, m/s, rad/s",
        f"the stance foot slips by at most {1e3 * walk['slip_m']:.0f} mm",
    ]


def _regulation_lines(regulation: dict[str, Any]) -> list[str]:
    law = "CoM control without ZMP regulation" if not regulation["regulating"] else "ZMP regulation"
    lines = [f"{law}, servos at {100 * regulation['stiffness']:.0f} % of their stiffness, with force sensor noise"]
    if regulation["zmp_largest_m"] is not None:
        lines.append(
            f"weighted ZMP error from the middle of the soles: rms {1e3 * regulation['zmp_rms_m']:.1f} mm, "
            f"at most {1e3 * regulation['zmp_largest_m']:.1f} mm"
        )
    if regulation["returned_s"] is not None:
        lines.append(f"back within 5 mm {regulation['returned_s']:.2f} s after the last push")
    if regulation["cycle_rms_rad"]:
        lines.append(
            "difference from cycle to cycle: "
            + ", ".join(f"{1e3 * rms:.1f}" for rms in regulation["cycle_rms_rad"])
            + " mrad rms"
        )
    return [*lines, *regulation["notes"]]


def _navigation_lines(result: dict[str, Any]) -> list[str]:
    navigation = result["navigate"]
    outcomes = ", ".join(f"{count} {name}" for name, count in navigation["outcomes"].items())
    lines = [
        f"{navigation['segments']} segments ({outcomes}), {navigation['corrected']} prolonged, the longest "
        f"{navigation['longest_s']:.2f} s; {navigation['projected']} commands projected onto a boundary",
        f"{result['steps']} steps, {result['distance_m']:.2f} m, turned by {result['heading_rad']:.2f} rad",
    ]
    response = navigation["response_s"]
    if response is not None and response["median"] is not None:
        lines.append(
            f"guided points moved {response['median']:.2f} s after the start of their segment (median), at most "
            f"{response['max']:.2f} s; {100 * response['within_one_segment']:.0f} % moved within the segment"
        )
    if "scenario" in navigation:
        lines.append(f"distance of the left hand to the door: {1e3 * navigation['scenario']['hand_to_door_m']:.1f} mm")
    return lines
