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
from typing import NoReturn

from poise import __version__
from poise.cli import bench, campaign, export, human, replay, report, robots, run, serve, studio
from poise.errors import PoiseError, UsageError, suggestion

__all__ = [
    "main",
]

BAD_INPUT, INTERRUPTED = 2, 130
#: How a value begins that is below zero.
NEGATIVE = re.compile(r"-\.?\d")

#: One module per command.
COMMANDS = {
    "robots": robots,
    "run": run,
    "bench": bench,
    "human": human,
    "report": report,
    "export": export,
    "replay": replay,
    "serve": serve,
    "studio": studio,
    "campaign": campaign,
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command and returns the exit status of the process; never raises for bad input."""
    try:
        status = _run(sys.argv[1:] if arguments is None else list(arguments))
        if sys.stdout is not None:  # closed by who started it
            sys.stdout.flush()
        return status
    except PoiseError as error:
        return _complain(str(error))
    except BrokenPipeError:  # the reader, e.g. `head`, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        where = f": '{error.filename}'" if error.filename is not None else ""
        return _complain(f"{error.strerror or error}{where}")
    except KeyboardInterrupt:
        return INTERRUPTED


def _run(arguments: list[str]) -> int:
    parser, commands = _parsers()
    command = arguments[0] if arguments else ""
    if command and not command.startswith("-") and command not in commands:
        raise UsageError(_unknown(command, commands))
    options = parser.parse_args(_joined(arguments))
    if options.action is None:
        parser.print_help()
        return 0
    action: Callable[[argparse.Namespace], int] = options.action
    return action(options)


def _joined(arguments: Sequence[str]) -> list[str]:
    """The same words, with values such as ``-30,0,0,0.1@3`` joined to their option: alone they look like options."""
    joined: list[str] = []
    for word in arguments:
        if joined and joined[-1] in ("--push", "--speed") and NEGATIVE.match(word):
            joined[-1] += f"={word}"
        else:
            joined.append(word)
    return joined


def _parsers() -> tuple[argparse.ArgumentParser, list[str]]:
    parser = _Parser(prog="poise", description="Whole-body motion by strict priorities.")
    parser.add_argument("--version", action="version", version=f"poise {__version__}")
    parser.set_defaults(action=None)
    commands = parser.add_subparsers(title="commands", metavar="COMMAND")

    for name, module in COMMANDS.items():
        module.add(commands, name)
    return parser, list(commands.choices)


def _unknown(word: str, known: Sequence[str]) -> str:
    return f"unknown command '{word}'; {suggestion(word, known)}"


def _complain(message: str) -> int:
    print("poise: " + " ".join(message.split()), file=sys.stderr)
    return BAD_INPUT


class _Parser(argparse.ArgumentParser):
    """Says what is wrong in one line instead of printing its whole usage."""

    def __init__(self, **settings: object) -> None:
        super().__init__(allow_abbrev=False, **settings)  # type: ignore[arg-type]

    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{message}; see '{self.prog} --help'")
