"""How sure a share of few runs is."""

from __future__ import annotations

from poise.campaign.survival import share as share_of
from poise.report.page.html import NONE


def wilson(succeeded: int, runs: int) -> tuple[float, float]:
    """The 95 % interval of a share; 0 to 1 if there is no run.

    >>> wilson(10, 10)
    (0.722..., 1.0)
    """
    found = share_of(succeeded, runs)
    return found.low, found.high


def share(succeeded: int, runs: int) -> str:
    """A share with its interval: ``94 % (90 to 97 %)``."""
    if runs == 0:
        return NONE
    low, high = wilson(succeeded, runs)
    return f"{_percent(succeeded / runs)} % ({_percent(low)} to {_percent(high)} %)"


def _percent(value: float) -> str:
    """With a digit behind the point near the ends, where it matters; all and none only if it is so."""
    return f"{100 * value:.1f}".removesuffix(".0") if not 0.1 <= value <= 0.9 else f"{100 * value:.0f}"
