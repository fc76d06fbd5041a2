"""Projections onto the workspace: the nearest permitted place of feet, hands and centre of mass, and places to land.

Every function here is a projection: what is inside stays as it is, what is outside comes back onto the boundary, and a
second time changes nothing. Each says by how much it moved its argument. Places seen from above are complex numbers.

Known ground moves a foot onto a tread and may so move it out of its region. Then the place is looked for on the way to
the nominal one, beside the stance foot, and at last anywhere in the region: a foot that finds no place to land would
leave the robot on one leg for ever.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from poise.geometry import polygon, so3
from poise.plans.footsteps import Footstep
from poise.plans.guidance.limb_reach import Legs
from poise.plans.guidance.workspace import Range, Vector, Workspace
from poise.robots import Side, other_side, side_sign

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


def middle(feet: Feet) -> complex:
    """Between the middles of the soles, from above."""
    return 0.5 * (feet["left"].place + feet["right"].place)


def mean_yaw(feet: Feet) -> float:
    """Yaw between both feet, however often either has turned around (rad, near that of the left)."""
    left = feet["left"].yaw
    return left + 0.5 * so3.wrap_angle(feet["right"].yaw - left)


def value_inside(value: float, bounds: Range) -> KeptValue:
    """A number between two bounds."""
    kept = min(max(value, bounds[0]), bounds[1])
    return KeptValue(kept, kept - value)


def yaw_inside(yaw: float, feet: Feet, workspace: Workspace) -> KeptValue:
    """Trunk yaw, not too far from that of the feet; it keeps its whole turns."""
    away = so3.wrap_angle(yaw - mean_yaw(feet))
    kept = value_inside(away, (-workspace.turn, workspace.turn))
    return KeptValue(yaw + kept.moved, kept.moved)


def foot_inside(foot: Footstep, stance: Footstep, workspace: Workspace) -> KeptFoot:
    """A foot in its region, a box in the frame of the stance foot: neither too far ahead nor behind, neither too near
    nor too wide, toes neither too much in nor out. The yaw comes first: the narrowest width depends on it.
    """
    sign = side_sign(foot.side)
    relative = so3.wrap_angle(foot.yaw - stance.yaw)
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
    side = other_side(stance.side)
    place = stance.place + 1j * side_sign(side) * workspace.width * stance.heading
    return Footstep(side, place.real, place.imag, stance.yaw, stance.z if z is None else z)


def support(feet: Feet, workspace: Workspace) -> list[tuple[float, float]]:
    """Corners of both soles, from above (m)."""
    return [(corner.real, corner.imag) for foot in feet.values() for corner in foot.corners(workspace.sole)]


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


# -- Landing: a foot on the ground, inside its region and within reach -----------------------------------------------


#: Puts a footstep on known ground: onto a tread, with its height.
Ground = Callable[[Footstep], Footstep]

#: Shares of the way to the nominal place that are tried.
WAY = (0.0, 0.1, 0.2, 0.35, 0.5, 0.75, 1.0)
#: Then the region on a grid of so many places along and across.
GRID = (13, 5)
#: Ground and region move a foot in turn at most so often.
TURNS = 4
#: A foot may stand outside its region by so much (m, rad): rounding.
REGION_TOLERANCE = 1e-6


def landed(
    wanted: Footstep, stance: Footstep, workspace: Workspace, legs: Legs, ground: Ground | None
) -> Footstep | None:
    """The foot on the ground nearest to where it is wanted; None only if known ground has no place at all."""
    for foot in _places(foot_inside(wanted, stance, workspace).foot, stance, workspace, ground is not None):
        on = foot.moved(foot.place, stance.z) if ground is None else _grounded(foot, stance, workspace, ground)
        if on is not None and _stands(on, stance, workspace, legs):
            return on
    return None


def aloft(
    wanted: Footstep, stance: Footstep, workspace: Workspace, legs: Legs, ground: Ground | None
) -> Footstep | None:
    """The lifted foot nearest to where it is wanted: within reach of a body above the stance foot, above the ground and
    not too high; None if it cannot be lifted there."""
    kept = foot_inside(wanted, stance, workspace).foot
    nominal = beside(stance, workspace, kept.z)
    lowest = stance.z + workspace.heights[0]
    for share in WAY:
        foot = _between(kept, nominal, share, stance, workspace)
        under = stance.z if ground is None else (_on(ground, foot) or foot).z
        least = under + workspace.lift[0]
        z = min(max(foot.z + share * (least - foot.z), least), stance.z + workspace.high)
        if z < least:  # the ground is too high there
            continue
        foot = foot.moved(foot.place, z)
        feet = _pair(foot, stance)
        low, high = legs.heights(stance.place, mean_yaw(feet), feet)
        if max(lowest, low) <= high:
            return foot
    return None


def _places(foot: Footstep, stance: Footstep, workspace: Workspace, thorough: bool) -> Iterator[Footstep]:
    nominal = beside(stance, workspace, foot.z)
    for share in WAY:
        yield _between(foot, nominal, share, stance, workspace)
    if not thorough:
        return
    sign, (along, across) = side_sign(foot.side), GRID
    narrow, wide = workspace.widths
    places = [
        stance.place
        + stance.heading
        * complex(workspace.step * (2.0 * i / (along - 1) - 1.0), sign * (narrow + (wide - narrow) * j / (across - 1)))
        for i in range(along)
        for j in range(across)
    ]
    wanted = foot.place
    for place in sorted(places, key=lambda place: abs(place - wanted)):
        for yaw in (foot.yaw, stance.yaw):
            yield Footstep(foot.side, place.real, place.imag, yaw, foot.z)


def _between(a: Footstep, b: Footstep, share: float, stance: Footstep, workspace: Workspace) -> Footstep:
    if share == 0.0:
        return a
    place = a.place + share * (b.place - a.place)
    yaw = a.yaw + share * so3.wrap_angle(b.yaw - a.yaw)
    return foot_inside(Footstep(a.side, place.real, place.imag, yaw, a.z), stance, workspace).foot


def _grounded(foot: Footstep, stance: Footstep, workspace: Workspace, ground: Ground) -> Footstep | None:
    """On the ground and in its region: projected onto either in turn, as long as that may help."""
    for _ in range(TURNS):
        on = _on(ground, foot)
        if on is None or abs(on.z - stance.z) > workspace.high:
            return None
        kept = foot_inside(on, stance, workspace)
        if kept.moved < REGION_TOLERANCE and kept.turned < REGION_TOLERANCE:
            return on
        foot = kept.foot
    return None


def _on(ground: Ground, foot: Footstep) -> Footstep | None:
    """On the ground, if the ground has a finite answer."""
    on = ground(foot)
    return on if all(map(math.isfinite, (on.x, on.y, on.z, on.yaw))) else None


def _stands(foot: Footstep, stance: Footstep, workspace: Workspace, legs: Legs) -> bool:
    """Whether both legs reach from above the middle."""
    feet = _pair(foot, stance)
    low, high = legs.heights(middle(feet), mean_yaw(feet), feet)
    return max(min(foot.z, stance.z) + workspace.heights[0], low) <= high


def _pair(foot: Footstep, stance: Footstep) -> Feet:
    feet: dict[Side, Footstep] = {foot.side: foot, stance.side: stance}
    return feet
