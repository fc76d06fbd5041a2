"""Drill: runs that do nothing, or go wrong on purpose, to see what a machine or a cluster makes of them."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from poise.campaign.kinds.kind import Column, Outcome, Value
from poise.errors import PoiseError, UsageError

#: What a drill can do.
DEEDS = ("nothing", "sleep", "fail", "raise", "crash", "exit", "hang", "memory", "chatter")
#: A piece of memory that is asked for at a time, bytes.
PIECE = 64 * 2**20


class Drill:
    """Parameters: ``do``, one of `DEEDS`; ``seconds`` to sleep; any number called ``x``."""

    name = "drill"
    columns: Mapping[str, Column] = {"drawn": Column("number", "", "a random number of the seed")}

    def read(self, given: Mapping[str, Value], base: Path) -> dict[str, Value]:
        for name in given:
            if name not in ("do", "seconds", "x"):
                raise UsageError(f"there is no parameter '{name}' of a drill; there are do, seconds, x")
        if given.get("do", "nothing") not in DEEDS:
            raise UsageError(f"do: there is no '{given['do']}'; there are {', '.join(DEEDS)}")
        return dict(given)

    def spread(self, fixed: Mapping[str, Value], base: Path) -> dict[str, list[Value]]:
        return {}

    def command(self, parameters: Mapping[str, Value], seed: int) -> str:
        return ""

    def perform(self, parameters: Mapping[str, Value], seed: int) -> Outcome:
        deed = parameters.get("do", "nothing")
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
