"""Told: what became of the motion segments of a guided robot, in words."""

from __future__ import annotations

from typing import Any

from poise.behaviors.navigate import Done

#: What a segment of each outcome does; what was projected or discarded is a commanded one that was beyond a boundary.
BECAME = {
    "done": "goes as commanded",
    "projected": "goes as far as it can",
    "discarded": "stays, as the command was beyond a boundary",
    "kept": "cannot do that: the body goes back over its feet",
    "held": "cannot do that: it comes to rest",
    "caught": "has to wait: a quick step catches the body",
}
TIMES = {1: "once", 2: "twice"}


def moves(done: Done) -> bool:
    """Whether a segment is more than standing still."""
    segment = done.segment
    asked = not done.stick.still or segment.goal.step is not None
    return asked or segment.outcome != "commanded" or bool(segment.notes)


def outcome(done: Done) -> str:
    """In one word; what was projected was done, but not all of it."""
    segment = done.segment
    if segment.outcome != "commanded":
        return segment.outcome
    beyond = "discarded" if any("discarded" in note for note in segment.notes) else "projected"
    return beyond if segment.goal.projected else "done"


def became(done: Done) -> str:
    """What becomes of a command, in a sentence."""
    segment, mode = done.segment, done.stick.mode
    lifted, count, word = segment.goal.points.lifted, segment.corrections, outcome(done)
    if not moves(done):
        return f"stands{'' if lifted is None else f', the {lifted} foot in the air'}; the {mode} is guided"
    longer = f", prolonged {TIMES.get(count, f'{count} times')} to keep its balance" if count else ""
    return f"{mode}: {BECAME.get(word, word)}, in {segment.seconds:.2f} s{longer}"


def row(done: Done) -> dict[str, Any]:
    """A segment for the page's table: time, duration (s), margin of the zero moment point (mm), and why."""
    segment = done.segment
    return {
        "time": round(done.time, 2),
        "mode": done.stick.mode,
        "seconds": round(segment.seconds, 2),
        "margin": round(1e3 * segment.margin),
        "outcome": outcome(done),
        "notes": list(segment.notes),
    }
