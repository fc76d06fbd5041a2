"""Projections of feet, hands and center of mass (CoM) onto the bounds of the workspace, and search for places to land.

The ``project_...`` functions are idempotent: a point inside its bounds is unchanged, a point outside moves onto the
boundary. Each returns the projected value and the distance moved. Horizontal positions are complex numbers x + i y (m).

Known ground may move a foot onto a tread outside its region. The search for a landing place then proceeds towards the
nominal place beside the stance foot, and finally over the whole region: a foot without a landing place would leave the
robot on one leg.
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

#: Smallest projection that is reported (m, rad): a millimeter, a twentieth of a degree.
LEAST_REPORTED = 1e-3
#: Number of bisections that reduce an interval of length one to the rounding error of lengths in meters.
BISECTIONS = 40
#: Upper bound of the rounding error of a squared length (m²).
ROUNDING = 1e-12


class ProjectedFoot(NamedTuple):
    """Foot inside its region, and by how much it was moved (m) and rotated (rad)."""

    foot: Footstep
    shift: float
    rotation: float


class ProjectedPlace(NamedTuple):
    """Horizontal position inside its bounds, and distance by which it was moved (m)."""

    place: complex
    shift: float


class ProjectedVector(NamedTuple):
    """Position (m) or rotation vector (rad) in the body frame, and by how much it was moved."""

    place: Vector
    shift: float


class ProjectedValue(NamedTuple):
    """Number inside its bounds, and its signed change."""

    value: float
    shift: float


def middle_of_soles(feet: Feet) -> complex:
    """Return the horizontal midpoint between the soles, as x + i y (m)."""
    return 0.5 * (feet["left"].place + feet["right"].place)


def mean_yaw(feet: Feet) -> float:
    """Return the mean yaw of both feet (rad, not wrapped), within a quarter turn of that of the left foot."""
    left = feet["left"].yaw
    return left + 0.5 * so3.wrap_angle(feet["right"].yaw - left)


def project_value(value: float, bounds: Range) -> ProjectedValue:
    """Project a number onto an interval."""
    projection = min(max(value, bounds[0]), bounds[1])
    return ProjectedValue(projection, projection - value)


def project_yaw(yaw: float, feet: Feet, workspace: Workspace) -> ProjectedValue:
    """Project the trunk yaw (rad) onto its bounds relative to the mean yaw of the feet; full turns are kept."""
    offset = so3.wrap_angle(yaw - mean_yaw(feet))
    projection = project_value(offset, (-workspace.largest_trunk_yaw, workspace.largest_trunk_yaw))
    return ProjectedValue(yaw + projection.shift, projection.shift)


def project_foot(foot: Footstep, stance: Footstep, workspace: Workspace) -> ProjectedFoot:
    """Project a foot onto its region, a box in the frame of the stance foot.

    The region bounds the distance ahead and behind, the lateral distance, and toe-in and toe-out. The yaw is projected
    first, because the least lateral distance depends on it.
    """
    sign = side_sign(foot.side)
    relative = so3.wrap_angle(foot.yaw - stance.yaw)
    toes = min(max(sign * relative, workspace.toes[0]), workspace.toes[1])
    rotation = sign * toes - relative
    heading = stance.heading
    place = foot.place
    offset = (place - stance.place) * heading.conjugate()
    forward = min(max(offset.real, -workspace.longest_step), workspace.longest_step)
    width = min(max(sign * offset.imag, workspace.least_width(toes)), workspace.widths[1])
    projection = complex(forward, sign * width)
    shift = abs(projection - offset)
    if shift == 0.0 and rotation == 0.0:
        return ProjectedFoot(foot, 0.0, 0.0)
    if shift > 0.0:
        place = stance.place + projection * heading
    return ProjectedFoot(Footstep(foot.side, place.real, place.imag, foot.yaw + rotation, foot.z), shift, abs(rotation))


def nominal_foot(stance: Footstep, workspace: Workspace, z: float | None = None) -> Footstep:
    """Return the nominal place of the other foot: beside and parallel to the stance foot, at the standing width."""
    side = other_side(stance.side)
    place = stance.place + 1j * side_sign(side) * workspace.width * stance.heading
    return Footstep(side, place.real, place.imag, stance.yaw, stance.z if z is None else z)


def support_corners(feet: Feet, workspace: Workspace) -> list[tuple[float, float]]:
    """Return the corners of both soles, as (x, y) in the world (m)."""
    return [(corner.real, corner.imag) for foot in feet.values() for corner in foot.corners(workspace.sole_half)]


def project_center(center: complex, feet: Feet, lifted: Side | None, workspace: Workspace) -> ProjectedPlace:
    """Project the CoM onto the stand-on region: the support region of both feet shrunk about their middle m,

        {m + s (x - m) : x in the support},    s = `stand_on`,

    or, on one foot, the middle of its sole.
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
    """Return whether a place is nearer to the line between the feet than half the width of a sole.

    It is then inside the support region, and the hull need not be computed.
    """
    a, d = feet["left"].place, feet["right"].place - feet["left"].place
    offset = (place - a) * d.conjugate() / max(abs(d), 1e-9)  # along and across the line, m
    across = min(workspace.sole_half.real, workspace.sole_half.imag)
    return 0.0 <= offset.real <= abs(d) and abs(offset.imag) < across


def project_hand(hand: Vector, side: Side, workspace: Workspace) -> ProjectedVector:
    """Project a hand in the body frame onto the nearest point p of its box within the reach l of its shoulder s:

        p(t) = box(q + t (s - q)),    |p - s| <= l

    with q the commanded position and t the smallest value between 0 and 1 that fulfils this (optimality conditions of
    the nearest point: the normal of the ball is along s - p, those of the box along its axes).
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
    """Project the rotation of a hand from home (rad) onto its largest angle; zero if the arm has too few joints."""
    x, y, z = turn
    angle, max_angle = math.sqrt(x * x + y * y + z * z), workspace.hand_attitude
    if angle <= max_angle:
        return ProjectedVector(turn, 0.0)
    share = max_angle / angle
    return ProjectedVector((share * x, share * y, share * z), angle - max_angle)


# -- Landing: a foot on the ground, inside its region and within reach -----------------------------------------------


#: Function that places a footstep on known ground, e.g. onto a tread at its height.
GroundProjection = Callable[[Footstep], Footstep]

#: Fractions of the way to the nominal place that are tried.
SEARCH_SHARES = (0.0, 0.1, 0.2, 0.35, 0.5, 0.75, 1.0)
#: Number of places along and across the foot in the grid search over the region that follows.
SEARCH_GRID = (13, 5)
#: Largest number of alternating projections onto ground and region.
PROJECTION_ROUNDS = 4
#: Rounding tolerance of the region of a foot (m, rad).
REGION_TOLERANCE = 1e-6


def find_landing(
    target: Footstep, stance: Footstep, workspace: Workspace, legs: LegReach, ground: GroundProjection | None
) -> Footstep | None:
    """Return the foot on the ground near its target, within its region and the reach of the legs; None if not found."""
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
    """Return the lifted foot near its target, or None if it cannot be lifted there.

    The foot is above the ground, not too high, and within reach with the CoM above the stance foot.
    """
    projection = project_foot(target, stance, workspace).foot
    nominal = nominal_foot(stance, workspace, projection.z)
    lowest = stance.z + workspace.com_heights[0]
    for share in SEARCH_SHARES:
        foot = _interpolate(projection, nominal, share, stance, workspace)
        ground_z = stance.z if ground is None else (_ground_foot(ground, foot) or foot).z
        least_z = ground_z + workspace.lift[0]
        z = min(max(foot.z + share * (least_z - foot.z), least_z), stance.z + workspace.highest_foot)
        if z < least_z:  # the ground is too high there
            continue
        foot = foot.with_place(foot.place, z)
        feet = _feet_by_side(foot, stance)
        low, high = legs.com_heights(stance.place, mean_yaw(feet), feet)
        if max(lowest, low) <= high:
            return foot
    return None


def _candidate_feet(foot: Footstep, stance: Footstep, workspace: Workspace, search_region: bool) -> Iterator[Footstep]:
    """Yield places to try: towards the nominal place, then, with `search_region`, a grid sorted by distance."""
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
    """Return the foot on the ground and in its region, by alternating projections; None if these do not converge."""
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
    """Return the foot on the ground, or None if the ground function returns values that are not finite."""
    grounded = ground(foot)
    return grounded if all(map(math.isfinite, (grounded.x, grounded.y, grounded.z, grounded.yaw))) else None


def _legs_reach(foot: Footstep, stance: Footstep, workspace: Workspace, legs: LegReach) -> bool:
    """Return whether both legs reach their feet with the CoM above the middle of the feet."""
    feet = _feet_by_side(foot, stance)
    low, high = legs.com_heights(middle_of_soles(feet), mean_yaw(feet), feet)
    return max(min(foot.z, stance.z) + workspace.com_heights[0], low) <= high


def _feet_by_side(foot: Footstep, stance: Footstep) -> Feet:
    feet: dict[Side, Footstep] = {foot.side: foot, stance.side: stance}
    return feet
