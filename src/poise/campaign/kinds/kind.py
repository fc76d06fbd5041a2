"""Kind: what a campaign does many times, and what it writes down; Drill: runs that do nothing or fail on purpose."""

from __future__ import annotations

import os
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import numpy as np

from poise import parsing
from poise.errors import PoiseError, UsageError, suggestion

#: What a parameter or a cell of the table can be.
Value = str | int | float | bool | None


class Column(NamedTuple):
    """What a column of the table holds.

    Attributes:
        type: ``"number"``, ``"count"``, ``"flag"`` or ``"text"``.
        unit: of a number; "" if it has none.
        description: a sentence.
    """

    type: str
    unit: str
    description: str


@dataclass(frozen=True)
class RunOutput:
    """What one run gave.

    Attributes:
        values: by column of its kind; a column that is left out, None and NaN are empty cells.
        reason: why it failed, in one line; "" if it succeeded.
        save: writes what is worth keeping of the run, such as its recording, to a file; None: nothing is.
        suffix: of that file.
        times: what it took, such as milliseconds of a control step, by name. These differ from run to run, so they
            stand beside the table, not in it.
    """

    values: Mapping[str, Value]
    reason: str = ""
    save: Callable[[Path], object] | None = None
    suffix: str = ".poise"
    times: Mapping[str, float] = field(default_factory=dict)


class RunKind(ABC):
    """One kind of run. All but `run` is asked in the process that plans; `run` in a worker.

    Attributes:
        name: as specs call it.
        columns: what a row tells beside the parameters; none of them is called as a parameter.
    """

    name: str
    columns: Mapping[str, Column]

    @abstractmethod
    def check_parameters(self, values: Mapping[str, Value], spec_folder: Path) -> dict[str, Value]:
        """The parameters of one run, checked; UsageError for one that is not known or makes no sense.

        Args:
            values: by name; names of the command line, with ``_`` for ``-``.
            spec_folder: folder of the spec: files that it names are found from there.
        """

    @abstractmethod
    def run(self, parameters: Mapping[str, Value], seed: int, recording_path: Path | None = None) -> RunOutput:
        """Does it. The same parameters and seed give the same values to the last bit. A PoiseError is a failed run.

        Args:
            parameters: that `check_parameters` checked.
            seed: of all that is random.
            recording_path: a ``.poise`` file to write along, if anything is recorded: it is what remains of a run
                that crashes or hangs. A run that writes it needs no `RunOutput.save`.
        """

    def files(self, parameters: Mapping[str, Value]) -> list[str]:
        """Files that a run reads: when one of them changes, it is another campaign."""
        return []

    def expand(self, fixed: Mapping[str, Value], spec_folder: Path) -> dict[str, list[Value]]:
        """Parameters over which the kind itself spreads its runs, such as the trials of a folder; mostly none."""
        return {}

    def command(self, parameters: Mapping[str, Value], seed: int) -> str:
        """A command that does the same once; "" if there is none."""
        return ""


def with_defaults(kind: str, values: Mapping[str, Value], defaults: Mapping[str, Value]) -> dict[str, Value]:
    """Parameters, with what is usual for those left out; UsageError for one that is not among the usual."""
    for name in values:
        if name not in defaults:
            raise UsageError(f"there is no parameter '{name}' of '{kind}'; there are {', '.join(defaults)}")
    return {**defaults, **values}


def check_choice(name: str, value: Value, choices: Iterable[str]) -> None:
    """UsageError if a parameter is none of the words that it can be."""
    known = list(choices)
    if value not in known:
        raise UsageError(f"{name}: there is no '{value}'; {suggestion(value, known)}")


# -- Drill -----------------------------------------------------------------------------------------------------------


#: What a drill can do.
DRILL_ACTIONS = ("nothing", "sleep", "fail", "raise", "crash", "exit", "hang", "memory", "chatter")
#: A piece of memory that is asked for at a time, bytes.
ALLOCATION_BYTES = 64 * 2**20


class FaultDrill(RunKind):
    """Parameters: ``do``, one of `DEEDS`; ``seconds`` to sleep; any number called ``x``."""

    name = "drill"
    columns: Mapping[str, Column] = {"drawn": Column("number", "", "a random number of the seed")}

    def check_parameters(self, values: Mapping[str, Value], spec_folder: Path) -> dict[str, Value]:
        parameters = with_defaults(self.name, values, {"do": "nothing", "seconds": None, "x": None})
        check_choice("do", parameters["do"], DRILL_ACTIONS)
        if parameters["seconds"] is not None:
            parameters["seconds"] = parsing.parse_positive(str(parameters["seconds"]))
        return {name: value for name, value in parameters.items() if value is not None}

    def run(self, parameters: Mapping[str, Value], seed: int, recording_path: Path | None = None) -> RunOutput:
        action = parameters["do"]
        if action == "fail":
            raise PoiseError("it was told to fail")
        if action == "raise":
            raise ZeroDivisionError("it was told to raise")
        if action == "crash":
            os.abort()
        if action == "exit":
            os._exit(3)
        if action == "memory":
            blocks = []
            while True:
                blocks.append(np.ones(ALLOCATION_BYTES, np.uint8))
        if action == "chatter":  # what a library prints must not disturb anybody
            print("hello, I am a library", flush=True)
            os.write(1, b"so am I\n")
        if action == "sleep":
            time.sleep(float(parameters.get("seconds") or 0.0))
        while action == "hang":
            time.sleep(1.0)
        return RunOutput({"drawn": float(np.random.default_rng(seed).uniform())}, save=_save_note, suffix=".txt")


def _save_note(path: Path) -> None:
    path.write_text("a drill\n", encoding="utf-8")
