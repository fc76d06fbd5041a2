"""The zero moment point of the whole body: concentrated mass, swinging legs and turning trunk."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from poise.plans.divergent import GRAVITY
from poise.plans.segment.body import Body
from poise.plans.segment.segment import Segment
from poise.plans.segment.timing import ground_of
from poise.robots.parts import SIDES

Array = NDArray[np.float64]


def moment(
    body: Body,
    offsets: Sequence[Array],
    feet: Sequence[tuple[Array, Array]],
    center: tuple[Array, Array],
    turning: Array,
) -> Array:
    """Rate of the angular momentum about the centre of mass, per mass, about x and y (m²/s², n x 2).

        L̇ = Σ_legs m_l [s_l] s̈_l + m_t [s_t] s̈_t + I φ̈,   s_l = λ (f_l - p) + (1 - λ) h_l,   m_t s_t = -Σ m_l s_l

    where [s] is the cross product with s. Legs of mass m_l are at the share λ of the line from hip h_l to sole f_l,
    seen from the centre of mass p, and the rest of the body is where the centre of mass wants it.

    Args:
        offsets: h_l, in world axes (m, 3).
        feet: places and accelerations of the soles, (n, 3) each, in the same order.
        center: p and p̈ (n, 3).
        turning: φ̈ of the trunk about x and y (rad/s², n x 2).
    """
    p, acceleration = center
    share, trunk = body.hanging, body.mass - 2.0 * body.leg
    found = np.array(body.inertia) * turning
    s = [share * (f - p) + (1.0 - share) * h for (f, _), h in zip(feet, offsets, strict=True)]
    a = [share * (f - acceleration) for _, f in feet]
    both, faster = s[0] + s[1], a[0] + a[1]
    parts = [(body.leg, s[0], a[0]), (body.leg, s[1], a[1]), (body.leg**2 / trunk, both, faster)]
    for m, r, b in parts:
        found[:, 0] += m * (r[:, 1] * b[:, 2] - r[:, 2] * b[:, 1])
        found[:, 1] += m * (r[:, 2] * b[:, 0] - r[:, 0] * b[:, 2])
    return found / body.mass


def zero_moment_points(
    center: Array, acceleration: Array, ground: float | Array, moments: Array
) -> tuple[Array, Array]:
    """Where the ground must push (m, n x 2), and how hard, per mass and upwards (m/s², n).

    z = p_xy - (p̈_xy (p_z - z_g) + (L̇_y, -L̇_x) / m) / (p̈_z + g)
    """
    lift = acceleration[:, 2] + GRAVITY
    tall = (center[:, 2] - ground)[:, None]
    turned = np.stack([moments[:, 1], -moments[:, 0]], axis=1)
    return center[:, :2] - (acceleration[:, :2] * tall + turned) / lift[:, None], lift


def zero_moment_way(body: Body, segment: Segment, times: Array) -> tuple[Array, Array]:
    """Zero moment points of the whole body at some times of a segment (m, n x 2), and the force upwards per mass.

    They lie on the plane of the foot that stands throughout.
    """
    p, a = (
        np.array(part) for part in zip(*((c[0], c[2]) for c in map(segment.center.at, times.tolist())), strict=True)
    )
    points, feet = segment.beginning.points, []
    for side in SIDES:
        if segment.swing is not None and side == segment.goal.step:
            x, _, faster = segment.swing.at(times)
            feet.append((x[:, :3], faster[:, :3]))
        else:
            feet.append((points.feet[side].position, np.zeros(3)))
    yaw = float(points.attitude[2])
    R = np.array([[np.cos(yaw), -np.sin(yaw), 0.0], [np.sin(yaw), np.cos(yaw), 0.0], [0.0, 0.0, 1.0]])
    hips = [R @ body.hips[side] for side in SIDES]
    turning = segment.attitude.at(times)[2][:, :2] @ R[:2, :2].T
    moments = moment(body, hips, feet, (p, a), turning)
    return zero_moment_points(p, a, ground_of(segment.beginning, segment.goal), moments)
