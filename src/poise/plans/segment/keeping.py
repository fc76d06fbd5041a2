"""Keeping: the path of a body over feet that stay, a hierarchy of "inside the support" over "gently to its middle"."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from poise.plans.divergent import GRAVITY
from poise.plans.segment.body import Body
from poise.plans.segment.center import Basis, CenterPath
from poise.plans.segment.segment import Beginning
from poise.plans.segment.support import Support
from poise.solvers import Lexicographic, Program, Rows

Array = NDArray[np.float64]

#: Every so many samples the pressure is bounded; between them it is all but straight.
EVERY = 4
#: The bound is kept by this much more (m): the pressure of the whole body differs a little from that of its centre.
SPARE = 0.001
#: Weight of coming to rest over the middle, beside u there throughout.
ARRIVING = 30.0


def kept(begin: Beginning, goal: Array, maps: Basis, body: Body) -> CenterPath | None:
    """The path, or None if the beginning is no number.

    With p and u linear in the knots, ``z = p - (p̈ h) / g = (1 - κ) p + κ u`` with ``κ = ω² h / g`` at a height h that
    stays, and each edge ``n·z <= b`` of the support is a row per sample. Level 0 asks for these and for ξ at the end,
    level 1 for u at the goal, and for ξ and p there at the end.

    Args:
        goal: where to come to rest (m, 3).
        maps: of the duration.
    """
    omega, points = body.omega, begin.points
    start = np.stack([points.center, begin.rates.center])
    support = Support(points.standing, body.half, body.margin + SPARE)
    ratio = omega**2 * (float(points.center[2]) - support.ground) / GRAVITY
    place = (1.0 - ratio) * maps.place[::EVERY] + ratio * maps.repellent[::EVERY]
    rows = np.concatenate([place, maps.end_divergent[None]])
    free, led = rows[:, :2] @ start[:, :2], rows[:, 2:]
    normals, offsets = support.edges
    A = np.concatenate([np.hstack([n[0] * led, n[1] * led]) for n in normals])
    upper = np.concatenate([o - free @ n for n, o in zip(normals, offsets, strict=True)])
    ends = np.stack([maps.end_divergent, maps.knot_place[-1]])
    missing = goal[:2] - ends[:, :2] @ start[:, :2]
    K = len(maps.knots)
    wish = np.concatenate([np.eye(2 * K), ARRIVING * np.kron(np.eye(2), ends[:, 2:])])
    asked = np.concatenate([np.repeat(goal[:2], K), ARRIVING * missing.T.ravel()])
    if not (np.isfinite(upper).all() and np.isfinite(asked).all()):
        return None
    program = Program([Rows(A, np.full(len(A), -np.inf), upper), Rows(wish, asked, asked)])
    u = np.empty((K, 3))
    u[:, :2] = Lexicographic().solve(program).x.reshape(2, K).T
    u[:, 2] = points.center[2] + begin.rates.center[2] / omega
    return CenterPath(maps, omega, start, u)
