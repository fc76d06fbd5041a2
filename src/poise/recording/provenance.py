"""Where a recording comes from: version, date, robot, controller, machine; and loading that robot again."""

from __future__ import annotations

import inspect
import json
import platform
from collections.abc import Mapping
from datetime import UTC, datetime
from os import PathLike, fspath
from typing import Any

import numpy as np

from poise.control import Controller
from poise.errors import PoiseError, RecordingError
from poise.files import installed_version
from poise.hierarchy import FunctionBehavior
from poise.plants import Plant
from poise.robots import Robot, load_robot
from poise.tasks import ACCELERATION, VELOCITY


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


def settings(controller: Controller, plant: Plant) -> dict[str, Any]:
    """What produces the motion: the controller with its period, order, solver and hierarchy, and the plant."""
    orders, behavior = {VELOCITY: "velocity", ACCELERATION: "acceleration"}, controller.behavior
    function = behavior.function if isinstance(behavior, FunctionBehavior) else behavior
    return {
        "controller": {
            "name": type(controller).__name__,
            "period": controller.period,
            "order": orders.get(controller.order),
            "solver": _text(controller.solver),
            "hierarchy": _text(controller.hierarchy or function),
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
    if inspect.isroutine(value):
        return value.__qualname__
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
