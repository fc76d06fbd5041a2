"""Soles: where the ground can push while certain feet stand."""

from __future__ import annotations

from poise.geometry import polygon
from poise.plans.pace import Stature
from poise.plans.phases import Phase

#: The pressure is kept this far inside the soles: a sole is a little smaller than it looks.
INSIDE = 0.95


class Soles:
    """The soles that stand in a phase: rectangles around the places of the feet.

    Args:
        body: how long and wide a sole is.
        phase: its feet do not move while it lasts.
    """

    def __init__(self, body: Stature, phase: Phase) -> None:
        self.support, self.single = phase.support, phase.kind == "single"
        self.half = 0.5 * INSIDE * complex(*body.sole)
        x, y = self.half.real, self.half.imag
        corners = [
            step.place + step.heading * corner
            for step in phase.standing
            for corner in (complex(x, y), complex(-x, y), complex(-x, -y), complex(x, -y))
        ]
        self.polygon = polygon.convex_hull([(corner.real, corner.imag) for corner in corners])

    def inside(self, z: complex) -> complex:
        """The nearest point where the ground can push."""
        if self.single:
            heading = self.support.heading
            away, half = (z - self.support.place) * heading.conjugate(), self.half
            x = min(max(away.real, -half.real), half.real)
            y = min(max(away.imag, -half.imag), half.imag)
            return self.support.place + complex(x, y) * heading
        x, y = polygon.project(self.polygon, (z.real, z.imag))
        return complex(x, y)

    def margin(self, point: complex) -> float:
        """How far inside the soles a point is (m); negative outside."""
        if self.single:
            away = (point - self.support.place) * self.support.heading.conjugate()
            dx, dy = self.half.real - abs(away.real), self.half.imag - abs(away.imag)
            return min(dx, dy) if dx >= 0.0 or dy >= 0.0 else -abs(complex(dx, dy))
        return float(polygon.margin(self.polygon, (point.real, point.imag)))
