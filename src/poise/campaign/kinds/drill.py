"""Drill: runs that do nothing, or go wrong on purpose, to see what a machine or a cluster makes of them."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from poise import words
from poise.campaign.kinds.kind import Column, Kind, Outcome, Value, check_word, filled_in
from poise.errors import PoiseError

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
