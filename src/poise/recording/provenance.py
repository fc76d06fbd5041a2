"""Where a recording comes from: version, date, robot, controller, machine; and loading that robot again."""

from __future__ import annotations

import json
import platform
from collections.abc import Mapping
from datetime import UTC, datetime
from os import PathLike, fspath
from typing import Any

import numpy as np

from poise.errors import PoiseError, RecordingError
from poise.files import installed_version
from poise.robots import Robot, load_robot


def circumstances(robot: Robot) -> dict[str, Any]:
    """What is true of any motion recorded now: version of Poise, date (ISO 8601), machine, robot and its source."""
    return {
        "poise": installed_version(),
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "platform": f"{platform.platform()}, Python {platform.python_version()}, numpy {np.__version__}",
        "robot": robot.name,
        "source": str(robot.source),
        **({"parts": dict(robot.parts)} if robot.parts else {}),
    }


def settings(controller: object, plant: object) -> dict[str, Any]:
    """What produces the motion: the controller with its period, order, solver and hierarchy, and the plant."""
    from poise.tasks import ACCELERATION, VELOCITY

    orders = {VELOCITY: "velocity", ACCELERATION: "acceleration"}
    behavior = getattr(controller, "hierarchy", None) or getattr(controller, "behavior", None)
    return {
        "controller": {
            "name": type(controller).__name__,
            "period": getattr(controller, "period", None),
            "order": orders.get(getattr(controller, "order", VELOCITY)),
            "solver": _text(getattr(controller, "solver", None)),
            "hierarchy": _text(behavior),
        },
        "plant": type(plant).__name__,
    }


def written(provenance: Mapping[str, Any]) -> dict[str, Any]:
    """The same facts as a file gives them back: plain values in dicts and lists."""
    try:
        facts: dict[str, Any] = json.loads(as_json(provenance))
    except (TypeError, ValueError) as error:
        raise RecordingError(
            f"the provenance cannot be written as JSON ({error}); give texts, numbers, lists"
        ) from None
    return facts


def as_json(provenance: Mapping[str, Any]) -> str:
    return json.dumps(dict(provenance), default=_plain)


def _plain(value: object) -> object:
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, PathLike):
        return fspath(value)
    raise TypeError(f"{type(value).__name__} is no such value")


def _text(value: object) -> str | None:
    """How an object prints; one that would print its address gives its name and settings instead."""
    if value is None:
        return None
    text = str(value)
    if not (text.startswith("<") and " at 0x" in text):
        return text
    if hasattr(value, "__qualname__"):
        return str(value.__qualname__)
    settings = ", ".join(f"{name}={item!r}" for name, item in vars(value).items() if not name.startswith("_"))
    return f"{type(value).__name__}({settings})"


# -- Whose motion a recording is: the robot that it names ------------------------------------------------------------


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
