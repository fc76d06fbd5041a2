"""Words for the variants of a gait, and which of them a page shows in full."""

from __future__ import annotations

from pathlib import Path

from poise.human.gait import BEST, PAPER, Outcome, Study, Variant
from poise.report.page.html import MINUS, NONE, unbroken

KEYS = {
    "two": "2: ends of the two steps",
    "four": "4: ends of the four phases",
    "six": "6: phase ends, both knee peaks in swing",
    "eight": "8: the six, and each shank upright in swing",
}
LAWS = {
    "pd_per_phase": "towards the next key; w = {gain:g} / duration of the phase",
    "pd": "towards the next key; w = {gain:g} 1/s",
    "time_to_go": "so as to reach the next key in time",
    "minimum_jerk": "along the path of least jerk through all keys; w = {gain:g} 1/s",
    "track": "along the measured motion itself; w = {gain:g} 1/s",
    "interpolation": "the path of least jerk through all keys, and nothing else",
}
KNOWN = ("posture", "posture and velocity", "posture, velocity and acceleration")
TASKS = "heels, then center of mass, then {momentum}posture"


def told(variant: Variant) -> tuple[str, str, str, str]:
    """Key postures, what is known at them, law of the posture, tasks in their order: in words."""
    tasks = TASKS.format(momentum="angular momentum, then " if variant.momentum else "")
    if variant.law == "interpolation":
        tasks = "none"
    keys = "none" if variant.law == "track" else KEYS[variant.keys]
    return keys, KNOWN[variant.order], LAWS[variant.law].format(gain=variant.gain), tasks


def shown(study: Study) -> tuple[Outcome, ...]:
    """The variants that are shown in full: the paper's and the best one, or the first and the last there are."""
    known = {each.variant.name: each for each in study.outcomes}
    chosen = [known[each.name] for each in (PAPER, BEST) if each.name in known]
    return tuple(chosen) if len(chosen) == 2 else tuple(dict.fromkeys((study.outcomes[0], study.outcomes[-1])))


def short(name: str) -> str:
    """A walk's name without the folders of its file."""
    return Path(name).name or name


def signed(value: float) -> str:
    """Degrees with a sign and one digit; zero has none."""
    rounded = round(value, 1) + 0.0
    return f"{rounded:+.1f}".replace("-", MINUS) if rounded else "0.0"


def probability(p: float | None) -> str:
    """Of a test, as papers print it."""
    return NONE if p is None else unbroken("< 0.001") if p < 0.001 else f"{p:.3f}"
