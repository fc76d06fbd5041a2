"""Camera: viewpoint of a picture, framing of what is drawn, and projection of points to pixels."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from poise.arrays import Array
from poise.errors import PoiseError

#: Vertical field of view of a picture (rad): that of a portrait lens, with little perspective distortion.
FIELD_OF_VIEW = 0.5
#: Share of the picture that the robot may fill; the rest is margin.
FILL_SHARE = 0.86


@dataclass(frozen=True)
class Camera:
    """Camera that looks at a target from a direction; the z axis of the world points up in the picture.

    Args:
        direction: from the target towards the camera, in the world; any length. Robots face x: the default shows them
            from the front, from their right and slightly from above.
        target: point in the middle of the picture, in the world (m); by default the center of what is drawn.
        distance: from the target to the camera (m); by default the smallest at which everything drawn is in view.

    >>> from_its_left = Camera(direction=(0, 1, 0.2))
    """

    direction: tuple[float, float, float] = (1.0, -0.75, 0.3)
    target: tuple[float, float, float] | None = None
    distance: float | None = None

    def __post_init__(self) -> None:
        direction = _checked_vector(self.direction, "direction")
        if not np.linalg.norm(direction) > 0.0:
            raise PoiseError(f"camera: direction is {self.direction!r}; expected numbers that are not all zero")
        object.__setattr__(self, "direction", tuple(direction.tolist()))
        if self.target is not None:
            object.__setattr__(self, "target", tuple(_checked_vector(self.target, "target").tolist()))
        distance: object = self.distance
        if distance is not None and not (isinstance(distance, int | float) and 0.0 < distance < math.inf):
            raise PoiseError(f"camera: distance is {distance!r}; expected a positive number of meters")

    @property
    def azimuth(self) -> float:
        """Heading of the view direction about the z axis of the world (rad); zero looks along x."""
        return math.atan2(-self.direction[1], -self.direction[0])

    @property
    def elevation(self) -> float:
        """Angle of the view direction above the horizon (rad); negative if the camera looks down."""
        return -math.asin(self.direction[2] / math.hypot(*self.direction))

    @property
    def axes(self) -> Array:
        """Right, up and forward directions of the picture, in the world, as rows (3, 3)."""
        a, e = self.azimuth, self.elevation
        forward = np.array([math.cos(e) * math.cos(a), math.cos(e) * math.sin(a), math.sin(e)])
        up = np.array([-math.sin(e) * math.cos(a), -math.sin(e) * math.sin(a), math.cos(e)])
        return np.array([np.cross(forward, up), up, forward])

    def fit_to(self, points: ArrayLike, width: int, height: int) -> Camera:
        """Return this camera with missing target and distance filled in so that all points (n, 3) are in the picture.

        ``width`` and ``height`` are the size of the picture in pixels. A point at (x, y, z) right of, above and beyond
        the target is in view if, with t the tangent of half the field of view and d the distance,

            |y| <= t (d + z),    |x| <= t (d + z) width / height
        """
        p = np.atleast_2d(np.asarray(points, dtype=np.float64))
        R = self.axes
        if self.target is None:
            coordinates = p @ R.T
            target = (coordinates.min(axis=0) + coordinates.max(axis=0)) / 2 @ R
        else:
            target = np.array(self.target)
        distance = self.distance
        if distance is None:
            x, y, z = ((p - target) @ R.T).T
            t = FILL_SHARE * math.tan(FIELD_OF_VIEW / 2)
            nearest = max(np.max(np.abs(y) / t - z), np.max(np.abs(x) * height / (width * t) - z))
            distance = max(float(nearest), 0.1)  # a single point would give zero
        return replace(self, target=(float(target[0]), float(target[1]), float(target[2])), distance=distance)

    def project(self, points: ArrayLike, width: int, height: int) -> Array:
        """Project points of the world (n, 3) to pixels (n, 2) from the left and from the top; NaN behind the camera.

        Target and distance must be set, see `fit_to`.

        Raises:
            PoiseError: target or distance is missing.
        """
        if self.target is None or self.distance is None:
            raise PoiseError(
                "camera: project needs a target and a distance; set them or use camera.fit_to(points, ...)"
            )
        x, y, z = ((np.atleast_2d(np.asarray(points, dtype=np.float64)) - self.target) @ self.axes.T).T
        depth = np.where(self.distance + z > 0.0, self.distance + z, np.nan)
        scale = height / (2.0 * math.tan(FIELD_OF_VIEW / 2)) / depth
        return np.stack([width / 2 + scale * x, height / 2 - scale * y], axis=-1)


def _checked_vector(value: ArrayLike, name: str) -> Array:
    try:
        vector = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        vector = np.empty(0)
    if vector.shape != (3,) or not np.isfinite(vector).all():
        raise PoiseError(f"camera: {name} is {value!r}; expected three numbers (x, y, z)")
    return vector
