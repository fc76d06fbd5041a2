"""Reduced robots: HOAP-3 without arms, hands, head or waist, each as a URDF file with its data file beside it."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterable
from functools import cache
from importlib.resources import files
from pathlib import Path
from tempfile import mkdtemp
from typing import Any
from xml.etree import ElementTree

LIBRARY = files("poise.robots") / "library"
SIDES = ("left", "right")
ARMS = tuple(f"{side}_shoulder" for side in SIDES)
ARM_JOINTS = tuple(
    f"{side}_{joint}"
    for side in SIDES
    for joint in ("shoulder_flexion", "shoulder_abduction", "shoulder_rotation", "elbow_flexion", "wrist", "finger")
)

#: Links that are cut off with all that they carry, joints that become fixed, and keys that the data file loses.
REDUCTIONS: dict[str, tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]] = {
    "no_arms": (ARMS, (), ("hands",)),
    "no_hands": ((), (), ("hands",)),
    "one_hand": (("left_shoulder",), (), ("hands",)),
    "locked_arms": ((), ARM_JOINTS, ()),
    "no_head": (("neck",), (), ("gaze",)),
    "no_waist": ((), ("waist",), ()),
    "legs_only": ((*ARMS, "neck"), ("waist",), ("hands", "gaze", "chest")),
}


@cache
def reduced_robot(name: str) -> Path:
    """Return the URDF file of a reduced robot; its data file, of the same name, is beside it."""
    links, fixed, keys = REDUCTIONS[name]
    folder = Path(mkdtemp(prefix="reduced-"))
    model = ElementTree.fromstring((LIBRARY / "hoap3.urdf").read_text(encoding="utf-8"))
    _cut(model, links)
    for joint in model.iterfind("joint"):
        if joint.get("name") in fixed:
            joint.set("type", "fixed")
    model.set("name", name)
    moving = {str(joint.get("name")) for joint in model.iterfind("joint") if joint.get("type") != "fixed"}
    (folder / f"{name}.urdf").write_bytes(ElementTree.tostring(model))
    table = tomllib.loads((LIBRARY / "hoap3.toml").read_text(encoding="utf-8"))
    description = {key: value for key, value in table.items() if key not in (*keys, "dof", "mass", "height", "source")}
    if name == "one_hand":
        description["hands"] = {"right": {"frame": "right_palm"}}
    description["stances"] = {"standing": {"joints": _known_joints(table["stances"]["standing"]["joints"], moving)}}
    (folder / f"{name}.toml").write_text("\n".join(_toml_lines({"urdf": f"{name}.urdf", **description})))
    return folder / f"{name}.urdf"


def _cut(model: ElementTree.Element, links: Iterable[str]) -> None:
    """Remove links, the joints that carry them, and all that is attached to them."""
    gone = set(links)
    while True:
        joints = [joint for joint in model.iterfind("joint") if _ends(joint)[0] in gone or _ends(joint)[1] in gone]
        gone |= {_ends(joint)[1] for joint in joints}
        for joint in joints:
            model.remove(joint)
        if not joints:
            break
    for link in [link for link in model.iterfind("link") if link.get("name") in gone]:
        model.remove(link)


def _ends(joint: ElementTree.Element) -> tuple[str, str]:
    parent, child = joint.find("parent"), joint.find("child")
    assert parent is not None
    assert child is not None
    return str(parent.get("link")), str(child.get("link"))


def _known_joints(angles: dict[str, Any], joints: set[str]) -> dict[str, Any]:
    """Return the angles of joints that exist; an angle of both sides becomes one of each side that has the joint."""
    found = {}
    for name, value in angles.items():
        for i, side in enumerate(SIDES):
            joint = name.replace("{side}", side)
            if joint in joints:
                found[joint] = value[i] if isinstance(value, list) else value
    return found


def _toml_lines(table: dict[str, Any], section: str = "") -> list[str]:
    """Return the lines of a TOML file; JSON writes numbers, texts and lists of them as TOML does."""
    tables = {key: value for key, value in table.items() if isinstance(value, dict)}
    lines = [f"{json.dumps(key)} = {json.dumps(value)}" for key, value in table.items() if key not in tables]
    for key, value in tables.items():
        name = f"{section}.{json.dumps(key)}" if section else json.dumps(key)
        lines += [f"[{name}]", *_toml_lines(value, name)]
    return lines
