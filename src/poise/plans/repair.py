"""Repair: the smallest change of a style's balance that makes it walk."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from poise.plans.center import Divergent, Motion, Reference, Sinusoid
from poise.plans.footsteps import Footstep
from poise.plans.pace import Stature, paced
from poise.plans.phases import Phase
from poise.plans.route import Route
from poise.plans.style import PARAMETERS, Style
from poise.plans.verdict import Verdict, verdict

Array = NDArray[np.float64]

#: Balance parameters of [Dalibard2012] section IV.B, which a repair may change; and the step length, last.
BALANCE = ("sway", "sway_phase", "single_support", "double_support", "step_length")
#: Shares of its range that a parameter changes by are weighed equally, but for steps, which a user sees first.
DEAR = {"step_length": 3.0}
#: A repaired walk keeps the pressure so far inside the soles, as a share of their width.
SAFE = 0.05
#: Steps that a walk is tried for, from standing.
TRIED = 6


class Repaired(NamedTuple):
    """A style that walks, and how it differs.

    Attributes:
        style: which walks, as far as was found.
        verdict: on it.
        changes: in words, one line each; none if nothing had to change.
    """

    style: Style
    verdict: Verdict
    changes: tuple[str, ...]


def tried(style: Style, body: Stature, center: str = "divergent", steps: int = TRIED) -> Verdict:
    """The verdict on a whole walk with a style, from standing; the worst of its steps.

    Args:
        style, body: what walks.
        center: ``"divergent"`` or ``"sinusoid"``, see `poise.plans.center`.
    """
    route = Route(paced(style, body), math.inf)
    reference: Reference = Divergent() if center == "divergent" else Sinusoid(style.sway * body.leg, style.sway_phase)
    half = 0.5 * body.width
    right, left = Footstep("right", 0.0, -half), Footstep("left", 0.0, half)
    phase = Phase("starting", 0.0, 0.8, right, left, right)
    return verdict(route, phase, 0.0, Motion(0j, 0j), reference, body, steps=steps)


def repaired(style: Style, body: Stature, center: str = "divergent") -> Repaired:
    """The style nearest to one that is wanted that keeps its balance.

    Near is what changes the balance parameters by small shares of their ranges. A walk that is known to work is looked
    for first, and then the way back to what was wanted is gone as far as it carries.
    """
    safe = SAFE * min(body.sole)
    if tried(style, body, center).margin >= safe:
        return Repaired(style, tried(style, body, center), ())
    names = BALANCE if center == "sinusoid" else BALANCE[2:]
    first = np.array([getattr(style, name) for name in names])
    spans = np.array([(PARAMETERS[name].high - PARAMETERS[name].low) / DEAR.get(name, 1.0) for name in names])
    low, high = (np.array([getattr(PARAMETERS[name], end) for name in names]) for end in ("low", "high"))

    def room(values: Array) -> float:
        chosen = dict(zip(names, np.clip(values, low, high).tolist(), strict=True))
        return tried(style.but(**chosen), body, center).margin - safe

    def far(values: Array) -> float:
        return float(np.sum(((values - first) / spans) ** 2))

    known = [each for each in _likely(style, body, names) if room(each) >= 0.0]
    if not known:
        return Repaired(style, tried(style, body, center), ())
    best = _back(min(known, key=far), first, room)
    limits = {"type": "ineq", "fun": room}
    found = minimize(far, best, method="COBYLA", constraints=[limits], options={"rhobeg": 0.02, "maxiter": 120}).x
    if room(found) >= 0.0 and far(found) < far(best):
        best = np.clip(found, low, high)
    moved = np.abs(best - first) > 1e-3 * spans
    changed = {name: value for name, value, other in zip(names, best.tolist(), moved, strict=True) if other}
    better = style.but(**changed)
    words = tuple(
        f"{name} {getattr(style, name):.3g} -> {value:.3g} {PARAMETERS[name].unit}".rstrip()
        for name, value in changed.items()
    )
    return Repaired(better, tried(better, body, center), words)


def _likely(style: Style, body: Stature, names: Sequence[str]) -> list[Array]:
    """Styles that are likely to walk: balanced sway, steps quick or slow, longer on both feet, shorter steps."""
    found = []
    for single, double, length in product((1.0, 0.8, 0.6, 1.3), (1.0, 2.0, 3.0, 5.0), (1.0, 0.7, 0.4, 0.15)):
        changes = {
            "single_support": _within("single_support", single * style.single_support),
            "double_support": _within("double_support", double * style.double_support),
            "step_length": _within("step_length", length * style.step_length),
        }
        if "sway" not in names:
            found.append(np.array([changes[name] for name in names]))
            continue
        route = Route(paced(style.but(**changes), body), math.inf)
        amplitude, phase = Sinusoid(Sinusoid.balanced(route)).leading(route)
        for more in (1.0, 1.15, 1.3):
            sway = _within("sway", more * amplitude / body.leg)
            every = {**changes, "sway": sway, "sway_phase": _within("sway_phase", phase)}
            found.append(np.array([every[name] for name in names]))
    return found


def _within(name: str, value: float) -> float:
    parameter = PARAMETERS[name]
    return min(max(value, parameter.low), parameter.high)


def _back(known: Array, wanted: Array, room: Callable[[Array], float]) -> Array:
    """As far from a walk that works towards the one that is wanted as it works."""
    low, high = 0.0, 1.0
    for _ in range(8):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if room(known + middle * (wanted - known)) >= 0.0 else (low, middle)
    return np.asarray(known + low * (wanted - known))
