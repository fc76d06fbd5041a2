"""Robot description of the human: URDF text, segment masses and inertias, shapes, soles, hands and gaze.

The radii of the shapes are fractions of segment lengths, chosen by eye to match the girths of the mean body.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple
from xml.etree import ElementTree

import numpy as np
import pinocchio
from numpy.typing import ArrayLike

from poise.arrays import Array
from poise.robots.human import anthropometry
from poise.robots.human.anthropometry import BodyShape, body_shape
from poise.robots.human.landmarks import landmarks
from poise.robots.human.skeleton import INTERMEDIATE_LINKS, JointInstance, human_joints, mtp_height
from poise.robots.parts import SIDES, Side, side_sign

MIRROR = np.diag([1.0, -1.0, 1.0])
#: Toes and fingers as a fraction of the mass of foot and hand. A choice: the tables do not divide foot and hand.
TOES_MASS_SHARE, FINGERS_MASS_SHARE = 0.15, 0.18
#: An intermediate link between two joint axes is a ball of this mass (kg) and radius (m), subtracted from the next
#: segment. It has a negligible effect, but physics engines refuse links without mass.
DUMMY_MASS, DUMMY_RADIUS = 1e-3, 0.02


class SegmentInertia(NamedTuple):
    """Mass (kg), center of mass (m) in the link's frame, and inertia about the center of mass (kg m²) of a segment."""

    mass: float
    center: Array
    inertia: Array

    def without(self, part: SegmentInertia) -> SegmentInertia:
        """Return the inertia that remains after a part is removed."""
        mass = self.mass - part.mass
        center = (self.mass * self.center - part.mass * part.center) / mass
        about = self.inertia_about(center) - part.inertia_about(center)
        return SegmentInertia(mass, center, about)

    def inertia_about(self, point: Array) -> Array:
        """Return the inertia about another point (kg m²)."""
        d = self.center - point
        return np.asarray(self.inertia + self.mass * ((d @ d) * np.eye(3) - np.outer(d, d)))

    def translate(self, offset: Array) -> SegmentInertia:
        return SegmentInertia(self.mass, self.center + offset, self.inertia)


def link_inertias(shape: BodyShape) -> dict[str, SegmentInertia]:
    """Return mass, center of mass and inertia of each link by name; the masses sum exactly to the body mass."""
    parts = {
        "pelvis": _pelvis(shape),
        "torso": _torso(shape),
        "head": _segment_inertia(shape, "head", shape.head, None),
    }
    for side in SIDES:
        i = SIDES.index(side)
        for name, length in (("thigh", shape.thigh), ("shank", shape.shank), ("upper_arm", shape.upper_arm)):
            parts[f"{side}_{name}"] = _segment_inertia(shape, name, length[i], side)
        parts[f"{side}_forearm"] = _segment_inertia(shape, "forearm", shape.forearm[i], side)
        parts |= _split_segment(shape, side, "foot", "toes", TOES_MASS_SHARE)
        parts |= _split_segment(shape, side, "hand", "fingers", FINGERS_MASS_SHARE)
    return _add_dummy_masses(shape, parts)


def _segment_inertia(shape: BodyShape, name: str, length: float, side: Side | None) -> SegmentInertia:
    """Return the inertia of a segment from the table of right and middle segments; left segments are mirrored."""
    row = anthropometry.SEGMENT_TABLE[shape.sex][name]
    mass = anthropometry.mass_fractions(shape.sex)[name] * shape.mass
    center, inertia = row.center * length, row.unit_inertia * mass * length**2
    if side == "left":
        center, inertia = MIRROR @ center, MIRROR @ inertia @ MIRROR
    return SegmentInertia(mass, center, inertia)


def _pelvis(shape: BodyShape) -> SegmentInertia:
    """Return the inertia of the pelvis: the table refers to L5S1, the link's origin is midway between the hips."""
    length = float(np.hypot(shape.l5s1_forward, shape.l5s1_up))
    lumbar = np.array([shape.l5s1_forward, 0.0, shape.l5s1_up])
    return _segment_inertia(shape, "pelvis", length, None).translate(lumbar)


def _torso(shape: BodyShape) -> SegmentInertia:
    """Return the inertia of the torso: the table refers to C7T1, the link's origin is L5S1."""
    return _segment_inertia(shape, "torso", shape.torso, None).translate(np.array([0.0, 0.0, shape.torso]))


def _split_segment(shape: BodyShape, side: Side, name: str, end: str, share: float) -> dict[str, SegmentInertia]:
    """Split a foot or a hand into two links: the end is a cuboid; both together have the inertia of the segment."""
    i = SIDES.index(side)
    segment = _segment_inertia(shape, name, getattr(shape, name)[i], side)
    root = next(joint.position for joint in human_joints(shape) if joint.child == f"{side}_{end}")
    length, width = getattr(shape, end)[i], shape.foot_width[i] if name == "foot" else shape.hand[i]
    thick = 2.0 * mtp_height(shape, side) if name == "foot" else 0.25 * shape.hand[i]
    axis = np.array([1.0, 0.0, 0.0]) if name == "foot" else np.array([0.0, 0.0, -1.0])
    size = np.where(axis != 0.0, length, np.array([thick, 0.9 * width, thick]))
    mass = share * segment.mass
    inertia = mass / 12.0 * (np.sum(size**2) * np.eye(3) - np.diag(size**2))
    part = SegmentInertia(mass, 0.45 * length * axis, inertia)
    return {f"{side}_{end}": part, f"{side}_{name}": segment.without(part.translate(np.array(root)))}


def _add_dummy_masses(shape: BodyShape, parts: dict[str, SegmentInertia]) -> dict[str, SegmentInertia]:
    """Give intermediate links their small masses, subtracted from the next segment."""
    dummy_mass = DUMMY_MASS * shape.mass / 75.0
    ball = 0.4 * dummy_mass * DUMMY_RADIUS**2 * np.eye(3)
    pending: list[str] = []
    for joint in human_joints(shape):
        if joint.child.removeprefix("left_").removeprefix("right_") in INTERMEDIATE_LINKS:
            pending.append(joint.child)
            continue
        for name in pending:
            body = parts[joint.child]
            parts[joint.child] = body._replace(mass=body.mass - dummy_mass)
            parts[name] = SegmentInertia(dummy_mass, np.zeros(3), ball)
        pending.clear()
    return parts


# -- Shapes of the links ---------------------------------------------------------------------------------------------


COLORS = {
    "skin": "0.87 0.70 0.58 1",
    "shirt": "0.36 0.52 0.67 1",
    "trousers": "0.24 0.27 0.33 1",
    "shoe": "0.17 0.17 0.18 1",
    "hair": "0.25 0.19 0.15 1",
}


class BodyCapsule(NamedTuple):
    """A capsule on a link between two points (m), used as a visual shape, a collision shape or both."""

    link: str
    start: Array
    end: Array
    radius: float
    color: str
    visible: bool = True
    collides: bool = True


def body_capsules(shape: BodyShape) -> list[BodyCapsule]:
    """Return the capsules of all links of a body."""
    parts = _trunk(shape)
    for side in SIDES:
        parts += _leg(shape, side) + _arm(shape, side)
    return parts


def _capsule(link: str, start: ArrayLike, end: ArrayLike, radius: float, color: str, **kinds: bool) -> BodyCapsule:
    return BodyCapsule(link, np.array(start, dtype=np.float64), np.array(end, dtype=np.float64), radius, color, **kinds)


def _trunk(shape: BodyShape) -> list[BodyCapsule]:
    hips, t, head = shape.hip_width / 2.0, shape.torso, shape.head
    wide = shape.shoulder_width / 2.0
    out = [
        _capsule("pelvis", (0.0, -0.75 * hips, 0.02), (0.0, 0.75 * hips, 0.02), 0.21 * t, "trousers"),
        _capsule("pelvis", (0.0, -0.5 * hips, 0.08), (0.0, 0.5 * hips, 0.08), 0.2 * t, "trousers", collides=False),
        _capsule("torso", (0.05, 0.0, 0.02 * t), (0.05, 0.0, 0.5 * t), 0.195 * t, "shirt", collides=False),
        _capsule(
            "torso", (0.05, -0.10 * t, 0.05 * t), (0.045, -0.15 * t, 0.68 * t), 0.195 * t, "shirt", collides=False
        ),
        _capsule("torso", (0.05, 0.10 * t, 0.05 * t), (0.045, 0.15 * t, 0.68 * t), 0.195 * t, "shirt", collides=False),
        _capsule("torso", (0.04, -0.15 * t, 0.7 * t), (0.04, 0.15 * t, 0.7 * t), 0.22 * t, "shirt"),
        _capsule("torso", (0.05, 0.0, 0.1 * t), (0.05, 0.0, 0.4 * t), 0.26 * t, "shirt", visible=False),
        _capsule("torso", (0.02, -0.8 * wide, 0.87 * t), (0.02, 0.8 * wide, 0.87 * t), 0.11 * t, "shirt"),
        _capsule("torso", (0.0, 0.0, 0.9 * t), (0.01, 0.0, t), 0.11 * t, "skin", collides=False),
        _capsule("head", (0.0, 0.0, 0.0), (0.04 * head, 0.0, 0.4 * head), 0.2 * head, "skin"),
        _capsule("head", (0.08 * head, 0.0, 0.5 * head), (0.02 * head, 0.0, 0.70 * head), 0.3 * head, "skin"),
        _capsule(
            "head",
            (0.33 * head, 0.0, 0.44 * head),
            (0.38 * head, 0.0, 0.52 * head),
            0.055 * head,
            "skin",
            collides=False,
        ),
        _capsule(
            "head",
            (-0.03 * head, 0.0, 0.55 * head),
            (-0.02 * head, 0.0, 0.715 * head),
            0.305 * head,
            "hair",
            collides=False,
        ),
    ]
    for y in (-1.0, 1.0):
        eye = (0.345 * head, 0.1 * y * head, 0.61 * head)
        out.append(_capsule("head", eye, eye, 0.03 * head, "hair", collides=False))
    return out


def _leg(shape: BodyShape, side: Side) -> list[BodyCapsule]:
    i, y = SIDES.index(side), side_sign(side)
    thigh, shank = shape.thigh[i], shape.shank[i]
    ball, toes, wide, h = shape.foot[i], shape.toes[i], shape.foot_width[i], shape.ankle_height[i]
    t, s, f, e = (f"{side}_{name}" for name in ("thigh", "shank", "foot", "toes"))
    flat, low = 0.3 * h, mtp_height(shape, side)
    sole, heel = flat - h, 0.45 * h - h
    out = [
        _capsule(t, (0.0, 0.0, -0.05 * thigh), (0.0, 0.0, -0.55 * thigh), 0.17 * thigh, "trousers"),
        _capsule(t, (0.0, 0.0, -0.5 * thigh), (0.0, 0.0, -thigh), 0.135 * thigh, "trousers"),
        _capsule(s, (0.0, 0.0, 0.0), (-0.02, 0.0, -0.4 * shank), 0.125 * shank, "trousers"),
        _capsule(s, (-0.01, 0.0, -0.35 * shank), (0.0, 0.0, -0.97 * shank), 0.09 * shank, "trousers"),
        _capsule(f, (-shape.heel[i] + 0.45 * h, 0.0, heel), (0.25 * ball, 0.0, heel + 0.1 * h), 0.45 * h, "shoe"),
        _capsule(f, (0.0, 0.0, -0.25 * h), (0.75 * ball, 0.0, 0.45 * h - h), 0.43 * h, "shoe", collides=False),
    ]
    for inner in (-1.0, 1.0):
        start = (-0.4 * shape.heel[i], 0.18 * inner * wide, sole)
        out.append(_capsule(f, start, (ball, 0.32 * inner * wide, sole), flat, "shoe", collides=False))
        tip = (0.8 * toes, 0.22 * inner * wide - 0.1 * y * wide, 0.0)
        out.append(_capsule(e, (0.0, 0.3 * inner * wide, 0.0), tip, 0.95 * low, "shoe", collides=False))
    # A thin rod below the toes: it touches the ground while the heel rises, and not while the sole is flat.
    bar = (0.45 * toes, 0.3 * wide, 0.012 - low)
    out.append(_capsule(e, bar, (bar[0], -bar[1], bar[2]), 0.011, "shoe", visible=False))
    return out


def _arm(shape: BodyShape, side: Side) -> list[BodyCapsule]:
    i, y = SIDES.index(side), side_sign(side)
    upper, fore, hand, fingers = shape.upper_arm[i], shape.forearm[i], shape.hand[i], shape.fingers[i]
    u, f, h, e = (f"{side}_{name}" for name in ("upper_arm", "forearm", "hand", "fingers"))
    out = [
        _capsule(u, (0.0, 0.0, -0.02), (0.0, 0.0, -0.5 * upper), 0.2 * upper, "shirt"),
        _capsule(u, (0.0, 0.0, -0.4 * upper), (0.0, 0.0, -upper), 0.155 * upper, "skin"),
        _capsule(f, (0.0, 0.0, 0.0), (0.0, 0.0, -0.45 * fore), 0.145 * fore, "skin"),
        _capsule(f, (0.0, 0.0, -0.4 * fore), (0.0, 0.0, -fore), 0.105 * fore, "skin"),
        _capsule(h, (0.0, 0.12 * hand, -0.25 * hand), (0.0, 0.24 * hand, -hand), 0.2 * hand, "skin", collides=False),
        _capsule(
            h, (0.0, -0.12 * hand, -0.25 * hand), (0.0, -0.2 * hand, -0.92 * hand), 0.2 * hand, "skin", collides=False
        ),
        _capsule(h, (0.0, 0.0, -0.3 * hand), (0.0, 0.0, -0.85 * hand), 0.4 * hand, "skin", visible=False),
        _capsule(
            h,
            (0.1 * hand, 0.3 * y * hand, -0.3 * hand),
            (0.3 * hand, 0.55 * y * hand, -0.95 * hand),
            0.13 * hand,
            "skin",
            collides=False,
        ),
        _capsule(e, (0.0, 0.0, 0.0), (0.0, 0.0, -0.75 * fingers), 0.2 * fingers, "skin", visible=False),
    ]
    for k in (-1.5, -0.5, 0.5, 1.5):
        tip = (0.0, 0.17 * k * hand, -(0.9 - 0.07 * abs(k)) * fingers)
        out.append(_capsule(e, (0.0, 0.17 * k * hand, 0.0), tip, 0.105 * hand, "skin", collides=False))
    return out


# -- From a shape to a description -----------------------------------------------------------------------------------


#: Arguments of `load_robot` that define the shape of a human; all others apply to every robot.
SHAPE_ARGUMENTS = ("height", "mass", "sex", "shape")
#: Largest factor by which the longer leg is bent more than the other in a stance; at 5 the knee is at 86 degrees.
MAX_STANCE_FACTOR = 5.0
#: Half width of the flat sole as a fraction of the foot's width, chosen by eye.
FLAT_WIDTH_SHARE = 0.4


def human_description(values: Mapping[str, Any]) -> tuple[dict[str, Any], str]:
    """Return the keys of the description of a human (see `poise.robots.description`), and its URDF text."""
    shape = body_shape(values)
    other_values = {key: value for key, value in values.items() if key not in ("sex", "shape")}
    parts = {"feet": _feet(shape), "hands": _hands(shape), "gaze": _gaze(shape)}
    if "stances" in other_values:
        other_values["stances"] = {
            name: _bend_longer_leg(stance, shape) for name, stance in other_values["stances"].items()
        }
    return {**parts, **other_values, "height": shape.height, "mass": shape.mass}, urdf_text(shape)


def _bend_longer_leg(stance: Any, shape: BodyShape) -> Any:
    """Return a stance in which the longer leg is bent more, so that both feet are on the floor under a level pelvis.

    The angles of hip, knee and ankle of the longer leg are multiplied by the same number. A stance with other angles
    than those of both sides at once is returned unchanged.
    """
    names = [f"{{side}}_{joint}" for joint in ("hip_flexion", "knee_flexion", "ankle_dorsiflexion")]
    joints = stance.get("joints") if isinstance(stance, Mapping) else None
    if not isinstance(joints, Mapping) or not all(isinstance(joints.get(name), int | float) for name in names):
        return stance
    hip, knee, ankle = (float(joints[name]) for name in names)

    def height(i: int, factor: float) -> float:
        upper, lower = shape.thigh[i] * np.cos(factor * hip), shape.shank[i] * np.cos(factor * (knee - hip))
        return float(upper + lower + shape.ankle_height[i])

    shorter = min((0, 1), key=lambda i: height(i, 1.0))
    longer, low, high = 1 - shorter, 1.0, MAX_STANCE_FACTOR
    for _ in range(50):  # bisection
        factor = (low + high) / 2.0
        low, high = (factor, high) if height(longer, factor) > height(shorter, 1.0) else (low, factor)
    if low == 1.0:
        return stance
    angles = {
        name.format(side=SIDES[longer]): low * angle for name, angle in zip(names, (hip, knee, ankle), strict=True)
    }
    sides = {name.format(side=SIDES[shorter]): angle for name, angle in zip(names, (hip, knee, ankle), strict=True)}
    return {**stance, "joints": {**{k: v for k, v in joints.items() if k not in names}, **sides, **angles}}


def urdf_text(shape: BodyShape) -> str:
    """Return the URDF of a body, with frames for the points under the feet: heel, metatarsal heads, tip of the toes."""
    root = ElementTree.Element("robot", name="human")
    for name, color in COLORS.items():
        ElementTree.SubElement(ElementTree.SubElement(root, "material", name=name), "color", rgba=color)
    capsules = body_capsules(shape)
    for name, body in link_inertias(shape).items():
        _add_link(root, name, body, [capsule for capsule in capsules if capsule.link == name])
    for joint in human_joints(shape):
        _add_joint(root, joint)
    for side in SIDES:
        for name, (link, position) in foot_points(shape, side).items():
            _add_point(root, name, link, position)
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode")


def foot_points(shape: BodyShape, side: Side) -> dict[str, tuple[str, Array]]:
    """Return the points of a sole that can touch the ground, by frame name: link, and position in the link (m)."""
    i, y = SIDES.index(side), side_sign(side)
    h, wide = shape.ankle_height[i], shape.foot_width[i]
    toes = next(joint.position for joint in human_joints(shape) if joint.child == f"{side}_toes")
    return {
        f"{side}_heel": (f"{side}_foot", np.array([-0.8 * shape.heel[i], 0.0, -h])),
        f"{side}_first_metatarsal": (f"{side}_foot", np.array([shape.foot[i], -FLAT_WIDTH_SHARE * y * wide, -h])),
        f"{side}_fifth_metatarsal": (f"{side}_foot", np.array([0.85 * shape.foot[i], FLAT_WIDTH_SHARE * y * wide, -h])),
        f"{side}_toe_tip": (f"{side}_toes", np.array([0.9 * shape.toes[i], -0.1 * y * wide, -h - toes[2]])),
    }


def _feet(shape: BodyShape) -> dict[str, Any]:
    """Return the table ``feet``; the sole does not include the toes, which lift off last."""
    feet: dict[str, Any] = {}
    for i, side in enumerate(SIDES):
        half = FLAT_WIDTH_SHARE * shape.foot_width[i]
        feet[side] = {
            "frame": f"{side}_foot",
            "name": f"{side}_sole",
            "position": [0.0, 0.0, -shape.ankle_height[i]],
            "sole": [-0.8 * shape.heel[i], shape.foot[i], -half, half],
        }
    return feet


def _hands(shape: BodyShape) -> dict[str, Any]:
    """Return the table ``hands``; the frame is in the palm, in front of the bones of the hand."""
    return {
        side: {"frame": f"{side}_hand", "name": f"{side}_palm", "position": [0.2 * size, 0.0, -0.7 * size]}
        for side, size in zip(SIDES, shape.hand, strict=True)
    }


def _gaze(shape: BodyShape) -> dict[str, Any]:
    """Return the table ``gaze``; the frame is between the eyes, at the sellion."""
    _, position = landmarks(shape)["sellion"]
    return {"frame": "head", "name": "eyes", "position": position.tolist(), "axis": [1.0, 0.0, 0.0]}


def _add_link(root: ElementTree.Element, name: str, body: SegmentInertia, capsules: Sequence[BodyCapsule]) -> None:
    link = ElementTree.SubElement(root, "link", name=name)
    inertial = ElementTree.SubElement(link, "inertial")
    ElementTree.SubElement(inertial, "origin", xyz=_format_numbers(body.center))
    ElementTree.SubElement(inertial, "mass", value=f"{body.mass:.12g}")
    pairs = {"ixx": (0, 0), "ixy": (0, 1), "ixz": (0, 2), "iyy": (1, 1), "iyz": (1, 2), "izz": (2, 2)}
    ElementTree.SubElement(inertial, "inertia", {key: f"{body.inertia[at]:.12g}" for key, at in pairs.items()})
    for capsule in capsules:
        if capsule.visible:
            _add_capsule(link, "visual", capsule)
        if capsule.collides:
            _add_capsule(link, "collision", capsule)


def _add_capsule(link: ElementTree.Element, kind: str, capsule: BodyCapsule) -> None:
    """Add a capsule to a link as a cylinder with a sphere at each end."""
    span = capsule.end - capsule.start
    length = float(np.linalg.norm(span))
    if length > 0.0:
        turn = pinocchio.Quaternion.FromTwoVectors(np.array([0.0, 0.0, 1.0]), span / length).matrix()
        rpy = pinocchio.rpy.matrixToRpy(turn)
        shape = _add_geometry(link, kind, capsule, (capsule.start + capsule.end) / 2.0, rpy)
        ElementTree.SubElement(shape, "cylinder", radius=f"{capsule.radius:.6g}", length=f"{length:.6g}")
    for end in (capsule.start, capsule.end)[: 2 if length > 0.0 else 1]:
        shape = _add_geometry(link, kind, capsule, end, np.zeros(3))
        ElementTree.SubElement(shape, "sphere", radius=f"{capsule.radius:.6g}")


def _add_geometry(
    link: ElementTree.Element, kind: str, capsule: BodyCapsule, position: Array, rpy: Array
) -> ElementTree.Element:
    element = ElementTree.SubElement(link, kind)
    ElementTree.SubElement(element, "origin", xyz=_format_numbers(position), rpy=_format_numbers(rpy))
    geometry = ElementTree.SubElement(element, "geometry")
    if kind == "visual":
        ElementTree.SubElement(element, "material", name=capsule.color)
    return geometry


def _add_joint(root: ElementTree.Element, joint: JointInstance) -> None:
    element = ElementTree.SubElement(root, "joint", name=joint.name, type="revolute")
    ElementTree.SubElement(element, "parent", link=joint.parent)
    ElementTree.SubElement(element, "child", link=joint.child)
    ElementTree.SubElement(element, "origin", xyz=_format_numbers(joint.position), rpy=_format_numbers(joint.rotation))
    ElementTree.SubElement(element, "axis", xyz=_format_numbers(joint.axis))
    limits = {"lower": joint.lower, "upper": joint.upper, "effort": joint.torque, "velocity": joint.speed}
    ElementTree.SubElement(element, "limit", {key: f"{value:.9g}" for key, value in limits.items()})


def _add_point(root: ElementTree.Element, name: str, link: str, position: Array) -> None:
    ElementTree.SubElement(root, "link", name=name)
    element = ElementTree.SubElement(root, "joint", name=f"{name}_on_{link}", type="fixed")
    ElementTree.SubElement(element, "parent", link=link)
    ElementTree.SubElement(element, "child", link=name)
    ElementTree.SubElement(element, "origin", xyz=_format_numbers(position))


def _format_numbers(values: Sequence[float] | Array) -> str:
    return " ".join(f"{value:.12g}" for value in values)
