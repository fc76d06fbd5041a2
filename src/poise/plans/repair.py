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
from poise.plans.pace import Speed, Stature, paced
from poise.plans.phases import Phase
from poise.plans.route import Route
from poise.plans.style import PARAMETERS, Style
from poise.plans.verdict import Verdict, verdict

Array = NDArray[np.float64]

#: Balance parameters of [Dalibard2012] section IV.B, which a repair may change; and the step length, last.
BALANCE = ("sway", "sway_phase", "single_support", "double_support", "step_length")
#: Shares of its range that a parameter changes by are weighed equally, but for steps, which a user sees first.
DEAR = {"step_length": 3.0, "speed": 3.0}
#: What stands for the step length where a speed is given: which share of it is walked.
SLOWER = "speed"
#: A repaired walk keeps the pressure so far inside the soles, as a share of their width.
SAFE = 0.05
#: Steps that a walk is tried for, from standing.
TRIED = 6


class Repaired(NamedTuple):
    """A style that walks, and how it differs.

    Attributes:
        style, speed: which walk, as far as was found; the speed is None where none was given.
        verdict: on them.
        changes: in words, one line each; none if nothing had to change.
    """

    style: Style
    speed: Speed | None
    verdict: Verdict
    changes: tuple[str, ...]


def tried(
    style: Style, body: Stature, center: str = "divergent", speed: Speed | None = None, steps: int = TRIED
) -> Verdict:
    """The verdict on a whole walk with a style, from standing; the worst of its steps.

    Args:
        style, body: what walks.
        center: ``"divergent"`` or ``"sinusoid"``, see `poise.plans.center`.
        speed: (m/s, m/s, rad/s) instead of the style's own steps.
    """
    route = Route(paced(style, body, speed), math.inf)
    reference: Reference = Divergent() if center == "divergent" else Sinusoid(style.sway * body.leg, style.sway_phase)
    half = 0.5 * body.width
    right, left = Footstep("right", 0.0, -half), Footstep("left", 0.0, half)
    phase = Phase("starting", 0.0, 0.8, right, left, right)
    return verdict(route, phase, 0.0, Motion(0j, 0j), reference, body, steps=steps)


def repaired(style: Style, body: Stature, center: str = "divergent", speed: Speed | None = None) -> Repaired:
    """The style nearest to one that is wanted that keeps its balance.

    Near is what changes the balance parameters by small shares of their ranges. A walk that is known to work is looked
    for first, and then the way back to what was wanted is gone as far as it carries. Where a speed is given, which
    takes steps of its own length, a walk may become slower instead of its steps shorter.
    """
    safe = SAFE * min(body.sole)
    before = tried(style, body, center, speed)
    if before.margin >= safe:
        return Repaired(style, speed, before, ())
    names = BALANCE if center == "sinusoid" else BALANCE[2:]
    search = _Search(style, body, names if speed is None else (*names[:-1], SLOWER), speed)

    def room(values: Array) -> float:
        chosen, slower = search.meant(values)
        return tried(chosen, body, center, slower).margin - safe

    known = [each for each in search.likely() if room(each) >= 0.0]
    if not known:
        return Repaired(style, speed, before, ())
    best = _back(min(known, key=search.far), search.first, room)
    limits = {"type": "ineq", "fun": room}
    options = {"rhobeg": 0.02, "maxiter": 120}
    found = minimize(search.far, best, method="COBYLA", constraints=[limits], options=options).x
    if room(found) >= 0.0 and search.far(found) < search.far(best):
        best = found
    best = search.only_moved(best)
    better, slower = search.meant(best)
    return Repaired(better, slower, tried(better, body, center, slower), search.words(best))


class _Search:
    """What a repair may change: numbers of a style, and how much slower it goes.

    Attributes:
        first: what is wanted.
    """

    def __init__(self, style: Style, body: Stature, names: Sequence[str], speed: Speed | None) -> None:
        self.style, self.body, self.names, self.speed = style, body, names, speed
        ends = [(0.1, 1.0) if name == SLOWER else (PARAMETERS[name].low, PARAMETERS[name].high) for name in names]
        self._low, self._high = np.array(ends).T
        self._spans = (self._high - self._low) / [DEAR.get(name, 1.0) for name in names]
        self.first: Array = np.array([1.0 if name == SLOWER else getattr(style, name) for name in names])

    def meant(self, values: Array) -> tuple[Style, Speed | None]:
        chosen = dict(zip(self.names, np.clip(values, self._low, self._high).tolist(), strict=True))
        share = chosen.pop(SLOWER, 1.0)
        if self.speed is None:
            return self.style.but(**chosen), None
        vx, vy, wz = self.speed
        return self.style.but(**chosen), (share * vx, share * vy, share * wz)

    def far(self, values: Array) -> float:
        return float(np.sum(((values - self.first) / self._spans) ** 2))

    def only_moved(self, values: Array) -> Array:
        """Without changes that nobody would see."""
        moved = np.abs(values - self.first) > 1e-3 * self._spans
        return np.where(moved, np.clip(values, self._low, self._high), self.first)

    def words(self, values: Array) -> tuple[str, ...]:
        found = []
        for name, first, value in zip(self.names, self.first.tolist(), values.tolist(), strict=True):
            if value != first:
                unit = "of the given one" if name == SLOWER else PARAMETERS[name].unit
                found.append(f"{name} {first:.3g} -> {value:.3g} {unit}".rstrip())
        return tuple(found)

    def likely(self) -> list[Array]:
        """What is likely to walk: balanced sway, steps quick or slow, longer on both feet, shorter steps."""
        found = []
        for single, double, shorter in product((1.0, 0.8, 0.6, 1.3), (1.0, 2.0, 3.0, 5.0), (1.0, 0.7, 0.4, 0.15)):
            changes = {
                "single_support": _within("single_support", single * self.style.single_support),
                "double_support": _within("double_support", double * self.style.double_support),
                "step_length": _within("step_length", shorter * self.style.step_length),
                SLOWER: shorter,
            }
            if "sway" not in self.names:
                found.append(np.array([changes[name] for name in self.names]))
                continue
            tamed = np.array([changes.get(name, 0.0) for name in self.names])
            style, speed = self.meant(tamed)
            route = Route(paced(style, self.body, speed), math.inf)
            amplitude, phase = Sinusoid(Sinusoid.balanced(route)).leading(route)
            for more in (1.0, 1.15, 1.3):
                sway = _within("sway", more * amplitude / self.body.leg)
                every = {**changes, "sway": sway, "sway_phase": _within("sway_phase", phase)}
                found.append(np.array([every[name] for name in self.names]))
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
