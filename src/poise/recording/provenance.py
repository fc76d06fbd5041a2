"""Provenance of a recording (versions, robot, controller, plant), and labels and units of a robot's coordinates."""

from __future__ import annotations

import inspect
import json
import platform
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from os import PathLike, fspath
from typing import Any

import numpy as np
from numpy.typing import NDArray

from poise.control import Controller
from poise.errors import PoiseError, RecordingError
from poise.files import installed_version
from poise.hierarchy import FunctionBehavior
from poise.plants import Plant
from poise.robots import Robot, load_robot
from poise.tasks import ACCELERATION, VELOCITY


def environment_facts(robot: Robot) -> dict[str, Any]:
    """Return facts for every recording: version of Poise, date (ISO 8601), machine, robot and its source."""
    return {
        "poise": installed_version(),
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "platform": f"{platform.platform()}, Python {platform.python_version()}, numpy {np.__version__}",
        "robot": robot.name,
        "source": str(robot.source),
        **({"load_arguments": dict(robot.load_arguments)} if robot.load_arguments else {}),
    }


def controller_facts(controller: Controller, plant: Plant) -> dict[str, Any]:
    """Return facts on the controller (name, sampling period in s, order, solver, hierarchy), the plant and its world.

    The world is the entry "environment", see `EnvironmentGeometry.facts`; there is none on flat ground without objects.
    """
    environment = plant.environment.facts()
    orders, behavior = {VELOCITY: "velocity", ACCELERATION: "acceleration"}, controller.behavior
    function = behavior.function if isinstance(behavior, FunctionBehavior) else behavior
    return {
        "controller": {
            "name": type(controller).__name__,
            "period": controller.period,
            "order": orders.get(controller.order),
            "solver": _object_text(controller.solver),
            "hierarchy": _object_text(controller.hierarchy or function),
        },
        "plant": type(plant).__name__,
        **({"environment": environment} if environment else {}),
        "fall": None,
    }


def json_round_trip(provenance: Mapping[str, Any]) -> dict[str, Any]:
    """Convert facts to the values that a file gives back: numbers and texts in dicts and lists.

    Raises:
        RecordingError: if a value cannot be written as JSON.
    """
    try:
        facts: dict[str, Any] = json.loads(to_json(provenance))
    except (TypeError, ValueError) as error:
        raise RecordingError(
            f"the provenance cannot be written as JSON ({error}); give texts, numbers, lists or mappings"
        ) from None
    return facts


def to_json(provenance: Mapping[str, Any]) -> str:
    """Return a provenance as JSON text; arrays and numpy numbers become lists and numbers."""
    return json.dumps(dict(provenance), default=_json_value)


def _json_value(value: object) -> object:
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, PathLike):
        return fspath(value)
    raise TypeError(f"{type(value).__name__} is not supported")


def _object_text(value: object) -> str | None:
    """Return ``str(value)``; if that contains a memory address, the type name and public attributes instead."""
    if value is None:
        return None
    text = str(value)
    if not (text.startswith("<") and " at 0x" in text):
        return text
    if inspect.isroutine(value):
        return value.__qualname__
    settings = ", ".join(f"{name}={item!r}" for name, item in vars(value).items() if not name.startswith("_"))
    return f"{type(value).__name__}({settings})"


# -- Robot of a recording --------------------------------------------------------------------------------------------


def robot_from_provenance(facts: Mapping[str, Any]) -> Robot | str:
    """Load the robot named in the provenance of a recording; if that fails, return the reason as text.

    The robot is loaded by its name with the recorded arguments (e.g. the height of a human), or else from the file
    named as its source.
    """
    name, source = (str(facts.get(key, "")) for key in ("robot", "source"))
    arguments = facts.get("load_arguments") or {}
    reason = "the recording does not name its robot"
    for place in filter(None, (name, source if source.endswith((".urdf", ".toml")) else "")):
        try:
            return load_robot(place, **(arguments if place == name else {}))
        except PoiseError as error:
            reason = str(error)
    return reason


# -- Labels, units and ranges of the coordinates of a robot ----------------------------------------------------------


_BASE_POSITION_LABELS = ("base_x", "base_y", "base_z", "base_qx", "base_qy", "base_qz", "base_qw")
_BASE_VELOCITY_LABELS = ("base_vx", "base_vy", "base_vz", "base_wx", "base_wy", "base_wz")


@dataclass(frozen=True, eq=False)
class CoordinateLabels:
    """Labels and units of q, v, accelerations and torques, the range of each joint, and the weight (N).

    The floating base comes first: its position (m) and quaternion in q, its linear and angular velocity in v.
    """

    q_labels: tuple[str, ...]
    q_units: tuple[str, ...]
    v_labels: tuple[str, ...]
    prismatic: tuple[bool, ...]
    joints: tuple[str, ...]
    joint_q: NDArray[np.intp]
    lower: NDArray[np.float64]
    upper: NDArray[np.float64]
    weight: float

    @classmethod
    def of(cls, robot: Robot) -> CoordinateLabels:
        joints = robot.joints
        names = tuple(joint.name for joint in joints)
        kinds = [robot.model.joints[joint.index].shortname() for joint in joints]
        prismatic = tuple(kind.startswith("JointModelP") for kind in kinds)  # PX, PY, PZ, PrismaticUnaligned
        units = tuple("m" if is_prismatic else "rad" for is_prismatic in prismatic)
        places = [joint.v - 6 for joint in joints]
        return cls(
            q_labels=(*_BASE_POSITION_LABELS, *names),
            q_units=("m", "m", "m", "", "", "", "", *units),
            v_labels=(*_BASE_VELOCITY_LABELS, *names),
            prismatic=prismatic,
            joints=names,
            joint_q=np.array([joint.q for joint in joints], dtype=np.intp),
            lower=robot.limits.lower[places],
            upper=robot.limits.upper[places],
            weight=robot.weight,
        )

    @property
    def joint_units(self) -> tuple[str, ...]:
        return self.q_units[7:]

    def rate_units(self, per: str) -> tuple[str, ...]:
        """Return the units of v (``per`` = "/s") or of accelerations ("/s^2")."""
        return tuple(unit + per for unit in (*["m"] * 3, *["rad"] * 3, *self.joint_units))

    def effort_labels(self, size: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return labels and units of `size` torques: those of all of v, or of the actuated joints only."""
        units = (
            "N",
            "N",
            "N",
            "N m",
            "N m",
            "N m",
            *("N" if is_prismatic else "N m" for is_prismatic in self.prismatic),
        )
        return self.v_labels[len(units) - size :], units[len(units) - size :]
