"""Library of robots that are loaded by name, with one data file ``name.toml`` each.

The model is ``name.urdf`` beside ``name.toml`` if Poise bundles it. The model of the human is generated from tables.
All other models come from the package example-robot-data.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib import metadata
from pathlib import Path
from typing import Any

from poise.errors import RobotError, unknown_name_error
from poise.robots.description import Description, parse_description, read_toml
from poise.robots.human.human_model import SHAPE_ARGUMENTS, human_description

LIBRARY = Path(__file__).parent / "library"
PACKAGE = "example-robot-data"
MISSING_MODELS = f"its model is in the package {PACKAGE}, which is not installed; run pip install poise[robots]"
#: The robot whose model is generated when it is loaded.
GENERATED_ROBOT = "human"


def library_names() -> list[str]:
    """Return the names of all robots that have a data file, sorted."""
    return sorted(path.stem for path in LIBRARY.glob("*.toml"))


def is_bundled(name: str) -> bool:
    """Return whether Poise bundles or generates the model of a library robot."""
    return name == GENERATED_ROBOT or os.path.isfile(LIBRARY / f"{name}.urdf")


def has_position_servos(name: str) -> bool:
    """Return whether a library robot is position-controlled (torques only in simulation), without loading its model."""
    if name not in library_names():
        return False
    return bool(read_toml(LIBRARY / f"{name}.toml").get("servos", {}).get("position_controlled", False))


def models_folder() -> Path | None:
    """Return the folder ``share`` that contains the package example-robot-data; None if it is not installed.

    The package contains only data and cannot be imported, so the folder is found from its list of files.
    """
    try:
        files = metadata.distribution(PACKAGE).files or []
    except metadata.PackageNotFoundError:
        return None
    for file in files:
        if file.parts[-1].endswith(".urdf"):
            path = Path(str(file.locate())).resolve()
            return next((folder.parent for folder in path.parents if folder.name == PACKAGE), None)
    return None


def library_description(name: str, parts: Mapping[str, Any]) -> Description:
    """Return the description of a library robot, with the keys in `parts` replaced."""
    names = library_names()
    if name not in names:
        advice = f"there are {', '.join(names)}, or give the path of a URDF file"
        raise unknown_name_error("the library has no robot", name, names, advice=advice)
    file = LIBRARY / f"{name}.toml"
    values = {**read_toml(file), **parts}
    if name == GENERATED_ROBOT:
        values, text = human_description(
            {key: values[key] for key in values if key in parts or key not in SHAPE_ARGUMENTS}
        )
        shape_arguments = {key: parts[key] for key in SHAPE_ARGUMENTS if key in parts}
        return replace(
            parse_description({"urdf": f"{name}.urdf", **values}, name, file.name, LIBRARY),
            urdf_text=text,
            load_arguments=shape_arguments,
        )
    if is_bundled(name):
        return parse_description({"urdf": f"{name}.urdf", **values}, name, file.name, LIBRARY)
    folder = models_folder()
    if folder is None:
        raise RobotError(f"the robot '{name}' cannot be loaded: {MISSING_MODELS}", element=name)
    return parse_description(values, name, file.name, folder / PACKAGE / "robots", (folder,))


def listing() -> list[dict[str, Any]]:
    """List the library: one dictionary per robot, with facts from its data file and whether its model is installed.

    Keys: name, dof (actuated joints), mass (kg), height (m), source, available, message (why it is not available).
    """
    installed = models_folder() is not None
    robots = []
    for name in library_names():
        values = read_toml(LIBRARY / f"{name}.toml")
        facts = {key: values[key] for key in ("dof", "mass", "height", "source")}
        available = installed or is_bundled(name)
        robots.append({"name": name, **facts, "available": available, "message": "" if available else MISSING_MODELS})
    return robots


def format_listing(robots: Sequence[Mapping[str, Any]]) -> str:
    """Format a listing as text, one line per robot."""
    lines = [f"{'robot':<8} {'joints':>6} {'mass':>8} {'height':>8}  source"]
    for robot in robots:
        numbers = f"{robot['dof']:>6} {robot['mass']:>5.1f} kg {robot['height']:>6.2f} m"
        lines.append(f"{robot['name']:<8} {numbers}  {robot['source']}")
    for message in sorted({robot["message"] for robot in robots} - {""}):
        names = ", ".join(robot["name"] for robot in robots if robot["message"] == message)
        lines.append(f"not available: {names}: {message}")
    return "\n".join(lines)
