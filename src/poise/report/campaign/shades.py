"""Shades: survival as a colour that also tells in grey and to eyes that do not see all colours."""

from __future__ import annotations

from matplotlib.colors import LinearSegmentedColormap, to_hex

#: From failure, dark, to success, light; lightness grows all the way.
_SHADES = LinearSegmentedColormap.from_list("survival", ["#5e1f00", "#b85410", "#f0b070", "#e9f1f6"])
#: Below this share letters are white.
DARK = 0.5


def shade_of(share: float) -> str:
    """The colour of a share from 0 to 1."""
    return str(to_hex(_SHADES(share)))


def ink_on(share: float) -> str:
    """The colour of letters that can be read on it."""
    return "#ffffff" if share < DARK else "#222222"
