"""Command ``poise run``: run a motion on a robot, record it and evaluate it."""

from __future__ import annotations

import argparse
import json
from functools import partial
from inspect import cleandoc
from typing import TYPE_CHECKING, Any

from poise.cli.options import (
    add_output_options,
    argument_type,
    check_writable,
    report_interruption,
    result_text,
    setting_argument,
)
from poise.recording import ProgressBar

if TYPE_CHECKING:
    from poise.parameters import Parameter
    from poise.runs import Motion

FAILED = 1


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add one subcommand per motion."""
    from poise.runs import MOTIONS

    motions = parser.add_subparsers(title="motions", metavar="MOTION", dest="behavior", required=True)
    for motion in MOTIONS.values():
        add_motion(motions, motion)


def add_motion(motions: Any, motion: type[Motion]) -> None:
    """Add the subcommand of a motion; its options are added when it is used."""
    parser = motions.add_parser(
        motion.name,
        help=motion.summary,
        description=cleandoc(motion.__doc__ or "").partition("\n\n")[0],
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_options = partial(_add_options, motion=motion)


def _add_options(parser: Any, motion: type[Motion]) -> None:
    """Add one option per parameter of a motion."""
    from poise.runs import MOTIONS, World, motion_parameters

    known = motion_parameters(motion)
    parser.epilog = _settings_help(motion)
    world = parser.add_argument_group("world options (with --plant mujoco)")
    for parameter in known.values():
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
    add_output_options(parser)
    parser.set_defaults(action=_run, motion=motion)
    for other in MOTIONS.values():
        other_options = [f"--{option}" for option in motion_parameters(other) if option not in known]
        parser.options_of_other_commands.update(dict.fromkeys(other_options, f"poise run {other.name}"))


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
        lines += [f"  {name:<26} {_setting_help(parameter)}" for name, parameter in parameters(type_).items()]
    for prefix, type_ in motion.prefixed_settings.items():
        lines.append(f"{prefix.rstrip('.')} settings (--set {prefix}NAME=VALUE):")
        lines += [f"  {prefix + name:<29} {_setting_help(parameter)}" for name, parameter in parameters(type_).items()]
    return "\n".join(lines)


def _setting_help(parameter: Parameter) -> str:
    """Return the help of a setting, which, unlike an option, needs a value also if it is a flag."""
    if parameter.kind != "flag":
        return parameter.help
    return f"{parameter.description} (true or false, default {parameter.format(parameter.default)})"


def _run(options: argparse.Namespace) -> int:
    from poise.runs import World

    check_writable(options.out)
    motion_type: type[Motion] = options.motion
    names = {*motion_type.__dataclass_fields__, *World.__dataclass_fields__} - {"settings", "world"}
    values = {name: value for name, value in vars(options).items() if name in names}
    motion: Motion = motion_type(**values, settings=dict(options.settings))
    motion.check_names()  # before the robot is loaded, which takes seconds
    bar = ProgressBar(f"{motion.name} on {motion.robot}", motion.seconds or motion.usual_seconds)
    try:
        recording, result = motion.run(options.out, bar)
    except KeyboardInterrupt as interrupt:
        bar.close()
        report_interruption(interrupt, options.out)
        raise
    bar.close()
    print(json.dumps(result) if options.json else result_text(recording, result, options.out, options.verbose))
    return FAILED if result["fell"] or result["reason"] else 0
