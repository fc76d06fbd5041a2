"""Filtered motion of a person: configurations with their derivatives, and the frames in which each is known.

Each coordinate is filtered and differentiated over every interval in which markers determine it, and nothing of a gap
reaches the frames beside it. Programs that need a posture in every frame, for example to draw it, get one that is
bridged: interpolated over gaps, and at rest where a joint is never seen.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pinocchio

from poise.analysis import FEWEST_FILTER_SAMPLES, low_pass, true_intervals
from poise.arrays import Array, Mask
from poise.extras import scipy
from poise.human.fitting.visibility import SeenCoordinates
from poise.robots import Robot

#: Number of frames on either side of a short gap through which a spline bridges it.
SPLINE_NEIGHBORS = 8
#: Time beside a gap in which velocities and accelerations are unknown, in periods of the cut-off: the filter has frames
#: on one side only there. At 6 Hz, 42 and 83 ms; on a walk with 2 mm of noise they are wrong by up to 1.9 rad/s and 79
#: rad/s² at the edge, by 0.5 and 5 beyond these times.
RATE_MARGIN, ACCELERATION_MARGIN = 0.25, 0.5


@dataclass(frozen=True, eq=False)
class FilteredMotion:
    """Filtered motion of a body.

    Attributes:
        time: n, s.
        q, v, a: configuration (n x nq), velocity and acceleration (n x nv), bridged where unknown.
        note: remark on the filter.
        seen: frames in which each velocity coordinate is known (n x nv).
        cutoff_frames: period of the cut-off in frames; 0 without a filter.
    """

    time: Array
    q: Array
    v: Array
    a: Array
    note: str
    seen: Mask
    cutoff_frames: float = 0.0

    @cached_property
    def known_q(self) -> Array:
        """Configurations, NaN where unknown (n x nq)."""
        return np.where(configuration_mask(self.seen), self.q, np.nan)

    @cached_property
    def known_v(self) -> Array:
        """Velocities, NaN where unknown (n x nv)."""
        return np.where(_without_edges(self.seen, RATE_MARGIN * self.cutoff_frames), self.v, np.nan)

    @cached_property
    def known_a(self) -> Array:
        """Accelerations, NaN where unknown (n x nv)."""
        return np.where(self.acceleration_seen, self.a, np.nan)

    @cached_property
    def acceleration_seen(self) -> Mask:
        """Frames in which each acceleration is known (n x nv)."""
        return _without_edges(self.seen, ACCELERATION_MARGIN * self.cutoff_frames)


def _without_edges(seen: Mask, margin: float) -> Mask:
    """Remove the frames beside gaps from a mask (n x k); the ends of the trial are no gaps."""
    frames = math.ceil(margin - 1e-6)
    out = seen.copy()
    for shift in range(1, min(frames, len(seen) - 1) + 1):
        out[shift:] &= seen[:-shift]
        out[:-shift] &= seen[shift:]
    return out


def configuration_mask(seen: Mask) -> Mask:
    """Return the mask of the configuration (n x nq) for one of velocity coordinates (n x nv): a quaternion has four."""
    return np.column_stack([seen[:, :1], seen])


def filter_motion(
    robot: Robot, time: Array, q: Array, cutoff: float | None, visibility: SeenCoordinates | None = None
) -> FilteredMotion:
    """Filter configurations at equal steps, and compute velocities and accelerations.

    Quaternion components are filtered with continuous sign and normalised again. Velocities are derivatives of cubic
    splines; that of the base is expressed in its own frame. Without a cut-off (Hz) the motion is not filtered.

    Args:
        robot: the model.
        time, q: n (s), n x nq.
        cutoff: cut-off of the low-pass filter, Hz.
        visibility: frames in which each coordinate is determined and seen; None: all.
    """
    everywhere = np.ones((len(time), robot.model.nv), dtype=bool)
    determined, seen = (everywhere, everywhere) if visibility is None else visibility
    mask = configuration_mask(seen)
    values = continuous_quaternions(bridge_gaps(time, q, mask))
    values = _bridge_by_splines(values, mask & ~configuration_mask(determined), mask)
    rate = (len(time) - 1) / (time[-1] - time[0]) if len(time) > 1 else 1.0
    note, period = "motion not filtered", 0.0
    if cutoff is not None and len(time) >= FEWEST_FILTER_SAMPLES and cutoff < 0.5 * rate:
        values = _by_interval(values, mask, lambda part, _: low_pass(part, rate, cutoff))
        note = f"motion low-pass filtered at {cutoff:g} Hz (second-order Butterworth, zero-phase)"
        period = rate / cutoff
    values = bridge_gaps(time, values, mask)
    values[:, 3:7] /= np.linalg.norm(values[:, 3:7], axis=1, keepdims=True)
    if len(time) < 4:
        zero_rates = np.zeros((len(time), robot.model.nv))
        return FilteredMotion(time, values, zero_rates, zero_rates, note, seen, period)
    v = _velocity(values, _by_interval(values, mask, lambda part, at: _derivative(time[at], part)))
    a = _by_interval(v, seen, lambda part, at: _derivative(time[at], part))
    return FilteredMotion(time, values, v, a, note, seen, period)


def bridge_gaps(time: Array, q: Array, known: Mask) -> Array:
    """Replace unknown values of configurations by linear interpolation between known ones.

    Values before the first and after the last known one stay constant, and those of a coordinate that is never known
    are its median. Signs of quaternions may differ between the ends of a gap.

    Args:
        time, q: n (s), n x nq.
        known: mask of known values (n x nq).
    """
    if known.all():
        return q.copy()
    out = continuous_quaternions(np.where(known, q, np.nan))
    for k in np.flatnonzero(~known.all(axis=0)):
        inside = known[:, k]
        if inside.any():
            out[:, k] = np.interp(time, time[inside], out[inside, k])
        else:
            finite = q[np.isfinite(q[:, k]), k]
            out[:, k] = float(np.median(finite)) if len(finite) else float(k == 6)
    length = np.linalg.norm(out[:, 3:7], axis=1, keepdims=True)
    out[:, 3:7] = np.where(known[:, 3:4], out[:, 3:7], out[:, 3:7] / np.where(length > 0.0, length, 1.0))
    return out


def continuous_quaternions(q: Array) -> Array:
    """Choose the signs of the quaternions in configurations (n, nq) so that consecutive known ones are close."""
    out = q.copy()
    known = np.flatnonzero(np.isfinite(q[:, 3:7]).all(axis=1))
    quaternions = q[known, 3:7]
    signs = np.sign(np.einsum("ij,ij->i", quaternions[1:], quaternions[:-1]))
    out[known[1:], 3:7] *= np.cumprod(np.where(signs == 0.0, 1.0, signs))[:, np.newaxis]
    return out


def _bridge_by_splines(values: Array, gaps: Mask, known: Mask) -> Array:
    """Interpolate short gaps inside known intervals by cubic splines through the frames around them."""
    out = values.copy()
    for k in np.flatnonzero(gaps.any(axis=0)):
        for begin, end in true_intervals(gaps[:, k]):
            around = np.arange(max(begin - SPLINE_NEIGHBORS, 0), min(end + SPLINE_NEIGHBORS, len(values)))
            around = around[(known & ~gaps)[around, k]]
            if len(around) >= 4:
                out[begin:end, k] = scipy.interpolate.CubicSpline(around, values[around, k])(np.arange(begin, end))
    return out


def _by_interval(values: Array, known: Mask, compute: Callable[[Array, slice], Array]) -> Array:
    """Compute values (n x k) over all frames, and then again over each interval in which a column is known."""
    out = np.array(compute(values, slice(None)))
    partly = np.flatnonzero(~known.all(axis=0) & known.any(axis=0))
    masks, group = np.unique(known[:, partly], axis=1, return_inverse=True)
    for k, mask in enumerate(masks.T):
        columns = partly[np.ravel(group) == k]
        for begin, end in true_intervals(mask):
            out[begin:end, columns] = compute(values[begin:end][:, columns], slice(begin, end))
    return out


def _derivative(time: Array, values: Array) -> Array:
    if len(time) < 4:
        return np.zeros_like(values)
    return np.asarray(scipy.interpolate.CubicSpline(time, values, axis=0)(time, 1))


def _velocity(q: Array, rate: Array) -> Array:
    """Return the velocity of pinocchio (n x nv): linear and angular of the base in its own frame, then joint rates.

    `rate` is the time derivative of all coordinates in q (n x nq). With the unit quaternion c of the base and its
    derivative ċ, the angular velocity in its frame is the vector part of ``2 c* ċ``.
    """
    rotation = np.array([pinocchio.Quaternion(*each[[3, 0, 1, 2]]).matrix() for each in q[:, 3:7]])
    linear = np.einsum("nji,nj->ni", rotation, rate[:, :3])
    x, y, z, w = q[:, 3:7].T
    dx, dy, dz, dw = rate[:, 3:7].T
    angular = 2.0 * np.column_stack(
        [w * dx - x * dw - y * dz + z * dy, w * dy - y * dw - z * dx + x * dz, w * dz - z * dw - x * dy + y * dx]
    )
    return np.column_stack([linear, angular, rate[:, 7:]])
