"""Small URDF texts: a pendulum, and a biped with five joints per leg."""

from pathlib import Path
from typing import Any

LIMIT = '<limit lower="-1.5" upper="1.5" effort="50" velocity="8"/>'


def link(name: str, mass: str = "1", inertia: str = "0.01 0.01 0.01", shape: str = "") -> str:
    x, y, z = inertia.split()
    tensor = f'<inertia ixx="{x}" ixy="0" ixz="0" iyy="{y}" iyz="0" izz="{z}"/>'
    return f'<link name="{name}"><inertial><mass value="{mass}"/>{tensor}</inertial>{shape}</link>'


def joint(
    name: str,
    parent: str,
    child: str,
    at: str = "0 0 -0.3",
    axis: str = "0 1 0",
    kind: str = "revolute",
    limit: str = LIMIT,
) -> str:
    ends = f'<parent link="{parent}"/><child link="{child}"/>'
    return f'<joint name="{name}" type="{kind}">{ends}<origin xyz="{at}"/><axis xyz="{axis}"/>{limit}</joint>'


def robot(*elements: str) -> str:
    return f'<robot name="small">{"".join(elements)}</robot>'


def mesh(address: str) -> str:
    return f'<visual><geometry><mesh filename="{address}"/></geometry></visual>'


PENDULUM = robot(link("base"), link("bob"), joint("hinge", "base", "bob"))


def leg(side: str, y: float) -> str:
    chain = ["pelvis", *(f"{side}_{part}" for part in ("hip", "thigh", "shank", "ankle", "foot"))]
    joints = [
        ("hip_roll", f"0 {y} 0", "1 0 0"),
        ("hip_pitch", "0 0 0", "0 1 0"),
        ("knee", "0 0 -0.4", "0 1 0"),
        ("ankle_pitch", "0 0 -0.4", "0 1 0"),
        ("ankle_roll", "0 0 0", "1 0 0"),
    ]
    links = "".join(link(name) for name in chain[1:])
    return links + "".join(
        joint(f"{side}_{name}", parent, child, at, axis)
        for (name, at, axis), parent, child in zip(joints, chain, chain[1:], strict=False)
    )


BIPED = robot(
    link("pelvis", "20", "0.3 0.3 0.3"),
    leg("left", 0.1),
    leg("right", -0.1),
    '<link name="head"/>',
    joint("neck", "pelvis", "head", at="0.05 0 0.6", kind="fixed", limit=""),
)

#: Parts of the biped that its URDF does not define.
BIPED_PARTS: dict[str, Any] = {
    "feet": {"frame": "{side}_foot", "position": [0.0, 0.0, -0.05], "sole": [-0.08, 0.12, -0.04, 0.05]},
    "hands": {"left": {"frame": "head", "position": [0.0, 0.2, 0.0]}},
    "gaze": {"frame": "head", "axis": [2.0, 0.0, 0.0]},
    "chest": "pelvis",
    "stances": {"standing": {"joints": {"{side}_hip_pitch": -0.3, "{side}_knee": 0.6, "{side}_ankle_pitch": -0.3}}},
}


def write_urdf(folder: Path, text: str, name: str = "small.urdf") -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path
