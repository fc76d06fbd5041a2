"""Measures of balance: ZMP, center of pressure, DCM, capture point and static support region.

Pure functions of plain arrays in world coordinates (m, m/s, m/s², N, N m, kg). Notation: c is the center of mass (CoM),
m the mass, L the angular momentum about c, g the gravity (9.81 m/s², positive, pointing down), h the height of the
ground (m), f and n the force and moment of the ground on the robot. Functions of (..., 3) take whole recordings.

A measure that does not exist, such as the center of pressure of a robot in the air, is NaN and no error; the `margin`
of a NaN point is minus infinity.
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
from poise.geometry import TOLERANCE, Region, approximate_region
from poise.robots import GRAVITY, Foot

#: Time constant (s) of the low-pass filter of force cells for display and evaluation: it removes noise and keeps the
#: effect of a push.
CELL_TIME_CONSTANT = 0.02
#: Vertical force (N) below which there is no load on the ground: the weight of a tenth of a milligram.
_MIN_FORCE = 1e-6


def zmp(
    center_of_mass: ArrayLike,
    acceleration: ArrayLike,
    angular_momentum_rate: ArrayLike,
    mass: float,
    ground: float = 0.0,
    gravity: float = GRAVITY,
) -> Array:
    """Return the zero-moment point (ZMP) of a motion, (..., 2), on the plane z = h.

        f = m (d²c/dt² + (0, 0, g))
        p_x = c_x - ((c_z - h) f_x + dL_y/dt) / f_z
        p_y = c_y - ((c_z - h) f_y - dL_x/dt) / f_z

    It is the point of the plane about which the moment ``dL/dt + cross(c - p, f)`` has no horizontal part. While
    it lies inside the support polygon of flat ground, the feet do not have to tip. NaN without vertical load.

    Args:
        center_of_mass, acceleration: c and d²c/dt², (..., 3).
        angular_momentum_rate: dL/dt about the CoM, (..., 3), N m; zero for a body that does not rotate.
        mass: m; it has an effect only if dL/dt is not zero.
        ground: h, m.
        gravity: g, m/s².

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
    """Return the center of pressure (CoP) of all contacts, (..., 2), on the plane z = h.

        F = Σ f_i,   M = Σ cross(r_i, f_i) + n_i
        p_x = (h F_x - M_y) / F_z,   p_y = (h F_y + M_x) / F_z

    With contacts on that plane and no moments it is ``p = Σ f_zi r_i / Σ f_zi``. By Newton's laws it equals the `zmp`.
    NaN without vertical load.

    Args:
        positions: r_i, the points where the forces act, (..., n, 3).
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
    """Return the CoP of one contact in its own frame (..., 2), whose z axis is normal to the surface.

        p = (-n_y, n_x) / f_z

    The wrench (f, n) of the ground on the robot (..., 6) is in that frame, about its origin. NaN without load.

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
    """Return the natural frequency (1/s) of a linear inverted pendulum of height z (m).

        ω = sqrt(g / z),    d²c/dt² = ω² (c - p)   in the horizontal plane, with p the ZMP

    z is the height of the CoM above the ground; ω is NaN unless z is positive.
    """
    z = np.asarray(height, dtype=np.float64)
    omega: Array = np.sqrt(gravity / np.where(z > 0.0, z, np.nan))
    return float(omega) if z.ndim == 0 else omega


def dcm(center_of_mass: ArrayLike, velocity: ArrayLike, height: ArrayLike, gravity: float = GRAVITY) -> Array:
    """Return the divergent component of motion (DCM) of a linear inverted pendulum, of the shape of c, m.

        ξ = c + (dc/dt) / ω,    dξ/dt = ω (ξ - p),    ω = sqrt(g / z)

    The CoM converges to the DCM by itself, ``dc/dt = ω (ξ - c)``, so it is enough to control ξ with the ZMP p.

    Args:
        center_of_mass, velocity: c and dc/dt, (..., 3) or their horizontal parts (..., 2).
        height: z of the CoM above the ground, m.
        gravity: g, m/s².

    >>> dcm([0.0, 0.0, 0.981], [0.5, 0.0, 0.0], 0.981).round(4)
    array([0.1581, 0.    , 0.981 ])
    """
    c, v = np.asarray(center_of_mass, dtype=np.float64), np.asarray(velocity, dtype=np.float64)
    return np.asarray(c + v / np.asarray(natural_frequency(height, gravity))[..., np.newaxis])


def capture_point(center_of_mass: ArrayLike, velocity: ArrayLike, height: ArrayLike, gravity: float = GRAVITY) -> Array:
    """Return the capture point (..., 2), where a step brings the robot to rest: the horizontal part of the `dcm`.

    With the ZMP held there, ``p = ξ``, the pendulum stops above it:
    ``c(t) = ξ + (c(0) - ξ) exp(-ω t)``.

    >>> capture_point([0.0, 0.0, 0.981], [0.5, 0.0, 0.0], 0.981).round(4)
    array([0.1581, 0.    ])
    """
    return dcm(center_of_mass, velocity, height, gravity)[..., :2]


class Patch:
    """A flat contact area with friction, for `static_support_region`.

    The force f_i at each corner r_i pushes and does not pull, and stays inside its friction cone:

        nᵀf_i >= 0,   |f_i - n nᵀf_i| <= μ nᵀf_i,   Σ nᵀf_i <= largest force

    Args:
        corners: r_i in the world, (k, 3), m.
        normal: n, out of the surface towards the robot; it need not be of unit length.
        friction: μ >= 0.
        largest_force: largest total force along the normal that surface and robot can bear, N.

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
        """Return the edges (facets, 3) of a pyramid inside the friction cone.

        Each is ``n + μ (cos φ s + sin φ t)``, with normal component 1; without friction the only edge is n.
        """
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
    """Return the horizontal CoM positions at which a robot can rest on surfaces of any slope and height.

        {(c_x, c_y) : Σ f_i = (0, 0, m g),   Σ cross(r_i, f_i) = m g (c_y, -c_x, 0),   f_i as a `Patch` allows}

    This set is convex and independent of the height of the CoM [Bretl2008]. On level ground it is the support
    polygon for any friction; on steep stairs it can be larger, on slopes smaller or empty. It takes one linear program
    (some milliseconds) per vertex and per edge: for planning and for tests, not for the control loop.

    Args:
        patches: the contacts.
        mass: m; it has an effect only if a `Patch.largest_force` is finite.
        facets: edges of the pyramid inside each friction cone; 16 lose at most 2 % of the friction.
        reach: largest distance (m) from the contacts; the only limit if the robot holds on to something.
        tolerance: m, see `poise.geometry.polygon.approximate_region`.
        gravity: g, m/s².

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
    # Unknowns: c_x, c_y from the middle of the contacts, then the force along each edge of each cone, in units of m g.
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
    """Return the vertical force, with NaN instead of values too small to divide by."""
    return np.where(vertical > _MIN_FORCE, vertical, np.nan)


# -- Force cells in the soles ----------------------------------------------------------------------------------------


def sole_pressure(foot: Foot, cells: ArrayLike) -> tuple[Array, Array]:
    """Return the total force on a sole (N) and its ZMP from the middle of the sole, in the axes of the sole (m, 2).

    With f_i the forces on the cells and r_i their positions, ``A = Σ f_i`` and ``ZMP = Σ f_i r_i / A`` ([Galdeano2014]
    calls A the amplitude). Negative forces, which are impossible, and readings that are not finite count as zero;
    without load the ZMP is the middle.

    Args:
        foot: the foot that has the cells.
        cells: forces at the corners of its sole (N): (4,), or (k, 4) for k samples.

    Usage: ``amplitude, zmp = sole_pressure(foot, readings.cells[foot.name])``.
    """
    forces = np.asarray(cells, dtype=np.float64)
    forces = np.where(np.isfinite(forces) & (forces > 0.0), forces, 0.0)
    amplitude = forces.sum(axis=-1)
    moment = forces @ (foot.corners - foot.sole.center)[:, :2]
    return amplitude, moment / np.where(amplitude > 0.0, amplitude, 1.0)[..., None]
