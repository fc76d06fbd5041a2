"""Command line interface ``poise``: entry point and argument parser.

Exit status: 0 for success, 1 if the command ran but the motion failed, 2 for bad input (one line on standard error),
130 after Ctrl-C. With ``--json``, standard output holds exactly one JSON object; progress goes to standard error.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any, NoReturn

from poise.errors import PoiseError, UsageError, near_misses, suggestion
from poise.files import installed_version

__all__ = [
    "main",
    "parse",
]

BAD_INPUT, INTERRUPTED = 2, 130
#: Beginning of a negative number.
NEGATIVE_VALUE = re.compile(r"-\.?\d")

#: Help text of each command. The module ``poise.cli.<command>`` is imported only when its command is used; its function
#: ``add_arguments(parser)`` adds the options of the command to a parser.
COMMANDS = {
    "robots": "list the robots that can be loaded",
    "run": "run a motion on a robot, record it and evaluate it",
    "human": "fit body models to marker files; compute gait and joint torques",
    "report": "write an HTML report about recordings or a campaign",
    "export": "convert a recording to csv, npz, bvh, mot, osim, trc, mcap, html or mp4",
    "infer": "find the stack of tasks behind a recorded motion",
    "replay": "play a joint trajectory on simulated position servos, open loop",
    "serve": "simulate a robot for a controller in another process",
    "shield": "keep a robot balanced while other programs drive its arms, gaze and steps",
    "style": "measure the style of a recorded walk",
    "studio": "open the interactive studio in the browser",
    "campaign": "run many motions or trials in parallel, from a spec file",
}

#: Full name of each subcommand, for a user who leaves out the first word. Declared here too, because the modules of the
#: commands are not imported before their command is used.
SUBCOMMANDS = {
    **{motion: f"run {motion}" for motion in ("reach", "stand", "squat", "walk", "navigate")},
    **{
        action: f"human {action}"
        for action in ("fit", "gait", "torques", "compare", "curves", "markers", "sample", "subject")
    },
}


#: Options of earlier versions, with their names today, for the error message.
FORMER_OPTIONS = {
    "--against": "--compare-with",
    "--break": "--fault",
    "--carry": "--carried-mass",
    "--lead": "--torque-feedforward",
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return the exit status of the process. Never raises for bad input.

    Args:
        arguments: words after ``poise``; None: those of the process (``sys.argv``).
    """
    try:
        status = _run(sys.argv[1:] if arguments is None else list(arguments))
        if sys.stdout is not None:  # None if the parent process closed it
            sys.stdout.flush()
        return status
    except PoiseError as error:
        return _print_error(str(error))
    except BrokenPipeError:  # the reader, e.g. `head`, has closed the pipe
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        location = f": '{error.filename}'" if error.filename is not None else ""
        return _print_error(f"{error.strerror or error}{location}")
    except KeyboardInterrupt:
        return INTERRUPTED


def _run(arguments: list[str]) -> int:
    options = parse(arguments)
    if options.action is None:
        _build_parser("").print_help()
        return 0
    action: Callable[[argparse.Namespace], int] = options.action
    return action(options)


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    """Parse the words after ``poise``.

    Returns:
        The options of the command. Their attribute `action` is the function that runs the command; None if no command
        is given.

    Raises:
        UsageError: for an unknown command, option or value.
    """
    command = next((word for word in arguments if not word.startswith("-")), "")
    if arguments and command == arguments[0] and command not in COMMANDS:
        raise UsageError(_unknown_command_message(command))
    return _build_parser(command).parse_args(_join_negative_values(arguments))


def _join_negative_values(arguments: Sequence[str]) -> list[str]:
    """Join negative values like ``-30,0,0,0.1@3`` to their option with ``=``: alone they look like options."""
    words: list[str] = []
    for word in arguments:
        if words and words[-1] in ("--push", "--speed") and NEGATIVE_VALUE.match(word):
            words[-1] += f"={word}"
        else:
            words.append(word)
    return words


def _build_parser(command: str) -> argparse.ArgumentParser:
    """Return a parser with the names of all commands, and the options of the given one."""
    parser = _OneLineErrorParser(
        prog="poise", description="Whole-body motion of humanoid robots by strict task priorities."
    )
    parser.add_argument(
        "--version",
        action=_VersionAction,
        nargs=0,
        default=argparse.SUPPRESS,
        help="show the version and exit",
    )
    parser.set_defaults(action=None)
    commands = parser.add_subparsers(title="commands", metavar="COMMAND")
    for name, summary in COMMANDS.items():
        command_parser = commands.add_parser(name, help=summary, description=f"{summary[0].upper()}{summary[1:]}.")
        if name == command:
            import_module(f"poise.cli.{name}").add_arguments(command_parser)
    return parser


def _unknown_command_message(word: str) -> str:
    """Return the error for a word that is not a command; it may be a subcommand, like ``walk`` of ``poise run``."""
    near = near_misses(word, COMMANDS) or near_misses(word, SUBCOMMANDS, similarity=0.7)
    hint = f"did you mean 'poise {SUBCOMMANDS.get(near[0], near[0])}'?" if near else suggestion(word, COMMANDS)
    return f"unknown command '{word}'; {hint}"


def _print_error(message: str) -> int:
    print("poise: " + " ".join(message.split()), file=sys.stderr)
    return BAD_INPUT


class _OneLineErrorParser(argparse.ArgumentParser):
    """Argument parser that raises `UsageError` with one line instead of printing its usage."""

    def __init__(self, **settings: object) -> None:
        super().__init__(allow_abbrev=False, **settings)  # type: ignore[arg-type]
        #: Command of each option that only other commands have, for the error message.
        self.options_of_other_commands: dict[str, str] = {}
        #: Called once with this parser when it is first used, to add its options; unused subcommands are never built.
        self.add_options: Callable[[argparse.ArgumentParser], None] | None = None

    def format_help(self) -> str:
        self._build()
        return super().format_help()

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse as argparse does, but refuse unknown options in the subcommand, so that the error names its help."""
        self._build()
        namespace, unknown = super().parse_known_args(args, namespace)
        if unknown and unknown[0] in self.options_of_other_commands:
            self.error(f"{unknown[0]} is an option of '{self.options_of_other_commands[unknown[0]]}'")
        if unknown:
            option, known = unknown[0].partition("=")[0], self._option_string_actions
            today = FORMER_OPTIONS.get(option, "")
            near = (today,) if today in known else near_misses(option, known)
            if near and option.startswith("--"):
                raise UsageError(f"there is no option {option}; did you mean {near[0]}?")
            self.error(f"unrecognized arguments: {' '.join(unknown)}")
        return namespace, unknown

    def _build(self) -> None:
        add_options, self.add_options = self.add_options, None
        if add_options is not None:
            add_options(self)

    def error(self, message: str) -> NoReturn:
        match = re.match(r"argument (\S+): invalid choice: '(.*)' \(choose from (.*)\)", message)
        if match:  # a suggestion is shorter than the list of all choices
            known = [word.strip("'") for word in match[3].split(", ")]
            raise UsageError(f"there is no {match[1].lower()} '{match[2]}'; {suggestion(match[2], known)}")
        raise UsageError(f"{message}; see '{self.prog} --help'")


class _VersionAction(argparse.Action):
    """Print the version and exit. Reading the package metadata is slow, so it happens only here."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> NoReturn:
        print(f"poise {installed_version()}")
        parser.exit()
