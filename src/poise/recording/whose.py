"""Whose motion a recording is: the robot that it names."""

from __future__ import annotations

from poise.errors import PoiseError
from poise.robots import Robot, load_robot


def named_robot(name: str, source: str) -> Robot | str:
    """The robot of a name, or of the file that it once came from; or what went wrong, in words."""
    reason = "the recording does not name it"
    for place in filter(None, (name, source if source.endswith((".urdf", ".toml")) else "")):
        try:
            return load_robot(place)
        except PoiseError as error:
            reason = str(error)
    return reason
