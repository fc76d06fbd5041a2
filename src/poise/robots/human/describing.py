"""From a shape to a description: the text of a URDF, and where soles, hands and gaze are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pinocchio
from numpy.typing import NDArray

from poise.robots.human.bodies import Mass, bodies
from poise.robots.human.figure import COLORS, Capsule, figure
from poise.robots.human.landmarks import landmarks
from poise.robots.human.shape import BodyShape, shape_of
from poise.robots.human.skeleton import Built, across, joints
from poise.robots.parts import SIDES, Side

Array = NDArray[np.float64]

#: Arguments of `load_robot` that shape a human; all others are those of any robot.
SHAPING = ("height", "mass", "sex", "shape")
#: Part of the foot's width that is flat on the ground, by eye.
FLAT = 0.4


def human_values(values: Mapping[str, Any]) -> tuple[dict[str, Any], str]:
    """The keys of a description (see `poise.robots.description`), and the text of its URDF."""
    shape = shape_of(values)
    given = {key: value for key, value in values.items() if key not in ("sex", "shape")}
    placed = {"feet": _feet(shape), "hands": _hands(shape), "gaze": _gaze(shape)}
    return {**placed, **given, "height": shape.height, "mass": shape.mass}, urdf_text(shape)


def urdf_text(shape: BodyShape) -> str:
    """The body as a URDF, with frames for the points under the feet: heel, metatarsal heads, tip of the toes."""
    root = ElementTree.Element("robot", name="human")
    for name, color in COLORS.items():
        ElementTree.SubElement(ElementTree.SubElement(root, "material", name=name), "color", rgba=color)
    solids = figure(shape)
    for name, body in bodies(shape).items():
        _link(root, name, body, [solid for solid in solids if solid.link == name])
    for joint in joints(shape):
        _joint(root, joint)
    for side in SIDES:
        for name, (link, place) in foot_points(shape, side).items():
            _point(root, name, link, place)
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode")


def foot_points(shape: BodyShape, side: Side) -> dict[str, tuple[str, Array]]:
    """Points in the plane of the sole that can touch the ground: name of the frame, link, place in it (m)."""
    i, y = SIDES.index(side), across(side)
    h, wide = shape.ankle_height[i], shape.foot_width[i]
    toes = next(joint.place for joint in joints(shape) if joint.child == f"{side}_toes")
    return {
        f"{side}_heel": (f"{side}_foot", np.array([-0.8 * shape.heel[i], 0.0, -h])),
        f"{side}_first_metatarsal": (f"{side}_foot", np.array([shape.foot[i], -FLAT * y * wide, -h])),
        f"{side}_fifth_metatarsal": (f"{side}_foot", np.array([0.85 * shape.foot[i], FLAT * y * wide, -h])),
        f"{side}_toe_tip": (f"{side}_toes", np.array([0.9 * shape.toes[i], -0.1 * y * wide, -h - toes[2]])),
    }


def _feet(shape: BodyShape) -> dict[str, Any]:
    """The sole is under the foot without its toes, which lift off last."""
    feet: dict[str, Any] = {}
    for i, side in enumerate(SIDES):
        half = FLAT * shape.foot_width[i]
        feet[side] = {
            "frame": f"{side}_foot",
            "name": f"{side}_sole",
            "position": [0.0, 0.0, -shape.ankle_height[i]],
            "sole": [-0.8 * shape.heel[i], shape.foot[i], -half, half],
        }
    return feet


def _hands(shape: BodyShape) -> dict[str, Any]:
    """In the palm, before the bones of the hand."""
    return {
        side: {"frame": f"{side}_hand", "name": f"{side}_palm", "position": [0.2 * size, 0.0, -0.7 * size]}
        for side, size in zip(SIDES, shape.hand, strict=True)
    }


def _gaze(shape: BodyShape) -> dict[str, Any]:
    """Between the eyes, at the height of the sellion."""
    _, place = landmarks(shape)["sellion"]
    return {"frame": "head", "name": "eyes", "position": place.tolist(), "axis": [1.0, 0.0, 0.0]}


def _link(root: ElementTree.Element, name: str, body: Mass, solids: Sequence[Capsule]) -> None:
    link = ElementTree.SubElement(root, "link", name=name)
    inertial = ElementTree.SubElement(link, "inertial")
    ElementTree.SubElement(inertial, "origin", xyz=_numbers(body.center))
    ElementTree.SubElement(inertial, "mass", value=f"{body.mass:.12g}")
    pairs = {"ixx": (0, 0), "ixy": (0, 1), "ixz": (0, 2), "iyy": (1, 1), "iyz": (1, 2), "izz": (2, 2)}
    ElementTree.SubElement(inertial, "inertia", {key: f"{body.inertia[at]:.12g}" for key, at in pairs.items()})
    for solid in solids:
        if solid.drawn:
            _solid(link, "visual", solid)
        if solid.collides:
            _solid(link, "collision", solid)


def _solid(link: ElementTree.Element, kind: str, solid: Capsule) -> None:
    """A cylinder with a ball at each end."""
    span = solid.end - solid.start
    length = float(np.linalg.norm(span))
    if length > 0.0:
        turn = pinocchio.Quaternion.FromTwoVectors(np.array([0.0, 0.0, 1.0]), span / length).matrix()
        rpy = pinocchio.rpy.matrixToRpy(turn)
        shape = _geometry(link, kind, solid, (solid.start + solid.end) / 2.0, rpy)
        ElementTree.SubElement(shape, "cylinder", radius=f"{solid.radius:.6g}", length=f"{length:.6g}")
    for end in (solid.start, solid.end)[: 2 if length > 0.0 else 1]:
        shape = _geometry(link, kind, solid, end, np.zeros(3))
        ElementTree.SubElement(shape, "sphere", radius=f"{solid.radius:.6g}")


def _geometry(link: ElementTree.Element, kind: str, solid: Capsule, place: Array, rpy: Array) -> ElementTree.Element:
    element = ElementTree.SubElement(link, kind)
    ElementTree.SubElement(element, "origin", xyz=_numbers(place), rpy=_numbers(rpy))
    geometry = ElementTree.SubElement(element, "geometry")
    if kind == "visual":
        ElementTree.SubElement(element, "material", name=solid.color)
    return geometry


def _joint(root: ElementTree.Element, joint: Built) -> None:
    element = ElementTree.SubElement(root, "joint", name=joint.name, type="revolute")
    ElementTree.SubElement(element, "parent", link=joint.parent)
    ElementTree.SubElement(element, "child", link=joint.child)
    ElementTree.SubElement(element, "origin", xyz=_numbers(joint.place), rpy=_numbers(joint.turn))
    ElementTree.SubElement(element, "axis", xyz=_numbers(joint.axis))
    limits = {"lower": joint.lower, "upper": joint.upper, "effort": joint.torque, "velocity": joint.speed}
    ElementTree.SubElement(element, "limit", {key: f"{value:.9g}" for key, value in limits.items()})


def _point(root: ElementTree.Element, name: str, link: str, place: Array) -> None:
    ElementTree.SubElement(root, "link", name=name)
    element = ElementTree.SubElement(root, "joint", name=f"{name}_on_{link}", type="fixed")
    ElementTree.SubElement(element, "parent", link=link)
    ElementTree.SubElement(element, "child", link=name)
    ElementTree.SubElement(element, "origin", xyz=_numbers(place))


def _numbers(values: Sequence[float] | Array) -> str:
    return " ".join(f"{value:.12g}" for value in values)
