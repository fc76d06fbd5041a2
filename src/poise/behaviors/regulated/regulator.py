"""Regulator: the ZMP under each foot, brought back to its middle by shifting the centre of mass."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from poise.behaviors.regulated.settings import RegulatedSettings
from poise.robots import Foot

#: What is learnt about where the weight really is, at most, as a share of half a sole's length: more is no sagging of
#: servos but somebody who leans on the robot.
FARTHEST = 0.6
#: What is learnt from errors grows no further beyond this share of it: these are pushes.
LEARNT = 0.08


@dataclass(frozen=True, slots=True)
class Pressed:
    """What a sole feels.

    Attributes:
        amplitude: A, the force on it (N).
        zmp: where, seen from its middle (m, as x + i y in its axes).
    """

    amplitude: float
    zmp: complex


def pressed(foot: Foot, forces: Sequence[float]) -> Pressed:
    """What a sole feels by its four cells (N): `poise.state.pressure.sole_pressure` of one instant, a fifth as costly.

    The corners of a sole are those of a rectangle, from the front left one on, counter-clockwise.
    """
    a, b, c, d = (force if force > 0.0 else 0.0 for force in forces)
    amplitude = a + b + c + d
    if not amplitude > 0.0:
        return Pressed(0.0, 0j)
    sole = foot.sole
    x = 0.5 * (sole.x_max - sole.x_min) * (a + d - b - c) / amplitude
    y = 0.5 * (sole.y_max - sole.y_min) * (a + b - c - d) / amplitude
    return Pressed(amplitude, complex(x, y))


def error_of_zmp(left: Pressed, right: Pressed) -> complex:
    """ε_ZMP, [Galdeano2014] equations (9) to (12), with the desired places in the middle of each sole::

        ε_ZMP     = a dZMP_left + (1 - a) dZMP_right
        a         = A_left / (A_left + A_right)
        dZMP_side = ZMP_side_desired - ZMP_side_measured

    A foot that is lifted feels nothing and does not count; of two, nothing is known, and the error is zero.
    """
    both = left.amplitude + right.amplitude
    if not both > 0.0:
        return 0j
    share = left.amplitude / both
    return share * -left.zmp + (1.0 - share) * -right.zmp


class Regulator:
    """What is added to the error of the centre of mass, eq. (13)::

        ε_CoM&ZMP = ε_CoM + K_p ε_ZMP + K_d dε_ZMP/dt        (+ K_i ∫ ε_ZMP dt, a trim beyond the paper)

    with a filter of first order on ε_ZMP, for cells are noisy and soles hammer on them.

    Args:
        settings: the gains.
        length: half of a sole's length (m).

    Attributes:
        error: ε_ZMP, filtered (m).
        shift: what is added (m, as x + i y).
    """

    def __init__(self, settings: RegulatedSettings, length: float) -> None:
        self.settings, self._farthest, self._learnt = settings, FARTHEST * length, LEARNT * length
        self.error = self.shift = self._trim = 0j

    def step(self, error: complex, period: float, trust: float = 1.0) -> complex:
        """One period later.

        Args:
            error: ε_ZMP now (m).
            trust: share of the regulation that acts, from 0 to 1; what was learnt before stays.
        """
        numbers, before = self.settings, self.error
        self.error += period / (period + numbers.smooth) * (trust * error - before)
        rate = (self.error - before) / period
        learnt = self.error * min(1.0, self._learnt / max(abs(self.error), 1e-9))
        self._trim += trust * numbers.trim * period * learnt
        if abs(self._trim) > self._farthest:
            self._trim *= self._farthest / abs(self._trim)
        added = numbers.proportional * self.error + numbers.derivative * rate
        self.shift = complex(added.real, numbers.across * added.imag) + self._trim
        return self.shift
