"""Angles of rotations in the order that BVH files like best, without jumps."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

#: Where cos b is smaller, a and c turn about one axis and only their sum is known: one is kept as it was.
LOCKED = 1e-7


def zxy_angles(R: Array) -> Array:
    """Angles (a, b, c) in rad of rotations over time, n x k x 3 x 3 to n x k x 3:

        R = Rz(a) Rx(b) Ry(c)

    Each rotation has two such triples, (a, b, c) and (a + π, π - b, c + π), and whole turns beside; in the first sample
    the shortest is taken, later the one nearest to the sample before. So a hinge that bends beyond 90 degrees keeps
    bending in one number, where the usual formula would turn all three over, and who interpolates sees no jump.

    >>> zxy_angles(so3.exp([[2.0, 0.0, 0.0]])[:, None])  # a bend of 115 degrees about x
    array([[[0., 2., 0.]]])
    """
    cosine = np.hypot(R[..., 0, 1], R[..., 1, 1])
    b = np.arctan2(R[..., 2, 1], cosine)
    a, c = np.arctan2(-R[..., 0, 1], R[..., 1, 1]), np.arctan2(-R[..., 2, 0], R[..., 2, 2])
    first, second = np.stack([a, b, c], axis=-1), np.stack([a + np.pi, np.pi - b, c + np.pi], axis=-1)
    sum_or_difference = np.arctan2(R[..., 1, 0], R[..., 0, 0])
    angles, last = np.empty_like(first), np.zeros(first.shape[1:])
    for i in range(len(R)):
        one, other = (_near(triple[i], last) for triple in (first, second))
        nearer = np.abs(one - last).sum(axis=-1) <= np.abs(other - last).sum(axis=-1)
        chosen = np.where(nearer[:, None], one, other)
        locked = cosine[i] < LOCKED
        if locked.any():
            sign = np.sign(R[i, :, 2, 1])
            turned = np.stack([sum_or_difference[i] - sign * last[:, 2], b[i], last[:, 2]], axis=-1)
            chosen[locked] = _near(turned, last)[locked]
        angles[i] = last = chosen
    return angles


def _near(angles: Array, to: Array) -> Array:
    """The same angles but for whole turns, at most half a turn from others."""
    return angles - 2.0 * np.pi * np.round((angles - to) / (2.0 * np.pi))
