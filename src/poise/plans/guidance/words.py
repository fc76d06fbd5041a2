"""Words: what became of a command, in plain sentences."""

from __future__ import annotations

import math


def length(metres: float) -> str:
    """A length as people say it.

    >>> length(0.042), length(0.0031)
    ('4 cm', '3 mm')
    """
    size = abs(metres)
    if size >= 0.01:
        return f"{100.0 * size:.0f} cm"
    return f"{1000.0 * size:.0f} mm" if size >= 0.001 else "less than 1 mm"


def projected(part: str, metres: float) -> str:
    """A part was told to go beyond its boundary by so much."""
    return f"{part}: {length(metres)} beyond its boundary, projected"


def turned(part: str, radians: float) -> str:
    """Likewise, of angles."""
    return f"{part}: {abs(math.degrees(radians)):.0f} degrees beyond its boundary, projected"
