"""Rotations, convex polygons and curves over time; needs only numpy and knows nothing of robots.

- `so3`: rotation matrices and rotation vectors, with the Jacobians between their rates and angular velocity.
- `polygon`: convex polygons in the plane: hull, margin of a point, half planes, shrinking; and convex regions that are
  approximated from their support points (`region` is another name of the same module).
- `curves`: minimum-jerk, quintic and cycloid curves, with their derivatives.

>>> from poise.geometry import polygon
>>> polygon.margin([[0, 0], [2, 0], [2, 1], [0, 1]], [0.5, 0.25])
0.25
"""

from poise.errors import GeometryError
from poise.geometry import curves, polygon, so3
from poise.geometry import polygon as region
from poise.geometry.curves import Quintic, cycloid, minimum_jerk, quintic
from poise.geometry.polygon import TOLERANCE, Region, approximate_region, convex_hull, half_planes, margin

__all__ = [
    "TOLERANCE",
    "GeometryError",
    "Quintic",
    "Region",
    "approximate_region",
    "convex_hull",
    "curves",
    "cycloid",
    "half_planes",
    "margin",
    "minimum_jerk",
    "polygon",
    "quintic",
    "region",
    "so3",
]
