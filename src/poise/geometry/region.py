"""A convex region of the plane that answers one question only: how far do you reach in this direction?

Such is the shadow of a body of many dimensions, where each answer costs a linear programme. Answers are points of the
region, so their hull lies inside it; and nothing lies beyond them, so the region lies inside half planes [Bretl2008].
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from poise.arrays import Array
from poise.errors import GeometryError
from poise.geometry import polygon

#: How far apart (m) the inner and outer polygon may stay: a tenth of a millimetre is below what any sole means.
TOLERANCE = 1e-4


@dataclass(frozen=True, eq=False, slots=True)
class Region:
    """A convex region between two polygons, ``inner ⊆ region ⊆ outer``; both empty where there is none.

    Attributes:
        inner: vertices (k, 2) of a polygon inside the region, counterclockwise; the one to rely on.
        outer: vertices of a polygon around it.
        questions: how many directions were asked for.
    """

    inner: Array
    outer: Array
    questions: int

    @property
    def gap(self) -> float:
        """Largest distance (m) from the inner to the outer polygon: how much is unknown about the region."""
        return max((-float(polygon.margin(self.inner, vertex)) for vertex in self.outer), default=0.0)


def explore(
    farthest: Callable[[Array], ArrayLike | None],
    within: ArrayLike,
    tolerance: float = TOLERANCE,
    questions: int = 200,
) -> Region:
    """Find a convex region by asking for its farthest points, first all around, then beyond each edge found.

    For unit directions d_i with answers x_i the region S obeys

        hull of x_i  ⊆  S  ⊆  {x : d_iᵀx <= d_iᵀx_i for all i}

    An edge is settled when the region reaches less than ``tolerance`` beyond it. A region that is itself a polygon is
    found exactly: every question gives a vertex that was not known, or settles an edge.

    Args:
        farthest: from a unit direction (2,) to the point (2,) of the region farthest along it; None if there is none.
        within: a polygon that contains the region, from which the outer one is cut.
        tolerance: m.
        questions: at most so many are asked; what is not settled then shows in `Region.gap`.

    >>> disc = explore(lambda d: d, within=[[-2, -2], [2, -2], [2, 2], [-2, 2]], tolerance=0.01)
    >>> len(disc.inner), disc.gap < 0.01
    (32, True)
    """
    if not tolerance > 0.0:
        raise GeometryError(f"the tolerance of a region is {tolerance}; give a distance in metres above zero")
    asked: dict[tuple[float, float], float] = {}  # how far the region reaches along each direction
    vertices: list[Array] = []
    waiting = [(1.0, 0.0), (0.0, 1.0), (-1.0, 0.0), (0.0, -1.0)]
    inner = np.empty((0, 2))
    while waiting and len(asked) < questions:
        for direction in waiting[: questions - len(asked)]:
            d = np.array(direction)
            answer = farthest(d)
            asked[direction] = math.inf if answer is None else float(d @ answer)
            if answer is not None and asked[direction] > (inner @ d).max(initial=-np.inf) + tolerance:
                vertices.append(np.asarray(answer, dtype=np.float64))
        inner = polygon.convex_hull(vertices)
        waiting = [(x, y) for x, y in polygon.half_planes(inner)[0].tolist() if (x, y) not in asked]
    if not len(inner):
        return Region(inner, inner, len(asked))
    known = {direction: reach for direction, reach in asked.items() if reach < math.inf}
    A, b = np.array(list(known)), np.array(list(known.values()))
    # Answers are as exact as their programme: what one has shown to exist, another must not cut off.
    return Region(inner, polygon.convex_hull([*polygon.clip(within, A, b), *inner]), len(asked))
