"""Sampled signals: resampling, zero-phase low-pass filter, smoothness measures, RMS and peaks of values and rates.

Notation: v(t) is the velocity of a point or of joints, sampled with period h (s), T the time from the first to the last
sample, τ(t) the torques (N m). The two smoothness measures, `spectral_arc_length` and `log_dimensionless_jerk`, are
dimensionless and independent of amplitude and duration; they are negative, and closer to zero for smoother movements.
An undefined measure, for example of a body at rest, is NaN and not an error.

[Balasubramanian2015] S. Balasubramanian, A. Melendez-Calderon, A. Roby-Brami, E. Burdet. *On the analysis of movement
smoothness.* Journal of NeuroEngineering and Rehabilitation, 2015. [Hogan2009] N. Hogan, D. Sternad. *Sensitivity of
smoothness measures to movement duration, amplitude, and arrests.* Journal of Motor Behavior, 2009.
"""

from __future__ import annotations

import math
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from poise.arrays import Array
from poise.extras import scipy

#: Samples of a time-normalised motion from 0 to 100 %: one per percent, as usual in gait laboratories, or one per half
#: percent if sudden peaks have to keep their shape.
PERCENT_SAMPLES, HALF_PERCENT_SAMPLES = 101, 201
#: Share of a sampling period within which a time counts as that of a sample.
AT_SAMPLE = 1e-6

Interpolation = Literal["linear", "spline"]

#: Cut-off (1/√2) of a second-order Butterworth filter run forward and backward, relative to that of a single pass.
DOUBLE_PASS = (2.0**0.5 - 1.0) ** 0.25
#: Smallest number of samples for filtering forward and backward.
FEWEST_FILTER_SAMPLES = 12


def resample(
    time: ArrayLike, values: ArrayLike, sample_times: ArrayLike, kind: Interpolation = "linear"
) -> NDArray[Any]:
    """Resample a signal (n, ...) at other times, (m, ...).

    Linear interpolation cuts off peaks between samples; a cubic spline preserves them. A column with a gap (NaN) is
    always interpolated linearly and is NaN next to the gap. Values that are not floating-point numbers, for example
    texts and codes, are those of the previous sample. Times outside the signal get its first or last value.

    Args:
        time: n, s, non-decreasing; increasing for splines.
        values: n samples, in any unit.
        sample_times: m, s.
        kind: "linear" or "spline".

    >>> resample([0.0, 1.0, 2.0], [0.0, 10.0, 40.0], [0.5, 1.5])
    array([ 5., 25.])
    """
    t, x, at = np.asarray(time, dtype=np.float64), np.asarray(values), np.asarray(sample_times, dtype=np.float64)
    before = np.clip(np.searchsorted(t, at, side="right") - 1, 0, len(t) - 1)
    if x.dtype.kind != "f":
        return np.asarray(x[before])
    columns = x.reshape(len(t), math.prod(x.shape[1:]))
    gapless = np.isfinite(columns).all(axis=0) if kind == "spline" else np.zeros(columns.shape[1], dtype=bool)
    resampled = np.empty((len(at), columns.shape[1]))
    if gapless.any():
        resampled[:, gapless] = scipy.interpolate.CubicSpline(t, columns[:, gapless])(np.clip(at, t[0], t[-1]))
    if not gapless.all():
        resampled[:, ~gapless] = _straight_lines(t, columns[:, ~gapless], at, before)
    return resampled.reshape(len(at), *x.shape[1:])


def _straight_lines(t: Array, columns: Array, at: Array, before: NDArray[np.intp]) -> Array:
    after = np.minimum(before + 1, len(t) - 1)
    step = t[after] - t[before]
    w = np.clip(np.where(step > 0.0, (at - t[before]) / np.where(step > 0.0, step, 1.0), 0.0), 0.0, 1.0)[:, np.newaxis]
    left, right = columns[before], columns[after]
    between = (1.0 - w) * left + w * right
    between = np.where(np.isnan(between) & (w < AT_SAMPLE), left, between)
    return np.where(np.isnan(between) & (w > 1.0 - AT_SAMPLE), right, between)


def low_pass(values: Array, rate: float, cutoff: float | None) -> Array:
    """Filter values (n, ...) with a second-order Butterworth low-pass forward and backward, without phase lag.

    The values are returned unchanged without a cut-off, for a cut-off above half of the sampling rate, for fewer than
    12 samples, and if any value is missing, because the filter would spread the gap over all samples.

    Args:
        values: n equally spaced samples.
        rate: sampling rate, Hz.
        cutoff: frequency at which the amplitude has fallen to 1/√2 after both passes, Hz.

    >>> low_pass(torque, 500.0, 6.0).shape == torque.shape
    True
    """
    if (
        cutoff is None
        or len(values) < FEWEST_FILTER_SAMPLES
        or not 0.0 < cutoff < 0.5 * rate
        or not np.isfinite(values).all()
    ):
        return values
    # Frequency warping of a digital filter: frequencies map to tan(π f / rate).
    single = rate / math.pi * math.atan(math.tan(math.pi * cutoff / rate) / DOUBLE_PASS)
    sections = scipy.signal.butter(2, single, fs=rate, output="sos")
    # Padded at both ends by three periods of the cut-off, after which the transient of the filter has decayed.
    return np.asarray(
        scipy.signal.sosfiltfilt(sections, values, axis=0, padlen=min(len(values) - 1, round(3.0 * rate / cutoff)))
    )


def true_intervals(mask: ArrayLike) -> list[tuple[int, int]]:
    """Return the intervals ``begin <= i < end`` in which a mask (n) is true, in order of time.

    >>> true_intervals([True, False, True, True])
    [(0, 1), (2, 4)]
    """
    edges = np.flatnonzero(np.diff(np.concatenate([[False], np.asarray(mask, dtype=bool), [False]]).astype(np.int8)))
    return [(int(begin), int(end)) for begin, end in edges.reshape(-1, 2)]


# -- Smoothness ------------------------------------------------------------------------------------------------------


#: Amplitude threshold of the normalized spectrum and largest frequency (Hz), as in [Balasubramanian2015]; voluntary
#: movements are slower.
SPARC_THRESHOLD, SPARC_MAX_FREQUENCY = 0.05, 10.0
#: Zero-padding factor of the spectrum: its arc length is then accurate to 0.1 %.
SPECTRUM_PADDING = 32


class Peak(NamedTuple):
    """The value of a signal with the largest magnitude: magnitude, column and sample (NaN, -1, -1 if there is none)."""

    value: float
    column: int
    sample: int


def spectral_arc_length(
    velocity: ArrayLike, period: float, threshold: float = SPARC_THRESHOLD, max_frequency: float = SPARC_MAX_FREQUENCY
) -> float:
    """Compute the spectral arc length (SPARC) of a movement [Balasubramanian2015].

        V(ω) = |∫ |v(t)| exp(-iωt) dt|,   V̂ = V / V(0)
        ω_c = min(ω_max, min{ω : V̂(r) < V̄ for all r > ω})
        SPARC = - ∫₀^ω_c sqrt((1/ω_c)² + (dV̂/dω)²) dω

    A single smooth stroke gives about -1.4; each hesitation adds a bump to the spectrum and lengthens its curve. As ω_c
    scales with the movement, a slower movement gives the same value as long as ω_c stays below ω_max.

    Args:
        velocity: v, (n,) or (n, k), in any unit.
        period: h, s.
        threshold: V̄.
        max_frequency: ω_max / 2π, Hz.

    >>> t = np.linspace(0.0, 1.0, 201)
    >>> round(spectral_arc_length(t**2 * (1 - t) ** 2, 0.005), 2)  # a minimum-jerk stroke
    -1.41
    """
    speed = _norms(velocity)
    if len(speed) < 2 or not np.isfinite(speed).all() or not speed.sum() > 0.0:
        return math.nan
    bins = SPECTRUM_PADDING * 2 ** math.ceil(math.log2(len(speed)))
    spectrum = np.abs(np.fft.rfft(speed, bins)) / speed.sum()
    frequency = np.arange(len(spectrum)) / (bins * period)
    above = np.flatnonzero((spectrum >= threshold) & (frequency <= max_frequency))[-1]
    if above + 1 == len(spectrum) or frequency[above + 1] > max_frequency:
        cut = min(max_frequency, float(frequency[-1]))
    else:  # linear interpolation of the crossing of the threshold
        left, right = spectrum[above : above + 2]
        cut = float(frequency[above] + (left - threshold) / (left - right) * (frequency[above + 1] - frequency[above]))
    inside = frequency[frequency < cut]
    x = np.append(inside, cut) / cut
    y = np.append(spectrum[: len(inside)], np.interp(cut, frequency, spectrum))
    return -float(np.hypot(np.diff(x), np.diff(y)).sum())


def log_dimensionless_jerk(velocity: ArrayLike, period: float) -> float:
    """Compute the log dimensionless jerk of a movement ([Hogan2009], [Balasubramanian2015]).

        LDLJ = - ln( T³ / max |v|² ∫ |d²v/dt²|² dt )

    A minimum-jerk stroke, the smoothest movement from rest to rest, gives ``-ln 204.8 = -5.32``; twice the squared jerk
    gives 0.69 less. The measure uses second differences, so filter noisy velocities first.

    Args:
        velocity: v, (n,) or (n, k), in any unit.
        period: h, s.

    >>> t = np.linspace(0.0, 1.0, 201)
    >>> round(log_dimensionless_jerk(t**2 * (1 - t) ** 2, 0.005), 2)
    -5.32
    """
    v = _columns(velocity)
    if len(v) < 4 or not np.isfinite(v).all():
        return math.nan
    peak_speed = float(_norms(v).max())
    jerk = np.sum((np.diff(v, n=2, axis=0) / period**2) ** 2, axis=1)
    # Trapezoidal rule: each inner sample covers one period, the first and the last also the half period at their end.
    squared_jerk = period * float(jerk.sum() + (jerk[0] + jerk[-1]) / 2)
    duration = (len(v) - 1) * period
    if not (peak_speed > 0.0 and squared_jerk > 0.0):
        return math.nan
    return -math.log(duration**3 * squared_jerk / peak_speed**2)


def root_mean_square(torque: ArrayLike) -> float:
    """Root mean square ``sqrt(mean over t of Σ_j τ_j(t)²)``, in the unit of τ; samples that are not finite are ignored.

    >>> root_mean_square([[3.0, 4.0], [3.0, -4.0]])
    5.0
    """
    squares = np.sum(_columns(torque) ** 2, axis=1)
    squares = squares[np.isfinite(squares)]
    return float(np.sqrt(squares.mean())) if len(squares) else math.nan


def root_mean_square_rate(torque: ArrayLike, period: float) -> float:
    """`root_mean_square` of the rate ``dτ/dt = (τ(t + h) - τ(t)) / h``, N m/s."""
    return root_mean_square(_rates(torque, period))


def peak(torque: ArrayLike) -> Peak:
    """Return the largest ``|τ_j(t)|`` over all joints and times, with its joint and sample.

    >>> peak([[1.0, 2.0], [0.0, -3.0]])
    Peak(value=3.0, column=1, sample=1)
    """
    sizes = np.abs(_columns(torque))
    if not np.isfinite(sizes).any():
        return Peak(math.nan, -1, -1)
    sample, column = np.unravel_index(int(np.nanargmax(np.where(np.isfinite(sizes), sizes, np.nan))), sizes.shape)
    return Peak(float(sizes[sample, column]), int(column), int(sample))


def peak_rate(torque: ArrayLike, period: float) -> Peak:
    """Return the largest ``|dτ_j/dt|`` over all joints and times, N m/s, with its joint and the sample before it."""
    return peak(_rates(torque, period))


def torque_arc_length(torque: ArrayLike, period: float) -> float:
    """Compute the `spectral_arc_length` of torques, with their rate as velocity ([Balasubramanian2015]).

    Only the first interval without a gap is used.
    """
    rates = _rates(torque, period)
    known = np.atleast_1d(np.isfinite(rates).all(axis=1))
    first = int(np.argmax(known)) if known.any() else 0
    gap = np.flatnonzero(~known[first:])
    return spectral_arc_length(rates[first : first + int(gap[0])] if len(gap) else rates[first:], period)


def _columns(values: ArrayLike) -> Array:
    array = np.asarray(values, dtype=np.float64)
    return array.reshape(len(array), math.prod(array.shape[1:]))


def _norms(values: ArrayLike) -> Array:
    return np.asarray(np.linalg.norm(_columns(values), axis=1))


def _rates(values: ArrayLike, period: float) -> Array:
    return np.asarray(np.diff(_columns(values), axis=0) / period)
