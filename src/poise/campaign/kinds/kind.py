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

from poise import parsing as words
from poise.errors import PoiseError, UsageError, suggestion

#: What a parameter or a cell of the table can be.
Value = str | int | float | bool | None


class Column(NamedTuple):
    """What a column of the table holds.

    Attributes:
        type: ``"number"``, ``"count"``, ``"flag"`` or ``"text"``.
        unit: of a number; "" if it has none.
        about: a sentence.
    """

    type: str
    unit: str
    about: str


@dataclass(frozen=True)
class Outcome:
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


class Kind(ABC):
    """One kind of run. All but `perform` is asked in the process that plans; `perform` in a worker.

    Attributes:
        name: as specs call it.
        columns: what a row tells beside the parameters; none of them is called as a parameter.
    """

    name: str
    columns: Mapping[str, Column]

    @abstractmethod
    def read(self, given: Mapping[str, Value], base: Path) -> dict[str, Value]:
        """The parameters of one run, checked; UsageError for one that is not known or makes no sense.

        Args:
            given: by name; names of the command line, with ``_`` for ``-``.
            base: folder of the spec: files that it names are found from there.
        """

    @abstractmethod
    def perform(self, parameters: Mapping[str, Value], seed: int, along: Path | None = None) -> Outcome:
        """Does it. The same parameters and seed give the same values to the last bit. A PoiseError is a failed run.

        Args:
            parameters: that `read` checked.
            seed: of all that is random.
            along: a ``.poise`` file to write along, if anything is recorded: it is what remains of a run that crashes
                or hangs. A run that writes it needs no `Outcome.save`.
        """

    def files(self, parameters: Mapping[str, Value]) -> list[str]:
        """Files that a run reads: when one of them changes, it is another campaign."""
        return []

    def spread(self, fixed: Mapping[str, Value], base: Path) -> dict[str, list[Value]]:
        """Parameters over which the kind itself spreads its runs, such as the trials of a folder; mostly none."""
        return {}

    def command(self, parameters: Mapping[str, Value], seed: int) -> str:
        """A command that does the same once; "" if there is none."""
        return ""


def filled_in(kind: str, given: Mapping[str, Value], usual: Mapping[str, Value]) -> dict[str, Value]:
    """Parameters, with what is usual for those left out; UsageError for one that is not among the usual."""
    for name in given:
        if name not in usual:
            raise UsageError(f"there is no parameter '{name}' of '{kind}'; there are {', '.join(usual)}")
    return {**usual, **given}


def check_word(name: str, given: Value, known: Iterable[str]) -> None:
    """UsageError if a parameter is none of the words that it can be."""
    words = list(known)
    if given not in words:
        raise UsageError(f"{name}: there is no '{given}'; {suggestion(given, words)}")


# -- Drill -----------------------------------------------------------------------------------------------------------


#: What a drill can do.
DEEDS = ("nothing", "sleep", "fail", "raise", "crash", "exit", "hang", "memory", "chatter")
#: A piece of memory that is asked for at a time, bytes.
PIECE = 64 * 2**20


class Drill(Kind):
    """Parameters: ``do``, one of `DEEDS`; ``seconds`` to sleep; any number called ``x``."""

    name = "drill"
    columns: Mapping[str, Column] = {"drawn": Column("number", "", "a random number of the seed")}

    def read(self, given: Mapping[str, Value], base: Path) -> dict[str, Value]:
        parameters = filled_in(self.name, given, {"do": "nothing", "seconds": None, "x": None})
        check_word("do", parameters["do"], DEEDS)
        if parameters["seconds"] is not None:
            parameters["seconds"] = words.positive(str(parameters["seconds"]))
        return {name: value for name, value in parameters.items() if value is not None}

    def perform(self, parameters: Mapping[str, Value], seed: int, along: Path | None = None) -> Outcome:
        deed = parameters["do"]
        if deed == "fail":
            raise PoiseError("it was told to fail")
        if deed == "raise":
            raise ZeroDivisionError("it was told to raise")
        if deed == "crash":
            os.abort()
        if deed == "exit":
            os._exit(3)
        if deed == "memory":
            taken = []
            while True:
                taken.append(np.ones(PIECE, np.uint8))
        if deed == "chatter":  # what a library prints must not disturb anybody
            print("hello, I am a library", flush=True)
            os.write(1, b"so am I\n")
        if deed == "sleep":
            time.sleep(float(parameters.get("seconds") or 0.0))
        while deed == "hang":
            time.sleep(1.0)
        return Outcome({"drawn": float(np.random.default_rng(seed).uniform())}, save=_note, suffix=".txt")


def _note(path: Path) -> None:
    path.write_text("a drill\n", encoding="utf-8")
