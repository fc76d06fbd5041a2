"""The description of the robot without shapes, which placo and MuJoCo could not find or read."""

from __future__ import annotations

from importlib import metadata
from pathlib import Path
from xml.etree import ElementTree

from poise.bench.peers import problem
from poise.errors import UsageError

#: Elements that say how a robot looks or is driven, not how it moves.
_APPEARANCE = {"visual", "collision", "material", "transmission", "gazebo", "mujoco"}


def original() -> Path:
    """Where example-robot-data keeps the robot of the problem."""
    try:
        files = metadata.files("example-robot-data") or []
    except metadata.PackageNotFoundError:
        raise UsageError(
            "the robot G1 is in 'example-robot-data', which is missing; pip install poise[robots]"
        ) from None
    for file in files:
        if file.name == problem.URDF:
            return Path(str(file.locate())).resolve()
    raise UsageError(f"this version of example-robot-data has no '{problem.URDF}'; pip install poise[robots]")


def bare_urdf(source: Path, floating: bool = False, speed: float | None = None) -> str:
    """The text of a URDF with links, joints and inertia only.

    Args:
        source: the URDF with everything.
        floating: put a world under the base, joined by a floating joint: MuJoCo would nail the base to the ground.
        speed: limit of all joint speeds in rad/s; None: those of the robot.
    """
    try:
        root = ElementTree.parse(source).getroot()
    except (OSError, ElementTree.ParseError) as error:
        raise UsageError(f"'{source}' cannot be read as a URDF: {error}") from None
    for parent in list(root.iter()):
        for child in list(parent):
            if child.tag in _APPEARANCE:
                parent.remove(child)
    for limit in root.iter("limit"):
        if speed is not None:
            limit.set("velocity", repr(speed))
    if floating:
        ElementTree.SubElement(root, "link", name="world")
        joint = ElementTree.SubElement(root, "joint", name="floating_base", type="floating")
        ElementTree.SubElement(joint, "parent", link="world")
        ElementTree.SubElement(joint, "child", link=problem.BASE)
    return ElementTree.tostring(root, encoding="unicode")
