"""Boundary: the nearest place, inside the workspace, to where a point was told to go.

Every function here is a projection: what is inside stays as it is, what is outside comes back onto the boundary, and a
second time changes nothing. Each says by how much it moved its argument. Places seen from above are complex numbers.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple

from poise.geometry import polygon
from poise.plans.footsteps import Footstep
from poise.plans.guidance.workspace import Range, Vector, Workspace
from poise.robots.parts import Side

Feet = Mapping[Side, Footstep]

#: Moved by less (m, rad), nothing is said: a millimetre, a twentieth of a degree.
UNSEEN = 1e-3
#: Halves an interval of length one to rounding of lengths in metres.
HALVINGS = 40
#: What a squared length (m²) is off by rounding, and more.
ROUNDING = 1e-12


class KeptFoot(NamedTuple):
    """A foot inside its region, by how far it was moved (m) and turned (rad)."""

    foot: Footstep
    moved: float
    turned: float


class KeptPlace(NamedTuple):
    """A place from above, and by how far it was moved (m)."""

    place: complex
    moved: float


class KeptVector(NamedTuple):
    """A place (m) or a turn (rad) in the body frame, and by how far it was moved."""

    place: Vector
    moved: float


class KeptValue(NamedTuple):
    """A number, and by how much it was moved, with its sign."""

    value: float
    moved: float


def outward(side: Side) -> float:
    """The sign of "to the outside" on a side, as left is positive."""
    return 1.0 if side == "left" else -1.0


def middle(feet: Feet) -> complex:
    """Between the middles of the soles, from above."""
    return 0.5 * (feet["left"].place + feet["right"].place)


def mean_yaw(feet: Feet) -> float:
    """Yaw between both feet, however often either has turned around (rad, near that of the left)."""
    left = feet["left"].yaw
    return left + 0.5 * wrapped(feet["right"].yaw - left)


def wrapped(angle: float) -> float:
    """The same angle between -π and π."""
    return math.remainder(angle, math.tau)


def value_inside(value: float, bounds: Range) -> KeptValue:
    """A number between two bounds."""
    kept = min(max(value, bounds[0]), bounds[1])
    return KeptValue(kept, kept - value)


def yaw_inside(yaw: float, feet: Feet, workspace: Workspace) -> KeptValue:
    """Trunk yaw, not too far from that of the feet; it keeps its whole turns."""
    away = wrapped(yaw - mean_yaw(feet))
    kept = value_inside(away, (-workspace.turn, workspace.turn))
    return KeptValue(yaw + kept.moved, kept.moved)


def foot_inside(foot: Footstep, stance: Footstep, workspace: Workspace) -> KeptFoot:
    """A foot in its region, a box in the frame of the stance foot: neither too far ahead nor behind, neither too near
    nor too wide, toes neither too much in nor out. The yaw comes first: the narrowest width depends on it.
    """
    sign = outward(foot.side)
    relative = wrapped(foot.yaw - stance.yaw)
    toes = min(max(sign * relative, workspace.toes[0]), workspace.toes[1])
    turned = sign * toes - relative
    heading = stance.heading
    place = foot.place
    away = (place - stance.place) * heading.conjugate()
    forward = min(max(away.real, -workspace.step), workspace.step)
    aside = min(max(sign * away.imag, workspace.narrowest(toes)), workspace.widths[1])
    kept = complex(forward, sign * aside)
    moved = abs(kept - away)
    if moved == 0.0 and turned == 0.0:
        return KeptFoot(foot, 0.0, 0.0)
    if moved > 0.0:
        place = stance.place + kept * heading
    return KeptFoot(Footstep(foot.side, place.real, place.imag, foot.yaw + turned, foot.z), moved, abs(turned))


def beside(stance: Footstep, workspace: Workspace, z: float | None = None) -> Footstep:
    """The nominal place of the other foot: beside the stance foot, parallel, as far as when standing."""
    side: Side = "left" if stance.side == "right" else "right"
    place = stance.place + 1j * outward(side) * workspace.width * stance.heading
    return Footstep(side, place.real, place.imag, stance.yaw, stance.z if z is None else z)


def support(feet: Feet, workspace: Workspace) -> list[tuple[float, float]]:
    """Corners of both soles, from above (m)."""
    x, y = workspace.sole.real, workspace.sole.imag
    corners = complex(x, y), complex(-x, y), complex(-x, -y), complex(x, -y)
    found = []
    for foot in feet.values():
        place, heading = foot.place, foot.heading
        for corner in corners:
            at = place + heading * corner
            found.append((at.real, at.imag))
    return found


def center_inside(center: complex, feet: Feet, lifted: Side | None, workspace: Workspace) -> KeptPlace:
    """The centre of mass in the stand-on region: the support region of both feet shrunk about their middle m,

        {m + s (x - m) : x in the support},    s = `stand_on`,

    or above the middle of the sole, on one foot.
    """
    if lifted is not None:
        over = next(foot.place for side, foot in feet.items() if side != lifted)
        return KeptPlace(over, abs(over - center))
    m, s = middle(feet), workspace.stand_on
    grown = m + (center - m) / s
    if _between_soles(grown, feet, workspace):
        return KeptPlace(center, 0.0)
    hull = polygon.convex_hull(support(feet, workspace))
    x, y = polygon.project(hull, (grown.real, grown.imag)).tolist()
    kept = complex(x, y)
    if kept == grown:
        return KeptPlace(center, 0.0)
    kept = m + s * (kept - m)
    return KeptPlace(kept, abs(kept - center))


def _between_soles(place: complex, feet: Feet, workspace: Workspace) -> bool:
    """Whether a place is nearer to the line between the feet than half a sole's width; then it is inside the support,
    and no hull is needed to know it."""
    a, d = feet["left"].place, feet["right"].place - feet["left"].place
    away = (place - a) * d.conjugate() / max(abs(d), 1e-9)  # along and across the line, m
    across = min(workspace.sole.real, workspace.sole.imag)
    return 0.0 <= away.real <= abs(d) and abs(away.imag) < across


def hand_inside(hand: Vector, side: Side, workspace: Workspace) -> KeptVector:
    """A hand in the body frame at the nearest place p of its box within the arm's reach l of its shoulder s:

        p(t) = box(q + t (s - q)),    |p - s| <= l

    with q where it was told to go and t the least share between 0 and 1 that will do (the conditions of the nearest
    point: the pull of the ball is along s - p, that of the box along its normals).
    """
    (x0, y0, z0), (x1, y1, z1) = workspace.hand_box[side]
    x, y, z = hand
    sx, sy, sz = workspace.shoulders[side]
    low, high = 0.0, 1.0
    px, py, pz = min(max(x, x0), x1), min(max(y, y0), y1), min(max(z, z0), z1)
    within = workspace.arm**2 + ROUNDING
    if (px - sx) ** 2 + (py - sy) ** 2 + (pz - sz) ** 2 > within:
        for _ in range(HALVINGS):
            t = 0.5 * (low + high)
            px = min(max(x + t * (sx - x), x0), x1)
            py = min(max(y + t * (sy - y), y0), y1)
            pz = min(max(z + t * (sz - z), z0), z1)
            if (px - sx) ** 2 + (py - sy) ** 2 + (pz - sz) ** 2 > within:
                low = t
            else:
                high = t
        px = min(max(x + high * (sx - x), x0), x1)
        py = min(max(y + high * (sy - y), y0), y1)
        pz = min(max(z + high * (sz - z), z0), z1)
    return KeptVector((px, py, pz), math.sqrt((px - x) ** 2 + (py - y) ** 2 + (pz - z) ** 2))


def turn_inside(turn: Vector, workspace: Workspace) -> KeptVector:
    """A hand's turn from home, no longer than it may be; none where arms cannot turn their hands (rad)."""
    x, y, z = turn
    angle, most = math.sqrt(x * x + y * y + z * z), workspace.hand_attitude
    if angle <= most:
        return KeptVector(turn, 0.0)
    share = most / angle
    return KeptVector((share * x, share * y, share * z), angle - most)
