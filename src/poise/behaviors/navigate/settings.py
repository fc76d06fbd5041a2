"""Numbers of a guided motion that do not belong to its plan."""

from __future__ import annotations

from dataclasses import dataclass, field, fields

from poise.behaviors.navigate.stabilizer import StabilizerSettings
from poise.behaviors.settings import check_settings


@dataclass(frozen=True)
class NavigateSettings:
    """Gains of a guided motion, the same on all robots.

    Args:
        duration: T₀ of a segment (s); zero: 3 / ω, which is 0.5 s on mighty.
        longest, increment: T_max and ΔT of the correction of durations (s).
        feedback: k of the divergent component, 1/s: its error decays as e^{-kt}.
        track: rate at which the centre of mass follows its plan where nothing falls (kinematics), 1/s.
        swing, trunk, hands, posture, height: rates of these tasks, 1/s.
        spin: angular momentum that is left alone about the horizontal axes, as a share of m h sqrt(g h).
        spin_rate: how fast more than that is damped, 1/s.
        friction: μ that contacts are trusted with.
        stopping: rate at which a standing foot that rocks is brought to rest, 1/s.
        calm: damping of hands and trunk: what they may ask of the other limbs.
        astray: a segment is replaced when the pressure that would bring ξ back is further outside of the soles than
            this share of their half width.
        stabilizer: gains on robots with position servos.
    """

    duration: float = 0.0
    longest: float = 3.0
    increment: float = 0.1
    feedback: float = 4.0
    track: float = 20.0
    swing: float = 20.0
    trunk: float = 10.0
    hands: float = 8.0
    posture: float = 5.0
    height: float = 9.0
    spin: float = 0.03
    spin_rate: float = 8.0
    friction: float = 0.7
    stopping: float = 20.0
    calm: float = 0.05
    astray: float = 2.0
    stabilizer: StabilizerSettings = field(default_factory=StabilizerSettings)

    def __post_init__(self) -> None:
        names = [part.name for part in fields(self) if part.name != "stabilizer"]
        check_settings(self, zero=("duration", "calm", "feedback"), names=names)
