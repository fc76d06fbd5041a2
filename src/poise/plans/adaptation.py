"""Where and when to step after a disturbance (after Khadiv et al. 2016)."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Reachable:
    """Limits of a step.

    Args:
        forward: furthest ahead and behind of the support foot (m).
        narrowest, widest: between the middles of the feet, sideways (m).
        soonest, latest: until touchdown, from now (s).
    """

    forward: float
    narrowest: float
    widest: float
    soonest: float
    latest: float


#: Weights of a step that lands elsewhere (1/m²), at another time (of e^{ωT}), and of an end that is off (1/m²).
PLACE, TIME, END = 1.0, 0.02, 1000.0
#: How many times are tried.
TRIED = 33


def adapted(
    xi: complex,
    pressure: complex,
    wish: complex,
    offset: complex,
    left: float,
    omega: float,
    limits: Reachable,
    outward: float,
) -> tuple[complex, float]:
    """Place of the next step and seconds until it, nearest to what was planned, that catch the body.

    All in the axes of the support foot, seen from it, as x + i y. With T the time left, ξ will be at
    ``z + (ξ - z) e^{ωT}``, and is to be at ``u + b``, u the step and b its offset::

        minimise  PLACE |u - u*|² + TIME (e^{ωT} - e^{ωT*})² + END |b - b*|²

    Args:
        xi, pressure: ξ and the pressure point z that will be kept (m).
        wish, offset: u* and b* (m).
        left: T* (s).
        outward: +1 if the step is to the left.
    """
    soonest, latest = min(limits.soonest, left + 1.0), max(limits.latest, limits.soonest)
    times = np.linspace(soonest, latest, TRIED)
    growth = np.exp(omega * times)
    reach = pressure + growth * (xi - pressure)  # ξ at touchdown, one per time
    best = (PLACE * wish + END * (reach - offset)) / (PLACE + END)
    x = np.minimum(np.maximum(best.real, -limits.forward), limits.forward)
    y = np.minimum(np.maximum(outward * best.imag, limits.narrowest), limits.widest) * outward
    off = reach - offset
    cost = PLACE * ((x - wish.real) ** 2 + (y - wish.imag) ** 2) + END * ((off.real - x) ** 2 + (off.imag - y) ** 2)
    cost += TIME * (growth - math.exp(omega * left)) ** 2
    i = int(cost.argmin())
    return complex(x[i], y[i]), float(times[i])
