"""Nearest: the pairs of capsules that are nearest to each other at a snapshot, with Jacobian and drift of their gaps."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from poise.constraints.gaps import PARALLEL, TOUCHING, Gaps, supports
from poise.state import Snapshot

Array = NDArray[np.float64]

#: What the turning of a pair may add to the drift of its gap, m/s²: ten times gravity. It grows without end where axes
#: cross or two ends are equally near, and no joint could follow.
GREATEST_TURNING = 100.0
_NEXT, _AFTER = np.array([1, 2, 0]), np.array([2, 0, 1])


class Nearest:
    """Gaps of the nearest pairs, bound to the memory of a snapshot; `update` measures them at the present state.

    Attributes:
        pair: which pairs, K indices in rising order, so that a pair keeps its row while others come and go.
        gap: d of each, m.
        normal: n, K x 3, from the second body to the first; never zero.
        first, second: where they are nearest, K x 3 (m): on the axes of the capsules, or on the surface of hulls.

    Both points lie on a line along n, so each row of the Jacobian is ``σ (n, p x n)ᵀ J`` with J the joints' twists at
    the world's origin and σ +1 for joints that move the first body only, -1 for the second only, 0 for both.
    """

    def __init__(self, snapshot: Snapshot, gaps: Gaps, rows: int) -> None:
        data, model = snapshot.data, snapshot.model
        self.snapshot, self.gaps, self.rows = snapshot, gaps, rows
        self.all_gaps: Array = np.zeros(len(gaps.i))
        self.pair = np.arange(rows)
        self.gap = np.zeros(rows)
        self.normal, self.first, self.second = (np.zeros((rows, 3)) for _ in range(3))
        self._choose = rows < len(gaps.i)
        self._s, self._t = np.zeros(rows), np.zeros(rows)
        self._J: Array = data.J
        self._origin: Array = data.oMi[1].translation
        self._rotations = [data.oMi[joint].rotation for joint in gaps.joints]
        self._translations = [data.oMi[joint].translation for joint in gaps.joints]
        self._R, self._p = np.zeros((3 * len(gaps.joints), 3)), np.zeros(3 * len(gaps.joints))
        self._wrench = np.zeros((rows, 6))
        joint_of = [joint for joint in range(1, model.njoints) for _ in range(model.nvs[joint])]
        self._below = np.array([supports(model, joint) for joint in joint_of])
        self._column = np.array([model.idx_vs[gaps.joints[k]] for k in gaps.carrier], dtype=np.intp)

    def update(self) -> None:
        """Measures all pairs at the snapshot's state, and chooses the nearest."""
        gaps = self.gaps
        np.concatenate(self._rotations, out=self._R)
        np.concatenate(self._translations, out=self._p)
        self._X = X = gaps.place(self._R.reshape(-1, 3, 3), self._p.reshape(-1, 3) - self._origin)
        self.all_gaps, s, t = gaps.measure(X)
        if self._choose:
            self.pair = np.argpartition(self.all_gaps, self.rows)[: self.rows]
            self.pair.sort()
            s, t = s[self.pair], t[self.pair]
        self._s, self._t = s, t
        self._i, self._j = gaps.i[self.pair], gaps.j[self.pair]
        self._h_i, self._h_j = X[gaps.count + self._i], X[gaps.count + self._j]
        self.first = X[self._i] + s[:, None] * self._h_i
        self.second = X[self._j] + t[:, None] * self._h_j
        w = self.first - self.second
        length = np.sqrt(dot(w, w))
        self.gap = length - gaps.radii[self.pair]
        self.normal = w / np.maximum(length, TOUCHING)[:, None]
        if length.min(initial=np.inf) < TOUCHING:
            self._part(length)
        self._length = length
        self.first += self._origin
        self.second += self._origin

    def _part(self, length: Array) -> None:
        """Gives axes that cross a direction to part along: across both, on the side of their centers."""
        for k in np.flatnonzero(length < TOUCHING):
            apart = self._X[self._i[k]] - self._X[self._j[k]]
            across = np.cross(self._h_i[k], self._h_j[k])
            if across @ across > PARALLEL * self.gaps.a[self.pair[k]] * self.gaps.e[self.pair[k]]:
                apart = across if across @ apart >= 0.0 else -across
            size = np.linalg.norm(apart)
            self.normal[k] = apart / size if size > TOUCHING else (0.0, 0.0, 1.0)
            length[k] = np.inf  # nothing to turn about

    def jacobian(self, out: Array) -> None:
        """Writes J with ``ḋ = J v``, K x nv."""
        self._wrench[:, :3] = self.normal
        self._wrench[:, 3:] = cross(self.first, self.normal)
        np.multiply(self._wrench @ self._J, self.gaps.sign[self.pair], out=out)

    def drift(self, out: Array) -> None:
        """Writes ``J̇ v``: how the gaps accelerate when no joint does (m/s²)."""
        V, change = self._twists()
        i, j = self._column[self._i], self._column[self._j]
        turning = self.turning(V[i], V[j])
        np.clip(turning, -GREATEST_TURNING, GREATEST_TURNING, out=turning)
        carried = change[i, :3] - change[j, :3] + cross(change[i, 3:], self.first) - cross(change[j, 3:], self.second)
        np.add(dot(self.normal, carried), turning, out=out)

    def turning(self, V_i: Array, V_j: Array) -> Array:
        """d̈ while both bodies keep their twists V (K x 6, at the origin of the world).

        With w = p_i - p_j of length l, the points fixed to their bodies, and g the rate of the slopes of ½ w² in those
        of s and t that are inside their bounds, H their second derivatives::

            d̈ = n · ẅ + (|ẇ|² - ḋ² - gᵀ H⁻¹ g) / l
        """
        w_i, w_j = V_i[:, 3:], V_j[:, 3:]
        v_i, v_j = V_i[:, :3] + cross(w_i, self.first), V_j[:, :3] + cross(w_j, self.second)
        n, h_i, h_j, rate = self.normal, self._h_i, self._h_j, v_i - v_j
        w = self.first - self.second
        a, e, b = self.gaps.a[self.pair], self.gaps.e[self.pair], dot(h_i, h_j)
        g_s = dot(h_i, rate) + dot(w, cross(w_i, h_i))
        g_t = -dot(h_j, rate) - dot(w, cross(w_j, h_j))
        sine = a * e - b * b
        s_free, t_free = np.abs(self._s) < 1.0, np.abs(self._t) < 1.0
        both = s_free & t_free
        t_free &= ~(both & (sine < PARALLEL * a * e))  # sliding along each other changes nothing
        both &= t_free
        g_s *= s_free
        g_t *= t_free
        slid = (e * g_s * g_s + 2.0 * b * g_s * g_t + a * g_t * g_t) / np.where(both, sine, a * e)
        along = dot(n, rate)
        return dot(n, cross(w_i, v_i) - cross(w_j, v_j)) + (dot(rate, rate) - along * along - slid) / self._length

    def _twists(self) -> tuple[Array, Array]:
        """Twist of the body that each column of v moves, and its drift; at the origin of the world, nv x 6.

        A joint's own twist S is carried along by its body: ``Ṡ = V x S``, with V the twist of the body.
        """
        S = (self._J * self.snapshot.v).T
        V = self._below @ S
        v, w, s, t = V[:, :3], V[:, 3:], S[:, :3], S[:, 3:]
        return V, self._below @ np.hstack([cross(w, s) + cross(v, t), cross(w, t)])


def dot(a: Array, b: Array) -> Array:
    """a · b, line by line."""
    return np.einsum("ij,ij->i", a, b)


def cross(a: Array, b: Array) -> Array:
    """a x b, line by line; much faster than numpy's for few lines."""
    return a[:, _NEXT] * b[:, _AFTER] - a[:, _AFTER] * b[:, _NEXT]
