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
from poise.plans.guidance.limb_reach import LegReach
from poise.plans.guidance.workspace import Range, Vector, Workspace
from poise.robots import Side, other_side, side_sign

Feet = Mapping[Side, Footstep]

#: Moved by less (m, rad), nothing is said: a millimetre, a twentieth of a degree.
LEAST_REPORTED = 1e-3
#: Halves an interval of length one to rounding of lengths in metres.
BISECTIONS = 40
#: What a squared length (m²) is off by rounding, and more.
ROUNDING = 1e-12


class ProjectedFoot(NamedTuple):
    """A foot inside its region, by how far it was moved (m) and turned (rad)."""

    foot: Footstep
    shift: float
    rotation: float


class ProjectedPlace(NamedTuple):
    """A place from above, and by how far it was moved (m)."""

    place: complex
    shift: float


class ProjectedVector(NamedTuple):
    """A place (m) or a turn (rad) in the body frame, and by how far it was moved."""

    place: Vector
    shift: float


class ProjectedValue(NamedTuple):
    """A number, and by how much it was moved, with its sign."""

    value: float
    shift: float


def middle_of_soles(feet: Feet) -> complex:
    """Between the middles of the soles, from above."""
    return 0.5 * (feet["left"].place + feet["right"].place)


def mean_yaw(feet: Feet) -> float:
    """Yaw between both feet, however often either has turned around (rad, near that of the left)."""
    left = feet["left"].yaw
    return left + 0.5 * so3.wrap_angle(feet["right"].yaw - left)


def project_value(value: float, bounds: Range) -> ProjectedValue:
    """A number between two bounds."""
    projection = min(max(value, bounds[0]), bounds[1])
    return ProjectedValue(projection, projection - value)


def project_yaw(yaw: float, feet: Feet, workspace: Workspace) -> ProjectedValue:
    """Trunk yaw, not too far from that of the feet; it keeps its whole turns."""
    offset = so3.wrap_angle(yaw - mean_yaw(feet))
    projection = project_value(offset, (-workspace.largest_trunk_yaw, workspace.largest_trunk_yaw))
    return ProjectedValue(yaw + projection.shift, projection.shift)


def project_foot(foot: Footstep, stance: Footstep, workspace: Workspace) -> ProjectedFoot:
    """A foot in its region, a box in the frame of the stance foot: neither too far ahead nor behind, neither too near
    nor too wide, toes neither too much in nor out. The yaw comes first: the narrowest width depends on it.
    """
    sign = side_sign(foot.side)
    relative = so3.wrap_angle(foot.yaw - stance.yaw)
    toes = min(max(sign * relative, workspace.toes[0]), workspace.toes[1])
    turned = sign * toes - relative
    heading = stance.heading
    place = foot.place
    offset = (place - stance.place) * heading.conjugate()
    forward = min(max(offset.real, -workspace.longest_step), workspace.longest_step)
    aside = min(max(sign * offset.imag, workspace.least_width(toes)), workspace.widths[1])
    projection = complex(forward, sign * aside)
    moved = abs(projection - offset)
    if moved == 0.0 and turned == 0.0:
        return ProjectedFoot(foot, 0.0, 0.0)
    if moved > 0.0:
        place = stance.place + projection * heading
    return ProjectedFoot(Footstep(foot.side, place.real, place.imag, foot.yaw + turned, foot.z), moved, abs(turned))


def nominal_foot(stance: Footstep, workspace: Workspace, z: float | None = None) -> Footstep:
    """The nominal place of the other foot: beside the stance foot, parallel, as far as when standing."""
    side = other_side(stance.side)
    place = stance.place + 1j * side_sign(side) * workspace.width * stance.heading
    return Footstep(side, place.real, place.imag, stance.yaw, stance.z if z is None else z)


def support_corners(feet: Feet, workspace: Workspace) -> list[tuple[float, float]]:
    """Corners of both soles, from above (m)."""
    return [(corner.real, corner.imag) for foot in feet.values() for corner in foot.corners(workspace.sole_half)]


def project_center(center: complex, feet: Feet, lifted: Side | None, workspace: Workspace) -> ProjectedPlace:
    """The centre of mass in the stand-on region: the support region of both feet shrunk about their middle m,

        {m + s (x - m) : x in the support},    s = `stand_on`,

    or above the middle of the sole, on one foot.
    """
    if lifted is not None:
        support_place = next(foot.place for side, foot in feet.items() if side != lifted)
        return ProjectedPlace(support_place, abs(support_place - center))
    m, s = middle_of_soles(feet), workspace.stand_on
    scaled = m + (center - m) / s
    if _between_soles(scaled, feet, workspace):
        return ProjectedPlace(center, 0.0)
    hull = polygon.convex_hull(support_corners(feet, workspace))
    x, y = polygon.project(hull, (scaled.real, scaled.imag)).tolist()
    projection = complex(x, y)
    if projection == scaled:
        return ProjectedPlace(center, 0.0)
    projection = m + s * (projection - m)
    return ProjectedPlace(projection, abs(projection - center))


def _between_soles(place: complex, feet: Feet, workspace: Workspace) -> bool:
    """Whether a place is nearer to the line between the feet than half a sole's width; then it is inside the support,
    and no hull is needed to know it."""
    a, d = feet["left"].place, feet["right"].place - feet["left"].place
    offset = (place - a) * d.conjugate() / max(abs(d), 1e-9)  # along and across the line, m
    across = min(workspace.sole_half.real, workspace.sole_half.imag)
    return 0.0 <= offset.real <= abs(d) and abs(offset.imag) < across


def project_hand(hand: Vector, side: Side, workspace: Workspace) -> ProjectedVector:
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
    within = workspace.arm_reach**2 + ROUNDING
    if (px - sx) ** 2 + (py - sy) ** 2 + (pz - sz) ** 2 > within:
        for _ in range(BISECTIONS):
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
    return ProjectedVector((px, py, pz), math.sqrt((px - x) ** 2 + (py - y) ** 2 + (pz - z) ** 2))


def project_turn(turn: Vector, workspace: Workspace) -> ProjectedVector:
    """A hand's turn from home, no longer than it may be; none where arms cannot turn their hands (rad)."""
    x, y, z = turn
    angle, most = math.sqrt(x * x + y * y + z * z), workspace.hand_attitude
    if angle <= most:
        return ProjectedVector(turn, 0.0)
    share = most / angle
    return ProjectedVector((share * x, share * y, share * z), angle - most)


# -- Landing: a foot on the ground, inside its region and within reach -----------------------------------------------


#: Puts a footstep on known ground: onto a tread, with its height.
GroundProjection = Callable[[Footstep], Footstep]

#: Shares of the way to the nominal place that are tried.
SEARCH_SHARES = (0.0, 0.1, 0.2, 0.35, 0.5, 0.75, 1.0)
#: Then the region on a grid of so many places along and across.
SEARCH_GRID = (13, 5)
#: Ground and region move a foot in turn at most so often.
PROJECTION_ROUNDS = 4
#: A foot may stand outside its region by so much (m, rad): rounding.
REGION_TOLERANCE = 1e-6


def find_landing(
    target: Footstep, stance: Footstep, workspace: Workspace, legs: LegReach, ground: GroundProjection | None
) -> Footstep | None:
    """The foot on the ground nearest to where it is wanted; None only if known ground has no place at all."""
    for foot in _candidate_feet(project_foot(target, stance, workspace).foot, stance, workspace, ground is not None):
        grounded = (
            foot.with_place(foot.place, stance.z)
            if ground is None
            else _project_onto_ground(foot, stance, workspace, ground)
        )
        if grounded is not None and _legs_reach(grounded, stance, workspace, legs):
            return grounded
    return None


def find_lifted(
    target: Footstep, stance: Footstep, workspace: Workspace, legs: LegReach, ground: GroundProjection | None
) -> Footstep | None:
    """The lifted foot nearest to where it is wanted: within reach of a body above the stance foot, above the ground and
    not too high; None if it cannot be lifted there."""
    projection = project_foot(target, stance, workspace).foot
    nominal = nominal_foot(stance, workspace, projection.z)
    lowest = stance.z + workspace.com_heights[0]
    for share in SEARCH_SHARES:
        foot = _interpolate(projection, nominal, share, stance, workspace)
        under = stance.z if ground is None else (_ground_foot(ground, foot) or foot).z
        least = under + workspace.lift[0]
        z = min(max(foot.z + share * (least - foot.z), least), stance.z + workspace.highest_foot)
        if z < least:  # the ground is too high there
            continue
        foot = foot.with_place(foot.place, z)
        feet = _feet_by_side(foot, stance)
        low, high = legs.com_heights(stance.place, mean_yaw(feet), feet)
        if max(lowest, low) <= high:
            return foot
    return None


def _candidate_feet(foot: Footstep, stance: Footstep, workspace: Workspace, search_region: bool) -> Iterator[Footstep]:
    nominal = nominal_foot(stance, workspace, foot.z)
    for share in SEARCH_SHARES:
        yield _interpolate(foot, nominal, share, stance, workspace)
    if not search_region:
        return
    sign, (along, across) = side_sign(foot.side), SEARCH_GRID
    narrow, wide = workspace.widths
    places = [
        stance.place
        + stance.heading
        * complex(
            workspace.longest_step * (2.0 * i / (along - 1) - 1.0), sign * (narrow + (wide - narrow) * j / (across - 1))
        )
        for i in range(along)
        for j in range(across)
    ]
    target = foot.place
    for place in sorted(places, key=lambda place: abs(place - target)):
        for yaw in (foot.yaw, stance.yaw):
            yield Footstep(foot.side, place.real, place.imag, yaw, foot.z)


def _interpolate(a: Footstep, b: Footstep, share: float, stance: Footstep, workspace: Workspace) -> Footstep:
    if share == 0.0:
        return a
    place = a.place + share * (b.place - a.place)
    yaw = a.yaw + share * so3.wrap_angle(b.yaw - a.yaw)
    return project_foot(Footstep(a.side, place.real, place.imag, yaw, a.z), stance, workspace).foot


def _project_onto_ground(
    foot: Footstep, stance: Footstep, workspace: Workspace, ground: GroundProjection
) -> Footstep | None:
    """On the ground and in its region: projected onto either in turn, as long as that may help."""
    for _ in range(PROJECTION_ROUNDS):
        grounded = _ground_foot(ground, foot)
        if grounded is None or abs(grounded.z - stance.z) > workspace.highest_foot:
            return None
        projection = project_foot(grounded, stance, workspace)
        if projection.shift < REGION_TOLERANCE and projection.rotation < REGION_TOLERANCE:
            return grounded
        foot = projection.foot
    return None


def _ground_foot(ground: GroundProjection, foot: Footstep) -> Footstep | None:
    """On the ground, if the ground has a finite answer."""
    grounded = ground(foot)
    return grounded if all(map(math.isfinite, (grounded.x, grounded.y, grounded.z, grounded.yaw))) else None


def _legs_reach(foot: Footstep, stance: Footstep, workspace: Workspace, legs: LegReach) -> bool:
    """Whether both legs reach from above the middle."""
    feet = _feet_by_side(foot, stance)
    low, high = legs.com_heights(middle_of_soles(feet), mean_yaw(feet), feet)
    return max(min(foot.z, stance.z) + workspace.com_heights[0], low) <= high


def _feet_by_side(foot: Footstep, stance: Footstep) -> Feet:
    feet: dict[Side, Footstep] = {foot.side: foot, stance.side: stance}
    return feet
