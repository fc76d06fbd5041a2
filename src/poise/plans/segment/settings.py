"""How segments are planned."""

from __future__ import annotations

from dataclasses import dataclass, field

from poise.plans.segment.center import Severity


@dataclass(frozen=True)
class SegmentSettings:
    """How segments are planned.

    Args:
        duration: T₀ (s); zero: 3 / ω.
        longest: T_max (s).
        increment: ΔT (s).
        phases: shares of a step on two feet, on one, and on two again.
        lifting: share of two feet where a foot is lifted to stay in the air; landing is the reverse.
        compensate: whether u makes up for swinging legs.
        curve: of stepping feet, ``"quintic"`` or ``"cycloid"``.
        severity: of what is relaxed.
    """

    duration: float = 0.0
    longest: float = 3.0
    increment: float = 0.1
    phases: tuple[float, float, float] = (0.24, 0.55, 0.21)
    lifting: float = 0.4
    compensate: bool = True
    curve: str = "quintic"
    severity: Severity = field(default_factory=Severity)
