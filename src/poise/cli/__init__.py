"""The command ``poise``.

Exit status: 0 done, 1 ran but the motion failed, 2 bad input with one line on standard error, 130 after Ctrl-C.
With ``--json`` standard output holds one JSON object and nothing else; progress goes to standard error.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any, NoReturn

from poise.errors import PoiseError, UsageError, suggestion
from poise.files import installed_version

__all__ = [
    "main",
    "parse",
]

BAD_INPUT, INTERRUPTED = 2, 130
#: How a value begins that is below zero.
NEGATIVE_VALUE = re.compile(r"-\.?\d")

#: Commands and what the help says of them. The module ``poise.cli.<command>`` is imported when its command is used, and
#: adds its options to a parser: ``add_arguments(parser)``.
COMMANDS = {
    "robots": "list the robots that can be loaded",
    "run": "run a motion on a robot, record it and judge it",
    "human": "bodies, gaits and torques of people, from marker files",
    "report": "one page about recordings or a campaign, to read and to print",
    "export": "a recording as csv, npz, bvh, mot, trc, mcap, html or mp4",
    "replay": "a joint trajectory on a robot with position servos, open loop",
    "serve": "a simulated robot for a controller in another process",
    "studio": "design, guide, push and compare in the browser",
    "campaign": "many runs at once: grids, random parameters, folders of trials",
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command and returns the exit status of the process; never raises for bad input."""
    try:
        status = _run(sys.argv[1:] if arguments is None else list(arguments))
        if sys.stdout is not None:  # closed by who started it
            sys.stdout.flush()
        return status
    except PoiseError as error:
        return _print_error(str(error))
    except BrokenPipeError:  # the reader, e.g. `head`, has seen enough
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
    """The options of a command; its `action` is what runs it, None without a command. Raises `UsageError`."""
    command = next((word for word in arguments if not word.startswith("-")), "")
    if arguments and command == arguments[0] and command not in COMMANDS:
        raise UsageError(_unknown_command_message(command, list(COMMANDS)))
    return _build_parser(command).parse_args(_join_negative_values(arguments))


def _join_negative_values(arguments: Sequence[str]) -> list[str]:
    """The same words, with values such as ``-30,0,0,0.1@3`` joined to their option: alone they look like options."""
    words: list[str] = []
    for word in arguments:
        if words and words[-1] in ("--push", "--speed") and NEGATIVE_VALUE.match(word):
            words[-1] += f"={word}"
        else:
            words.append(word)
    return words


def _build_parser(command: str) -> argparse.ArgumentParser:
    """A parser that knows all commands by name, and the options of this one."""
    parser = _OneLineErrorParser(prog="poise", description="Whole-body motion by strict priorities.")
    parser.add_argument(
        "--version",
        action=_VersionAction,
        nargs=0,
        default=argparse.SUPPRESS,
        help="show program's version number and exit",
    )
    parser.set_defaults(action=None)
    commands = parser.add_subparsers(title="commands", metavar="COMMAND")
    for name, summary in COMMANDS.items():
        command_parser = commands.add_parser(name, help=summary)
        if name == command:
            import_module(f"poise.cli.{name}").add_arguments(command_parser)
    return parser


def _unknown_command_message(word: str, known: Sequence[str]) -> str:
    return f"unknown command '{word}'; {suggestion(word, known)}"


def _print_error(message: str) -> int:
    print("poise: " + " ".join(message.split()), file=sys.stderr)
    return BAD_INPUT


class _OneLineErrorParser(argparse.ArgumentParser):
    """Says what is wrong in one line instead of printing its whole usage."""

    def __init__(self, **settings: object) -> None:
        super().__init__(allow_abbrev=False, **settings)  # type: ignore[arg-type]
        #: Options that only other commands have, and these commands, for the message.
        self.options_of_other_commands: dict[str, str] = {}

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Unknown options are refused by the parser of the subcommand, whose help lists those there are."""
        namespace, unknown = super().parse_known_args(args, namespace)
        if unknown and unknown[0] in self.options_of_other_commands:
            self.error(f"{unknown[0]} is an option of '{self.options_of_other_commands[unknown[0]]}'")
        if unknown:
            self.error(f"unrecognized arguments: {' '.join(unknown)}")
        return namespace, unknown

    def error(self, message: str) -> NoReturn:
        match = re.match(r"argument (\S+): invalid choice: '(.*)' \(choose from (.*)\)", message)
        if match:  # with a suggestion instead of all choices
            known = [word.strip("'") for word in match[3].split(", ")]
            raise UsageError(f"there is no {match[1].lower()} '{match[2]}'; {suggestion(match[2], known)}")
        raise UsageError(f"{message}; see '{self.prog} --help'")


class _VersionAction(argparse.Action):
    """Looks the version up only when it is asked for: reading what is installed takes a while."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> NoReturn:
        print(f"poise {installed_version()}")
        parser.exit()
