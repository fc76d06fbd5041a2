"""Reports: all that a served plant tells at one instant."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from poise.plants.loop import Plant
from poise.plants.remote.messages import Message, counted, names, number, text, whole
from poise.plants.remote.states import Reader, sensed_message, state_message
from poise.robots import State
from poise.state import Sensed

#: Notes sent at once, and letters of each.
NOTES, LETTERS = 10, 300


@dataclass(frozen=True, eq=False)
class Report:
    """What arrives with each state.

    Attributes:
        sequence: number of the state.
        answers: number of the last command that was obeyed.
        state, sensed, time, fallen, fall: as the plant has them, where it has them.
        counts, server: what went wrong in the plant, and on the server's side of the link.
        notes, after: further notes of the plant, after so many others.
        held: whether the robot is held because commands are missing.
    """

    sequence: int
    answers: int
    state: State
    sensed: Sensed | None
    time: float
    fallen: bool
    fall: str
    counts: Counter[str]
    server: Counter[str]
    notes: tuple[str, ...]
    after: int
    held: bool


def report_message(plant: Plant, known: int) -> Message:
    """What a plant tells, with notes after those that are known."""
    state, sense = plant.state(), getattr(plant, "sensed", None)
    notes = list(getattr(plant, "notes", ()))[known : known + NOTES]
    return {
        "state": state_message(state),
        "sensed": None if sense is None else sensed_message(sense(), state),
        "time": float(getattr(plant, "time", state.time)),
        "fallen": bool(getattr(plant, "fallen", False)),
        "fall": str(getattr(plant, "fall", ""))[:LETTERS],
        "counts": {str(name): int(count) for name, count in getattr(plant, "counts", {}).items()},
        "notes": [str(note)[:LETTERS] for note in notes],
        "after": known,
    }


def report_of(message: Mapping[str, Any], reader: Reader) -> Report:
    """The report of a message, all of it looked at, or a MalformedError."""
    state = reader.state(message.get("state"))
    return Report(
        sequence=whole(message, "sequence"),
        answers=whole(message, "answers"),
        state=state,
        sensed=reader.sensed(message.get("sensed"), state),
        time=number(message, "time"),
        fallen=message.get("fallen") is True,
        fall=text(message, "fall"),
        counts=counted(message, "counts"),
        server=counted(message, "server"),
        notes=names(message, "notes"),
        after=whole(message, "after"),
        held=message.get("held") is True,
    )
