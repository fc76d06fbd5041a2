"""Lengths of files in metres."""

from __future__ import annotations

import warnings

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

#: m per unit, by the words that files use.
METRES = {
    "mm": 1e-3, "millimeter": 1e-3, "millimetre": 1e-3,
    "cm": 1e-2, "centimeter": 1e-2, "centimetre": 1e-2,
    "dm": 1e-1,
    "m": 1.0, "meter": 1.0, "metre": 1.0,
    "in": 0.0254, "inch": 0.0254, "inches": 0.0254,
    "ft": 0.3048, "feet": 0.3048,
}  # fmt: skip
#: Markers on a person, even on a foot alone or with things around, reach over this far (m); other units are a factor
#: of 100 or 1000 away.
PERSON = (0.1, 15.0)


def metres(unit: str, positions: Array) -> tuple[float, str]:
    """Metres per unit of a file, and a sentence on how it was decided (``""`` if the file just says so).

    What the file says counts, unless a person would then be as small as a mouse or as large as a house and another
    usual unit makes sense; a unit that is missing or not known is decided by size, too.
    """
    word = unit.strip().lower()
    said = METRES.get(word) or METRES.get(word.rstrip("s"))
    reach = extent(positions)
    if said is not None and (reach is None or PERSON[0] <= said * reach <= PERSON[1]):
        return said, ""
    fitting = [u for u in ("mm", "m", "cm") if reach is not None and 0.3 <= METRES[u] * reach <= 3.0]
    given = f"The file says '{unit.strip()}'" if word else "The file says no unit"
    if fitting:
        return METRES[fitting[0]], f"{given}, but markers reach over {reach:.3g} of it: taken as {fitting[0]}."
    return (said, "") if said is not None else (1e-3, f"{given}: taken as mm.")


def extent(positions: Array) -> float | None:
    """How far the markers reach apart along the longest axis, in the median over the frames; None without any."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # a frame without markers has no extent
        spans = (np.nanmax(positions, axis=1) - np.nanmin(positions, axis=1)).max(axis=1) if positions.size else []
        spans = np.asarray(spans)[np.isfinite(spans)]
    return float(np.median(spans)) if len(spans) else None
