"""Mass, centre and inertia of every link of a body, from the tables and its own lengths."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from poise.robots.human import dumas
from poise.robots.human.shape import BodyShape
from poise.robots.human.skeleton import BETWEEN, joints, mtp_height
from poise.robots.parts import SIDES, Side

Array = NDArray[np.float64]

MIRROR = np.diag([1.0, -1.0, 1.0])
#: Toes and fingers as a share of the foot's and the hand's mass. A choice: the tables keep both whole.
TOES, FINGERS = 0.15, 0.18
#: A link between two axes is a ball of this mass (kg) and radius (m), taken from the segment that it leads to: too
#: little to feel, enough for physics engines, which refuse links without mass.
SPECK, SPECK_RADIUS = 1e-3, 0.02


class Mass(NamedTuple):
    """Mass (kg), centre (m) in the link's frame, inertia about the centre (kg m²)."""

    mass: float
    center: Array
    inertia: Array

    def without(self, part: Mass) -> Mass:
        """What is left when a part is taken out."""
        mass = self.mass - part.mass
        center = (self.mass * self.center - part.mass * part.center) / mass
        about = self.about(center) - part.about(center)
        return Mass(mass, center, about)

    def about(self, point: Array) -> Array:
        """Inertia about another point (kg m²)."""
        d = self.center - point
        return np.asarray(self.inertia + self.mass * ((d @ d) * np.eye(3) - np.outer(d, d)))

    def moved(self, offset: Array) -> Mass:
        return Mass(self.mass, self.center + offset, self.inertia)


def bodies(shape: BodyShape) -> dict[str, Mass]:
    """Mass, centre and inertia of each link by name; together exactly the mass of the body."""
    found = {"pelvis": _pelvis(shape), "torso": _torso(shape), "head": _whole(shape, "head", shape.head, None)}
    for side in SIDES:
        i = SIDES.index(side)
        for name, length in (("thigh", shape.thigh), ("shank", shape.shank), ("upper_arm", shape.upper_arm)):
            found[f"{side}_{name}"] = _whole(shape, name, length[i], side)
        found[f"{side}_forearm"] = _whole(shape, "forearm", shape.forearm[i], side)
        found |= _split(shape, side, "foot", "toes", TOES)
        found |= _split(shape, side, "hand", "fingers", FINGERS)
    return _specked(shape, found)


def _whole(shape: BodyShape, name: str, length: float, side: Side | None) -> Mass:
    """A segment as the table has it: right or middle; the left one is its mirror image."""
    row = dumas.TABLE[shape.sex][name]
    mass = dumas.masses(shape.sex)[name] * shape.mass
    center, inertia = row.center * length, row.tensor * mass * length**2
    if side == "left":
        center, inertia = MIRROR @ center, MIRROR @ inertia @ MIRROR
    return Mass(mass, center, inertia)


def _pelvis(shape: BodyShape) -> Mass:
    """From L5S1, seen from the middle of the hip centres."""
    length = float(np.hypot(shape.lumbar_forward, shape.lumbar_up))
    lumbar = np.array([shape.lumbar_forward, 0.0, shape.lumbar_up])
    return _whole(shape, "pelvis", length, None).moved(lumbar)


def _torso(shape: BodyShape) -> Mass:
    """From C7T1, seen from L5S1."""
    return _whole(shape, "torso", shape.torso, None).moved(np.array([0.0, 0.0, shape.torso]))


def _split(shape: BodyShape, side: Side, name: str, end: str, share: float) -> dict[str, Mass]:
    """A foot or a hand in two: the end is a slab, and what is left is such that both together are the segment."""
    i = SIDES.index(side)
    whole = _whole(shape, name, getattr(shape, name)[i], side)
    root = next(joint.place for joint in joints(shape) if joint.child == f"{side}_{end}")
    length, width = getattr(shape, end)[i], shape.foot_width[i] if name == "foot" else shape.hand[i]
    thick = 2.0 * mtp_height(shape, side) if name == "foot" else 0.25 * shape.hand[i]
    along = np.array([1.0, 0.0, 0.0]) if name == "foot" else np.array([0.0, 0.0, -1.0])
    size = np.where(along != 0.0, length, np.array([thick, 0.9 * width, thick]))
    mass = share * whole.mass
    inertia = mass / 12.0 * (np.sum(size**2) * np.eye(3) - np.diag(size**2))
    part = Mass(mass, 0.45 * length * along, inertia)
    return {f"{side}_{end}": part, f"{side}_{name}": whole.without(part.moved(np.array(root)))}


def _specked(shape: BodyShape, found: dict[str, Mass]) -> dict[str, Mass]:
    """Links between axes get their specks from the link that they lead to."""
    speck = SPECK * shape.mass / 75.0
    ball = 0.4 * speck * SPECK_RADIUS**2 * np.eye(3)
    waiting: list[str] = []
    for joint in joints(shape):
        if joint.child.removeprefix("left_").removeprefix("right_") in BETWEEN:
            waiting.append(joint.child)
            continue
        for name in waiting:
            body = found[joint.child]
            found[joint.child] = body._replace(mass=body.mass - speck)
            found[name] = Mass(speck, np.zeros(3), ball)
        waiting.clear()
    return found
