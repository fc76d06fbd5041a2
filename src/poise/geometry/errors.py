"""What can be wrong with what geometry is given."""

from __future__ import annotations

from poise.errors import PoiseError


class GeometryError(PoiseError, ValueError):
    """Points, rotations or curves of the wrong shape, or a length or duration that makes no sense."""
