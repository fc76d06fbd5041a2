"""Where and when to step after a disturbance (after Khadiv et al. 2016)."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


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


def adapted(
    xi: Array,
    pressure: Array,
    wish: Array,
    offset: Array,
    left: float,
    omega: float,
    limits: Reachable,
    outward: float,
) -> tuple[Array, float]:
    """Place of the next step and seconds until it, nearest to what was planned, that catch the body.

    All in the axes of the support foot, seen from it. With T the time left, ξ will be at ``z + (ξ - z) e^{ωT}``, and is
    to be at ``u + b``, u the step and b its offset::

        minimise  PLACE |u - u*|² + TIME (e^{ωT} - e^{ωT*})² + END |b - b*|²

    Args:
        xi, pressure: ξ and the pressure point z that will be kept (m, 2).
        wish, offset: u* and b* (m, 2).
        left: T* (s).
        outward: +1 if the step is to the left.
    """
    soonest, latest = min(limits.soonest, left + 1.0), max(limits.latest, limits.soonest)
    times = np.linspace(soonest, latest, 33)
    growth = np.exp(omega * times)
    reach = pressure + np.outer(growth, xi - pressure)  # ξ at touchdown, one line per time
    low = np.array([-limits.forward, limits.narrowest if outward > 0 else -limits.widest])
    high = np.array([limits.forward, limits.widest if outward > 0 else -limits.narrowest])
    steps = np.clip((PLACE * wish + END * (reach - offset)) / (PLACE + END), low, high)
    cost = PLACE * np.sum((steps - wish) ** 2, axis=1) + END * np.sum((reach - steps - offset) ** 2, axis=1)
    cost += TIME * (growth - math.exp(omega * left)) ** 2
    best = int(np.argmin(cost))
    return steps[best], float(times[best])
