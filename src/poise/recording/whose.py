"""Whose motion a recording is: the robot that it names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from poise.errors import PoiseError
from poise.robots import Robot, load_robot


def named_robot(facts: Mapping[str, Any]) -> Robot | str:
    """The robot that the provenance of a recording speaks of, or what went wrong, in words.

    It is found by its name, with what it was told beside it (the height of a human), or by the file it once came from.
    """
    name, source = (str(facts.get(key, "")) for key in ("robot", "source"))
    parts = facts.get("parts") or {}
    reason = "the recording does not name it"
    for place in filter(None, (name, source if source.endswith((".urdf", ".toml")) else "")):
        try:
            return load_robot(place, **(parts if place == name else {}))
        except PoiseError as error:
            reason = str(error)
    return reason
