"""load_robot: from a name or a file to a Robot."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from poise.errors import RobotError
from poise.robots.building import build
from poise.robots.catalogue import library_description
from poise.robots.description import Description, describe, read_toml
from poise.robots.robot import Robot

#: Folders above a URDF in which its packages may lie: package/urdf/variant/robot.urdf is as deep as they are published.
FOLDERS_ABOVE = 4


def load_robot(name_or_path: str | Path, **parts: Any) -> Robot:
    """A robot of the library by its name, or any URDF file by its path.

    Args:
        name_or_path: ``"g1"``, ``"talos"``, ``"romeo"``, ``"icub"``, ``"nao"``, ``"mighty"``, ``"hoap3"``,
            ``"human"``; or the path of a URDF, or of the TOML file that describes one. ``robot.toml`` beside
            ``robot.urdf`` is read without being named.
        parts: feet, hands, gaze, chest, stances, limits, rest, locked, packages, ...: the keys of
            `poise.robots.description`, each of which replaces that of the file. A human takes height (m), mass (kg),
            sex (``"male"``, ``"female"``) and shape, the numbers of `poise.robots.human.BodyShape`.

    >>> robot = load_robot("g1")
    >>> robot = load_robot("arm.urdf", hands={"left": {"frame": "tool"}}, stances={"ready": {"joints": {"elbow": 1.0}}})
    """
    return build(described(name_or_path, **parts))


def described(name_or_path: str | Path, **parts: Any) -> Description:
    """What `load_robot` builds, before it is built: quick, and says whether there is such a robot."""
    text = str(name_or_path)
    path = Path(text)
    if path.suffix.lower() in (".urdf", ".toml", ".xml") or len(path.parts) > 1 or os.path.isfile(path):
        return _file_description(path, parts)
    return library_description(text, parts)


def _file_description(path: Path, parts: Mapping[str, Any]) -> Description:
    if not os.path.isfile(path):
        raise RobotError(f"{path}: there is no such file; give the path of a URDF file", file=str(path))
    described = path if path.suffix.lower() == ".toml" else path.with_suffix(".toml")
    values = read_toml(described) if os.path.isfile(described) else {}
    file = str(described if os.path.isfile(described) else path)
    values["urdf"] = path.name if path != described else values.get("urdf", f"{path.stem}.urdf")
    folder = path.parent.resolve()
    nearby = (folder, *folder.parents)[: FOLDERS_ABOVE + 1]
    return describe({"source": str(path), **values, **parts}, path.stem, file, folder, nearby)
