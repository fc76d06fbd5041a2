"""Repair of a style that fails its feasibility check: the smallest change of its balance parameters that passes."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import product
from typing import NamedTuple

import numpy as np

from poise.arrays import Array
from poise.extras import scipy
from poise.plans.feasibility import FeasibilityCheck, check_walk
from poise.plans.footstep_plan import FootstepPlan, SinusoidReference
from poise.plans.gait_parameters import BodyDimensions, Speed, gait_of_style
from poise.plans.style import NEUTRAL, PARAMETERS, SINUSOID_PARAMETERS, Style

#: Parameters that a repair may change: the balance parameters of [Dalibard2012] section IV.B, then the step length.
BALANCE_PARAMETERS = (*SINUSOID_PARAMETERS, "single_support", "double_support", "step_length")
#: Cost factors of changes, each relative to the range of its parameter. All are 1 except for step length and speed,
#: because the user notices these first.
PARAMETER_COSTS = {"step_length": 3.0, "speed": 3.0}
#: Name of the search variable that replaces the step length if a speed is given: fraction of that speed.
SPEED_SHARE = "speed"
#: Margin of the ZMP inside the soles that a repaired walk must keep, as a fraction of the smaller sole dimension.
SAFE_MARGIN = 0.05
#: With a slower check: largest number of candidates that it checks and of bisections, and the smallest distance of two
#: candidates (root of the cost).
REPAIR_CHECKS, REPAIR_BISECTIONS, DISTINCT_CANDIDATES = 10, 3, 0.08


class StyleRepair(NamedTuple):
    """Result of `repair_style`.

    Attributes:
        style, speed: the repaired walk, or the requested one if no repair was found; the speed is None if none was
            given.
        check: feasibility check of this style and speed.
        changes: one line of text per changed parameter; empty if nothing changed.
    """

    style: Style
    speed: Speed | None
    check: FeasibilityCheck
    changes: tuple[str, ...]


def repair_style(
    style: Style,
    body: BodyDimensions,
    center: str = "dcm",
    speed: Speed | None = None,
    check: Callable[[Style, Speed | None], FeasibilityCheck] | None = None,
) -> StyleRepair:
    """Return the feasible style that is nearest to a requested one.

    The distance is the weighted sum of squared changes of the balance parameters, each relative to its range. The
    search first looks for any candidate that is feasible, then bisects from it towards the requested style, then
    refines the result with COBYLA. If a speed is given, which determines the step length, the repair reduces the speed
    instead of the step length.

    Args:
        style, body, center, speed: as in `check_walk`.
        check: slower and better check, e.g. by simulation, which decides instead of the pendulum. The pendulum then
            only orders the candidates, and `REPAIR_CHECKS` of them are checked at most.

    Returns:
        The repair; its `check` fails if no feasible candidate was found.
    """
    if center == "sinusoid":
        body = body.with_standing_width()
    safe = SAFE_MARGIN * min(body.sole_size)
    unrepaired = check_walk(style, body, center, speed) if check is None else check(style, speed)
    if unrepaired.margin >= (safe if check is None else 0.0):
        return StyleRepair(style, speed, unrepaired, ())
    names = BALANCE_PARAMETERS if center == "sinusoid" else BALANCE_PARAMETERS[len(SINUSOID_PARAMETERS) :]
    search = _RepairSearch(style, body, names if speed is None else (*names[:-1], SPEED_SHARE), speed)

    def spare_margin(values: Array) -> float:
        chosen, slower_speed = search.walk_of(values)
        return check_walk(chosen, body, center, slower_speed).margin - safe

    walking = sorted((each for each in search.candidates() if spare_margin(each) >= 0.0), key=search.cost)
    if check is not None:
        best = _first_confirmed(walking, search, check)
    else:
        best = _refined(walking[0], search, spare_margin) if walking else None
    if best is None:
        return StyleRepair(style, speed, unrepaired, ())
    best = search.without_small_changes(best)
    better, slower_speed = search.walk_of(best)
    feasibility = check_walk(better, body, center, slower_speed) if check is None else check(better, slower_speed)
    return StyleRepair(better, slower_speed, feasibility, search.describe_changes(best))


def _refined(walking: Array, search: _RepairSearch, spare_margin: Callable[[Array], float]) -> Array:
    """Return the feasible values nearest to the requested ones, found from feasible ones by bisection and COBYLA."""
    best = _bisect_towards(walking, search.requested, spare_margin)
    limits = {"type": "ineq", "fun": spare_margin}
    options = {"rhobeg": 0.02, "maxiter": 120}
    optimum: Array = scipy.optimize.minimize(
        search.cost, best, method="COBYLA", constraints=[limits], options=options
    ).x
    return optimum if spare_margin(optimum) >= 0.0 and search.cost(optimum) < search.cost(best) else best


def _first_confirmed(
    walking: Sequence[Array], search: _RepairSearch, check: Callable[[Style, Speed | None], FeasibilityCheck]
) -> Array | None:
    """Return the nearest candidate that `check` confirms, moved towards the requested walk; None: there is none.

    Candidates that are nearly equal to one that failed are skipped.
    """
    tried: list[Array] = []
    for values in walking:
        if all(search.distance(values, other) > DISTINCT_CANDIDATES for other in tried):
            if len(tried) >= REPAIR_CHECKS:
                return None
            tried.append(values)
            if check(*search.walk_of(values)).feasible:
                return _bisect_towards(
                    values, search.requested, lambda each: check(*search.walk_of(each)).margin, REPAIR_BISECTIONS
                )
    return None


def sinusoid_defaults(style: Style, body: BodyDimensions, speed: Speed | None = None) -> StyleRepair:
    """Return the walk to use with the sinusoid reference for a style that does not choose its sway.

    The reference does not balance by itself, and the sway that balances depends on robot and steps. So a style whose
    `sway` and `sway_phase` have their default values is repaired (from a cache the second time); any other style is
    returned as it is.
    """
    if any(getattr(style, name) != getattr(NEUTRAL, name) for name in SINUSOID_PARAMETERS):
        return StyleRepair(style, speed, check_walk(style, body, "sinusoid", speed), ())
    gait = tuple((name, getattr(style, name)) for name in _GAIT_PARAMETERS)
    repair = _sinusoid_repair(gait, body, speed)
    repaired = style.replace(**{name: getattr(repair.style, name) for name in BALANCE_PARAMETERS})
    return repair._replace(style=repaired)


#: Parameters of a style that the pendulum of the check depends on.
_GAIT_PARAMETERS = (*BALANCE_PARAMETERS, "step_height", "lateral_step", "step_turn", "com_height_offset")


@lru_cache(maxsize=64)
def _sinusoid_repair(gait: tuple[tuple[str, float], ...], body: BodyDimensions, speed: Speed | None) -> StyleRepair:
    return repair_style(NEUTRAL.replace(**dict(gait)), body, "sinusoid", speed)


class _RepairSearch:
    """Search space of a repair: parameters of a style, and the fraction of the requested speed.

    Attributes:
        requested: values of the requested walk, in the order of `names`.
    """

    def __init__(self, style: Style, body: BodyDimensions, names: Sequence[str], speed: Speed | None) -> None:
        self.style, self.body, self.names, self.speed = style, body, names, speed
        ends = [(0.1, 1.0) if name == SPEED_SHARE else (PARAMETERS[name].low, PARAMETERS[name].high) for name in names]
        self._low, self._high = np.array(ends).T
        self._spans = (self._high - self._low) / [PARAMETER_COSTS.get(name, 1.0) for name in names]
        self.requested: Array = np.array([1.0 if name == SPEED_SHARE else getattr(style, name) for name in names])

    def walk_of(self, values: Array) -> tuple[Style, Speed | None]:
        chosen = dict(zip(self.names, np.clip(values, self._low, self._high).tolist(), strict=True))
        share = chosen.pop(SPEED_SHARE, 1.0)
        if self.speed is None:
            return self.style.replace(**chosen), None
        vx, vy, wz = self.speed
        return self.style.replace(**chosen), (share * vx, share * vy, share * wz)

    def cost(self, values: Array) -> float:
        return self.distance(values, self.requested) ** 2

    def distance(self, values: Array, others: Array) -> float:
        return float(np.linalg.norm((values - others) / self._spans))

    def without_small_changes(self, values: Array) -> Array:
        """Return the values with changes below 0.1 % of the weighted range undone."""
        changed = np.abs(values - self.requested) > 1e-3 * self._spans
        return np.where(changed, np.clip(values, self._low, self._high), self.requested)

    def describe_changes(self, values: Array) -> tuple[str, ...]:
        changes = []
        for name, requested, value in zip(self.names, self.requested.tolist(), values.tolist(), strict=True):
            if value != requested:
                unit = "of the given speed" if name == SPEED_SHARE else PARAMETERS[name].unit
                changes.append(f"{name} {requested:.3g} -> {value:.3g} {unit}".rstrip())
        return tuple(changes)

    def candidates(self) -> list[Array]:
        """Return walks that are likely to be feasible: balanced sway, other durations, shorter or slower steps."""
        candidates = []
        singles = (*(share * self.style.single_support for share in (1.0, 0.8, 0.6, 1.3)), NEUTRAL.single_support)
        for single, double, shorter in product(singles, (1.0, 2.0, 3.0, 5.0), (1.0, 0.7, 0.4, 0.15)):
            changes = {
                "single_support": _clip("single_support", single),
                "double_support": _clip("double_support", double * self.style.double_support),
                "step_length": _clip("step_length", shorter * self.style.step_length),
                SPEED_SHARE: shorter,
            }
            if "sway" not in self.names:
                candidates.append(np.array([changes[name] for name in self.names]))
                continue
            values = np.array([changes.get(name, 0.0) for name in self.names])
            style, speed = self.walk_of(values)
            plan = FootstepPlan(gait_of_style(style, self.body, speed), math.inf)
            amplitude, phase = SinusoidReference(SinusoidReference.balanced_amplitude(plan)).lead_compensation(plan)
            for sway_factor in (1.0, 1.15, 1.3):
                sway = _clip("sway", sway_factor * amplitude / self.body.leg_length)
                full_changes = {**changes, "sway": sway, "sway_phase": _clip("sway_phase", phase)}
                candidates.append(np.array([full_changes[name] for name in self.names]))
        return candidates


def _clip(name: str, value: float) -> float:
    parameter = PARAMETERS[name]
    return min(max(value, parameter.low), parameter.high)


def _bisect_towards(
    walking: Array, requested: Array, spare_margin: Callable[[Array], float], bisections: int = 8
) -> Array:
    """Return the point nearest to the requested walk on the line from a feasible one that is still feasible."""
    low, high = 0.0, 1.0
    for _ in range(bisections):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if spare_margin(walking + middle * (requested - walking)) >= 0.0 else (low, middle)
    return np.asarray(walking + low * (requested - walking))
