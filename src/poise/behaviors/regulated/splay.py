"""Splay: how soles that press on their inner or outer edges are turned until they lie flat."""

from __future__ import annotations

from poise.behaviors.regulated.regulator import Pressed
from poise.behaviors.regulated.settings import RegulatedSettings
from poise.robots import Robot

#: Soles are turned against each other by no more than this (rad): what servos sag by.
MOST = 0.06


class Splay:
    """A roll of one sole against the other, learnt from where both press.

    Equation (9) weighs the errors of both soles against each other: two that press on their inner edges cancel out, and
    no shift of the centre of mass helps them. Legs that sag do just that. With y the ZMP under each sole, across, and
    a the share of the weight on the left::

        φ̇ = - K_i 4 a (1 - a) G (y_left - y_right) / 2

    with G = m g / K, what a servo of stiffness K sags by, per metre. A foot that bears alone learns nothing.

    Attributes:
        roll: φ, of the right sole about its x axis, seen from the left one (rad).
    """

    def __init__(self, robot: Robot, settings: RegulatedSettings) -> None:
        strongest = float(robot.limits.torque.max())
        stiff = settings.stiffness * strongest / robot.servos.full_torque
        self._rate = settings.trim * 9.81 * robot.mass / stiff
        self.roll = 0.0

    def step(self, left: Pressed, right: Pressed, period: float, trust: float = 1.0) -> float:
        """One period later."""
        both = left.amplitude + right.amplitude
        if both > 0.0:
            share = left.amplitude / both
            apart = 0.5 * (left.zmp.imag - right.zmp.imag)
            self.roll -= trust * period * self._rate * 4.0 * share * (1.0 - share) * apart
            self.roll = min(max(self.roll, -MOST), MOST)
        return self.roll
