"""Path of the center of mass (CoM) p in a motion segment: one time constant for all axes, relaxed boundary conditions.

*Dynamical 3D-symmetrization*: with the virtual repellent point u (m, 3) and the same constant ω for x, y and z,

    p̈ = ω² (p - u)

independently of the height of p. The contact force is ``m (p̈ + g ẑ)``: with u at the height of p there is no vertical
acceleration, and the contact force acts at the point below u. u is a polygonal line through K knots, on whose pieces
``e = p - u`` obeys ``ë = ω² e``, so that after h seconds on a piece with slope s

    p⁺ = u⁺ + C e + S/ω (v - s),    v⁺ = s + ω S e + C (v - s),    C, S = cosh ω h, sinh ω h

Everything is linear in (p₀, v₀, u), with matrices that depend only on the durations.

*Boundary condition relaxation*: p₀ and v₀ hold exactly, all other conditions in the least-squares sense,

    min  w_ξ |ξ_T - p_d|² + w_ζ |ζ_T - p_d|² + Σ_k w_k |u_k - ū_k|² + w_0 |u_0 - u_last|² + w_s |D² u|²

where ``ξ = p + v/ω`` diverges, so that its final error has the largest weight, ``ζ = p - v/ω`` converges, ū_k is the
middle of the sole in single support, and D² are second differences. The minimum is one matrix times (p_d, ū, u_last),
the same for x and y, with other weights for z, which no sole bounds ([Sugihara2008] section III-A, after the methods it
cites there).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from poise.arrays import Array

#: Pieces of u per phase: fewer cannot both start and end a phase smoothly, more take longer without benefit.
PIECES_PER_PHASE = 3
#: Sampling period Δt of a segment (s), as in the paper.
SAMPLE_PERIOD = 0.005


@dataclass(frozen=True)
class RelaxationWeights:
    """Weights of the relaxed conditions (1/m²); only their ratios matter.

    Args:
        divergent, convergent: w_ξ and w_ζ of ξ and ζ at the end. An error of ξ grows with e^{ωt} in the next segment.
        single: w_k in single support, where ū is the middle of the sole: about 1 / (free half width of a sole)².
        double: w_k in double support, where the support region is larger.
        smooth: w_s of second differences of u.
        before: w_0 of the difference of u at the start from u at the end of the last segment: the ZMP must not jump.
    """

    divergent: float = 1e4
    convergent: float = 1e2
    single: float = 200.0
    double: float = 0.05
    smooth: float = 0.02
    before: float = 0.05


@dataclass(frozen=True, eq=False)
class LinearMaps:
    """Matrices of the path for given durations of the phases.

    Attributes:
        times: times of the samples (s, n).
        knots: times of the knots (s, K).
        place, speed, repellent: (n, 2 + K), from (p₀, v₀, u) to p, v and u at the samples.
        knot_place, knot_speed: (K, 2 + K), from (p₀, v₀, u) to p and v at the knots.
        end_dcm: (2 + K), from (p₀, v₀, u) to ξ_T.
        gain: (K, 3 + K), from the residuals (p_d - ξ_free, p_d - ζ_free, ū, u_last) to the x or y component of u.
        gain_upwards: the same for the z component, which no sole bounds.
        free: (2, 2), from (p₀, v₀) to (ξ_T, ζ_T) with u = 0.
    """

    times: Array
    knots: Array
    place: Array
    speed: Array
    repellent: Array
    knot_place: Array
    knot_speed: Array
    end_dcm: Array
    gain: Array
    gain_upwards: Array
    free: Array


@lru_cache(maxsize=1024)
def linear_maps(
    seconds: tuple[float, ...], single: tuple[bool, ...], omega: float, relaxation: RelaxationWeights
) -> LinearMaps:
    """Return the matrices for phases of the given durations (s), each in single or double support.

    Results are cached, since they depend only on the arguments.
    """
    lengths = np.repeat(np.array(seconds) / PIECES_PER_PHASE, PIECES_PER_PHASE)
    knots = np.concatenate([[0.0], np.cumsum(lengths)])
    K = len(knots)
    place, speed = np.zeros((K, 2 + K)), np.zeros((K, 2 + K))
    repellent = np.hstack([np.zeros((K, 2)), np.eye(K)])
    place[0, 0] = speed[0, 1] = 1.0
    for i, h in enumerate(lengths.tolist()):
        place[i + 1], speed[i + 1] = _advance(place[i], speed[i], repellent[i], repellent[i + 1], h, h, omega)
    count = max(round(knots[-1] / SAMPLE_PERIOD), 1)
    times = np.linspace(0.0, knots[-1], count + 1)
    k = np.minimum(np.searchsorted(knots, times, side="right") - 1, K - 2)
    piece_seconds, after = lengths[k][:, None], (times - knots[k])[:, None]
    p, v = _advance(place[k], speed[k], repellent[k], repellent[k + 1], piece_seconds, after, omega)
    u = repellent[k] + after / piece_seconds * (repellent[k + 1] - repellent[k])
    ends = np.array([place[-1] + speed[-1] / omega, place[-1] - speed[-1] / omega])
    weights = np.full(K, relaxation.double)
    for j, on_one_foot in enumerate(single):
        if on_one_foot:
            weights[j * PIECES_PER_PHASE : (j + 1) * PIECES_PER_PHASE + 1] = relaxation.single
    free = np.full(K, relaxation.double)
    gains = [_gain(ends[:, 2:], weights, relaxation), _gain(ends[:, 2:], free, relaxation)]
    arrays = times, knots, p, v, u, place, speed, ends[0], *gains, ends[:, :2]
    for array in arrays:
        array.setflags(write=False)
    return LinearMaps(*arrays)


def _gain(ends: Array, weights: Array, relaxation: RelaxationWeights) -> Array:
    """Return the matrix from the residuals to the least-squares u.

    The row of ξ_T grows with e^{ωT}; its square would dominate all others, so normal equations are not used.
    """
    K = len(weights)
    w = np.sqrt(
        [relaxation.divergent, relaxation.convergent, *weights, relaxation.before, *[relaxation.smooth] * (K - 2)]
    )
    A = np.vstack([ends, np.eye(K), np.eye(K)[:1], np.diff(np.eye(K), 2, axis=0)])
    return np.linalg.lstsq(w[:, None] * A, np.diag(w)[:, : K + 3], rcond=None)[0]


def _advance(
    p: Array, v: Array, u: Array, u1: Array, h: float | Array, after: float | Array, omega: float
) -> tuple[Array, Array]:
    """Return p and v, `after` seconds into a piece of h seconds on which the repellent point moves from u to u1."""
    C, S = np.cosh(omega * after), np.sinh(omega * after)
    slope = (u1 - u) / h
    e, w = p - u, v - slope
    return u + slope * after + C * e + S / omega * w, slope + omega * S * e + C * w


class CenterPath:
    """Path of the CoM over time, in closed form.

    Args:
        maps: matrices for the durations of its phases.
        omega: ω, 1/s.
        start: p₀ and v₀ (2, 3).
        u: repellent point at the knots (m, K x 3).
    """

    __slots__ = ("_knots", "_p", "_v", "maps", "omega", "u", "x")

    def __init__(self, maps: LinearMaps, omega: float, start: Array, u: Array) -> None:
        self.maps, self.omega, self.u = maps, omega, u
        self.x = np.concatenate([start, u])
        self._p: Array | None = None

    @classmethod
    def least_relaxation(
        cls, maps: LinearMaps, omega: float, start: Array, goal: Array, middle: Array, last: Array
    ) -> CenterPath:
        """Return the path that minimizes the relaxation of the boundary conditions.

        Args:
            maps: matrices for the durations of the phases.
            omega: ω, 1/s.
            start: p₀ and v₀ (2, 3).
            goal: p_d (3).
            middle: ū at the knots (m, K x 3).
            last: u at the end of the segment before (3).
        """
        residuals = np.concatenate([goal - maps.free @ start, middle, last[None]])
        u = maps.gain @ residuals
        u[:, 2] = maps.gain_upwards @ residuals[:, 2]
        return cls(maps, omega, start, u)

    @property
    def end(self) -> tuple[Array, Array]:
        """p and v at the end (m, m/s, 3)."""
        return self.maps.knot_place[-1] @ self.x, self.maps.knot_speed[-1] @ self.x

    @property
    def dcm_at_end(self) -> Array:
        """ξ at the end (m, 3)."""
        return self.maps.end_dcm @ self.x

    def samples(self) -> tuple[Array, Array, Array]:
        """Return p, its acceleration and u at all samples (n, 3)."""
        p, u = self.maps.place @ self.x, self.maps.repellent @ self.x
        return p, self.omega**2 * (p - u), u

    def at(self, time: float) -> tuple[Array, Array, Array]:
        """Return p, v and p̈ at any time (s), which is clipped to the duration."""
        if self._p is None:
            self._p, self._v = self.maps.knot_place @ self.x, self.maps.knot_speed @ self.x
            self._knots = self.maps.knots.tolist()
        knots = self._knots
        time = min(max(time, 0.0), knots[-1])
        k = min(_piece_index(knots, time), len(knots) - 2)
        h, after, omega = knots[k + 1] - knots[k], time - knots[k], self.omega
        slope = (self.u[k + 1] - self.u[k]) / h
        u = self.u[k] + slope * after
        C, S = math.cosh(omega * after), math.sinh(omega * after)
        e, w = self._p[k] - self.u[k], self._v[k] - slope
        p = u + C * e + S / omega * w
        return p, slope + omega * S * e + C * w, omega**2 * (p - u)


def _piece_index(knots: list[float], time: float) -> int:
    k = 0
    while k + 1 < len(knots) and knots[k + 1] <= time:
        k += 1
    return k
