"""Base class `RunKind` of the runs of a campaign, and `FaultDrill`: runs that do nothing or fail on purpose."""

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

#: Value of a parameter or of a cell of the table.
Value = str | int | float | bool | None


class Column(NamedTuple):
    """Declaration of a column of the table.

    Attributes:
        type: ``"number"``, ``"count"``, ``"flag"`` or ``"text"``.
        unit: unit of a number; "" if it has none.
        description: short description.
    """

    type: str
    unit: str
    description: str


@dataclass(frozen=True)
class RunOutput:
    """Output of one run.

    Attributes:
        values: values by column of its kind; missing columns, None and NaN become empty cells.
        reason: reason for failure, in one line; "" if it succeeded.
        save: writes a file of the run, such as its recording; None: there is no file.
        suffix: suffix of that file.
        times: times by name, such as milliseconds per control step. They are not reproducible, so they go to the table
            of costs, not to the results.
    """

    values: Mapping[str, Value]
    reason: str = ""
    save: Callable[[Path], object] | None = None
    suffix: str = ".poise"
    times: Mapping[str, float] = field(default_factory=dict)


class RunKind(ABC):
    """A kind of run. `run` is called in a worker process, all other methods in the process that plans the campaign.

    Attributes:
        name: name in specs.
        columns: columns of the results by name; none has the name of a parameter.
    """

    name: str
    columns: Mapping[str, Column]

    @abstractmethod
    def check_parameters(self, values: Mapping[str, Value], spec_folder: Path) -> dict[str, Value]:
        """Return the checked parameters of one run.

        Args:
            values: values by name; names are those of the command line, with ``_`` for ``-``.
            spec_folder: folder of the spec, at which relative paths start.

        Raises:
            UsageError: for an unknown parameter or an invalid value.
        """

    @abstractmethod
    def run(self, parameters: Mapping[str, Value], seed: int, recording_path: Path | None = None) -> RunOutput:
        """Execute one run. The same parameters and seed give the same values, bit for bit.

        Args:
            parameters: parameters that `check_parameters` returned.
            seed: random seed.
            recording_path: ``.poise`` file to write during the run, if anything is recorded: it remains if the run
                crashes or hangs. A run that writes it needs no `RunOutput.save`.

        Raises:
            PoiseError: the run failed.
        """

    def files(self, parameters: Mapping[str, Value]) -> list[str]:
        """Return the files that a run reads. If one of them changes, it is a different campaign."""
        return []

    def expand(self, fixed: Mapping[str, Value], spec_folder: Path) -> dict[str, list[Value]]:
        """Return further grid parameters that follow from the fixed ones, such as the trials in a folder."""
        return {}

    def command(self, parameters: Mapping[str, Value], seed: int) -> str:
        """Return the command line that repeats a run; "" if there is none."""
        return ""


def with_defaults(kind: str, values: Mapping[str, Value], defaults: Mapping[str, Value]) -> dict[str, Value]:
    """Return parameters with defaults for those left out; `UsageError` for a parameter without a default."""
    for name in values:
        if name not in defaults:
            raise UsageError(f"there is no parameter '{name}' of '{kind}'; {suggestion(name, defaults)}")
    return {**defaults, **values}


def check_choice(name: str, value: Value, choices: Iterable[str]) -> None:
    """Raise `UsageError` unless the value of a parameter is one of the choices."""
    known = list(choices)
    if value not in known:
        raise UsageError(f"{name}: there is no '{value}'; {suggestion(value, known)}")


# -- Fault drill -----------------------------------------------------------------------------------------------------


#: Actions of a drill.
DRILL_ACTIONS = ("nothing", "sleep", "fail", "raise", "crash", "exit", "hang", "memory", "chatter")
#: Size of one memory allocation (bytes).
ALLOCATION_BYTES = 64 * 2**20


class FaultDrill(RunKind):
    """Runs that do nothing, or fail in a chosen way, to test campaigns.

    Parameters: ``action``, one of `DRILL_ACTIONS`; ``seconds`` to sleep; ``x``, an arbitrary value without effect.
    """

    name = "fault drill"
    columns: Mapping[str, Column] = {"random_number": Column("number", "", "random number drawn from the seed")}

    def check_parameters(self, values: Mapping[str, Value], spec_folder: Path) -> dict[str, Value]:
        parameters = with_defaults(self.name, values, {"action": "nothing", "seconds": None, "x": None})
        check_choice("action", parameters["action"], DRILL_ACTIONS)
        if parameters["seconds"] is not None:
            parameters["seconds"] = parsing.parse_positive(str(parameters["seconds"]))
        return {name: value for name, value in parameters.items() if value is not None}

    def run(self, parameters: Mapping[str, Value], seed: int, recording_path: Path | None = None) -> RunOutput:
        action = parameters["action"]
        if action == "fail":
            raise PoiseError("the drill fails on purpose")
        if action == "raise":
            raise ZeroDivisionError("the drill raises on purpose")
        if action == "crash":
            os.abort()
        if action == "exit":
            os._exit(3)
        if action == "memory":
            blocks = []
            while True:
                blocks.append(np.ones(ALLOCATION_BYTES, np.uint8))
        if action == "chatter":  # the output of libraries must not disturb the worker's answers
            print("hello, I am a library", flush=True)
            os.write(1, b"so am I\n")
        if action == "sleep":
            time.sleep(float(parameters.get("seconds") or 0.0))
        while action == "hang":
            time.sleep(1.0)
        return RunOutput(
            {"random_number": float(np.random.default_rng(seed).uniform())}, save=_save_note, suffix=".txt"
        )


def _save_note(path: Path) -> None:
    path.write_text("a drill\n", encoding="utf-8")
