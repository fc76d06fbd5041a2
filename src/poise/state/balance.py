"""Measures of balance: where the ground pushes, and where it could.

Pure functions of plain arrays in world coordinates (m, m/s, m/s², N, N m, kg). Notation: c is the centre of mass, m the
mass, L the angular momentum about c, g the gravity (9.81 m/s², a positive number that points down), h the height of the
ground (m), f and n the force and moment of the ground on the robot. Those of (..., 3) take whole recordings at once.

A measure that does not exist, such as the centre of pressure of a robot in the air, is NaN and no error; the `margin`
of a point that is not a number is minus infinity.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import overload

import numpy as np
from numpy.typing import ArrayLike

from poise.arrays import Array
from poise.errors import StateError
from poise.extras import scipy
from poise.geometry import TOLERANCE, Region, approximate_region, convex_hull
from poise.robots import GRAVITY, Foot

#: Time constant that force cells are smoothed with where they are shown or judged (s): noise goes, and what a push does
#: stays.
CELL_TIME_CONSTANT = 0.02
#: Vertical force (N) below which nothing presses on the ground: the weight of a tenth of a milligram.
_MIN_FORCE = 1e-6


def support_polygon(points: ArrayLike | Sequence[ArrayLike]) -> Array:
    """Convex hull, seen from above, of all points that touch the ground: (k, 2), counterclockwise, m.

    Points are (n, 3) or (n, 2) in the world, or a list of such arrays, one per contact. On flat ground a robot can
    stand still where its centre of mass is above this polygon; `static_support_region` is for any other ground.

    >>> left = np.array([[0.0, 0.1, 0.0], [0.2, 0.1, 0.0]])
    >>> right = left - [0.0, 0.2, 0.0]
    >>> support_polygon([left, right]).tolist()
    [[0.0, -0.1], [0.2, -0.1], [0.2, 0.1], [0.0, 0.1]]
    """
    blocks = [points] if isinstance(points, np.ndarray) else points
    arrays = [np.asarray(block, dtype=np.float64) for block in blocks]  # type: ignore[union-attr]
    for array in arrays:
        if array.size and array.shape[-1] not in (2, 3):
            raise StateError(
                f"a contact has points of shape {array.shape}; expected (n, 3) or (n, 2)", element="contacts"
            )
    return convex_hull(
        np.concatenate([np.empty((0, 2)), *(a.reshape(-1, a.shape[-1])[:, :2] for a in arrays if a.size)])
    )


def zmp(
    center_of_mass: ArrayLike,
    acceleration: ArrayLike,
    angular_momentum_rate: ArrayLike,
    mass: float,
    ground: float = 0.0,
    gravity: float = GRAVITY,
) -> Array:
    """Zero-moment point (..., 2) on the plane z = h: where the force that this motion needs would have to push.

        f = m (d²c/dt² + (0, 0, g))
        p_x = c_x - ((c_z - h) f_x + dL_y/dt) / f_z
        p_y = c_y - ((c_z - h) f_y - dL_x/dt) / f_z

    It is the point of the plane about which the moment ``dL/dt + cross(c - p, f)`` has no horizontal part. While
    it lies inside the support polygon of a flat ground the feet need not tip. NaN where nothing presses down.

    Args:
        center_of_mass, acceleration: c and d²c/dt², (..., 3).
        angular_momentum_rate: dL/dt about the centre of mass, (..., 3), N m; zero for a body that does not turn.
        mass: m; it matters only beside an angular momentum that changes.
        ground: h, m.

    >>> zmp([0.0, 0.0, 0.8], [1.0, 0.0, 0.0], [0.0, 0.0, 0.0], 50.0).round(4)  # accelerating forward
    array([-0.0815,  0.    ])
    """
    c = np.asarray(center_of_mass, dtype=np.float64)
    f = mass * (np.asarray(acceleration, dtype=np.float64) + np.array([0.0, 0.0, gravity]))
    L = np.asarray(angular_momentum_rate, dtype=np.float64)
    height = c[..., 2] - ground
    vertical = _nan_without_load(f[..., 2])
    x = c[..., 0] - (height * f[..., 0] + L[..., 1]) / vertical
    y = c[..., 1] - (height * f[..., 1] - L[..., 0]) / vertical
    return np.stack([x, y], axis=-1)


def center_of_pressure(
    positions: ArrayLike, forces: ArrayLike, moments: ArrayLike | None = None, ground: float = 0.0
) -> Array:
    """Where the ground pushes as a whole (..., 2), on the plane z = h.

        F = Σ f_i,   M = Σ cross(r_i, f_i) + n_i
        p_x = (h F_x - M_y) / F_z,   p_y = (h F_y + M_x) / F_z

    With contacts on that plane and no moments it is ``p = Σ f_zi r_i / Σ f_zi``, and for a robot that obeys Newton it
    is the `zmp`. NaN where nothing presses down.

    Args:
        positions: r_i, where the forces act, (..., n, 3).
        forces: f_i on the robot in world axes (..., n, 3), or only their vertical parts (..., n), N.
        moments: n_i about r_i in world axes, (..., n, 3), N m; none if the contacts are points.
        ground: h, m.

    >>> center_of_pressure([[0.0, 0.1, 0.0], [0.0, -0.1, 0.0]], [300.0, 100.0])
    array([0.  , 0.05])
    """
    r = np.asarray(positions, dtype=np.float64)
    f = np.asarray(forces, dtype=np.float64)
    if f.ndim < r.ndim:
        f = np.stack([np.zeros_like(f), np.zeros_like(f), f], axis=-1)
    F = f.sum(axis=-2)
    M = np.cross(r, f).sum(axis=-2)
    if moments is not None:
        M = M + np.asarray(moments, dtype=np.float64).sum(axis=-2)
    vertical = _nan_without_load(F[..., 2])
    x = (ground * F[..., 0] - M[..., 1]) / vertical
    y = (ground * F[..., 1] + M[..., 0]) / vertical
    return np.stack([x, y], axis=-1)


def sole_center_of_pressure(wrench: ArrayLike) -> Array:
    """Centre of pressure of one contact in its own frame (..., 2), whose z axis is normal to the surface.

        p = (-n_y, n_x) / f_z

    The wrench (f, n) of the ground on the robot (..., 6) is expressed in that frame, about its origin.

    >>> sole_center_of_pressure([0.0, 0.0, 200.0, 0.0, -10.0, 0.0])
    array([0.05, 0.  ])
    """
    w = np.asarray(wrench, dtype=np.float64)
    return np.stack([-w[..., 4], w[..., 3]], axis=-1) / _nan_without_load(w[..., 2])[..., np.newaxis]


@overload
def natural_frequency(height: float, gravity: float = GRAVITY) -> float: ...


@overload
def natural_frequency(height: ArrayLike, gravity: float = GRAVITY) -> Array: ...


def natural_frequency(height: ArrayLike, gravity: float = GRAVITY) -> Array | float:
    """ω = sqrt(g / z) (1/s) of an inverted pendulum of height z (m): a body whose center of mass is that far above the
    ground; NaN at no height.

    d²c/dt² = ω² (c - p)   in the horizontal plane, with p the zero-moment point
    """
    z = np.asarray(height, dtype=np.float64)
    omega: Array = np.sqrt(gravity / np.where(z > 0.0, z, np.nan))
    return float(omega) if z.ndim == 0 else omega


def dcm(center_of_mass: ArrayLike, velocity: ArrayLike, height: ArrayLike, gravity: float = GRAVITY) -> Array:
    """The part of the motion of an inverted pendulum that runs away (..., 3) or (..., 2), as long as c is, m.

        ξ = c + (dc/dt) / ω,    dξ/dt = ω (ξ - p),    ω = sqrt(g / z)

    c follows ξ by itself, ``dc/dt = ω (ξ - c)``, so whoever steers ξ with p steers the robot.

    Args:
        center_of_mass, velocity: c and dc/dt, (..., 3) or their horizontal parts (..., 2).
        height: z of the centre of mass above the ground, m.

    >>> dcm([0.0, 0.0, 0.981], [0.5, 0.0, 0.0], 0.981).round(4)
    array([0.1581, 0.    , 0.981 ])
    """
    c, v = np.asarray(center_of_mass, dtype=np.float64), np.asarray(velocity, dtype=np.float64)
    return np.asarray(c + v / np.asarray(natural_frequency(height, gravity))[..., np.newaxis])


def capture_point(center_of_mass: ArrayLike, velocity: ArrayLike, height: ArrayLike, gravity: float = GRAVITY) -> Array:
    """Where to step so as to come to rest (..., 2): the horizontal part of the `dcm`.

    With the zero-moment point held there, ``p = ξ``, the pendulum stops above it:
    ``c(t) = ξ + (c(0) - ξ) exp(-ω t)``.

    >>> capture_point([0.0, 0.0, 0.981], [0.5, 0.0, 0.0], 0.981).round(4)
    array([0.1581, 0.    ])
    """
    return dcm(center_of_mass, velocity, height, gravity)[..., :2]


class Patch:
    """A flat piece of a robot that presses on a surface, as `static_support_region` sees it.

    A force f_i at a corner r_i may push and not pull, and stays inside its friction cone:

        nᵀf_i >= 0,   |f_i - n nᵀf_i| <= μ nᵀf_i,   Σ nᵀf_i <= largest force

    Args:
        corners: r_i in the world, (k, 3), m.
        normal: n, out of the surface towards the robot; it need not be of unit length.
        friction: μ >= 0.
        largest_force: what surface or robot can bear along the normal, N.

    >>> hand_on_wall = Patch([[0.5, 0.0, 1.0]], normal=(-1, 0, 0), friction=0.6, largest_force=80.0)
    """

    __slots__ = ("corners", "friction", "largest_force", "normal")

    def __init__(
        self,
        corners: ArrayLike,
        normal: ArrayLike = (0.0, 0.0, 1.0),
        friction: float = 0.7,
        largest_force: float = math.inf,
    ) -> None:
        self.corners: Array = np.atleast_2d(np.asarray(corners, dtype=np.float64))
        self.normal: Array = np.asarray(normal, dtype=np.float64)
        self.friction, self.largest_force = float(friction), float(largest_force)
        shape, length = self.corners.shape, float(np.linalg.norm(self.normal))
        if len(shape) != 2 or shape[1] != 3 or shape[0] == 0 or not np.isfinite(self.corners).all():
            raise StateError(f"a patch has corners of shape {shape}; give (k, 3) finite numbers", element="contacts")
        if self.normal.shape != (3,) or not 0.0 < length < math.inf:
            raise StateError(f"a patch has the normal {self.normal}; give 3 numbers, not all zero", element="contacts")
        self.normal = self.normal / length
        if not (0.0 <= self.friction < math.inf and self.largest_force >= 0.0):
            raise StateError(
                f"a patch has friction {friction} and largest force {largest_force}; neither may be negative or NaN",
                element="contacts",
            )

    def edges(self, facets: int) -> Array:
        """Edges (facets, 3) of a pyramid inside the friction cone, ``n + μ (cos φ s + sin φ t)``, of normal part 1."""
        if self.friction == 0.0:
            return self.normal[np.newaxis]
        s = np.cross(self.normal, np.eye(3)[np.abs(self.normal).argmin()])
        s /= np.linalg.norm(s)
        angles = np.arange(facets) * (2.0 * math.pi / facets)
        around = np.outer(np.cos(angles), s) + np.outer(np.sin(angles), np.cross(self.normal, s))
        return np.asarray(self.normal + self.friction * around)


def static_support_region(
    patches: Sequence[Patch],
    mass: float,
    *,
    facets: int = 16,
    reach: float = 2.0,
    tolerance: float = TOLERANCE,
    gravity: float = GRAVITY,
) -> Region:
    """Where the centre of mass can be, seen from above, with the robot at rest on surfaces of any slope and height.

        {(c_x, c_y) : Σ f_i = (0, 0, m g),   Σ cross(r_i, f_i) = m g (c_y, -c_x, 0),   f_i as a `Patch` allows}

    This set is convex, and its height does not matter [Bretl2008]. On level ground it is the `support_polygon`
    whatever the friction; on steep stairs it can be larger, on slopes smaller or empty. One linear programme (some
    milliseconds) per vertex and per edge: for planning and for tests, not for the control loop.

    Args:
        patches: what touches; the mass matters only where a `Patch.largest_force` is finite.
        facets: edges of the pyramid inside each friction cone; 16 give away 2 % of the friction at most.
        reach: how far (m) from the contacts to look; who holds on to something may have no limit but this one.
        tolerance: m, see `poise.geometry.polygon.approximate_region`.

    >>> floor = Patch([[0, 0, 0], [0.2, 0, 0], [0.2, 0.1, 0], [0, 0.1, 0]])
    >>> static_support_region([floor], mass=50.0).inner.round(6).tolist()
    [[0.0, 0.0], [0.2, 0.0], [0.2, 0.1], [0.0, 0.1]]
    """
    if not (mass > 0.0 and facets >= 3 and reach > 0.0):
        raise StateError(f"mass {mass}, facets {facets}, reach {reach}; give positive numbers and 3 facets or more")
    if not patches:
        return Region(np.empty((0, 2)), np.empty((0, 2)), 0)
    r = np.concatenate([patch.corners for patch in patches])
    middle = r.mean(axis=0)
    low, high = (r.min(axis=0) - reach)[:2], (r.max(axis=0) + reach)[:2]
    # Unknowns: c_x, c_y from the middle of the contacts, then what each edge of each cone carries, in weights m g.
    edges = [np.tile(patch.edges(facets), (len(patch.corners), 1)) for patch in patches]
    lever_arms = [
        np.repeat(p.corners - middle, len(e) // len(p.corners), axis=0) for p, e in zip(patches, edges, strict=True)
    ]
    edge_wrenches = np.hstack([np.concatenate(edges), np.cross(np.concatenate(lever_arms), np.concatenate(edges))]).T
    center_columns = np.zeros((6, 2))
    center_columns[3, 1], center_columns[4, 0] = -1.0, 1.0
    limits = np.array([patch.largest_force / (mass * gravity) for patch in patches])
    patch_of_edge = np.repeat(np.arange(len(patches)), [len(e) for e in edges])
    bounded = np.flatnonzero(np.isfinite(limits))
    linear_program = {
        "A_eq": np.hstack([center_columns, edge_wrenches]),
        "b_eq": np.array([0.0, 0.0, 1.0, 0.0, 0.0, 0.0]),
        "A_ub": np.hstack([np.zeros((len(bounded), 2)), 1.0 * (patch_of_edge == bounded[:, np.newaxis])]),
        "b_ub": limits[bounded],
        "bounds": [*zip(low - middle[:2], high - middle[:2], strict=True), *[(0.0, None)] * len(patch_of_edge)],
    }

    def support_point(direction: Array) -> Array | None:
        answer = scipy.optimize.linprog(
            np.concatenate([-direction, np.zeros(len(patch_of_edge))]), method="highs", **linear_program
        )
        return answer.x[:2] + middle[:2] if answer.status == 0 else None

    box = [[low[0], low[1]], [high[0], low[1]], [high[0], high[1]], [low[0], high[1]]]
    return approximate_region(support_point, box, tolerance)


def _nan_without_load(vertical: Array) -> Array:
    """Vertical force, or NaN where there is none to divide by."""
    return np.where(vertical > _MIN_FORCE, vertical, np.nan)


# -- Under a sole ----------------------------------------------------------------------------------------------------


def sole_pressure(foot: Foot, cells: ArrayLike) -> tuple[Array, Array]:
    """How strongly a sole is pressed (N), and where: its ZMP, seen from the middle of the sole, in its axes (m, 2).

    With f_i the forces on the cells and r_i where these are, ``A = Σ f_i`` and ``ZMP = Σ f_i r_i / A`` ([Galdeano2014]
    calls A the amplitude). Cells that pull, which none can, or that tell no number, count as zero; where nothing
    presses the ZMP is the middle.

    Args:
        foot: whose cells.
        cells: forces at the corners of its sole (N): (4,), or (k, 4) for as many instants.

    Usage: ``amplitude, zmp = sole_pressure(foot, readings.cells[foot.name])``.
    """
    forces = np.asarray(cells, dtype=np.float64)
    forces = np.where(np.isfinite(forces) & (forces > 0.0), forces, 0.0)
    amplitude = forces.sum(axis=-1)
    moment = forces @ (foot.corners - foot.sole.center)[:, :2]
    return amplitude, moment / np.where(amplitude > 0.0, amplitude, 1.0)[..., None]
